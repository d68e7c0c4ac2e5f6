"""CGKM: which of fair, accurate and private go together, the exponential learner, private no-regret dynamics."""

from dpfair_lib.compat.exponential_learner import ExponentialFairLearner

__all__ = ["ExponentialFairLearner"]
