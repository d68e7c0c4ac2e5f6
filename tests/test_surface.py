import importlib
import importlib.util
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import dpfair_lib


def test_every_public_name_can_be_imported_and_is_documented():
    for name in dpfair_lib.__all__:
        assert getattr(dpfair_lib, name).__doc__, name


def test_every_name_that_the_text_mentions_exists():
    root = Path(__file__).parents[1]
    pages = [root / "README.md", *(root / "book").rglob("*.md"), *(root / "notebooks").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"\bdpf\.(\w+)", page.read_text(encoding="utf-8"))}
    assert named
    assert named <= set(dpfair_lib.__all__)
    for page in pages:
        for module, name in re.findall(
            r"`(dpfair_lib(?:\.\w+)+)\.(\w+)[`(]", page.read_text(encoding="utf-8")
        ):
            known = hasattr(importlib.import_module(module), name) or importlib.util.find_spec(
                f"{module}.{name}"
            )
            assert known, f"{page.name}: {module}.{name}"


def test_importing_is_light():
    code = "import sys, dpfair_lib; print([m for m in ('torch', 'pandas', 'sklearn', 'scipy') if m in sys.modules])"
    subprocess.run([sys.executable, "-c", code], check=True)  # warm the file cache
    started = time.perf_counter()
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    elapsed = time.perf_counter() - started  # start of Python included
    assert loaded.strip() == "[]"
    assert elapsed < 1.5  # half a second where nothing else runs; the list above is the real guard


def loaded_with(names, modules):
    """Return which of some modules are imported when the public names are first used."""
    code = (
        f"import sys, dpfair_lib; [getattr(dpfair_lib, name) for name in {list(names)}]; "
        f"print(*[module for module in {list(modules)} if module in sys.modules])"
    )
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()


def test_no_public_name_imports_a_heavy_package_of_an_extra():
    heavy = (
        "torch",
        "opacus",
        "opendp",
        "highspy",
        "clarabel",
        "dp_accounting",
        "prv_accountant",
        "matplotlib",
        "lightgbm",
    )
    assert loaded_with(dpfair_lib.__all__, heavy) == []


TABLES = {"Dataset", "load", "synthetic"}
ESTIMATORS = {"PrivateScaler", "PrivateImputer", "PublicScaler", "PublicImputer", "PublicEncoder"} | {
    name
    for name in dpfair_lib.__all__
    if re.search("Postprocessor|Classifier|Learner|Perturbation|Regression", name)
}
ESTIMATORS |= {"GroupColumn"}
ESTIMATORS |= {
    "DPLinearSVM", "FairProjection", "PrivateExponentiatedGradient", "PrivateNoRegretFair", "PrivatePipeline",
    "PrivateSelection",
}  # fmt: skip


def test_a_first_use_imports_no_more_than_its_kind_needs():
    """scikit-learn's base class takes most of an estimator's first use, and pandas that of a data set's."""
    others = sorted(set(dpfair_lib.__all__) - TABLES - ESTIMATORS)
    assert len(others) > 30
    assert loaded_with(others, ("sklearn", "scipy.stats", "scipy.optimize", "pandas", "joblib")) == []
    assert loaded_with(sorted(TABLES), ("sklearn", "scipy.stats", "joblib")) == []


def test_command_line_lists_its_commands():
    shown = subprocess.run(
        [sys.executable, "-m", "dpfair_lib", "--help"], check=True, capture_output=True, text=True
    ).stdout
    assert "claims" in shown
    assert "data" in shown


def test_command_line_prints_json_of_one_claim():
    shown = subprocess.run(
        [sys.executable, "-m", "dpfair_lib", "claims", "--only", "isit.alg-1", "--json"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    (row,) = json.loads(shown)
    assert row["id"] == "isit.alg-1"
    assert row["verdict"] == row["status"] == "corrected"
    assert row["witness"] == {"alpha": "0", "beta": "0"}


ROOMS = (
    {"populations", "datasets", "fairness", "privacy"},
    {"learners", "preparation", "postprocessing"},
    {"central", "local", "compatibility", "margins", "svm"},
    {"claims", "experiments"},
)
"""From the ground up; a room uses those below it, and the source packages do not use one another."""


def test_rooms_are_used_one_way():
    package = Path(dpfair_lib.__file__).parent
    source_packages = ROOMS[2]
    for floor, rooms in enumerate(ROOMS[:-1]):
        above = set().union(*ROOMS[floor + 1 :])
        for room in rooms:
            refused = above | (source_packages - {room} if room in source_packages else set())
            for module in (package / room).rglob("*.py"):
                used = set(
                    re.findall(
                        r"^\s*(?:from|import) dpfair_lib\.(\w+)", module.read_text(encoding="utf-8"), re.M
                    )
                )
                assert not used & refused, f"{module}: uses {used & refused}"


def test_figures_import_nothing_of_ours():
    text = (Path(dpfair_lib.__file__).parent / "plots.py").read_text(encoding="utf-8")
    found = set(re.findall(r"^\s*(?:from|import)\s+((?:dpfair_lib|\.)[\w.]*)", text, re.M))
    assert found == {"dpfair_lib._extras"}  # which only says what to install


def test_what_is_private_to_a_room_is_used_there_only():
    package = Path(dpfair_lib.__file__).parent
    for module in package.rglob("*.py"):
        room = module.relative_to(package).parts[0]
        text = module.read_text(encoding="utf-8")
        used = re.findall(r"^\s*(?:from|import) dpfair_lib\.(\w+)(?:\.\w+)*\._\w+", text, re.M)
        assert set(used) <= {room}, f"{module}: uses what is private to {set(used) - {room}}"
