"""No case is judged in vain: an equation has two sides, a slack follows from something, and every part is reached.

A fault that no part of a check could see is found by the ledger's own test. This one reads the checks: what they judge
must be able to fail at all.
"""

import ast
from pathlib import Path

import pytest

import dpfair_lib.claims

ROOM = Path(dpfair_lib.claims.__file__).parent
JUDGES = {"observe", "equal", "agree", "sanity", "against", "under"}


def in_vain(code):
    """Return the lines of a module that judge what cannot fail, and its functions that judge and are never named."""
    tree, found = ast.parse(code), []
    for call in ast.walk(tree):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args):
            continue
        if call.func.attr not in JUDGES or not isinstance(call.func.value, ast.Name):
            continue
        if call.func.attr in ("equal", "agree") and ast.dump(call.args[0]) == ast.dump(call.args[1]):
            found.append(f"line {call.lineno}: both sides are {ast.unparse(call.args[0])}")
        slack = call.args[call.func.attr == "under"]
        if not any(isinstance(node, ast.Name | ast.Call) for node in ast.walk(slack)):
            found.append(f"line {call.lineno}: the slack {ast.unparse(slack)} follows from nothing")
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name.startswith("_"):
            given = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
            if "search" in given and function.name not in named:
                found.append(f"line {function.lineno}: {function.name} is never called")
    return found


def test_nothing_is_judged_in_vain():
    checks = sorted(ROOM.glob("*/*.py"))
    assert len(checks) > 100
    assert {str(path): in_vain(path.read_bytes()) for path in checks if in_vain(path.read_bytes())} == {}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("search.equal(f(x), f(x), {})", "both sides are f(x)"),
        ("search.agree(a, a, {})", "both sides are a"),
        ("search.observe(0, {'x': x})", "the slack 0 follows from nothing"),
        ("search.under(kept, 1, {'x': x}, verify=v)", "the slack 1 follows from nothing"),
        ("def _part(bound, search):\n    search.observe(bound(1), {})", "_part is never called"),
    ],
)
def test_a_judgement_in_vain_is_found(code, said):
    assert any(said in line for line in in_vain(code))
    assert in_vain("def _part(search):\n    search.equal(f(x), g(x), {})\n_part(s)") == []
