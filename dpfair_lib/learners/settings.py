"""Settings of DP-SGD, and the interface of its backends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from dpfair_lib._arguments import nonnegative, number, positive, positive_integer
from dpfair_lib._extras import extra
from dpfair_lib.learners.losses import Loss

Precision = Literal["float32", "float64"]


@dataclass(frozen=True)
class Steps:
    """The DP-SGD of one linear model: how often, how fast, how much noise.

    Parameters
    ----------
    noise_multiplier : float
        Standard deviation of the noise over ``max_grad_norm``.
    max_grad_norm : float
        Norm C to which the gradient of every record, intercept included, is clipped.
    sample_rate : float
        Probability with which each record enters a batch.
    count : int
        Number of steps.
    learning_rate : float
        Factor before the noisy sum of the gradients over the expected batch size.
    fit_intercept : bool
        Whether the model has an intercept.
    expected_batch_size : float, optional
        What the noisy sums are divided by; by default ``sample_rate`` times the number of rows.
    loss : {"logistic", "huberised-hinge"}
        Whose gradients.

    Raises
    ------
    ValueError
        If a number is out of its range: a rate over 1, no step, negative noise.
    """

    noise_multiplier: float
    max_grad_norm: float
    sample_rate: float
    count: int
    learning_rate: float
    fit_intercept: bool
    expected_batch_size: float | None = None
    loss: Loss = "logistic"

    def __post_init__(self) -> None:
        rate = number(self.sample_rate, "sample_rate", "a number in (0, 1]")
        if not 0 < rate <= 1:
            raise ValueError(f"sample_rate: found {self.sample_rate}, expected a number in (0, 1]")
        checked = {
            "noise_multiplier": nonnegative(self.noise_multiplier, "noise_multiplier"),
            "max_grad_norm": positive(self.max_grad_norm, "max_grad_norm"),
            "sample_rate": rate,
            "count": positive_integer(self.count, "count"),
            "learning_rate": positive(self.learning_rate, "learning_rate"),
        }
        if self.expected_batch_size is not None:
            checked["expected_batch_size"] = positive(self.expected_batch_size, "expected_batch_size")
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # the plain number, whatever kind was given

    def divisor(self, n: int) -> float:
        """Return what the noisy sums of n rows are divided by, not rounded."""
        return self.sample_rate * n if self.expected_batch_size is None else self.expected_batch_size


class Backend(Protocol):
    """What carries out the steps."""

    def __call__(
        self, X: np.ndarray, y: np.ndarray, steps: Steps, seeds: list[np.random.SeedSequence], device: Any, *,
        dtype: Precision, shared_batches: bool,
    ) -> np.ndarray:  # fmt: skip
        """Train linear classifiers by DP-SGD, each from 0, with noise of its own.

        In every step each record enters the batch with probability ``sample_rate``, independently. Its gradient g
        (weights and intercept together) is clipped to C g / max(C, ‖g‖ + 10⁻⁶), as Opacus does. Gaussian noise of
        standard deviation σC is added to every entry of the sum, which is divided by a number that does not depend
        on the batch drawn. An empty batch is a step like the others: noise alone.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Features, finite.
        y : ndarray of shape (n,)
            Labels 0 and 1.
        steps : Steps
            The numbers.
        seeds : list of SeedSequence
            One per replicate.
        device : torch.device
            Where to compute.
        dtype : {"float64", "float32"}
            Precision of the data, the gradients and the weights.
        shared_batches : bool
            Whether all replicates take the batches of the first, or batches of their own.

        Returns
        -------
        ndarray of shape (replicates, d + 1)
            Weights, the intercept last (0 if there is none).

        References
        ----------
        Abadi et al. (2016), Algorithm 1.
        """
        ...


class Sources(NamedTuple):
    """Where the batches and the noise of one replicate come from."""

    batches: np.random.SeedSequence
    noise: np.random.SeedSequence


def sources(seeds: list[np.random.SeedSequence], *, shared_batches: bool) -> list[Sources]:
    """Return the two seeds of every replicate; shared batches are those of the first."""
    own = [Sources(*seed.spawn(2)) for seed in seeds]
    return [Sources(own[0].batches, source.noise) for source in own] if shared_batches else own


def generator(seed: np.random.SeedSequence, device: Any) -> Any:
    """Return a torch generator on a device."""
    with extra("learners"):
        import torch

    source = torch.Generator(device=device)
    source.manual_seed(int(seed.generate_state(1, np.uint64)[0] >> 1))
    return source
