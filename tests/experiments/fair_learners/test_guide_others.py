"""What else could tell: floors, thresholds and looks, on small records whose answers are known."""

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.experiments.fair_learners import guide, guide_others, guide_regrets
from dpfair_lib.experiments.fair_learners.trials import CONSTANT

WHO = guide.Situation("add-remove")
DATA = "small", "middle", "large", "huge"
SIZES = {"rows": {"small": 1.0, "middle": 2.0, "large": 3.0, "huge": 4.0}}


def rows(mean, seed):
    noise = np.random.default_rng(seed).normal(0, 1e-3, 20)
    return pd.DataFrame({"error": mean + noise, "parity": 0.0})


def asked(means, levels=(1.0,)):
    """One question for each ε; `means` by data set and method, added 0.01/ε."""
    return {
        (WHO, "parity", at): {
            data: {name: rows(mean + 0.01 / at, seed) for seed, (name, mean) in enumerate(by_name.items())}
            for data, by_name in means.items()
        }
        for at in levels
    }


SWITCHES = {
    data: {CONSTANT: 0.5, "ours, parity": first, "Lagrangian, parity": 0.5 - first}
    for data, first in zip(DATA, (0.1, 0.1, 0.4, 0.4), strict=True)
}


def test_each_method_has_its_own_p_as_the_one_told():
    question = asked(SWITCHES)
    found = guide_others.outcomes(question)
    ((one, p),) = found.p.items()
    for data, here in question[one].items():
        for name in here:
            told = guide_regrets.contest(one, data, here, name)
            assert p[data][name] == pytest.approx(float(guide_regrets.beside_all(told.losses)))
            assert found.means[one][data][name] == pytest.approx(told.losses[:, 0].mean())
    assert p["small"]["ours, parity"] > 0.5 > 1e-9 > p["small"]["Lagrangian, parity"]


def test_the_floor_counts_the_data_sets_on_which_no_single_method_is_best():
    found = guide_others.outcomes(asked(SWITCHES))
    ((name, count),) = guide_others.floor(found, 0.95).values()
    assert name != CONSTANT
    assert count == 2
    lopsided = {**SWITCHES, "large": SWITCHES["small"]}
    ((name, count),) = guide_others.floor(guide_others.outcomes(asked(lopsided)), 0.95).values()
    assert (name, count) == ("ours, parity", 1)
    # never more than what Holm's steps reject for the same methods
    p = [by_name[name] for by_name in next(iter(guide_others.outcomes(asked(lopsided)).p.values())).values()]
    assert guide_others.significant(p, 0.95) == 1


def parts(side):
    return sorted(
        tuple(sorted(one for one in DATA if side(one) == part)) for part in {side(one) for one in DATA}
    )


def test_partitions_are_all_those_of_two_thresholds_on_a_line():
    found = {tuple(parts(side)) for side in guide_others.partitions(DATA, SIZES, 2)}
    cuts = {(), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3)}
    expected = {
        tuple(sorted(tuple(sorted(DATA[a:b])) for a, b in zip((0, *cut), (*cut, 4), strict=True)))
        for cut in cuts
    }
    assert found == expected
    assert len(list(guide_others.partitions(DATA, SIZES, 0))) == 1
    assert len({tuple(parts(side)) for side in guide_others.partitions(DATA, SIZES, 1)}) == 4


@pytest.mark.parametrize("inner", [False, True])
def test_a_threshold_helps_where_the_fact_decides_and_not_where_it_does_not(inner):
    six = {f"{data} {i}": SWITCHES[data] for data in ("small", "huge") for i in range(3)}
    found = guide_others.outcomes(asked(six))
    decides = {"rows": {data: float(data[0] == "h") + 0.1 * i for i, data in enumerate(six)}}
    p = guide_others.by_facts(found, decides, 1, inner=inner)
    assert guide_others.significant(p, 0.95) == 0
    p = guide_others.by_facts(found, decides, 0, inner=inner)
    # without it the three others of the other kind outvote the two of the same kind
    assert guide_others.significant(p, 0.95) == 6


def test_the_one_left_out_is_not_used():
    found = guide_others.outcomes(asked(SWITCHES))
    ((one, means),) = found.means.items()
    blind = guide_others.Outcomes(
        {one: {**means, "huge": dict.fromkeys(means["huge"], float("nan"))}}, found.p
    )
    for inner in (False, True):
        for most in (1, 2):
            last = [guide_others.by_facts(its, SIZES, most, inner=inner)[-1] for its in (found, blind)]
            assert last[0] == last[1]


FACTS = {
    "rows": dict.fromkeys(DATA, 100_000.0),
    "smaller group's share": dict.fromkeys(DATA, 0.4),
    "rarer label's share": dict.fromkeys(DATA, 0.2),
}


def test_a_look_pays_for_both_and_keeps_the_better():
    questions = asked(SWITCHES, guide_others.EPSILONS)
    for rng in (None, np.random.default_rng(0)):
        found = guide_others.looked(questions, FACTS, rng=rng)
        assert [one.question[2] for one in found] == [1.0] * 4 + [3.0] * 4 + [
            9.0
        ] * 4  # none has ½ for each of two
        for one in found:
            assert one.names[0] == "ours, parity or Lagrangian, parity"
            at = one.question[2] / 2
            low, high = (
                max(x for x in guide_others.EPSILONS if x <= at),
                min(x for x in guide_others.EPSILONS if x >= at),
            )
            weight = 0 if low == high else np.log(at / low) / np.log(high / low)
            expected = 0.1 + (1 - weight) * 0.01 / low + weight * 0.01 / high
            assert one.losses[:, 0].mean() == pytest.approx(expected, abs=1e-3)
            assert one.losses[:, 1:].shape == (20, 3)
    whole = guide_others.looked(questions, FACTS, share=1.0)
    assert [one.losses[:, 0].mean() for one in whole[:4]] == pytest.approx([0.1 + 0.02] * 4, abs=1e-3)


def test_a_noisy_choice_errs_where_counts_are_few():
    questions = asked(SWITCHES, guide_others.EPSILONS)
    few = FACTS | {"rows": dict.fromkeys(DATA, 20.0)}
    found = guide_others.looked(questions, few, rng=np.random.default_rng(0))
    assert found[0].losses[:, 0].mean() > 0.15


def test_without_a_learner_under_constraints_the_rule_is_told():
    means = {
        data: {name: loss for name, loss in its.items() if name[0] != "L"} for data, its in SWITCHES.items()
    }
    found = guide_others.looked(asked(means, guide_others.EPSILONS), FACTS, rng=np.random.default_rng(0))
    assert {one.names[0] for one in found} == {"ours, parity"}
    assert found[0].losses[:, 0].tolist() == found[0].losses[:, 2].tolist()


def largest_move(counts):
    """Return by how much error plus parity gap can move when one of the rows is replaced, by enumeration."""

    def loss(table):  # table[group][selected, wrong]
        n = [sum(table[g].values()) for g in (0, 1)]
        rate = [sum(c for (s, _), c in table[g].items() if s) / n[g] for g in (0, 1)]
        wrong = sum(c for g in (0, 1) for (_, w), c in table[g].items() if w)
        return wrong / sum(n) + abs(rate[0] - rate[1])

    cells = [(g, s, w) for g in (0, 1) for s in (0, 1) for w in (0, 1)]
    most = 0.0
    for split in np.ndindex(*(3 for _ in cells)):
        table = [{(s, w): split[cells.index((g, s, w))] for s in (0, 1) for w in (0, 1)} for g in (0, 1)]
        if [sum(table[g].values()) for g in (0, 1)] != list(counts):
            continue
        for g in (0, 1):
            for old in table[g]:
                for new in table[g]:
                    if table[g][old] and new != old:
                        moved = [dict(table[0]), dict(table[1])]
                        moved[g][old] -= 1
                        moved[g][new] += 1
                        most = max(most, abs(loss(moved) - loss(table)))
    return most


def test_no_replaced_row_of_a_group_moves_the_score_by_more():
    known = {"rows": {"x": 25.0}, "smaller group's share": {"x": 0.4}, "rarer label's share": {"x": 0.5}}
    assert (
        largest_move((2, 3))
        <= guide_others.moves(known, "x", "parity")
        == pytest.approx(1 / 5 + 1 / 2 + 1 / 3)
    )
    assert guide_others.moves(known, "x", "odds") > guide_others.moves(known, "x", "parity")


def test_facts_are_those_of_the_stand_ins():
    found = guide_others.facts({"compas": 5771, "lsac": 17926}, rows=2000)
    assert found["rows"] == {"compas": 5771, "lsac": 17926}
    assert found["columns"]["compas"] < found["columns"]["lsac"]
    assert found["rarer label's share"]["lsac"] < 0.1 < 0.4 < found["rarer label's share"]["compas"] <= 0.5
    assert 0.3 < found["smaller group's share"]["compas"] < 0.5
