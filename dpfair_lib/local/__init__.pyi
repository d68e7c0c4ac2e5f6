"""What `dpfair_lib.local` offers; each name is imported when it is first used."""

from .binary import binary_optimum as binary_optimum
from .channel_audit import ChannelAudit as ChannelAudit
from .channel_audit import audit_channel as audit_channel
from .estimation import FrequencyEstimate as FrequencyEstimate
from .estimation import RateEstimate as RateEstimate
from .estimation import estimate_frequencies as estimate_frequencies
from .estimation import estimate_rates as estimate_rates
from .fair_projection import FairProjection as FairProjection
from .files import CutOffWarning as CutOffWarning
from .files import SecondReportWarning as SecondReportWarning
from .files import randomize_columns as randomize_columns
from .files import randomize_file as randomize_file
from .frames import LabelError as LabelError
from .frames import randomize_frame as randomize_frame
from .optimal.certificate import Certificate as Certificate
from .optimal.certificate import Multipliers as Multipliers
from .optimal.certificate import verify_certificate as verify_certificate
from .optimal.closed_forms import smallest_error as smallest_error
from .optimal.fair_error import FairError as FairError
from .optimal.fair_error import fair_error_bounds as fair_error_bounds
from .optimal.fair_error import smallest_fair_error as smallest_fair_error
from .optimal.search import optimal_randomizer as optimal_randomizer
from .randomizer import Randomizer as Randomizer
from .reported_columns import ReportedColumn as ReportedColumn
from .response import generalized_randomized_response as generalized_randomized_response
from .subsets import subset_selection as subset_selection
