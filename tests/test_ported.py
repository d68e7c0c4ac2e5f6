"""The guides for users of diffprivlib and fairlearn: the lines that they say to write make the notebooks run."""

import importlib
import pickle
import re
from pathlib import Path

import fairlearn.metrics
import fairlearn.postprocessing
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

import dpfair_lib as dpf
from dpfair_lib.privacy import BudgetExceededError

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
COLUMNS = {
    "age": (17, 90), "education-num": (1, 16), "hours-per-week": (1, 99), "capital-gain": (0, 99999),
    "capital-loss": (0, 4356),
}  # fmt: skip


def table(page, caption):
    """Return the rows of the table with a caption, as texts without backticks."""
    text = (NOTEBOOKS / f"{page}.md").read_text(encoding="utf-8")
    rows = re.match(r"[^|]*((?:\|.*\n)+)", text[text.index(caption) :])[1].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def lines(page, caption):
    """Return what the table of changed lines says to write for each line."""
    return {line.strip(): after.strip(" `") for line, _, after in table(page, caption)}


def run(line, names):
    """Return what an expression of our own page gives."""
    exec(f"found = {line}", names)
    return names["found"]


@pytest.fixture
def ported():
    """The longer notebook of diffprivlib, with the lines of the page."""
    adult = dpf.synthetic("adult", n=2000, random_state=0)
    parts = train_test_split(adult.X[list(COLUMNS)], adult.y, random_state=0)
    said = lines("from-diffprivlib", "The lines of the longer notebook that are others here.")
    names = {"bounds": COLUMNS, "n": len(parts[0])}
    exec(said["import"], names)
    pipe = Pipeline([("scaler", run(said["scaling"], names)), ("clf", run(said["the model"], names))])
    return pipe, parts, said, names


def test_the_longer_notebook_of_diffprivlib_runs_with_the_changed_lines(ported):
    pipe, (X_train, X_test, y_train, y_test), _, _ = ported
    assert pipe.fit(X_train, y_train).predict(X_test).shape == (500,)
    assert (pipe["clf"].privacy_statement_.epsilon, pipe["clf"].privacy_statement_.delta) == (1.0, 0.0)
    again = pickle.loads(pickle.dumps(pipe))
    assert again.score(X_test, y_test) == pipe.score(X_test, y_test)
    for epsilon in (0.1, 10.0):
        assert (
            pipe.set_params(clf__epsilon=epsilon).fit(X_train, y_train)["clf"].privacy_statement_.epsilon
            == epsilon
        )


def test_at_nearly_no_noise_the_model_is_that_of_scikit_learn(ported):
    pipe, (X_train, _, y_train, _), said, names = ported
    run(f"pipe.{said['nearly no noise']}", names | {"pipe": pipe})
    model = pipe.fit(X_train, y_train)["clf"]
    rows = np.column_stack([pipe["scaler"].transform(X_train), np.ones(len(X_train))])
    plain = LogisticRegression(fit_intercept=False, tol=1e-10, max_iter=1000).fit(rows, y_train)
    found = np.append(model.coef_[0], model.intercept_)
    assert found == pytest.approx(plain.coef_[0], abs=1e-3)
    assert abs(plain.coef_).max() > 0.5


def test_the_account_refuses_the_second_fit(ported):
    pipe, (X_train, _, y_train, _), said, names = ported
    with run(said["the account"], names) as budget:
        pipe.fit(X_train, y_train)
        with pytest.raises(BudgetExceededError):
            pipe.fit(X_train, y_train)
    assert budget.remaining.epsilon == pytest.approx(0.5)


def test_a_scaler_that_learns_is_said_to_be_uncounted_and_refused_by_the_private_pipeline(ported):
    pipe, (X_train, _, y_train, _), _, _ = ported
    steps = [("scaler", MinMaxScaler()), ("clf", pipe["clf"])]
    statement = Pipeline(steps).fit(X_train, y_train)["clf"].privacy_statement_
    assert "other fits on these rows, such as those of a scaler" in statement.note
    with pytest.raises(ValueError, match="MinMaxScaler"):
        dpf.PrivatePipeline(steps).fit(X_train, y_train)


def test_the_notebook_of_fairlearn_runs_with_the_changed_lines():
    adult = dpf.synthetic("adult", n=2000, random_state=0)
    X, y, sex = adult.X, adult.y, adult.sensitive_features
    said = lines("from-fairlearn", "The lines of the notebook above that are others here.")
    names = {name: getattr(dpf, name) for name in dpf.__all__}
    exec(said["import"], names)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    names |= {"tree": tree, "X": X, "sex": sex}
    written = said["the optimiser"].replace("notion=...", 'notion="demographic_parity"')
    names["fair"] = run(written, names).fit(X, y, sensitive_features=sex)
    chances = run(said["its probabilities"].replace("...", "X, sensitive_features=sex"), names)[:, 1]
    assert dpf.demographic_parity_difference(y, chances, sensitive_features=sex) < 1e-9
    before = dpf.demographic_parity_difference(y, tree.predict(X), sensitive_features=sex)
    assert before > 0.05
    frame = fairlearn.metrics.MetricFrame(
        metrics=accuracy_score, y_true=y, y_pred=tree.predict(X), sensitive_features=sex
    )
    assert len(frame.by_group) == 2


@pytest.mark.parametrize(("page", "least"), [("from-diffprivlib", 9), ("from-fairlearn", 6)])
def test_every_name_that_takes_the_place_of_another_exists(page, least):
    rows = table(page, "what to write here, and what is different.")
    found = [name for _, here, _ in rows for name in re.findall(r"`(?:dpf\.|privacy\.)?(\w+)", here)]
    options = {"scores", "prefit", "gamma", "notion", "objective", "noise", "random_state", "delta", "public"}
    own = [name for name in found if name not in options]
    privacy = importlib.import_module("dpfair_lib.privacy")
    assert len(own) >= least
    for name in own:
        assert hasattr(dpf, name) or hasattr(privacy, name), name
    if page == "from-fairlearn":
        theirs = {*dir(fairlearn.metrics), *dir(fairlearn.postprocessing)}
        for name in (
            "demographic_parity_difference",
            "equal_opportunity_difference",
            "MetricFrame",
            "ThresholdOptimizer",
        ):
            assert name in theirs
            assert any(f"`{name}" in their for their, _, _ in rows)
