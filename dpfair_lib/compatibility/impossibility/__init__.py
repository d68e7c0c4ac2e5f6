"""Theorem 1 of CGKM: when fairness, accuracy and pure privacy exclude one another; all exact."""
