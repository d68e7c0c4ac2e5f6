"""Experiments with the learners of CGKM, which prints none."""
