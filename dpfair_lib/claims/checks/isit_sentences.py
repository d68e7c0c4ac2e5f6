"""ISIT and the thesis: the sentences that judge Tables II–XIII, each held to the printed and to our own numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from scipy.stats import t

from dpfair_lib.claims.checks.table_records import DATA, exact_moments, exact_trials, trials
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.experiments.printed import printed_tables
from dpfair_lib.experiments.table_summary import at_equal_accuracy, paired_difference
from dpfair_lib.experiments.tables import LENGTHS, published_budgets

ROUNDING = 1e-9
ACCOUNTANTS = ("PRV", "moments", "GDP")
OVERLAP = 1 / 3  # test rows over other rows, where test rows are redrawn


class Sentence(NamedTuple):
    """One printed comparison: at this λ, the gap of DP-FERMI is more than ``factor`` times Algorithm 2's."""

    where: str
    says: str
    data: str
    epsilon: int
    strength: float
    factor: Fraction


SENTENCES = (
    Sentence("ISIT § IV on Table II", "more than twice as large", "adult", 3, 1.8, Fraction(2)),
    Sentence("ISIT § IV on Table III", "smaller", "adult", 9, 1.7, Fraction(1)),
    Sentence("ISIT § IV on Table IV", "less than half", "credit", 3, 0.2, Fraction(2)),
    Sentence("ISIT § IV on Table V", "smaller, nearly half", "credit", 9, 1.0, Fraction(1)),
)
BORNE_OUT = {("adult", 9), ("credit", 3)}
"""Sentences whose factor our trials bear out."""
CONTRADICTED = ("credit", 9)


def check(
    *,
    paired: Callable[..., tuple[float, float]] = paired_difference,
    equal: Callable[..., Any] = at_equal_accuracy,
    tables: Callable[[], Any] = printed_tables,
    search: Search,
) -> Evidence:
    """Judge the sentences by the printed numbers, by our trials, at equal accuracy, and at equal certified ε."""
    _as_printed(tables, search)
    _as_measured(paired, search)
    _at_equal_accuracy(equal, search)
    _at_equal_privacy(equal, search)
    _against_the_constant(search)
    return search.evidence()


def _decimal(number: float) -> Fraction:
    return Fraction(f"{number:.4f}")


def _as_printed(tables: Callable[[], Any], search: Search) -> None:
    """The sentences fit the printed numbers: at the nearest accuracy Algorithm 2's gap is the smaller, every time."""
    search.part("printed numbers")
    found = tables()
    ratios = []
    for name, table in found.groupby("table", sort=False):
        fair = table[table["method"] == "Algorithm 2"].iloc[0]
        fermi = table[table["method"] == "DP-FERMI"]
        nearest = fermi.loc[(fermi["accuracy"] - fair["accuracy"]).abs().idxmin()]
        ours, theirs = _decimal(fair["gap"]), _decimal(nearest["gap"])
        search.observe(theirs - ours, {"table": name, "λ": nearest["strength"]})
        ratios.append((float(theirs / ours), name))
        for line in SENTENCES:
            if (line.data, line.epsilon, "PRV") == (fair["data"], fair["epsilon"], fair["accountant"]):
                search.agree(nearest["strength"], line.strength, {"table": name, "what": "λ of the sentence"})
                search.observe(theirs - line.factor * ours, {"table": name, "factor": line.factor})
    search.exhausts("the twelve printed tables", cases=12)
    search.fact("printed gaps of DP-FERMI over Algorithm 2's, at the nearest accuracy",
                f"{min(ratios)[0]:.2f} to {max(ratios)[0]:.2f}")  # fmt: skip
    search.agree(len(ratios), 12, {"what": "tables"})
    _repeated_rows(found, search)


def _repeated_rows(found: Any, search: Search) -> None:
    """Appendix B prints DP-FERMI's rows again, with the same numbers; in six tables one has another λ."""
    fermi = found[found["method"] == "DP-FERMI"]
    first: dict[tuple[Any, ...], tuple[float, float]] = {}
    for row in fermi.to_dict("records"):
        key = (row["data"], row["epsilon"], row["strength"])
        numbers = first.setdefault(key, (row["accuracy"], row["gap"]))
        search.agree((row["accuracy"], row["gap"]) == numbers, True, {"row": key, "table": row["table"]})
    other = {
        (data, epsilon, accountant)
        for (data, epsilon, accountant), rows in fermi.groupby(["data", "epsilon", "accountant"])
        if set(rows["strength"]) != _printed_first(fermi, data, epsilon)
    }
    search.fact("tables of Appendix B with a λ that Tables II–V lack", len(other))


def _printed_first(fermi: Any, data: str, epsilon: int) -> set[float]:
    chosen = (fermi["data"] == data) & (fermi["epsilon"] == epsilon) & (fermi["accountant"] == ACCOUNTANTS[0])
    return set(fermi.loc[chosen, "strength"])


def exact_difference(
    data: str, epsilon: int, strength: float, factor: Fraction, accountant: str = "PRV"
) -> tuple[float, float]:
    """Return mean and half-width of DP-FERMI's gap less a multiple of Algorithm 2's, from sums of exact decimals."""
    fair = exact_trials(data, "as run", accountant, "Algorithm 2", float(epsilon), None)
    penalised = exact_trials(data, "as run", "", "DP-FERMI", float(epsilon), strength)
    mean, variance = exact_moments(
        [theirs[1] - factor * ours[1] for theirs, ours in zip(penalised, fair, strict=True)]
    )
    n = len(fair)
    return float(mean), float(t.ppf(0.975, n - 1)) * math.sqrt(variance / n)


def printed_slack(data: str, epsilon: int, strength: float, factor: Fraction) -> float:
    """Return the upper end of the interval: below 0, the printed comparison is contradicted."""
    return sum(exact_difference(data, epsilon, strength, factor))


def _as_measured(paired: Callable[..., tuple[float, float]], search: Search) -> None:
    """The four sentences with a λ, on our trials: two borne out, one contradicted, one undecided."""
    search.part("measured at the printed λ")
    for line in SENTENCES:
        rows = trials()[trials()["data"] == line.data]
        found = paired(
            rows,
            "gap",
            line.epsilon,
            line.strength,
            setting="as run",
            accountant="PRV",
            factor=float(line.factor),
        )
        case = {"data": line.data, "epsilon": line.epsilon, "strength": line.strength, "factor": line.factor}
        for mine, exact in zip(found, exact_difference(**case), strict=True):
            search.equal(mine, exact, case, tolerance=ROUNDING)
        mean, half = found
        search.against(mean + half, case, verify=printed_slack, tolerance=ROUNDING)
        if (line.data, line.epsilon) in BORNE_OUT:
            search.observe(mean - half, case)
        elif (line.data, line.epsilon) == CONTRADICTED:
            search.observe(-mean - half, case)
        else:
            search.observe(half - abs(mean), case)
        search.fact(
            f"{line.where}: DP-FERMI's gap less {line.factor} × Algorithm 2's", f"{mean:+.4f} ± {half:.4f}"
        )


def _at_equal_accuracy(equal: Callable[..., Any], search: Search) -> None:
    """As run: smaller on Adult under all six levels, no difference seen on Credit at ε′ = 9, none to compare at 3."""
    search.part("as run, at equal accuracy")
    for data in DATA:
        rows = trials()[trials()["data"] == data]
        for epsilon in published_budgets(data):
            for accountant in ACCOUNTANTS:
                found = equal(rows, epsilon, setting="as run", accountant=accountant)
                case = {"data": data, "ε′": epsilon, "accountant": accountant}
                search.agree(found is None, (data, epsilon) == ("credit", 3), case)
                if found is None:
                    continue
                mean, half = found.gap
                search.observe(mean - half if data == "adult" else half - abs(mean), case)
                if accountant == "PRV":
                    search.fact(
                        f"gap at equal accuracy, as run, {data}, ε′ = {epsilon}", f"{mean:+.4f} ± {half:.4f}"
                    )


def _at_equal_privacy(equal: Callable[..., Any], search: Search) -> None:
    """The same at equal certified ε, on redrawn test rows."""
    search.part("at equal certified privacy and accuracy")
    for data in DATA:
        rows = trials(fresh=True)[trials(fresh=True)["data"] == data]
        for setting in LENGTHS:
            for epsilon in published_budgets(data):
                found = equal(rows, epsilon, setting=setting, accountant="PLD", test_to_train=OVERLAP)
                print(data, setting, epsilon, found, found and found.winner)


def _against_the_constant(search: Search) -> None:
    """On Credit at ε′ = 3 Algorithm 2 is no better than the constant classifier, which uses nobody's data."""
    search.part("against the constant classifier")
    constant = [accuracy for accuracy, _ in exact_trials("credit", "no privacy", "", "constant", None, None)]
    for accountant in ACCOUNTANTS:
        fair = exact_trials("credit", "as run", accountant, "Algorithm 2", 3.0, None)
        mean, variance = exact_moments([ours[0] - base for ours, base in zip(fair, constant, strict=True)])
        half = float(t.ppf(0.975, len(fair) - 1)) * math.sqrt(variance / len(fair))
        search.observe(half - float(mean), {"data": "credit", "ε′": 3, "accountant": accountant})


FAULTS: dict[str, dict[str, Any]] = {}
