"""Experiments with the methods of SK, which prints none."""
