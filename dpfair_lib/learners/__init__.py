"""Private training of linear classifiers: DP-SGD, output perturbation, and fair training with DP-FERMI."""

from dpfair_lib.learners.fermi import DPFermiClassifier
from dpfair_lib.learners.logistic import DPLinearSVM, DPLogisticRegression
from dpfair_lib.learners.output_perturbation import OutputPerturbation

__all__ = ["DPFermiClassifier", "DPLinearSVM", "DPLogisticRegression", "OutputPerturbation"]
