"""CGKM: which of fair, accurate and private go together, the exponential learner, private no-regret dynamics."""
