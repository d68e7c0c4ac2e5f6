"""The targets of the inner loop ask for what they need, and run the tests that a contributor may break."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def dry_run(*words):
    return subprocess.run(
        ["make", "--dry-run", "--no-print-directory", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("target", "example"), [("check", "CLAIM=isit.prop-1"), ("chapter", "NAME=isit-prop-1")]
)
def test_a_target_that_needs_a_name_says_so_before_it_runs_anything(target, example):
    without, given = dry_run(target), dry_run(target, example)
    assert (without.returncode, without.stdout) == (2, "")
    assert f"say make {target} {example}" in without.stderr
    assert given.returncode == 0
    assert example.partition("=")[2] in given.stdout


def test_the_check_of_one_claim_runs_the_rules_for_all_of_them():
    (chosen,) = re.findall("-k '(.*)'", dry_run("check", "CLAIM=isit.prop-1").stdout)
    words = chosen.split(" or ")
    for name in (
        "test_each_claim_has_a_module_of_its_name_and_each_module_a_place_in_the_order",
        "test_no_claim_s_module_imports_another_s",
        "test_every_entry_is_filled_in",
        "test_what_is_examined_is_the_library_s_own",
    ):
        files = (ROOT / "tests" / "claims").glob("test_*.py")
        assert any(f"def {name}(" in path.read_text("utf-8") for path in files), name
        assert any(word in name for word in words), name
