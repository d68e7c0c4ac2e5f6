"""Small changes of a module's syntax tree, each of which a test ought to notice: the mutants."""

import ast
import copy
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

# Where a change alters a text, a type or how long something may take, and no result.
QUIET_FIELDS = {"annotation", "returns", "decorator_list", "bases", "ctx", "format_spec"}
QUIET_CALLS = {"warn", "print", "isinstance", "cast", "TypeVar", "field"}
QUIET_NAMES = {"__repr__", "__str__", "_repr_html_", "__all__"}
QUIET_KEYWORDS = {"strict", "stacklevel", "encoding", "newline", "category", "prefix", "suffix", "help"}
LIMITS = re.compile(
    r"max_?iter|iterations_at_most|attempts|time_limit|chunk|block|workers|n_jobs|threads", re.I
)


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(">") for pair in text.split())  # type: ignore[misc]


ARITHMETIC = _pairs(
    "Add>Sub Sub>Add Mult>Div Div>Mult FloorDiv>Mult Mod>Mult Pow>Mult BitAnd>BitOr BitOr>BitAnd "
    "LShift>RShift RShift>LShift"
)
BOUNDARY = _pairs("Lt>LtE LtE>Lt Gt>GtE GtE>Gt")
OPPOSITE = _pairs("Lt>GtE LtE>Gt Gt>LtE GtE>Lt Eq>NotEq NotEq>Eq In>NotIn NotIn>In Is>IsNot IsNot>Is")
FUNCTIONS = _pairs(
    "min>max max>min minimum>maximum maximum>minimum argmin>argmax argmax>argmin any>all all>any sum>max fsum>max "
    "prod>sum mean>sum floor>ceil ceil>floor sqrt>square square>sqrt exp>expm1 expm1>exp log>log1p log1p>log "
    "cdf>sf sf>cdf ppf>isf isf>ppf zeros>ones ones>zeros cumsum>cumprod cumprod>cumsum"
)
EXTREMES = {"min", "max", "minimum", "maximum"}
SYMMETRIC = EXTREMES | {"hypot", "logaddexp", "isclose", "array_equal"}


class Mutant(NamedTuple):
    """One change of one module; its fields tell it apart from every other, whatever else is edited."""

    file: str
    function: str
    operator: str
    before: str
    after: str
    nth: int

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.file}:{self.function}: {self.operator}: {self.before} -> {self.after} #{self.nth}"


class Slot(NamedTuple):
    """A place in a tree: the node there, where it hangs, and the function and the lines around it."""

    node: Any
    parent: ast.AST
    field: str
    index: int | None
    function: str
    scope: ast.AST | None
    lines: tuple[int, int]  # from its statement's first; none where an import runs it

    def put(self, node: ast.AST) -> None:
        """Hang another node there."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


def mutants(file: str, source: str) -> list[Mutant]:
    """List the mutants of a module, where there is a choice with one of the changes."""
    found = []
    for first, _, nodes in _changes(file, ast.parse(source)):
        node = nodes[int(chance(first.key.partition("/")[2]) * len(nodes))]
        found.append(first._replace(after=ast.unparse(node)))
    return found


def mutated(mutant: Mutant, source: str) -> tuple[str, tuple[int, int]] | None:
    """Return the module's text with the change, and the lines that lead to it; None if the place is gone."""
    tree = ast.parse(source)
    for found, slot, nodes in _changes(mutant.file, tree):
        if found._replace(after=mutant.after) == mutant:
            for node in nodes:
                if ast.unparse(node) == mutant.after:
                    slot.put(node)
                    return ast.unparse(ast.fix_missing_locations(tree)), slot.lines
    return None


def chance(text: str) -> float:
    """Return a number in [0, 1) that depends on a text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) / 2**48


def _changes(file: str, tree: ast.Module) -> Iterator[tuple[Mutant, Slot, list[Any]]]:
    seen = Counter[str]()
    for slot in _slots(tree):
        before = ast.unparse(slot.node)
        for operator, *choice in _variants(slot):
            nodes = [node for node in choice if ast.unparse(node) != before]
            if nodes:
                mutant = Mutant(file, slot.function, operator, before, ast.unparse(nodes[0]), 0)
                seen[mutant.key] += 1
                yield mutant._replace(nth=seen[mutant.key]), slot, nodes


def _slots(node: Any, function: str = "", scope: Any = None, first: int = 0) -> Iterator[Slot]:
    """Find the places to change below a node."""
    for field, value in ast.iter_fields(node):
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _quiet(child, field):
                continue
            name, inside, start = function, scope, first
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = f"{function}.{child.name}".lstrip(".")
            if isinstance(node, ast.FunctionDef) and field == "body":
                inside = node
            if isinstance(child, ast.stmt) and inside is not None:
                start = child.lineno
            lines = (start, getattr(child, "end_lineno", start) if start else 0)
            if isinstance(node, ast.FunctionDef) and field == "args":  # its defaults matter where it runs
                start, lines = 0, (node.body[0].lineno, node.end_lineno or 0)
            yield Slot(child, node, field, index, name, inside, lines)
            if not isinstance(child, ast.Raise):
                yield from _slots(child, name, inside, start)


def _quiet(child: ast.AST, field: str) -> bool:
    if field in QUIET_FIELDS:
        return True
    match child:
        case (
            ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr() | ast.Expr(value=ast.Constant())
        ):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Call(func=call) | ast.Expr(value=ast.Call(func=call)):
            return getattr(call, "id", getattr(call, "attr", "")) in QUIET_CALLS
        case ast.keyword(arg=str(name)):
            return name in QUIET_KEYWORDS or bool(LIMITS.search(name))
        case ast.FunctionDef(name=name):
            return name in QUIET_NAMES
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name in QUIET_NAMES or bool(LIMITS.search(name))
    return False


def _variants(slot: Slot) -> Iterator[tuple[Any, ...]]:
    """Change what stands in a place, in every way that fits it: the kind of change, and the nodes to choose from."""
    node = slot.node

    def like(**changes: Any) -> Any:
        new = copy.copy(node)
        vars(new).update(changes)
        return new

    match node:
        case ast.BinOp(op=op) if (name := type(op).__name__) in ARITHMETIC:
            yield "arithmetic", like(op=getattr(ast, ARITHMETIC[name])())
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                for operator, table in (("boundary", BOUNDARY), ("comparison", OPPOSITE)):
                    if other := table.get(type(op).__name__):
                        yield operator, like(ops=[*ops[:at], getattr(ast, other)(), *ops[at + 1 :]])
        case ast.BoolOp(op=op):
            yield "and/or", like(op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub() as op, operand=operand):
            yield "sign" if isinstance(op, ast.USub) else "not dropped", operand
        case ast.Constant(value=bool(value) | int(value) | float(value)):
            others = [not value] if isinstance(value, bool) else [value + 1, value - 1, 2 * value, 0 * value]
            operator = "default" if isinstance(slot.parent, ast.arguments) else "constant"
            yield operator, *(like(value=other) for other in others)
        case ast.Slice():
            yield from (("slice", like(**{end: None})) for end in ("lower", "upper") if getattr(node, end))
        case ast.IfExp(body=body, orelse=orelse):
            yield "condition", body, orelse
        case ast.Call():
            yield from _calls(node, like)
        case ast.Return(value=ast.Name()):
            yield "return", *(like(value=ast.Name(name, ast.Load())) for name in sorted(_names(slot.scope)))
        case ast.Return(value=ast.Tuple(elts=[first, second, *rest])):
            yield "return", like(value=ast.Tuple([second, first, *rest], ast.Load()))
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


def _calls(node: ast.Call, like: Any) -> Iterator[tuple[Any, ...]]:
    call, args = node.func, node.args
    name, plain = getattr(call, "id", getattr(call, "attr", "")), [*args, None][0]
    if name == "sqrt":
        yield "function", ast.BinOp(plain, ast.Pow(), ast.Constant(2))  # math has no square
    elif name in FUNCTIONS:
        other = FUNCTIONS[name]
        yield (
            "function",
            like(func=ast.Name(other) if isinstance(call, ast.Name) else ast.Attribute(call.value, other)),
        )
    if name == "clip" and isinstance(call, ast.Attribute) and ast.unparse(call.value) != "np":
        plain = call.value
    if name in EXTREMES and len(args) == 2:
        plain = [arg for arg in args if not isinstance(arg, ast.Constant)][-1]
    if plain and (name in {"abs", "clip"} or (name in EXTREMES and len(args) == 2)):
        yield "clip dropped", plain
    if name not in SYMMETRIC and len(args) > 1 and not any(isinstance(arg, ast.Starred) for arg in args[:2]):
        yield "arguments swapped", like(args=[args[1], args[0], *args[2:]])
    for at, keyword in enumerate(node.keywords):
        if keyword.arg and keyword.arg != "dtype" and not _quiet(keyword, "keywords"):
            yield "keyword dropped", like(keywords=[*node.keywords[:at], *node.keywords[at + 1 :]])


def _names(scope: Any) -> set[str]:
    """Return the parameters and the variables that a function's own statements assign first of all."""
    if not isinstance(scope, ast.FunctionDef):
        return set()
    args = {arg.arg for arg in [*scope.args.args, *scope.args.kwonlyargs]} - {"self", "cls"}
    return args | {
        t.id for s in scope.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)
    }


def _reads(node: ast.AST) -> set[str]:
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name)}
