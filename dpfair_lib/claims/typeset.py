"""Statements and numbers as a page shows them: indices below, exponents above, symbols for the names of arguments."""

from __future__ import annotations

import html
import re
import string
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpfair_lib.claims.report import plain

_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
)
_GREEK = dict(zip(_NAMES.split(), "αβγδεζηθκλμνξπρστφχψω", strict=True))
_SPOKEN = {
    "adult": "Adult", "credit": "Credit", "compas": "COMPAS", "lsac": "LSAC", "celeba": "CelebA",
    "acs-income": "ACSIncome",
    "prv": "PRV", "rdp": "moments", "gdp": "GDP", "equal_opportunity": "equal opportunity",
    "equalized_odds": "equalized odds", "demographic_parity": "demographic parity",
    "accuracy_parity": "accuracy parity",
}  # fmt: skip
_KEYS = re.compile(rf"\b(?:{'|'.join(_SPOKEN)})\b(?!\.\w)")  # adult.data is a file
LONG = 24
"""Characters of a fraction that is shown as it is; a longer one is shown with four digits."""
_ABOVE = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_POWER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?e[+-]?\d+\b")
_FRACTION = re.compile(r"-?\d+/\d+")
# an index or exponent: one word, or what is in brackets
_RAISED = re.compile(r"([_^])(?:\(([^()]*)\)|\{([^{}]*)\}|([^\W_]+(?:[*′]+(?:[^\W_](?![^\W_]))?)*|[*′+−]+))")
_PRIME = re.compile(r"(?<=_[^\W_])'")


def typeset(text: str) -> str:
    """Return a line as HTML: ``x_i^2`` with its index below and its exponent above the line, 1e-5 as 10⁻⁵."""

    def place(match: re.Match[str]) -> str:
        tag = "sub" if match[1] == "_" else "sup"
        return f"<{tag}>{match[2] or match[3] or match[4]}</{tag}>"

    return _RAISED.sub(place, html.escape(_PRIME.sub("′", _with_powers(text))))


def symbol(name: str) -> str:
    """Return the name of an argument as text: ``epsilon_0`` as ε₀, ``group_size`` as group size."""
    words = [_GREEK.get(word, word) for word in name.split("_")]
    if len(words) == 2 and len(words[0]) == 1 and len(words[1]) <= 2:
        return f"{words[0]}_{words[1]}"
    return " ".join(words)


def spoken(text: str) -> str:
    """Return a text with data sets, accountants and notions as the papers name them, and 1e-05 as 10⁻⁵."""
    return _with_powers(_KEYS.sub(lambda match: _SPOKEN[match[0]], text))


def anchor(claim_id: str) -> str:
    """Return the place of a claim on a page, free of dots, which scripts take for something else."""
    return claim_id.replace(".", "-")


def number(value: Any) -> str:
    """Return a result as text: thousands apart, four digits of a float, a list in words."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, str) and _FRACTION.fullmatch(value):
        return number(Fraction(value))
    if isinstance(value, Fraction):
        exact = str(value).replace("-", "−")
        return exact if len(exact) <= LONG else f"≈ {number(float(value))}"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−") if abs(value) < 10**15 else _in_powers(f"{float(value):.3g}")
    if isinstance(value, float) and value.is_integer() and 1e4 <= abs(value) < 1e15:
        return number(int(value))
    if isinstance(value, float):
        return _in_powers(f"{value + 0.0:.4g}")  # of a zero without its sign
    if isinstance(value, Mapping):
        return "; ".join(f"{symbol(str(name))} {number(entry)}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return f"({', '.join(number(entry) for entry in value)})"
    return spoken(str(value))


def _with_powers(text: str) -> str:
    return _POWER.sub(lambda match: _in_powers(match[0]), text)


def _in_powers(digits: str) -> str:
    """Return ``1e-05`` as 10⁻⁵, and ``8.319e+08`` as 8.319·10⁸."""
    mantissa, is_power, exponent = digits.replace("inf", "∞").partition("e")
    if is_power:
        power = "10" + str(int(exponent)).translate(_ABOVE)
        mantissa = {"1": power, "-1": f"-{power}"}.get(mantissa, f"{mantissa}·{power}")
    return mantissa.replace("-", "−")


def along(value: Any, axes: str) -> str:
    """Return a nested list in words: ``label, group`` names its first two axes; ``and`` joins the entries of one."""
    axis, _, inner = axes.partition(",")
    axis = axis.strip()
    if not axis:
        return number(value)
    shown = [along(entry, inner) for entry in value]
    if axis == "and":
        return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
    sign, between = (" – ", "; ") if inner else (": ", ", ")
    return between.join(f"{axis} {index}{sign}{said}" for index, said in enumerate(shown))


def case_in_words(case: Mapping[str, Any]) -> str:
    """Return a case as text: the symbol and the value of each of its arguments."""
    return ", ".join(f"{symbol(name)} = {number(value)}" for name, value in plain(dict(case)).items())


class _Filling(string.Formatter):
    """Writes the values of a case into a sentence, as a page shows them."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return one value as text; the format of a nested list names its axes."""
        return along(value, format_spec)


def witness_in_words(sentence: str, case: Mapping[str, Any]) -> str:
    """Return a claim's sentence on its witness with the values of the case.

    Raises
    ------
    KeyError
        If the sentence names an argument that the case has not.
    """
    return _Filling().vformat(sentence, (), plain(dict(case)))
