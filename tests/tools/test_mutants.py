"""A mutant is one change of one place, under a name that other edits leave alone."""

import ast

import mutant_runs
import mutants
import pytest
from mutant_sites import Mutant, mutated
from mutant_sites import mutants as listed

SOURCE = '''"""A module."""
import numpy as np

def scale(values, low=2, *, most=True):
    """Say `scale`."""
    if not values or low < 0:
        raise ValueError(f"found {low - 1}")
    kept = np.clip(-values[1:], low, 3)
    for value in kept:
        if value is None:
            break
        kept = kept + max(0, value)
    total = np.sum(kept, axis=0) if most else 4.5
    return total
'''


def changes():
    return {(mutant.operator, mutant.before, mutant.after) for mutant in listed("room/file.py", SOURCE)}


@pytest.mark.parametrize(
    "change",
    [
        ("not dropped", "not values", "values"),
        ("and/or", "not values or low < 0", "not values and low < 0"),
        ("boundary", "low < 0", "low <= 0"),
        ("comparison", "low < 0", "low >= 0"),
        ("raise dropped", "raise ValueError(f'found {low - 1}')", "pass"),
        ("clip dropped", "np.clip(-values[1:], low, 3)", "-values[1:]"),
        ("clip dropped", "max(0, value)", "value"),
        ("arguments swapped", "np.clip(-values[1:], low, 3)", "np.clip(low, -values[1:], 3)"),
        ("sign", "-values[1:]", "values[1:]"),
        ("slice", "1:", ":"),
        ("loop", "break", "pass"),
        ("comparison", "value is None", "value is not None"),
        ("statement dropped", "kept = kept + max(0, value)", "pass"),
        ("arithmetic", "kept + max(0, value)", "kept - max(0, value)"),
        ("function", "np.sum(kept, axis=0)", "np.max(kept, axis=0)"),
        ("keyword dropped", "np.sum(kept, axis=0)", "np.sum(kept)"),
        ("condition", "most", "not most"),
        ("default", "True", "False"),
    ],
)
def test_every_kind_of_change_is_made(change):
    assert change in changes()


def test_constants_change_once_each_and_texts_and_messages_never():
    constants = [m.before for m in listed("room/file.py", SOURCE) if m.operator in {"constant", "default"}]
    assert sorted(constants) == ["0", "0", "0", "1", "2", "3", "4.5", "True"]
    assert not any("found" in before and operator != "raise dropped" for operator, before, _ in changes())
    assert all(ast.parse(mutated(mutant, SOURCE)) for mutant in listed("room/file.py", SOURCE))


def test_a_name_finds_its_place_again_after_other_edits_and_not_once_it_is_gone():
    (mutant,) = (m for m in listed("room/file.py", SOURCE) if m.operator == "boundary")
    moved = SOURCE.replace("import numpy as np", "import math\n\nimport numpy as np\n\nLIMIT = 3 < 4")
    assert "low <= 0" in mutated(mutant, moved)
    assert "3 < 4" in mutated(mutant, moved)
    assert mutated(mutant, SOURCE.replace("low < 0", "low < 1")) is None


def test_equal_places_are_numbered():
    twice = "def f(a, b):\n    return (a < b, a < b)\n"
    first, second = (m for m in listed("room/file.py", twice) if m.operator == "boundary")
    assert (first.nth, second.nth) == (1, 2)
    assert "a <= b, a < b" in mutated(first, twice)
    assert "a < b, a <= b" in mutated(second, twice)


def test_the_sample_has_every_operator_and_otherwise_their_shares():
    made = [
        Mutant("room/file.py", "f", operator, str(at), "", 1)
        for operator, n in (("a", 90), ("b", 9), ("c", 1))
        for at in range(n)
    ]
    drawn = mutants.drawn(made, 20, seed=3)
    assert [sum(m.operator == name for m in drawn) for name in "abc"] == [17, 2, 1]
    assert mutants.drawn(reversed(made), 20, seed=3) == drawn
    assert mutants.drawn(made, 20, seed=4) != drawn


def test_statements_are_told_apart_from_imports():
    lines = ['"""Text."""', "from __future__ import annotations", "A = 1", "", "def f(x):"]
    lines += ['    """Text."""', "    if x > 0:", "        return A", "    return 0"]
    seen = set()
    space = {"__mark__": seen.add, "__name__": "module"}
    exec(mutant_runs.marked("room/file.py", "\n".join(lines)), space)
    assert seen == {"room/file.py"}
    assert space["f"](1) == 1
    assert space["f"].__doc__ == "Text."
    places = {mutant.before: mutant.place for mutant in listed("room/file.py", "\n".join(lines))}
    assert places["x > 0"] in seen
    assert places["1"] == "room/file.py"
    assert len(seen) == 3
    space["f"](0)
    assert len(seen) == 4
