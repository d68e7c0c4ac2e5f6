"""What `dpfair_lib.central` offers; each name is imported when it is first used."""

from .bounds import change_lower_bound as change_lower_bound
from .bounds import optimal_change as optimal_change
from .changes import changes_probability as changes_probability
from .changes import changes_quantile as changes_quantile
from .changes import excess_change_bound as excess_change_bound
from .changes import expected_changes as expected_changes
from .parity import excess_change_probability as excess_change_probability
from .parity import expected_parity_bound as expected_parity_bound
from .parity import expected_parity_gap as expected_parity_gap
from .parity import gap_quantile as gap_quantile
from .parity import parity_bound as parity_bound
from .parity import parity_violation_probability as parity_violation_probability
from .parity import rate_errors as rate_errors
from .planning import BudgetSplit as BudgetSplit
from .planning import adjustment_share as adjustment_share
from .planning import groups_too_small as groups_too_small
from .planning import merged_parity_bound as merged_parity_bound
from .planning import records_needed as records_needed
from .planning import split_budget as split_budget
from .postprocessor import FairPostprocessor as FairPostprocessor
from .private_classifier import PrivateFairClassifier as PrivateFairClassifier
from .private_postprocessor import PrivateFairPostprocessor as PrivateFairPostprocessor
from .several_groups.odds_law import expected_odds_gap_bounds as expected_odds_gap_bounds
from .several_groups.odds_law import odds_gap_quantile as odds_gap_quantile
from .several_groups.odds_law import odds_records_needed as odds_records_needed
from .several_groups.odds_law import odds_violation_bounds as odds_violation_bounds
from .several_groups.opportunity import opportunity_bound as opportunity_bound
from .several_groups.opportunity import opportunity_errors as opportunity_errors
from .several_groups.opportunity_law import expected_opportunity_gap as expected_opportunity_gap
from .several_groups.opportunity_law import opportunity_gap_quantile as opportunity_gap_quantile
from .several_groups.opportunity_law import (
    opportunity_violation_probability as opportunity_violation_probability,
)
from .shared_rows import rate_bias_bound as rate_bias_bound
