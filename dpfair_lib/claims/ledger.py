"""Entries of the ledger, and what a run of their checks says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from dpfair_lib.claims.evidence import Evidence
from dpfair_lib.claims.kinds import unmet

Source = Literal["isit", "thesis", "cgkm", "mpbt", "sk", "ours"]
Verdict = Literal["holds", "corrected", "refuted", "reproduced", "not-reproduced", "open"]
Kind = Literal[
    "as-printed", "sharper", "slip", "condition", "constant", "replaced", "refuted", "guarantee-broken", "digits",
    "answered", "theorem",
]  # fmt: skip
Impact = Literal["conclusion", "condition", "none"]
Band = Literal["result", "condition", "slip"]
OURS: Source = "ours"
"""The source of theorems that the book itself states and proves: no claim of a paper."""
NOT_EXAMINED = "not yet examined"
NOT_RUN = "not run"
SOURCES: tuple[Source, ...] = get_args(Source)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
KINDS: tuple[Kind, ...] = get_args(Kind)
IMPACTS: tuple[Impact, ...] = get_args(Impact)
BANDS: tuple[Band, ...] = get_args(Band)


@dataclass(frozen=True)
class Erratum:
    """A misprint or gap in a source: what is printed, and what should stand there.

    Attributes
    ----------
    where : str
        The place, as the source names it.
    printed, correct : str
        What is printed, and what should stand there.
    band : Band or None
        What it changes: a result, a constant or condition, or nothing (a slip that the context repairs).
    why : str
        Why the printed form is wrong, in one sentence.
    used : str
        Of a slip: where the source itself uses the correct form.
    shown : str
        Of one that changes a result: at most ten lines of Python that need NumPy alone and show it. They end in an
        ``assert`` that the printed form fails.

    Examples
    --------
    >>> from dpfair_lib.claims import claim
    >>> [erratum.where for erratum in claim("thesis.thm-15").errata][:1]
    ['thesis Theorem 15, the class, § 5.6']
    """

    where: str
    printed: str
    correct: str
    band: Band | None = None
    why: str = ""
    used: str = ""
    shown: str = ""


@dataclass(frozen=True)
class Claim:
    """One claim of one source, or one theorem of our own (``ours.name``).

    A theorem of our own has no printed form. So it has no erratum, no impact on a paper and no witness against what is
    printed; if it does not hold, it is not in the book.

    Attributes
    ----------
    id : str
        ``source.name``; never changes.
    where : str
        The place in the source.
    statement : str
        What it says, in one line of our own words.
    verdict : Verdict or None
        What we expect the check to find; None until the claim is examined.
    finding : str
        What survived, in one line; empty until the claim is examined.
    headline : str
        What a reader should remember, in one plain sentence of at most 30 words.
    kind : Kind or None
        How the printed statement fares; each kind has a criterion (`dpfair_lib.claims.kinds`).
    impact : Impact or None
        Whether a conclusion of the source changes at the settings that it uses, or stands with a condition or
        constant more, or is untouched.
    because : str
        One sentence that argues the impact.
    shown_by : str
        Of an impact on a conclusion: the key of the fact that shows it.
    witness : str
        How the case at which the printed statement fails reads in words; ``{name}`` is the value of an argument.
    statement_uses, proof_uses : tuple of str
        Ids of the claims that the statement, or its proof, rests on.
    chapter : str or None
        The notebook that treats it, without suffix.
    errata : tuple of Erratum
        What is misprinted or missing at its place in the source.
    check : callable or None
        Searches for counterexamples: ``check(search=..., **examined)`` returns `Evidence`. What it examines
        are keyword arguments whose defaults are the library's own functions.
    faults : mapping
        Planted faults: a name, and the wrong functions to hand to the check instead of the library's.

    Examples
    --------
    >>> from dpfair_lib.claims import claim
    >>> claim("isit.prop-1").where, claim("isit.prop-1").verdict
    ('ISIT Prop. 1, § III; thesis Prop. 6, § 3.2; proof App. A', 'holds')
    """

    id: str
    where: str
    statement: str
    verdict: Verdict | None = None
    finding: str = ""
    headline: str = ""
    kind: Kind | None = None
    impact: Impact | None = None
    because: str = ""
    shown_by: str = ""
    witness: str = ""
    statement_uses: tuple[str, ...] = ()
    proof_uses: tuple[str, ...] = ()
    chapter: str | None = None
    errata: tuple[Erratum, ...] = ()
    check: Callable[..., Evidence] | None = None
    faults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.source not in SOURCES:
            raise ValueError(f"id: unknown source in {self.id!r}; expected one of {', '.join(SOURCES)}")
        for name, known in (("verdict", VERDICTS), ("kind", KINDS), ("impact", IMPACTS)):
            if (found := getattr(self, name)) is not None and found not in known:
                raise ValueError(f"{self.id}: {name}: found {found!r}, expected one of {', '.join(known)}")
        if (self.verdict is None) != (self.check is None):
            raise ValueError(f"{self.id}: a verdict needs a check, and a check a verdict")
        self._keep_apart()

    def _keep_apart(self) -> None:
        """Refuse a theorem of our own that is entered as a claim of a paper, and the other way round."""
        if not self.ours:
            if self.kind == "theorem":
                raise ValueError(f"{self.id}: kind: found 'theorem', expected it of ids ours.* alone")
            return
        for name, allowed in (("kind", (None, "theorem")), ("verdict", (None, "holds"))):
            if (found := getattr(self, name)) not in allowed:
                raise ValueError(
                    f"{self.id}: {name}: found {found!r}, expected {allowed[1]!r} of our own theorem"
                )
        for name in ("impact", "because", "shown_by", "witness", "errata"):
            if found := getattr(self, name):
                raise ValueError(
                    f"{self.id}: {name}: found {found!r}, expected none: no paper prints our theorem"
                )

    @property
    def source(self) -> str:
        """The source's short name, in lower case."""
        return self.id.partition(".")[0]

    @property
    def ours(self) -> bool:
        """Whether it is a theorem of our own, and no claim of a paper."""
        return self.source == OURS

    @property
    def depends_on(self) -> tuple[str, ...]:
        """All claims that this one rests on, statement and proof together."""
        return tuple(dict.fromkeys(self.statement_uses + self.proof_uses))


@dataclass(frozen=True)
class FaultRun:
    """What a check made of one planted fault: whether it was caught, and by which part or why not."""

    caught: bool
    how: str


@dataclass(frozen=True)
class Outcome:
    """What one run of one claim's check, and of its planted faults, found.

    Attributes
    ----------
    claim : Claim
        The entry.
    evidence : Evidence or None
        What the check saw; None if the claim has no check.
    faults : mapping
        What became of each planted fault.
    seconds : float
        Processor time that the run took.
    stored_under : str
        Empty for a run of this process. Otherwise the run was made and stored earlier, in the same build, and this is
        the digest of everything that it depends on.

    Examples
    --------
    >>> from dpfair_lib.claims import claim, judge
    >>> judge(claim("isit.prop-1")).evidence.cases > 1000
    True
    """

    claim: Claim
    evidence: Evidence | None
    faults: Mapping[str, FaultRun] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)
    stored_under: str = field(default="", compare=False)

    @property
    def status(self) -> str:
        """The computed status; ``contradicted`` if the run does not confirm the recorded verdict."""
        if self.evidence is None:
            return NOT_EXAMINED
        finding = self.evidence.finding
        return finding if finding in (self.claim.verdict, NOT_RUN) else "contradicted"

    @property
    def facts(self) -> Mapping[str, Any]:
        """The results that the check records for readers, by their keys."""
        return {} if self.evidence is None else self.evidence.facts

    @property
    def missed(self) -> tuple[str, ...]:
        """The planted faults that the check let pass, or on which it crashed."""
        return tuple(name for name, run in self.faults.items() if not run.caught)

    @property
    def sound(self) -> bool:
        """Whether the run agrees with verdict and kind, and every fault that was planted was caught."""
        return not self.complaints()

    def require(self) -> Outcome:
        """Return the outcome if it is sound, so that no chapter describes a claim that its run contradicts.

        Raises
        ------
        AssertionError
            If the run contradicts the verdict or the kind, or missed a fault.
        """
        if not self.sound:
            raise AssertionError("; ".join(self.complaints()))
        return self

    def complaints(self) -> list[str]:
        """Say what is wrong with the run, a sentence for each thing."""
        found = []
        if self.status == "contradicted" and self.evidence is not None:
            found.append(
                f"{self.claim.id}: recorded as {self.claim.verdict!r}, the run found "
                f"{self.evidence.finding!r}; witness {self.evidence.witness}"
            )
        return (
            found
            + unmet(self.claim, self.evidence)
            + [
                f"{self.claim.id}: planted fault {name!r} not caught: {self.faults[name].how}"
                for name in self.missed
            ]
        )
