import itertools
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import dpfair_lib as dpf
from dpfair_lib.central import adjustment_share, private_classifier
from dpfair_lib.central.row_parts import held_out

RNG = np.random.default_rng(0)
N = 600
GROUP = np.where(RNG.random(N) < 0.4, "f", "m")
X = RNG.normal(size=(N, 3)) * 0.3 + (GROUP == "m")[:, None] * [0.3, 0, 0]
Y = (X[:, 0] + 0.3 * RNG.normal(size=N) > 0.15).astype(int)
SIZES = {"f": 240, "m": 360}
COMMON = {"delta": 1e-5, "feature_bound": 1.0, "noise": "study", "random_state": 3}
RELATIONS = ("replace-within-group", "replace-one", "sensitive-attribute")


def model(epsilon=2.0, relation="replace-within-group", **given):
    sizes = {} if relation == "replace-within-group" else {"group_sizes": SIZES}
    return dpf.PrivateFairClassifier(**{"epsilon": epsilon, "relation": relation, **COMMON, **sizes, **given})


def fitted(*arguments, **given):
    return model(*arguments, **given).fit(X, Y, sensitive_features=GROUP)


def test_learner_and_counts_have_seeds_of_their_own():
    """Study noise of one seed would repeat: the counts' noise would be known from the weights'."""
    seeds = [
        (one.learner_.random_state, one.postprocessor_.random_state)
        for one in (fitted(), fitted(random_state=4))
    ]
    assert len({seed for pair in seeds for seed in pair}) == 4


# --- what it costs ---
def check_cost(found, epsilon, delta=1e-5):
    """Raise unless the statement is of the whole, and the parts' ε make it up and never exceed it."""
    whole, parts = found.privacy_statement_, found.privacy_statement_.parts
    each = [Fraction(part.epsilon) for part in parts]
    together = sum(each) if found.rows == "shared" else max(each)
    assert len(parts) == 2
    assert together <= Fraction(whole.epsilon) <= Fraction(epsilon)
    assert together >= Fraction(epsilon) * (1 - Fraction(1, 2**50))
    assert {part.relation for part in parts} == {whole.relation} == {found.relation}
    assert whole.delta == parts[0].delta == delta
    assert parts[1].delta == 0
    # the parts are those of what was fitted, and these have the noise of theirs
    assert found.learner_.privacy_statement_.epsilon == found.learner_.epsilon == parts[0].epsilon
    # by itself it says that the classifier is not covered, which is the other part here
    assert replace(found.postprocessor_.privacy_statement_, note=parts[1].note) == parts[1]
    moved = 1 if found.relation == "replace-within-group" and found.notion == "demographic_parity" else 2
    assert Fraction(found.postprocessor_.epsilon) * moved == each[1]


@pytest.mark.parametrize("notion", ["demographic_parity", "equal_opportunity"])
@pytest.mark.parametrize("rows", ["shared", "split"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_the_two_releases_together_cost_what_is_stated(relation, rows, notion):
    rng = np.random.default_rng(1)
    for _ in range(8):
        epsilon, share = float(rng.uniform(0.3, 5)), float(rng.uniform(0.05, 0.6))
        check_cost(fitted(epsilon, relation, rows=rows, share=share, notion=notion), epsilon)


def test_secure_noise_has_a_guarantee_and_study_noise_has_none():
    for rows in ("shared", "split"):
        secure = fitted(rows=rows, noise="secure", random_state=None).privacy_statement_
        assert secure.guarantee
        assert not fitted(rows=rows).privacy_statement_.guarantee
    pure = fitted(delta=0, noise="secure", random_state=None).privacy_statement_
    assert (pure.delta, pure.epsilon) == (0, 2.0)


def test_a_sum_that_is_wrong_is_caught(monkeypatch):
    usual = private_classifier.compose
    for rows, fault in {
        "shared": lambda *parts, parallel=False: usual(*parts, parallel="position"),  # noqa: ARG005
        "split": lambda *parts, parallel=False: usual(*parts),  # noqa: ARG005
    }.items():
        with monkeypatch.context() as planted:
            planted.setattr(private_classifier, "compose", fault)
            with pytest.raises(AssertionError):
                check_cost(fitted(rows=rows, share=0.3), 2.0)
    # one of the counts for free
    monkeypatch.setitem(private_classifier.COUNTS_MOVED["demographic_parity"], "replace-one", 1)
    with pytest.raises(AssertionError):
        check_cost(fitted(relation="replace-one", share=0.3), 2.0)


# --- what it does ---
@pytest.mark.parametrize("rows", ["shared", "split"])
def test_it_is_the_learner_and_then_the_postprocessor(rows):
    found = fitted(rows=rows, share=0.25)
    adjust = held_out(N, 0.25) if rows == "split" else np.ones(N, dtype=bool)
    train = ~adjust if rows == "split" else adjust
    learner = clone(found.learner_).fit(X[train], Y[train])
    after = clone(found.postprocessor_).fit(learner.predict(X[adjust]), sensitive_features=GROUP[adjust])
    assert np.array_equal(learner.coef_, found.learner_.coef_)
    assert after.noisy_rates_ == found.postprocessor_.noisy_rates_
    ours = found.predict_proba(X, sensitive_features=GROUP)
    assert np.array_equal(ours, after.predict_proba(learner.predict(X), sensitive_features=GROUP))
    assert ours.sum(axis=1) == pytest.approx(1)
    assert len(np.unique(ours)) > 2
    drawn = [found.predict(X, sensitive_features=GROUP, random_state=seed) for seed in (1, 1, 2)]
    assert (drawn[0] == drawn[1]).all()
    assert (drawn[0] != drawn[2]).any()


def test_with_little_noise_both_groups_are_selected_alike_and_the_labels_keep_their_meaning():
    plain = fitted(1e4, share=0.5)
    before = plain.learner_.predict(X)
    assert dpf.demographic_parity_difference(Y, before, sensitive_features=GROUP) > 0.2
    chances = plain.predict_proba(X, sensitive_features=GROUP)[:, 1]
    assert dpf.demographic_parity_difference(Y, chances, sensitive_features=GROUP) < 0.01
    assert (before == Y).mean() > 0.75
    for names in (("no", "yes"), ("yes", "no"), (-1, 1)):
        given = np.array(names)[Y]
        for classes in (None, names):
            named = model(1e4, share=0.5, classes=classes).fit(X, given, sensitive_features=GROUP)
            assert named.classes_.tolist() == sorted(names)
            assert (named.classes_[named.learner_.predict(X)] == given).mean() > 0.75
            said = named.predict(X, sensitive_features=GROUP, random_state=0)
            assert (
                said == given
            ).mean() > 0.55  # parity has its price; labels that change places: below 0.45


def test_the_default_share_is_that_of_public_sizes():
    assert fitted(rows="split").share_ == 0.5
    counted = tuple(np.bincount(GROUP == "m").tolist())
    assert fitted().share_ == adjustment_share(counted, 2.0)
    assert fitted(relation="replace-one").share_ == adjustment_share((240, 360), 2.0, moved=2)


def test_another_learner():
    other = dpf.OutputPerturbation(regularization=0.05, feature_bound=1.0, epsilon=9.0, delta=0.5)
    found = fitted(feature_bound=None, learner=other, share=0.2)
    check_cost(found, 2.0)
    assert isinstance(found.learner_, dpf.OutputPerturbation)
    assert found.learner_.noise == "study"
    assert (other.epsilon, hasattr(other, "coef_")) == (9.0, False)


class Careless(dpf.OutputPerturbation):
    """A learner whose noise is not of the ε that it is given."""

    def fit(self, X, y):
        self.epsilon = 2 * self.epsilon
        return super().fit(X, y)


def test_a_learner_that_costs_slightly_less_is_taken_with_what_it_costs():
    steps = dpf.DPLogisticRegression(
        epsilon=1.0, delta=1e-5, max_grad_norm=1.0, sample_rate=0.1, steps=5, learning_rate=0.5, relation="replace-one",
    )  # fmt: skip
    with dpf.Budget(2.5, 1e-5, "replace-within-group") as budget:
        found = fitted(
            feature_bound=None, learner=steps, share=0.2, epsilon=2.0, noise="secure", random_state=None
        )
    given = found.learner_.epsilon
    assert given * (1 - 1e-3) < found.learner_.privacy_statement_.epsilon < given  # on a grid, and so less
    assert 1.99 < found.privacy_statement_.epsilon < 2.0
    assert found.privacy_statement_.guarantee
    assert [spent.epsilon for spent in budget.spent] == [pytest.approx(2.0)]  # what was planned


def test_a_learner_that_costs_more_than_its_part_is_refused():
    careless = Careless(regularization=0.05, feature_bound=1.0, epsilon=9.0, delta=0.5)
    with pytest.raises(
        ValueError, match=r"learner: found the statement NO GUARANTEE: ε = 3.2, .*, expected .* ε = 1.6"
    ):
        fitted(feature_bound=None, learner=careless, share=0.2)


class Silent(LogisticRegression):
    """A learner that takes what a private one takes, and is none."""

    def __init__(self, epsilon=1.0, delta=0.0, classes=None, noise="secure", random_state=None):
        super().__init__()
        self.epsilon, self.delta, self.classes, self.noise = epsilon, delta, classes, noise
        self.random_state = random_state

    def fit(self, X, y):
        raise AssertionError(f"it saw {len(X)} rows and {len(y)} labels")


def test_a_learner_that_declares_no_statement_is_refused_before_it_sees_a_row():
    with (
        dpf.Budget(2.5, 1e-5, "replace-within-group") as budget,
        pytest.raises(ValueError, match=r"learner: found Silent\(.*without a declared privacy_statement_"),
    ):
        fitted(feature_bound=None, learner=Silent(), noise="secure", random_state=None)
    assert budget.spent == ()


def test_an_open_budget_is_charged_once_for_both():
    for rows in ("shared", "split"):
        budget = dpf.Budget(2.0, 1e-5, "replace-within-group")
        with budget:
            found = fitted(rows=rows, noise="secure", random_state=None)
        assert budget.spent == (found.privacy_statement_,)
        assert budget.remaining == (0.0, 0.0)


def test_forms_of_input():
    want = fitted().predict_proba(X, sensitive_features=GROUP)
    frame = pd.DataFrame(X, columns=list("abc"))
    named = model().fit(frame, pd.Series(Y), sensitive_features=pd.Series(GROUP, dtype="category"))
    assert np.array_equal(named.predict_proba(frame, sensitive_features=GROUP.tolist()), want)
    assert named.feature_names_in_.tolist() == ["a", "b", "c"]
    numbered = model().fit(X.tolist(), Y.tolist(), sensitive_features=(GROUP == "m").astype(int))
    assert np.array_equal(numbered.predict_proba(X, sensitive_features=GROUP == "m"), want)
    again = pickle.loads(pickle.dumps(named))
    assert np.array_equal(again.predict_proba(frame, sensitive_features=GROUP), want)


def test_the_same_person_gets_the_same_class():
    found, answers = fitted(), dpf.StableAnswers(bytes(16))
    first, second = (
        found.predict(X, sensitive_features=GROUP, random_state=answers.of(range(N))) for _ in range(2)
    )
    assert (first == second).all()
    assert found.learner_.predict(X).tolist() != first.tolist()


# --- several groups, and equal opportunity ---
TABLE = np.column_stack([GROUP, np.where(np.arange(N) % 5 < 2, "x", "y")])
NOTIONS = {
    "demographic_parity": lambda p, group: dpf.demographic_parity_difference(Y, p, sensitive_features=group),
    "equal_opportunity": lambda p, group: dpf.equal_opportunity_difference(Y, p, sensitive_features=group),
}  # fmt: skip


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_four_groups_of_two_columns_get_one_rate(relation, notion):
    sizes = {(sex, x): 150 for sex in "fm" for x in "xy"}
    for given in (sizes, None) if relation == "replace-within-group" else (sizes,):
        plain = model(1e6, relation, share=0.5, notion=notion, group_sizes=given)
        if (
            given and notion == "demographic_parity"
        ):  # divisors that are far from the sizes move no group right
            counted = np.unique([f"{sex}{x}" for sex, x in TABLE], return_counts=True)[1].tolist()
            plain.set_params(group_sizes=dict(zip(sizes, counted, strict=True)))
        plain.fit(X, Y, sensitive_features=TABLE)
        assert plain.groups_ == list(sizes)
        named = np.array([f"{sex}{x}" for sex, x in TABLE])
        before = NOTIONS[notion](plain.learner_.predict(X), named)
        chances = plain.predict_proba(X, sensitive_features=TABLE)[:, 1]
        assert before > 0.2
        assert NOTIONS[notion](chances, named) < 0.01
        check_cost(plain, 1e6)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize(
    ("rate", "gamma"), [("median", 0.0), (0.4, 0.1), ("midpoint", 0.2), ("most-accurate", 0.05)]
)
def test_rate_and_gamma_are_those_of_the_postprocessor_and_cost_nothing(rate, gamma, notion):
    plain, found = fitted(notion=notion), fitted(notion=notion, rate=rate, gamma=gamma)
    after = found.postprocessor_
    assert (after.rate, after.gamma) == (rate, gamma)
    # the same noise, the same learner, the same statement: only the band is another
    assert after.noisy_rates_ == plain.postprocessor_.noisy_rates_
    assert after.privacy_statement_ == plain.postprocessor_.privacy_statement_
    assert found.privacy_statement_ == plain.privacy_statement_
    low, high = after.band_
    assert high - low == pytest.approx(gamma)
    assert after.band_ != plain.postprocessor_.band_
    if rate == 0.4:
        assert low == pytest.approx(0.35)
    assert clone(found).get_params()["gamma"] == gamma


@pytest.mark.parametrize("rows", ["shared", "split"])
def test_equal_opportunity_counts_the_rows_that_adjust_with_their_labels(rows):
    found = fitted(rows=rows, share=0.25, notion="equal_opportunity")
    adjust = held_out(N, 0.25) if rows == "split" else np.ones(N, dtype=bool)
    after = clone(found.postprocessor_).fit(
        found.learner_.predict(X[adjust]), Y[adjust], sensitive_features=GROUP[adjust]
    )
    assert after.noisy_counts_ == found.postprocessor_.noisy_counts_
    named = model(rows=rows, share=0.25, notion="equal_opportunity", classes=("no", "yes"))
    named.fit(X, np.array(["no", "yes"])[Y], sensitive_features=GROUP)
    assert named.postprocessor_.noisy_counts_ == after.noisy_counts_


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("sizes", [(300, 200, 100), (400, 190, 10), (200, 200, 200), (120, 130, 170, 180)])
def test_noise_lengthens_the_gap_of_no_two_groups_by_more_than_a_tenth(sizes, notion):
    # rates of one half and, for equal opportunity, half of the rows of label 1: what the default assumes
    group, epsilon = np.repeat(list("abcd")[: len(sizes)], sizes), 20.0
    found = model(epsilon, notion=notion).fit(X, Y, sensitive_features=group)
    each, lengthened = found.postprocessor_.epsilon, []
    for pair in itertools.combinations(sizes, 2):
        if notion == "equal_opportunity":
            noise = sum((1 / 4 + 1 / 4) * 2 / each**2 / (n / 2) ** 2 for n in pair)
            sampling = sum(1 / 4 / (n / 2) for n in pair)
        else:
            noise, sampling = sum(2 / (n * each) ** 2 for n in pair), sum(1 / (4 * n) for n in pair)
        lengthened.append(math.sqrt(1 + noise / sampling))
    assert found.share_ < 0.5
    assert max(lengthened) == pytest.approx(1.1, rel=1e-9)
    assert model(0.01, notion=notion).fit(X, Y, sensitive_features=group).share_ == 0.5


def test_a_group_that_no_row_adjusts_is_named():
    group = np.array(["a", "b"], dtype=object)[np.arange(N) % 2]
    assert not held_out(N, 0.25)[1]
    group[1] = "c"
    with pytest.raises(ValueError, match="found no row of group 'c' in the part that adjusts"):
        model(rows="split", share=0.25).fit(X, Y, sensitive_features=group)
    sizes = {"a": 300, "b": 299, "c": 1}
    assert model(rows="split", group_sizes=sizes).fit(X, Y, sensitive_features=group).groups_ == list("abc")


# --- bad input ---
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0}, "epsilon: found 0"),
        ({"epsilon": math.inf}, "epsilon: found inf"),
        ({"delta": 1}, "delta: found 1"),
        ({"relation": "add-remove"}, "relation: found 'add-remove', expected one of 'replace-within"),
        ({"rows": "both"}, "rows: found 'both'"),
        ({"share": 0}, "share: found 0"),
        ({"share": 1.0}, "share: found 1.0"),
        ({"share": 1 - 1e-9, "rows": "split"}, "share: found 0.999999999 of 600 rows"),
        ({"feature_bound": None}, "learner: found none of the two"),
        ({"learner": dpf.ObjectivePerturbation(feature_bound=1, epsilon=1, delta=0)}, "learner: found both"),
        (
            {"learner": LogisticRegression(), "feature_bound": None},
            "learner: found LogisticRegression() without classes, delta, epsilon, noise",
        ),
        ({"learner": "logistic", "feature_bound": None}, "learner: found 'logistic' without"),
        ({"relation": "replace-one", "group_sizes": None}, "group_sizes: found None beside relation='replace-one'"),
        ({"group_sizes": {"f": 1}}, "group_sizes: found {'f': 1}, expected a mapping of at least two groups"),
        ({"notion": "equalized_odds"}, "notion: found 'equalized_odds', expected one of 'demographic_parity'"),
        ({"group_sizes": {"f": 1, "m": 0}}, "group_sizes: found 0"),
        ({"rate": "mean"}, "rate: found 'mean'"),
        ({"gamma": -0.1}, "gamma: found -0.1"),
        ({"group_sizes": {"f": 1, "w": 2}}, "sensitive_features: found group 'm'"),
        ({"noise": "secure"}, "random_state: found 3 beside noise='secure'"),
        ({"noise": "loud"}, "noise: found 'loud'"),
        ({"classes": (1, 2)}, "y: found 0"),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(changes, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        fitted(**changes)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.zeros(N)}, "y: found one class"),
        ({"y": np.arange(N) % 3}, "y: found 3 classes"),
        ({"sensitive_features": np.zeros(N)}, "sensitive_features: found 1 group"),
        ({"sensitive_features": GROUP[:-1]}, "lengths differ"),
        ({"X": np.full((N, 2), np.nan)}, "contains NaN"),
        ({"X": np.full((N, 2), 10**400, dtype=object)}, "X: found a number that no float can hold"),
    ],
)
def test_bad_rows_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        model().fit(**{"X": X, "y": Y, "sensitive_features": GROUP, **changes})


def test_bad_questions_are_named():
    found = fitted()
    for changes, message in (
        ({"X": X[:, :2]}, "features"), ({"X": X[:5]}, "lengths differ"),
        ({"sensitive_features": GROUP[:-1]}, "lengths differ"),
        ({"sensitive_features": np.full(N, "x")}, "sensitive_features: found group 'x'"),
        ({"random_state": dpf.StableAnswers().of([1, 2])}, "random_state: found draws of 2 identifiers for 600 rows"),
    ):  # fmt: skip
        asked = {"X": X, "sensitive_features": GROUP, "random_state": 0, **changes}
        with pytest.raises(ValueError, match=message):
            found.predict(**asked)
    with pytest.raises(ValueError, match="not fitted"):
        model().predict_proba(X, sensitive_features=GROUP)
