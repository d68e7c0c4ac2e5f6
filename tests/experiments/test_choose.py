import json

import numpy as np
import pandas as pd
import pytest

import dpfair_lib
from dpfair_lib.__main__ import main
from dpfair_lib.experiments import choose
from dpfair_lib.experiments.ours import private_fair_methods as methods
from dpfair_lib.experiments.ours import private_fair_settings as settings
from dpfair_lib.experiments.ours.private_fair import CONSTANT, FAIR, OPEN
from dpfair_lib.experiments.recorded_results import RESULTS, write_record

SPLITS = 5
SIZES = {"compas": 1000, "lsac": 5000}


def tuning():
    """Return rows of the tuning in which the dial 0 is best everywhere."""
    lines = [
        {
            "size": size, "protection": one.protection, "method": one.name, "level": level, "candidate": 0,
            "dial": dial, "error": 0.1 + dial, "parity": 0.0, "opportunity": 0.0, "odds": 0.0,
        }
        for size in ("small", "medium") for one in methods.METHODS for level in settings.EPSILONS
        for dial in ((np.nan,) if one.name == methods.PLAIN else (0.0, 1.0))
    ]  # fmt: skip
    return pd.DataFrame(lines).astype({"dial": float}).fillna({"error": 0.1})


def rows_of(best, error):
    """Return a record in which one method has this error at every ε, the constant 0.3 and the others more."""
    found = []
    names = [(one.protection, one.name, level) for one in methods.METHODS for level in settings.EPSILONS]
    for protection, name, level in [
        *names,
        *((OPEN, one, np.nan) for one in (CONSTANT, methods.PLAIN, FAIR)),
    ]:
        base = error if name == best else 0.3 if name == CONSTANT else 0.4
        for split in range(SPLITS):
            dial = np.nan if name in (CONSTANT, methods.PLAIN) else 0.0
            noise = 1e-4 * np.random.default_rng([split, len(name)]).normal()
            found.append({
                "split": split, "protection": protection, "method": name, "notion": "", "level": level,
                "dial": dial, "error": base + noise, "parity": 0.01, "opportunity": 0.02, "odds": 0.03,
            })  # fmt: skip
    return pd.DataFrame(found)


def written(folder, best="thresholds", errors=(0.29, 0.1)):
    for size in ("small", "medium"):
        write_record(f"private-fair-settings-{size}", tuning(), parameters={}, data={}, folder=folder)
    for (data, size), error in zip(SIZES.items(), errors, strict=True):
        write_record(
            f"private-fair-{data}", rows_of(best, error), data={"rows": size}, folder=folder,
            parameters={"most_rows": 4000, "test_share": 0.2},
        )  # fmt: skip
    return choose.recorded(folder)


def test_the_record_tells_the_method_and_what_was_measured(tmp_path):
    found = choose.advice(*written(tmp_path), "record", "parity", 1.5)
    assert (found["use"], found["measured at epsilon"], found["nothing clever"]) == ("thresholds", 1.0, False)
    assert found["made by"] == ["ObjectivePerturbation", "ExponentialFairLearner"]
    # at most 4,000 rows, of which a fifth is for the test
    assert {data: one["rows"] for data, one in found["data"].items()} == {"compas": 800, "lsac": 3200}
    assert found["data"]["lsac"]["error"][0] == pytest.approx(0.1, abs=1e-3)
    assert {one["beside nothing clever"] for one in found["data"].values()} == {"better"}
    assert found["least rows where it helps"] == 800


def test_the_least_rows_are_those_where_it_is_significantly_better(tmp_path):
    found = choose.advice(*written(tmp_path, errors=(0.35, 0.1)), "record", "parity", 1.0)
    assert found["use"] == "thresholds"
    assert found["data"]["compas"]["beside nothing clever"] == "worse"
    assert found["least rows where it helps"] == 3200


def test_nothing_clever_is_recommended_where_it_is_best(tmp_path):
    found = choose.advice(*written(tmp_path, errors=(0.5, 0.5)), "record", "odds", 9.0)
    assert (found["use"], found["nothing clever"], found["least rows where it helps"]) == (
        CONSTANT,
        True,
        None,
    )
    assert found["made by"] == ["the more frequent label for everybody"]
    assert "; nothing clever is best" in choose.lines_of(found)[0]


@pytest.mark.parametrize("epsilon", [0.4, 0.0, -1.0, float("nan")])
def test_nothing_is_said_where_nothing_was_measured(tmp_path, epsilon):
    with pytest.raises(ValueError, match=r"expected 0\.5 or more; nothing was measured below it"):
        choose.advice(*written(tmp_path), "record", "parity", epsilon)


def test_missing_records_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="expected at least one"):
        choose.recorded(tmp_path)
    written(tmp_path)
    (tmp_path / "private-fair-settings-medium.json").unlink()
    with pytest.raises(FileNotFoundError, match="private-fair-settings-medium"):
        choose.recorded(tmp_path)


def test_every_method_has_its_estimators():
    for one in methods.METHODS:
        for estimator in choose.made_by(one.name, one.protection):
            assert " " in estimator or hasattr(dpfair_lib, estimator)
    assert choose.made_by("DP-FERMI", "add-remove") == ["DPFermiClassifier"]
    assert choose.made_by("no fairness", "add-remove") == ["DPLogisticRegression"]


def test_the_command_prints_text_or_json(tmp_path, capsys, monkeypatch):
    written(tmp_path)
    monkeypatch.setattr("dpfair_lib.experiments.recorded_results.RESULTS", tmp_path)
    asked = ["choose", "--protect", "record", "--notion", "parity", "--epsilon"]
    assert main([*asked, "3"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("use: thresholds (measured at ε = 3)\nmade by: ObjectivePerturbation, then Exp")
    assert "least rows where it is better than nothing clever: 800" in shown
    assert main([*asked, "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["use"] == "thresholds"
    assert main([*asked, "0.1"]) == 1
    assert (
        capsys.readouterr().err == "epsilon: found 0.1, expected 0.5 or more; nothing was measured below it\n"
    )
    with pytest.raises(SystemExit):
        main([*asked[:-1]])


def derived_again(rows, held, protection, notion, level):
    """Return the method of least mean loss, by loops over plain lists and none of the summary's functions."""
    totals = {}
    for data, table in rows.items():
        size = settings.STANDS_FOR[data]
        tried = [
            line for line in held[data].to_dict("records") if line["size"] == size and line["level"] == level
        ]
        for one in methods.METHODS:
            if one.protection != protection:
                continue
            costs = {}
            for line in tried:
                if (line["protection"], line["method"]) == (protection, one.name):
                    gaps = (line["parity"] + line["opportunity"] + line["odds"]) / 3
                    key = line["candidate"], line["dial"] if line["dial"] == line["dial"] else None
                    costs.setdefault(key, []).append((line["error"] + gaps, line["error"] + line[notion]))
            candidate, _ = min(costs, key=lambda key: sum(pair[0] for pair in costs[key]) / len(costs[key]))
            own = [key for key in costs if key[0] == candidate]
            dial = min(own, key=lambda key: sum(pair[1] for pair in costs[key]) / len(costs[key]))[1]
            here = table[(table["protection"] == protection) & (table["method"] == one.name)]
            here = here[
                (here["level"] == level) & (here["dial"].isna() if dial is None else here["dial"] == dial)
            ]
            totals.setdefault(one.name, []).append((here["error"] + here[notion]).mean())
        for name in (CONSTANT, methods.PLAIN):
            if name == CONSTANT or protection == "sensitive-attribute":
                here = table[(table["protection"] == OPEN) & (table["method"] == name)]
                totals.setdefault(name, []).append((here["error"] + here[notion]).mean())
    return {name: sum(losses) for name, losses in totals.items()}


@pytest.mark.parametrize("protect", choose.PROTECTS)
@pytest.mark.parametrize("notion", choose.NOTIONS)
def test_the_rules_are_those_that_the_record_gives(protect, notion):
    try:
        rows, sizes, held = choose.recorded(RESULTS)
    except FileNotFoundError:
        pytest.skip("not recorded yet")
    for level in settings.EPSILONS:
        found = choose.advice(rows, sizes, held, protect, notion, level)
        losses = derived_again(rows, held, choose.PROTECTS[protect], notion, level)
        assert losses[found["use"]] == pytest.approx(min(losses.values()), abs=1e-12)
        assert found["nothing clever"] == (found["use"] in (CONSTANT, methods.PLAIN))


@pytest.mark.parametrize("protect", choose.PROTECTS)
def test_the_two_derivations_agree_where_the_best_is_planted(tmp_path, protect):
    name = {"record": "thresholds", "presence": "DP-FERMI", "group": "odds by reports"}[protect]
    rows, sizes, held = written(tmp_path, best=name)
    assert choose.advice(rows, sizes, held, protect, "odds", 1.0)["use"] == name
    losses = derived_again(rows, held, choose.PROTECTS[protect], "odds", 1.0)
    assert min(losses, key=losses.__getitem__) == name
