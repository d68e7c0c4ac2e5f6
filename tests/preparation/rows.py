"""Rows of people with every kind of cell, for the tests of this folder."""

import numpy as np
import pandas as pd

import dpfair_lib as dpf

ODD = [None, np.nan, pd.NA, "x", "0.5", "", b"1", [1], {}, 1j, 10**400, -(10**400), np.inf, -np.inf, True,
       np.bool_(False), pd.Timestamp(2020, 1, 1), np.array([1.0]), np.longdouble("1e4000"), float, 3,
       -0.0, 5e-324]  # fmt: skip
"""What a cell may hold."""


def odd_table():
    """Return a frame whose three columns hold everything in `ODD`, in different orders."""
    held = np.empty((len(ODD), 3), dtype=object)
    for at in range(len(ODD)):
        held[at, 0], held[at, 1], held[at, 2] = ODD[at], ODD[-at], ODD[(7 * at) % len(ODD)]
    return pd.DataFrame(held, columns=["a", "b", "c"])


def transformers(noise="study"):
    """Return each transformer with columns a and b declared."""
    bounds, given = (
        {"a": (-1.0, 2.0), "b": (0, 5)},
        {"noise": noise, "random_state": 0 if noise == "study" else None},
    )
    return {
        "public scaler": dpf.PublicScaler(bounds),
        "private scaler": dpf.PrivateScaler(bounds, epsilon=1.0, **given),
        "public imputer": dpf.PublicImputer({"a": 1, "b": "none"}),
        "private imputer": dpf.PrivateImputer({"a": (-1, 2)}, {"b": ["x", 3]}, epsilon=1.0, **given),
        "encoder": dpf.PublicEncoder({"a": [1, "x"], "b": [True, 0]}),
    }
