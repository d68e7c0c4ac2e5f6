"""Preparation inside the budget: private or public scaling, imputation, encoding; pipelines; a choice among models."""

from dpfair_lib.preparation.encoding import PublicEncoder
from dpfair_lib.preparation.imputation import PrivateImputer, PublicImputer
from dpfair_lib.preparation.pipeline import PrivatePipeline
from dpfair_lib.preparation.scaling import PrivateScaler, PublicScaler
from dpfair_lib.preparation.selection import PrivateSelection

__all__ = [
    "PrivateImputer",
    "PrivatePipeline",
    "PrivateScaler",
    "PrivateSelection",
    "PublicEncoder",
    "PublicImputer",
    "PublicScaler",
]
