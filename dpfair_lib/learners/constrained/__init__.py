"""Private learning under fairness constraints, whose multipliers are released with noise."""
