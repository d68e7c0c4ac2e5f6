"""Finite distributions of (X, A, Y) with exact probabilities: the test bench of every theorem."""

from dpfair_lib.populations.population import Population

__all__ = ["Population"]
