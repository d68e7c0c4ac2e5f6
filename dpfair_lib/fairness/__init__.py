"""Fairness of predictions and of data: selection rates, differences between groups, intervals, linear forms."""

from dpfair_lib.fairness.data import data_unfairness, data_unfairness_from_rates
from dpfair_lib.fairness.draws import expected_parity_difference
from dpfair_lib.fairness.intervals import (
    gap_interval,
    gap_interval_from_rows,
    mean_odds_interval,
    rate_interval,
)
from dpfair_lib.fairness.linear_form import LinearForm, fairness_coefficients, group_fairness
from dpfair_lib.fairness.metrics import (
    accuracy_parity_difference,
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
    mean_equalized_odds_difference,
)
from dpfair_lib.fairness.rates import accuracies, label_rates, population_rates, selection_rates
from dpfair_lib.fairness.ratios import (
    demographic_parity_ratio,
    equal_opportunity_ratio,
    equalized_odds_ratio,
)
from dpfair_lib.fairness.stable_answers import StableAnswers

__all__ = [
    "LinearForm",
    "StableAnswers",
    "accuracies",
    "accuracy_parity_difference",
    "data_unfairness",
    "data_unfairness_from_rates",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "expected_parity_difference",
    "fairness_coefficients",
    "gap_interval",
    "gap_interval_from_rows",
    "group_fairness",
    "label_rates",
    "mean_equalized_odds_difference",
    "mean_odds_interval",
    "population_rates",
    "rate_interval",
    "selection_rates",
]
