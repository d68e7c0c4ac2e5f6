"""The Coq definitions that stand for functions of the library, each with what draws its cases.

`tools/proof_cases.py` computes them by both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from proof_draws import Draw, function, inside, law, objects, odds, one, q, share, shares, table

import dpfair_lib as dpf
from dpfair_lib.central.flips import flip_probabilities
from dpfair_lib.central.gap_law import excess_change, signed_gap, summed_changes
from dpfair_lib.compatibility.private_learner.sensitivity import discrimination_sensitivity
from dpfair_lib.fairness.linear_form import form_coefficients
from dpfair_lib.local.binary import equally_truthful_response, optimal_truths, unfairness_ratio
from dpfair_lib.local.optimal.linear_bound import Constraint, linear_bound
from dpfair_lib.local.response import response_matrix
from dpfair_lib.local.subsets import subset_matrix
from dpfair_lib.local.trade_off import unfairness_constants
from dpfair_lib.postprocessing.bands import least_total_change
from dpfair_lib.postprocessing.group_unknown import least_blind_change
from dpfair_lib.privacy.amplification import amplified_odds
from dpfair_lib.privacy.finite_laws import hockey_stick, processed
from dpfair_lib.svm.guarantees import error_deviation, excess_errors, rate_deviation

Answers = Sequence[Fraction]


@dataclass(frozen=True)
class Pair:
    """A Coq definition and the function of the library that it stands for.

    `draw` makes the arguments of one case, `coq` an expression of them whose value is a list of fractions, and
    `library` the same numbers by the library.
    """

    file: str
    name: str
    function: str
    draw: Callable[[Draw], tuple[Any, ...]]
    coq: Callable[..., str]
    library: Callable[..., Answers]


def simple(
    file: str,
    name: str,
    found: str,
    draw: Callable[[Draw], tuple[Any, ...]],
    library: Callable[..., Any],
    *,
    coq: Callable[..., str] | None = None,
) -> Pair:
    """Return a pair of functions with the same arguments and one number each."""
    plain = coq or (lambda *arguments: f"({name} {' '.join(map(q, arguments))})")
    return Pair(file, name, found, draw, lambda *a: one(plain(*a)), lambda *a: [Fraction(library(*a))])


def _rates(rng: Draw) -> tuple[list[Fraction], list[Fraction]]:
    size = rng.randint(1, 5)
    p1 = [share(rng) for _ in range(size)]
    p1[rng.randrange(size)] = inside(rng)
    return law(rng, size, positive=True), p1


def _overall(p: Sequence[Fraction], p1: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(p, p1, strict=True)), Fraction(0))


def _channel(rng: Draw, inputs: int, reports: int, *, positive: bool = False) -> list[list[Fraction]]:
    return [law(rng, reports, positive=positive) for _ in range(inputs)]


def _two_laws(rng: Draw) -> tuple[Fraction, list[Fraction], list[Fraction]]:
    size = rng.randint(1, 6)
    return odds(rng), law(rng, size), law(rng, size)


def _law_and_map(rng: Draw) -> tuple[list[Fraction], list[list[Fraction]]]:
    size, results = rng.randint(1, 4), rng.randint(1, 4)
    return law(rng, size), _channel(rng, size, results)


def _reported(rng: Draw) -> tuple[list[Fraction], list[Fraction], list[list[Fraction]]]:
    p, p1 = _rates(rng)
    return p, p1, _channel(rng, len(p), len(p), positive=True)


def _joint(labels: int | None = None) -> Callable[[Draw], tuple[Any, ...]]:
    def draw(rng: Draw) -> tuple[Any, ...]:
        height, width = labels or rng.randint(1, 3), rng.randint(1, 3)
        flat = law(rng, height * width, positive=True)
        desirable = [rng.randint(0, 1) for _ in range(height)]
        return [flat[y * width : (y + 1) * width] for y in range(height)], desirable

    return draw


def _form(notion: str) -> Callable[[Any, Any], list[Fraction]]:
    def library(joint: Any, desirable: Any) -> list[Fraction]:
        matrix = form_coefficients(objects(joint), notion, desirable)[1]
        return [Fraction(value) for value in matrix.ravel()]

    return library


def _cells(call: str) -> Callable[[Any, Any], str]:
    """Return what writes a coefficient for all pairs of cells, row by row, of a joint table."""

    def coq(joint: Any, desirable: Any) -> str:
        cells = [(y, r) for y in range(len(joint)) for r in range(len(joint[0]))]
        wanted = (
            "(fun i => nth i (" + " :: ".join("true" if d else "false" for d in desirable) + " :: nil) false)"
        )
        fixed = call.format(labels=len(joint), groups=len(joint[0]), desirable=wanted)
        values = (f"{fixed} m {a} {b} {c} {d}" for a, b in cells for c, d in cells)
        return f"(let m := {table(joint)} in {' :: '.join(values)} :: nil)"

    return coq


def _accuracy_cells(joint: Any, _: Any) -> str:
    groups = range(len(joint[0]))
    values = (f"accuracy_coefficient {len(joint)} m {a} {b}" for a in groups for b in groups)
    return f"(let m := {table(joint)} in {' :: '.join(values)} :: nil)"


def _parity_constants(joint: Any, _: Any) -> str:
    cells = [(y, r) for y in range(2) for r in range(len(joint[0]))]
    values = (f"parity_constant {len(joint[0])} m {y} {r}" for y, r in cells)
    return f"(let m := {table(joint)} in {' :: '.join(values)} :: nil)"


def _groups(rng: Draw) -> tuple[list[Fraction], Fraction]:
    return sorted(share(rng) for _ in range(rng.randint(1, 6))), share(rng)


def _groups_and_error(rng: Draw) -> tuple[int, Fraction]:
    return rng.randint(1, 20), share(rng)


def _counted(name: str) -> Callable[[int, Fraction], str]:
    return lambda groups, radius: f"({name} {groups} {q(radius)})"


def _sets(rng: Draw) -> tuple[int, int, Fraction]:
    k = rng.randint(1, 4)
    return k, rng.randint(1, k), odds(rng)


def _selection(k: int, w: int, t: Fraction) -> str:
    """Write the channel, report by report; the sets come in the order of the library's columns."""
    return f"flat_map (fun s => map (fun i => selection {k} {w} {q(t)} i s) (seq 0 {k})) (subsets {k} {w})"


def _blind(rng: Draw) -> tuple[list[Fraction], list[Fraction], Fraction, Fraction]:
    size = rng.randint(1, 5)
    return [share(rng) for _ in range(size)], [share(rng) for _ in range(size)], inside(rng), share(rng)


def _linear(rng: Draw) -> tuple[dict[int, int], list[Constraint], list[int]]:
    """Draw a small program and multipliers of the right signs."""

    def form() -> dict[int, int]:
        return {rng.randint(1, 6): rng.randint(-9, 9) for _ in range(rng.randint(0, 5))}

    rows = [Constraint(form(), rng.randint(-9, 9), rng.random() < 0.4) for _ in range(rng.randint(0, 5))]
    return form(), rows, [rng.randint(-9 * row.equation, 9) for row in rows]


def _linear_coq(objective: dict[int, int], rows: list[Constraint], multipliers: list[int]) -> str:
    def form(terms: Mapping[int, int]) -> str:
        return "(" + "".join(f"({i}%positive, ({a})%Z) :: " for i, a in terms.items()) + "nil)"

    written = "".join(
        f"{{| equation := {str(row.equation).lower()}; left_side := {form(row.coefficients)}; "
        f"least_side := ({row.least})%Z |}} :: "
        for row in rows
    )
    ys = "".join(f"({y})%Z :: " for y in multipliers)
    return f"whole (linear_bound {{| objective := {form(objective)}; constraints := ({written}nil) |}} ({ys}nil))"


def pairs() -> list[Pair]:
    """Return every Coq definition that stands for a function of the library."""
    bounds, theorem, flips = (
        "ISIT/Proposition1.v",
        "ISIT/Theorem3.v",
        "dpfair_lib.central.flips.flip_probabilities",
    )
    laws, gap = "dpfair_lib.privacy.finite_laws", "dpfair_lib.central.gap_law"
    binary, rates = "dpfair_lib.local.binary", "dpfair_lib.data_unfairness_from_rates"
    sk, svm = "SK/Guarantees.v", "dpfair_lib.svm.guarantees"
    form, example = "dpfair_lib.fairness.linear_form.form_coefficients", "MPBT/LinearForm.v"
    constants, fourteen = "dpfair_lib.local.trade_off.unfairness_constants", "Thesis/Theorem14.v"
    return [
        simple(
            bounds, "change_lower_bound", "dpfair_lib.change_lower_bound", shares(3), dpf.change_lower_bound
        ),
        simple(bounds, "optimal_change", "dpfair_lib.optimal_change", shares(3), dpf.optimal_change),
        simple(bounds, "flip_down", flips, shares(2), lambda *a: flip_probabilities(*a)[0]),
        simple(bounds, "flip_up", flips, shares(2), lambda *a: flip_probabilities(*a)[1]),
        simple(
            theorem,
            "signed_gap",
            f"{gap}.signed_gap",
            shares(4),
            lambda *a: np.asarray(signed_gap(*a)).item(),
        ),
        simple(theorem, "summed_changes", f"{gap}.summed_changes", shares(4), lambda *a: summed_changes(*a)),
        simple(
            theorem,
            "excess_change",
            f"{gap}.excess_change",
            lambda rng: (share(rng), share(rng), share(rng) - share(rng)),
            lambda *a: np.asarray(excess_change(*map(objects, a))).item(),
        ),
        Pair(
            "Privacy/Channels.v",
            "response",
            "dpfair_lib.local.response.response_matrix",
            lambda rng: (rng.randint(1, 5), odds(rng)),
            lambda k, t: (
                "("
                + " :: ".join(f"response {k} {q(t)} {i} {j}" for i in range(k) for j in range(k))
                + " :: nil)"
            ),
            lambda k, t: list(response_matrix(k, 1 / t).ravel()),
        ),
        simple(
            "Privacy/Composition.v",
            "hockey_stick",
            f"{laws}.hockey_stick",
            _two_laws,
            lambda t, p, r: hockey_stick(objects(p), objects(r), t),
            coq=lambda t, p, r: f"(hockey_stick {q(t)} {len(p)} {function(p)} {function(r)})",
        ),
        Pair(
            "Privacy/Composition.v",
            "processed",
            f"{laws}.processed",
            _law_and_map,
            lambda p, m: (
                "("
                + " :: ".join(f"processed {len(p)} {function(p)} {table(m)} {z}" for z in range(len(m[0])))
                + " :: nil)"
            ),
            lambda p, m: [Fraction(value) for value in processed(objects(p), objects(m))],
        ),
        simple(
            "Thesis/Lemma13.v",
            "difference",
            rates,
            _rates,
            lambda p, r: dpf.data_unfairness_from_rates(objects(p), objects(r), kind="difference"),
            coq=lambda _, r: f"(difference {len(r) - 1} {function(r)})",
        ),
        simple(
            "Thesis/Lemma13.v",
            "deviation",
            rates,
            _rates,
            lambda p, r: dpf.data_unfairness_from_rates(objects(p), objects(r), kind="ratio"),
            coq=lambda p, r: (
                f"(deviation {len(r) - 1} {function(r)} (overall {len(p)} {function(p)} {function(r)}))"
            ),
        ),
        simple(
            "Thesis/Lemma16.v",
            "first_constant",
            constants,
            lambda rng: (inside(rng), share(rng)),
            lambda y, m: unfairness_constants(y, m)[0],
        ),
        simple(
            "Thesis/Lemma16.v",
            "second_constant",
            constants,
            lambda rng: (inside(rng),),
            lambda y: unfairness_constants(y)[1],
        ),
        simple(
            fourteen,
            "difference_ratio",
            f"{binary}.unfairness_ratio",
            lambda rng: (inside(rng), share(rng), share(rng)),
            unfairness_ratio,
        ),
        simple(
            fourteen,
            "deviation_ratio",
            f"{binary}.unfairness_ratio",
            lambda rng: (inside(rng), share(rng), share(rng)),
            lambda *a: unfairness_ratio(*a, kind="ratio"),
        ),
        Pair(
            fourteen,
            "optimal_truths",
            f"{binary}.optimal_truths",
            lambda rng: (inside(rng), share(rng)),
            lambda w, x: f"(fst (optimal_truths {q(w)} {q(x)}) :: snd (optimal_truths {q(w)} {q(x)}) :: nil)",
            lambda w, x: [Fraction(value) for value in optimal_truths(w, x)],
        ),
        simple(
            fourteen,
            "equally_truthful",
            f"{binary}.equally_truthful_response",
            lambda rng: (inside(rng) / 2, share(rng)),
            equally_truthful_response,
        ),
        simple(
            "Ours/LeastChange.v",
            "least_total_change",
            "dpfair_lib.postprocessing.bands.least_total_change",
            _groups,
            least_total_change,
            coq=lambda r, g: f"(least_total_change {len(r)} {function(r)} {q(g)})",
        ),
        simple(
            "CGKM/Sensitivity.v",
            "sensitivity",
            "dpfair_lib.compatibility.private_learner.sensitivity.discrimination_sensitivity",
            lambda rng: (rng.randint(1, 60), rng.randint(1, 60)),
            lambda m, n: discrimination_sensitivity((m, n)),
        ),
        Pair(
            example,
            "odds_coefficient",
            form,
            _joint(),
            _cells("odds_coefficient {groups}"),
            _form("equalized_odds"),
        ),
        Pair(
            example,
            "opportunity_coefficient",
            form,
            _joint(),
            _cells("opportunity_coefficient {desirable} {groups}"),
            _form("equal_opportunity"),
        ),
        Pair(example, "accuracy_coefficient", form, _joint(), _accuracy_cells, _form("accuracy_parity")),
        Pair(
            example,
            "parity_coefficient",
            form,
            _joint(2),
            _cells("parity_coefficient"),
            _form("demographic_parity"),
        ),
        Pair(
            example,
            "parity_constant",
            form,
            _joint(2),
            _parity_constants,
            lambda joint, _: [
                Fraction(v) for v in form_coefficients(objects(joint), "demographic_parity", None)[0].ravel()
            ],
        ),
        Pair(
            "Privacy/Subsets.v",
            "selection",
            "dpfair_lib.local.subsets.subset_matrix",
            _sets,
            _selection,
            lambda k, w, t: list(subset_matrix(k, w, 1 / t).T.ravel()),
        ),
        simple(
            "Privacy/Amplification.v",
            "amplified_odds",
            "dpfair_lib.privacy.amplification.amplified_odds",
            lambda rng: (odds(rng), share(rng)),
            amplified_odds,
        ),
        simple(
            "Certificates/LinearProgram.v",
            "linear_bound",
            "dpfair_lib.local.optimal.linear_bound.linear_bound",
            _linear,
            linear_bound,
            coq=_linear_coq,
        ),
        simple(
            sk,
            "error_deviation",
            f"{svm}.error_deviation",
            _groups_and_error,
            error_deviation,
            coq=_counted("error_deviation"),
        ),
        simple(
            sk,
            "excess_errors",
            f"{svm}.excess_errors",
            _groups_and_error,
            excess_errors,
            coq=_counted("excess_errors"),
        ),
        simple(
            sk,
            "rate_deviation",
            f"{svm}.rate_deviation",
            lambda rng: (share(rng), inside(rng)),
            lambda eta, n: rate_deviation(eta, np.asarray(n, dtype=object)),
        ),
        simple(
            "Ours/GroupUnknown.v",
            "least_cost",
            "dpfair_lib.postprocessing.group_unknown.least_blind_change",
            _blind,
            lambda r, w, gap, gamma: least_blind_change(r, gap, gamma, w).cost,
            coq=lambda r, w, gap, gamma: (
                f"(least_cost {q(gap)} {q(gamma)} (ones {len(r)} {function(w)} {function(r)}) "
                f"(zeros {len(r)} {function(w)} {function(r)}))"
            ),
        ),
    ]
