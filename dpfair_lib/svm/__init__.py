"""Fair support vector machines: perturbed support vectors, and private post-processing for equalized odds."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
