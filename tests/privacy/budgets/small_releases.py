"""Releases about tables of at most two records whose laws are fractions, and what they reveal together, exactly.

A record is (group, feature), each 0 or 1. A table is a tuple of records, whose places count.
"""

import itertools
from fractions import Fraction

RECORDS = tuple(itertools.product((0, 1), repeat=2))
TABLES = tuple(table for n in range(3) for table in itertools.product(RECORDS, repeat=n))


def group(record):
    return record[0]


def feature(record):
    return record[1]


def either(record):
    return record[0] ^ record[1]


QUERIES = {"groups": group, "features": feature, "either": either, "records": lambda _: 1}
"""What is counted."""
KEPT = {
    "replace-one": lambda _: None,
    "replace-within-group": group,
    "sensitive-attribute": feature,
    "local": lambda _: None,
}
"""What of a record stays when it is replaced."""
SPLITS = {
    "position": lambda place, _: place % 2,
    "group": lambda _, record: group(record),
    "features": lambda _, record: feature(record),
    "record": lambda _, record: either(record),
}
"""In which part a record is."""


def neighbours(relation):
    """Return every ordered pair of tables that are neighbours."""
    if relation == "add-remove":
        pairs = {
            (table, table[:place] + table[place + 1 :]) for table in TABLES for place in range(len(table))
        }
    else:
        pairs = {
            (table, (*table[:place], other, *table[place + 1 :]))
            for table in TABLES
            for place, record in enumerate(table)
            for other in RECORDS
            if other != record and KEPT[relation](record) == KEPT[relation](other)
        }
    return sorted(pairs | {(other, one) for one, other in pairs})


def counted(odds, fails, query, reach=(0, 2)):
    """Return a release: table → its law. With probability ``fails`` it shows the table; else a sum with noise.

    The noise is geometric, cut off at both ends of ``reach``: e^ε is ``odds`` for tables whose sums differ by 1.
    """
    odds, (low, high) = Fraction(odds), reach

    def law(table):
        total = sum(query(record) for record in table)
        noisy = {end: odds ** (1 - abs(end - total)) / (odds + 1) for end in reach}
        noisy |= {at: (odds - 1) / (odds + 1) * odds ** -abs(at - total) for at in range(low + 1, high)}
        return {**{shown: chance * (1 - fails) for shown, chance in noisy.items()}, table: Fraction(fails)}

    return law


def rising(odds, fails, query):
    """Return a release that says yes with a chance that rises as steeply with a sum from −2 to 2 as e^ε and δ allow."""

    def law(table):
        chance = Fraction(0)
        for _ in range(sum(query(record) for record in table) + 2):
            chance = odds * chance + fails
        return {"yes": chance, "no": 1 - chance}

    return law


def one_after_the_other(first, seconds):
    """Return the joint release of ``first`` and, by whether it showed less than 2, one of ``seconds``."""

    def law(table):
        return {
            (shown, more): chance * after
            for shown, chance in first(table).items()
            for more, after in seconds[shown in (0, 1)](table).items()
        }

    return law


def on_parts(one, other, part):
    """Return the joint release of ``one`` and ``other``, each about its part of the table."""

    def law(table):
        parts = [tuple(r for place, r in enumerate(table) if part(place, r) == at) for at in (0, 1)]
        return {
            (shown, more): chance * after
            for shown, chance in one(parts[0]).items()
            for more, after in other(parts[1]).items()
        }

    return law


def on_parts_by_coins(one, other):
    """Return the same where a hidden coin of its own assigns each place."""

    def law(table):
        together = {}
        for coins in itertools.product((0, 1), repeat=len(table)):
            for shown, chance in on_parts(one, other, lambda place, _, c=coins: c[place])(table).items():
                together[shown] = together.get(shown, 0) + chance / 2 ** len(table)
        return together

    return law


def revealed(release, relation, odds):
    """Return the smallest δ at e^ε = ``odds`` over all neighbours, exactly."""
    laws = {table: release(table) for table in TABLES}
    return max(
        sum(max(chance - odds * laws[other].get(shown, 0), 0) for shown, chance in laws[one].items())
        for one, other in neighbours(relation)
    )
