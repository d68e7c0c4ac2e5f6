import math
import re
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

from dpfair_lib import Budget, FairPostprocessor, PrivateFairPostprocessor, parity_violation_probability
from dpfair_lib.central.gap_law import signed_gap
from dpfair_lib.privacy import STUDY_NOTE, DiscreteLaplaceMechanism, LaplaceMechanism, noise_source
from dpfair_lib.privacy.noise_source import NoiseSource

GROUPS = np.array(["one"] * 40 + ["two"] * 60)
LABELS = np.array([1] * 10 + [0] * 30 + [1] * 36 + [0] * 24)


def study(epsilon=0.5, seed=0, **options):
    return PrivateFairPostprocessor(epsilon, noise="study", random_state=seed, **options)


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_without_noise_it_is_algorithm_1(mechanism):
    private = PrivateFairPostprocessor(math.inf, mechanism=mechanism).fit(LABELS, sensitive_features=GROUPS)
    plain = FairPostprocessor().fit(LABELS, sensitive_features=GROUPS)
    assert private.noisy_rates_ == plain.rates_
    ours, theirs = (fair.predict_proba(LABELS, sensitive_features=GROUPS) for fair in (private, plain))
    assert ours == pytest.approx(theirs, abs=1e-15)
    assert not private.privacy_statement_.guarantee


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_released_rates_have_the_law_of_the_mechanism(mechanism):
    # 4,000 independent releases against the exact distribution function (Kolmogorov–Smirnov)
    rng, epsilon, draws = np.random.default_rng(3), (0.3, 0.8), 4000
    released = np.array(
        [
            list(
                study(epsilon, rng, mechanism=mechanism)
                .fit(LABELS, sensitive_features=GROUPS)
                .noisy_rates_.values()
            )
            for _ in range(draws)
        ]
    )
    law = LaplaceMechanism if mechanism == "laplace" else DiscreteLaplaceMechanism
    for at, (count, n) in enumerate([(10, 40), (36, 60)]):
        exact = law(1 / epsilon[at], 1)
        for x in np.linspace(0.005, 0.995, 67):
            expected = exact.cdf(np.floor(x * n) - count if mechanism == "geometric" else x * n - count)
            # P(sup deviation > 0.035) ≤ 2 exp(−2 · 4000 · 0.035²) = 1.1e-4 by Dvoretzky–Kiefer–Wolfowitz
            assert (released[:, at] <= x).mean() == pytest.approx(float(expected), abs=0.035)
    assert np.corrcoef(released.T)[0, 1] == pytest.approx(0, abs=0.08)


@pytest.mark.parametrize("epsilon", [(0.5, 2.0), (2.0, 0.5)])
@pytest.mark.parametrize("sizes", [None, {"two": 50, "one": 50}])
@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_each_group_has_its_own_epsilon_in_the_order_of_the_sorted_labels(
    epsilon, sizes, mechanism, monkeypatch
):
    asked = []
    for law in ("add_laplace", "add_discrete_laplace"):
        monkeypatch.setattr(
            NoiseSource, law, lambda _, counts, scale: asked.append((*counts, scale)) or np.array(counts)
        )
    relation = "replace-within-group" if sizes is None else "add-remove"
    fair = PrivateFairPostprocessor(epsilon, mechanism=mechanism, relation=relation, group_sizes=sizes)
    fair.fit(LABELS, sensitive_features=GROUPS)
    assert asked == [(10, 1 / epsilon[0]), (36, 1 / epsilon[1])]


def test_probabilities_are_those_of_the_printed_algorithm():
    for seed in range(40):
        fair = study(0.2, seed).fit(LABELS, sensitive_features=GROUPS)
        a, b = fair.noisy_rates_.values()
        positive = fair.predict_proba(LABELS, sensitive_features=GROUPS)[:, 1]
        gap = positive[GROUPS == "one"].mean() - positive[GROUPS == "two"].mean()
        assert gap == pytest.approx(float(signed_gap(0.25, 0.6, a, b)), abs=1e-12)
        if 0 < b <= a < 1:
            assert positive[0] == pytest.approx((a + b) / (2 * a))
            assert positive[-1] == pytest.approx((a - b) / (2 * (1 - b)))


def test_realised_gaps_follow_the_exact_law():
    rng, rates, n, epsilon = np.random.default_rng(5), (0.25, 0.6), (40, 60), 0.5
    seen = []
    for _ in range(1500):
        labels = np.concatenate([rng.uniform(size=k) < p for k, p in zip(n, rates, strict=True)]).astype(int)
        fair = study(epsilon, rng).fit(labels, sensitive_features=GROUPS)
        seen.append(abs(float(signed_gap(*rates, *fair.noisy_rates_.values()))))
    for gap in (0.05, 0.1, 0.2):
        chance = parity_violation_probability(gap, rates=rates, n=n, epsilon=epsilon)
        assert (np.array(seen) > gap).mean() == pytest.approx(chance, abs=6 * np.sqrt(chance / 1500))


@pytest.mark.parametrize(
    ("relation", "epsilon"),
    [("replace-within-group", 0.7), ("add-remove", 0.7), ("replace-one", 1.0), ("sensitive-attribute", 1.0)],
)
@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_statement_says_what_the_relation_costs(relation, epsilon, mechanism):
    sizes = {"one": 40, "two": 60}
    fair = PrivateFairPostprocessor((0.3, 0.7), relation=relation, mechanism=mechanism, group_sizes=sizes)
    statement = fair.fit(LABELS, sensitive_features=GROUPS).privacy_statement_
    assert (statement.epsilon, statement.delta) == (pytest.approx(epsilon), 0)
    assert statement.relation == relation
    assert statement.guarantee
    assert statement.public
    marked = clone(fair).set_params(noise="study", random_state=1).fit(LABELS, sensitive_features=GROUPS)
    assert not marked.privacy_statement_.guarantee
    assert STUDY_NOTE in marked.privacy_statement_.note


def test_nothing_exact_is_kept():
    fair = PrivateFairPostprocessor(0.3).fit(LABELS, sensitive_features=GROUPS)
    fitted = {name for name in vars(fair) if name.endswith("_")}
    assert fitted == {
        "groups_", "noisy_rates_", "target_rate_", "band_", "uses_scores_", "rules_", "privacy_statement_"
    }  # fmt: skip
    assert 0.25 not in fair.noisy_rates_.values()


def test_given_divisors_are_used_and_not_compared_with_the_data():
    sizes = {
        "one": 1000,
        "two": 1000,
    }
    fair = study(50.0, relation="add-remove", group_sizes=sizes).fit(LABELS, sensitive_features=GROUPS)
    assert fair.noisy_rates_["one"] == pytest.approx(0.01, abs=1e-3)
    alone = study(50.0, relation="add-remove", group_sizes=sizes).fit(
        [1, 1], sensitive_features=["two", "two"]
    )
    assert alone.noisy_rates_["one"] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(
    "relation", ["replace-within-group", "add-remove", "replace-one", "sensitive-attribute"]
)
@pytest.mark.parametrize("rows", [(0, 0), (1, 0), (0, 5000), (1, 1), (200, 3), (5000, 5000)])
def test_divisors_that_the_rows_contradict_raise_and_warn_of_nothing(rows, relation):
    # a warning here is an error; a bound that is far off is one that a single row can cross
    labels, groups = np.ones(sum(rows), dtype=int), np.repeat(["one", "two"], rows)
    for sizes in ({"one": 1, "two": 1}, {"one": 1, "two": 10**15}, {"one": 3000, "two": 2}):
        fair = PrivateFairPostprocessor(0.5, relation=relation, group_sizes=sizes)
        fair.fit(labels, sensitive_features=groups)
        assert list(fair.noisy_rates_) == ["one", "two"]
        assert set(vars(fair)) == set(
            vars(study(relation=relation, group_sizes=sizes).fit([1], sensitive_features=["two"]))
        )


def test_study_noise_repeats_and_secure_noise_does_not():
    first, again, other = (
        study(seed=s).fit(LABELS, sensitive_features=GROUPS).noisy_rates_ for s in (1, 1, 2)
    )
    assert first == again != other
    secure = [
        PrivateFairPostprocessor(0.5).fit(LABELS, sensitive_features=GROUPS).noisy_rates_ for _ in range(2)
    ]
    assert secure[0] != secure[1]


def test_containers_agree():
    expected = study().fit(LABELS, sensitive_features=GROUPS)
    for labels, groups in (
        (torch.tensor(LABELS), pd.Series(GROUPS)),
        (pd.DataFrame({"y": LABELS}), list(GROUPS)),
    ):
        fair = study().fit(labels, sensitive_features=groups)
        assert fair.noisy_rates_ == expected.noisy_rates_
        drawn = fair.predict(labels, sensitive_features=groups, random_state=0)
        assert (drawn == expected.predict(LABELS, sensitive_features=GROUPS, random_state=0)).all()


@pytest.mark.parametrize(
    ("fair", "message"),
    [
        (PrivateFairPostprocessor(0), "epsilon: found 0"),
        (PrivateFairPostprocessor((1, 2, 3)), "epsilon: found 3 values"),
        (PrivateFairPostprocessor(1, relation="local"), "relation: found 'local'"),
        (PrivateFairPostprocessor(1, relation="replace-one"), "group_sizes: found None beside"),
        (PrivateFairPostprocessor(1, mechanism="gauss"), "mechanism: found 'gauss'"),
        (PrivateFairPostprocessor(1, noise="none"), "noise: found 'none'"),
        (PrivateFairPostprocessor(1, random_state=3), "random_state: found 3 beside noise='secure'"),
        (PrivateFairPostprocessor(1, group_sizes={"one": 3}), "group_sizes: found {'one': 3}"),
        (PrivateFairPostprocessor(1, group_sizes={"one": 3, "two": 0}), "group_sizes: found 0"),
        (
            PrivateFairPostprocessor(1, group_sizes={"one": 3, "three": 3}),
            "sensitive_features: found group 'two'",
        ),
    ],
)
def test_bad_parameters_are_named(fair, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        fair.fit(LABELS, sensitive_features=GROUPS)


def test_bad_data_are_named():
    with pytest.raises(ValueError, match="sensitive_features: found 1 group"):
        study().fit([0, 1], sensitive_features=["a", "a"])
    with pytest.raises(ValueError, match=r"y_pred: found 2\.0 at position 1"):
        study().fit([0, 2], sensitive_features=["a", "b"])
    with pytest.raises(ValueError, match="lengths differ"):
        study().fit([0, 1, 1], sensitive_features=["a", "b"])
    fair = study().fit([0, 1], sensitive_features=["a", "b"])  # one row in each group
    assert fair.predict([1], sensitive_features=["a"], random_state=0).shape == (1,)
    with pytest.raises(ValueError, match="sensitive_features: found group 'c'"):
        fair.predict([1], sensitive_features=["c"], random_state=0)
    with pytest.raises(ValueError, match="scores: found scores"):
        fair.predict([1], sensitive_features=["a"], random_state=0, scores=[0.5])


def test_an_empty_table_is_not_told_apart_where_sizes_are_private():
    fair = study(1.0, relation="add-remove", group_sizes={"one": 250, "two": 250})
    fair.fit(np.zeros(0), sensitive_features=np.array([]))
    assert set(fair.noisy_rates_) == {"one", "two"}
    assert "the two group labels" in fair.privacy_statement_.public[0]


@pytest.mark.parametrize("epsilons", [(1.0, math.inf), (math.inf, 1.0), math.inf])
def test_a_rate_without_noise_promises_nothing(epsilons):
    found = PrivateFairPostprocessor(epsilons, noise="study", random_state=0).fit(
        np.tile([0, 1], 10), sensitive_features=np.repeat([0, 1], 10)
    )
    assert found.privacy_statement_.epsilon == math.inf
    assert not found.privacy_statement_.guarantee


def test_the_statement_says_which_sizes_are_public():
    y, a = np.tile([0, 1], 10), np.repeat([0, 1], 10)
    study = {"noise": "study", "random_state": 0}
    counted = PrivateFairPostprocessor(1.0, **study).fit(y, sensitive_features=a).privacy_statement_
    given = PrivateFairPostprocessor(1.0, group_sizes={0: 10, 1: 10}, **study).fit(y, sensitive_features=a)
    assert str(counted).count("of the rows given to fit") == 1
    assert "group sizes" in str(given.privacy_statement_)
    assert "of the rows given to fit" not in str(given.privacy_statement_)


def test_a_wrong_size_is_refused_before_anything_is_charged():
    labels, group = [1, 0, 1], ["a", "b", "b"]
    with Budget(1.0, 0.0, "add-remove") as budget:
        for size, outcome in ((0, pytest.raises(ValueError, match="group_sizes")), (4, nullcontext())):
            one = PrivateFairPostprocessor(0.9, relation="add-remove", group_sizes={"a": size, "b": 4})
            with outcome:
                one.fit(labels, sensitive_features=group)
    assert [statement.epsilon for statement in budget.spent] == [0.9]


def test_a_neighbour_s_labels_are_read_alike_whatever_else_a_list_holds():
    one = PrivateFairPostprocessor(1.0, relation="add-remove", group_sizes={"1": 4, "b": 4})
    for labels, group in (([1, 0, 1], [1, 1, "b"]), ([1, 0], [1, 1])):
        with pytest.raises(ValueError, match="found group 1 at position 0"):
            one.fit(labels, sensitive_features=group)


# --- equal opportunity ---
TRUTH = np.array([1, 0] * 50)


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize("gamma", [0.0, 0.2])
def test_equal_opportunity_without_noise_is_that_of_the_plain_one(mechanism, gamma):
    how = {"notion": "equal_opportunity", "gamma": gamma}
    group = np.repeat(list("abc"), [30, 30, 40])
    private = PrivateFairPostprocessor(math.inf, mechanism=mechanism, **how).fit(
        LABELS, TRUTH, sensitive_features=group
    )
    plain = FairPostprocessor(**how).fit(LABELS, TRUTH, sensitive_features=group)
    assert private.noisy_rates_ == pytest.approx(plain.rates_)
    assert private.band_ == pytest.approx(plain.band_)
    ours, theirs = (fair.predict_proba(LABELS, sensitive_features=group) for fair in (private, plain))
    assert ours == pytest.approx(theirs, abs=1e-12)
    assert not private.privacy_statement_.guarantee


def test_the_most_accurate_group_has_the_most_noisy_positives():
    group = np.repeat(list("abc"), [20, 60, 20])
    fair = study(5.0, notion="equal_opportunity", rate="most-accurate").fit(
        LABELS, TRUTH, sensitive_features=group
    )
    assert fair.target_rate_ == fair.noisy_rates_["b"]
    # b has an ε so small that its rate says nothing
    fair = study((5.0, 0.01, 3.0), notion="equal_opportunity", rate="most-accurate")
    fair.fit(LABELS, TRUTH, sensitive_features=group)
    assert fair.target_rate_ == fair.noisy_rates_["a"]


@pytest.mark.parametrize("notion", ["demographic_parity", "equal_opportunity"])
def test_a_group_seen_only_at_prediction_is_refused(notion):
    fair = study(notion=notion).fit(LABELS, TRUTH, sensitive_features=GROUPS)
    with pytest.raises(ValueError, match="sensitive_features: found group 'three' at position 0"):
        fair.predict(LABELS[:1], sensitive_features=["three"])


def test_groups_without_rows_or_positives_are_no_error():
    for truth in (TRUTH, 0 * TRUTH, 1 + 0 * TRUTH):
        fair = study(
            1e6, notion="equal_opportunity", relation="add-remove", group_sizes=["two", "one", "none"]
        )
        fair.fit(LABELS, truth, sensitive_features=GROUPS)
        assert fair.groups_ == ["none", "one", "two"]
        assert set(fair.noisy_rates_) == set(fair.noisy_counts_) == set(fair.rules_) == set(fair.groups_)
    empty = study(notion="equal_opportunity", relation="add-remove", group_sizes=["two", "one"])
    assert empty.fit([], [], sensitive_features=[]).groups_ == ["one", "two"]


def test_what_equal_opportunity_needs_is_named():
    fair = study(notion="equal_opportunity")
    for given, message in (
        ({}, "y_true: found None, expected the true labels"),
        ({"y": TRUTH, "y_true": TRUTH}, "y_true: found labels in both y and y_true"),
        ({"y": TRUTH + 1}, "y_true: found"),
        ({"y": TRUTH[1:]}, "lengths differ"),
        ({"y": TRUTH, "scores": TRUTH}, "scores: found scores"),
        ({"y": TRUTH, "sample_weight": TRUTH}, "sample_weight: found weights"),
    ):
        with pytest.raises(ValueError, match=message):
            fair.fit(LABELS, sensitive_features=GROUPS, **given)
    with pytest.raises(ValueError, match="expected the groups"):
        study(notion="equal_opportunity", relation="replace-one").fit(
            LABELS, TRUTH, sensitive_features=GROUPS
        )
    with pytest.raises(ValueError, match=r"notion: found 'equalized_odds'.*EqualizedOddsPostprocessor"):
        study(notion="equalized_odds").fit(LABELS, TRUTH, sensitive_features=GROUPS)
    for sizes in (["one"], "one", {"one": 1}):
        with pytest.raises(ValueError, match="group_sizes: found"):
            study(notion="equal_opportunity", relation="replace-one", group_sizes=sizes).fit(
                LABELS, TRUTH, sensitive_features=GROUPS
            )
    named = study(notion="equal_opportunity").fit(LABELS, y_true=TRUTH, sensitive_features=GROUPS)
    positional = study(notion="equal_opportunity").fit(LABELS, TRUTH, sensitive_features=GROUPS)
    assert named.noisy_counts_ == positional.noisy_counts_


# The public code of ISIT's authors as run (hradghoukasian/dp_fair_binary, what follows training in Algorithm2.py), on
# rows, Laplace draws and uniform draws that the seeds make anew: its noisy rates, and how many labels it changed among
# rows of label 0 and of label 1, in each group.
AS_RUN = {
    0: (0.8816058364556218, 0.6746012268618572, [[0, 11], [18, 0]]),
    1: (0.7661643847425099, 0.25467532530407627, [[0, 46], [36, 0]]),
    2: (0.004583332227336034, 1, [[65, 0], [0, 81]]),
    3: (0.8677631599887421, 0.4152027022647294, [[0, 32], [38, 0]]),
    4: (0.4445255451187165, 0.8044171778758976, [[25, 0], [0, 22]]),
    5: (0.5601290321004005, 0.5874482762685109, [[1, 0], [0, 2]]),
}


@pytest.mark.parametrize("seed", AS_RUN)
def test_algorithm_2_agrees_with_the_public_code_as_run(seed, monkeypatch):
    first, second, changed = AS_RUN[seed]
    rng, n = np.random.default_rng(seed), 300
    groups = rng.integers(0, 2, n)
    y_pred = (rng.random(n) < np.where(groups == 1, rng.random(), rng.random())).astype(int)
    draws, uniform = list(np.round(rng.laplace(size=2), 3)), rng.random(n)

    def add(counts, scale, **_):
        return np.array([count + scale * draws.pop(0) for count in np.ravel(counts)])

    monkeypatch.setattr(noise_source, "add_laplace_noise", add)
    fair = PrivateFairPostprocessor([0.05, 0.1], noise="study", random_state=0)
    fair.fit(y_pred, sensitive_features=groups)
    assert [fair.noisy_rates_[k] for k in (0, 1)] == pytest.approx([first, second], rel=1e-6)
    chances = fair.predict_proba(y_pred, sensitive_features=groups)[:, 1]
    moved = (uniform <= chances) != y_pred
    assert [
        [(moved & (groups == k) & (y_pred == label)).sum() for label in (0, 1)] for k in (0, 1)
    ] == changed
