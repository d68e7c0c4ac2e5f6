"""What `dpfair_lib.compatibility` offers; each name is imported when it is first used."""

from .impossibility.acceptable import acceptable_hypotheses as acceptable_hypotheses
from .impossibility.criteria import beats_constants as beats_constants
from .impossibility.criteria import fair_within as fair_within
from .impossibility.feasibility import pure_dp_feasible as pure_dp_feasible
from .private_learner.exponential_learner import ExponentialFairLearner as ExponentialFairLearner
from .subgroup_fairness.no_regret import PrivateNoRegretFair as PrivateNoRegretFair
