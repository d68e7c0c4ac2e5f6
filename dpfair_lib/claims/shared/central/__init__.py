"""Universes and programs that the checks of noisy rates, least changes and least gaps share."""
