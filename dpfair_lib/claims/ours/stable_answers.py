"""Answers by a keyed hash in place of fresh draws: their chances, their spread, and their privacy."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.fairness.stable_answers import PersonalDraws, StableAnswers

STEP = Fraction(1, 2**53)
PEOPLE = 12_000
FAILURE = 1e-9  # of a comparison, if the hash is random
CHANCES = (Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10))
KEYS = [bytes([number]) * 16 for number in range(1, 49)]


def check(*, search: Search, answers: Callable[..., Any] = StableAnswers) -> Evidence:
    """Equal identifiers have equal draws, others look random; chances are rounded up; nothing leaks but the release."""
    _draws(answers, search)
    _rounding(search)
    _shared_identifiers(answers, search)
    _privacy(answers, search)
    return search.evidence()


def _draws(answers: Callable[..., Any], search: Search) -> None:
    """Multiples of 2⁻⁵³, spread as uniform numbers, another for each purpose and key, the same at every call."""
    search.part("one draw for each person")
    people = [f"person {number}" for number in range(PEOPLE)]
    allowed = math.sqrt(math.log(2 / FAILURE) / (2 * PEOPLE))
    drawn = []
    for key, purpose in ((KEYS[0], "loan"), (KEYS[0], "job"), (KEYS[1], "loan")):
        numbers = answers(key, purpose=purpose).of(people).numbers(PEOPLE)
        whole = numbers * 2.0**53
        case = {"purpose": purpose, "person": np.arange(PEOPLE)}
        search.agree(whole == np.floor(whole), np.full(PEOPLE, True), case)
        search.observe(np.minimum(numbers, 1 - 2.0**-53 - numbers), case)
        again = answers(key, purpose=purpose).of(people[999::-1]).numbers(1000)[::-1]
        search.agree(again == numbers[:1000], np.full(1000, True), {"purpose": purpose})
        for chance in CHANCES:
            search.observe(
                allowed - abs(float((numbers < chance).mean()) - float(chance)),
                {"p": chance, "purpose": purpose},
            )
        drawn.append(numbers)
    for one, other in itertools.combinations(
        drawn, 2
    ):  # as independent: both below ½ for a quarter of the people
        both = float(((one < 0.5) & (other < 0.5)).mean())
        search.observe(allowed - abs(both - 0.25), {"draws": "of two purposes or keys"})
    low = drawn[0] < 0.5
    search.observe(
        allowed * 2 - abs(float((low[1:] & low[:-1]).mean()) - 0.25), {"draws": "of people in turn"}
    )


def _rounding(search: Search) -> None:
    """The chance that k·2⁻⁵³ < p, for k uniform: p rounded up."""
    search.part("rounding")
    tenths = [k / 10 for k in range(11)]
    tiny = [5e-324, 2.0**-1000, 2.0**-54, 2.0**-53, 1e-16, 1 / 3, 0.5, 1 - 2.0**-53]
    for p in (*tenths, *tiny, *map(float, search.rng.random(500)), *map(float, search.rng.random(500) ** 20)):
        below = math.ceil(Fraction(p) * 2**53)  # how many k
        if below:
            search.agree((below - 1) * 2.0**-53 < p, True, {"p": p})
        search.agree(below < 2**53 and below * 2.0**-53 < p, False, {"p": p})
        more = below * STEP - Fraction(p)
        search.observe(more, {"p": p})
        search.agree(more < STEP, True, {"p": p})


def _shared_identifiers(answers: Callable[..., Any], search: Search) -> None:
    """The variance of the rate, over all answers of the people who are told apart by their draws."""
    search.part("people who share an identifier")
    for sizes in itertools.combinations_with_replacement(range(1, 5), 3):
        rows = [f"household {at}" for at, size in enumerate(sizes) for _ in range(size)]
        total = len(rows)
        numbers = answers(KEYS[sum(sizes)], purpose="loan").of(rows).numbers(total)
        apart = list(Counter(numbers.tolist()).values())
        for p in CHANCES:
            found = _variance(apart, p)
            stated = p * (1 - p) / total * Fraction(sum(m * m for m in sizes), total)
            search.equal(found, stated, {"people of each identifier": sizes, "p": p})
    search.exhausts(
        "three identifiers of one to four people each, at four chances", cases=math.comb(6, 3) * len(CHANCES)
    )
    pairs = _variance([2, 2, 2], Fraction(1, 2))
    search.needs(
        "an identifier for each person, for the spread of separate draws: with two people for each",
        slack=_variance([1] * 6, Fraction(1, 2)) - pairs,
        case={"people": 6, "p": Fraction(1, 2)},
    )
    # two people of one identifier at ½, and a third who is surely refused: 4 · ¼ in place of 2 · ¼, over 3²
    separate, shared = Fraction(2, 4 * 9), Fraction(4, 4 * 9)
    search.needs(
        "one chance for all, for the factor: with two chances",
        slack=Fraction(4 + 1, 3) * separate - shared,
        case={"people of each identifier": (2, 1), "p": (Fraction(1, 2), 0)},
    )


def _variance(sizes: Sequence[int], p: Fraction) -> Fraction:
    """Return the variance of the share of ones, where each group of people has one answer: over all answers."""
    total, mean, square = sum(sizes), Fraction(0), Fraction(0)
    for ones in itertools.product((0, 1), repeat=len(sizes)):
        chance = math.prod((p if one else 1 - p for one in ones), start=Fraction(1))
        rate = Fraction(sum(m * one for m, one in zip(sizes, ones, strict=True)), total)
        mean, square = mean + chance * rate, square + chance * rate * rate
    return square - mean * mean


def _privacy(answers: Callable[..., Any], search: Search) -> None:
    """Key and answers together, for a release that is private at e^ε = 2: a chance of ¼, ½ or ¾ for everybody."""
    search.part("privacy")
    laws = (
        [Fraction(4, 7), Fraction(2, 7), Fraction(1, 7)],
        [Fraction(2, 7), Fraction(3, 7), Fraction(2, 7)],
    )
    chances, people, odds = (0.25, 0.5, 0.75), ["a", "b", "c"], Fraction(2)
    seen: list[dict[Any, Fraction]] = []
    for law in laws:
        joint: dict[Any, Fraction] = defaultdict(Fraction)
        for key in KEYS:
            numbers = answers(key, purpose="loan").of(people).numbers(len(people))
            for p, chance in zip(chances, law, strict=True):
                joint[key, tuple((numbers < p).tolist())] += chance / len(KEYS)
        seen.append(joint)
        search.equal(sum(joint.values()), 1, {"keys": len(KEYS)})
    for event in {**seen[0], **seen[1]}:
        for one, other in (seen, seen[::-1]):
            search.observe(
                odds * other[event] - one[event], {"key": KEYS.index(event[0]), "answers": event[1]}
            )
    different = {answered for _, answered in seen[0]}
    search.observe(len(different) - 6, {"answers": "that some key gives"})  # else the keys decide nothing
    # each data set with keys of its own
    half = len(KEYS) // 2
    own = [Fraction(sum(1 for key in KEYS[:half] if key == first), half) for first in (KEYS[0], KEYS[-1])]
    search.needs(
        "that the key is drawn independently of the data: with keys of its own for each data set",
        slack=odds * own[1] - own[0],
        case={"key": 0},
    )


class _Draws:
    """Answers whose numbers are changed on the way."""

    def __init__(self, key: bytes, purpose: str, change: Callable[..., Any]) -> None:
        self.key, self.purpose, self.change = key, purpose, change

    def of(self, people: Sequence[str]) -> PersonalDraws:
        return PersonalDraws(self.change(StableAnswers(self.key, purpose=self.purpose), people))


def _wrong(change: Callable[..., Any]) -> Callable[..., Any]:
    return lambda key, *, purpose: _Draws(key, purpose, change)


def _numbers(answers: StableAnswers, people: Sequence[str]) -> np.ndarray:
    return answers.of(people).numbers(len(people))


FAULTS: dict[str, dict[str, Any]] = {
    "a draw for each row": {
        "answers": _wrong(lambda own, people: _numbers(own, [f"{at} {one}" for at, one in enumerate(people)]))
    },
    "the last digit of an identifier alone": {
        "answers": _wrong(lambda own, people: _numbers(own, [one[-1] for one in people]))
    },
    "one purpose for all": {"answers": lambda key, *, purpose: StableAnswers(key, purpose="" * len(purpose))},
    "one key for all": {
        "answers": lambda key, *, purpose: StableAnswers(KEYS[0][: len(key)], purpose=purpose)
    },
    "the lower half of the numbers": {
        "answers": _wrong(lambda own, people: np.floor(_numbers(own, people) * 2.0**52) * 2.0**-53)
    },
    "one digit more": {"answers": _wrong(lambda own, people: _numbers(own, people) / 2 + 2.0**-55)},
}


CLAIM = Claim(
    id="ours.stable-answers",
    where="A private and fair model, Result 5",
    statement="A secret key, drawn independently of the data, and a person's identifier determine a multiple U of "
    "2⁻⁵³. Answer 1 if U < p, where p follows from the release and the question. Then all answers to given questions, "
    "even with the key, are as private as the release. For a random hash the chance of 1 lies in [p, p + 2⁻⁵³). With "
    "m_j people for identifier j, all of one chance p, the variance of the rate is ∑ m_j^2 / ∑ m_j times that of "
    "separate draws.",
    verdict="holds",
    finding="That the hash is as good as random is an assumption; counts of 12,000 people agree with it. A key that "
    "depends on the data gives it away.",
    headline="Answers drawn by a keyed hash cost no privacy and stay when they are asked for again; people who share "
    "an identifier make the rates vary more.",
    kind="theorem",
    chapter="private-and-fair-model",
    check=check,
    faults=FAULTS,
)
