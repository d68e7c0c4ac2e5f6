"""Which rows adjust a classifier, where each row serves one purpose only."""

from __future__ import annotations

import numpy as np

GOLDEN = 0x9E3779B97F4A7C15  # 2⁶⁴ divided by the golden ratio, odd


def held_out(n: int, share: float) -> np.ndarray:
    """Return which of n rows adjust: a share of them, spread evenly over every table that is sorted or periodic.

    Row i is one if the fractional part of i times the golden ratio is below the share. That depends on no row, so
    neighbours differ in one part only.

    Parameters
    ----------
    n : int
        Number of rows.
    share : float
        In (0, 1).

    Returns
    -------
    ndarray of shape (n,), bool
        True for the rows that adjust.
    """
    turned = np.arange(n, dtype=np.uint64) * np.uint64(GOLDEN)  # modulo 2⁶⁴
    return turned < np.uint64(int(share * 2**64))
