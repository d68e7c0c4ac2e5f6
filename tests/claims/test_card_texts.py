"""What a card says of a claim: the field's words, and no sentence of more than 40 words."""

import re

import pytest

from dpfair_lib.claims import CLAIMS, claim

WORDS = 40
HOUSE_WORDS = re.compile(r"\b(?:laws?|told)\b", re.IGNORECASE)
TEXTS = ("statement", "finding", "headline", "witness", "because")
OF_ERRATA = ("printed", "correct", "why", "used")


def complaints(text):
    """Return the words of a text that the field does not use, and its sentences that are too long."""
    sentences = re.split(r"(?<=[.!?])\s+", text)
    long = [one for one in sentences if len(re.findall(r"\S*\w\S*", one)) > WORDS]
    return HOUSE_WORDS.findall(text) + long


@pytest.mark.parametrize("name", CLAIMS)
def test_a_card_speaks_plainly(name):
    entry = claim(name)
    texts = {part: getattr(entry, part) for part in TEXTS}
    texts |= {
        f"{part} of erratum {number}": getattr(erratum, part)
        for number, erratum in enumerate(entry.errata)
        for part in OF_ERRATA
    }
    found = {part: complaints(text) for part, text in texts.items() if complaints(text)}
    assert not found, f"{name}: use other words, and sentences of at most {WORDS} words: {found}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("All laws are fair.", ["laws"]),
        ("Law of A. Nobody is told.", ["Law", "told"]),
        ("One " * 40 + ".", []),
        ("Short. " + "one " * 41 + ".", ["one " * 41 + "."]),
        ("The lawful outlaw untold.", []),
    ],
)
def test_a_house_word_or_a_long_sentence_is_found(text, found):
    assert complaints(text) == found
