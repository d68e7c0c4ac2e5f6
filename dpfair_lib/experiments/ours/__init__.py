"""Experiments of no source: what this library releases, audited."""
