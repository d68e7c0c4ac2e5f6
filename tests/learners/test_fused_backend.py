from types import SimpleNamespace

import numpy as np
import pytest
import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer
from scipy.special import expit
from scipy.stats import chi2, ks_2samp, kstest, nct, t, ttest_ind

from dpfair_lib import DPLogisticRegression
from dpfair_lib.learners import fused_backend, opacus_backend
from dpfair_lib.learners.batches import poisson_batches
from dpfair_lib.learners.fused_backend import clipped_gradient_sums, records, train
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy import dp_sgd_epsilon, dp_sgd_noise

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 5)) * [0.01, 0.5, 1.0, 4.0, 30.0]
Y = (X @ [1.0, 1.0, -1.0, 0.3, 0.01] + RNG.normal(size=200) > 0).astype(int)
CPU = torch.device("cpu")
FAILURE = 1e-6  # probability with which each test of a law rejects what is right


def seeds(n, entropy=0):
    return np.random.SeedSequence(entropy).spawn(n)


def settings(**changes):
    plain = {
        "noise_multiplier": 0.0, "max_grad_norm": 1.5, "sample_rate": 0.3, "count": 6, "learning_rate": 1.0,
        "fit_intercept": True,
    }  # fmt: skip
    return Steps(**{**plain, **changes})


def opacus_sum(x, y, weights, steps):
    """The sum of clipped gradients that Opacus's optimizer forms before it adds noise."""
    linear = torch.nn.Linear(x.shape[1], 1, bias=steps.fit_intercept, dtype=torch.float64)
    with torch.no_grad():
        linear.weight.copy_(torch.tensor(weights[None, : x.shape[1]]))
        if steps.fit_intercept:
            linear.bias.copy_(torch.tensor(weights[-1:]))
    model = GradSampleModule(linear, loss_reduction="sum")
    optimizer = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=1.0), noise_multiplier=0.0, max_grad_norm=steps.max_grad_norm,
        expected_batch_size=1,
    )  # fmt: skip
    odds = model(torch.tensor(x).requires_grad_())[:, 0]
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        odds, torch.tensor(y, dtype=torch.float64), reduction="sum"
    )
    loss.backward()
    optimizer.clip_and_accumulate()
    return np.concatenate([p.summed_grad.numpy().ravel() for p in model.parameters()])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("clip", [1e-3, 1.5, 1e6])
@pytest.mark.parametrize("size", [0.0, 0.3, 40.0])
def test_clipped_sums_are_those_of_opacus(intercept, clip, size):
    steps = settings(fit_intercept=intercept, max_grad_norm=clip)
    models = size * np.random.default_rng(1).normal(size=(3, 5 + intercept))
    found = clipped_gradient_sums(records(X, Y, steps, CPU), torch.tensor(models)).numpy()
    wanted = np.stack([opacus_sum(X, Y, weights, steps) for weights in models])
    scale = min(clip * len(X), abs(X).sum())
    assert abs(found - wanted).max() <= 1e-12 * max(1.0, scale / 100)
    # a part of the records by mask, by choice, and none
    few = np.random.default_rng(2).random(200) < 0.2
    masked = clipped_gradient_sums(records(X, Y, steps, CPU), torch.tensor(models), torch.tensor(few))
    chosen = clipped_gradient_sums(records(X[few], Y[few], steps, CPU), torch.tensor(models))
    assert abs((masked - chosen).numpy()).max() <= 1e-12 * max(1.0, scale / 100)
    none = clipped_gradient_sums(records(X[:0], Y[:0], steps, CPU), torch.tensor(models))
    assert none.shape == models.shape
    assert not none.any()


def test_the_comparison_with_opacus_tells_wrong_clipping():
    steps, weights = settings(), np.full(6, 0.1)
    wanted = opacus_sum(X, Y, weights, steps)
    data = records(X, Y, steps, CPU)
    model = torch.tensor(weights[None])
    for wrong in (
        data._replace(slack=0 * data.slack),
        data._replace(reach=data.reach * (1 + 1e-9)),
        data._replace(
            reach=torch.linalg.vector_norm(data.rows[:, :-1], dim=1) / 1.5
        ),  # without the intercept
    ):
        assert abs(clipped_gradient_sums(wrong, model).numpy() - wanted).max() > 1e-10


def test_no_record_moves_the_sum_further_than_the_clipping_norm():
    steps, model = settings(), torch.ones((1, 6), dtype=torch.float64)
    for scale in (1e-8, 1.0, 1e8, 1e99):
        each = [
            clipped_gradient_sums(records(scale * X[[i]], Y[[i]], steps, CPU), model) for i in range(50)
        ]  # fmt: skip
        norms = np.array([np.linalg.norm(one.numpy() / 1.5) for one in each])
        assert norms.max() <= 1 + 1e-15


@pytest.mark.parametrize("rate", [0.3, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_steps_follow_the_batches_drawn(rate, intercept):
    steps, (seed,) = settings(sample_rate=rate, fit_intercept=intercept), seeds(1, 7)
    weights, first = np.zeros(6), seeds(1, 7)[0].spawn(2)[0]
    for rows in poisson_batches(200, rate, 6, first):
        step = opacus_sum(X[rows], Y[rows], weights, steps) / (rate * 200)
        weights -= step if intercept else np.append(step, 0)
    assert train(X, Y, steps, [seed], CPU)[0] == pytest.approx(weights, abs=1e-12)
    assert weights.any()
    assert intercept or train(X, Y, steps, [seed], CPU)[0][-1] == 0


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_noise_has_its_law_also_in_empty_batches(masked, shared, monkeypatch):
    # at this rate every batch is empty: the model is the noise, over the expected batch size
    rate, multiplier, clip, count = 1e-15, 2.0, 1.5, 3
    steps = settings(noise_multiplier=multiplier, sample_rate=rate, max_grad_norm=clip, count=1)
    if masked:
        as_on_a_gpu(monkeypatch)
    walks = [
        train(X, Y, settings(**{**vars(steps), "count": at + 1}), seeds(150), CPU, shared_batches=shared)
        for at in range(count)
    ]
    scaled = np.diff(np.stack([np.zeros_like(walks[0]), *walks]), axis=0) * rate * 200 / (multiplier * clip)
    assert scaled.shape == (count, 150, 6)
    # every entry of every step and every replicate: variance, shape, and products of all pairs of neighbours
    low, high = chi2.ppf([FAILURE / 2, 1 - FAILURE / 2], scaled.size)
    assert low < (scaled**2).sum() < high
    assert kstest(scaled.ravel(), "norm").pvalue > FAILURE
    for axis in range(3):
        front, back = (
            np.take(scaled, range(*ends), axis)
            for ends in ((0, scaled.shape[axis] - 1), (1, scaled.shape[axis]))
        )
        assert abs((front * back).sum()) < 6 * np.sqrt(front.size)  # about 2e-9
    low, high = chi2.ppf([FAILURE / 2, 1 - FAILURE / 2], scaled[..., -1].size)
    assert low < (scaled[..., -1] ** 2).sum() < high  # the intercept is noised like the rest


def as_on_a_gpu(monkeypatch, block=None, entries=None):
    """Let the CPU take a GPU's way, over masks and with its noise; generators and tensors are the CPU's."""
    usual, generator, randn = fused_backend._noise, fused_backend.generator, torch.randn
    gpu = SimpleNamespace(type="that of a GPU")

    def noise(parts, width, count, scale, weights):
        return usual(parts, width, count, scale, SimpleNamespace(device=gpu, dtype=weights.dtype))

    monkeypatch.setattr(fused_backend, "_noise", noise)
    monkeypatch.setattr(fused_backend, "generator", lambda seed, _: generator(seed, CPU))
    monkeypatch.setattr(torch, "randn", lambda *shape, device, **options: randn(*shape, **options))  # noqa: ARG005

    def masked(data, steps, parts, progress):
        size = fused_backend.TOGETHER
        blocks = [parts[at : at + size] for at in range(0, len(parts), size)]
        return [fused_backend._descend(data, steps, part, progress, masked=True) for part in blocks]

    monkeypatch.setattr(fused_backend, "_one_by_one", masked)
    if block:
        monkeypatch.setattr(fused_backend, "TOGETHER", block)
        monkeypatch.setattr(fused_backend, "ENTRIES", entries)


def test_masks_make_the_sums_of_the_batches_they_stand_for(monkeypatch):
    as_on_a_gpu(monkeypatch, block=4, entries=4 * 64)  # slices of 64 rows, 200 rows
    steps = settings(count=3)
    found = train(X, Y, steps, seeds(6, 3), CPU)
    parts = [seed.spawn(2) for seed in seeds(6, 3)]
    wanted = np.zeros((6, 6))
    for first in (0, 4):
        source = fused_backend.generator(parts[first][0], CPU)
        for _ in range(3):
            draws = [torch.rand((4, k), dtype=torch.float64, generator=source) for k in (64, 64, 64, 8)]
            masks = torch.cat(draws, dim=1).numpy() < 0.3
            for at in range(first, min(first + 4, 6)):
                rows = np.flatnonzero(masks[at - first])
                wanted[at] -= opacus_sum(X[rows], Y[rows], wanted[at], steps) / 60
    assert found == pytest.approx(wanted, abs=1e-12)
    assert len(np.unique(found[:, 0])) == 6


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("shared", "rate"), [(False, 0.3), (True, 0.3), (False, 1.0)])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_replicate_is_the_same_however_many_there_are(masked, shared, rate, dtype, monkeypatch):
    if masked:
        as_on_a_gpu(monkeypatch, block=4, entries=1 << 10)
    steps = settings(noise_multiplier=1.0, sample_rate=rate, count=70)
    options = {"dtype": dtype, "shared_batches": shared}
    many, again = (train(X, Y, steps, seeds(7), CPU, **options) for _ in range(2))
    assert np.array_equal(many, again)
    assert len(np.unique(many[:, 0])) == 7
    for few in (1, 3):
        part = train(X, Y, steps, seeds(7)[:few], CPU, **options)
        if not masked and not shared and rate < 1:
            assert np.array_equal(part, many[:few])
        assert part == pytest.approx(many[:few], rel=1e-4 if dtype == "float32" else 1e-11, abs=1e-5)
    assert not np.array_equal(train(X, Y, steps, seeds(7, 1), CPU, **options)[0], many[0])


def test_replicates_are_independent_and_shared_batches_are_not():
    # without noise, one step: the sum over a batch. The correlation of two replicates' first weights over 2,000
    # pairs is within 6/√2000 of 0 if they are independent, with probability above 1 − 2e-9
    plain = settings(count=1)
    own = train(X, Y, plain, seeds(4000), CPU)[:, 2].reshape(2, -1)
    assert abs(np.corrcoef(own)[0, 1]) < 6 / np.sqrt(2000)
    # the batches explain a known part of the spread: Σ_i q(1 − q) g_i² of one entry
    data = records(X, Y, plain, CPU)
    each = torch.eye(200, dtype=torch.float64)
    gradients = torch.stack(
        [clipped_gradient_sums(data, torch.zeros((1, 6), dtype=torch.float64), row[None])[0] for row in each]
    ).numpy()
    spread = 0.3 * 0.7 * (gradients[:, 2] ** 2).sum() / 60**2
    # a normal approximation of the chi-square law, 8 standard deviations wide
    assert own.var() / spread == pytest.approx(1, abs=8 * np.sqrt(2 / 4000))
    shared = train(X, Y, plain, seeds(50), CPU, shared_batches=True)
    assert np.ptp(shared, axis=0).max() < 1e-14
    noisy = train(X, Y, settings(count=1, noise_multiplier=1.0), seeds(50), CPU, shared_batches=True)
    assert len(np.unique(noisy[:, 0])) == 50


@pytest.mark.parametrize("backend", ["fused", "opacus"])
def test_statements_and_shared_batches(backend):
    given = {
        "noise_multiplier": 2.0, "delta": 1e-5, "max_grad_norm": 1.5, "sample_rate": 0.25, "steps": 5,
        "learning_rate": 0.1, "random_state": 0, "noise": "study", "backend": backend, "replicates": 4,
        "device": "cpu",  # on a GPU batches of one's own are masks
    }  # fmt: skip
    own = DPLogisticRegression(**given).fit(X, Y)
    shared = DPLogisticRegression(**given, shared_batches=True).fit(X, Y)
    assert own.coef_.shape == shared.coef_.shape == (4, 1, 5)
    assert np.array_equal(own.coef_[0], shared.coef_[0]) or backend == "fused"
    assert own.coef_[0] == pytest.approx(shared.coef_[0])
    assert not np.allclose(own.coef_[1], shared.coef_[1])
    assert "they add up" in own.privacy_statement_.note
    assert "not independent" in shared.privacy_statement_.note
    assert "1/√4 of the noise multiplier" in shared.privacy_statement_.note
    assert "not independent" not in own.privacy_statement_.note
    other = "opacus" if backend == "fused" else "fused"
    peer = DPLogisticRegression(**{**given, "backend": other}).fit(X, Y)
    assert str(peer.privacy_statement_) == str(own.privacy_statement_)


def test_relations():
    given = {
        "delta": 1e-5, "max_grad_norm": 1.5, "sample_rate": 0.25, "steps": 5, "learning_rate": 0.1,
        "random_state": 0, "noise": "study",
    }  # fmt: skip
    added, replaced = (
        DPLogisticRegression(**given, noise_multiplier=2.0, relation=relation).fit(X, Y)
        for relation in ("add-remove", "replace-one")
    )
    assert np.array_equal(added.coef_, replaced.coef_)
    for model, relation in ((added, "add-remove"), (replaced, "replace-one")):
        assert model.privacy_statement_.relation == relation
        assert model.privacy_statement_.epsilon == dp_sgd_epsilon(
            2.0, 0.25, 5, 1e-5, "pld", relation=relation
        )
    assert replaced.privacy_statement_.epsilon > 1.5 * added.privacy_statement_.epsilon
    wanted = DPLogisticRegression(**given, epsilon=1.0, relation="replace-one").fit(X, Y)
    assert wanted.noise_multiplier_ == dp_sgd_noise(1.0, 1e-5, 0.25, 5, "pld", relation="replace-one")
    assert wanted.noise_multiplier_ > 1.2 * dp_sgd_noise(1.0, 1e-5, 0.25, 5, "pld")
    assert 0.999 <= wanted.privacy_statement_.epsilon <= 1.0
    assert "Poisson" in str(wanted.privacy_statement_)


@pytest.mark.parametrize("backend", [train, opacus_backend.train])
def test_single_precision_follows_double_precision(backend):
    steps = settings(noise_multiplier=1.0, count=20, learning_rate=0.2)
    small = X / [1, 1, 1, 1, 10]
    double, single = (
        backend(small, Y, steps, seeds(2), CPU, dtype=dtype) for dtype in ("float64", "float32")
    )
    assert not np.array_equal(single, double)
    assert single.dtype == np.float64
    if backend is train:  # Opacus draws other noise in single precision
        assert single == pytest.approx(double, rel=1e-3, abs=1e-5)


RUNS, LEVEL = 30, 0.005


def detectable(spread, power=0.9):
    """The difference of two means of 30 runs that Welch's test at `LEVEL` finds with this power, at equal spreads."""
    freedom, error = 2 * RUNS - 2, spread * np.sqrt(2 / RUNS)
    threshold = t.isf(LEVEL / 2, freedom)
    shifts = np.linspace(0, 10, 2001)
    return error * shifts[np.argmax(nct.sf(threshold, freedom, shifts) >= power)]


def test_accuracies_are_those_of_opacus():
    """Is the law of the final accuracy the same? Two tests of that, 30 runs against 30, each at a level of 0.5 %.

    Welch's t test for the means, and Kolmogorov and Smirnov's, which is exact for any law, for the rest. A right pair
    is refused by one of them with a chance of at most 1 %, two pairs with 2 %. Means that differ by a point of accuracy
    are refused with a chance of 90 % or more: `detectable` says 0.0042 at the spread seen here. The seeds were
    written down before the first run and have not been changed since.
    """
    rng = np.random.default_rng(5)
    x = rng.normal(size=(600, 4))
    y = (rng.random(600) < expit(x @ [1.5, -1.0, 0.5, 0.0] + 0.3)).astype(int)
    fresh = rng.normal(size=(20_000, 4))
    truth = (rng.random(20_000) < expit(fresh @ [1.5, -1.0, 0.5, 0.0] + 0.3)).astype(int)

    def accuracies(seed, **changes):
        model = DPLogisticRegression(
            **{"noise_multiplier": 6.0, "delta": 1e-5, "max_grad_norm": 1.0, "sample_rate": 0.1, "steps": 60,
            "learning_rate": 0.5, "replicates": RUNS, "random_state": seed, "noise": "study", **changes}
        ).fit(x, y)  # fmt: skip
        return (model.predict(fresh) == truth).mean(axis=1)

    theirs = accuracies(20261121, backend="opacus")

    def refused(ours):
        means = ttest_ind(ours, theirs, equal_var=False).pvalue
        return means < LEVEL or ks_2samp(ours, theirs, method="exact").pvalue < LEVEL

    assert not refused(accuracies(20261122))
    assert not refused(accuracies(20261123, dtype="float32"))
    assert detectable(theirs.std(ddof=1)) < 0.01
    # mistakes of the kind that leave the steps plausible
    assert refused(accuracies(20261124, noise_multiplier=12.0))
    assert refused(accuracies(20261125, noise_multiplier=1.5))
    assert refused(accuracies(20261126, max_grad_norm=2.0))


def test_threads_are_left_as_they_were(monkeypatch):
    before = torch.get_num_threads()

    def broken(*_, **__):
        assert torch.get_num_threads() == 1
        raise RuntimeError("broken")

    monkeypatch.setattr(fused_backend, "poisson_batches", broken)
    with pytest.raises(RuntimeError, match="broken"):
        train(X, Y, settings(), seeds(2), CPU)
    assert torch.get_num_threads() == before


GOOD = {
    "noise_multiplier": 2.0, "delta": 1e-5, "max_grad_norm": 1.5, "sample_rate": 0.25, "steps": 5,
    "learning_rate": 0.1, "random_state": 0, "noise": "study",
}  # fmt: skip


@pytest.mark.parametrize("backend", ["fused", "opacus"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sample_rate": 1.01}, "sample_rate: found 1.01"),
        ({"steps": 0}, "steps: found 0"),
        (
            {"learning_rate": 1e250},
            "learning_rate: found 1e.250, at which weights overflow and the loss is not",
        ),
        ({"learning_rate": 1e30, "dtype": "float32"}, "the loss is not finite"),
        ({"dtype": "float16"}, "dtype: found 'float16', expected one of 'float64', 'float32'"),
        ({"relation": "replace-within-group"}, "relation: found 'replace-within-group'"),
        ({"shared_batches": 1}, "shared_batches: found 1"),
    ],
)
def test_bad_parameters_are_refused(backend, changes, message):
    with pytest.raises(ValueError, match=message):
        DPLogisticRegression(**{**GOOD, "backend": backend, **changes}).fit(X, Y)


def test_wide_entries_are_refused_where_single_precision_would_overflow():
    model = DPLogisticRegression(**GOOD, dtype="float32")
    with pytest.raises(ValueError, match=r"X: found an entry of size .*, expected at most 1e\+15"):
        model.fit(X * 1e16, Y)
    assert np.isfinite(model.fit(X * 1e13, Y).coef_).all()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu_where_one_was_asked_for():
    with pytest.raises(ValueError, match=r"device: found 'cuda' .*, expected 'auto' or a PyTorch device"):
        DPLogisticRegression(**GOOD, device="cuda").fit(X, Y)


@pytest.mark.parametrize("backend", ["fused", "opacus"])
@pytest.mark.parametrize("device", ["meta", "cuda:99", "nowhere", None, 77])
def test_devices_that_cannot_compute_are_refused(device, backend):
    with pytest.raises(
        ValueError, match=r"device: found .*, expected 'auto' or a PyTorch device of this machine"
    ):
        DPLogisticRegression(**GOOD, device=device, backend=backend).fit(X, Y)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("shared", [False, True])
def test_a_gpu_gives_the_law_of_the_cpu(shared):
    gpu = torch.device("cuda")
    steps, plain = settings(noise_multiplier=1.0), settings(sample_rate=1.0)
    assert train(X, Y, plain, seeds(1), gpu) == pytest.approx(train(X, Y, plain, seeds(1), CPU), abs=1e-10)
    here, there = (train(X, Y, steps, seeds(2000), device, shared_batches=shared) for device in (gpu, CPU))
    difference = (here.mean(axis=0) - there.mean(axis=0)) / np.sqrt(
        (here.var(axis=0) + there.var(axis=0)) / 2000
    )
    assert abs(difference).max() < 6
    few = train(X, Y, steps, seeds(3), gpu, shared_batches=shared)
    assert here[:3] == pytest.approx(few, abs=1e-8)
