import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpfair_lib import DPLogisticRegression
from dpfair_lib.privacy import STUDY_NOTE, dp_sgd_epsilon, dp_sgd_noise, prv_interval

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) * [0.5, 1.0, 4.0]
Y = (X @ [1.0, -1.0, 0.3] + RNG.normal(size=40) > 0).astype(int)
GOOD = {
    "noise_multiplier": 2.0, "delta": 1e-5, "max_grad_norm": 1.5, "sample_rate": 0.25, "steps": 5,
    "learning_rate": 0.1, "random_state": 0, "noise": "study",
}  # fmt: skip
SECURE = {"noise": "secure", "random_state": None}


def test_one_seed_one_model():
    first, again = (DPLogisticRegression(**GOOD).fit(X, Y) for _ in range(2))
    assert np.array_equal(first.coef_, again.coef_)
    other = DPLogisticRegression(**{**GOOD, "random_state": 1}).fit(X, Y)
    assert not np.array_equal(first.coef_, other.coef_)
    fresh = [DPLogisticRegression(**{**GOOD, "random_state": None}).fit(X, Y).coef_ for _ in range(2)]
    assert not np.array_equal(*fresh)
    for source in (np.random.default_rng, np.random.RandomState):
        pair = [DPLogisticRegression(**{**GOOD, "random_state": source(3)}).fit(X, Y).coef_ for _ in range(2)]
        assert np.array_equal(*pair)


def test_statement_is_that_of_the_accountant():
    given = DPLogisticRegression(**GOOD).fit(X, Y)
    statement = given.privacy_statement_
    assert statement.epsilon == dp_sgd_epsilon(2.0, 0.25, 5, 1e-5, "pld")
    assert (statement.delta, statement.relation, statement.accountant) == (1e-5, "add-remove", "pld")
    assert "Poisson at rate 0.25, 5 steps" in str(statement)
    assert "expected batch size" in str(statement)
    assert not statement.guarantee
    assert STUDY_NOTE in statement.note
    wanted = DPLogisticRegression(**{**GOOD, "noise_multiplier": None, "epsilon": 1.0}).fit(X, Y)
    assert wanted.noise_multiplier_ == dp_sgd_noise(1.0, 1e-5, 0.25, 5, "pld")
    assert 0.999 <= wanted.privacy_statement_.epsilon <= 1.0


@pytest.mark.parametrize(("multiplier", "rate", "steps"), [(2.0867, 1 / 23, 1150), (1.0, 1 / 15, 300)])
def test_opacus_accountants_agree_with_ours(multiplier, rate, steps):
    accountants = pytest.importorskip("opacus.accountants")
    theirs = {}
    for name, kind in (("rdp", accountants.RDPAccountant), ("prv", accountants.PRVAccountant)):
        accountant = kind()
        accountant.history = [(multiplier, rate, steps)]
        theirs[name] = accountant.get_epsilon(delta=1e-5)
    interval = prv_interval(multiplier, rate, steps, 1e-5)
    exact = dp_sgd_epsilon(multiplier, rate, steps, 1e-5, "pld")
    assert theirs["prv"] == pytest.approx(interval.upper, abs=2e-3)
    assert interval.lower <= exact <= theirs["prv"]
    assert exact < theirs["rdp"]
    assert theirs["rdp"] == pytest.approx(dp_sgd_epsilon(multiplier, rate, steps, 1e-5, "rdp"), rel=5e-3)


def test_it_learns_what_can_be_learned():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 2))
    y = np.where(x @ [2.0, -1.0] + rng.logistic(size=4000) > 0.5, "yes", "no")
    model = DPLogisticRegression(
        epsilon=2.0,
        delta=1e-6,
        max_grad_norm=2.0,
        sample_rate=0.1,
        steps=300,
        learning_rate=1.0,
        noise="study",
        random_state=0,
    ).fit(x, y)
    peer = LogisticRegression(C=np.inf).fit(x, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(x, y) > peer.score(x, y) - 0.02
    assert model.coef_ == pytest.approx(peer.coef_, abs=0.4)
    assert set(model.predict(x)) == {"no", "yes"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 1.0}, "epsilon, noise_multiplier: found both"),
        ({"noise_multiplier": None}, "epsilon, noise_multiplier: found neither"),
        ({"noise_multiplier": None, "epsilon": 0}, "epsilon: found 0"),
        ({"noise_multiplier": 0.0}, "noise_multiplier: found 0"),
        ({"noise_multiplier": np.nan}, "noise_multiplier: found nan"),
        ({"delta": 0}, "delta: found 0"),
        ({"delta": 1.0}, "delta: found 1"),
        ({"sample_rate": 0}, "sample_rate: found 0"),
        ({"sample_rate": 1.01}, "sample_rate: found 1.01"),
        ({"max_grad_norm": -1}, "max_grad_norm: found -1"),
        ({"learning_rate": np.inf}, "learning_rate: found inf"),
        (
            {"learning_rate": 1e308, "noise_multiplier": 100.0},
            "learning_rate: found 1e.308, at which weights overflow",
        ),
        ({"max_grad_norm": 1e250}, r"max_grad_norm=1e.250, noise_multiplier=.* over .* expected records"),
        ({"steps": 0}, "steps: found 0"),
        ({"steps": 2.5}, "steps: found 2.5"),
        ({"replicates": True}, "replicates: found True"),
        ({"fit_intercept": "yes"}, "fit_intercept: found 'yes'"),
        ({"backend": "keras"}, "backend: found 'keras', expected one of 'fused', 'opacus'"),
        ({"noise": "secure"}, "random_state: found 0 beside noise='secure'"),
        (SECURE | {"replicates": 2}, "replicates: found 2 beside noise='secure'"),
        (SECURE | {"backend": "opacus"}, "backend: found 'opacus' beside noise='secure', expected 'fused'"),
        (SECURE | {"dtype": "float32"}, "dtype: found 'float32' beside noise='secure', expected 'float64'"),
        (SECURE | {"device": "cuda"}, "device: found 'cuda' beside noise='secure', expected 'auto' or 'cpu'"),
        (
            SECURE | {"max_grad_norm": 1e101},
            r"max_grad_norm: found 1e.101, expected a number from 1e-100 to 1e.100",
        ),
        (
            SECURE | {"noise_multiplier": 0.05},
            "epsilon, delta: found .*, at which noise on a grid costs up to",
        ),
        (SECURE | {"learning_rate": 1e308}, "learning_rate: found 1e.308, at which weights overflow"),
        ({"dtype": "float16"}, "dtype: found 'float16'"),
        ({"relation": "local"}, "relation: found 'local'"),
        ({"shared_batches": "yes"}, "shared_batches: found 'yes'"),
        ({"noise": "none"}, "noise: found 'none'"),
        ({"device": "gpu"}, "device: found 'gpu'"),
        ({"random_state": -1}, "random_state: found -1"),
        ({"random_state": "a"}, "random_state: found 'a'"),
    ],
)
def test_bad_parameters_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        DPLogisticRegression(**{**GOOD, **changes}).fit(X, Y)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X, np.ones(40, dtype=int), r"y: found one class"),
        (X, np.arange(40) % 3, r"y: found 3 classes"),
        (X[:0], Y[:0], r"0 sample\(s\)"),
        (X[:, :0], Y, r"0 feature\(s\)"),
        (np.where(X[3, 1] == X, np.nan, X), Y, "X contains NaN"),
        (np.where(X[3, 1] == X, np.inf, X), Y, "X contains infinity"),
        (X, np.where(np.arange(40) == 2, np.nan, Y), "y contains NaN"),
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X[:, 0], Y, "1D array"),
        (X * 1e200, Y, "X: found an entry of size"),
    ],
)
def test_bad_data_are_refused(x, y, message):
    with pytest.raises(ValueError, match=message):
        DPLogisticRegression(**GOOD).fit(x, y)


@parametrize_with_checks(
    [
        DPLogisticRegression(
            noise_multiplier=0.5,
            delta=1e-5,
            max_grad_norm=5.0,
            sample_rate=1.0,
            steps=20,
            learning_rate=0.5,
            noise="study",
            random_state=0,
        )
    ]
)
def test_scikit_learn_protocol(estimator, check):
    check(estimator)


def test_defining_a_model_does_not_import_torch():
    code = (
        "import sys; from dpfair_lib import DPLogisticRegression as D; D(epsilon=1, delta=.1, max_grad_norm=1,"
        " sample_rate=1, steps=1, learning_rate=1); print([m for m in ('torch', 'opacus') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.strip() == "[]"


@pytest.mark.parametrize("backend", ["fused", "opacus"])
def test_with_the_labels_given_a_record_decides_no_refusal(backend):
    X = np.random.default_rng(0).normal(size=(20, 2))
    setting = {"noise_multiplier": 1.0, "delta": 1e-3, "max_grad_norm": 1.0, "sample_rate": 0.5, "steps": 3,
               "learning_rate": 0.1, "random_state": 0, "noise": "study", "backend": backend}  # fmt: skip
    one = np.where(np.arange(20) == 7, "yes", "no")
    given = DPLogisticRegression(**setting, classes=("yes", "no"))
    assert given.fit(X, np.full(20, "no")).classes_.tolist() == ["no", "yes"]
    assert (given.fit(X, one).coef_ == DPLogisticRegression(**setting).fit(X, one).coef_).all()
    with pytest.raises(ValueError, match="y: found one class"):
        DPLogisticRegression(**setting).fit(X, np.full(20, "no"))


def test_how_a_row_writes_zero_does_not_show():
    X, y = np.ones((40, 1)), np.arange(40) % 2.0
    y[0] = -0.0
    model = DPLogisticRegression(
        epsilon=1.0, delta=1e-5, max_grad_norm=1.0, sample_rate=0.5, steps=2, learning_rate=0.1
    ).fit(X, y)
    assert [str(label) for label in model.classes_] == ["0.0", "1.0"]
