"""What all estimators' fits have in common: one that fails changes nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

Estimator = TypeVar("Estimator")
Arguments = ParamSpec("Arguments")
Fit = Callable[Concatenate[Estimator, Arguments], Estimator]


def whole_or_not_at_all(fit: Fit[Estimator, Arguments]) -> Fit[Estimator, Arguments]:
    """Return a method ``fit`` that leaves the estimator as it was where it raises.

    Otherwise attributes of the failed fit would mix with those of the fit before, and a statement with a model that
    it does not describe.

    Parameters
    ----------
    fit : callable
        The method; it sets attributes, and changes none in place.

    Returns
    -------
    callable
        The same method otherwise.
    """

    @functools.wraps(fit)
    def fitted(self: Estimator, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Estimator:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:  # an interrupt too
            vars(self).clear()
            vars(self).update(before)
            raise

    return fitted
