"""Private training of linear classifiers and small networks: DP-SGD, output and objective perturbation, fairness."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
