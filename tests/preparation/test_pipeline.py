"""Pipelines: they do what their steps do, cost what these cost, and refuse what has no statement or mixes rows."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import dpfair_lib as dpf
from dpfair_lib.learners import linear
from dpfair_lib.preparation import pipeline as module
from dpfair_lib.privacy import PrivacyStatement, compose, convert

RNG = np.random.default_rng(0)
N = 1500
PEOPLE = pd.DataFrame({
    "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(40, 10, N)),
    "hours": RNG.normal(35, 8, N),
    "job": RNG.choice(["cook", "nurse", "clerk"], N),
})  # fmt: skip
Y = (PEOPLE["hours"] > 35).astype(int).to_numpy()
STUDY = {"noise": "study", "random_state": 0}


def steps(relation="replace-one", noise=STUDY, **learner):
    """Return steps for the rows of people: fill, encode, scale, learn."""
    last = {"feature_bound": 3.0, "epsilon": 0.75, "delta": 1e-6} | learner
    return [
        ("fill", dpf.PublicImputer({"age": 40})),
        ("encode", dpf.PublicEncoder({"job": ["cook", "nurse"]})),
        ("scale", dpf.PrivateScaler({"age": (0, 100), "hours": (0, 80)}, epsilon=0.25, relation=relation, **noise)),
        ("learn", dpf.ObjectivePerturbation(**last, **noise)),
    ]  # fmt: skip


def by_hand(made):
    """Fit and apply clones of the steps one after another."""
    rows, statements = PEOPLE, []
    for _, step in made[:-1]:
        fitted = clone(step).fit(rows)
        rows, statements = fitted.transform(rows), [*statements, fitted.privacy_statement_]
    last = clone(made[-1][1]).fit(rows, Y)
    return last, rows, [*statements, last.privacy_statement_]


@pytest.mark.parametrize("delta", [None, 1e-5])
def test_it_is_what_is_done_by_hand(delta):
    made = steps()
    fitted = dpf.PrivatePipeline(made, delta=delta).fit(PEOPLE, Y)
    last, rows, statements = by_hand(made)
    assert np.array_equal(fitted.predict(PEOPLE), last.predict(rows))
    assert np.array_equal(fitted.predict_proba(PEOPLE), last.predict_proba(rows))
    assert np.array_equal(fitted.decision_function(PEOPLE), last.decision_function(rows))
    assert fitted.score(PEOPLE, Y) == last.score(rows, Y) > 0.8
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.n_features_in_ == 3
    assert fitted.feature_names_in_.tolist() == ["age", "hours", "job"]
    assert fitted.privacy_statement_ == compose(*statements, delta=delta)
    assert not any(hasattr(step, "privacy_statement_") for _, step in made)  # clones were fitted


def check_total(fitted):
    """Raise unless every step is counted, and all that any of them takes as public is named."""
    statement = fitted.privacy_statement_
    each = [step.privacy_statement_ for _, step in fitted.steps_]
    assert statement.parts == tuple(each)
    assert statement.epsilon == sum(one.epsilon for one in each) == 1.0
    assert statement.delta == sum(one.delta for one in each)
    assert set(statement.public) == {fact for one in each for fact in one.public}
    assert statement.relation == "replace-one"


def test_the_statement_counts_every_step():
    fitted = dpf.PrivatePipeline(steps(noise={})).fit(PEOPLE, Y)
    check_total(fitted)
    assert fitted.privacy_statement_.guarantee
    shown = str(fitted.privacy_statement_)
    for fact in ("constants for missing values", "categories of the encoded columns", "bounds of the scaled columns",
                 "the number of rows", "the two labels"):  # fmt: skip
        assert fact in shown
    assert not dpf.PrivatePipeline(steps()).fit(PEOPLE, Y).privacy_statement_.guarantee


@pytest.mark.parametrize("dropped", [1, 2, 3])
def test_a_total_without_one_step_is_caught(dropped, monkeypatch):
    def fewer(*statements, **options):
        return compose(*(one for at, one in enumerate(statements) if at != dropped), **options)

    monkeypatch.setattr(module, "compose", fewer)
    fitted = dpf.PrivatePipeline(steps(noise={})).fit(PEOPLE, Y)
    with pytest.raises(AssertionError):
        check_total(fitted)


def check_equal_steps(count, delta):
    """Raise unless steps whose statements are equal are counted as often as they are there, nested ones too."""
    step = dpf.PrivateScaler({"age": (0, 100), "hours": (0, 80)}, epsilon=0.25)
    flat = dpf.PrivatePipeline([(f"step {at}", step) for at in range(count)], delta=delta)
    nested = dpf.PrivatePipeline(
        [("inner", dpf.PrivatePipeline([("step", step)])), ("step", step)], delta=delta
    )
    for made, times in ((flat, count), (nested, 2)):
        statement = made.fit(PEOPLE).privacy_statement_
        leaves = [leaf for part in statement.parts for leaf in part.parts or (part,)]
        assert len({(leaf.epsilon, leaf.relation, leaf.mechanism) for leaf in leaves}) == 1
        assert len(leaves) == times
        assert statement.epsilon == compose(*leaves, delta=delta).epsilon
        assert delta or statement.epsilon == 0.25 * times


@pytest.mark.parametrize("delta", [None, 1e-6])
def test_steps_of_one_statement_are_each_counted(delta, monkeypatch):
    for count in (2, 3):
        check_equal_steps(count, delta)
    # planted: statements that are equal are taken for one
    monkeypatch.setattr(
        module, "compose", lambda *parts, **options: compose(*dict.fromkeys(parts), **options)
    )
    with pytest.raises(AssertionError):
        check_equal_steps(2, delta)


def test_the_tight_total_is_below_the_sum():
    last = dpf.OutputPerturbation(regularization=0.1, feature_bound=3.0, epsilon=0.75, delta=1e-6)
    made = [*steps(noise={})[:-1], ("learn", last)]
    summed = dpf.PrivatePipeline(made).fit(PEOPLE, Y).privacy_statement_
    tight = dpf.PrivatePipeline(made, delta=1e-6 * (1 + 1e-3)).fit(PEOPLE, Y).privacy_statement_
    assert summed.epsilon == 1.0
    assert 0.75 < tight.epsilon < 0.99
    with pytest.raises(ValueError, match="delta: found 1e-300, expected more than the parts fail by openly"):
        dpf.PrivatePipeline(steps(noise={}), delta=1e-300).fit(PEOPLE, Y)


class Counted(TransformerMixin, BaseEstimator):
    """A step that counts how often it is fitted."""

    fits = 0

    def fit(self, X, y=None):  # noqa: ARG002
        type(self).fits += 1
        return self

    def transform(self, X):
        return X


class Stated(Counted):
    """One that says what it costs, and that it maps rows one by one."""

    row_wise = True
    privacy_statement_: PrivacyStatement

    def __init__(self, relation="replace-one", epsilon=0.5):
        self.relation = relation
        self.epsilon = epsilon

    def fit(self, X, y=None):
        super().fit(X, y)
        self.privacy_statement_ = PrivacyStatement(self.epsilon, 0.0, self.relation)
        return self


class Mixing(Stated):
    row_wise = False


class Vague(Stated):
    row_wise = "yes"


class Silent(Stated):
    def fit(self, X, y=None):
        return Counted.fit(self, X, y)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (StandardScaler(), "found 'bad', a StandardScaler, which does not declare privacy_statement_"),
        (Counted(), "found 'bad', a Counted, which does not declare privacy_statement_"),
        (Mixing(), "found 'bad', a Mixing, before another step, expected a transformer with row_wise = True"),
        (Vague(), "found 'bad', a Vague, before another step, expected a transformer with row_wise = True"),
        (steps()[-1][1], "found 'bad', a ObjectivePerturbation, before another step"),
        (dpf.PrivatePipeline([("x", Mixing()), ("y", Stated())]),
         "found 'bad', a PrivatePipeline, before another step"),
    ],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_a_step_without_its_declarations_is_refused_before_any_fit(bad, message):
    Stated.fits = Counted.fits = 0
    made = dpf.PrivatePipeline([("first", Stated()), ("bad", bad), ("learn", steps()[-1][1])])
    with pytest.raises(ValueError, match=message):
        made.fit(PEOPLE, Y)
    assert Stated.fits == Counted.fits == 0
    assert not hasattr(made, "steps_")


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("depth", [1, 2])
def test_one_step_that_mixes_rows_makes_a_pipeline_mix_them_wherever_it_stands(length, depth):
    def nested(*inner):
        whole = dpf.PrivatePipeline([(f"step {at}", one) for at, one in enumerate(inner)])
        return whole if depth == 1 else dpf.PrivatePipeline([("first", Stated()), ("whole", whole)])

    assert nested(*[Stated()] * length).row_wise
    for place, bad in itertools.product(range(length), (Mixing, Vague, Counted)):
        mixes = nested(*[bad() if at == place else Stated() for at in range(length)])
        assert not mixes.row_wise
        Stated.fits = 0
        with pytest.raises(ValueError, match="found 'inner', a PrivatePipeline, before another step"):
            dpf.PrivatePipeline([("inner", mixes), ("learn", Stated())]).fit(PEOPLE)
        assert Stated.fits == 0


def test_a_learner_without_a_statement_is_refused_before_any_fit():
    Stated.fits = 0
    with pytest.raises(ValueError, match="found 'learn', a LogisticRegression, which does not declare"):
        dpf.PrivatePipeline([("first", Stated()), ("learn", LogisticRegression())]).fit(PEOPLE, Y)
    assert Stated.fits == 0


def test_a_step_that_declares_a_statement_and_leaves_none_is_refused():
    made = dpf.PrivatePipeline([("first", Stated()), ("silent", Silent())])
    with pytest.raises(ValueError, match="steps: found None as the statement of 'silent'"):
        made.fit(PEOPLE, Y)
    assert not hasattr(made, "steps_")


@pytest.mark.parametrize(
    "bad", [[], None, [("a",)], [("a", Stated()), ("a", Stated())], [("a__b", Stated())], [("to", Stated())], ["ab"],
            [(1, Stated())], [("a", "passthrough")]],
)  # fmt: skip
def test_bad_lists_of_steps(bad):
    with pytest.raises(ValueError, match="steps: found"):
        dpf.PrivatePipeline(bad).fit(PEOPLE, Y)


def test_relations_are_one_or_converted_by_name():
    mixed = steps("add-remove", noise={})
    with pytest.raises(
        ValueError,
        match=r"found the relations 'add-remove' \(scale\), 'replace-one' \(learn\), expected one; set",
    ):
        dpf.PrivatePipeline(mixed).fit(PEOPLE, Y)
    whole = dpf.PrivatePipeline(mixed, to="replace-one").fit(PEOPLE, Y).privacy_statement_
    assert (whole.epsilon, whole.relation) == (1.25, "replace-one")  # the scaler's counts twice
    with pytest.raises(ValueError, match="to: found 'add-remove', but a statement under 'replace-one'"):
        dpf.PrivatePipeline(mixed, to="add-remove").fit(PEOPLE, Y)
    local = [("own", Stated("local")), ("learn", Stated("replace-one"))]
    with pytest.raises(ValueError, match=r"found the relations 'local' \(own\)"):
        dpf.PrivatePipeline(local).fit(PEOPLE)
    assert dpf.PrivatePipeline(local, to="replace-one").fit(PEOPLE).privacy_statement_.epsilon == 1.0


def test_parameters_clones_and_parts():
    made = dpf.PrivatePipeline(steps())
    made.set_params(scale__epsilon=0.5, learn__epsilon=0.5)
    copy = clone(made)
    assert copy.get_params()["scale__epsilon"] == copy.named_steps["learn"].epsilon == 0.5
    assert copy.set_params(learn__delta=1e-5).fit(PEOPLE, Y).privacy_statement_.delta == 1e-5
    copy.set_params(learn=Stated())
    assert copy.named_steps["scale"].means_  # those that were fitted
    assert isinstance(copy.fit(PEOPLE, Y).named_steps["learn"], Stated)
    assert not hasattr(copy, "predict")
    assert not hasattr(dpf.PrivatePipeline(steps(loss="huberised-hinge")), "predict_proba")
    with pytest.raises(NotFittedError):
        made.predict(PEOPLE)


def test_pipelines_of_pipelines():
    inner = dpf.PrivatePipeline(steps()[:-1])
    outer = dpf.PrivatePipeline([("prepare", inner), steps()[-1]])
    plain = dpf.PrivatePipeline(steps()).fit(PEOPLE, Y)
    assert np.array_equal(outer.fit(PEOPLE, Y).predict_proba(PEOPLE), plain.predict_proba(PEOPLE))
    assert outer.privacy_statement_.epsilon == plain.privacy_statement_.epsilon
    assert outer.steps_[0][1].transform(PEOPLE).shape == (N, 5)


def test_arguments_of_the_last_step():
    group = np.tile([0, 1], N // 2)
    learner = dpf.DPFermiClassifier(
        penalty=0.1,
        epsilon=5.0,
        delta=1e-3,
        steps=2,
        batch_size=50,
        learning_rate=0.1,
        frequency_epsilon=1.0,
        **STUDY,
    )
    scaler = ("scale", dpf.PublicScaler({"age": (0, 100), "hours": (0, 80)}))
    made = dpf.PrivatePipeline([steps()[0], steps()[1], scaler, ("learn", learner)])
    fitted = made.fit(PEOPLE, Y, sensitive_features=group)
    rows = fitted.steps_[2][1].transform(fitted.steps_[1][1].transform(fitted.steps_[0][1].transform(PEOPLE)))
    alone = clone(learner).fit(rows, Y, sensitive_features=group)
    assert np.array_equal(fitted.predict_proba(PEOPLE), alone.predict_proba(rows))
    assert fitted.privacy_statement_.epsilon == alone.privacy_statement_.epsilon


def test_learners_declare_their_statement():
    for kind in (dpf.ObjectivePerturbation, dpf.OutputPerturbation, dpf.DPLogisticRegression, dpf.DPLinearSVM,
                 dpf.DPFermiClassifier):  # fmt: skip
        assert issubclass(kind, linear.LinearClassifier)
        assert module.declares_statement(kind.__new__(kind))


# --- the lemma: row by row, neighbours stay neighbours; by the exact mean they do not ---


def rows_that_differ(first, second):
    """How many rows of two tables differ."""
    return int((np.asarray(first, dtype=float) != np.asarray(second, dtype=float)).any(axis=1).sum())


def test_neighbours_stay_neighbours_whatever_was_released():
    levels = [np.nan, -1.0, 0.0, 2.0]
    for released in ((0.0, 1.0), (0.3, 0.02)):
        step = dpf.PublicScaler({0: (-1, 1)}).fit(np.zeros((1, 1)))
        step.cells_ = {0: module_scaled(*released)}
        for rows in itertools.product(levels, repeat=3):
            table = np.array(rows)[:, None]
            for at, value in itertools.product(range(3), levels):
                other = table.copy()
                other[at] = value
                first, second = (
                    np.nan_to_num(step.transform(table), nan=9.0),
                    np.nan_to_num(step.transform(other), nan=9.0),
                )
                assert rows_that_differ(first, second) <= 1
                assert np.array_equal(
                    np.delete(first, at, axis=0),
                    np.nan_to_num(step.transform(np.delete(table, at, axis=0)), nan=9.0),
                )


def module_scaled(center, width):
    from dpfair_lib.preparation.cells import Scaled

    return Scaled(-1.0, 1.0, center, width)


def test_the_exact_mean_moves_every_row():
    first, second = np.zeros((5, 1)), np.zeros((5, 1))
    first[0], second[0] = 1.0, 2.0
    first[1] = second[1] = -1.0
    assert rows_that_differ(*(StandardScaler().fit_transform(rows) for rows in (first, second))) == 5


def test_converted_parts_are_what_convert_says():
    mixed = steps("add-remove", noise={})
    whole = dpf.PrivatePipeline(mixed, to="replace-one").fit(PEOPLE, Y)
    each = [step.privacy_statement_ for _, step in whole.steps_]
    assert whole.privacy_statement_.parts == tuple(
        one if one.free else convert(one, "replace-one") for one in each
    )


def test_relations_that_do_not_go_together_are_refused_before_anything_is_charged():
    made = [
        ("scale", dpf.PrivateScaler({0: (-1, 1)}, epsilon=0.5)),
        ("learn", dpf.DPLogisticRegression(
            epsilon=1.0, delta=1e-6, max_grad_norm=1.0, sample_rate=0.1, steps=2, learning_rate=0.5,
        )),
    ]  # fmt: skip
    with (
        dpf.Budget(2.0, 1e-5, "replace-one") as budget,
        pytest.raises(
            ValueError, match=r"found the relations 'replace-one' \(scale\), 'add-remove' \(learn\)"
        ),
    ):
        dpf.PrivatePipeline(made).fit(RNG.uniform(-1, 1, (50, 1)), np.arange(50) % 2)
    assert not budget.spent


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"to": "add-remove"}, "'add-remove', but a statement under 'replace-one'"),
        ({"to": "anything"}, "to: found 'anything', expected one of"),
        ({"delta": 0.0}, r"delta: found 0.0, expected a number in \(0, 1\)"),
    ],
)
def test_a_total_that_cannot_be_stated_is_refused_before_anything_is_charged(given, message):
    made = dpf.PrivatePipeline(
        [
            ("scale", dpf.PrivateScaler({0: (-1, 1)}, epsilon=0.5)),
            ("learn", dpf.ObjectivePerturbation(feature_bound=1.0, epsilon=0.5, delta=1e-6)),
        ],
        **given,
    )
    with dpf.Budget(9.0, 1e-3, "replace-one") as budget, pytest.raises(ValueError, match=message):
        made.fit(RNG.uniform(-1, 1, (50, 1)), np.arange(50) % 2)
    assert budget.spent == ()


def test_private_preparation_and_a_fair_model_have_one_statement():
    rng = np.random.default_rng(0)
    X, groups = rng.uniform(0, 80, (2000, 2)), rng.integers(0, 2, 2000)
    X[:, 0] += 10 * groups
    y = (X[:, 0] + 10 * groups > 45).astype(int)
    fair = dpf.PrivateFairClassifier(epsilon=0.75, delta=1e-6, feature_bound=2.0, **STUDY)
    scale = dpf.PrivateScaler({0: (0, 100), 1: (0, 100)}, epsilon=0.25, **STUDY)
    model = dpf.PrivatePipeline([("scale", scale), ("fair", fair)], to="replace-within-group")
    model.fit(X, y, sensitive_features=groups)
    statement = model.privacy_statement_
    assert statement.relation == "replace-within-group"
    assert 0.999 < statement.epsilon <= 1
    chances = model.predict_proba(X, sensitive_features=groups)[:, 1]
    assert abs(chances[groups == 0].mean() - chances[groups == 1].mean()) < 0.1
    before = model.steps_[-1][1].learner_.predict(model.steps_[0][1].transform(X))
    assert abs(before[groups == 0].mean() - before[groups == 1].mean()) > 0.1


@pytest.mark.parametrize(
    "kind",
    [
        dpf.PrivateFairClassifier,
        dpf.PrivateExponentiatedGradient,
        dpf.ExponentialFairLearner,
        dpf.PrivateNoRegretFair,
    ],
)
def test_fair_learners_declare_their_statement(kind):
    assert module.declares_statement(kind.__new__(kind))


MIXED = {
    "a learner": lambda: dpf.ObjectivePerturbation(feature_bound=1.0, epsilon=0.5, delta=1e-6),
    "a selection": lambda: dpf.PrivateSelection(
        [dpf.OutputPerturbation(regularization=0.1, feature_bound=1.0, epsilon=0.1, delta=1e-6)], epsilon=0.5
    ),
    "a pipeline": lambda: dpf.PrivatePipeline(
        [("learn", dpf.OutputPerturbation(regularization=0.1, feature_bound=1.0, epsilon=0.1, delta=1e-6))]
    ),
}


@pytest.mark.parametrize("name", MIXED)
def test_a_step_without_the_parameter_is_refused_before_anything_is_charged_too(name, monkeypatch):
    scale = dpf.PrivateScaler({0: (-1, 1)}, epsilon=0.5, relation="add-remove")

    def refused():
        made = dpf.PrivatePipeline([("scale", scale), ("learn", MIXED[name]())])
        with (
            dpf.Budget(9.0, 1e-3, "replace-one") as budget,
            pytest.raises(ValueError, match=r"'add-remove' \(scale\), 'replace-one' \(learn\)"),
        ):
            made.fit(RNG.uniform(-1, 1, (50, 1)), np.arange(50) % 2)
        return budget.spent == ()

    assert refused()
    with monkeypatch.context() as patched:  # as it was: what only the statements say comes late
        patched.setattr(module, "stated_relation", lambda step: getattr(step, "relation", ""))
        assert not refused()


def test_candidates_of_several_relations_are_refused_before_one_is_fitted():
    steps = dpf.DPLogisticRegression(
        epsilon=1.0, delta=1e-6, max_grad_norm=1.0, sample_rate=0.1, steps=2, learning_rate=0.5
    )
    mixed = [dpf.ObjectivePerturbation(feature_bound=1.0, epsilon=0.5, delta=1e-6), steps]
    with (
        dpf.Budget(9.0, 1e-3, "replace-one") as budget,
        pytest.raises(ValueError, match="found the relations add-remove, replace-one"),
    ):
        dpf.PrivateSelection(mixed, epsilon=1.0).fit(RNG.uniform(-1, 1, (50, 1)), np.arange(50) % 2)
    assert budget.spent == ()
