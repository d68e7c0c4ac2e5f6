"""Universes, draws and laws that the checks of private learning beside fairness share."""
