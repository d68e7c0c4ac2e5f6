"""What all estimators have in common: how rows are paired, what a failed fit leaves, and seeds beside secure noise."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from sklearn.base import BaseEstimator

from dpfair_lib._progress import shown
from dpfair_lib._validation import same_rows

Estimator = TypeVar("Estimator")
Arguments = ParamSpec("Arguments")
SEEDING = (("sklearn.ensemble._base", "_set_random_states"), ("sklearn.utils._testing", "set_random_state"))
"""Where scikit-learn seeds estimators unasked: in ensembles, and in `check_estimator`."""
BUDGETS, OPENED_ELSEWHERE = "dpfair_lib.privacy.budgets.open_budgets", "DPFAIR_OPEN_BUDGET"
"""Without this module, and this variable of the environment, no budget can be open."""
Fit = Callable[Concatenate[Estimator, Arguments], Estimator]


def whole_or_not_at_all(fit: Fit[Estimator, Arguments]) -> Fit[Estimator, Arguments]:
    """Return a method ``fit`` that leaves the estimator as it was where it raises, and pairs rows as `same_rows` does.

    Within an open `Budget` an estimator whose class states no cost is refused before it sees a row.

    Otherwise attributes of the failed fit would mix with those of the fit before, and a statement with a model that
    it does not describe. Progress is shown meanwhile if the estimator has a parameter ``verbose`` that is True.

    Parameters
    ----------
    fit : callable
        The method; it sets attributes, and changes none in place.

    Returns
    -------
    callable
        The same method otherwise.
    """
    paired = same_rows(fit)

    @functools.wraps(fit)
    def fitted(self: Estimator, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Estimator:
        before = dict(vars(self))
        # else the first fit without privacy would import all of dpfair_lib.privacy
        if (BUDGETS in sys.modules or OPENED_ELSEWHERE in os.environ) and not states_cost(self):
            from dpfair_lib.privacy.budgets.open_budgets import refuse_unstated

            refuse_unstated(type(self).__name__)
        try:
            with shown(getattr(self, "verbose", False)):
                return paired(self, *args, **kwargs)
        except BaseException:  # an interrupt too
            vars(self).clear()
            vars(self).update(before)
            raise

    return fitted


def declares_statement(estimator: Any) -> bool:
    """Return whether an estimator's class declares ``privacy_statement_``, which its fit sets."""
    kinds = type(estimator).__mro__
    return any("privacy_statement_" in vars(kind).get("__annotations__", {}) for kind in kinds)


def states_cost(estimator: Any) -> bool:
    """Return whether a fit states what it costs: by the class, or by all estimators that the fit hands the rows to.

    An estimator that only hands rows on names those in a method ``_fits_with``.
    """
    inner = getattr(estimator, "_fits_with", None)
    return declares_statement(estimator) if inner is None else all(map(states_cost, inner()))


class UnseededIfSecure(BaseEstimator):
    """An estimator that takes no seed while its noise is secure.

    `fit` refuses a seed that was given to the constructor or to `set_params`. Ensembles of scikit-learn, such as
    `BaggingClassifier`, seed every estimator that they clone, by `set_params`, whether anybody asked for a seed or not.
    Theirs is not kept, so that each fit draws secure noise of its own.
    """

    noise: Any
    random_state: Any

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn; beside ``noise="secure"`` an ensemble's seed is not kept.

        Parameters
        ----------
        **params
            Parameters by name.

        Returns
        -------
        estimator
            The estimator itself.

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        super().set_params(**params)
        if params.get("random_state") is not None and self._draws_securely() and _seeded_unasked():
            self.random_state = None
        return self

    def _draws_securely(self) -> bool:
        from dpfair_lib.privacy.noise_source import is_secure
        from dpfair_lib.privacy.sampling import KINDS

        noise: Any = getattr(self, "noise", None)
        known = isinstance(noise, str) and noise in KINDS
        return known and is_secure(noise)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self._draws_securely()
        return tags


def _seeded_unasked() -> bool:
    """Return whether the caller of `set_params` is scikit-learn, which seeds every estimator that has a seed.

    Nothing but the calling functions tells such a seed from one that a person sets:

    - Without ``random_state`` among the parameters beside secure noise, an ensemble would not seed. But the set of
      parameters would then depend on their values, which `check_estimator` forbids (``check_set_params``).
    - If every seed were dropped, a person who asks for a reproducible release would get another one, unwarned.
    - A mark on clones (``__sklearn_clone__``) would also drop the seeds that a grid search is asked to try.

    If scikit-learn renames a function in `SEEDING`, its seed stays, and `fit` refuses it with a message. So an error
    here never weakens the noise. `tests/test_fitting.py` fails then.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if (module, frame.f_code.co_name) in SEEDING:
            return True
        if not module.startswith(("sklearn.", "dpfair_lib.")):
            return False
        frame = frame.f_back
    return False
