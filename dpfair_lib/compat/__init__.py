"""CGKM: which of fair, accurate and private go together, the exponential learner, private no-regret dynamics."""

from dpfair_lib.compat.acceptable import acceptable_hypotheses
from dpfair_lib.compat.criteria import beats_constants, fair_within
from dpfair_lib.compat.exponential_learner import ExponentialFairLearner
from dpfair_lib.compat.feasibility import pure_dp_feasible
from dpfair_lib.compat.no_regret import PrivateNoRegretFair

__all__ = [
    "ExponentialFairLearner",
    "PrivateNoRegretFair",
    "acceptable_hypotheses",
    "beats_constants",
    "fair_within",
    "pure_dp_feasible",
]
