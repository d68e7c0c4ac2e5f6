"""Experiments of MPBT: Table 1, Figures 1–3, and how far their bounds can be improved."""
