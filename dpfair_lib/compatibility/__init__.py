"""Compatibility of privacy, fairness and accuracy: impossibility results, and private learners with fairness goals.

Source: Cummings, Gupta, Kimpara and Morgenstern (2019), On the Compatibility of Privacy and Fairness.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
