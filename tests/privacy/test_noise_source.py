import ast
from pathlib import Path

import numpy as np
import pytest

import dpfair_lib
from dpfair_lib.privacy import (
    STUDY_NOTE,
    PrivacyStatement,
    add_discrete_laplace_noise,
    add_gaussian_noise,
    add_laplace_noise,
    mark_noise,
)
from dpfair_lib.privacy.exponential import exponential_choice
from dpfair_lib.privacy.noise_source import NoiseSource, replicate_seeds

IDEAL = PrivacyStatement(1.0, 0, "replace-one")


def test_study_noise_marks_its_statement():
    assert mark_noise(IDEAL, "secure") is IDEAL
    assert NoiseSource("secure").mark(IDEAL) is IDEAL
    marked = mark_noise(IDEAL, "study")
    assert not marked.guarantee
    assert marked.note == STUDY_NOTE
    assert NoiseSource.of("study", 0).mark(IDEAL) == marked
    with pytest.raises(ValueError, match="noise: found 'fast'"):
        mark_noise(IDEAL, "fast")


def test_an_estimators_seed_goes_with_study_noise_only():
    assert NoiseSource.of("secure", None) == NoiseSource("secure", None)
    for made in (NoiseSource.of, lambda noise, state: NoiseSource.replicates(noise, state, 1)):
        with pytest.raises(ValueError, match="random_state: found 3 beside noise='secure'"):
            made("secure", 3)
        with pytest.raises(ValueError, match="noise: found 'none'"):
            made("none", None)
        with pytest.raises(ValueError, match=r"random_state: found 'a'.*, expected"):
            made("study", "a")
    one, two = (NoiseSource.of("study", 3).generator.random() for _ in range(2))
    assert one == two
    given = np.random.default_rng(0)
    assert NoiseSource.of("study", given).generator is given


def test_a_source_refuses_what_does_not_go_together():
    for noise, rng, message in [
        ("secure", np.random.default_rng(0), "rng: found a generator beside noise='secure'"),
        ("study", None, "rng: found None, expected a numpy"),
        ("study", 3, "rng: found 3, expected a numpy"),
        ("fast", None, "noise: found 'fast'"),
    ]:
        with pytest.raises(ValueError, match=message):
            NoiseSource(noise, rng)


def test_noise_that_is_not_to_be_had_is_refused_with_the_reason():
    why = ", which nobody provides"
    for made in (NoiseSource.of, lambda *kind, **why: NoiseSource.replicates(*kind, 1, **why)):
        with pytest.raises(
            ValueError, match=r"^noise: found 'secure', which nobody provides, expected 'study'$"
        ):
            made("secure", None, no_secure=why)
        made("study", 0, no_secure=why)


@pytest.mark.parametrize(
    "seed", [0, 1, False, np.int64(0), "", (), np.random.RandomState(0), np.random.default_rng(0)]
)
def test_no_seed_whatever_stands_beside_secure_noise(seed):
    # what counts is that a seed is given, and not whether Python takes it for true
    with pytest.raises(ValueError, match=r"random_state: found .* beside noise='secure', expected None"):
        NoiseSource.of("secure", seed)
    with pytest.raises(ValueError, match=r"random_state: found .* beside noise='secure', expected None"):
        NoiseSource.replicates("secure", seed, 1)


def test_replicates_of_secure_noise_are_refused_and_those_of_study_noise_have_streams_of_their_own():
    (alone,) = NoiseSource.replicates("secure", None, 1)
    assert alone == NoiseSource("secure")
    with pytest.raises(ValueError, match="replicates: found 2 beside noise='secure', expected 1"):
        NoiseSource.replicates("secure", None, 2)
    with pytest.raises(ValueError, match="seed: found none"):
        alone.replicate_seed()
    few, many = (NoiseSource.replicates("study", 7, count) for count in (2, 5))
    drawn = [source.generator.random() for source in many]
    assert len(set(drawn)) == 5
    assert [source.generator.random() for source in few] == drawn[:2]
    assert [source.replicate_seed().entropy for source in many] == [7] * 5
    assert [source.replicate_seed().spawn_key for source in many] == [(at,) for at in range(5)]
    assert [seed.spawn_key for seed in replicate_seeds(7, 2)] == [(0,), (1,)]


def test_a_function_with_a_generator_of_its_own_takes_study_noise_from_it():
    rng = np.random.default_rng(0)
    assert NoiseSource.sharing("study", rng).generator is rng
    assert NoiseSource.sharing("secure", rng).generator is None
    assert NoiseSource.given(None) == NoiseSource(
        "secure", sampled=False
    )  # words, which OpenDP does not draw
    assert NoiseSource.given(rng) == NoiseSource("study", rng)
    with pytest.raises(ValueError, match="rng: found 0"):
        NoiseSource.given(0)


def test_draws_are_those_of_the_samplers():
    values, counts = np.array([1.0, -2.5]), np.array([3, 4])
    pairs = [
        (lambda source: source.add_laplace(values, 2.0), lambda **how: add_laplace_noise(values, 2.0, **how)),
        (lambda source: source.add_gaussian(values, 2.0), lambda **how: add_gaussian_noise(values, 2.0, **how)),
        (
            lambda source: source.add_discrete_laplace(counts, 9.0),
            lambda **how: add_discrete_laplace_noise(counts, 9.0, **how),
        ),
        (lambda source: source.choose(np.arange(40) / 9), lambda **how: exponential_choice(np.arange(40) / 9, **how)),
    ]  # fmt: skip
    for at, (drawn, sampler) in enumerate(pairs):
        found = drawn(NoiseSource("study", np.random.default_rng(at)))
        np.testing.assert_array_equal(found, sampler(noise="study", rng=np.random.default_rng(at)))
        assert np.shape(drawn(NoiseSource("secure"))) == np.shape(found)


OWN = {"privacy/noise_source.py", "privacy/sampling.py", "privacy/exponential.py", "privacy/__init__.py"}
SAMPLERS = {"add_laplace_noise", "add_gaussian_noise", "add_discrete_laplace_noise", "exponential_choice"}


def by_hand(text):
    """Return what code decides for itself about noise: comparisons with its kinds, and calls of the samplers."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            compared = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
            found += [kind for kind in ("secure", "study") if kind in compared]
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            constants = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
            if called in SAMPLERS or (called == "one_of" and "secure" in constants):
                found.append(called)
    return found


def test_no_room_decides_about_noise_by_hand():
    package = Path(dpfair_lib.__file__).parent
    for module in package.rglob("*.py"):
        where = module.relative_to(package)
        if where.parts[0] not in ("claims", "experiments") and where.as_posix() not in OWN:
            assert by_hand(module.read_text(encoding="utf-8")) == [], f"{where}: use NoiseSource"


@pytest.mark.parametrize(
    "fault",
    [
        "source = rng if self.noise == 'study' else None",
        "one_of(self.noise, 'noise', ('secure', 'study'))",
        "add_laplace_noise(x, 1.0, noise=self.noise, rng=rng)",
        "sampling.add_gaussian_noise(x, 1.0)",
        "if 'secure' != noise: pass",
    ],
)
def test_a_decision_by_hand_is_found(fault):
    assert by_hand(fault) != []


def test_a_generator_gives_as_many_words_as_a_seed_can_hold():
    for source in (np.random.default_rng(0), np.random.RandomState(0)):
        (first,), (second,) = replicate_seeds(source, 1), replicate_seeds(source, 1)
        assert len(first.entropy) == len(second.entropy) == 4
        assert first.entropy != second.entropy
        words = [word for _ in range(200) for word in replicate_seeds(source, 1)[0].entropy]
        assert min(words) < 2**26  # words of 32 bits
        assert 2**32 - 2**26 < max(words) < 2**32
