"""The decision guide: which private and fair learner the recorded comparisons recommend, and how far to trust them.

For a situation, a notion and an ε the rule is the method with the least mean loss, each data set counting once, among
those that are built for the notion or for none. It is judged on each data set after it was derived from the others,
beside the best of all methods there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from dpfair_lib.experiments.fair_learners import constrained, guide_regrets, methods, summary
from dpfair_lib.experiments.fair_learners.bases import ATTRIBUTE, PRESENT, RECORD
from dpfair_lib.experiments.fair_learners.people import NOTIONS
from dpfair_lib.experiments.fair_learners.settings import EPSILONS, dials, held_rows
from dpfair_lib.experiments.ours.private_learners_settings import STANDS_FOR
from dpfair_lib.experiments.recorded_results import RESULTS, read_record

ASK = frozenset({
    "Algorithm 2", "ours, parity", "ours, opportunity", "odds by counts", "thresholds", "odds by reports",
})  # fmt: skip
"""Methods that ask for the group of each person about whom they decide."""
AIMS = {one.name: one.notion for one in (*methods.METHODS, *constrained.METHODS)}
"""Method → the notion that it is built for, or ""."""
LOCAL = frozenset({"odds by reports"})
"""Methods to which each person reports the group at random, so that nobody has to hold it."""


class Situation(NamedTuple):
    """Who is protected, who holds the groups, and whether a decision may ask for one.

    Attributes
    ----------
    protection : str
        One of `summary.PROTECTIONS`.
    holder : {"one", "nobody"}
        Whether one party holds everybody's group, or each person sends a randomised report.
    ask : bool
        Whether the group may be asked for when the model decides.
    """

    protection: str
    holder: str = "one"
    ask: bool = True

    @property
    def words(self) -> str:
        """The situation in words, as tables show it."""
        return WHOM[self.protection] + (
            "; nobody holds the groups"
            if self.holder == "nobody"
            else ""
            if self.ask
            else "; no group when deciding"
        )


WHOM = {
    RECORD: "whole record, replaced", PRESENT: "whole record, added or removed", ATTRIBUTE: "the group alone"
}  # fmt: skip
SITUATIONS = (
    Situation(RECORD), Situation(RECORD, ask=False), Situation(PRESENT), Situation(PRESENT, ask=False),
    Situation(ATTRIBUTE), Situation(ATTRIBUTE, holder="nobody"),
)  # fmt: skip
"""Those in which there is a choice."""
Found = Mapping[str, Mapping[str, pd.DataFrame]]
"""Data set → name of a method → its rows."""


class Evidence(NamedTuple):
    """What the recorded comparisons hold.

    Attributes
    ----------
    rows : dict
        Data set → its rows.
    sizes : dict
        Data set → number of its training rows.
    dials : dict
        (data set, notion) → the dials that other data chose.
    parameters : dict
        Data set → the parameters of its record, with what other data chose for each method.
    added : dict
        Data set → rows, and held rows, of the methods that are recorded by themselves; empty unless each data set has
        them on the same splits, as means over other data sets or splits cannot be compared.
    """

    rows: dict[str, pd.DataFrame]
    sizes: dict[str, int]
    dials: dict[tuple[str, str], summary.Dials]
    parameters: dict[str, dict[str, Any]]
    added: dict[str, tuple[pd.DataFrame, pd.DataFrame]]


def evidence(
    folder: Path = RESULTS, notions: Sequence[str] = NOTIONS, *, only: Collection[str] = tuple(STANDS_FOR)
) -> Evidence:
    """Read what is recorded.

    Parameters
    ----------
    folder : Path
        Where the records are.
    notions : sequence of str
        For which notions.
    only : collection of str
        Of which data sets.

    Raises
    ------
    FileNotFoundError
        If no data set is recorded, or the record of its settings is missing.
    """
    names = [data for data in STANDS_FOR if data in only and (folder / f"private-fair-{data}.json").exists()]
    if not names:
        raise FileNotFoundError(f"{folder}: found no record private-fair-*, expected at least one")
    rows, sizes, parameters = {}, {}, {}
    found: dict[tuple[str, str], summary.Dials] = {}
    for data in names:
        rows[data], provenance = read_record(f"private-fair-{data}", folder=folder)
        kept, held = provenance["parameters"], held_rows(data, folder)
        whole = min(provenance["data"]["rows"], kept["most_rows"])
        sizes[data] = whole - round(kept["test_share"] * whole)
        parameters[data] = kept
        found.update({(data, notion): dials(held, data, notion) for notion in notions})
    known = Evidence(rows, sizes, found, parameters, _added(rows, folder))
    for data, (_, held) in known.added.items():
        tuned, chosen = (
            constrained.tuned(held),
            {notion: constrained.dials(held, notion) for notion in notions},
        )
        parameters[data] = {**parameters[data], "tuning": {**parameters[data]["tuning"], **tuned}}
        found.update({(data, notion): {**found[data, notion], **chosen[notion]} for notion in notions})
    return known


def _added(rows: Mapping[str, pd.DataFrame], folder: Path) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    added = {}
    for data, others in rows.items():
        if not (folder / f"private-constrained-{data}.json").exists():
            return {}
        own = read_record(f"private-constrained-{data}", folder=folder)[0]
        if set(own["split"]) != set(others["split"]):
            return {}
        held = read_record(f"private-constrained-settings-{STANDS_FOR[data]}", folder=folder)[0]
        added[data] = own, held
    return added


Question = tuple[Situation, str, float]
"""A situation, a notion and an ε."""


def usable(
    known: Evidence, situation: Situation, notion: str, level: float
) -> dict[str, dict[str, pd.DataFrame]]:
    """Return what may be used in a situation: data set → name → rows, at the settings that other data chose.

    Parameters
    ----------
    known : Evidence
        From `evidence`.
    situation : Situation
        Which.
    notion : str
        Which gap counts.
    level : float
        ε, one of the recorded ones.
    """
    case, found = summary.Case(situation.protection, notion, level), {}
    for data, rows in known.rows.items():
        near = rows[
            rows["level"].isna() | (rows["level"] == level)
        ]  # few, so that looking for each method is fast
        every = summary.candidates(near, known.dials[data, notion], case)
        if data in known.added:
            own, chosen = known.added[data][0], known.dials[data, notion]
            keys = [
                (one.protection, one.name, level)
                for one in constrained.METHODS
                if one.protection == case.protection
            ]
            every |= {key[1]: summary.method_rows(own, *key, chosen[key]) for key in keys}
        found[data] = {name: its for name, its in every.items() if _may_be_used(name, situation)}
    return found


def _may_be_used(name: str, situation: Situation) -> bool:
    if name in summary.NOTHING_CLEVER:
        return True
    return (situation.ask or name not in ASK) and (situation.holder == "one" or name in LOCAL)


def questions(
    known: Evidence, situations: Sequence[Situation] = SITUATIONS, notions: Sequence[str] = NOTIONS
) -> dict[Question, dict[str, dict[str, pd.DataFrame]]]:
    """Return what may be used for every question that the guide answers.

    Parameters
    ----------
    known : Evidence
        From `evidence`.
    situations, notions : sequence
        Of which questions.
    """
    return {
        (one, notion, at): usable(known, one, notion, at)
        for one in situations
        for notion in notions
        for at in EPSILONS
    }


def helps(found: Found, name: str, notion: str, *, level: float) -> dict[str, summary.Verdict | None]:
    """Compare a method on each data set with the best that does nothing clever; None if it is that itself.

    Parameters
    ----------
    found : mapping
        From `usable`.
    name : str
        The method.
    notion : str
        Which gap counts.
    level : float
        Confidence with which the verdicts on all data sets hold together.
    """
    each = 1 - (1 - level) / len(found)
    verdicts: dict[str, summary.Verdict | None] = {}
    for data, those in found.items():
        several = {one: those[one] for one in (*summary.NOTHING_CLEVER, name) if one in those}
        verdicts[data] = next(iter(summary.against_nothing_clever(several, notion, level=each)), None)
    return verdicts


def least_rows(verdicts: Mapping[str, summary.Verdict | None], sizes: Mapping[str, int]) -> int | None:
    """Return the least recorded number of training rows at which a method is better than nothing clever, or None."""
    return min(
        (sizes[data] for data, one in verdicts.items() if one and one.verdict == "better"), default=None
    )


def competing(names: Iterable[str], notion: str) -> list[str]:
    """Return which methods may be recommended for a notion: those that are built for it, or for none of the three.

    One that is built for odds makes true positive rates equal, too, so it competes for opportunity. Where nothing at
    hand is built for the notion, everything competes.

    Parameters
    ----------
    names : iterable of str
        Methods that may be used.
    notion : str
        Which gap counts.
    """
    meant = {notion, "odds"} if notion == "opportunity" else {notion}
    every = list(names)
    if not any(AIMS.get(name) in meant for name in every):
        return every
    return [name for name in every if AIMS.get(name, "") in {*meant, ""}]


def rule(found: Found, notion: str) -> str:
    """Return the method that the record recommends: of those that compete, the one with the least mean loss.

    Parameters
    ----------
    found : mapping
        From `usable`; one data set or more.
    notion : str
        Which gap counts.
    """
    kept = {data: {name: those[name] for name in competing(those, notion)} for data, those in found.items()}
    return summary.rule(kept, notion)


def judged(
    asked: Mapping[Question, Found], *, level: float = 0.95, told_by: summary.Rule = rule
) -> pd.DataFrame:
    """Judge all rules on the data sets that they were not derived from.

    Parameters
    ----------
    asked : mapping
        From `questions`; two data sets or more. Their tests are corrected together.
    level : float
        Confidence of each interval, alone.
    told_by : callable
        The rule; in `summary.rule` everything competes.

    Returns
    -------
    DataFrame
        A line for each situation, notion, ε and data set: what `summary.regrets` gives, but its p as ``winner``, since
        it does not know that the best was picked; ``p`` of no regret beside all methods, from `guide_regrets`; and
        ``holm``, that p corrected for the number of lines. Lines without a regret count as tests, too.
    """
    parts = {}
    for one, found in asked.items():
        its = summary.regrets(found, one[1], level=level, told_by=told_by).rename(columns={"p": "winner"})
        told = [
            guide_regrets.contest(one, data, found[data], name)
            for data, name in zip(found, its["told"], strict=True)
        ]
        p = [float(guide_regrets.beside_all(each.losses)) for each in told]
        parts[one[0].words, *one[1:]] = its.assign(p=p)
    lines = pd.concat(parts, names=["situation", "notion", "ε"]).reset_index()
    return lines.assign(holm=summary.holm(lines["p"]))
