"""Faults of preparation, planted in the library's own code, each caught by this folder's checks."""

import numpy as np
import pytest
from cases import cases
from checks import caught, check_neighbours, check_secure

import dpfair_lib as dpf
from dpfair_lib.preparation import choices, imputation, moments, scaling, selection
from dpfair_lib.preparation.cells import as_floats
from dpfair_lib.preparation.encoding import PublicEncoder

CASES = {case.name: case for case in cases()}
SCALER, IMPUTER = "scaler replace-one", "imputer replace-one"


def _secure(name):
    return caught(check_secure, CASES[name], CASES[name].data())


def _alike(name):
    return caught(check_neighbours, CASES[name], "secure")


def _half(usual):
    return lambda *given: usual(*given) / 2


def _of_one_column(usual):
    return lambda sensitivity, epsilon: usual(sensitivity / 3, epsilon)


@pytest.mark.parametrize("wrong", [_half, _of_one_column])
@pytest.mark.parametrize("name", [SCALER, "scaler add-remove", IMPUTER, "pipeline"])
def test_less_noise_on_sums_is_caught(name, wrong, monkeypatch):
    assert not _secure(name)
    monkeypatch.setattr(moments, "noise_scale", wrong(moments.noise_scale))
    assert _secure(name)


def _exact(usual):
    def released(columns, epsilon, source, *, squares):
        noisy = usual(columns, epsilon, source, squares=squares)
        width = [high - low for _, low, high in columns]
        means = [np.nanmean(np.clip(as_floats(v), low, high)) for v, low, high in columns]
        shifted = [(m - low) / w - 0.5 for m, (_, low, _), w in zip(means, columns, width, strict=True)]
        return [one._replace(mean=m) for one, m in zip(noisy, shifted, strict=True)]

    return released


@pytest.mark.parametrize(("room", "name"), [(scaling, SCALER), (imputation, IMPUTER)])
def test_an_exact_mean_is_caught_though_noise_is_drawn(room, name, monkeypatch):
    monkeypatch.setattr(room, "noisy_moments", _exact(room.noisy_moments))
    assert _secure(name)
    assert _alike(name)


def test_twice_the_weight_of_a_choice_is_caught(monkeypatch):
    usual = choices.count_weight
    monkeypatch.setattr(choices, "count_weight", lambda epsilon, **_: usual(epsilon, one_way=True))
    assert _secure(IMPUTER)
    assert _secure("selection")
    assert not _secure("imputer add-remove")


def test_the_most_frequent_category_without_noise_is_caught(monkeypatch):
    monkeypatch.setattr(imputation, "choose_largest", lambda counts, *_, **__: int(np.argmax(counts)))
    assert _secure(IMPUTER)
    assert _alike(IMPUTER)


def test_kept_counts_and_models_are_caught(monkeypatch):
    usual = selection.choose_largest
    kept = {}

    def keeping(counts, *given, **options):
        kept["counts"] = counts
        return usual(counts, *given, **options)

    fit = dpf.PrivateSelection.fit

    def fitted(self, X, y):
        fit(self, X, y)
        self.scores_ = kept["counts"]
        return self

    monkeypatch.setattr(selection, "choose_largest", keeping)
    assert not _alike("selection")
    monkeypatch.setattr(dpf.PrivateSelection, "fit", fitted)
    assert _alike("selection")


def test_a_warning_of_a_held_out_row_is_caught(monkeypatch):
    usual = dpf.OutputPerturbation.predict

    def loud(self, X):
        with np.errstate(all="warn"):
            return usual(self, X)

    monkeypatch.setattr(dpf.OutputPerturbation, "predict", loud)
    assert _alike("selection")


def test_categories_that_are_learned_are_caught():
    known, strange = np.array([["a"], ["b"]], dtype=object), np.array([["a"], ["q"]], dtype=object)

    def shapes(encoder):
        return {encoder.fit(rows).transform(known).shape for rows in (known, strange)}

    class Learned(PublicEncoder):
        def fit(self, X, y=None):
            self.categories = {0: sorted(set(np.asarray(X)[:, 0]))}
            return super().fit(X, y)

    assert shapes(PublicEncoder({0: ["a", "b"]})) == {(2, 3)}
    columns = [Learned({0: ["a"]}).fit(rows).get_feature_names_out().tolist() for rows in (known, strange)]
    assert columns[0] != columns[1]


def test_a_learner_that_sees_rows_scaled_without_noise_is_caught(monkeypatch):
    fit = dpf.PrivateScaler.fit

    def sharp(self, X, y=None):
        fit(self, X, y)
        values = np.asarray(X, dtype=float)
        for column, cells in self.cells_.items():
            self.cells_[column] = type(cells)(
                cells.low, cells.high, float(values[:, column].mean()), cells.width
            )
        return self

    monkeypatch.setattr(dpf.PrivateScaler, "fit", sharp)
    assert _secure("pipeline")
