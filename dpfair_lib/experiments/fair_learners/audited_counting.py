"""Three learners under audit that count before they clip: by groups, by one scale for all, and on a Lagrangian.

A record with a longest gradient, which is counted, comes in. Of two steps the second one's count has no effect that
anybody sees. So counts have a quarter of the budget: the more they have, the less is seen of it.

**Small steps.** With steps of 10⁻¹² the weights stay so near 0 that each slope of the logistic loss is ½, and the final
weights are the sum of all noisy gradients. Longer rows are clipped, so a long row adds exactly the clipping norm.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.experiments.fair_learners.audited_pairs import (
    DELTA,
    EPSILON,
    FEWER,
    LONG,
    Learner,
    Parts,
    Rows,
    Settings,
    sgd_noise,
    stacked,
    without_first,
)

SHARE = 0.25
"""Of the budget, for counts."""
TINY = 1e-12
"""Length of steps."""


def quarter_counted(steps: int) -> Settings:
    """Return the settings of a quarter of all noise."""
    return {"epsilon": None, "noise_multiplier": sgd_noise(steps) / 4}


def few_counted(steps: int) -> Settings:
    """Return the settings of as much noise on gradients, and of `FEWER` times less on counts."""
    sums, counts = 1 - SHARE, SHARE * FEWER**2  # 1/σ₂² and 1/σ₁², in units of 1/σ²
    return {
        "epsilon": None, "noise_multiplier": sgd_noise(steps) / math.sqrt(sums + counts),
        "count_share": counts / (sums + counts),
    }  # fmt: skip


def counted(kind: Any, steps: int, expected: float, **own: Any) -> Callable[[Rows, Settings], Any]:
    """Return what fits a learner that counts; ``expected`` is the public divisor of its sums."""

    def fit(rows: Rows, settings: Settings) -> Any:
        usual = {"epsilon": EPSILON, "noise_multiplier": None, "count_share": SHARE}
        model = kind(
            **usual | settings, delta=DELTA, max_grad_norm=1.0, sample_rate=1.0, steps=steps, classes=(0, 1),
            learning_rate=TINY * expected, expected_batch_size=expected, fit_intercept=False, **own,
        )  # fmt: skip
        return model.fit(*rows[:2], **{"sensitive_features": rows[2]} if "groups" in own else {})

    return fit


def deviations(model: Any) -> Any:
    """Return the noise of sums and of counts that a learner which counts has used."""
    from dpfair_lib.learners.counted_steps import divided

    return divided(model.noise_multiplier_, model.count_share)


LONG_OTHERS, LONG_OWN, SHORT_OTHERS, SHORT_OWN = 400, 10, 2400, 30


def group_clipping() -> Learner:
    """Return clipping by groups; one step, in which the other rows' sum shows the norms, and these the count.

    Of two groups C_0 + C_1 = 4 C. So the second axis, on which the long rows of both groups pull against each other,
    shows C_1. It follows the ratio of the groups' shares of long gradients. That of the record's group is the larger
    one, so its norm is the largest and sets the noise. One more long gradient moves it most where short ones are many.
    """
    from dpfair_lib.learners.counted_clipping import DPGroupClippingClassifier

    rows = stacked(
        (1, [LONG, 0.0], 1, 1), (LONG_OWN, [0.0, -LONG], 1, 1), (SHORT_OWN, [0.0, 0.0], 1, 1),
        (LONG_OTHERS, [0.0, LONG], 1, 0), (SHORT_OTHERS, [0.0, 0.0], 1, 0),
    )  # fmt: skip

    def parts(model: Any) -> Parts:
        own, others = model.coef_[0] / TINY
        noise, many = deviations(model), LONG_OTHERS + LONG_OWN
        # others = LONG_OTHERS C_0 − LONG_OWN (4 − C_0), and noise
        norm = float(np.clip((others + 4 * LONG_OWN) / many, 1.01, 2.99))
        rate = LONG_OTHERS / (LONG_OTHERS + SHORT_OTHERS) * (3 - norm) / (norm - 1)
        count = SHORT_OWN * rate / max(1 - rate, 0.01)
        return Parts(float(own) / (4 - norm) / noise.gradients**2, count / noise.counts**2)

    fit = counted(DPGroupClippingClassifier, 1, 1.0, groups=(0, 1))
    return Learner(
        without_first(rows),
        fit,
        parts,
        functools.partial(quarter_counted, 1),
        functools.partial(few_counted, 1),
    )


SCALE, OTHERS, SLOW = 10.0, 900, 10.0


def global_scaling() -> Learner:
    """Return global scaling; two steps, of which the first one's count sets Z, by which the second scales all rows.

    The other rows' gradients have length 2, shorter than any likely Z, and are scaled only: in the first step by 1/10,
    in the second by e^(−count/10)/10. The count of the second step sets a Z that nobody sees.
    """
    from dpfair_lib.learners.global_scaling import DPGlobalScalingClassifier

    rows = stacked((1, [SCALE * LONG * 10, 0.0], 1, 0), (OTHERS, [0.0, 4.0], 1, 0))

    def parts(model: Any) -> Parts:
        own, others = model.coef_[0] / TINY
        noise = deviations(model)
        count = -SLOW * math.log(max(float(others) * SCALE / (2 * OTHERS) - 1, 1e-3))
        return Parts(float(own) / noise.gradients**2, count / noise.counts**2)

    fit = counted(DPGlobalScalingClassifier, 2, SLOW, scale_norm=SCALE, scale_rate=0.0)
    return Learner(
        without_first(rows),
        fit,
        parts,
        functools.partial(quarter_counted, 2),
        functools.partial(few_counted, 2),
    )


SELECTED, REJECTED, OTHER_GROUP, ALLOWED = 65, 13, 600, 0.2


def lagrangian() -> Learner:
    """Return the Lagrangian; two steps, after which a multiplier shows the second step's rates.

    At first all scores are 0 and nobody is selected: no gap is above γ, and multipliers stay 0. Then the weight is
    surely positive, and most of the record's group is selected, but not the record. A group's rate moves most by one
    more who is not selected, since those are few. The multiplier grows by the gap less γ, and is released.
    """
    from dpfair_lib.learners.constrained.lagrangian import DPLagrangianClassifier

    rows = stacked(
        (1, [-LONG], 0, 1), (REJECTED, [-LONG], 0, 1), (SELECTED, [LONG], 1, 1), (OTHER_GROUP, [-LONG], 0, 0)
    )

    def parts(model: Any) -> Parts:
        noise, gap = deviations(model), max(float(model.multipliers_[0, 0, 1]) + ALLOWED, 0.01)
        # gap = SELECTED/t − SELECTED/(t + OTHER_GROUP), t the size of the record's group
        size = (math.sqrt(OTHER_GROUP**2 + 4 * SELECTED * OTHER_GROUP / gap) - OTHER_GROUP) / 2
        return Parts(float(model.coef_[0, 0]) / TINY / noise.gradients**2, size / noise.counts**2)

    fit = counted(
        DPLagrangianClassifier, 2, 1.0, notion="demographic_parity", gamma=ALLOWED, multiplier_rate=1.0, memory=0.0,
        groups=(0, 1),
    )  # fmt: skip
    return Learner(
        without_first(rows),
        fit,
        parts,
        functools.partial(quarter_counted, 2),
        functools.partial(few_counted, 2),
    )
