import hashlib

from dpfair_lib._sources import digest, imports, meaning


def test_the_digest_is_of_names_and_contents_in_any_order():
    one = digest({"a": b"1", "b": b"2"})
    assert one == digest({"b": b"2", "a": b"1"})
    assert one == hashlib.sha256(b"a 1\n1b 1\n2").hexdigest()
    for other in ({"a": b"1"}, {"a": b"2", "b": b"1"}, {"a": b"1", "c": b"2"}, {"a": b"1b 1\n2"}):
        assert digest(other) != one


def test_comments_docstrings_and_layout_do_not_count_and_everything_else_does(tmp_path):
    path = tmp_path / "m.py"

    def of(text):
        path.write_text(text)
        return meaning(path)

    plain = of("def f(x):\n    return x + 1\n")
    assert plain == of(
        '"""A module."""\n\ndef f(x):  # adds\n    """Add."""\n    return (x\n            + 1)\n'
    )
    for other in (
        "def f(x):\n    return x + 2\n",
        "def f(y):\n    return y + 1\n",
        "def f(x):\n    return x + 1.0\n",
    ):
        assert of(other) != plain
    assert of("def f():\n    'not'\n    'a docstring'\n") != of("def f():\n    'not'\n")
    table = tmp_path / "t.toml"
    table.write_text("# a comment counts\n")
    assert meaning(table) == b"# a comment counts\n"


def test_names_are_written_out_wherever_they_are_imported(tmp_path):
    package = tmp_path / "lib"
    module = package / "room" / "m.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "import lib.other\nfrom . import near\nfrom ..top import a, b\nfrom lib.all import *\n"
        "def f():\n    from numpy import array\n    return array\n"
    )
    found = imports(module, package)
    assert found.names == {"lib.room.near", "lib.top.a", "lib.top.b", "lib.all", "numpy.array"}
    assert found.modules == {"lib.other"}
    assert not found.dynamic


def test_a_name_made_at_run_time_is_noticed(tmp_path):
    for at, text in enumerate(
        ("import importlib\nimportlib.import_module('a' + 'b')\n", "__import__('x')\n")
    ):
        module = tmp_path / f"m{at}.py"
        module.write_text(text)
        assert imports(module, tmp_path).dynamic
