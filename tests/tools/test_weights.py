"""What the core and the extras weigh, and how long first uses take."""

import json
import tomllib

import weights

import dpfair_lib as dpf

ROOT = weights.ROOT


def test_readme_has_the_recorded_weights_of_the_core_and_of_every_extra():
    record = json.loads(weights.RECORD.read_text(encoding="utf-8"))["weights"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for row in weights.table(record):
        assert row.removesuffix("|") in readme, row
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert record.keys() == {"core", *project["optional-dependencies"]}
    assert record["core"]["megabytes"] <= 400


def test_readme_has_the_recorded_first_uses_which_are_short():
    record = json.loads(weights.RECORD.read_text(encoding="utf-8"))["first use"]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert weights.sentence(record) in readme
    assert weights.sentence({**record, "scikit-learn": [9.0, 9.9]}) not in readme
    listed = {*record["functions"], *record["estimators"]}
    assert listed <= set(dpf.__all__)
    assert len(listed) > 0.9 * len(
        dpf.__all__
    )  # a name that is newer than the record is measured the next time
    assert record["import"][1] <= 0.1
    assert max(least for least, _ in record["functions"].values()) <= 1
    assert max(least for least, _ in record["estimators"].values()) <= 0.5


def test_the_sentence_has_the_slowest_name_of_each_kind():
    found = {
        "import": [0.0101, 0.019], "scikit-learn": [0.9, 1.52], "functions": {"a": [0.1, 0.9], "b": [0.3, 0.4]},
        "estimators": {"C": [0.05, 0.6], "D": [0.12, 0.2]},
    }  # fmt: skip
    said = weights.sentence(found)
    assert "takes 0.010 to 0.019 s of processor time" in said
    assert "base class 0.90 to 1.52 s" in said
    assert "data set takes at most 0.30 s, that of an estimator at most 0.12 s more" in said


def test_a_weight_counts_each_package_once_and_follows_what_it_needs():
    found = weights.needed(["pandas", "numpy", "pandas"], {})
    assert {"pandas", "numpy", "python-dateutil"} <= found.keys()
    assert weights.needed(["dpfair-lib[a]"], {"a": ["numpy"]}) == {"numpy": found["numpy"]}
    assert weights.size("numpy") > 1e7


def test_a_name_that_needs_scikit_learn_is_an_estimator():
    uses = weights.first_uses(["parity_bound", "OutputPerturbation"], repeats=1)
    assert list(uses["functions"]) == ["parity_bound"]
    assert list(uses["estimators"]) == ["OutputPerturbation"]
    for least, most in (*uses["functions"].values(), *uses["estimators"].values(), uses["scikit-learn"]):
        assert 0 < least <= most


def test_an_estimator_of_ours_adds_little_to_scikit_learn_s_base_class():
    """A tenth of a second where nothing else runs; processor time is up to twice that on a busy machine."""
    ((least, *_),) = weights.first_use([["PrivateFairClassifier"]], beside=True)
    assert least < 0.5


def test_each_use_is_a_first_one():
    """A name that another process used before takes as long again."""
    ((least, *_, most),) = weights.first_use([["parity_bound"]], repeats=3)
    assert least > most / 10
    (beside,), (alone,) = (
        weights.first_use([["sklearn.base"]], beside=one, repeats=1) for one in (True, False)
    )
    assert beside[0] < alone[0] / 10
