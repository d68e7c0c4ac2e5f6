"""Experiments with the methods of SK, a paper without experiments of its own."""
