import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

import dpfair_lib as dpf
from dpfair_lib.svm.perturbation import flippable_share, joint_counts, noisy_support_vectors


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    return rng.normal(size=(60, 3)) + y[:, None], y, np.arange(60) // 2 % 2


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_scores_are_those_of_the_noisy_vectors_with_the_trained_weights(data, kernel):
    X, y, _ = data
    svc = SVC(kernel=kernel, gamma=0.5, coef0=1.0).fit(X, y)
    before = svc.decision_function(X)
    found = dpf.SupportVectorPerturbation(svc, epsilon=1.0).perturb(np.random.default_rng(1))
    by_hand = {
        "linear": lambda a, b: a @ b.T,
        "rbf": lambda a, b: rbf_kernel(a, b, gamma=0.5),
        "poly": lambda a, b: polynomial_kernel(a, b, degree=3, gamma=0.5, coef0=1.0),
    }[kernel]
    expected = svc.dual_coef_[0] @ by_hand(found.support_vectors_, X) + svc.intercept_[0]
    np.testing.assert_allclose(found.decision_function(X), expected, atol=1e-10)
    np.testing.assert_array_equal(found.predict(X), svc.classes_[(expected > 0).astype(int)])
    np.testing.assert_array_equal(svc.decision_function(X), before)  # the given machine is left alone


def test_the_noise_has_the_printed_scale(data):
    X, y, _ = data
    svc = SVC(kernel="linear").fit(X, y)
    k = len(svc.support_vectors_)
    drawn = noisy_support_vectors(svc, 0.5, 4000, np.random.default_rng(2)) - svc.support_vectors_
    assert abs(drawn).mean() == pytest.approx(4 / k, rel=0.02)
    one = (
        noisy_support_vectors(svc, 0.5, 2, np.random.default_rng(2), noise_kind="vector")
        - svc.support_vectors_
    )
    assert np.ptp(one, axis=2).max() < 1e-12
    assert np.ptp(one[:, :, 0], axis=1).min() > 0


def test_refitting_uses_the_labels_of_the_vectors(data):
    X, y, _ = data
    names = np.array(["no", "yes"])[y]
    svc = SVC(kernel="linear").fit(X, names)
    found = dpf.SupportVectorPerturbation(svc, epsilon=1e6, classifier="retrained")
    found.perturb(np.random.default_rng(3))
    again = SVC(kernel="linear").fit(svc.support_vectors_, names[svc.support_])
    np.testing.assert_allclose(found.decision_function(X), again.decision_function(X), atol=0.01)
    assert set(found.predict(X)) == {"no", "yes"}


def test_the_statement_gives_no_guarantee_and_names_the_claim(data):
    X, y, _ = data
    found = dpf.SupportVectorPerturbation(SVC().fit(X, y), epsilon=0.3).perturb(np.random.default_rng(0))
    statement = found.privacy_statement_
    assert not statement.guarantee
    assert "sk.alg-1-privacy" in statement.note
    assert statement.epsilon == 0.3


def test_the_noisy_law_keeps_the_rates_of_the_records(data):
    X, y, a = data
    found = dpf.SupportVectorPerturbation(SVC().fit(X, y), epsilon=0.3).perturb(np.random.default_rng(0))
    q, groups = found.noisy_joint(X, y, sensitive_features=a, rng=np.random.default_rng(1))
    counts, _ = joint_counts(found.predict(X), y, sensitive_features=a, classes=[0, 1])
    np.testing.assert_allclose(q / q.sum(axis=0), counts / counts.sum(axis=0))
    assert groups == [0, 1]
    noise = np.random.default_rng(1).laplace(scale=2 / (60 * 0.3), size=(2, 2))
    np.testing.assert_allclose(q.sum(axis=0), counts.sum(axis=0) / 60 + noise)
    one, _ = found.noisy_joint(X, y, sensitive_features=np.zeros(60), rng=np.random.default_rng(1))
    assert one.shape == (2, 1, 2)


def test_the_flippable_share_falls_with_epsilon_and_ends_at_zero(data):
    X, y, a = data
    svc = SVC(kernel="linear").fit(X, y)
    shares = [
        flippable_share(svc, X, y, sensitive_features=a, epsilon=e, failure=0.05) for e in (0.1, 10, 1e3, 1e9)
    ]
    assert shares[0] == pytest.approx(0.25)
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0


def test_bad_machines(data):
    X, y, _ = data
    rng = np.random.default_rng(0)
    cases = [
        (SVC(), "fitted"),
        ("no machine", "fitted"),
        (SVC().fit(X, np.arange(60) % 3), "3 classes"),
        (SVC(kernel=lambda a, b: a @ b.T).fit(X, y), "kernel"),
        (SVC(kernel="precomputed").fit(X @ X.T, y), "kernel"),
        (SVC().fit(csr_matrix(X), y), "sparse"),
    ]
    for svc, message in cases:
        with pytest.raises(ValueError, match=message):
            dpf.SupportVectorPerturbation(svc, epsilon=1.0).perturb(rng)


def test_bad_arguments(data):
    X, y, a = data
    svc, rng = SVC(kernel="linear").fit(X, y), np.random.default_rng(0)
    for keywords, message in (
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1.0, "noise_kind": "one"}, "noise_kind: found"),
        ({"epsilon": 1.0, "classifier": "new"}, "classifier"),
    ):
        with pytest.raises(ValueError, match=message):
            dpf.SupportVectorPerturbation(svc, **keywords).perturb(rng)
    method = dpf.SupportVectorPerturbation(svc, epsilon=1.0)
    with pytest.raises(ValueError, match="perturb first"):
        method.predict(X)
    with pytest.raises(ValueError, match="rng"):
        method.perturb(0)
    method.perturb(rng)
    with pytest.raises(ValueError, match="nobody of group 1 with label 1"):
        method.noisy_joint(X, y, sensitive_features=a * (1 - y), rng=rng)
    with pytest.raises(ValueError, match="y: found 2"):
        method.noisy_joint(X, y + 1, sensitive_features=a, rng=rng)
    with pytest.raises(ValueError, match="lengths differ"):
        method.noisy_joint(X, y, sensitive_features=a[:-1], rng=rng)
    with pytest.raises(ValueError, match="linear"):
        flippable_share(SVC().fit(X, y), X, y, sensitive_features=a, epsilon=1.0, failure=0.05)


def test_it_does_not_pretend_to_be_an_estimator():
    method = dpf.SupportVectorPerturbation(SVC(), epsilon=2.0, noise_kind="vector")
    with pytest.raises(TypeError, match="does not seem to be a scikit-learn estimator"):
        clone(method)
