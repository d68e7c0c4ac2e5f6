"""Packages that only parts of the library need, and the extras that install them.

The core runs on NumPy, SciPy, scikit-learn, pandas and lazy-loader. Every import of another package stands where it is
used, under `extra`, which says how to install what is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Extra(NamedTuple):
    """What an extra is for, and the modules that it brings."""

    purpose: str
    modules: tuple[str, ...]


EXTRAS = {
    "secure": Extra("secure noise", ("opendp",)),
    "accounting": Extra("accounting of privacy losses", ("dp_accounting", "prv_accountant")),
    "learners": Extra("training with torch", ("torch", "opacus")),
    "solver": Extra("the solvers HiGHS and Clarabel", ("highspy", "clarabel")),
    "files": Extra(
        "Parquet, downloads and workbooks", ("pyarrow", "pooch", "platformdirs", "requests", "xlrd")
    ),
    "figures": Extra("figures", ("matplotlib", "cycler", "lightgbm")),
    "cluster": Extra("a Dask cluster", ("distributed",)),
    "peers": Extra("comparison with fairlearn", ("fairlearn",)),
}
"""Each extra of pyproject.toml that brings packages of its own; ``claims`` and ``all`` are made of these."""


class MissingExtraError(ImportError):
    """A package is missing that an extra installs; the message says which."""


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Let the imports inside say, if a package is missing, which extra installs it.

    Parameters
    ----------
    name : str
        A key of `EXTRAS`.

    Raises
    ------
    MissingExtraError
        If a module of the extra is missing.

    Examples
    --------
    >>> from dpfair_lib._extras import extra
    >>> with extra("solver"):
    ...     import highspy
    """
    purpose, modules = EXTRAS[name]
    try:
        yield
    except ModuleNotFoundError as absent:
        package = (absent.name or "").partition(".")[0]
        if package not in modules:  # of another package, or a fault of our own
            raise
        raise MissingExtraError(
            f"{package}: found no such package, needed for {purpose}, expected the extra {name!r}: "
            f'pip install "dpfair-lib[{name}]"',
            name=package,
        ) from absent
