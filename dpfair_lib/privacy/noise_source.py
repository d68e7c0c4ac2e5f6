"""Where the random numbers of a private release come from, and what that makes of its statement.

Whatever takes ``noise=`` makes one `NoiseSource` of it. The source refuses what does not go together, draws, marks the
statement and charges it to the budgets that are open, so that no estimator decides any of the four by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpfair_lib._arguments import one_of
from dpfair_lib.privacy.budgets.open_budgets import charge
from dpfair_lib.privacy.exponential import exponential_choice
from dpfair_lib.privacy.sampling import (
    KINDS,
    Noise,
    add_discrete_laplace_noise,
    add_gaussian_noise,
    add_laplace_noise,
    checked_generator,
    checked_sampler,
)
from dpfair_lib.privacy.statements import PrivacyStatement, without_guarantee

STUDY_NOTE = "study noise: seeded, in floating point, protects no real data"


@dataclass(frozen=True)
class NoiseSource:
    """Secure noise, which takes no seed, or study noise from a generator.

    Parameters
    ----------
    noise : {"secure", "study"}
        OpenDP's samplers (the operating system's words for reports), or NumPy's.
    generator : numpy.random.Generator, optional
        Needed for study noise; refused for secure noise.
    seed : numpy.random.SeedSequence, optional
        What a replicate's generator was made of.
    sampled : bool
        Whether secure noise comes from OpenDP. Reports are drawn from the operating system's words, and a fit without
        noise draws nothing: both do without OpenDP.

    Raises
    ------
    ValueError
        If the kind of noise is unknown, or the generator does not go with it.
    ImportError
        If OpenDP is needed and missing. There is no other secure sampler to fall back to.
    """

    noise: Noise
    generator: np.random.Generator | None = None
    seed: np.random.SeedSequence | None = None
    sampled: bool = True

    def __post_init__(self) -> None:
        checked = checked_sampler if self.sampled else checked_generator
        checked(self.noise, self.generator)

    @classmethod
    def of(cls, noise: Noise, random_state: Any, *, no_secure: str = "", sampled: bool = True) -> Self:
        """Return the source of an estimator.

        Parameters
        ----------
        noise : {"secure", "study"}
            The estimator's parameter.
        random_state : int, Generator or RandomState, optional
            The estimator's parameter; a Generator is used as it is.
        no_secure : str
            Why secure noise is not to be had, if it is not; goes on after "found 'secure'".
        sampled : bool
            Whether noise is drawn at all; otherwise nothing has to be installed for it.

        Raises
        ------
        ValueError
            If the kind of noise is unknown or not to be had, a seed comes with secure noise, or there is no such seed.
        ImportError
            If OpenDP is needed and missing.
        """
        if _checked(noise, random_state, no_secure) == "secure":
            return cls(noise, sampled=sampled)
        return cls(noise, _study_generator(random_state))

    @classmethod
    def replicates(
        cls, noise: Noise, random_state: Any, count: int, *, no_secure: str = ""
    ) -> list[Self]:  # fmt: skip
        """Return one source for each replicate of an estimator; study noise only has more than one.

        Parameters
        ----------
        noise, random_state, no_secure
            As in `of`.
        count : int
            How many; the first sources are the same however many there are.

        Raises
        ------
        ValueError
            As `of`; if there is more than one replicate of secure noise.
        """
        if _checked(noise, random_state, no_secure) == "secure":
            if count > 1:
                raise ValueError(
                    f"replicates: found {count} beside noise='secure', expected 1: all of them would be released, and "
                    "what they tell adds up; fit again for another release, with a statement of its own"
                )
            return [cls(noise)]
        seeds = replicate_seeds(random_state, count)
        return [cls(noise, np.random.default_rng(seed), seed) for seed in seeds]

    def replicate_seed(self) -> np.random.SeedSequence:
        """Return the seed of a replicate's study noise, for a learner that draws with it in ways of its own."""
        if self.seed is None:
            raise ValueError("seed: found none, expected a source of study noise made by `replicates`")
        return self.seed

    @classmethod
    def sharing(cls, noise: Noise, rng: np.random.Generator) -> Self:
        """Return the source of a function that draws from ``rng`` for itself too: study noise comes from there."""
        return cls(noise, rng if noise == "study" else None)

    @classmethod
    def given(cls, rng: np.random.Generator | None) -> Self:
        """Return the source of reports: study noise if a generator is given, and the system's words if None is."""
        return cls("secure", sampled=False) if rng is None else cls("study", rng)

    def add_laplace(self, values: Any, scale: float) -> np.ndarray:
        """Add Laplace noise, see `add_laplace_noise`."""
        return add_laplace_noise(values, scale, noise=self.noise, rng=self.generator)

    def add_gaussian(self, values: Any, sigma: float) -> np.ndarray:
        """Add Gaussian noise, see `add_gaussian_noise`."""
        return add_gaussian_noise(values, sigma, noise=self.noise, rng=self.generator)

    def add_discrete_laplace(self, counts: Any, scale: float) -> np.ndarray:
        """Add discrete Laplace noise to counts, see `add_discrete_laplace_noise`."""
        return add_discrete_laplace_noise(counts, scale, noise=self.noise, rng=self.generator)

    def choose(self, scores: Any) -> int:
        """Draw an index with probability proportional to e^score, see `exponential_choice`."""
        return exponential_choice(scores, noise=self.noise, rng=self.generator)

    def mark(self, statement: PrivacyStatement) -> PrivacyStatement:
        """Return the statement of a release with this noise, see `mark_noise`, and charge it to the open budgets."""
        marked = mark_noise(statement, self.noise)
        charge(marked)
        return marked


def is_secure(noise: Noise) -> bool:
    """Return whether a kind of noise is the secure one; raise ValueError if there is no such kind."""
    return one_of(noise, "noise", KINDS) == "secure"


def check_installed(estimator: Any) -> None:
    """Raise ImportError if an estimator's noise is secure and OpenDP is missing; one without noise needs nothing."""
    if getattr(estimator, "noise", None) == "secure":
        checked_sampler("secure", None)


def mark_noise(statement: PrivacyStatement, noise: Noise) -> PrivacyStatement:
    """Return the statement of a release as it stands for secure noise, and without guarantee for study noise.

    Parameters
    ----------
    statement : PrivacyStatement
        What the mechanism promises with ideal noise.
    noise : {"secure", "study"}
        The noise used.

    Returns
    -------
    PrivacyStatement
        The same numbers; for study noise ``guarantee`` is False and the note says why.

    Raises
    ------
    ValueError
        If the kind of noise is unknown.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.privacy import mark_noise
    >>> statement = dpf.PrivacyStatement(1.0, 0.0, "add-remove")
    >>> mark_noise(statement, "secure").guarantee, mark_noise(statement, "study").guarantee
    (True, False)
    """
    return (
        statement if one_of(noise, "noise", KINDS) == "secure" else without_guarantee(statement, STUDY_NOTE)
    )


def replicate_seeds(random_state: Any, count: int) -> list[np.random.SeedSequence]:
    """Return one seed for each replicate; the first are the same however many there are.

    Parameters
    ----------
    random_state : int, Generator or RandomState, optional
        Where they come from; None takes fresh entropy.
    count : int
        How many.

    Raises
    ------
    ValueError
        If the state is of another kind.
    """
    if random_state is None:
        root = np.random.SeedSequence()
    elif isinstance(random_state, np.random.Generator):
        root = np.random.SeedSequence(random_state.integers(2**32, size=4).tolist())
    elif isinstance(random_state, np.random.RandomState):
        root = np.random.SeedSequence(random_state.randint(2**32, size=4, dtype=np.uint32).tolist())
    elif (
        isinstance(random_state, int | np.integer)
        and not isinstance(random_state, bool)
        and random_state >= 0
    ):
        root = np.random.SeedSequence(int(random_state))
    else:
        raise ValueError(
            f"random_state: found {random_state!r}, expected None, a whole number of at least 0, "
            "a numpy Generator or a RandomState"
        )
    return root.spawn(count)


def _checked(noise: Noise, random_state: Any, no_secure: str) -> Noise:
    """Return the kind of noise, if it is known and to be had, and no seed comes with secure noise."""
    one_of(noise, "noise", KINDS)
    if noise == "secure" and no_secure:
        raise ValueError(f"noise: found 'secure'{no_secure}, expected 'study'")
    if noise == "secure" and random_state is not None:
        raise ValueError(
            f"random_state: found {random_state!r} beside noise='secure', expected None: "
            "noise that protects people must not be reproducible"
        )
    return noise


def _study_generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    from sklearn.utils import check_random_state

    try:
        state = check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state: found {random_state!r}, expected an integer from 0 to 2**32 - 1, a Generator, or None"
        ) from None
    return np.random.default_rng(state.randint(2**31, size=4))
