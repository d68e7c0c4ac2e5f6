"""diffprivlib's logistic regression, run in its own environment on rows that come through a pipe.

A line of JSON says what to do. "rows" has the numbers of rows and features, and is followed by the features and then
the labels as float64; they stay until others come. "fit" has the parameters of one fit. Answers are lines of JSON; the
first one tells the versions.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
from diffprivlib.models import LogisticRegression

PACKAGES = ("diffprivlib", "numpy", "scikit-learn", "scipy")


def answer(content: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


def fitted(features: np.ndarray, labels: np.ndarray, settings: dict[str, Any]) -> dict[str, Any]:
    """Return weights and intercept of one fit, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LogisticRegression(**settings).fit(features, labels)
    words = sorted({each.category.__name__ for each in caught})
    return {
        "weights": np.ravel(model.coef_).tolist(),
        "intercept": float(np.ravel(model.intercept_)[0]),
        "warnings": words,
    }


def main() -> None:
    """Answer line after line until the pipe is closed."""
    inward = sys.stdin.buffer
    answer({"versions": {package: version(package) for package in PACKAGES}})
    features = labels = np.empty(0)
    for line in iter(inward.readline, b""):
        asked = json.loads(line)
        if asked["job"] == "rows":
            n, d = asked["shape"]
            features = np.frombuffer(inward.read(8 * n * d)).reshape(n, d)
            labels = np.frombuffer(inward.read(8 * n))
            answer({"rows": len(labels)})
        else:
            answer(fitted(features, labels, asked["settings"]))


if __name__ == "__main__":
    main()
