"""The core runs alone; what needs more says which extra installs it."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dpfair_lib
from dpfair_lib._extras import EXTRAS, MissingExtraError, extra

PACKAGE = Path(dpfair_lib.__file__).parent
PROJECT = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CORE = {"numpy", "scipy", "scikit-learn", "pandas", "lazy-loader"}
COMES_ALONG = {"cycler"}  # with matplotlib
OF = {module: name for name, (_, modules) in EXTRAS.items() for module in modules}
BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocked())
"""


def run(code, *blocked, **options):
    """Run code in a fresh process that cannot import some packages."""
    text = BLOCKED.format(names=set(blocked)) + code if blocked else code
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=300, **options
    )


def imports_out_of_place(tree):
    """Yield the lines of imports of an extra's modules that do not stand under that extra."""

    def visit(node, under):
        if isinstance(node, ast.With):
            calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
            named = [call.args[0].value for call in calls if getattr(call.func, "id", "") == "extra"]
            under = named[0] if named else under
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        else:
            found = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        for name in found:
            if OF.get(name.partition(".")[0], under) != under:
                yield node.lineno
        for child in ast.iter_child_nodes(node):
            yield from visit(child, under)

    yield from visit(tree, None)


def test_every_import_of_an_extra_says_which_one_is_missing():
    for path in PACKAGE.rglob("*.py"):
        wrong = list(imports_out_of_place(ast.parse(path.read_text(encoding="utf-8"))))
        assert not wrong, f"{path}: lines {wrong}: put the import under `with extra(...)`"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import opendp.prelude", True),
        ("def f():\n    from torch import nn", True),
        ("with extra('solver'):\n    import opendp", True),
        ("with extra('secure'):\n    import opendp", False),
        ("if TYPE_CHECKING:\n    import torch", False),
        ("import numpy", False),
    ],
)
def test_an_import_out_of_place_is_found(text, found):
    assert bool(list(imports_out_of_place(ast.parse(text)))) == found


def distributions(requirements):
    return {re.split(r"[^\w-]", requirement, maxsplit=1)[0] for requirement in requirements}


def test_the_project_file_has_the_same_extras():
    optional = PROJECT["optional-dependencies"]
    assert distributions(PROJECT["dependencies"]) == CORE
    assert optional.keys() == EXTRAS.keys() | {"claims", "all"}
    for name, (_, modules) in EXTRAS.items():
        expected = {module.replace("_", "-") for module in modules if module not in COMES_ALONG}
        assert distributions(optional[name]) == expected, name
    inside = {name: set(re.split(r"[\[\],]", optional[name][0])[1:-1]) for name in ("claims", "all")}
    assert inside["all"] == EXTRAS.keys()
    assert inside["claims"] < EXTRAS.keys()


def test_importing_and_listing_need_nothing_but_the_core():
    found = run(f"import sys, dpfair_lib as d; dir(d); print([m for m in {sorted(OF)} if m in sys.modules])")
    assert found.stdout.strip() == "[]", found.stderr


def test_every_public_name_can_be_had_without_any_extra():
    found = run("import dpfair_lib as d; [getattr(d, name) for name in d.__all__]; print('all')", *OF)
    assert found.stdout.strip() == "all", found.stderr


LIGHT = """
import numpy as np, dpfair_lib as d
rng = np.random.default_rng(0)
A, y = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
X = rng.normal(size=(200, 3)) / 3
assert 0 <= d.demographic_parity_difference(y, y, sensitive_features=A) <= 1
fair = d.FairPostprocessor().fit(y, sensitive_features=A)
assert set(fair.predict(y, sensitive_features=A, random_state=0)) <= {0, 1}
d.EqualizedOddsPostprocessor(gamma=0.1).fit(y, sensitive_features=A, y_true=rng.integers(0, 2, 200))
study = {"noise": "study", "random_state": 0}
private = d.PrivateFairPostprocessor(epsilon=1.0, **study).fit(y, sensitive_features=A)
assert private.privacy_statement_.epsilon == 1
learner = d.OutputPerturbation(epsilon=1.0, delta=1e-5, regularization=0.1, feature_bound=2.0, **study)
assert learner.fit(X, y).coef_.shape == (1, 3)
joined = d.PrivateFairClassifier(epsilon=1.0, delta=1e-6, feature_bound=2.0, **study)
joined.fit(X, y, sensitive_features=A)
d.fairness_certificate(X @ [1.0, 2.0, 0.5], y, X=X, sensitive_features=A, notion="accuracy_parity", radius=0.1)
assert 0 <= d.parity_violation_probability(0.1, rates=[0.2, 0.5], n=[50, 50], epsilon=1.0) <= 1
assert d.change_lower_bound(0.5, 0.25, 0.1) >= 0
channel = d.generalized_randomized_response(3, 1.0)
assert len(channel.apply(np.array([0, 1, 2]), None)) == 3
assert len(channel.apply(np.array([0, 1, 2]), rng)) == 3
assert abs(d.binary_optimum([0.5, 0.5], [0.3, 0.6], 1.0).epsilon - 1) < 1e-9
statement = d.PrivacyStatement(1.0, 0.0, "add-remove")
d.Budget(2.0, 1e-5, "add-remove").spend(statement)
assert d.compose(statement, statement).epsilon == 2
assert len(d.synthetic("adult", n=100, random_state=0).y) == 100
assert d.gaussian_sigma(1.0, 1e-5, 1.0, "analytic") > 0
print("works")
"""


def test_what_needs_no_extra_works_without_any():
    found = run(LIGHT, *OF)
    assert found.stdout.strip() == "works", found.stderr


MISSING = {
    "opendp": "d.PrivateFairPostprocessor(epsilon=1.0).fit([0, 1], sensitive_features=[0, 1])",
    "dp_accounting": "d.dp_sgd_epsilon(1.0, 0.1, 10, 1e-5, 'pld')",
    "prv_accountant": "d.dp_sgd_epsilon(1.0, 0.1, 10, 1e-5, 'prv')",
    "highspy": "d.optimal_randomizer([0.3, 0.3, 0.4], [0.2, 0.5, 0.6], 1.0, method='columns')",
    "clarabel": "from dpfair_lib.local import CellBounds, robust_randomizer as f; "
    "f(CellBounds.around([0.6, 0.4], [0.3, 0.5], radius=0.05), 1.0)",
    "torch": "d.DPLogisticRegression(noise_multiplier=1.0, delta=1e-5, max_grad_norm=1.0, sample_rate=0.5, steps=2, "
    "learning_rate=0.1, noise='study', random_state=0).fit([[0.0], [1.0]], [0, 1])",
    "matplotlib": "from dpfair_lib import plots; plots.axes()",
    "pyarrow": "import tempfile, pathlib; from dpfair_lib.local import randomize_file; "
    "source = pathlib.Path(tempfile.mkdtemp(), 'a.csv'); source.write_text('a\\nx\\ny\\n'); "
    "randomize_file(source, source.with_name('b.csv'), 'a', d.generalized_randomized_response(2, 1.0), "
    "labels=['x', 'y'])",
    "platformdirs": "d.load('adult', download=False)",
    "distributed": "from dpfair_lib.experiments.cluster import connect; connect('tcp://127.0.0.1:1')",
    "fairlearn": "from dpfair_lib.experiments.ours.several_groups_methods import threshold_optimizer as f; "
    "f(None, notion='', gamma=0.1)",
}
"""A package, and code that cannot do without it."""


@pytest.mark.parametrize("package", MISSING)
def test_a_missing_package_is_named_with_the_line_that_installs_it(package):
    environment = {name: value for name, value in os.environ.items() if name != "DPFAIR_DATA"}
    found = run(f"import dpfair_lib as d\n{MISSING[package]}", package, env=environment)
    assert found.returncode == 1
    last = found.stderr.strip().splitlines()[-1]
    assert last.startswith("dpfair_lib._extras.MissingExtraError: " + package), found.stderr
    assert last.endswith(f'pip install "dpfair-lib[{OF[package]}]"')


def test_only_what_the_extra_brings_is_explained():
    with pytest.raises(ModuleNotFoundError, match="no_such_package"), extra("secure"):
        import no_such_package  # noqa: F401
    with pytest.raises(ValueError, match="as it is"), extra("secure"):
        raise ValueError("as it is")


def test_a_missing_extra_is_an_import_error_with_the_package_s_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with (
        pytest.raises(MissingExtraError, match=r"HiGHS and Clarabel.*dpfair-lib\[solver\]") as refused,
        extra("solver"),
    ):
        import highspy  # noqa: F401
    assert isinstance(refused.value, ImportError)
    assert refused.value.name == "highspy"


def test_the_command_line_says_it_in_one_line():
    code = "import sys; sys.argv[1:] = ['data']; from dpfair_lib.__main__ import main; sys.exit(main())"
    environment = {name: value for name, value in os.environ.items() if name != "DPFAIR_DATA"}
    found = run(code, "platformdirs", env=environment)
    assert found.returncode == 3
    assert len(found.stderr.splitlines()) == 1
    assert 'pip install "dpfair-lib[files]"' in found.stderr


def test_the_guide_lists_every_extra():
    page = (PACKAGE.parent / "notebooks" / "ten-minutes.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page[page.index("## Install") : page.index("## How fair")], re.M)
    assert listed == list(PROJECT["optional-dependencies"])
