"""`FairPostprocessor` for any number of groups: against a linear program over chances, old formulas, and fairlearn."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from dpfair_lib import FairPostprocessor
from dpfair_lib.central.flips import accuracy_by_rate, fit_flip_rule

NOTIONS = ("demographic_parity", "equal_opportunity", "equalized_odds")
OBJECTIVES = ("change_rates", "changes", "errors")


def example(seed, n=60, k=None, levels=6):
    """Return rows of two to five groups; each has a row of both true labels."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 6)) if k is None else k
    groups = np.append(rng.integers(0, k, n), np.repeat(np.arange(k), 2))
    scores = rng.integers(-levels, levels + 1, len(groups)) / 4 + 0.25 * (groups % 3)
    y_true = (rng.uniform(size=len(groups)) < 1 / (1 + np.exp(-scores))).astype(int)
    y_true[n:] = np.tile([0, 1], k)
    return {
        "y_pred": (scores > 0.1).astype(int), "sensitive_features": groups, "y_true": y_true, "scores": scores,
        "sample_weight": rng.integers(1, 5, len(groups)).astype(float),
    }  # fmt: skip


def chances(fair, rows):
    given = {name: rows[name] for name in ("y_pred", "sensitive_features", "scores") if name in rows}
    return fair.predict_proba(**given)[:, 1]


def counted(notion, rows):
    """Return which rows count for each of the notion's rates."""
    everybody, y_true = np.ones(len(rows["y_pred"]), dtype=bool), rows.get("y_true")
    return {
        "demographic_parity": lambda: [everybody],
        "equal_opportunity": lambda: [y_true == 1],
        "equalized_odds": lambda: [y_true == 0, y_true == 1],
    }[notion]()


def slopes(objective, rows):
    """Return each row's cost of the label 1, and of the label 0."""
    weights, groups = rows["sample_weight"], rows["sensitive_features"]
    label = rows["y_true"] if objective == "errors" else rows["y_pred"]
    if objective == "change_rates":
        weights = weights / np.array([weights[groups == group].sum() for group in groups])
    return weights * (label == 0), weights * (label == 1)


def rates(positive, notion, rows):
    """Return the weighted rates, an array of shape (groups, rates)."""
    weights, groups = rows["sample_weight"], rows["sensitive_features"]
    found = []
    for group in np.unique(groups):
        cells = [of & (groups == group) for of in counted(notion, rows)]
        found.append([(weights * positive)[cell].sum() / weights[cell].sum() for cell in cells])
    return np.array(found)


def least_cost(notion, objective, gamma, rows):
    """Return the least cost of all chances that rise with the old label and the score: a variable for each row."""
    n = len(rows["y_pred"])
    if_one, if_zero = slopes(objective, rows)
    groups, weights = rows["sensitive_features"], rows["sample_weight"]
    scores = rows.get("scores", np.zeros(n))
    upper, limits = [], []
    for group in np.unique(groups):
        at = np.flatnonzero(groups == group)
        at = at[np.lexsort((scores[at], rows["y_pred"][at]))]
        for low, high in itertools.pairwise(at):
            row = np.zeros(n)
            row[low], row[high] = 1, -1
            upper.append(row)
            limits.append(0.0)
            if (scores[low], rows["y_pred"][low]) == (scores[high], rows["y_pred"][high]):
                upper.append(-row)
                limits.append(0.0)
    for of in counted(notion, rows):
        cells = [np.where(of & (groups == group), weights, 0) for group in np.unique(groups)]
        for one, other in itertools.permutations([cell / cell.sum() for cell in cells], 2):
            upper.append(one - other)
            limits.append(gamma)
    solved = linprog(if_one - if_zero, np.array(upper), limits, bounds=(0, 1), method="highs")
    assert solved.status == 0
    return solved.fun + if_zero.sum()


CASES = list(itertools.product(NOTIONS, OBJECTIVES, (0.0, 0.1, 1.0)))


def defects(fair, notion, objective, rows, least):
    """Yield what is wrong with a fitted post-processor."""
    positive, (if_one, if_zero) = chances(fair, rows), slopes(objective, rows)
    cost = (if_one * positive + if_zero * (1 - positive)).sum()
    after, before = rates(positive, notion, rows), rates(rows["y_pred"], notion, rows)
    named = [[np.ravel(each[group]) for group in fair.groups_] for each in (fair.fair_rates_, fair.rates_)]
    bands = np.reshape(fair.band_, (-1, 2))
    if (np.ptp(after, axis=0) > fair.gamma + 1e-9).any():
        yield "the rates are too far apart"
    if not np.allclose([after, before], named, atol=1e-9):
        yield "the rates are others than it says"
    if (after < bands[:, 0] - 1e-9).any() or (after > bands[:, 1] + 1e-9).any():
        yield "a rate is outside the band"
    if not np.allclose(bands[:, 1] - bands[:, 0], fair.gamma) or not np.allclose(
        bands.mean(axis=1), fair.target_rate_
    ):
        yield "the band has another width or middle"
    if abs(cost - fair.cost_) > 1e-7:
        yield "the cost is another than it says"
    if abs(cost - least) > 1e-6:
        yield "the cost is not the least"


@pytest.mark.parametrize(("notion", "objective", "gamma"), CASES)
def test_nothing_that_rises_with_label_and_score_costs_less(notion, objective, gamma):
    for seed in range(6):
        rows = example(seed)
        if seed % 3 == 0:
            del rows["scores"]
        least = least_cost(notion, objective, gamma, rows)
        for rate in ("midpoint",) if notion == "equalized_odds" else ("midpoint", "accuracy"):
            fair = FairPostprocessor(rate, notion=notion, gamma=gamma, objective=objective).fit(**rows)
            assert not list(defects(fair, notion, objective, rows, least))


def _other_objective(fair, rows):
    return FairPostprocessor(
        notion=fair.notion, gamma=fair.gamma, objective="changes" if fair.objective == "errors" else "errors"
    ).fit(**rows)


def _wider(fair, rows):
    return FairPostprocessor(notion=fair.notion, gamma=fair.gamma + 0.1, objective=fair.objective).fit(**rows)


def _narrower(fair, rows):
    return FairPostprocessor(notion=fair.notion, gamma=fair.gamma / 2, objective=fair.objective).fit(**rows)


def _without_weights(fair, rows):
    return FairPostprocessor(**fair.get_params()).fit(**{**rows, "sample_weight": None})


def _groups_exchanged(fair, rows):
    found = FairPostprocessor(**fair.get_params()).fit(**rows)
    first, second = found.groups_[:2]
    found.rules_[first], found.rules_[second] = found.rules_[second], found.rules_[first]
    return found


@pytest.mark.parametrize("fault", [_other_objective, _wider, _narrower, _without_weights, _groups_exchanged])
@pytest.mark.parametrize("notion", NOTIONS)
def test_another_rule_is_found_out(fault, notion):
    rows, gamma = example(1), 0.1
    fair = FairPostprocessor(notion=notion, gamma=gamma, objective="errors")
    wrong = fault(fair, rows)
    wrong.gamma = gamma
    assert list(defects(wrong, notion, "errors", rows, least_cost(notion, "errors", gamma, rows)))


@pytest.mark.parametrize(("notion", "objective"), list(itertools.product(NOTIONS[:2], OBJECTIVES[:2])))
def test_of_the_best_bands_one_is_the_most_accurate(notion, objective):
    inside = 0
    for seed in range(12):
        rows = example(seed, n=30, k=2 + 2 * (seed % 2))
        settings = {"notion": notion, "objective": objective, "gamma": 0.05 * (seed % 3)}
        best = FairPostprocessor("accuracy", **settings).fit(**rows)
        middle = FairPostprocessor(**settings).fit(**rows)
        wrong, other = slopes("errors", rows)

        def errors(fair, rows=rows, wrong=wrong, other=other):
            positive = chances(fair, rows)
            return (wrong * positive + other * (1 - positive)).sum()

        tried = [
            FairPostprocessor(rate, **settings).fit(**rows)
            for rate in np.linspace(0, 1, 41)
            if len(best.groups_) > 2 or settings["gamma"] > 0 or notion != "demographic_parity"
            or min(best.rates_.values()) <= rate <= max(best.rates_.values())
        ]  # fmt: skip
        cheap = [fair for fair in tried if fair.cost_ <= best.cost_ + 1e-9]
        assert all(errors(fair) >= errors(best) - 1e-9 for fair in [*cheap, middle])
        assert all(fair.cost_ >= best.cost_ - 1e-9 for fair in tried)
        inside += errors(best) < errors(middle) - 1e-9
    if (notion, objective) == (
        "demographic_parity",
        "change_rates",
    ):  # otherwise one band alone is the cheapest
        assert inside


def old_chances(y_pred, scores, groups, target):
    """Return the chances of Algorithm 1, by its formulas; with scores the least certain people change first."""
    found = y_pred.astype(float)
    for group in (0, 1):
        own = groups == group
        rate, n = y_pred[own].mean(), own.sum()
        label, sign = (1, 1) if rate > target else (0, -1)
        candidates = own & (y_pred == label)
        need = abs(rate - target) * n
        for score in sorted(set(scores[candidates]), key=lambda s, sign=sign: sign * s):
            level = candidates & (scores == score)
            share = min(need / level.sum(), 1.0)
            found[level] = 1 - share if label == 1 else share
            need -= share * level.sum()
    return found


@pytest.mark.parametrize("seed", range(30))
def test_two_groups_at_one_selection_rate_get_the_chances_of_the_source(seed):
    rows = example(seed, k=2)
    groups, y_pred, scores = rows["sensitive_features"], rows["y_pred"], rows["scores"]
    one, other = (y_pred[groups == group].mean() for group in (0, 1))
    for rate, target in (("midpoint", (one + other) / 2), (0.3 * one + 0.7 * other,) * 2, (one, one)):
        plain = FairPostprocessor(rate).fit(y_pred, sensitive_features=groups)
        down = np.where(np.array([one, other]) > target, 1 - target / np.array([one, other]), 0)
        up = np.where(
            np.array([one, other]) < target, (target - [one, other]) / (1 - np.array([one, other])), 0
        )
        printed = np.where(y_pred == 1, 1 - down[groups], up[groups])
        found = plain.predict_proba(y_pred, sensitive_features=groups)[:, 1]
        assert np.allclose(found, printed, atol=1e-12)
        by_score = FairPostprocessor(rate).fit(y_pred, sensitive_features=groups, scores=scores)
        found = by_score.predict_proba(y_pred, sensitive_features=groups, scores=scores)[:, 1]
        assert np.allclose(found, old_chances(y_pred, scores, groups, target), atol=1e-12)
        assert by_score.target_rate_ == pytest.approx(target, abs=1e-15)


@pytest.mark.parametrize("seed", range(30))
def test_two_groups_get_the_rules_that_the_claim_on_theorem_2_checks(seed):
    """On new rows too, between and beyond the scores of the fitted ones; and the same most accurate rate."""
    rows = example(seed, k=2)
    groups, y_pred, scores, y_true = (
        rows[name] for name in ("sensitive_features", "y_pred", "scores", "y_true")
    )
    rng = np.random.default_rng(seed)
    new = {
        "y_pred": rng.integers(0, 2, 400),
        "scores": rng.uniform(-3, 3, 400),
        "sensitive_features": rng.integers(0, 2, 400),
    }
    ones = np.ones(len(groups))
    for rate in ("midpoint", "accuracy"):
        fair = FairPostprocessor(rate).fit(y_pred, y_true, sensitive_features=groups, scores=scores)
        for group in (0, 1):
            own, at = groups == group, new["sensitive_features"] == group
            rule = fit_flip_rule(y_pred[own], scores[own], ones[own], fair.target_rate_)
            expected = rule.positive_probability(new["y_pred"][at], new["scores"][at])
            if abs(fair.rates_[group] - fair.target_rate_) < 1e-12:  # nobody changes, whatever rounding says
                expected = new["y_pred"][at]
            assert np.allclose(chances(fair, new)[at], expected, atol=1e-12)
    along, accuracies = accuracy_by_rate(y_pred, y_true, scores, ones, groups)
    best = along[accuracies >= accuracies.max() - 1e-12]
    assert fair.target_rate_ == pytest.approx(best[np.argmin(abs(best - along[[0, -1]].mean()))], abs=1e-12)


@pytest.mark.parametrize("notion", NOTIONS)
def test_a_row_of_weight_three_counts_like_three_rows(notion):
    for seed, objective in enumerate(OBJECTIVES):
        rows = example(seed)
        repeated = {
            name: np.repeat(values, rows["sample_weight"].astype(int)) for name, values in rows.items()
        }
        del repeated["sample_weight"]
        settings = {"notion": notion, "gamma": 0.05, "objective": objective}
        one, other = (FairPostprocessor(**settings).fit(**each) for each in (rows, repeated))
        assert one.cost_ == pytest.approx(other.cost_, rel=1e-9)
        assert np.allclose(chances(one, rows), chances(other, rows), atol=1e-9)
        for unit in (
            2.0**-1074,
            2.0**-40,
            2.0**1021,
        ):  # the scale changes nothing, up to the ends of the floats
            scaled = FairPostprocessor(**settings).fit(
                **{**rows, "sample_weight": unit * rows["sample_weight"]}
            )
            assert np.array_equal(chances(scaled, rows), chances(one, rows))
            assert scaled.cost_ == pytest.approx(one.cost_ * (1 if objective == "change_rates" else unit))


@pytest.mark.parametrize("notion", NOTIONS)
def test_neither_the_order_of_the_rows_nor_the_names_of_the_groups_matter(notion):
    for seed in range(9):
        rows = example(seed)
        order = np.random.default_rng(seed).permutation(len(rows["y_pred"]))
        shuffled = {name: values[order] for name, values in rows.items()}
        renamed = {**rows, "sensitive_features": -rows["sensitive_features"]}
        settings = {"notion": notion, "gamma": (0.0, 0.05)[seed % 2], "objective": OBJECTIVES[seed % 3]}
        one, other, third = (FairPostprocessor(**settings).fit(**each) for each in (rows, shuffled, renamed))
        assert np.array_equal(chances(one, rows), chances(other, rows))
        assert np.allclose(chances(one, rows), chances(third, renamed), atol=1e-12)


def test_rows_without_weight_do_not_count():
    rows = example(4)
    kept = rows["sensitive_features"] < 2
    rows["sample_weight"][-4:] = 0.0
    some = {name: values[:-4] for name, values in rows.items()}
    for notion in NOTIONS:
        with_them, without = (FairPostprocessor(notion=notion, gamma=0.1) for _ in range(2))
        assert with_them.fit(**rows).rates_ == without.fit(**some).rates_
        assert np.array_equal(chances(with_them, some), chances(without, some))
    assert kept.any()


@pytest.mark.parametrize("notion", NOTIONS)
def test_nobody_who_stands_higher_has_a_lower_chance(notion):
    for seed in range(5):
        rows = example(seed)
        fair = FairPostprocessor(notion=notion, objective="errors").fit(**rows)
        rng = np.random.default_rng(seed)
        new = {"y_pred": rng.integers(0, 2, 300), "scores": rng.uniform(-3, 3, 300)}
        for group in fair.groups_:
            positive = chances(fair, {**new, "sensitive_features": np.full(300, group)})
            order = np.lexsort((new["scores"], new["y_pred"]))
            assert (np.diff(positive[order]) >= 0).all()


def test_of_several_columns_each_combination_is_a_group():
    rows = example(2, k=4)
    table = pd.DataFrame(
        {"race": np.array(["b", "a"])[rows["sensitive_features"] // 2], "sex": rows["sensitive_features"] % 2}
    )
    joined = 2 * (table["race"] == "b") + table["sex"]
    del rows["sensitive_features"]
    given = {name: rows[name] for name in ("y_pred", "scores")}
    for notion in NOTIONS:
        plain = FairPostprocessor(notion=notion).fit(**rows, sensitive_features=joined)
        fair = FairPostprocessor(notion=notion).fit(**rows, sensitive_features=table)
        assert fair.groups_ == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
        assert list(fair.rates_.values()) == list(plain.rates_.values())
        expected = plain.predict_proba(**given, sensitive_features=joined)
        for form in (table, table.to_numpy(), list(table.itertuples(index=False, name=None))):
            assert np.allclose(fair.predict_proba(**given, sensitive_features=form), expected, atol=1e-7)
        strange = table.assign(sex=7)
        with pytest.raises(
            ValueError, match=r"found group \('b', 7\) at position 0, expected one of \[\('a', 0\)"
        ):
            fair.predict_proba(**given, sensitive_features=strange.sort_values("race", ascending=False))


@pytest.mark.parametrize(("notion", "objective", "gamma"), CASES)
def test_small_and_uniform_groups(notion, objective, gamma):
    two = {"y_pred": [1, 0, 0, 1], "sensitive_features": [0, 0, 1, 1], "y_true": [1, 0, 1, 0]}
    cases = [
        two,
        {**two, "y_pred": [1, 1, 1, 1]},
        {**two, "y_pred": [0, 0, 0, 0]},
        {**two, "scores": [0.5] * 4},
    ]
    if notion == "demographic_parity":
        cases.append(
            {"y_pred": [1, 0, 1], "sensitive_features": [0, 1, 2], "y_true": [1, 0, 0]}
        )  # a row each
    for given in cases:
        rows = {name: np.array(values) for name, values in given.items()}
        rows["sample_weight"] = np.ones(len(rows["y_pred"]))
        fair = FairPostprocessor(notion=notion, objective=objective, gamma=gamma).fit(**rows)
        assert not list(defects(fair, notion, objective, rows, least_cost(notion, objective, gamma, rows)))
        if objective != "errors" and (gamma == 1 or np.ptp(rows["y_pred"]) == 0):
            assert np.array_equal(chances(fair, rows), rows["y_pred"])


def test_a_number_is_the_middle_of_the_band():
    rows = example(0, k=3)
    for rate, gamma, band in ((0.5, 0.2, (0.4, 0.6)), (0.01, 0.2, (0.0, 0.2)), (1.0, 0.1, (0.9, 1.0))):
        fair = FairPostprocessor(rate, gamma=gamma).fit(**rows)
        assert fair.band_ == pytest.approx(band)
        assert all(band[0] - 1e-12 <= after <= band[1] + 1e-12 for after in fair.fair_rates_.values())
        assert fair.target_rate_ == pytest.approx(sum(band) / 2)


Y, A, T = [0, 1, 1, 0, 1, 0], ["a", "a", "b", "b", "c", "c"], [0, 1, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("settings", "arguments", "message"),
    [
        ({}, {"sensitive_features": ["a"] * 6}, r"sensitive_features: found 1 group \['a'\], expected at least 2"),
        ({}, {"sensitive_features": [("a", 1)] * 6}, r"found 1 group \[\('a', 1\)\], expected at least 2"),
        ({}, {"sample_weight": [1, 1, 0, 0, 1, 1]}, "sample_weight: found no positive weight in group 'b'"),
        ({}, {"sample_weight": [0] * 6}, "sample_weight: found no positive weight, expected some in every"),
        ({}, {"sample_weight": [1, 1, 1, 1, 1, -1]}, r"sample_weight: found -1\.0 at position 5"),
        ({}, {"sample_weight": [1, np.nan, 1, 1, 1, 1]}, "sample_weight: found nan at position 1"),
        ({}, {"sample_weight": [1e308] * 5 + [1e290]}, r"sample_weight: found 1e\+290 beside 1e\+308"),
        ({}, {"sample_weight": [1] * 5}, "lengths differ: .*sample_weight has 5"),
        ({}, {"scores": [1, 2, np.nan, 4, 5, 6]}, "scores: found nan at position 2"),
        ({"notion": "parity"}, {}, "notion: found 'parity'"),
        ({"objective": "loss"}, {}, "objective: found 'loss'"),
        ({"gamma": -0.1}, {}, r"gamma: found -0\.1"),
        ({"gamma": 1.5}, {}, r"gamma: found 1\.5"),
        ({"gamma": np.nan}, {}, "gamma: found nan"),
        ({"rate": 1.5}, {}, r"rate: found 1\.5, expected a number in \[0, 1\]"),
        ({"rate": "accuracy", "notion": "equalized_odds"}, {}, "rate: found 'accuracy', expected 'midpoint'"),
        ({"rate": 0.5, "notion": "equalized_odds"}, {}, r"rate: found 0\.5, expected 'midpoint'"),
        ({"notion": "equal_opportunity"}, {}, "y_true: found None, .* notion='equal_opportunity' needs"),
        ({"objective": "errors"}, {}, "y_true: found None, .* objective='errors' needs"),
        (
            {"notion": "equal_opportunity"},
            {"y_true": [0, 1, 0, 0, 1, 0]},
            "y_true: found no label 1 in group 'b', expected at least one in every group",
        ),
        (
            {"notion": "equalized_odds"},
            {"y_true": [0, 1, 0, 1, 1, 1]},
            "y_true: found no label 0 in group 'c', expected at least one in every group",
        ),
        (
            {"notion": "equal_opportunity"},
            {"y_true": T, "sample_weight": [1, 1, 1, 0, 1, 1]},
            "y_true: found no label 1 in group 'b'",
        ),
        ({"rate": "accuracy"}, {"y_true": [1] * 6}, "y_true: found only the label 1"),
    ],
)  # fmt: skip
def test_bad_input_is_named(settings, arguments, message):
    with pytest.raises(ValueError, match=message):
        FairPostprocessor(**settings).fit(**({"y_pred": Y, "sensitive_features": A} | arguments))


def test_a_group_without_a_false_label_is_no_obstacle_to_equal_opportunity():
    truth = [1, 1, 0, 1, 1, 0]
    fair = FairPostprocessor(notion="equal_opportunity").fit(Y, truth, sensitive_features=A)
    assert len(set(fair.fair_rates_.values())) == 1


def test_a_group_seen_only_at_prediction_is_refused():
    for notion in NOTIONS:
        fair = FairPostprocessor(notion=notion).fit(Y, T, sensitive_features=A)
        with pytest.raises(ValueError, match=r"sensitive_features: found group 'd' at position 5"):
            fair.predict(Y, sensitive_features=[*A[:5], "d"], random_state=0)


PEER = {
    "demographic_parity": "demographic_parity",
    "equal_opportunity": "true_positive_rate_parity",
    "equalized_odds": "equalized_odds",
}


@pytest.mark.parametrize("notion", NOTIONS)
def test_never_more_expected_errors_than_fairlearn_on_the_fitted_rows(notion):
    from fairlearn.postprocessing import ThresholdOptimizer
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Scores(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):  # noqa: ARG002 (scikit-learn's signature)
            self.classes_ = np.array([0, 1])
            return self

        def predict_proba(self, X):
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    for seed in range(4):
        rows = example(seed, n=300, levels=200)
        rows["scores"] = 1 / (1 + np.exp(-rows["scores"] / 10))
        rows["y_pred"] = (rows["scores"] > 0.5).astype(int)
        del rows["sample_weight"]
        groups, truth, scores = rows["sensitive_features"], rows["y_true"], rows["scores"][:, None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            theirs = ThresholdOptimizer(
                estimator=Scores().fit(None, None), constraints=PEER[notion], objective="accuracy_score",
                prefit=True, predict_method="predict_proba",
            ).fit(scores, truth, sensitive_features=groups)  # fmt: skip
            peer = theirs._pmf_predict(scores, sensitive_features=groups)[:, 1]
        fair = FairPostprocessor(notion=notion, objective="errors").fit(**rows)
        own = chances(fair, rows)
        errors = [np.where(truth == 1, 1 - positive, positive).sum() for positive in (own, peer)]
        assert errors[0] == pytest.approx(fair.cost_, abs=1e-6)
        assert errors[0] <= errors[1] + 1e-6
        assert errors[0] > errors[1] - 0.02 * len(truth)  # as good, not of another problem


def test_labels_of_one_kind_will_do_where_the_notion_needs_no_other():
    y_pred, group = [1, 0, 1, 1], ["a", "a", "b", "b"]
    chances = FairPostprocessor(notion="equal_opportunity").fit(
        y_pred, y_true=[1] * 4, sensitive_features=group
    )
    assert chances.rates_ == {"a": 0.5, "b": 1.0}
    assert chances.fair_rates_["a"] == pytest.approx(chances.fair_rates_["b"])
    least = FairPostprocessor(objective="errors").fit(y_pred, y_true=[1] * 4, sensitive_features=group)
    assert least.cost_ == 0


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_what_is_missing_in_a_list_of_strings_is_no_group(missing):
    with pytest.raises(ValueError, match="missing value at position 2"):
        FairPostprocessor().fit([1, 0, 1, 0], sensitive_features=["a", "a", missing, "b"])


def test_numbers_and_strings_in_a_list_are_not_one_group():
    with pytest.raises(ValueError, match="types"):
        FairPostprocessor().fit([1, 0, 1, 0], sensitive_features=[1, "1", "b", "b"])


@pytest.mark.parametrize(
    ("given", "wanted"),
    [({"notion": "true_positive_rate_parity"}, "expected 'equal_opportunity', which is the same"),
     ({"notion": "selection_rate_parity"}, "expected 'demographic_parity', which is the same"),
     ({"notion": "false_positive_rate_parity"}, "expected 'equalized_odds', which asks for it"),
     ({"objective": "accuracy_score"}, "expected 'errors', which is the same"),
     ({"objective": "balanced_accuracy_score"}, "expected 'errors', which counts every wrong label alike"),
     ({"objective": "selection_rate"}, "no rate is maximised here"),
     ({"objective": "speed"}, "expected one of 'change_rates', 'changes', 'errors'")],
)  # fmt: skip
def test_names_of_fairlearn_are_refused_with_ours(given, wanted):
    with pytest.raises(ValueError, match=wanted):
        FairPostprocessor(**given).fit([0, 1, 0, 1], [0, 1, 1, 0], sensitive_features=list("aabb"))
