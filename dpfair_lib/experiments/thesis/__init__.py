"""Experiments of the thesis's chapter 5: Figures 5.1–5.10, Tables 5.1–5.4."""
