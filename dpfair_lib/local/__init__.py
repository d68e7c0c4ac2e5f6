"""Local differential privacy of a sensitive attribute: channels and what they do to the unfairness of data."""

from dpfair_lib.local.binary import binary_optimum
from dpfair_lib.local.randomizer import Randomizer
from dpfair_lib.local.response import generalized_randomized_response
from dpfair_lib.local.subsets import subset_selection

__all__ = ["Randomizer", "binary_optimum", "generalized_randomized_response", "subset_selection"]
