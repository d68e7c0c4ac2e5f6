"""Margins of classifiers, and how far privacy can move predictions (MPBT)."""
