import copy
import hashlib
import itertools
import json
import pickle
import secrets
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import binom

import dpfair_lib as dpf
from dpfair_lib.fairness import expected_parity_difference, stable_answers
from dpfair_lib.fairness.draws import count_law, drawn_labels
from dpfair_lib.fairness.stable_answers import PersonalDraws

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
PEOPLE = [f"person {at}" for at in range(500)]


def numbers(identifiers, key=KEY, **options):
    draws = dpf.StableAnswers(key, **options).of(identifiers)
    return draws.numbers(len(draws)).tolist()


def by_hand(key, message):
    """HMAC-SHA-256 by its definition, the first 53 bits of it divided by 2⁵³."""
    padded = (key if len(key) <= 64 else hashlib.sha256(key).digest()).ljust(64, b"\0")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in padded) + message).digest()
    digest = hashlib.sha256(bytes(b ^ 0x5C for b in padded) + inner).digest()
    return Fraction(int.from_bytes(digest, "big") >> 203, 2**53)


@pytest.mark.parametrize("key", [KEY, b"k" * 16, b"k" * 200])
def test_the_numbers_are_those_of_the_hash_and_so_the_same_in_every_version(key):
    cases = {
        b"p0:s3:abc": "abc", b"p0:s3:\xc3\xa9!": "é!", b"p0:b2:\x00\xff": b"\x00\xff", b"p0:i2:ff": 255,
        b"p0:i2:-1": -1, b"p0:f20:0x1.999999999999ap-4": 0.1,
    }  # fmt: skip
    for message, identifier in cases.items():
        assert [Fraction(u) for u in numbers([identifier], key)] == [by_hand(key, message)]
    assert Fraction(numbers([("a", 1)], key, purpose="loan")[0]) == by_hand(key, b"p4:loans1:ai1:1")


# --- stable, and not by accident ---
ASK = "import json, dpfair_lib as d; print(json.dumps(list(d.StableAnswers(bytes(range(32))).of({}).numbers({}))))"


def check_stable():
    """Raise unless two calls, two objects with the key, and another process give the same numbers."""
    answers, few = dpf.StableAnswers(KEY), PEOPLE[:5]
    first = answers.of(few).numbers(5).tolist()
    assert answers.of(few).numbers(5).tolist() == first == numbers(few)
    assert answers.of(few[::-1]).numbers(5).tolist() == first[::-1], "it depends on the other rows"
    assert len(set(first)) == 5


def check_process():
    shown = subprocess.run(
        [sys.executable, "-c", ASK.format(PEOPLE[:5], 5)], check=True, capture_output=True, text=True
    ).stdout
    assert json.loads(shown) == numbers(PEOPLE[:5])


def check_key_is_drawn(monkeypatch):
    """Raise unless the key comes from the operating system, and from nothing else."""
    drawn = []
    with monkeypatch.context() as planted:
        planted.setattr(secrets, "token_bytes", lambda n: drawn.append(n) or bytes([len(drawn) % 2] * n))
        first, second, third = (numbers(PEOPLE, None) for _ in range(3))
    assert drawn == [32] * 3
    assert first == third
    assert not set(first) & set(second), "the key is known from the people"


def caught(check, *arguments):
    try:
        check(*arguments)
    except AssertionError:
        return True
    return False


def test_the_same_person_gets_the_same_number_everywhere(monkeypatch):
    check_stable()
    check_process()
    check_key_is_drawn(monkeypatch)


def test_fresh_draws_in_disguise_are_caught(monkeypatch):
    usual, calls = stable_answers.hmac.digest, itertools.count()
    faults = {
        "salted at each call": lambda key, m, how: usual(key, m + b"%d" % next(calls), how),
        "random bytes": lambda *_: secrets.token_bytes(32),
        "Python's hash": lambda key, m, _: hash((key, m)).to_bytes(8, "big", signed=True),
    }
    for name, fault in faults.items():
        with monkeypatch.context() as planted:
            planted.setattr(stable_answers.hmac, "digest", fault)
            assert caught(check_process if name == "Python's hash" else check_stable), name


def test_a_key_made_of_the_data_is_caught(monkeypatch):
    usual = dpf.StableAnswers.of

    def of(self, identifiers):
        self._key = hashlib.sha256(repr(identifiers).encode()).digest()
        return usual(self, identifiers)

    monkeypatch.setattr(dpf.StableAnswers, "of", of)
    assert caught(check_key_is_drawn, monkeypatch)
    assert caught(check_stable)


# --- which identifiers are one ---
def check_columns():
    """Raise unless every column counts, the group among them, and its place too."""
    rows = list(itertools.product(["ann", "bo"], ["m", "f"], [1, 2]))
    assert len(set(numbers(rows))) == 8
    frame = pd.DataFrame(rows, columns=["name", "group", "row"])
    assert numbers(frame) == numbers(rows) == numbers(frame.rename(columns=str.upper))
    assert not set(numbers(frame)) & set(numbers(frame[["group", "name", "row"]]))
    assert len(set(numbers([("ab", "c"), ("a", "bc"), ("", "abc"), ("abc", "")]))) == 4


def test_every_column_counts(monkeypatch):
    check_columns()
    usual = stable_answers._rows
    for fault in (
        lambda i: [row[:-1] or row for row in usual(i)],
        lambda i: [(row[0], row[-1]) for row in usual(i)],  # the group is ignored
        lambda i: [tuple(sorted(map(str, row))) for row in usual(i)],
    ):
        with monkeypatch.context() as planted:
            planted.setattr(stable_answers, "_rows", fault)
            assert caught(check_columns)
    monkeypatch.setattr(stable_answers, "_framed", lambda _, value: value)
    assert caught(check_columns)


def test_equal_numbers_of_any_type_are_one_person_and_strings_are_others():
    forms = [
        [1, 0], [1.0, -0.0], [True, False], np.array([1, 0], dtype=np.int8), pd.Series([1, 0], dtype="Int64"),
        np.array([1, 0], dtype=np.float32), torch.tensor([1, 0]), pd.Index([1, 0]), np.array([[1], [0]]),
        pd.Series([1, 0], dtype="category"), np.array([np.int64(1), np.float64(0)], dtype=object),
    ]  # fmt: skip
    assert len({tuple(numbers(form)) for form in forms}) == 1
    assert len({*numbers([1, "1", b"1", 1.5, "1.5", 10**400, 2**400, 2.0**400])}) == 7


def test_a_purpose_and_a_key_are_draws_of_their_own():
    found = [
        numbers(PEOPLE),
        numbers(PEOPLE, OTHER),
        numbers(PEOPLE, purpose="loan"),
        numbers(PEOPLE, purpose="job"),
    ]
    assert len({u for one in found for u in one}) == 2000
    both = binom.cdf(((np.array(found[2]) < 0.5) == (np.array(found[3]) < 0.5)).sum(), 500, 0.5)
    assert 1e-6 < both < 1 - 1e-6


# --- the law ---
def check_uniform(draws):
    """Raise unless events have their probability, but for a failure probability below 1e-6."""
    chances = [(draws < t, t) for t in (0.001, 0.1, 0.3, 0.5, 0.9)]
    bits = (draws * 2**53).astype(np.uint64)
    chances += [((bits >> np.uint64(at)) & np.uint64(1) == 1, 0.5) for at in range(53)]
    chances += [(draws[1:] < draws[:-1], 0.5)]
    for event, chance in chances[:-1]:
        hits = int(event.sum())
        assert min(binom.cdf(hits, len(event), chance), binom.sf(hits - 1, len(event), chance)) > 1e-8
    # neighbours share a number, so the variance of this one is n/12
    event, _ = chances[-1]
    assert abs(event.sum() - len(event) / 2) < 6 * (len(event) / 12) ** 0.5


def test_the_numbers_are_uniform_to_the_last_bit():
    draws = np.array(numbers(list(range(50_000))))
    assert ((draws * 2**53) % 1 == 0).all()
    assert (draws >= 0).all()
    assert (draws < 1).all()
    check_uniform(draws)
    assert caught(check_uniform, np.floor(draws * 2**32) / 2**32)  # 32 bits
    assert caught(check_uniform, draws**1.05)
    assert caught(check_uniform, np.sort(draws))


def test_rounding_adds_less_than_one_part_in_two_to_the_53():
    rng = np.random.default_rng(0)
    unit = Fraction(1, 2**53)
    for p in [*rng.random(200), *(10.0 ** rng.uniform(-18, 0, 200)), 0.0, 1.0, 5e-324, 0.5, 1 - 2.0**-53]:
        # numbers k/2⁵³ below p: those with k < p·2⁵³
        below = -(-Fraction(p) // unit)
        bias = below * unit - Fraction(p)
        assert 0 <= bias < unit
        assert bias == 0 or p < 0.5
        edge = PersonalDraws(np.array([float((below - 1) * unit), float(below * unit)]))
        if 0 < below < 2**53:  # the code changes its answer exactly there
            assert drawn_labels(np.full(2, p), edge).tolist() == [1, 0]
    ends = PersonalDraws(np.array([0.0, 1 - 2.0**-53]))
    assert drawn_labels(np.zeros(2), ends).tolist() == [0, 0]
    assert drawn_labels(np.ones(2), ends).tolist() == [1, 1]


# --- in the estimators ---
Y_PRED, GROUP = np.tile([1, 1, 0, 1, 0], 100), np.repeat(["a", "b"], 250)
TRUTH = np.where(
    np.arange(500) % np.where(GROUP == "a", 7, 3) == 0, 1 - Y_PRED, Y_PRED
)  # more errors in group b
STUDY = {"noise": "study", "random_state": 0}
FITTED = {
    "flips": lambda: dpf.FairPostprocessor(rate=0.6).fit(Y_PRED, sensitive_features=GROUP),
    "private flips": lambda: dpf.PrivateFairPostprocessor(0.01, **STUDY).fit(
        Y_PRED, sensitive_features=GROUP
    ),
    "odds": lambda: dpf.EqualizedOddsPostprocessor(gamma=0.0).fit(
        Y_PRED, y_true=TRUTH, sensitive_features=GROUP
    ),
}


@pytest.mark.parametrize("name", ["private flips", "odds"])
def test_asking_again_tells_nothing_new_and_each_person_has_the_right_chance(name):
    fitted = FITTED[name]()
    asked = {"y_pred": Y_PRED, "sensitive_features": GROUP}
    chances = fitted.predict_proba(**asked)[:, 1]
    assert ((chances > 0.02) & (chances < 0.98)).sum() >= 100
    stable = dpf.StableAnswers(KEY)
    answers = np.array([fitted.predict(**asked, random_state=stable.of(PEOPLE)) for _ in range(20)])
    assert (answers == answers[0]).all()
    fresh = np.mean([fitted.predict(**asked, random_state=None) for _ in range(200)], axis=0)
    assert abs(fresh - chances).max() < 0.25  # averages reveal the chances of each
    for chance in np.unique(chances):
        hits, rows = answers[0][chances == chance].sum(), (chances == chance).sum()
        assert min(binom.cdf(hits, rows, chance), binom.sf(hits - 1, rows, chance)) > 1e-9
    # moved with the people
    order = np.random.default_rng(0).permutation(500)
    moved = fitted.predict(
        Y_PRED[order], sensitive_features=GROUP[order], random_state=stable.of(np.array(PEOPLE)[order])
    )
    assert (moved == answers[0][order]).all()


def test_one_draw_for_each_row():
    fitted = FITTED["flips"]()
    with pytest.raises(ValueError, match="random_state: found draws of 499 identifiers for 500 rows"):
        fitted.predict(Y_PRED, sensitive_features=GROUP, random_state=dpf.StableAnswers(KEY).of(PEOPLE[:-1]))


# --- the secret ---
def test_the_key_is_shown_nowhere():
    answers, key = dpf.StableAnswers(KEY, purpose="loan"), KEY
    draws = answers.of(PEOPLE)
    for shown in (repr(answers), str(answers), repr(draws), f"{answers!r}"):
        assert repr(key)[2:-1] not in shown
        assert key.hex() not in shown
    assert repr(answers) == "StableAnswers(key=<not shown>, purpose='loan')"
    assert not hasattr(answers, "__dict__")
    assert [name for name in dir(answers) if not name.startswith("_")] == ["of", "purpose"]
    for take in (pickle.dumps, copy.copy, copy.deepcopy, lambda one: pickle.dumps({"inside": [one]}, 2)):
        with pytest.raises(TypeError, match="its key would go with it") as refused:
            take(answers)
        assert key.hex() not in str(refused.value)
    fitted = FITTED["flips"]()
    fitted.predict(Y_PRED, sensitive_features=GROUP, random_state=draws)
    assert key not in pickle.dumps(fitted)
    assert key not in pickle.dumps(draws)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("secret word of 20 let", "key: found a value of the type str, expected bytes, or None"),
        (bytearray(32), "key: found a value of the type bytearray"),
        (b"secret", "key: found 6 bytes, expected at least 16 random bytes"),
        (b"", "key: found 0 bytes"),
        (7, "key: found a value of the type int"),
    ],
)
def test_a_bad_key_is_refused_and_not_shown(key, message):
    with pytest.raises(ValueError, match=message) as refused:
        dpf.StableAnswers(key)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("identifiers", "message"),
    [
        ([], "found none"), ([[], []], "found none"), (pd.DataFrame(index=range(3)), "found none"), ("ann", "a single"),
        (3, "a single value"), (None, "a single value"), (["a", None], "type NoneType"), ([1.0, np.nan], "found nan"),
        ([1, np.inf], "found inf"), (pd.Series(["a", pd.NA], dtype="string"), "type NAType"), ([1j], "type complex"),
        ([[1, 2], [3]], "type list"), (np.zeros((2, 2, 2)), "found shape"), ([{"a": 1}], "type dict"),
        (np.array(["2020-01-01"], dtype="datetime64[ns]"), "dates"), (pd.Series(pd.to_datetime(["2020"])), "dates"),
        ([Fraction(1)], "type Fraction"),
    ],
)  # fmt: skip
def test_what_identifies_nobody_is_refused(identifiers, message):
    with pytest.raises(ValueError, match=f"^identifiers: found .*{message.removeprefix('found ')}"):
        dpf.StableAnswers(KEY).of(identifiers)


def test_a_purpose_is_a_string():
    with pytest.raises(ValueError, match="purpose: found 3, expected a string"):
        dpf.StableAnswers(KEY, purpose=3)


# --- people who share a draw ---
def gap_by_enumeration(chances, groups, records):
    """E|rate₀ − rate₁|, over all outcomes of one draw for each group and record."""
    cells = sorted(set(zip(groups, records, strict=True)))
    chance = {(g, r): p for p, g, r in zip(chances, groups, records, strict=True)}
    total = Fraction(0)
    for outcome in itertools.product((0, 1), repeat=len(cells)):
        label = dict(zip(cells, outcome, strict=True))
        weight = Fraction(1)
        for cell, one in label.items():
            weight *= chance[cell] if one else 1 - chance[cell]
        rates = [
            Fraction(
                sum(label[g, r] for g, r in zip(groups, records, strict=True) if g == a), groups.count(a)
            )
            for a in (0, 1)
        ]
        total += weight * abs(rates[0] - rates[1])
    return total


def test_the_gap_of_people_who_share_draws_is_that_of_all_outcomes():
    rng = np.random.default_rng(3)
    wider = 0
    for _ in range(20):
        n = int(rng.integers(4, 8))
        groups = [0, 1, *rng.integers(0, 2, n - 2).tolist()]
        records = rng.integers(0, 3, n).tolist()
        table = {(g, r): Fraction(int(rng.integers(1, 8)), 8) for g in (0, 1) for r in range(3)}
        chances = [table[cell] for cell in zip(groups, records, strict=True)]
        exact = expected_parity_difference(chances, sensitive_features=groups, identifiers=records)
        assert exact == gap_by_enumeration(chances, groups, records)
        alone = expected_parity_difference(chances, sensitive_features=groups)
        assert alone == gap_by_enumeration(chances, groups, list(range(n)))
        wider += exact > alone
    assert wider > 5


def test_a_count_of_trials_that_count_together():
    law = count_law([Fraction(1, 3), Fraction(1, 2)], [2, 1])
    assert law.tolist() == [Fraction(1, 3), Fraction(1, 3), Fraction(1, 6), Fraction(1, 6)]
    assert count_law([0.5, 0.5]).tolist() == [0.25, 0.5, 0.25]
    with pytest.raises(ValueError, match="people: found"):
        count_law([0.5], [0])
    with pytest.raises(ValueError, match="people: found"):
        count_law([0.5], [1.5])


def test_one_person_has_one_chance():
    with pytest.raises(ValueError, match="identifiers: found equal ones with different chances"):
        expected_parity_difference([0.2, 0.3, 0.1], sensitive_features=[0, 0, 1], identifiers=[5, 5, 6])
