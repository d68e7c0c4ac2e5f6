"""Private-FairNR as an estimator: as printed, and with every access to the data noised."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._arguments import inside_unit, nonnegative, one_of, positive, positive_integer
from dpfair_lib._fitting import whole_or_not_at_all
from dpfair_lib._validation import as_binary, check_lengths, check_row_labels
from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import (
    no_regret_dynamics,
    printed_dynamics,
    printed_scale,
    rho_for,
    round_noise,
)
from dpfair_lib.compatibility.subgroup_fairness.public_grid import (
    MOST_CELLS,
    as_frame,
    cell_of,
    check_levels,
    count_table,
    membership,
)
from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import game_from_counts
from dpfair_lib.fairness.draws import drawn_labels
from dpfair_lib.privacy import PrivacyStatement, add_gaussian_noise, mark_noise
from dpfair_lib.privacy.sampling import Noise, study_generator

RELATION = "replace-one"
MOST_ROUNDS = 1 << 24  # they are taken one after the other
PUBLIC = "number of rows, columns and their levels, subgroups"
PRINTED = (
    "cgkm.fairnr-privacy: the auditor reads the data, the oracle reads the features, and neither is noised"
)


def noisy_counts(
    counts: np.ndarray, rho: float, *, noise: Noise, rng: np.random.Generator | None
) -> np.ndarray:
    """Return counts with Gaussian noise at a zero-concentrated cost of ρ for a replaced record.

    A replaced record takes 1 from one count and adds 1 to another, a Euclidean distance of √2, and Gaussian noise of
    variance 1/ρ costs 2/(2/ρ) = ρ.
    """
    return add_gaussian_noise(counts.ravel(), 1 / math.sqrt(rho), noise=noise, rng=rng).reshape(counts.shape)


class PrivateNoRegretFair(ClassifierMixin, BaseEstimator):
    """A randomised classifier on a grid of public cells whose false-positive rates are alike in many subgroups.

    A learner and an auditor play T rounds: the learner draws classifiers that were good so far, the auditor names the
    subgroup g for which A(g)·|FP(h) − FP(h, g)| is largest; the average classifier is kept. All classifiers that are
    functions of the columns of X take part. The features of a record choose its cell and are protected like its
    label and its sensitive columns; which cells *could* occur is public.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee for one replaced record, of everything that `fit` keeps.
    subgroups : sequence of mapping
        Each a conjunction over the sensitive columns, such as ``{"sex": "Female", "race": "Black"}``.
    rounds, samples : int
        T, and how many classifiers the learner draws in each round.
    repair : bool
        False runs what is printed, with ε′ from ε, δ and C, and guarantees nothing.
    levels : mapping, optional
        Column → its public values, for columns of X and sensitive ones; others take the values 0 and 1.
    dual_bound : float
        C, the weight of a violation against an error; 1/α in print.
    tolerance : float
        Violations up to it cost nothing; used with ``repair=True`` only, for the printed game has none.
    release : {"counts", "rounds"}
        What is noised. "counts": the counts of (cell, profile, label), once; the game is played on them. "rounds": the
        game is played on the data, and the loss and the auditor's choice of every round are noised.
    noise : {"secure", "study"}
        OpenDP's sampler, or seeded noise, which protects no one; with ``repair=False`` "study" only.
    random_state : int, Generator or RandomState, optional
        Seed; must be None for secure noise.

    Attributes
    ----------
    classes_ : ndarray
        0 and 1.
    selection_ : ndarray of shape (cells,)
        P(Ŷ = 1) by cell.
    privacy_statement_ : PrivacyStatement
        What `fit` costs.

    References
    ----------
    CGKM, Algorithm 3 and Theorem 3; the repair is ours.
    """

    def __init__(
        self, *, epsilon: float, delta: float, subgroups: Any, rounds: int, samples: int, repair: bool = True,
        levels: Any = None, dual_bound: float = 10.0, tolerance: float = 0.0,
        release: Literal["counts", "rounds"] = "counts", noise: Noise = "secure", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.epsilon = epsilon
        self.delta = delta
        self.subgroups = subgroups
        self.rounds = rounds
        self.samples = samples
        self.repair = repair
        self.levels = levels
        self.dual_bound = dual_bound
        self.tolerance = tolerance
        self.release = release
        self.noise = noise
        self.random_state = random_state

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Play the game on the data and keep the average classifier.

        Parameters
        ----------
        X : DataFrame or array of shape (n, columns)
            Categorical features, with values among their levels.
        y : array of shape (n,)
            Labels 0 and 1. A subgroup without negatives has violation 0, and all have if no label is 0.
        sensitive_features : DataFrame, Series or array
            The columns that the subgroups speak of.

        Returns
        -------
        PrivateNoRegretFair
            Itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range, a subgroup or value is unknown, lengths differ, pandas inputs have
            different row labels, or the grid has more than a million counts.
        """
        statement = self._statement()
        levels = check_levels({} if self.levels is None else self.levels)
        # what the learner and the printed algorithm draw; of secure noise it is not the source
        rng = study_generator(self.noise, self.random_state) or np.random.default_rng()
        check_row_labels(X=X, y=y, sensitive_features=sensitive_features)
        table, groups = as_frame(X, "X"), as_frame(sensitive_features, "sensitive_features")
        y = as_binary(y, "y")
        check_lengths(X=table, y=y, sensitive_features=groups)
        members = membership(list(groups.columns), levels, self.subgroups)
        cell, cells = cell_of(table, levels, "X")
        profile, profiles = cell_of(groups, levels, "sensitive_features")
        if 2 * cells * profiles > MOST_CELLS:
            raise ValueError(
                f"X, sensitive_features: found {cells} cells and {profiles} profiles, expected a product of at most "
                f"{MOST_CELLS // 2}"
            )
        counts = count_table(cell, profile, y, cells, profiles)
        self.classes_ = np.array([0, 1])
        self.columns_, self._levels = list(table.columns), levels
        self.selection_ = self._play(counts, members, len(y), rng)
        self.privacy_statement_ = statement
        return self

    def _play(self, counts: np.ndarray, members: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
        if not self.repair:
            scale = printed_scale(
                self.epsilon,
                self.delta,
                n,
                dual_bound=self.dual_bound,
                rounds=self.rounds,
                samples=self.samples,
            )
            return printed_dynamics(
                game_from_counts(counts, members), counts.sum(axis=(1, 2)), rounds=self.rounds, samples=self.samples,
                dual_bound=self.dual_bound, scale=scale, rng=rng,
            ).mean(axis=0)  # fmt: skip
        private = None
        if self.release == "counts":
            source = rng if self.noise == "study" else None
            counts = noisy_counts(counts, rho_for(self.epsilon, self.delta), noise=self.noise, rng=source)
        else:
            private = round_noise(self.epsilon, self.delta, n, rounds=self.rounds, dual_bound=self.dual_bound)
        return no_regret_dynamics(
            game_from_counts(counts, members, n), rounds=self.rounds, samples=self.samples,
            dual_bound=self.dual_bound, tolerance=self.tolerance, rng=rng, private=private, noise=self.noise,
        )  # fmt: skip

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both labels, exact over the draw of a classifier.

        Parameters
        ----------
        X : DataFrame or array of shape (n, columns)
            As for `fit`.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities.

        Raises
        ------
        ValueError
            If X has other columns than in `fit`, or a value that is not among the levels.
        """
        check_is_fitted(self, "selection_")
        frame = as_frame(X, "X")
        if list(frame.columns) != self.columns_:
            raise ValueError(f"X: found columns {list(frame.columns)}, expected {self.columns_}")
        chance = self.selection_[cell_of(frame, self._levels, "X")[0]]
        return np.stack([1 - chance, chance], axis=1)

    def predict(self, X: Any, *, random_state: Any = None) -> np.ndarray:
        """Draw a label for each row with its probability; whoever asks twice gets a second draw."""
        chance = self.predict_proba(X)[:, 1]
        return drawn_labels(chance, random_state)

    def _statement(self) -> PrivacyStatement:
        positive(self.epsilon, "epsilon")
        inside_unit(self.delta, "delta")
        positive_integer(self.rounds, "rounds", most=MOST_ROUNDS)
        positive_integer(self.samples, "samples")
        positive(self.dual_bound, "dual_bound")
        nonnegative(self.tolerance, "tolerance")
        one_of(self.release, "release", ("counts", "rounds"))
        one_of(self.noise, "noise", ("secure", "study"))
        if not isinstance(self.repair, bool | np.bool_):
            raise ValueError(f"repair: found {self.repair!r}, expected True or False")
        if not self.repair:
            if self.noise == "secure":
                raise ValueError(
                    "noise: found 'secure' beside repair=False, expected 'study': it protects no one"
                )
            return PrivacyStatement(
                self.epsilon, self.delta, RELATION, public=(PUBLIC,), guarantee=False, note=PRINTED
            )
        promised = PrivacyStatement(
            self.epsilon, self.delta, RELATION, public=(PUBLIC,), accountant=f"zCDP over all {self.release}"
        )
        return mark_noise(promised, self.noise)
