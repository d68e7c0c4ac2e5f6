"""What `dpfair_lib.svm` offers; each name is imported when it is first used."""

from .equalized_odds import EqualizedOddsPostprocessor as EqualizedOddsPostprocessor
from .linf_bounds import generic_linf_bound as generic_linf_bound
from .linf_bounds import svm_linf_bound as svm_linf_bound
from .perturbation import SupportVectorPerturbation as SupportVectorPerturbation
