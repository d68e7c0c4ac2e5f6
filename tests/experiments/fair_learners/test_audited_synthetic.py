"""Audits of private synthetic data: scores on counts that are known, a stand-in for dpmm's process, and the record."""

import json
import math
import sys

import numpy as np
import pytest
from scipy.stats import beta

from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.fair_learners import audited_synthetic
from dpfair_lib.experiments.fair_learners.audited_synthetic import (
    DELTA,
    EPSILON,
    EVEN,
    FAILURE,
    FAULTS,
    HALF,
    MODEL,
    OWN,
    RARE,
    TABLES,
    Found,
    Process,
    by_choice,
    by_columns,
    by_counts,
    by_counts_and_choice,
    by_rows,
    by_size,
    choice_epsilon,
    statement_of,
)

PAIRS = [(0, 1), (0, 2), (1, 2)]


def exact(table, rows, chosen=(0, 2)):
    """Return what a release would show without noise."""
    width, most = max(table.asked.sizes) + 1, max(table.asked.sizes) ** 2
    columns = [np.bincount(column, minlength=width) for column in rows.T]
    shown = [np.zeros(most) for _ in PAIRS]
    for at in chosen:
        left, right = PAIRS[at]
        flat = rows[:, left] * table.asked.sizes[right] + rows[:, right]
        shown[at] = np.bincount(flat, minlength=most)
    return np.concatenate([*columns, [float(at in chosen) for at in range(3)], *shown])[None].astype(float)


@pytest.mark.parametrize("table", [MODEL, OWN])
def test_the_record_moves_three_columns_and_two_pairs_by_one_each(table):
    first, second = (table.own_counts(exact(table, rows)) for rows in table.pair)
    assert first == 5
    assert second == 0


def test_without_noise_the_pair_that_is_chosen_second_depends_on_the_record():
    def weights(rows):
        even = [np.bincount(column, minlength=2) / len(EVEN) for column in EVEN.T]  # noisy counts, nearly
        found = []
        for left, right in PAIRS:
            counts = np.bincount(2 * rows[:, left] + rows[:, right], minlength=4)
            found.append(abs(counts - len(EVEN) * np.outer(even[left], even[right]).ravel()).sum())
        return np.array(found)

    first, second = (weights(rows) for rows in MODEL.pair)
    assert second[0] == second[1]
    assert second[2] == 2 * second[0]  # alike in all rows, so that it is chosen first
    assert (first - second).tolist() == [1, -1, -1]


def test_scores_are_those_of_the_likelihood():
    found = Found(0.5, 2.0, exact(MODEL, MODEL.pair[0]))
    other = Found(0.5, 2.0, exact(MODEL, MODEL.pair[0], (1, 2)))
    epsilon = choice_epsilon(0.5, 3)
    assert epsilon == pytest.approx(math.sqrt(8 * 0.5 / 3 / 2))
    moved = by_counts_and_choice(MODEL, found) - by_counts_and_choice(MODEL, other)
    assert moved == pytest.approx(epsilon)  # the odds of the two are e^ε' to 1
    assert by_counts(MODEL, found) == by_counts(MODEL, other) == 5
    assert (by_choice(MODEL, found), by_choice(MODEL, other)) == (1, 0)
    assert by_columns(MODEL, found) == 0
    assert by_columns(MODEL, Found(0.5, 2.0, exact(MODEL, MODEL.pair[1]))) == 1
    assert [by_size(OWN, Found(0.5, 2.0, exact(OWN, rows))).item() for rows in OWN.pair] == [1, 0]
    counts = [np.bincount(2 * rows[:, 0] + rows[:, 1], minlength=4)[None] for rows in RARE.pair]
    assert by_rows(RARE, Found(0.5, 2.0, counts[0])) - by_rows(RARE, Found(0.5, 2.0, counts[1])) == 3


def test_a_claim_without_enough_noise_is_refused():
    rho = 0.4856734145367747  # of ε = 2 and δ = 0.05
    sigma = math.sqrt(3 / (2 * rho))
    stated = statement_of(Found(rho, sigma, np.zeros((1, 1))), 3)
    assert (stated.epsilon, stated.delta, stated.relation) == (EPSILON, DELTA, "add-remove")
    assert not stated.guarantee
    with pytest.raises(RuntimeError, match="do not allow"):
        statement_of(Found(rho, sigma / 2, np.zeros((1, 1))), 3)


WORKER = """
import json, sys
import numpy as np

inward, outward = sys.stdin.buffer, sys.stdout.buffer
outward.write(json.dumps({"versions": {"dpmm": "9"}}).encode() + b"\\n")
outward.flush()
for line in iter(inward.readline, b""):
    asked = json.loads(line)
    n, k = asked["shape"]
    codes = np.frombuffer(inward.read(8 * n * k), dtype=np.int64).reshape(n, k)
    if asked["releases"] == 13:
        sys.exit(3)
    shown = np.full((asked["releases"], 2), float(codes.sum())) + np.arange(2)
    about = {"epsilon": asked["epsilon"], "delta": asked["delta"], "rho": 1.0, "sigma": 2.0, "width": 2}
    outward.write(json.dumps(about).encode() + b"\\n" + shown.tobytes())
    outward.flush()
"""


def test_tables_go_through_the_pipe(tmp_path, monkeypatch):
    path = tmp_path / "worker.py"
    path.write_text(WORKER, encoding="utf-8")
    monkeypatch.setattr(audited_synthetic, "WORKER", path)
    monkeypatch.setattr(audited_synthetic, "pinned_versions", lambda: {"dpmm": "9"})
    from pathlib import Path

    made = Process(Path(sys.executable))
    found = made.release(EVEN, MODEL.asked, 3, 0)
    assert (found.rho, found.sigma) == (1.0, 2.0)
    assert found.shown.tolist() == [[EVEN.sum(), EVEN.sum() + 1]] * 3
    with pytest.raises(RuntimeError, match="status 3"):
        made.release(EVEN, MODEL.asked, 13, 0)
    made.close()
    monkeypatch.setattr(audited_synthetic, "pinned_versions", lambda: {"dpmm": "8"})
    with pytest.raises(ValueError, match="make dpmm"):
        Process(Path(sys.executable))


def test_no_recorded_bound_is_above_its_claim_but_those_of_planted_faults():
    rows, provenance = read_record("privacy-audits-synthetic")
    half = [f"half of the noise, {size} runs" for size in HALF]
    assert rows["release"].tolist() == [*TABLES, *FAULTS, *half]
    by_name = rows.set_index("release")
    honest, planted = by_name.loc[list(TABLES)], by_name.loc[list(FAULTS)]
    assert (honest["lower"].astype(float) <= EPSILON).all()
    assert (planted["lower"].astype(float) > EPSILON).all()
    assert (planted["power"] > 0.9).all()
    assert by_name.loc[half[0], "power"] < 0.5 < by_name.loc[half[1], "power"]
    assert json.dumps(provenance["parameters"]["half"]) == json.dumps(list(HALF))
    for name, row in pd_rows(honest, planted):
        share = (FAILURE / len(TABLES) if name in TABLES else FAILURE) / 2 / 2
        runs, hits, others = int(row["runs"]), int(row["hits"]), int(row["others"])
        assert runs == provenance["parameters"]["runs"][name] // 2
        low = beta.ppf(share, hits, runs - hits + 1) if hits else 0.0
        high = beta.isf(share, others + 1, runs - others)
        assert row["lower"] == pytest.approx(math.log(max((low - DELTA) / high, 1)), abs=1e-9)


def pd_rows(*tables):
    """Return the rows of tables with their names."""
    return [pair for table in tables for pair in table.iterrows()]
