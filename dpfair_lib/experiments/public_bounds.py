"""Public ranges of the numeric columns of Adult and Credit: chosen by hand, not read from the data."""

# By hand, from what the columns mean (an age, hours of a week, amounts in dollars and New Taiwan dollars), in round
# numbers; values beyond are clipped. The benchmarks are so well known that nobody chooses blindly; for data that
# are private, bounds have to be.
BOUNDS: dict[str, tuple[float, float]] = {
    "age": (17, 90), "fnlwgt": (0, 500_000), "education-num": (1, 16), "capital-gain": (0, 20_000),
    "capital-loss": (0, 3_000), "hours-per-week": (0, 80), "LIMIT_BAL": (0, 500_000), "AGE": (18, 80),
    **{f"BILL_AMT{month}": (0.0, 300_000.0) for month in range(1, 7)},
    **{f"PAY_AMT{month}": (0.0, 30_000.0) for month in range(1, 7)},
}  # fmt: skip
