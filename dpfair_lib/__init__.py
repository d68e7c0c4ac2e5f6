"""Differential privacy and fair classification: every claim with its check.

`__init__.pyi` beside this file is the whole public surface. Names are imported when first used, so that
importing `dpfair_lib` costs little and never imports torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = "0.1.0"
