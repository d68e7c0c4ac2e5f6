"""Other noise than the secure sampler's, planted in every case, and caught by the checks of this folder."""

import functools
import importlib
import pkgutil

import numpy as np
import pytest
from cases import cases
from checks import caught, check_neighbours, check_secure, check_system
from watching import Drawn

import dpfair_lib as dpf
from dpfair_lib.compatibility.subgroup_fairness import no_regret
from dpfair_lib.local import words
from dpfair_lib.privacy import exponential, sampling

CASES = {case.name: case for case in cases()}
STATED = [case for case in CASES.values() if case.asked is not None and case.relation]
LOCAL = [case for case in CASES.values() if case.local]
OWN = np.random.default_rng(0)  # made beforehand, so that nobody sees it being made


def _laplace(values, scale, **_):
    return np.asarray(values, dtype=float) + OWN.laplace(scale=scale, size=len(values))


def _gaussian(values, sigma, **_):
    return np.asarray(values, dtype=float) + OWN.normal(scale=sigma, size=len(values))


def _geometric(counts, scale, **_):
    drawn = OWN.geometric(-np.expm1(-1 / scale), size=(2, len(counts)))
    return np.asarray(counts, dtype=np.int64) + drawn[0] - drawn[1]


def _discrete_gaussian(counts, scale, **_):
    return np.asarray(counts) + np.rint(OWN.normal(scale=scale, size=len(counts))).astype(np.int64)


def _choice(scores, **_):
    return int(np.argmax(np.asarray(scores) + OWN.gumbel(size=len(scores))))


FLOATS = {
    "add_laplace_noise": _laplace,
    "add_gaussian_noise": _gaussian,
    "add_discrete_laplace_noise": _geometric,
    "add_discrete_gaussian_noise": _discrete_gaussian,
    "exponential_choice": _choice,
}


def _everywhere(monkeypatch, name, planted):
    """Replace a function in every module that holds it."""
    usual = _usual(name)
    for found in pkgutil.walk_packages(dpf.__path__, "dpfair_lib."):
        if ".claims" in found.name or ".experiments" in found.name or found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        if vars(module).get(name) is usual:
            monkeypatch.setattr(module, name, planted)


def _decoy(usual, floats, values, *scale, **options):
    usual(values, *scale, **options)
    return floats(values, *scale, **options)


def _scaled(usual, factor, values, *scale, **options):
    if not scale:  # the choice: another slope
        return usual(np.asarray(values) * factor, **options)
    return usual(values, scale[0] * factor, **options)


def _usual(name):
    return getattr(exponential if name == "exponential_choice" else sampling, name)


@pytest.mark.parametrize("case", STATED, ids=str)
def test_floats_of_numpy_are_caught(case, monkeypatch):
    for name, floats in FLOATS.items():
        _everywhere(monkeypatch, name, floats)
    assert caught(check_secure, case, case.data())


@pytest.mark.parametrize("case", STATED, ids=str)
def test_floats_of_numpy_behind_a_call_of_the_sampler_are_caught(case, monkeypatch):
    # the sampler is asked all that it should be asked, and its answer is thrown away
    for name, floats in FLOATS.items():
        _everywhere(monkeypatch, name, functools.partial(_decoy, _usual(name), floats))
    # of a certificate only a few bounds are released: by chance they agree, for all pairs, in 2 of 100 looks. So it has
    # eight looks, of which all miss the fault in 10⁻¹³ of the runs; what is right passes every look
    assert caught(check_secure, case, case.data()) or any(
        caught(check_neighbours, case, "secure") for _ in range(8)
    )


@pytest.mark.parametrize("kind", ["laplace", "gaussian", "geometric", "choice"])
@pytest.mark.parametrize("asks", [True, False])
def test_floats_of_numpy_under_the_name_of_the_sampler_are_caught(kind, asks, monkeypatch):
    case, made, chosen = CASES[f"sampler, {kind}"], sampling._secure, exponential._secure_choice

    def secure(law, number, scale):
        floats = _geometric if number == "i64" else _laplace if law == "laplace" else _gaussian
        return lambda values: (asks and made(law, number, scale)(values), floats(values, scale).tolist())[1]

    monkeypatch.setattr(sampling, "_secure", secure)
    monkeypatch.setattr(
        exponential,
        "_secure_choice",
        lambda: lambda scores: (asks and chosen()(scores), -1 - _choice(scores))[1],
    )
    assert caught(check_secure, case, case.data())


def test_a_generator_made_for_the_noise_is_caught(monkeypatch):
    def made(values, scale, **_):
        return np.asarray(values) + np.random.default_rng().laplace(scale=scale, size=len(values))

    def seeded(values, scale, **_):
        return np.asarray(values) + np.random.laplace(scale=scale, size=len(values))  # noqa: NPY002

    for fault in (made, seeded):
        with monkeypatch.context() as planted:
            _everywhere(planted, "add_laplace_noise", fault)
            with pytest.raises(Drawn):
                check_secure(CASES["constants for scaling"], CASES["constants for scaling"].data())


def test_a_learners_own_generator_draws_no_noise(monkeypatch):
    usual = no_regret.no_regret_dynamics

    def noisy(game, *, rng, **options):
        rng.normal(size=3)
        return usual(game, rng=rng, **options)

    monkeypatch.setattr(no_regret, "no_regret_dynamics", noisy)
    with pytest.raises(Drawn, match=r"Generator\.normal"):
        check_secure(CASES["no regret, counts"], CASES["no regret, counts"].data())


@pytest.mark.parametrize("case", LOCAL, ids=str)
def test_reports_from_numpys_words_are_caught(case, monkeypatch):
    monkeypatch.setattr(
        words, "_system", lambda n, dtype: OWN.integers(0, np.iinfo(dtype).max, n, dtype, endpoint=True)
    )
    assert caught(check_system, case, {"values": np.arange(60) % 3})


@pytest.mark.parametrize("case", STATED, ids=str)
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_another_scale_is_caught(case, factor, monkeypatch):
    for name in FLOATS:
        _everywhere(monkeypatch, name, functools.partial(_scaled, _usual(name), factor))
    assert caught(check_secure, case, case.data())
