"""Fair post-processing under central differential privacy: the algorithms, their bounds and exact distributions."""

from dpfair_lib.central.bounds import change_lower_bound, optimal_change
from dpfair_lib.central.parity import (
    excess_change_probability,
    expected_parity_bound,
    expected_parity_gap,
    gap_quantile,
    parity_bound,
    parity_violation_probability,
    rate_errors,
)
from dpfair_lib.central.planning import BudgetSplit, adjustment_share, records_needed, split_budget
from dpfair_lib.central.postprocessor import FairPostprocessor
from dpfair_lib.central.private_classifier import PrivateFairClassifier
from dpfair_lib.central.private_postprocessor import PrivateFairPostprocessor
from dpfair_lib.central.shared_rows import rate_bias_bound

__all__ = [
    "BudgetSplit",
    "FairPostprocessor",
    "PrivateFairClassifier",
    "PrivateFairPostprocessor",
    "adjustment_share",
    "change_lower_bound",
    "excess_change_probability",
    "expected_parity_bound",
    "expected_parity_gap",
    "gap_quantile",
    "optimal_change",
    "parity_bound",
    "parity_violation_probability",
    "rate_bias_bound",
    "rate_errors",
    "records_needed",
    "split_budget",
]
