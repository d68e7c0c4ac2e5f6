"""MPBT, after Theorem 3.1: what a margin of at least L‖h − h′‖ keeps, the prediction or whether it is right."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.margins.certificate_samples import correctness
from dpfair_lib.margins.margins import margins

SCORES = range(4)


def check(
    *,
    keeps_correctness: Callable[..., np.ndarray] = lambda margin, reach: np.abs(margin) > reach,
    keeps_prediction: Callable[..., np.ndarray] = lambda margin, reach: margin > reach,
    search: Search,
) -> Evidence:
    """Judge all pairs of linear models on one row x = 1, with L = √2‖x‖; the printed sentence with its L = 2‖x‖.

    The printed sentence holds where the prediction is right, or where there are two labels.
    """
    for labels in (2, 3):
        vectors = np.array(list(itertools.product(SCORES, repeat=labels)))
        first, second = np.divmod(np.arange(len(vectors) ** 2), len(vectors))
        here, there = vectors[first], vectors[second]
        square = ((here - there) ** 2).sum(1)
        reach = np.sqrt(2 * square)  # exactly the least L times the distance; its square is a whole number
        chosen = (here == here.max(1, keepdims=True)).astype(int)
        chosen_there = (there == there.max(1, keepdims=True)).astype(int)
        same = (chosen == chosen_there).all(1).astype(int)
        for label in range(labels):
            search.part("printed")
            y = np.full(len(here), label)
            rho = np.rint(margins(here, y)).astype(int)
            apart = (chosen & chosen_there).sum(
                1
            ) == 0  # not even a common label among those tied for the best
            broken = np.where((rho**2 >= 4 * square) & (same == 0), 1 + apart, 0)
            case = {"h": here, "h′": there, "y": label}
            search.under((rho > 0) | (labels == 2), -broken, case, verify=printed_slack)
            search.part("kept correctness")
            right, right_there = correctness(here, y), correctness(there, y)
            case = {"h": here, "h′": there, "y": label}
            # the judgement of the boundary is in whole numbers: √ rounds correctly, and ρ² = 2d² has no whole solution
            # but where 2d² is a square, whose root is exact
            certified = keeps_correctness(rho, reach)
            search.observe(np.where(certified & (right != right_there), -1, 0), case)
            search.agree(certified, rho**2 > 2 * square, case)
            search.part("kept prediction")
            search.observe(np.where(keeps_prediction(rho, reach) & (same == 0), -1, 0), case)
            search.agree(keeps_prediction(rho, reach), (rho > 0) & (rho**2 > 2 * square), case)
        if labels == 2:
            search.part("two labels")
            case = {"h": here, "h′": there}
            search.observe(np.where((rho**2 > 2 * square) & (same == 0), -1, 0), case)
        search.part("top two")
        ordered = np.sort(here, axis=1)
        lead = ordered[:, -1] - ordered[:, -2]
        search.observe(np.where((lead**2 > 2 * square) & (same == 0), -1, 0), {"h": here, "h′": there})
        equal = (rho**2 == 2 * square) & (square > 0) & (right != right_there)
        search.fact(
            f"equal_but_different_{labels}",
            int(equal.sum()),
            f"{labels} labels: pairs of the last label with |ρ| = L‖h − h′‖ that judge differently",
        )
    pairs = 2 * len(SCORES) ** 4 + 3 * len(SCORES) ** 6
    search.exhausts("one row x = 1, two and three labels, all pairs of weights among 0 … 3", cases=pairs)
    return search.evidence()


def printed_slack(h: list[int], **rest: Any) -> int:
    """Return −2 if the margin is large enough and the predictions surely differ, −1 if perhaps, else 0.

    The models have the weights h and h′ on the one row x = 1; L = 2, as printed.
    """
    other, y = rest["h′"], rest["y"]
    margin = h[y] - max(score for label, score in enumerate(h) if label != y)
    distance = sum((a - b) ** 2 for a, b in zip(h, other, strict=True))
    tops = [{label for label, score in enumerate(model) if score == max(model)} for model in (h, other)]
    if margin**2 < 4 * distance or tops[0] == tops[1]:
        return 0
    return -1 if tops[0] & tops[1] else -2


FAULTS: dict[str, dict[str, Any]] = {
    "correctness kept at equality too": {"keeps_correctness": lambda margin, reach: np.abs(margin) >= reach},
    "correctness kept at half the margin": {
        "keeps_correctness": lambda margin, reach: 2 * np.abs(margin) > reach
    },
    "wrong predictions kept too": {"keeps_prediction": lambda margin, reach: np.abs(margin) > reach},
    "prediction kept at equality too": {"keeps_prediction": lambda margin, reach: margin >= reach},
}


CLAIM = Claim(
    id="mpbt.large-margin",
    where="§ 3.1, after Theorem 3.1; Remark B.2, Appendix B",
    statement="If |ρ(h, x, y)| ≥ L_{x,y}‖h − h′‖, then h and h′ predict the same label at x; if that "
    "holds for all examples, the bound on the accuracy difference is 0.",
    statement_uses=("mpbt.margin-lipschitz", "mpbt.remark-b2"),
    verdict="corrected",
    kind="condition",
    impact="condition",
    because="The bounds on accuracy rest on whether a prediction is right, and that is kept; which wrong label is "
    "predicted is not.",
    headline="A large margin keeps a right prediction right and a wrong one wrong; with three labels a wrong "
    "prediction can move to another wrong label.",
    witness="Three labels and one row. The first model has the scores {h}, the second {h′}; the true label "
    "is {y}. The margin is large enough, yet the prediction goes from one wrong label to the other.",
    finding="With > in place of ≥ a right prediction stays and a wrong one stays wrong, but with three labels "
    "another wrong label may win; at equality h′ can tie. The prediction is kept if the lead of the "
    "best over the second score exceeds L‖h − h′‖.",
    errata=(
        Erratum(
            where="§ 3.1, after Theorem 3.1",
            printed="if |ρ(h, x, y)| ≥ L‖h − h′‖, both models predict the same label",
            correct="if |ρ(h, x, y)| > L‖h − h′‖, both are right or both are wrong; the label is the same if h is "
            "right",
            band="condition",
            why="The margin compares the true label with the best other one, not two wrong labels; at equality h′ "
            "can tie.",
        ),
    ),
    chapter="mpbt-thm-3-1",
    check=check,
    faults=FAULTS,
)
