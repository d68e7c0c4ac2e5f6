"""The rules of the guide, derived again from the records by plain loops, and the command that tells them."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

import dpfair_lib as dpf
from dpfair_lib.__main__ import main
from dpfair_lib.experiments.fair_learners import (
    choose,
    constrained,
    constrained_runs,
    guide,
    methods,
    people,
    recipes,
    settings,
    summary,
)
from dpfair_lib.experiments.fair_learners.trials import CONSTANT
from dpfair_lib.experiments.recorded_results import RESULTS, read_record, write_record

PLAIN = methods.PLAIN


@pytest.fixture(scope="module")
def known():
    return guide.evidence()


def chosen_on_celeba(held, notion):
    """Return (protection, method, ε) → the dial that the held rows choose, by loops; `held` are dicts."""
    both, one = {}, {}
    for line in held:
        case = line["protection"], line["method"], line["level"]
        key = line["candidate"], line["dial"] if line["dial"] == line["dial"] else None
        both.setdefault(case, {}).setdefault(key, []).append(
            line["error"] + sum(line[gap] for gap in people.NOTIONS) / 3
        )
        one.setdefault(case, {}).setdefault(key, []).append(line["error"] + line[notion])
    found = {}
    for case, costs in both.items():
        candidate, _ = min(costs, key=lambda key: sum(costs[key]) / len(costs[key]))
        own = {key: sum(its) / len(its) for key, its in one[case].items() if key[0] == candidate}
        found[case] = min(own, key=own.get)[1]
    return found


@pytest.fixture(scope="module")
def losses():
    """(protection, notion, ε, data, method) → mean loss, from the files and by none of the guide's functions."""
    found = {}
    for data, size in settings.STANDS_FOR.items():
        for kind, own in (("fair", methods.METHODS), ("constrained", constrained.METHODS)):
            held = read_record(f"private-{kind}-settings-{size}")[0].to_dict("records")
            sums = {}
            for line in read_record(f"private-{kind}-{data}")[0].to_dict("records"):
                level, dial = (None if line[key] != line[key] else line[key] for key in ("level", "dial"))
                for notion in people.NOTIONS:
                    key = line["protection"], line["method"], level, dial, notion
                    total, count = sums.get(key, (0.0, 0))
                    sums[key] = total + line["error"] + line[notion], count + 1
            for notion in people.NOTIONS:
                dials = chosen_on_celeba(held, notion)
                for level in settings.EPSILONS:
                    for one in own:
                        dial = dials[one.protection, one.name, level]
                        total, count = sums[one.protection, one.name, level, dial, notion]
                        assert kind == "fair" or count == 20
                        found[one.protection, notion, level, data, one.name] = total / count
                    for protection in summary.PROTECTIONS if kind == "fair" else ():
                        free = (CONSTANT, PLAIN) if protection == "sensitive-attribute" else (CONSTANT,)
                        for name in free:
                            total, count = sums["none", name, None, None, notion]
                            assert count == 20
                            found[protection, notion, level, data, name] = total / count
    return found


ADDED = {
    f"{kind}, {notion}": notion
    for kind in ("Lagrangian", "exponentiated gradient")
    for notion in people.NOTIONS
}
NO_GROUP = {CONSTANT, PLAIN, "functional mechanism", "DP-FERMI", "group clipping", "global scaling", *ADDED}
REPORTED = {CONSTANT, PLAIN, "odds by reports"}
BUILT_FOR = {
    "Algorithm 2": "parity", "ours, parity": "parity", "DP-FERMI": "parity", "ours, opportunity": "opportunity",
    "thresholds": "opportunity", "odds by counts": "odds", "odds by reports": "odds",
    **ADDED,
}  # fmt: skip


def built_for(name, notion):
    return BUILT_FOR.get(name) in ({"opportunity", "odds"} if notion == "opportunity" else {notion})


@pytest.mark.parametrize("situation", guide.SITUATIONS, ids=lambda one: one.words)
def test_the_rules_are_those_that_the_records_give(known, losses, situation):
    for (_, notion, level), found in guide.questions(known, [situation]).items():
        told = guide.rule(found, notion)
        totals = {}
        for (protection, what, at, _, name), loss in losses.items():
            if (protection, what, at) != (situation.protection, notion, level):
                continue
            if (situation.ask or name in NO_GROUP) and (situation.holder == "one" or name in REPORTED):
                totals[name] = totals.get(name, 0.0) + loss
        meant = [name for name in totals if built_for(name, notion)]
        competing = [name for name in totals if not meant or name in meant or not BUILT_FOR.get(name)]
        assert totals[told] == pytest.approx(min(totals[name] for name in competing), abs=1e-12)


def test_the_rules_are_judged_where_they_were_not_derived(known, losses):
    judged = guide.judged(guide.questions(known, [guide.Situation("replace-one")], ["opportunity"]))
    assert len(judged) == len(known.rows) * len(settings.EPSILONS)
    found = {
        level: {
            data: {name: summary.loss(its, notion) for name, its in here.items()}
            for data, here in by_data.items()
        }
        for (_, notion, level), by_data in guide.questions(
            known, [guide.Situation("replace-one")], ["opportunity"]
        ).items()
    }
    for line in judged.itertuples():
        key = "replace-one", "opportunity", line.ε
        names = {name for *before, _, name in losses if tuple(before) == key}
        others = [data for data in known.rows if data != line.data]
        competing = [name for name in names if name not in BUILT_FOR or built_for(name, "opportunity")]
        told = min(competing, key=lambda name: sum(losses[*key, data, name] for data in others))
        best = min(losses[*key, line.data, name] for name in names)
        assert line.told == told
        assert line.regret == pytest.approx(losses[*key, line.data, told] - best, abs=1e-12)
        least = min(
            summary.paired_p(found[line.ε][line.data][told] - found[line.ε][line.data][name])
            for name in names
            if name != told
        )
        assert line.p == pytest.approx(
            min(1, (len(names) - 1) * least)
        )  # beside each of the others, not the best
        assert line.winner == pytest.approx(
            summary.paired_p(found[line.ε][line.data][told] - found[line.ε][line.data][line.best])
        )
    assert judged["holm"].min() == pytest.approx(min(1, 20 * judged["p"].min()))


def test_who_competes_is_known_before_any_record():
    some = [CONSTANT, "ours, parity", "ours, opportunity", "odds by counts", "group clipping"]
    assert guide.competing(some, "parity") == [CONSTANT, "ours, parity", "group clipping"]
    assert guide.competing(some, "opportunity") == [
        CONSTANT, "ours, opportunity", "odds by counts", "group clipping",
    ]  # fmt: skip
    assert guide.competing(some, "odds") == [CONSTANT, "odds by counts", "group clipping"]
    alone = [CONSTANT, PLAIN, "odds by reports"]  # nothing is built for parity: all compete
    assert guide.competing(alone, "parity") == alone
    assert {name: notion for name, notion in guide.AIMS.items() if notion}.items() >= BUILT_FOR.items()
    assert not any(guide.AIMS[name] for name in ("functional mechanism", "group clipping", "global scaling"))
    assert guide.AIMS["Lagrangian, odds"] == "odds"


def made(means):
    """Return rows of 20 splits with losses near the means, for each method."""
    rng = np.random.default_rng(0)
    return {
        name: pd.DataFrame({"error": mean + rng.normal(0, 1e-4, 20), "opportunity": 0.0})
        for name, mean in means.items()
    }


def test_a_regret_is_beside_the_best_of_all_methods_also_those_that_do_not_compete():
    usual = {CONSTANT: 0.5, "ours, opportunity": 0.3}
    found = {"a": made(usual | {"ours, parity": 0.2}), "b": made(usual | {"ours, parity": 0.4})}
    judged = summary.regrets(found, "opportunity", level=0.95, told_by=guide.rule)
    assert judged["told"].tolist() == ["ours, opportunity"] * 2
    assert judged["best"].tolist() == ["ours, parity", "ours, opportunity"]
    assert judged["regret"].tolist() == pytest.approx([0.1, 0], abs=1e-3)
    assert judged["p"]["a"] < 1e-6 < judged["p"]["b"]
    first = guide.judged({(guide.SITUATIONS[0], "opportunity", 1.0): found}, told_by=summary.rule)
    assert first["told"].tolist() == ["ours, opportunity", "ours, parity"]


@pytest.fixture(scope="module")
def with_added(known):
    """Evidence in which each data set has the added methods: the record of COMPAS stands for all."""
    own, held = read_record("private-constrained-compas")[0], constrained.held_rows("compas")
    chosen = {notion: constrained.dials(held, notion) for notion in people.NOTIONS}
    dials = {(data, notion): its | chosen[notion] for (data, notion), its in known.dials.items()}
    return known._replace(added=dict.fromkeys(known.rows, (own, held)), dials=dials)


def test_added_methods_compete_where_every_data_set_has_them(known, with_added):
    for protection, name in (("add-remove", "Lagrangian"), ("sensitive-attribute", "exponentiated gradient")):
        found = guide.usable(with_added, guide.Situation(protection, ask=False), "odds", 1.0)
        case = summary.Case(protection, "odds", 1.0)
        for method, its in constrained.candidates(*with_added.added["lsac"], case).items():
            for those in found.values():  # at the dials that the held rows choose
                pd.testing.assert_frame_equal(those[method], its)
            assert len(its) == 20
        assert {f"{name}, {notion}" for notion in people.NOTIONS} <= set(found["lsac"])
        assert f"{name}, odds" in guide.competing(found["lsac"], "odds")
        assert f"{name}, parity" not in guide.competing(found["lsac"], "odds")
    assert not known.added or known.added.keys() == known.rows.keys()
    assert (
        "Lagrangian, odds"
        not in guide.usable(with_added, guide.Situation("replace-one"), "odds", 1.0)["lsac"]
    )


def test_added_methods_wait_for_the_last_data_set(tmp_path):
    wanted = [
        path for pattern in ("private-fair-*", "private-constrained-*") for path in RESULTS.glob(pattern)
    ]
    for path in wanted:
        shutil.copy(path, tmp_path)
    for data, size in settings.STANDS_FOR.items():  # the same rows under other names
        for name in (f"private-constrained-{data}", f"private-constrained-settings-{size}"):
            if name not in ("private-constrained-compas", "private-constrained-settings-small"):
                form = "compas" if name.endswith(data) else "settings-small"
                rows, record = read_record(f"private-constrained-{form}")
                kept = {key: record[key] for key in ("parameters", "data", "code")}
                write_record(name, rows, folder=tmp_path, **kept)
    whole = guide.evidence(tmp_path, ["odds"])
    assert whole.added.keys() == whole.rows.keys()
    key = "add-remove", "Lagrangian, odds", 1.0
    assert whole.dials["lsac", "odds"][key] == constrained.dials(whole.added["lsac"][1], "odds")[key]
    assert "add-remove/Lagrangian, odds" in whole.parameters["adult"]["tuning"]
    (tmp_path / "private-constrained-adult.json").unlink()
    assert guide.evidence(tmp_path, ["odds"]).added == {}


def test_the_help_is_beside_the_best_that_does_nothing_clever(known):
    found = guide.usable(known, guide.Situation("replace-one"), "parity", 1.0)
    verdicts = guide.helps(found, "ours, parity", "parity", level=0.95)
    for data, verdict in verdicts.items():
        simple = min((CONSTANT, PLAIN), key=lambda name: summary.loss(found[data][name], "parity").mean())
        assert verdict.simple == simple
        each = 1 - 0.05 / len(found)
        mean, half = summary.interval(
            summary.loss(found[data]["ours, parity"], "parity") - summary.loss(found[data][simple], "parity"),
            each,
        )
        assert verdict.verdict == ("better" if mean + half < 0 else "worse" if mean > half else "not apart")
    better = [known.sizes[data] for data, one in verdicts.items() if one.verdict == "better"]
    assert guide.least_rows(verdicts, known.sizes) == min(better)
    assert guide.helps(found, CONSTANT, "parity", level=0.95) == dict.fromkeys(found)
    assert guide.least_rows(dict.fromkeys(found), known.sizes) is None


def test_sizes_are_those_of_the_training_rows(known):
    assert known.sizes["compas"] == 7214 - round(0.2 * 7214)
    assert known.sizes["acs-income"] == 80_000


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"epsilon": 0.4},
            r"epsilon: found 0\.4, expected a finite number, 0\.5 or more; nothing was measured below",
        ),
        ({"epsilon": float("nan")}, "epsilon: found nan, expected a finite number"),
        ({"epsilon": float("inf")}, "epsilon: found inf, expected a finite number"),
        ({"rows": 1}, "rows: found 1, expected 2 or more, as δ is 1/rows²"),
        (
            {"rows": 10**400},
            "rows: found a number of more than 15 digits, expected at most 1,000,000,000,000",
        ),
        ({"rows": 10**12 + 1}, "rows: found 1,000,000,000,001, expected at most"),
        (
            {"smallest": 51, "rows": 100},
            "smallest-group: found 51, expected 1 to 50: the smaller of two groups",
        ),
        ({"smallest": 0, "rows": 100}, "smallest-group: found 0, expected 1 to 50"),
        ({"situation": guide.Situation("replace-one", "nobody")}, "expected 'one' unless the group alone"),
    ],
)
def test_what_cannot_be_is_refused(known, changes, message):
    usual = {"situation": guide.Situation("replace-one"), "notion": "parity", "epsilon": 1.0, "rows": 1000}
    with pytest.raises(ValueError, match=message):
        choose.advice(known, **(usual | changes))


def test_the_group_is_said_to_be_no_feature(known):
    # for the group alone the classifier is fitted without noise: it is free only if it does not see the group
    found = choose.advice(known, guide.Situation("sensitive-attribute"), "parity", 1.0, 1000)
    assert any("LogisticRegression(" in line for line in found["code"])
    assert any("none of them the group" in line for line in choose.lines_of(found))


def test_evidence_of_some_data_sets_has_the_added_methods_if_they_do(known):
    recorded = constrained_runs.RECORDED
    some = guide.evidence(notions=["odds"], only=recorded)
    assert set(some.rows) == set(some.added) == set(recorded)
    assert set(known.rows) == set(settings.STANDS_FOR)
    key = "add-remove", "Lagrangian, odds", 1.0
    for data in recorded:
        held = constrained.held_rows(data)
        assert some.dials[data, "odds"][key] == constrained.dials(held, "odds")[key]


def test_missing_records_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="found no record private-fair-"):
        guide.evidence(tmp_path)


def test_the_command_prints_text_or_json(capsys):
    asked = ["choose", "--protect", "record", "--notion", "parity", "--rows", "3000", "--smallest-group", "2"]
    assert main([*asked, "--epsilon", "0.5"]) == 0
    shown = capsys.readouterr().out
    assert "void: that it helps: it was not shown for fewer than 5,771 rows" in shown
    assert "void: Algorithm 2's bound on the parity gap" in shown
    assert "not covered: linear models" in shown
    assert main([*asked, "--epsilon", "0.5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert f"use: {found['use']} (measured" in shown
    assert "\n".join(found["code"]) in shown
    assert main([*asked, "--epsilon", "0.1"]) == 1
    assert capsys.readouterr().err.startswith("epsilon: found 0.1")


@pytest.fixture(scope="module")
def alone(known):
    """Evidence of one data set and no added methods: no regrets to judge, so that advice is fast."""
    return known._replace(rows={"compas": known.rows["compas"]}, sizes={"compas": 5771}, added={})


def decided(monkeypatch, alone, name, word, rows=5771, **more):
    """Return advice where the rule gives a method, and the record says how it fares."""
    monkeypatch.setattr(guide, "rule", lambda *_: name)
    verdict = None if name == CONSTANT else summary.Verdict(name, PLAIN, -0.1, 0.02, word)
    monkeypatch.setattr(guide, "helps", lambda *_, **__: {"compas": verdict})
    usual = {"situation": guide.Situation("replace-one"), "notion": "parity", "epsilon": 1.0, "rows": rows}
    return choose.advice(alone, **(usual | more))


def test_the_first_line_says_do_nothing_clever_where_nothing_shows_that_more_helps(monkeypatch, alone):
    found = decided(monkeypatch, alone, CONSTANT, "")
    assert choose.lines_of(found)[0] == "use: constant (measured at ε = 1); do nothing clever"
    assert found["void"] == []
    assert not any(line.startswith(("void", "least")) for line in choose.lines_of(found))
    found = decided(monkeypatch, alone, "ours, parity", "worse")
    assert choose.lines_of(found)[0].startswith("use: nothing clever; ours, parity has the least mean loss")
    assert found["void"] == ["that it helps: no recorded data set shows it"]
    found = decided(monkeypatch, alone, "ours, parity", "better")
    assert choose.lines_of(found)[0] == "use: ours, parity (measured at ε = 1)"
    assert found["void"] == []
    found = decided(monkeypatch, alone, "ours, parity", "better", rows=5772)
    assert found["void"] == ["error and gap: nothing was measured for more than 5,771 rows"]
    found = decided(monkeypatch, alone, "ours, parity", "better", rows=5770)
    assert choose.lines_of(found)[0].endswith("nothing shows that it helps with 5,770 rows")
    assert found["void"] == ["that it helps: it was not shown for fewer than 5,771 rows"]


def test_every_number_of_a_line_has_its_interval(monkeypatch, alone):
    found = decided(monkeypatch, alone, "ours, parity", "better")
    (line,) = (line for line in choose.lines_of(found) if line.startswith("compas"))
    assert line.count("±") == 4
    assert line.endswith("-0.100 ± 0.020, better")
    constant = alone.rows["compas"].query("method == 'constant'")["error"]
    assert found["data"]["compas"]["error of the constant"] == summary.interval(constant, 0.95)


def test_a_bound_is_void_for_the_sizes_of_both_groups_and_for_methods_that_count(monkeypatch, alone):
    def void(name, notion, smallest):
        found = decided(monkeypatch, alone, name, "better", rows=5771, notion=notion, smallest=smallest)
        return found["void"]

    # two groups of 18 would be void, but the other one has 5,753 rows
    assert dpf.parity_bound(18, 1.0, 0.05) > 1 > dpf.parity_bound((18, 5753), 1.0, 0.05)
    assert void("ours, parity", "parity", 18) == []
    assert void("ours, parity", "parity", 5)[0].startswith("Algorithm 2's bound on the parity gap")
    assert "even if all had label 1" in void("ours, opportunity", "opportunity", 5)[0]
    assert void("functional mechanism", "parity", 5) == []


def test_between_two_recorded_levels_what_was_chosen_for_the_lower_one_is_taken(known):
    parameters = dict(known.parameters["compas"])
    shares = [{"share": at} for at in (0.1, 0.2, 0.3, 0.4)]
    parameters["tuning"] = parameters["tuning"] | {"replace-one/odds by counts": shares}
    for epsilon, share in (
        (0.5, 0.1),
        (0.99, 0.1),
        (1.0, 0.2),
        (2.99, 0.2),
        (3.0, 0.3),
        (8.9, 0.3),
        (20.0, 0.4),
    ):
        lines = recipes.recipe("odds by counts", "replace-one", epsilon, 1000, 0.0, parameters)
        assert f"epsilon={recipes.divided(epsilon, share).second!r}" in lines[2]


def test_the_constant_pays_for_the_majority_unless_labels_are_public():
    """Without noise, one record at a tie decides all labels."""
    for protection, moved in (("replace-one", 2), ("add-remove", 1)):
        lines = recipes.recipe(CONSTANT, protection, 0.5, 100, None, {})
        assert any(f"noise_scale({moved}, 0.5)" in line for line in lines)
        answers = set()
        for _ in range(60):  # at a tie, with noise, both labels come, but for one run in 10¹²
            found = {"X_new": np.zeros((2, 1)), "y": np.array([0, 1])}
            exec("\n".join([*recipes.imports(lines), *lines]), found)
            answers.add(int(found["labels"][0]))
            assert found["paid"] == dpf.PrivacyStatement(0.5, 0.0, protection)
        assert answers == {0, 1}


@pytest.fixture(scope="module")
def rows():
    data = dpf.synthetic("compas", n=400, random_state=0)
    train, test = people.split_people(data, 0, 0)
    return {"X": train.features, "y": train.labels, "group": train.groups, "X_new": test.features,
            "group_new": test.groups}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "protection", "epsilon"),
    [
        *((one.name, one.protection, 3.0) for one in (*methods.METHODS, *constrained.METHODS)),
        *((CONSTANT, protection, 1.0) for protection in summary.PROTECTIONS), (PLAIN, "sensitive-attribute", 1.0),
        ("functional mechanism", "replace-one", 0.5),
    ],
)  # fmt: skip
def test_the_lines_run_and_cost_what_was_asked_for(known, rows, name, protection, epsilon):
    size = len(rows["y"])
    held = constrained.held_rows("compas")
    dials = known.dials["compas", "parity"] | constrained.dials(held, "parity")
    parameters = known.parameters["compas"]
    parameters = parameters | {"tuning": parameters["tuning"] | constrained.tuned(held)}
    dial = dials.get((protection, name, epsilon))
    lines = recipes.recipe(name, protection, epsilon, size, dial, parameters)
    assert len(lines) <= 8
    found = dict(rows)
    exec("\n".join([*recipes.imports(lines), *lines]), found)
    assert set(np.unique(found["labels"])) <= {0, 1}
    assert len(found["labels"]) == len(rows["X_new"])
    parts = [found["paid"]] if "paid" in found else []
    parts += [
        found[one].privacy_statement_
        for one in ("model", "rule")
        if hasattr(found.get(one), "privacy_statement_")
    ]
    if name in (CONSTANT, PLAIN) and protection == "sensitive-attribute":
        assert not parts
        return
    whole = dpf.compose(*parts)
    assert 0.9 * epsilon <= whole.epsilon <= epsilon
    assert whole.delta <= size**-2.0
    assert whole.relation in ({protection, "local"} if protection == "sensitive-attribute" else {protection})


@pytest.mark.parametrize("name", ["group clipping", "DP-FERMI"])
def test_the_lines_run_for_more_rows_than_were_recorded(known, rows, name):
    """1/n² is then smaller than any δ that the accountant of DP-SGD resolves."""
    dials, parameters = known.dials["compas", "parity"], known.parameters["compas"]
    for size in (100_000, 10**9):
        lines = recipes.recipe(name, "add-remove", 1.0, size, dials["add-remove", name, 1.0], parameters)
        found = dict(rows)
        exec("\n".join([*recipes.imports(lines), *lines]), found)
        assert (
            found["model"].privacy_statement_.delta
            <= recipes.delta("add-remove", size)
            == recipes.LEAST_DELTA
        )
    assert recipes.delta("add-remove", 80_000) == 80_000**-2.0
    assert recipes.delta("replace-one", 10**9) == 1e-18


def test_settings_without_a_method_are_refused(known):
    with pytest.raises(ValueError, match="name: found 'nobody' under 'replace-one'"):
        recipes.recipe("nobody", "replace-one", 1.0, 100, None, known.parameters["compas"])


def test_every_method_is_said_to_ask_for_the_group_or_not():
    assert guide.ASK.isdisjoint(NO_GROUP)
    assert {one.name for one in (*methods.METHODS, *constrained.METHODS)} | {CONSTANT} == guide.ASK | NO_GROUP
