"""Fairness of predictions, of randomised classifiers, and of data."""

from dpfair_lib.fairness.metrics import demographic_parity_difference, selection_rates

__all__ = ["demographic_parity_difference", "selection_rates"]
