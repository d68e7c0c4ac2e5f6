"""Local differential privacy of a sensitive attribute: channels and what they do to the unfairness of data."""

from dpfair_lib.local.randomizer import Randomizer

__all__ = ["Randomizer"]
