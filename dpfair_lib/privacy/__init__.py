"""Differential privacy: statements and their composition, noise, calibration, accounting, auditing, attacks."""

from dpfair_lib.privacy.accounting import (
    EpsilonInterval,
    dp_sgd_epsilon,
    dp_sgd_noise,
    dp_sgd_statement,
    prv_interval,
)
from dpfair_lib.privacy.accounting_lower import dp_sgd_epsilon_lower_bound, pld_interval
from dpfair_lib.privacy.attacks import averaging_attack, laplace_bits_attack, last_bits_attack
from dpfair_lib.privacy.auditing import AuditResult, Event, audit, audit_approximate
from dpfair_lib.privacy.budgets.budget import Budget, BudgetExceededError, Remaining
from dpfair_lib.privacy.budgets.dp_events import TranslatedReleases, to_dp_event
from dpfair_lib.privacy.budgets.joint_statements import compose
from dpfair_lib.privacy.budgets.open_budgets import released_values
from dpfair_lib.privacy.budgets.random_stopping import (
    mean_runs,
    poisson_stopped_renyi,
    stopped_epsilon,
    stopped_renyi,
)
from dpfair_lib.privacy.composition import (
    advanced_composition,
    basic_composition,
    divided_epsilon,
    optimal_composition_delta,
    optimal_composition_delta_from_odds,
    optimal_composition_epsilon,
)
from dpfair_lib.privacy.concentrated import composed_zcdp, zcdp_delta, zcdp_epsilon, zcdp_from_pure
from dpfair_lib.privacy.exponential import ExponentialMechanism
from dpfair_lib.privacy.gaussian import (
    GaussianMechanism,
    classical_sigma_formula,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_log_delta,
    gaussian_sigma,
)
from dpfair_lib.privacy.laplace import DiscreteLaplaceMechanism, LaplaceMechanism
from dpfair_lib.privacy.laplace_composition import laplace_composition_delta
from dpfair_lib.privacy.laplace_vector import laplace_vector_loss, largest_error_bound, largest_error_tail
from dpfair_lib.privacy.mechanisms import Mechanism, total_epsilon
from dpfair_lib.privacy.noise_source import STUDY_NOTE, mark_noise
from dpfair_lib.privacy.response import RandomizedResponse, pure_profile
from dpfair_lib.privacy.sampling import add_discrete_laplace_noise, add_gaussian_noise, add_laplace_noise
from dpfair_lib.privacy.statements import RELATIONS, PrivacyStatement, convert, without_guarantee

__all__ = [
    "RELATIONS",
    "STUDY_NOTE",
    "AuditResult",
    "Budget",
    "BudgetExceededError",
    "DiscreteLaplaceMechanism",
    "EpsilonInterval",
    "Event",
    "ExponentialMechanism",
    "GaussianMechanism",
    "LaplaceMechanism",
    "Mechanism",
    "PrivacyStatement",
    "RandomizedResponse",
    "Remaining",
    "TranslatedReleases",
    "add_discrete_laplace_noise",
    "add_gaussian_noise",
    "add_laplace_noise",
    "advanced_composition",
    "audit",
    "audit_approximate",
    "averaging_attack",
    "basic_composition",
    "classical_sigma_formula",
    "compose",
    "composed_zcdp",
    "convert",
    "divided_epsilon",
    "dp_sgd_epsilon",
    "dp_sgd_epsilon_lower_bound",
    "dp_sgd_noise",
    "dp_sgd_statement",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_log_delta",
    "gaussian_sigma",
    "laplace_bits_attack",
    "laplace_composition_delta",
    "laplace_vector_loss",
    "largest_error_bound",
    "largest_error_tail",
    "last_bits_attack",
    "mark_noise",
    "mean_runs",
    "optimal_composition_delta",
    "optimal_composition_delta_from_odds",
    "optimal_composition_epsilon",
    "pld_interval",
    "poisson_stopped_renyi",
    "prv_interval",
    "pure_profile",
    "released_values",
    "stopped_epsilon",
    "stopped_renyi",
    "to_dp_event",
    "total_epsilon",
    "without_guarantee",
    "zcdp_delta",
    "zcdp_epsilon",
    "zcdp_from_pure",
]
