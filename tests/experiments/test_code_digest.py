import pytest
from small_library import REACHED, SMALL, library, names, provenance_free_caches

from dpfair_lib.experiments.code_digest import code_digest, reached_digest


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
