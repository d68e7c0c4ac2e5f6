"""Small changes of a module's syntax tree, each of which a test ought to notice: the mutants."""

import ast
import copy
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

# Where a change alters a text, a type or how long something may take, and no result.
QUIET_CALLS = {"warn", "print", "isinstance", "cast", "TypeVar", "field"}
QUIET_FUNCTIONS = {"__repr__", "__str__", "_repr_html_"}
QUIET_KEYWORDS = {"strict", "stacklevel", "encoding", "newline", "category", "prefix", "suffix", "help"}
LIMITS = re.compile(
    r"max_?iter|iterations_at_most|attempts|time_limit|chunk|block|workers|n_jobs|threads", re.I
)

ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
OPPOSITE = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
FUNCTIONS = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "argmin": "argmax",
    "argmax": "argmin", "any": "all", "all": "any", "sum": "max", "fsum": "max", "prod": "sum", "mean": "sum",
    "floor": "ceil", "ceil": "floor", "sqrt": "square", "square": "sqrt", "exp": "expm1", "expm1": "exp",
    "log": "log1p", "log1p": "log", "cdf": "sf", "sf": "cdf", "ppf": "isf", "isf": "ppf", "zeros": "ones",
    "ones": "zeros", "cumsum": "cumprod", "cumprod": "cumsum",
}  # fmt: skip
SYMMETRIC = {"min", "max", "minimum", "maximum", "hypot", "logaddexp", "isclose", "array_equal"}


class Mutant(NamedTuple):
    """One change of one module; all fields but the place tell it apart from every other, whatever else is edited."""

    file: str
    function: str
    operator: str
    before: str
    after: str
    nth: int
    place: str = ""  # of its statement, as `place` says it

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.file}:{self.function}: {self.operator}: {self.before} -> {self.after} #{self.nth}"

    @property
    def room(self) -> str:
        """The folder of the library that it is in."""
        return self.file.partition("/")[0]


class Slot(NamedTuple):
    """A place in a tree: the node there, where it hangs, and the function and statement around it."""

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None
    function: str
    place: str
    scope: ast.AST | None

    def put(self, node: ast.AST) -> None:
        """Hang another node there."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def mutants(file: str, source: str) -> list[Mutant]:
    """List the mutants of a module."""
    return [mutant for mutant, _, _ in _changes(file, ast.parse(source))]


def mutated(mutant: Mutant, source: str) -> str | None:
    """Return the module's text with the change; None if the module has no such place any more."""
    tree = ast.parse(source)
    for found, slot, node in _changes(mutant.file, tree):
        if found.key == mutant.key:
            slot.put(node)
            return ast.unparse(ast.fix_missing_locations(tree))
    return None


def place(file: str, function: str, statement: ast.stmt) -> str:
    """Name a statement of a function by its first line, so that edits elsewhere leave the name alone."""
    first = ast.unparse(statement).partition("\n")[0]
    return f"{file}:{function}:{hashlib.sha256(first.encode()).hexdigest()[:8]}"


def chance(text: str) -> float:
    """Return a number in [0, 1) that depends on a text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) / 2**48


def _changes(file: str, tree: ast.Module) -> list[tuple[Mutant, Slot, ast.AST]]:
    found, seen = [], Counter[str]()
    for slot in _slots(tree, "", file, None, file):
        before = ast.unparse(slot.node)
        for operator, node in _variants(slot, f"{file}{before}"):
            mutant = Mutant(file, slot.function, operator, before, ast.unparse(node), 0, slot.place)
            if mutant.before != mutant.after:
                seen[mutant.key] += 1
                found.append((mutant._replace(nth=seen[mutant.key]), slot, node))
    return found


def _slots(node: ast.AST, function: str, at: str, scope: ast.AST | None, file: str) -> Iterator[Slot]:
    """Find the places to change below a node; `at` is the file alone where code runs when it is imported."""
    for field, value in ast.iter_fields(node):
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _quiet(child, node, field):
                continue
            name, here, inside = function, at, scope
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = f"{function}.{child.name}".lstrip(".")
            if isinstance(node, ast.FunctionDef) and field == "body":
                inside = node
            if isinstance(node, ast.FunctionDef) and field == "args":  # its defaults matter where it runs
                first = node.body[min(ast.get_docstring(node) is not None, len(node.body) - 1)]
                here = place(file, name, first)
            elif isinstance(child, ast.stmt) and inside is not None:
                here = place(file, name, child)
            yield Slot(child, node, field, index, name, here, inside)
            if not isinstance(child, ast.Raise):
                yield from _slots(child, name, here, inside, file)


def _quiet(child: ast.AST, parent: ast.AST, field: str) -> bool:
    if field in {"annotation", "returns", "decorator_list", "bases", "ctx", "format_spec"}:
        return True
    match child:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.FunctionDef(name=name):
            return name in QUIET_FUNCTIONS
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in QUIET_CALLS
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name in QUIET_CALLS
        case ast.keyword(arg=str(name)):
            return name in QUIET_KEYWORDS or bool(LIMITS.search(name))
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name == "__all__" or bool(LIMITS.search(name))
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
    return isinstance(parent, ast.If) and field == "test" and ast.unparse(child) == "__name__ == '__main__'"


def _variants(slot: Slot, salt: str) -> Iterator[tuple[str, ast.AST]]:
    """Change what stands in a place, in every way that fits it."""
    node = slot.node

    def like(**changes: object) -> ast.AST:
        new = copy.deepcopy(node)
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    match node:
        case ast.BinOp(op=op) if type(op) in ARITHMETIC:
            yield "arithmetic", like(op=ARITHMETIC[type(op)]())
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                for name, table in (("boundary", BOUNDARY), ("comparison", OPPOSITE)):
                    if type(op) in table:
                        yield name, like(ops=[*ops[:at], table[type(op)](), *ops[at + 1 :]])
        case ast.BoolOp(op=op):
            yield "and/or", like(op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not dropped", operand
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "sign", operand
        case ast.Constant(value=bool(value)):
            yield _constant(slot), like(value=not value)
        case ast.Constant(value=int(value) | float(value)):
            others = [other for other in (value + 1, value - 1, 2 * value, 0 * value) if other != value]
            yield _constant(slot), like(value=others[int(chance(salt + str(node.col_offset)) * len(others))])
        case ast.Slice(lower=lower, upper=upper):
            if lower is not None:
                yield "slice", like(lower=None)
            if upper is not None:
                yield "slice", like(upper=None)
        case ast.IfExp(body=body, orelse=orelse):
            yield "condition", body if chance(salt) < 0.5 else orelse
        case ast.Call():
            yield from _calls(node, like)
        case ast.Return(value=ast.Name(id=name)) if others := sorted(_names(slot.scope) - {name}):
            yield "return", ast.Return(ast.Name(others[int(chance(salt) * len(others))], ast.Load()))
        case ast.Return(value=ast.Tuple(elts=[first, second, *rest])):
            yield "return", ast.Return(ast.Tuple([second, first, *rest], ast.Load()))
        case ast.Break() | ast.Continue():
            yield "loop", ast.Pass()
        case ast.Raise():
            yield "raise dropped", ast.Pass()
        case ast.AugAssign() | ast.Expr() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement dropped", ast.Pass()
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in _reads(value):
            yield "statement dropped", ast.Pass()
    if slot.field == "test" and isinstance(node, ast.Name | ast.Attribute | ast.Call):
        yield "condition", ast.UnaryOp(ast.Not(), node)


def _calls(node: ast.Call, like: object) -> Iterator[tuple[str, ast.AST]]:
    name = getattr(node.func, "id", getattr(node.func, "attr", None))
    first = [*node.args, None][0]
    if name in FUNCTIONS:
        renamed = copy.deepcopy(node.func)
        setattr(renamed, "id" if isinstance(renamed, ast.Name) else "attr", FUNCTIONS[name])
        square = name == "sqrt" and ast.BinOp(first, ast.Pow(), ast.Constant(2))  # math has no square
        yield "function", square or like(func=renamed)
    if name == "abs" and first:
        yield "clip dropped", first
    if name == "clip" and isinstance(node.func, ast.Attribute):
        module = isinstance(node.func.value, ast.Name) and node.func.value.id == "np"
        yield "clip dropped", first if module else node.func.value
    if name in {"min", "max", "minimum", "maximum"} and len(node.args) == 2:
        plain = [arg for arg in node.args if not isinstance(arg, ast.Constant)]
        yield "clip dropped", plain[-1]
    if (
        name not in SYMMETRIC
        and len(node.args) > 1
        and not any(isinstance(arg, ast.Starred) for arg in node.args[:2])
    ):
        yield "arguments swapped", like(args=[node.args[1], node.args[0], *node.args[2:]])
    for at, keyword in enumerate(node.keywords):
        if keyword.arg and keyword.arg != "dtype" and not _quiet(keyword, node, "keywords"):
            yield "keyword dropped", like(keywords=[*node.keywords[:at], *node.keywords[at + 1 :]])


def _constant(slot: Slot) -> str:
    return "default" if isinstance(slot.parent, ast.arguments) else "constant"


def _names(scope: ast.AST | None) -> set[str]:
    """Return the parameters and the variables that a function's own statements assign first of all."""
    if not isinstance(scope, ast.FunctionDef):
        return set()
    args = {arg.arg for arg in [*scope.args.args, *scope.args.kwonlyargs]} - {"self", "cls"}
    stores = {
        target.id
        for statement in scope.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    return args | stores


def _reads(node: ast.AST) -> set[str]:
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name)}
