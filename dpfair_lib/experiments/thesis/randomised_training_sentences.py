"""The sentences of the thesis, §§ 5.7.2 and 5.7.3, on Figures 5.1–5.10, as contrasts tested on trials."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from dpfair_lib.experiments.thesis.randomised_training import LEVELS, SIGNED
from dpfair_lib.experiments.thesis.randomised_training_summary import (
    GAPS,
    Configuration,
    Contrast,
    Terms,
    Trials,
    contrast,
)
from dpfair_lib.local.subsets import subset_size

Kind = Literal["smaller", "alike"]
Outcome = Literal["confirmed", "in part", "not seen", "contradicted"]

BINARY = ("adult-gender", "lsac-gender")
GROUPS = {
    "adult-gender": 2,
    "lsac-gender": 2,
    "adult-race": 5,
    "lsac-family-income": 5,
    "adult-race-gender": 10,
}
LARGER = ("adult-race", "lsac-family-income", "adult-race-gender")
UTILITY = 0.01  # "little to no effect": within one point of accuracy or F1
SIMILAR = 0.02  # "similarly": gaps within two points
FACTOR = 0.75  # "almost half" is not three quarters
POINTS = 0.02  # "at least a 2 % reduction", in points; relative to the gap it is a milder statement


class Sentence(NamedTuple):
    """A sentence: it says that every contrast is below 0 ("smaller"), or within ± the margin ("alike").

    Attributes
    ----------
    name, where, says : str
        A key; the place; the sentence in our words.
    kind : str
        "smaller" or "alike".
    contrasts : tuple
        Measure and terms of each.
    margin : float
        For "alike" how far from 0; for "smaller" what the contrast must be below, 0 or less.
    """

    name: str
    where: str
    says: str
    kind: Kind
    contrasts: tuple[tuple[str, Terms], ...]
    margin: float = 0.0


def _less(setting: str, first: str, epsilon: float, second: str, factor: float = 1.0) -> Terms:
    other = Configuration(setting, second, None if second in ("none", "left out") else epsilon)
    return ((1.0, Configuration(setting, first, epsilon)), (-factor, other))


def _each(
    settings: tuple[str, ...], measures: tuple[str, ...], levels: tuple[float, ...], others: tuple[str, ...],
    *, method: str = "OPT", factor: float = 1.0,
) -> tuple[tuple[str, Terms], ...]:  # fmt: skip
    """Every comparison once: SS is compared with GRR only where its reports are sets; elsewhere it is GRR."""
    return tuple(
        (measure, _less(setting, method, epsilon, other, factor))
        for setting in settings
        for measure in measures
        for epsilon in levels
        for other in others
        if other != "SS" or subset_size(GROUPS[setting], math.exp(epsilon)) > 1
    )


def _widening(levels: tuple[float, ...]) -> Iterator[tuple[str, Terms]]:
    """(OPT − GRR at the largest ε) − (OPT − GRR at the smallest)."""
    for setting in BINARY:
        for measure in GAPS:
            late, early = (_less(setting, "OPT", epsilon, "GRR") for epsilon in (levels[-1], levels[0]))
            yield measure, (*late, *((-weight, named) for weight, named in early))


def _larger_groups() -> Iterator[tuple[str, Terms]]:
    """The gap for two groups less that for ten, on Adult with the attribute as it is: what tends to be, end to end."""
    for measure in GAPS:
        yield measure, ((1.0, Configuration(BINARY[0], "none")), (-1.0, Configuration(LARGER[-1], "none")))


def _on_average(
    setting: str, levels: tuple[float, ...], others: tuple[str, ...], *, measures: tuple[str, ...] = GAPS,
    factor: float = 1.0,
) -> tuple[tuple[str, Terms], ...]:  # fmt: skip
    """The mean over levels of OPT's gap, less a multiple of the other's."""
    found: list[tuple[str, Terms]] = []
    for measure in measures:
        for other in others:
            pairs = [_less(setting, "OPT", epsilon, other, factor) for epsilon in levels]
            terms = tuple((weight / len(levels), named) for pair in pairs for weight, named in pair)
            found.append((measure, terms))
    return tuple(found)


def _threshold(levels: tuple[float, ...], method: str) -> tuple[tuple[str, Terms], ...]:
    return _each(LARGER, GAPS, levels, ("GRR",), method=method)


_SMALLER = "OPT's gaps are smaller than those of GRR, SS and no LDP, at every ε."


def sentences(levels: tuple[float, ...] = LEVELS) -> tuple[Sentence, ...]:
    """Return the sentences, as contrasts at these ε, ascending."""
    small = tuple(level for level in levels if level <= 1)
    large = tuple(level for level in levels if level >= 8)
    middle = tuple(level for level in levels if 1 < level < 8)
    return (
        Sentence("utility, two groups", "§ 5.7.2, Figures 5.1, 5.3",
                 "At every ε OPT's accuracy and F1 are nearly those of GRR, of SS and of no LDP.",
                 "alike", _each(BINARY, ("accuracy", "f1"), levels, ("GRR", "SS", "none")), UTILITY),
        Sentence("gaps, Adult", "§ 5.7.2, Figure 5.2", _SMALLER,
                 "smaller", _each(("adult-gender",), GAPS, levels, ("GRR", "SS", "none"))),
        Sentence("gaps, LSAC", "§ 5.7.2, Figure 5.4", _SMALLER,
                 "smaller", _each(("lsac-gender",), GAPS, levels, ("GRR", "SS", "none"))),
        Sentence("gaps, small ε", "§ 5.7.2", "For small ε (up to 1) OPT's gaps are smaller than those of GRR and SS.",
                 "smaller", _each(BINARY, GAPS, small, ("GRR", "SS"))),
        Sentence("widening", "§ 5.7.2", "The larger ε, the further OPT's gaps are below those of GRR.",
                 "smaller", tuple(_widening(levels))),
        Sentence("less than none, LSAC, signed", "§ 5.7.2",
                 "OPT's gaps are smaller than with no LDP for large ε (on average), differences with their sign.",
                 "smaller", _on_average("lsac-gender", large, ("none",), measures=SIGNED)),
        Sentence("almost half, LSAC, signed", "§ 5.7.2", "The next sentence, differences with their sign.",
                 "smaller", _on_average("lsac-gender", large, ("GRR", "none"), measures=SIGNED, factor=FACTOR)),
        Sentence("almost half, LSAC", "§ 5.7.2", "For large ε (from 8, on average) OPT's gaps are half of the others'.",
                 "smaller", _on_average("lsac-gender", large, ("GRR", "none"), factor=FACTOR)),
        Sentence("2 %, Adult, in points", "§ 5.7.2", "For large ε OPT's gaps are lower by 2 % or more, read as points.",
                 "smaller", _on_average("adult-gender", large, ("none",)), -POINTS),
        Sentence("2 %, Adult, in proportion", "§ 5.7.2", "For large ε OPT's gaps are lower by 2 % or more of the gap.",
                 "smaller", _on_average("adult-gender", large, ("none",), factor=1 - POINTS)),
        Sentence("no convergence", "§ 5.7.2", "At the largest ε OPT's gaps are still below those without LDP.",
                 "smaller", _each(BINARY, GAPS, levels[-1:], ("none",))),
        Sentence("utility, more groups", "§ 5.7.3, Figures 5.5, 5.7, 5.9",
                 "Accuracy and F1 are nearly the same for OPT, GRR, SS and no LDP.",
                 "alike", _each(LARGER, ("accuracy", "f1"), levels, ("GRR", "SS", "none")), UTILITY),
        Sentence("similar for small ε", "§ 5.7.3", "For small ε (up to 1) OPT's gaps are like those of GRR and SS.",
                 "alike", _each(LARGER, GAPS, small, ("GRR", "SS")), SIMILAR),
        Sentence("beyond a threshold", "§ 5.7.3, Figures 5.6, 5.8, 5.10",
                 "From some ε on (here from 8) OPT's gaps are smaller than those of GRR and SS; ζ is ζ_min itself.",
                 "smaller", _threshold(large, "OPT")),
        Sentence("beyond a threshold, middle ε", "§ 5.7.3", "The same between 1 and 8.",
                 "smaller", _threshold(middle, "OPT")),
        Sentence("beyond a threshold, ζ to hundredths", "§ 5.7.3", "The same with ζ_min rounded up to hundredths.",
                 "smaller", _threshold(large, "OPT, ζ to hundredths")),
        Sentence("beyond a threshold, ζ to tenths", "§ 5.7.3", "The same with ζ_min rounded up to tenths.",
                 "smaller", _threshold(large, "OPT, ζ to tenths")),
        Sentence("more groups, larger gaps", "§ 5.7.3", "On Adult gaps are larger for ten groups than for two.",
                 "smaller", tuple(_larger_groups())),
        Sentence("effective for ten groups", "§ 5.7.3",
                 "For race and gender together OPT has smaller gaps than no LDP, at every ε.",
                 "smaller", _each(("adult-race-gender",), GAPS, levels, ("none",))),
        Sentence("effective for five groups", "§ 5.7.3", "For race and family income too.",
                 "smaller", _each(("adult-race", "lsac-family-income"), GAPS, levels, ("none",))),
        Sentence("against leaving out", "ours",
                 "OPT's gaps are smaller than those of a classifier that never sees the attribute.",
                 "smaller", _each((*BINARY, *LARGER), GAPS, levels, ("left out",))),
        Sentence("plain response of OPT's truth", "ours",
                 "Plain randomised response of OPT's truth probability, at a smaller ε, has smaller gaps than OPT.",
                 "smaller", _each(BINARY, GAPS, levels, ("OPT",), method="RR, as true as OPT")),
    )  # fmt: skip


class Judged(NamedTuple):
    """A sentence's contrasts: how many are clearly as it says, clearly the other way, and all; and the outcome."""

    sentence: Sentence
    found: tuple[Contrast, ...]
    agreeing: int
    opposing: int

    @property
    def outcome(self) -> Outcome:
        """What the trials say of the sentence."""
        if self.opposing:
            return "contradicted"
        if self.agreeing == len(self.found):
            return "confirmed"
        return "in part" if self.agreeing else "not seen"


def judge_sentence(
    trials: Trials, sentence: Sentence, *, of: Callable[..., Contrast] = contrast, new_data: bool = False
) -> Judged:
    """Hold a sentence to the trials; its contrasts hold together by 95 %.

    Parameters
    ----------
    trials : mapping
        Of `by_configuration`.
    sentence : Sentence
        Which.
    of : callable
        Makes a contrast.
    new_data : bool
        Whether intervals are for rows not yet seen; by default for other splits of these rows.

    Returns
    -------
    Judged
        "contradicted" if a contrast's interval is wholly on the other side, "confirmed" if all are on the side that the
        sentence says, "in part" if some are, "not seen" if none is.
    """
    found = tuple(
        of(trials, measure, terms, comparisons=len(sentence.contrasts))
        for measure, terms in sentence.contrasts
    )
    halves = [one.half_width_new_data if new_data else one.half_width for one in found]
    if sentence.kind == "alike":
        agree = [abs(one.mean) + half <= sentence.margin for one, half in zip(found, halves, strict=True)]
        oppose = [abs(one.mean) - half > sentence.margin for one, half in zip(found, halves, strict=True)]
    else:
        agree = [one.mean + half < sentence.margin for one, half in zip(found, halves, strict=True)]
        oppose = [one.mean - half > sentence.margin for one, half in zip(found, halves, strict=True)]
    return Judged(sentence, found, sum(agree), sum(oppose))
