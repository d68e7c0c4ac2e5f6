"""Finite distributions of features, group and label, with known (where wanted, exact) probabilities."""

from dpfair_lib.populations.population import Population

__all__ = ["Population"]
