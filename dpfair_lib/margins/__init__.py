"""Margins of linear classifiers, and bounds on the group fairness of every model near a given one.

`dpfair_lib.margins` is a package and a function. ``margins(scores, y)`` returns the margin of each row: the score of
the true label minus the largest score of another label. The prediction is right where it is positive.

Source: Mangold, Perrot, Bellet and Tommasi (ICML 2023), Differential Privacy has Bounded Impact on Fairness in
Classification.

Examples
--------
For two labels give one score for each row, positive for the label 1. The second row is predicted wrongly.

>>> import dpfair_lib as dpf
>>> dpf.margins([2.0, -0.5, -1.0], [1, 1, 0])
array([ 2. , -0.5,  1. ])
"""

import sys
from types import ModuleType
from typing import Any

from dpfair_lib.margins.certificate import FairnessCertificate, fairness_certificate
from dpfair_lib.margins.margins import margin_lipschitz, margins

__all__ = ["FairnessCertificate", "fairness_certificate", "margin_lipschitz", "margins"]


class _Room(ModuleType):
    # importing any module of the room makes `dpfair_lib.margins` the room, whatever the public surface says
    def __call__(self, scores: Any, y: Any) -> Any:
        return margins(scores, y)


sys.modules[__name__].__class__ = _Room
