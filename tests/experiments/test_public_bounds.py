import numpy as np

from dpfair_lib import synthetic
from dpfair_lib.experiments.public_bounds import BOUNDS


def test_every_numeric_column_has_public_bounds():
    for name in ("adult", "credit"):
        dataset = synthetic(name, n=100, random_state=0)
        assert set(dataset.numeric_features) <= set(BOUNDS)
    assert all(low < high for low, high in BOUNDS.values())
    assert np.isfinite(list(BOUNDS.values())).all()
