"""Local differential privacy: randomisers of one attribute, the fairest among them, and fair projections."""

from dpfair_lib.local.binary import binary_optimum
from dpfair_lib.local.fair_projection import FairProjection
from dpfair_lib.local.files import CutOffWarning, SecondReportWarning, randomize_file
from dpfair_lib.local.frames import LabelError, randomize_frame
from dpfair_lib.local.optimal.certificate import Certificate, Multipliers, verify_certificate
from dpfair_lib.local.optimal.closed_forms import smallest_error
from dpfair_lib.local.optimal.fair_error import FairError, fair_error_bounds, smallest_fair_error
from dpfair_lib.local.optimal.search import optimal_randomizer
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.response import generalized_randomized_response
from dpfair_lib.local.subsets import subset_selection

__all__ = [
    "Certificate",
    "CutOffWarning",
    "FairError",
    "FairProjection",
    "LabelError",
    "Multipliers",
    "Randomizer",
    "SecondReportWarning",
    "binary_optimum",
    "fair_error_bounds",
    "generalized_randomized_response",
    "optimal_randomizer",
    "randomize_file",
    "randomize_frame",
    "smallest_error",
    "smallest_fair_error",
    "subset_selection",
    "verify_certificate",
]
