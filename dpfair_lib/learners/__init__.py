"""Private training of linear classifiers: DP-SGD, output and objective perturbation, fair training."""

from dpfair_lib.learners.constrained.exponentiated_gradient import PrivateExponentiatedGradient
from dpfair_lib.learners.constrained.lagrangian import DPLagrangianClassifier
from dpfair_lib.learners.counted_clipping import DPGroupClippingClassifier
from dpfair_lib.learners.fermi import DPFermiClassifier
from dpfair_lib.learners.functional import FairFunctionalClassifier
from dpfair_lib.learners.global_scaling import DPGlobalScalingClassifier
from dpfair_lib.learners.logistic import DPLinearSVM, DPLogisticRegression
from dpfair_lib.learners.objective_perturbation import ObjectivePerturbation
from dpfair_lib.learners.output_perturbation import OutputPerturbation

__all__ = [
    "DPFermiClassifier",
    "DPGlobalScalingClassifier",
    "DPGroupClippingClassifier",
    "DPLagrangianClassifier",
    "DPLinearSVM",
    "DPLogisticRegression",
    "FairFunctionalClassifier",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "PrivateExponentiatedGradient",
]
