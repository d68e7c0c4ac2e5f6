"""How a printed statement fares, and what that changes: each kind and each impact has a criterion that can fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dpfair_lib.claims.evidence import Evidence

if TYPE_CHECKING:
    from dpfair_lib.claims.ledger import Claim

WORDS = {
    "as-printed": "holds as printed",
    "sharper": "holds, and more is true",
    "slip": "misprint",
    "condition": "needs a condition",
    "constant": "wrong constant or range",
    "replaced": "false; replaced",
    "refuted": "refuted",
    "guarantee-broken": "guarantee broken",
    "digits": "numbers compared",
    "answered": "open question answered",
    "theorem": "proved in this book",
}
"""Each kind as readers see it; the last one is of theorems of our own, which no paper prints."""

IMPACTS = {
    "conclusion": "changes a conclusion",
    "condition": "adds a condition",
    "none": "changes nothing",
}
"""Each impact as readers see it."""


def unmet(claim: Claim, evidence: Evidence | None) -> list[str]:
    """Say what an entry's kind and impact lack in its evidence, a sentence for each thing.

    An entry without a kind, and a check that could not run, give none.
    """
    if claim.kind is None or evidence is None or evidence.not_run:
        return []
    said = [CRITERIA[claim.kind](claim, evidence), "" if claim.ours else _impact(claim, evidence)]
    return [f"{claim.id}: {sentence}" for sentence in said if sentence]


def _holds(claim: Claim, evidence: Evidence) -> str:
    if evidence.counterexample is not None:
        return "a case fails the printed statement, so it does not hold as printed"
    if any(erratum.band in ("result", "condition") for erratum in claim.errata):
        return "an erratum changes the statement, so it does not hold as printed"
    return "" if evidence.slack is not None else "the check defends nothing"


def _sharper(claim: Claim, evidence: Evidence) -> str:
    missing = "search.sharper: no case shows our form attained where the printed one has room"
    return _holds(claim, evidence) or ("" if evidence.attained else missing)


def _slip(claim: Claim, evidence: Evidence) -> str:
    slips = [erratum for erratum in claim.errata if erratum.band == "slip"]
    if evidence.counterexample is None or evidence.slack is None:
        return "a slip needs a case that the printed form fails, and a form that holds"
    if len(slips) < len(claim.errata):
        return "an erratum changes more than a symbol, so this is no slip"
    return (
        "" if any(slip.used for slip in slips) else "no erratum says where the source uses the correct form"
    )


def _condition(_: Claim, evidence: Evidence) -> str:
    kept, broken, failing = evidence.condition
    if kept and failing:
        return ""
    return (
        "search.under: expected cases that keep the hypothesis, and one that breaks it and fails; "
        f"found {kept} kept, {broken} broken, {failing} failing"
    )


def _constant(_: Claim, evidence: Evidence) -> str:
    if evidence.counterexample is None:
        return "no case fails at the printed constant"
    return "" if evidence.constants else "search.constant: ours is not stated"


def _replaced(_: Claim, evidence: Evidence) -> str:
    if not evidence.readings or evidence.slack is None:
        return "expected a printed statement that is judged, and another that is defended"
    standing = [reading for reading, fails in evidence.readings.items() if not fails]
    return f"not refuted in the reading {standing[0]!r}" if standing else ""


def _refuted(_: Claim, evidence: Evidence) -> str:
    return "" if evidence.finding == "refuted" else f"the check finds {evidence.finding!r}"


def _broken(_: Claim, evidence: Evidence) -> str:
    return "" if evidence.broken else "search.broken: nothing was measured above what is stated"


def _digits(_: Claim, evidence: Evidence) -> str:
    return "" if evidence.compared[1] else "search.compare: no printed number was compared"


def _answered(_: Claim, evidence: Evidence) -> str:
    return "" if all(evidence.answer) else "search.answers: not said how far, or what is left"


def _theorem(_: Claim, evidence: Evidence) -> str:
    if evidence.readings or evidence.reproduced is not None:
        return "nothing of it is printed, so no case is judged as printed"
    if evidence.slack is None:
        return "the check defends nothing"
    return "" if evidence.needed else "search.needs: no case shows that a hypothesis or a constant is needed"


CRITERIA: dict[str, Callable[[Claim, Evidence], str]] = {
    "as-printed": _holds,
    "sharper": _sharper,
    "slip": _slip,
    "condition": _condition,
    "constant": _constant,
    "replaced": _replaced,
    "refuted": _refuted,
    "guarantee-broken": _broken,
    "digits": _digits,
    "answered": _answered,
    "theorem": _theorem,
}


def _impact(claim: Claim, evidence: Evidence) -> str:
    if claim.impact is None or not claim.because:
        return "an impact, and a sentence that argues it, are missing"
    if claim.impact == "conclusion" and claim.shown_by not in evidence.facts:
        return f"shown_by: found {claim.shown_by!r}, expected the key of a fact that shows the changed conclusion"
    if claim.impact != "none" and claim.kind == "as-printed":
        return "a statement that holds as printed changes nothing"
    return ""
