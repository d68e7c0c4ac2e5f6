"""Forty records with two classes, and settings of DP-SGD without noise on them."""

import numpy as np
import torch

from dpfair_lib.learners.settings import Steps

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) * [0.5, 1.0, 4.0]
Y = (X @ [1.0, -1.0, 0.3] + RNG.normal(size=40) > 0).astype(int)
CPU = torch.device("cpu")


def seeds(n, entropy=0):
    return np.random.SeedSequence(entropy).spawn(n)


def settings(**changes):
    plain = {
        "noise_multiplier": 0.0, "max_grad_norm": 1.5, "sample_rate": 1.0, "count": 1, "learning_rate": 1.0,
        "fit_intercept": True,
    }  # fmt: skip
    return Steps(**{**plain, **changes})
