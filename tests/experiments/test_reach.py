import ast
import functools

import pytest

from dpfair_lib.experiments import provenance
from dpfair_lib.experiments.__main__ import EXPERIMENTS
from dpfair_lib.experiments.code_digest import code_digest, reached_digest
from dpfair_lib.experiments.provenance import LIBRARY, code, code_of
from dpfair_lib.experiments.reach import modules_of, reached_files
from dpfair_lib.experiments.sk.private_svms import run_trial
from dpfair_lib.experiments.sources import on_data

SMALL = {
    "__init__.py": "import lazy_loader",
    "__init__.pyi": "from .far import distance as distance",
    "start.py": (
        "'''Words.'''\nfrom lib.near import area\n"
        "def run():\n    '''More.'''\n    from lib.late import x\n    return 1"
    ),
    "near/__init__.py": "from lib.near.shapes import area\nfrom lib.near.other import unused",
    "near/shapes.py": "TABLE = 'sizes.toml'",
    "near/other.py": "",
    "near/sizes.toml": "a = 1",
    "near/apart.toml": "a = 1",
    "late.py": "from . import near2",
    "near2.py": "",
    "far.py": "",
    "claims/ledger.py": "",
}
REACHED = {"start.py", "near/shapes.py", "near/sizes.toml", "late.py", "near2.py"}


def library(folder, **changed):
    for name, text in {**SMALL, **changed}.items():
        path = folder / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    provenance_free_caches()
    return folder / "lib"


def provenance_free_caches():
    from dpfair_lib import _sources
    from dpfair_lib.experiments import reach

    for cached in (_sources.parsed, _sources.imports, reach._passed_on, reach.imports_of):
        cached.cache_clear()


def names(package, module="lib.start"):
    return {path.relative_to(package).as_posix() for path in reached_files([module], package)}


def everything(package):
    return {path.relative_to(package).as_posix() for path in package.rglob("*.*") if path.suffix != ".pyi"}


def test_a_module_reaches_what_it_imports_and_no_more(tmp_path):
    assert names(library(tmp_path)) == REACHED


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("from lib import distance", {"far.py"}),  # through the lazy package's stub
        ("from lib.near import unused as u", {"near/other.py"}),
        ("from .near.other import *", {"near/other.py"}),
        ("import lib.near.other", {"near/other.py"}),
        ("import lib.near", {"near/__init__.py", "near/shapes.py", "near/sizes.toml", "near/other.py"}),
        ("from lib.near import constant", {"near/__init__.py", "near/shapes.py", "near/sizes.toml", "near/other.py"}),
        ("from lib.near.shapes import TABLE", {"near/shapes.py", "near/sizes.toml"}),
        ("import numpy, functools", set()),
    ],
)  # fmt: skip
def test_every_form_of_import_counts(tmp_path, text, more):
    assert names(library(tmp_path, **{"start.py": text})) == {"start.py"} | more


@pytest.mark.parametrize("text", ["import lib", "import importlib\nimportlib.import_module('li' + 'b.far')"])
def test_where_anything_may_be_imported_everything_counts(tmp_path, text):
    package = library(tmp_path, **{"start.py": text})
    assert names(package) == everything(package)


def test_a_function_of_another_package_may_reach_everything(tmp_path):
    package = library(tmp_path)
    assert names(package, "notebook") == everything(package)


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("start.py", SMALL["start.py"].replace("Words", "Other words").replace("More", "Less"), False),
        ("start.py", SMALL["start.py"].replace("return 1", "return (  # why\n        1)"), False),
        ("start.py", SMALL["start.py"].replace("return 1", "return 1.0"), True),
        ("start.py", SMALL["start.py"].replace("return 1", "return True"), True),
        ("start.py", SMALL["start.py"].replace("return 1", "return None"), True),
        ("start.py", SMALL["start.py"].replace("return 1", "'a string that is no docstring'\n    return 1"), True),
        ("near/shapes.py", "TABLE = 'sizes.toml'\nMORE = []", True),
        ("near/sizes.toml", "a = 2", True),
        ("near/other.py", "y = 1", False),
        ("far.py", "y = 1", False),
        ("claims/ledger.py", "y = 1", False),
    ],
)  # fmt: skip
def test_the_digest_changes_with_what_is_computed_alone(tmp_path, name, text, counts):
    def digest(package):
        return reached_digest(["lib.start"], package)

    before = digest(library(tmp_path))
    assert (digest(library(tmp_path, **{name: text})) != before) == counts


def moved(folder, *names):
    """Write the small library with `near.shapes` moved to `far_away.forms`, of which only the names given know."""
    texts = {
        "start.py": SMALL["start.py"].replace(
            "from lib.near import area", "from lib.far_away.forms import area"
        ),
        "near/__init__.py": SMALL["near/__init__.py"].replace("lib.near.shapes", "lib.far_away.forms"),
    }
    place = library(folder, **{name: texts[name] for name in names}) / "far_away"
    place.mkdir()
    (place.parent / "near/shapes.py").rename(place / "forms.py")
    (place.parent / "near/sizes.toml").rename(place / "sizes.toml")
    return place.parent


def test_a_move_leaves_the_digest_of_what_is_reached(tmp_path):
    before = reached_digest(["lib.start"], library(tmp_path / "before"))
    package = moved(tmp_path / "after", "start.py", "near/__init__.py")
    assert reached_digest(["lib.start"], package) == before
    new = {"near/shapes.py": "far_away/forms.py", "near/sizes.toml": "far_away/sizes.toml"}
    assert names(package) == {new.get(path, path) for path in REACHED}
    (package / "far_away/forms.py").write_text(SMALL["near/shapes.py"] + "\nMORE = []")
    provenance_free_caches()
    assert reached_digest(["lib.start"], package) != before


TWO = {
    "one.py": "def f():\n    return 1",
    "two.py": "def f():\n    return 2\ndef g():\n    return 1",
    "start.py": "from lib.one import f\nfrom lib.two import g\ndef run():\n    return f() + g()",
}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("from lib.two import g\nfrom lib.one import f\ndef run():\n    return f() + g()", True),
        ("from lib.two import f\nfrom lib.two import g\ndef run():\n    return f() + g()", False),
        ("from lib.two import f as g\nfrom lib.one import f\ndef run():\n    return f() + g()", False),
        ("from lib.one import f\nfrom lib.two import g\ndef run():\n    return f()", False),
        ("def run():\n    from lib.one import f\n    from lib.two import g\n    return f() + g()", False),
    ],
)
def test_what_an_import_stands_for_counts(tmp_path, text, same):
    before, after = (
        reached_digest(["lib.start"], library(tmp_path / where, **TWO | more))
        for where, more in (("before", {}), ("after", {"start.py": text}))
    )
    assert (before == after) == same


def test_the_same_name_for_two_imports_is_no_mixture(tmp_path):
    def text(first, second):
        return "".join(
            f"def {name}():\n    from lib.{module} import f\n    return f()\n"
            for name, module in (("a", first), ("b", second))
        )

    first, second = (
        reached_digest(["lib.start"], library(tmp_path / where, **TWO | {"start.py": text(*modules)}))
        for where, modules in (("before", ("one", "two")), ("after", ("two", "one")))
    )
    assert first != second


def test_modules_that_import_one_another_have_digests(tmp_path):
    circle = {
        "start.py": "from lib.a import x",
        "a.py": "import lib.b\nx = 1",
        "b.py": "import lib.a\nimport lib.c",
    }
    found = [
        reached_digest(["lib.start"], library(tmp_path / text, **circle, **{"c.py": text}))
        for text in ("y = 1", "y = 2")
    ]
    assert found[0] != found[1]


def test_a_module_that_sees_its_place_has_it_in_its_digest(tmp_path):
    found = []
    for name in ("one", "two"):
        texts = {"start.py": f"from lib.{name} import x", f"{name}.py": "x = __file__"}
        found.append(reached_digest(["lib.start"], library(tmp_path / name, **texts)))
    assert found[0] != found[1]


def test_a_moved_module_changes_the_digest_of_files(tmp_path):
    (tmp_path / "a.py").write_text("x = 1")
    before = code_digest([tmp_path / "a.py"], tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert code_digest([tmp_path / "b.py"], tmp_path) != before


def only_passes_names_on(node):
    if isinstance(node, ast.Assign):
        names = [
            leaf.id for target in node.targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name)
        ]
        return bool(names) and all(name.startswith("__") for name in names)
    words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return words or isinstance(node, ast.Import | ast.ImportFrom)


def test_packages_only_pass_names_on():
    # otherwise what an __init__ does when it is imported would not count
    apart = {
        "claims",
        "margins",
    }  # no experiment imports the ledger; margins makes its room callable, no more
    found = [path for path in LIBRARY.rglob("__init__.py") if path.relative_to(LIBRARY).parts[0] not in apart]
    assert len(found) > 10
    for path in found:
        for node in ast.parse(path.read_bytes()).body:
            assert only_passes_names_on(node), (path, ast.unparse(node))


def test_the_parts_of_a_partial_count():
    task = functools.partial(on_data, run_trial)
    assert modules_of(task) == {"dpfair_lib.experiments.sources", "dpfair_lib.experiments.sk.private_svms"}
    assert modules_of(functools.partial(task, kind=EXPERIMENTS)) == modules_of(task)
    reached = {path.relative_to(LIBRARY).parts[0] for path in reached_files(modules_of(task), LIBRARY)}
    assert {"svm", "learners", "privacy", "datasets", "experiments"} <= reached
    assert not reached & {"claims", "compatibility", "local", "margins"}


def test_functions_of_the_library_have_digests_of_their_own():
    assert len({code(), code_of(run_trial), code_of(on_data)}) == 3
    assert code_of(functools.partial(on_data, run_trial)) == reached_digest(
        ["dpfair_lib.experiments.sources", "dpfair_lib.experiments.sk.private_svms"], LIBRARY
    )
    assert provenance.code_of(lambda **task: [task]) not in {code_of(run_trial), code_of(on_data)}
