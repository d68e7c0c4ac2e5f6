"""The whole public surface."""

from .central import FairPostprocessor as FairPostprocessor
from .central import PrivateFairPostprocessor as PrivateFairPostprocessor
from .central import change_lower_bound as change_lower_bound
from .central import expected_parity_bound as expected_parity_bound
from .central import optimal_change as optimal_change
from .central import parity_bound as parity_bound
from .central import parity_violation_probability as parity_violation_probability
from .datasets import Dataset as Dataset
from .datasets import load as load
from .datasets import synthetic as synthetic
from .fairness import accuracy_parity_difference as accuracy_parity_difference
from .fairness import data_unfairness as data_unfairness
from .fairness import data_unfairness_from_rates as data_unfairness_from_rates
from .fairness import demographic_parity_difference as demographic_parity_difference
from .fairness import equal_opportunity_difference as equal_opportunity_difference
from .fairness import mean_equalized_odds_difference as mean_equalized_odds_difference
from .fairness import selection_rates as selection_rates
from .learners import DPFermiClassifier as DPFermiClassifier
from .learners import DPLogisticRegression as DPLogisticRegression
from .learners import OutputPerturbation as OutputPerturbation
from .local import FairProjection as FairProjection
from .local import Randomizer as Randomizer
from .local import binary_optimum as binary_optimum
from .local import generalized_randomized_response as generalized_randomized_response
from .local import optimal_randomizer as optimal_randomizer
from .local import smallest_error as smallest_error
from .local import subset_selection as subset_selection
from .margins.radius import output_perturbation_radius as output_perturbation_radius
from .margins.radius import strong_convexity as strong_convexity
from .populations import Population as Population
from .privacy import AuditResult as AuditResult
from .privacy import Budget as Budget
from .privacy import PrivacyStatement as PrivacyStatement
from .privacy import audit as audit
from .privacy import compose as compose
from .privacy import dp_sgd_epsilon as dp_sgd_epsilon
from .privacy import dp_sgd_noise as dp_sgd_noise
from .privacy import gaussian_delta as gaussian_delta
from .privacy import gaussian_sigma as gaussian_sigma

__version__: str
