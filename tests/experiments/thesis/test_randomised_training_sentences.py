"""Contrasts and sentences held to made-up trials."""

import itertools

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.experiments.thesis import randomised_training as training
from dpfair_lib.experiments.thesis import randomised_training_summary as summary
from dpfair_lib.experiments.thesis.randomised_training_sentences import Sentence, judge_sentence, sentences
from dpfair_lib.experiments.thesis.randomised_training_summary import (
    Configuration,
    by_configuration,
    contrast,
    means,
)


def _made_up(gaps, seeds=12):
    """Trials in which a method's gap is as given, with noise that a seed's methods share, and a little of its own."""
    rows = []
    for seed, (named, gap) in itertools.product(range(seeds), gaps.items()):
        noise = 0.05 * np.sin(seed) + 0.001 * np.cos(7 * seed + len(str(named)))
        rows.append({"setting": named.setting, "seed": seed, "method": named.method, "epsilon": named.epsilon,
                     **dict.fromkeys(("accuracy", "f1", "parity", "opportunity"), gap + noise)})  # fmt: skip
    return pd.DataFrame(rows)


LOW, HIGH = Configuration("s", "low", 1.0), Configuration("s", "high")


def test_contrasts_are_paired():
    rows = _made_up({LOW: 0.1, HIGH: 0.2})
    trials = by_configuration(rows.sample(frac=1, random_state=0))
    found = contrast(trials, "parity", ((1.0, LOW), (-1.0, HIGH)))
    assert found.mean == pytest.approx(-0.1, abs=0.001)
    assert found.half_width < 0.002 < contrast(trials, "parity", ((1.0, LOW),)).half_width
    assert found.half_width < found.half_width_new_data
    assert found.half_width < contrast(trials, "parity", ((1.0, LOW), (-1.0, HIGH)), comparisons=9).half_width
    shown = means(rows, "s", "parity").set_index("method")
    assert shown.loc["low", "mean"] == pytest.approx(trials["parity", LOW].mean())


def test_lacking_trials_are_an_error():
    rows = _made_up({LOW: 0.1, HIGH: 0.2})
    with pytest.raises(ValueError, match=r"11 trials of .*low.*, expected one for each seed"):
        by_configuration(rows[(rows["seed"] != 3) | (rows["method"] != "low")])
    with pytest.raises(ValueError, match=r"trials: found none of .*'third'.* for f1, expected some"):
        contrast(by_configuration(rows), "f1", ((1.0, Configuration("s", "third")),))


@pytest.mark.parametrize(
    ("terms", "kind", "margin", "outcome"),
    [
        ([((1.0, LOW), (-1.0, HIGH))], "smaller", 0.0, "confirmed"),
        ([((1.0, LOW), (-1.0, HIGH))], "smaller", -0.09, "confirmed"),
        ([((1.0, LOW), (-1.0, HIGH))], "smaller", -0.11, "contradicted"),
        ([((1.0, HIGH), (-1.0, LOW))], "smaller", 0.0, "contradicted"),
        ([((1.0, LOW), (-1.0, LOW))], "smaller", 0.0, "not seen"),
        ([((1.0, LOW), (-1.0, HIGH)), ((1.0, LOW), (-1.0, LOW))], "smaller", 0.0, "in part"),
        ([((1.0, LOW), (-1.0, HIGH))], "alike", 0.11, "confirmed"),
        ([((1.0, LOW), (-1.0, HIGH))], "alike", 0.09, "contradicted"),
        ([((1.0, LOW), (-1.0, HIGH)), ((1.0, LOW), (-1.0, LOW))], "alike", 0.09, "contradicted"),
    ],
)
def test_outcomes(terms, kind, margin, outcome):
    trials = by_configuration(_made_up({LOW: 0.1, HIGH: 0.2}))
    sentence = Sentence("made up", "here", "so", kind, tuple(("parity", one) for one in terms), margin)
    assert judge_sentence(trials, sentence).outcome == outcome


def test_every_sentence_speaks_of_what_is_run():
    run = set()
    for name, (_, columns) in training.SETTINGS.items():
        rounded = () if columns == ("gender",) else training.ROUNDED
        ours = ["RR, as true as OPT"] if columns == ("gender",) else []
        run |= set(itertools.product([name], ["none", "left out", "OPT", "GRR", "SS", *rounded, *ours]))
    for sentence in (*sentences(), *sentences(training.TUNED_LEVELS)):
        assert sentence.contrasts
        for measure, terms in sentence.contrasts:
            assert measure in summary.ALL_MEASURES
            assert {(named.setting, named.method) for _, named in terms} <= run
            assert sum(abs(weight) for weight, _ in terms) > 1
