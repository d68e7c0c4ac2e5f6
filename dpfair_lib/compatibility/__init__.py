"""CGKM: which of fair, accurate and private go together, the exponential learner, private no-regret dynamics."""

from dpfair_lib.compatibility.impossibility.acceptable import acceptable_hypotheses
from dpfair_lib.compatibility.impossibility.criteria import beats_constants, fair_within
from dpfair_lib.compatibility.impossibility.feasibility import pure_dp_feasible
from dpfair_lib.compatibility.private_learner.exponential_learner import ExponentialFairLearner
from dpfair_lib.compatibility.subgroup_fairness.no_regret import PrivateNoRegretFair

__all__ = [
    "ExponentialFairLearner",
    "PrivateNoRegretFair",
    "acceptable_hypotheses",
    "beats_constants",
    "fair_within",
    "pure_dp_feasible",
]
