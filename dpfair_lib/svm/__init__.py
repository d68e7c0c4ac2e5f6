"""Support vectors and what is done to a trained classifier after training: the methods of SK and its baseline."""

from dpfair_lib.svm.equalized_odds import EqualizedOddsPostprocessor

__all__ = ["EqualizedOddsPostprocessor"]
