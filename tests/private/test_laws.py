"""What is released has the law that the statement's numbers promise: 10⁵ draws and more, and 5 % less noise is seen.

The post-processors, the learners by choice and the certificate release what the secure samplers answer, and nothing
else (`test_secure`), at scales from the statement (`test_costs`, `test_calibration`, `test_choices`). So the law of
the samplers is tested here, once for each, and the law of all that can be drawn many times as it is released.
"""

import itertools
import math

import numpy as np
import pytest
from exact_fit import (
    DRAWS,
    FAILURE,
    TESTS,
    Law,
    discrete_gaussian,
    finite,
    gaussian,
    geometric,
    laplace,
    power,
    rejected,
)
from scipy.special import softmax
from sklearn.svm import SVC
from test_calibration import gaussian_ratio

import dpfair_lib as dpf
from dpfair_lib.central.preparation import private_constants
from dpfair_lib.compatibility.perturbed_leader.follow_the_leader import noisy_totals
from dpfair_lib.learners.batches import poisson_batches, system_batches
from dpfair_lib.local.files import randomize_file
from dpfair_lib.privacy import add_discrete_laplace_noise, add_gaussian_noise, add_laplace_noise
from dpfair_lib.privacy.exponential import exponential_choice
from dpfair_lib.privacy.sampling import add_discrete_gaussian_noise
from dpfair_lib.svm.perturbation import noisy_support_vectors

LESS = 0.95
used = set()


def check(name, law, draws, worse, n=DRAWS):
    """The draws have the law; and one with 5 % less noise would be rejected, but for one time in a million."""
    assert name not in used, "a share of the failure probability is spent once"
    used.add(name)
    assert len(draws) >= n
    assert not rejected(name, law, draws)
    assert power(name, law, worse, len(draws)) > 1 - 1e-6


def test_the_failure_probabilities_add_up():
    assert len(set(TESTS)) == len(TESTS)
    # exactly: the chance that a right law is rejected, event by event
    for law in (laplace(1.0), gaussian(1.0), geometric(2.0), finite([0.2, 0.3, 0.5])):
        assert power(TESTS[0], law, law) <= FAILURE / len(TESTS)


ADDITIVE = {
    "laplace": (add_laplace_noise, laplace, 1.7),
    "gaussian": (add_gaussian_noise, gaussian, 0.6),
    "geometric": (add_discrete_laplace_noise, geometric, 2.5),
}


def errors(kind, scale, noise, rng=None):
    add, center = ADDITIVE[kind][0], 10**12 if kind == "geometric" else 3
    drawn = add(np.full(DRAWS, center), scale, noise=noise, rng=rng)
    assert drawn.dtype == (np.int64 if kind == "geometric" else float)
    return drawn - center


@pytest.mark.parametrize("noise", ["secure", "study"])
@pytest.mark.parametrize("kind", ADDITIVE)
def test_additive_noise(kind, noise):
    _, law, scale = ADDITIVE[kind]
    draws = errors(kind, scale, noise, None if noise == "secure" else np.random.default_rng(0))
    check(f"{noise} {kind}", law(scale), draws, law(LESS * scale, scale))
    # planted: these are 5 % less than noise of a larger scale, and 5 % less than this one
    assert rejected(f"{noise} {kind}", law(scale / LESS), draws)
    assert rejected(
        f"{noise} {kind}", law(scale), errors(kind, LESS * scale, "study", np.random.default_rng(1))
    )
    # the sizes are right and the signs are not; rounded noise on whole numbers
    assert rejected(f"{noise} {kind}", law(scale), abs(draws))
    if kind == "geometric":
        rounded = np.rint(np.random.default_rng(2).laplace(scale=scale, size=DRAWS))
        assert rejected(f"{noise} {kind}", law(scale), rounded)


SCORES = np.array([1.54, 0.0, -0.4])


@pytest.mark.parametrize("noise", ["secure", "study"])
def test_exponential_choices(noise):
    rng = None if noise == "secure" else np.random.default_rng(0)
    draws = np.array([exponential_choice(SCORES, noise=noise, rng=rng) for _ in range(DRAWS)])
    law = finite(softmax(SCORES))
    check(f"{noise} choice", law, draws, finite(softmax(SCORES / LESS)))
    assert rejected(f"{noise} choice", finite(softmax(LESS * SCORES)), draws)


# Local reports: from the operating system's words, as people would give them.
MANY = 1_000_000


def response(k, epsilon, value):
    """The truth with e^ε/(e^ε + k − 1), and any other value alike."""
    chances = np.full(k, 1.0)
    chances[value] = math.exp(epsilon)
    return chances / chances.sum()


def test_generalized_randomized_response():
    channel = dpf.generalized_randomized_response(5, 1.0)
    epsilon = channel.privacy_statement().epsilon
    draws = channel.apply(np.full(MANY, 2, dtype=np.int8))
    law, worse = (finite(response(5, e, 2)) for e in (epsilon, epsilon / LESS))
    check("response", law, draws, worse)
    assert rejected(
        "response", law, dpf.generalized_randomized_response(5, 1.0 / LESS).apply(np.full(MANY, 2))
    )


def test_subset_selection_from_a_table():
    channel = dpf.subset_selection(4, 1.0, size=2)
    sets = list(itertools.combinations(range(4), 2))
    places = np.full(16, -1)
    places[[(1 << one) + (1 << two) for one, two in sets]] = range(6)
    draws = places[channel.apply(np.full(MANY, 1)) @ (1 << np.arange(4))]

    def law(epsilon):
        chances = np.array([math.exp(epsilon) if 1 in one else 1.0 for one in sets])
        return finite(chances / chances.sum())

    epsilon = channel.privacy_statement().epsilon
    check("subsets from a table", law(epsilon), draws, law(epsilon / LESS))


def test_subset_selection_one_by_one():
    k, size, value = 20, 4, 3
    channel = dpf.subset_selection(k, 1.5, size=size)
    assert not channel._tabled
    others = [j for j in range(k) if j != value]

    def law(epsilon):
        p = size * math.exp(epsilon) / (size * math.exp(epsilon) + k - size)
        q = (size - p) / (k - 1)
        # two others: of ω − 1 places beside the truth, or of ω
        both = (p * (size - 1) * (size - 2) + (1 - p) * size * (size - 1)) / ((k - 1) * (k - 2))
        return Law(
            np.array([p, *[q] * (k - 1), *[both] * (k - 2)]),
            lambda sets: np.array([
                sets[:, value].sum(), *sets[:, others].sum(axis=0),
                *((sets[:, one] & sets[:, two]).sum() for one, two in itertools.pairwise(others)),
            ]),
        )  # fmt: skip

    draws = channel.apply(np.full(MANY // 2, value))
    assert (draws.sum(axis=1) == size).all()
    epsilon = channel.privacy_statement().epsilon
    check("subsets one by one", law(epsilon), draws, law(epsilon / LESS))


def test_any_channel():
    matrix = np.array([[0.5, 0.25, 0.25], [0.2, 0.6, 0.2], [0.25, 0.25, 0.5]])
    channel = dpf.Randomizer(matrix)
    # the largest ratio in a column is the statement's
    ratio = (matrix.max(axis=0) / matrix.min(axis=0)).max()
    assert channel.privacy_statement().epsilon == pytest.approx(math.log(ratio), rel=1e-12)
    draws = channel.apply(np.full(MANY, 1, dtype=np.int8))
    more = matrix[1] ** (1 / LESS)
    check("any channel", finite(matrix[1]), draws, finite(more / more.sum()))


def test_the_binary_optimum():
    # of the smaller group a share of e^(−ε)/2 lies
    channel = dpf.binary_optimum([0.3, 0.7], [0.6, 0.2], 1.0)
    lie, more = (math.exp(-e) / 2 for e in (1.0, 1 / LESS))
    draws = channel.apply(np.zeros(MANY, dtype=np.int8))
    check("binary optimum", finite([1 - lie, lie]), draws, finite([1 - more, more]))


def test_reports_in_a_file(tmp_path):
    source, target = tmp_path / "from.csv", tmp_path / "into.csv"
    source.write_text("name,own\n" + "".join(f"{at},c\n" for at in range(DRAWS)), encoding="utf-8")
    channel = dpf.generalized_randomized_response(4, 2.0)
    randomize_file(source, target, "own", channel, labels=list("abcd"))
    reports = [line.rsplit(",", 1)[1] for line in target.read_text(encoding="utf-8").splitlines()[1:]]
    draws = np.array(["abcd".index(report) for report in reports])
    law, worse = (finite(response(4, e, 2)) for e in (2.0, 2.0 / LESS))
    check("file", law, draws, worse)


# Learners. Rows of zeros have the gradient 0, and the weights that are released are noise alone, in many coordinates.
@pytest.mark.parametrize("kind", ["analytic", "classical", "laplace"])
def test_output_perturbation(kind):
    p, n = 100, 5
    model = dpf.OutputPerturbation(
        regularization=2.0, feature_bound=1.0, epsilon=0.8, delta=0.0 if kind == "laplace" else 1e-4, noise_kind=kind,
        loss="huberised-hinge", fit_intercept=False, replicates=DRAWS // p, noise="study", random_state=0,
        classes=(0, 1),
    ).fit(np.zeros((n, p)), np.zeros(n))  # fmt: skip
    statement = model.privacy_statement_
    sensitivity = 2 * 1.0 * (1 + 1e-3) / (2.0 * n)
    if kind == "laplace":
        law, scale = laplace, math.sqrt(p) * sensitivity / statement.epsilon
    else:
        law, scale = gaussian, float(gaussian_ratio(statement.epsilon, statement.delta, kind)) * sensitivity
    check(f"output perturbation, {kind}", law(scale), model.coef_.ravel(), law(LESS * scale, scale))
    if kind == "classical":  # half of it, which no test of fit looked at
        assert rejected(f"output perturbation, {kind}", law(scale), model.coef_.ravel() / 2)


def test_constants_for_scaling():
    n, epsilon = 12, 1e6
    made = private_constants(
        np.full((n, DRAWS), 0.5),
        np.tile([0.0, 1.0], (DRAWS, 1)),
        epsilon,
        noise="study",
        rng=np.random.default_rng(0),
    )
    scale = 2 * DRAWS / made.privacy_statement.epsilon  # each of the sums moves by 1
    check("scaling constants", laplace(scale), (made.center - 0.5) * n, laplace(LESS * scale, scale))


def steps(backend, count):
    return dpf.DPLogisticRegression(
        noise_multiplier=1.5, delta=1e-4, max_grad_norm=0.5, sample_rate=0.4, steps=count, learning_rate=0.3,
        expected_batch_size=2.0, fit_intercept=False, backend=backend, device="cpu", noise="study",
        random_state=0,
    )  # fmt: skip


@pytest.mark.parametrize(("backend", "count"), [("fused", 150), ("opacus", 2)])
def test_private_descent(backend, count):
    # of "fused" more steps than it draws noise for at once: where any is used again, the sum is longer
    fitted = steps(backend, count).fit(np.zeros((4, DRAWS)), np.array([0, 1, 0, 1]))
    sigma = 0.3 / 2.0 * 1.5 * 0.5 * math.sqrt(count)
    check(f"steps, {backend}", gaussian(sigma), fitted.coef_.ravel(), gaussian(LESS * sigma, sigma))


def test_penalised_descent():
    fitted = dpf.DPFermiClassifier(
        penalty=1.0, epsilon=2.0, delta=1e-3, steps=2, batch_size=2, max_grad_norm=0.5, noise="study",
        random_state=0,
        group_frequencies={0: 0.5, 1: 0.5},
    ).fit(np.zeros((4, DRAWS)), np.array([0, 1, 0, 1]), sensitive_features=np.array([0, 0, 1, 1]))  # fmt: skip
    sigma = 0.005 / 2 * math.sqrt(2) * fitted.noise_multiplier_ * 0.5 * math.sqrt(2)
    check("penalised steps", gaussian(sigma), fitted.coef_.ravel(), gaussian(LESS * sigma, sigma))


def test_discrete_gaussian_noise():
    scale, name = 1.3, "secure discrete gaussian"
    draws = add_discrete_gaussian_noise(np.full(DRAWS, 10**12), scale) - 10**12
    check(name, discrete_gaussian(scale), draws, discrete_gaussian(LESS * scale, scale))
    assert rejected(name, discrete_gaussian(scale / LESS), draws)
    # planted: continuous noise that is rounded is another law where the scale is small
    rounded = np.rint(np.random.default_rng(0).normal(scale=scale, size=DRAWS))
    assert rejected(name, discrete_gaussian(scale), rounded)


def test_secure_descent():
    sigma = 0.3 / 2.0 * 1.5 * 0.5 * math.sqrt(2)
    fitted = dpf.DPLogisticRegression(
        noise_multiplier=1.5, delta=1e-4, max_grad_norm=0.5, sample_rate=0.4, steps=2, learning_rate=0.3,
        expected_batch_size=2.0, fit_intercept=False, classes=(0, 1),
    ).fit(np.zeros((4, DRAWS)), np.array([0, 1, 0, 1]))  # fmt: skip
    check("secure steps", gaussian(sigma), fitted.coef_.ravel(), gaussian(LESS * sigma, sigma))


def test_system_batches():
    n, rate = 3, 0.3
    draws = np.array([int((1 << batch).sum()) for batch in system_batches(n, rate, DRAWS)])

    def law(q):
        return finite([q ** (c := bin(s).count("1")) * (1 - q) ** (n - c) for s in range(1 << n)])

    check("batches, system", law(rate), draws, law(LESS * rate))
    # planted: records that enter together
    assert rejected(
        "batches, system", law(rate), np.where(np.random.default_rng(0).random(DRAWS) < rate, 7, 0)
    )


def test_poisson_batches():
    n, rate = 3, 0.3
    batches = poisson_batches(n, rate, DRAWS, np.random.SeedSequence(0))
    draws = np.array([int((1 << batch).sum()) for batch in batches])

    def law(q):
        return finite([q ** (c := bin(s).count("1")) * (1 - q) ** (n - c) for s in range(1 << n)])

    check("batches", law(rate), draws, law(LESS * rate))


@pytest.mark.parametrize("learner", ["fused", "opacus", "penalised"])
def test_the_rate_at_which_records_enter_a_batch(learner):
    # one step on equal rows of clipped gradients C: the step tells how many rows were in it
    n, rate, C = DRAWS, 0.3, 1.0
    X, y = np.full((n, 1), 1e3), np.zeros(n)
    y[0] = 1
    if learner == "penalised":
        fitted = dpf.DPFermiClassifier(
            penalty=0.0, epsilon=50.0, delta=1e-3, steps=1, batch_size=int(rate * n), max_grad_norm=C, noise="study",
            random_state=0,
            learning_rate=rate * n, group_frequencies={0: 0.5, 1: 0.5},
        ).fit(X, y, sensitive_features=np.arange(n) % 2)  # fmt: skip
    else:
        fitted = dpf.DPLogisticRegression(
            noise_multiplier=0.01, delta=1e-4, max_grad_norm=C, sample_rate=rate, steps=1, learning_rate=1.0,
            expected_batch_size=1.0, fit_intercept=False, backend=learner, device="cpu", noise="study",
            random_state=0,
        ).fit(X, y)  # fmt: skip
    count = round(float(abs(fitted.coef_[0, 0])))  # but for the one other label, and the noise
    law = Law(np.array([rate]), lambda drawn: np.array([drawn.sum()]))
    name = f"batches, {learner}"
    check(name, law, np.arange(n) < count, Law(np.array([LESS * rate]), law.hits))


def test_support_vectors():
    X, y = np.random.default_rng(0).normal(size=(40, 10)), np.arange(40) % 2
    svc = SVC(kernel="linear").fit(X, y)
    k = len(svc.support_vectors_)
    draws = (
        noisy_support_vectors(svc, 0.7, 1 + DRAWS // (10 * k), np.random.default_rng(0))
        - svc.support_vectors_
    )
    scale = 2 / (k * 0.7)  # as printed, without a guarantee
    check("support vectors", laplace(scale), draws.ravel(), laplace(LESS * scale, scale))


def test_perturbed_leader():
    totals = noisy_totals(np.zeros((1000, DRAWS // 1000)), 2.0, np.random.default_rng(0), noised="losses")
    draws = np.diff(totals, axis=0, prepend=0).ravel()
    check("perturbed leader", laplace(2.0), draws, laplace(LESS * 2.0, 2.0))
