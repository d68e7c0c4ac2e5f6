"""What `dpfair_lib.learners` offers; each name is imported when it is first used."""

from .constrained.exponentiated_gradient import PrivateExponentiatedGradient as PrivateExponentiatedGradient
from .constrained.lagrangian import DPLagrangianClassifier as DPLagrangianClassifier
from .counted_clipping import DPGroupClippingClassifier as DPGroupClippingClassifier
from .fermi import DPFermiClassifier as DPFermiClassifier
from .functional import FairFunctionalClassifier as FairFunctionalClassifier
from .global_scaling import DPGlobalScalingClassifier as DPGlobalScalingClassifier
from .logistic import DPLinearSVM as DPLinearSVM
from .logistic import DPLogisticRegression as DPLogisticRegression
from .networks.network import DPNetworkClassifier as DPNetworkClassifier
from .objective_perturbation import ObjectivePerturbation as ObjectivePerturbation
from .output_perturbation import OutputPerturbation as OutputPerturbation
