"""The sentences on Figures 5.1–5.10 written out a second time: what each compares, as means of the recorded rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from dpfair_lib.experiments.thesis.randomised_training_records import trials

TWO = "adult-gender", "lsac-gender"
MORE = "adult-race", "lsac-family-income", "adult-race-gender"
UTILITY, GAPS, SIGNED = ("accuracy", "f1"), ("parity", "opportunity"), ("parity signed", "opportunity signed")
LEVELS = {False: (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 20.0), True: (0.5, 2.0, 8.0, 20.0)}
SMALL, MIDDLE, LARGE = (0.25, 0.5, 1.0), (2.0, 4.0), (8.0, 10.0, 20.0)
SETS = {"adult-race": (0.25, 0.5), "lsac-family-income": (0.25, 0.5), "adult-race-gender": (0.25, 0.5, 1.0)}
"""Where a report of SS is more than one value: e^ε < 2k/3 − 1."""


class Written(NamedTuple):
    """What a sentence says of its contrasts, the margin, and the contrasts' means, in ascending order."""

    kind: str
    margin: float
    means: list[float]


def written_means(*, tuned: bool) -> dict[str, Written]:
    """Return every sentence by its name, of the default learner's trials or of the tuned one's."""
    numbers = [*UTILITY, *GAPS, *SIGNED]
    table = (
        trials(tuned=tuned).fillna({"epsilon": 0.0}).groupby(["setting", "method", "epsilon"])[numbers].mean()
    )
    mean = table.to_dict("index")

    def less(of: str, at: str, epsilon: float, other: str, times: float = 1.0, method: str = "OPT") -> float:
        beside = mean[at, other, 0.0 if other in ("none", "left out") else epsilon]
        return float(mean[at, method, epsilon][of] - times * beside[of])

    return {
        name: Written(kind, margin, sorted(means))
        for name, (kind, margin, means) in _list(mean, less, tuned).items()
    }


def _list(
    mean: dict[Any, Any], less: Callable[..., float], tuned: bool
) -> dict[str, tuple[str, float, list[float]]]:
    every = LEVELS[tuned]
    small, middle, large = ([e for e in every if e in part] for part in (SMALL, MIDDLE, LARGE))

    def averaged(of: str, at: str, other: str, times: float = 1.0) -> float:
        return sum(less(of, at, e, other, times) for e in large) / len(large)

    def beside(
        settings: tuple[str, ...], measures: tuple[str, ...], levels: Sequence[float], *others: str
    ) -> list[float]:
        return [
            less(of, at, e, other) for at in settings for of in measures for e in levels for other in others
        ]

    def sets(measures: tuple[str, ...]) -> list[float]:
        return [less(of, at, e, "SS") for at in MORE for of in measures for e in every if e in SETS[at]]

    def rounded(name: str) -> list[float]:
        return [less(of, at, e, "GRR", method=name) for at in MORE for of in GAPS for e in large]

    last, plain = [every[-1]], "RR, as true as OPT"
    adult, lsac, ten = TWO[0], TWO[1], MORE[-1]
    widening = [less(of, at, last[0], "GRR") - less(of, at, every[0], "GRR") for at in TWO for of in GAPS]
    ends = [mean[adult, "none", 0.0][of] - mean[ten, "none", 0.0][of] for of in GAPS]
    true = [less(of, at, e, "OPT", method=plain) for at in TWO for of in GAPS for e in every]
    smaller = {
        "gaps, Adult": beside((adult,), GAPS, every, "GRR", "none"),
        "gaps, LSAC": beside((lsac,), GAPS, every, "GRR", "none"),
        "gaps, small ε": beside(TWO, GAPS, small, "GRR"),
        "widening": widening,
        "less than none, LSAC, signed": [averaged(of, lsac, "none") for of in SIGNED],
        "almost half, LSAC, signed": [averaged(of, lsac, o, 0.75) for of in SIGNED for o in ("GRR", "none")],
        "almost half, LSAC": [averaged(of, lsac, other, 0.75) for of in GAPS for other in ("GRR", "none")],
        "2 %, Adult, in proportion": [averaged(of, adult, "none", 0.98) for of in GAPS],
        "no convergence": beside(TWO, GAPS, last, "none"),
        "beyond a threshold": beside(MORE, GAPS, large, "GRR"),
        "beyond a threshold, middle ε": beside(MORE, GAPS, middle, "GRR"),
        "beyond a threshold, ζ to hundredths": rounded("OPT, ζ to hundredths"),
        "beyond a threshold, ζ to tenths": rounded("OPT, ζ to tenths"),
        "more groups, larger gaps": ends,
        "effective for ten groups": beside((ten,), GAPS, every, "none"),
        "effective for five groups": beside(MORE[:2], GAPS, every, "none"),
        "against leaving out": beside((*TWO, *MORE), GAPS, every, "left out"),
        "plain response of OPT's truth": true,
    }
    alike = {
        "utility, two groups": (0.01, beside(TWO, UTILITY, every, "GRR", "none")),
        "utility, more groups": (0.01, beside(MORE, UTILITY, every, "GRR", "none") + sets(UTILITY)),
        "similar for small ε": (0.02, beside(MORE, GAPS, small, "GRR") + sets(GAPS)),
    }
    points = {"2 %, Adult, in points": ("smaller", -0.02, [averaged(of, adult, "none") for of in GAPS])}
    return (
        {name: ("smaller", 0.0, means) for name, means in smaller.items()}
        | {name: ("alike", margin, means) for name, (margin, means) in alike.items()}
        | points
    )
