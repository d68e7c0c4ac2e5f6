"""Printed tables and figures, counted a second time from the recorded trials, in fractions."""
