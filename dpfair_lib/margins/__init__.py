"""Margins of linear classifiers, and what they say of the group fairness of every model nearby (MPBT).

The room bears the name of its first function, and calling it calls that: ``dpfair_lib.margins(scores, y)``.
"""

import sys
from types import ModuleType

from dpfair_lib.margins.certificate import FairnessCertificate, fairness_certificate
from dpfair_lib.margins.margins import margin_lipschitz, margins

__all__ = ["FairnessCertificate", "fairness_certificate", "margin_lipschitz", "margins"]


class _Room(ModuleType):
    # importing any module of the room makes `dpfair_lib.margins` the room, whatever the public surface says
    __call__ = staticmethod(margins)


sys.modules[__name__].__class__ = _Room
