"""Private-FairNR: a classifier with similar false positive rates in many subgroups, as published and as repaired."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfair_lib._arguments import inside_unit, nonnegative, one_of, positive, positive_integer
from dpfair_lib._fitting import UnseededIfSecure, whole_or_not_at_all
from dpfair_lib._scoring import ScoredByLabels
from dpfair_lib._validation import as_binary, check_lengths
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
from dpfair_lib.learners.linear import LEFT_OUT
from dpfair_lib.privacy import PrivacyStatement
from dpfair_lib.privacy.budgets.open_budgets import charge
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.sampling import Noise

RELATION = "replace-one"
MOST_ROUNDS = 1 << 24  # they are taken one after the other
PUBLIC = "number of rows, columns and their levels, subgroups"
NO_ONE = " beside repair=False, which protects no one"
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
    return NoiseSource(noise, rng).add_gaussian(counts.ravel(), 1 / math.sqrt(rho)).reshape(counts.shape)


class PrivateNoRegretFair(ScoredByLabels, UnseededIfSecure):
    """A randomised classifier with similar false positive rates in many subgroups, trained privately (Private-FairNR).

    The features are categorical; their combinations are called cells. A learner and an auditor play T rounds. The
    learner draws classifiers that did well in the rounds before. The auditor names the subgroup g with the largest
    A(g)·|FP(h) − FP(h, g)|, where A(g) is the subgroup's share and FP is the false positive rate. The result is the
    average classifier. All functions of the columns of X take part. A record's features, label and sensitive columns
    are all protected; which cells are possible is public.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee for everything that `fit` keeps, if one record is replaced.
    subgroups : sequence of mapping
        Each gives values of some sensitive columns, such as ``{"sex": "Female", "race": "Black"}``.
    rounds, samples : int
        T, and the number of classifiers that the learner draws in each round.
    repair : bool
        False runs the published algorithm, with ε′ from ε, δ and C. It guarantees nothing.
    levels : mapping, optional
        Column → its possible values, which are public, for columns of X and sensitive columns. By default 0 and 1.
    dual_bound : float
        C, the weight of a fairness violation relative to an error; 1/α in the paper.
    tolerance : float
        Violations up to this number cost nothing. With ``repair=True`` only, because the published game has none.
    release : {"counts", "rounds"}
        Where the noise is added. "counts": once, to the counts of (cell, sensitive columns, label); the game is played
        on the noisy counts. "rounds": the game is played on the data, with noise on the loss and the auditor's choice
        in every round.
    noise : {"secure", "study"}
        "secure" uses OpenDP's sampler. "study" uses seeded noise, for experiments; it protects nobody. ``repair=False``
        allows "study" only.
    random_state : int, Generator or RandomState, optional
        Seed of study noise. Must be None for secure noise.
    verbose : bool, default=False
        Whether to show on the standard error how many rounds are done, after two seconds and then every ten.

    Attributes
    ----------
    classes_ : ndarray
        0 and 1.
    selection_ : ndarray of shape (cells,)
        P(Ŷ = 1) for each cell.
    privacy_statement_ : PrivacyStatement
        What `fit` costs.

    References
    ----------
    Cummings et al. (2019), Algorithm 3 and Theorem 3; the repair is ours.

    Examples
    --------
    Two features with values 0 and 1, and one subgroup for each value of the sensitive column 0.

    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 50)
    >>> y, group = X[:, 1], np.repeat([0, 1], 100)
    >>> model = dpf.PrivateNoRegretFair(epsilon=1.0, delta=1e-6, subgroups=[{0: 0}, {0: 1}], rounds=20, samples=5)
    >>> print(model.fit(X, y, sensitive_features=group).privacy_statement_)
    ε = 1, δ = 1e-06, replace-one, per record; accountant: zCDP over all counts; public: number of rows, ...
    """

    privacy_statement_: PrivacyStatement
    stated_relation = "replace-one"

    def __init__(
        self, *, epsilon: float, delta: float, subgroups: Any, rounds: int, samples: int, repair: bool = True,
        levels: Any = None, dual_bound: float = 10.0, tolerance: float = 0.0,
        release: Literal["counts", "rounds"] = "counts", noise: Noise = "secure", random_state: Any = None,
        verbose: bool = False,
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
        self.verbose = verbose

    @whole_or_not_at_all
    def fit(self, X: Any, y: Any, *, sensitive_features: Any) -> Self:
        """Play the game and keep the average classifier.

        Parameters
        ----------
        X : DataFrame or array of shape (n, columns)
            Categorical features, with values among their levels.
        y : array of shape (n,)
            Labels 0 and 1. A subgroup without negatives has violation 0; if no label is 0, all have.
        sensitive_features : DataFrame, Series or array
            The sensitive columns that define the subgroups.

        Returns
        -------
        PrivateNoRegretFair
            The fitted estimator itself.

        Raises
        ------
        ValueError
            If a parameter is out of its range; if a subgroup or a value is unknown; if lengths differ; if pandas inputs
            have different row labels; if there would be more than a million counts.
        """
        self._check()
        source = NoiseSource.of(self.noise, self.random_state, no_secure="" if self.repair else NO_ONE)
        statement = self._statement(source)
        levels = check_levels({} if self.levels is None else self.levels)
        # what the learner and the printed algorithm draw; of secure noise it is not the source
        rng = source.generator or np.random.default_rng()
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
        self.selection_ = self._play(counts, members, len(y), source, rng)
        self.privacy_statement_ = statement
        return self

    def _play(
        self, counts: np.ndarray, members: np.ndarray, n: int, source: NoiseSource, rng: np.random.Generator
    ) -> np.ndarray:
        if not self.repair:
            scale = printed_scale(
                *self._terms(),
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
            rho = rho_for(*self._terms())
            counts = noisy_counts(counts, rho, noise=source.noise, rng=source.generator)
        else:
            private = round_noise(*self._terms(), n, rounds=self.rounds, dual_bound=self.dual_bound)
        return no_regret_dynamics(
            game_from_counts(counts, members, n), rounds=self.rounds, samples=self.samples,
            dual_bound=self.dual_bound, tolerance=self.tolerance, rng=rng, private=private, noise=source.noise,
        )  # fmt: skip

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both labels, exact over the draw of a classifier.

        Parameters
        ----------
        X : DataFrame or array of shape (n, columns)
            Features with the same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities of the labels 0 and 1.

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
        """Draw a label for each row with its probability. A second call draws again."""
        chance = self.predict_proba(X)[:, 1]
        return drawn_labels(chance, random_state)

    def _terms(self) -> tuple[float, float]:
        """Return ε and δ as floats: arithmetic with a number of lower precision would be rounded to that."""
        return positive(self.epsilon, "epsilon"), inside_unit(self.delta, "delta")

    def _check(self) -> None:
        self._terms()
        positive_integer(self.rounds, "rounds", most=MOST_ROUNDS)
        positive_integer(self.samples, "samples")
        positive(self.dual_bound, "dual_bound")
        nonnegative(self.tolerance, "tolerance")
        one_of(self.release, "release", ("counts", "rounds"))
        if not isinstance(self.repair, bool | np.bool_):
            raise ValueError(f"repair: found {self.repair!r}, expected True or False")

    def _statement(self, source: NoiseSource) -> PrivacyStatement:
        if not self.repair:
            printed = PrivacyStatement(
                *self._terms(), RELATION, public=(PUBLIC,), guarantee=False, note=PRINTED
            )
            charge(printed)
            return printed
        promised = PrivacyStatement(
            *self._terms(),
            RELATION,
            public=(PUBLIC,),
            accountant=f"zCDP over all {self.release}",
            note=LEFT_OUT,
        )
        return source.mark(promised)
