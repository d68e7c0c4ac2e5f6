import ast
import functools

import pytest
from small_library import REACHED, library, names

from dpfair_lib.experiments.__main__ import EXPERIMENTS
from dpfair_lib.experiments.provenance import LIBRARY
from dpfair_lib.experiments.reach import modules_of, reached_files
from dpfair_lib.experiments.sk.private_svms import run_trial
from dpfair_lib.experiments.sources import on_data


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
