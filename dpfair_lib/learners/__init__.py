"""Private learners in scikit-learn's style; PyTorch and Opacus are imported when a model is fitted."""

from dpfair_lib.learners.fermi import DPFermiClassifier
from dpfair_lib.learners.logistic import DPLinearSVM, DPLogisticRegression
from dpfair_lib.learners.output_perturbation import OutputPerturbation

__all__ = ["DPFermiClassifier", "DPLinearSVM", "DPLogisticRegression", "OutputPerturbation"]
