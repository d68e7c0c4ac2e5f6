"""How often something is chosen, over many seeds."""

import numpy as np


def choices_of(chosen, runs=1200):
    """Return the share of seeds at which a choice comes out true."""
    return float(np.mean([chosen(seed) for seed in range(runs)]))
