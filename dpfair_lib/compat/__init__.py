"""CGKM: which of fair, accurate and private go together, the exponential learner, private no-regret dynamics."""

from dpfair_lib.compat.no_regret import PrivateNoRegretFair

__all__ = ["PrivateNoRegretFair"]
