"""Private training of linear classifiers and small networks: DP-SGD, output and objective perturbation, fairness."""

from dpfair_lib.learners.constrained.exponentiated_gradient import PrivateExponentiatedGradient
from dpfair_lib.learners.constrained.lagrangian import DPLagrangianClassifier
from dpfair_lib.learners.counted_clipping import DPGroupClippingClassifier
from dpfair_lib.learners.fermi import DPFermiClassifier
from dpfair_lib.learners.functional import FairFunctionalClassifier
from dpfair_lib.learners.global_scaling import DPGlobalScalingClassifier
from dpfair_lib.learners.logistic import DPLinearSVM, DPLogisticRegression
from dpfair_lib.learners.networks.network import DPNetworkClassifier
from dpfair_lib.learners.objective_perturbation import ObjectivePerturbation
from dpfair_lib.learners.output_perturbation import OutputPerturbation

__all__ = [
    "DPFermiClassifier",
    "DPGlobalScalingClassifier",
    "DPGroupClippingClassifier",
    "DPLagrangianClassifier",
    "DPLinearSVM",
    "DPLogisticRegression",
    "DPNetworkClassifier",
    "FairFunctionalClassifier",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "PrivateExponentiatedGradient",
]
