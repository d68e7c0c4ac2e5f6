"""Experiments with the algorithms of CGKM, a paper without experiments of its own."""
