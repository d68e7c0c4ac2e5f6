"""The whole public surface."""

from .central import FairPostprocessor as FairPostprocessor
from .central import change_lower_bound as change_lower_bound
from .central import optimal_change as optimal_change
from .datasets import Dataset as Dataset
from .datasets import load as load
from .datasets import synthetic as synthetic
from .fairness import demographic_parity_difference as demographic_parity_difference
from .fairness import selection_rates as selection_rates
from .populations import Population as Population

__version__: str
