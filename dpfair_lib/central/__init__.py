"""Fair post-processing under central differential privacy (ISIT; thesis, chapter 3)."""

from dpfair_lib.central.bounds import change_lower_bound, optimal_change
from dpfair_lib.central.postprocessor import FairPostprocessor

__all__ = ["FairPostprocessor", "change_lower_bound", "optimal_change"]
