"""Compatibility of privacy, fairness and accuracy: impossibility results, and private learners with fairness goals.

Source: Cummings, Gupta, Kimpara and Morgenstern (2019), On the Compatibility of Privacy and Fairness.
"""

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
