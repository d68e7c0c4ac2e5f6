"""Data sets: found or fetched, verified against pinned checksums, prepared; and their stand-ins.

A data set is one module with a `Spec` (`acs_income`, `adult`, `adult_26k`, `celeba`, `compas`, `credit`, `lsac`),
entered in `loading.SPECS`, and its pins and facts in the two TOML files, which `record` computes.
"""

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
