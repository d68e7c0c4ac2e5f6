"""Algorithm 3 of CGKM, no-regret dynamics for subgroup fairness: as printed, and with private access to the data."""
