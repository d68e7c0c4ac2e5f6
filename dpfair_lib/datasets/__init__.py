"""Data sets (Adult, Credit, COMPAS, LSAC, CelebA, ACS): loading, verifying, splitting, and synthetic substitutes."""

from dpfair_lib.datasets.canonical_table import DataError
from dpfair_lib.datasets.loading import load, load_table
from dpfair_lib.datasets.spec import DataCard, Dataset
from dpfair_lib.datasets.splits import Split, check_groups, split_isit, standardize
from dpfair_lib.datasets.standin import synthetic

__all__ = [
    "DataCard",
    "DataError",
    "Dataset",
    "Split",
    "check_groups",
    "load",
    "load_table",
    "split_isit",
    "standardize",
    "synthetic",
]
