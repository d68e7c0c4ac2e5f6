"""Fair support vector machines: perturbed support vectors, and private post-processing for equalized odds."""

from dpfair_lib.svm.equalized_odds import EqualizedOddsPostprocessor
from dpfair_lib.svm.linf_bounds import generic_linf_bound, svm_linf_bound
from dpfair_lib.svm.perturbation import SupportVectorPerturbation

__all__ = [
    "EqualizedOddsPostprocessor",
    "SupportVectorPerturbation",
    "generic_linf_bound",
    "svm_linf_bound",
]
