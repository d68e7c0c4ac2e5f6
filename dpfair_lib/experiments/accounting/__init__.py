"""Experiments about accounting: what several releases cost together, by several ways to count."""
