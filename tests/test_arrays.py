"""Arrays of other namespaces: equal results, nothing but small tables on the host, and what is refused."""

import re
from pathlib import Path

import array_api_strict as strict
import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pytest
import torch
from elsewhere import GROUPS, MAKERS, NARROW, ROWS, as_tensor, draw, equal, numbers, on_device
from extremes import bases
from sklearn.base import clone

import dpfair_lib as dpf
from dpfair_lib._arrays import HOST, host_array, space_of
from dpfair_lib._validation import as_groups
from dpfair_lib.fairness import accuracies, expected_parity_difference, label_rates

METRICS = {
    dpf.demographic_parity_difference: {}, dpf.equal_opportunity_difference: {},
    dpf.equalized_odds_difference: {"agg": "mean"}, dpf.accuracy_parity_difference: {},
    dpf.demographic_parity_ratio: {}, dpf.equal_opportunity_ratio: {}, dpf.equalized_odds_ratio: {},
}  # fmt: skip


@MAKERS
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", ["between_groups", "to_overall"])
@pytest.mark.parametrize("width", [np.float64, np.float32])
def test_metrics_are_those_of_numpy_and_only_sums_travel(metric, method, width, make, travelled):
    rows, options = draw(), {"method": method, **METRICS[metric]}
    chance, weight = rows["chance"].astype(width), rows["weight"].astype(width)
    for pred, sample_weight, group in (
        (rows["pred"], None, rows["group"]), (chance, weight, rows["two"]), (chance, None, rows["group"] > 0),
    ):  # fmt: skip
        here = metric(rows["y"], pred, sensitive_features=group, sample_weight=sample_weight, **options)
        there = metric(
            make(rows["y"]), make(pred), sensitive_features=make(group), **options,
            sample_weight=None if sample_weight is None else make(sample_weight),
        )  # fmt: skip
        assert type(here) is type(there)
        assert there == pytest.approx(here, rel=1e-12)  # also of 32-bit numbers: they are added up in 64 bits
    assert max(travelled) <= 2 * GROUPS + 1


@MAKERS
def test_rates_and_intervals_are_those_of_numpy(make, travelled):
    rows = draw(1)
    y, pred, group = make(rows["y"]), make(rows["pred"]), make(rows["group"])
    for found, wanted in (
        (dpf.selection_rates(pred, sensitive_features=group),
         dpf.selection_rates(rows["pred"], sensitive_features=rows["group"])),
        (label_rates(y, pred, sensitive_features=group, label=0),
         label_rates(rows["y"], rows["pred"], sensitive_features=rows["group"], label=0)),
        (accuracies(y, pred, sensitive_features=group),
         accuracies(rows["y"], rows["pred"], sensitive_features=rows["group"])),
    ):  # fmt: skip
        assert found == pytest.approx(wanted, rel=1e-12)
        assert list(found) == list(wanted) == [0, 1, 2]
    for notion in (
        "demographic_parity",
        "equal_opportunity",
        "equalized_odds",
        "mean_equalized_odds",
        "accuracy_parity",
    ):
        wanted = dpf.gap_interval_from_rows(
            rows["y"], rows["pred"], sensitive_features=rows["group"], notion=notion
        )
        assert dpf.gap_interval_from_rows(y, pred, sensitive_features=group, notion=notion) == wanted
    assert max(travelled) <= 2 * GROUPS + 1


@MAKERS
def test_labels_of_other_numbers(make):
    rows = draw(2)
    y, pred = rows["y"] + 1, rows["pred"] + 1
    wanted = dpf.equalized_odds_difference(y, pred, sensitive_features=rows["group"], pos_label=2)
    found = dpf.equalized_odds_difference(
        make(y), make(pred), sensitive_features=make(rows["group"]), pos_label=2
    )
    assert found == pytest.approx(wanted, rel=1e-12)
    truths = dpf.equalized_odds_difference(
        make(y == 2), make(pred == 2), sensitive_features=make(rows["group"]), pos_label=True
    )
    assert truths == found


@MAKERS
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_reports_are_drawn_where_the_values_are(dtype, make, travelled):
    a = draw(6, n=70_000)["three"].astype(dtype)  # more than two blocks
    channels = [
        dpf.generalized_randomized_response(3, 1.0),
        dpf.Randomizer([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0, 0.5, 0.5]]),
        dpf.subset_selection(3, 1.0, size=2),
        dpf.subset_selection(30, 1.0, size=4),  # without a table of all sets
    ]
    for channel in channels:
        here = channel.apply(a, rng=np.random.default_rng(0))
        there = channel.apply(make(a), rng=np.random.default_rng(0))
        assert there.device == make(a).device
        assert there.dtype == make(here).dtype
        assert bool(strict_or_torch(there).all(there == make(here)))
        assert channel.apply(make(a)).shape == here.shape  # secure noise
    assert not travelled


def strict_or_torch(array):
    return torch if isinstance(array, torch.Tensor) else strict


def test_a_device_without_64_bits_computes_in_32_and_draws_nothing():
    rows = draw(7)

    def narrow(values):
        return on_device(values, np.float32 if values.dtype.kind == "f" else None, NARROW)

    here, there = (
        dpf.equalized_odds_difference(
            put(rows["y"]), put(rows["chance"]), sensitive_features=put(rows["group"])
        )
        for put in (np.asarray, narrow)
    )
    assert there == pytest.approx(here, rel=1e-5)
    assert there != here
    assert dpf.margins(narrow(rows["scores"]), narrow(rows["y"])).dtype == strict.float32
    options = {"notion": "accuracy_parity", "radius": 0.05}
    here, there = (
        dpf.fairness_certificate(
            put(rows["scores"]),
            put(rows["y"]),
            X=put(rows["X"]),
            sensitive_features=put(rows["group"]),
            **options,
        )
        for put in (np.asarray, narrow)
    )
    equal(there, here, 2 / ROWS)  # a row within rounding of the radius may count or not
    with pytest.raises(ValueError, match=r"a: found an array of .*no_x64.*, which has no 64-bit integers"):
        dpf.generalized_randomized_response(3, 1.0).apply(
            on_device(rows["three"], np.int32, strict.Device("no_x64"))
        )


BAD = [
    ({"y": [0, 2, 1, 0]}, r"y_true: found 2\.0 at position 1, expected labels 0 and 1"),
    ({"pred": [0, 1.5, 1, 0]}, r"y_pred: found 1\.5 at position 1, expected numbers in \[0, 1\]"),
    ({"pred": [0, np.nan, np.inf, 0]}, r"y_pred: found nan at position 1 \(2 such\), expected finite numbers"),
    ({"pred": [0, 1, 0]}, "lengths differ: y_true has 4, y_pred has 3, sensitive_features has 4"),
    ({"pred": [[0, 1], [1, 0]]}, r"y_pred: found shape \(2, 2\), expected a 1-D array"),
    ({"group": [0.0, np.nan, 1, 1]}, "sensitive_features: found a missing value at position 1, expected a group"),
    ({"weight": [1.0, -1, 1, 1]}, r"sample_weight: found -1\.0 at position 1, expected numbers of at least 0"),
    ({"weight": [1.0, 1, 0, 0]}, "sample_weight: found only 0 in group 1 with label 0, expected a positive weight"),
    ({"weight": [0.0] * 4}, "sample_weight: found only 0, expected a positive weight in every group"),
    ({"y": [0, 1, 0, 0]}, "y_true: found no label 1 in group 1, expected at least one"),
    ({"y": [0.0] * 4}, "y_true: found no label 1, expected at least one in every group"),
    ({"group": []}, "sensitive_features: found an empty array"),
]  # fmt: skip


@pytest.mark.parametrize("make", [np.asarray, on_device, as_tensor])
@pytest.mark.parametrize(("wrong", "message"), BAD)
def test_bad_rows_are_named_alike_everywhere(wrong, message, make):
    given = {"y": [0, 1, 0, 1], "pred": [0, 1, 1, 0], "group": [0, 0, 1, 1], "weight": None, **wrong}
    y, pred, group, weight = (None if value is None else make(np.asarray(value)) for value in given.values())
    with pytest.raises(ValueError, match=message):
        dpf.equalized_odds_difference(y, pred, sensitive_features=group, sample_weight=weight)


def test_rows_of_several_kinds_are_counted_on_the_host_if_all_are_there():
    """One rule for metrics, margins, certificates and estimates; `test_summed_rows` shows it of post-processors."""
    y, pred, words, score = [0, 1, 0, 1, 1, 0], [0, 1, 1, 0, 1, 0], list("aabbab"), [1.0, -2, 3, -4, 5, -6]
    tensor, here = torch.tensor, on_device([0, 1, 0, 1, 1, 0], device=None)
    wanted = dpf.equalized_odds_difference(y, pred, sensitive_features=words)
    assert wanted > 0
    for mixed in ((tensor(y), pred), (y, tensor(pred)), (here, tensor(pred)), (here, np.array(pred))):
        assert dpf.equalized_odds_difference(*mixed, sensitive_features=words) == wanted
    found = dpf.margins(tensor(score), y)
    assert isinstance(found, np.ndarray)
    assert found.tolist() == dpf.margins(score, y).tolist()
    channel = dpf.generalized_randomized_response(2, 1.0)
    equal(dpf.estimate_rates(y, tensor(pred), channel), dpf.estimate_rates(y, pred, channel), 0)
    with pytest.raises(ValueError, match="lengths differ: y_true has 5, y_pred has 6"):
        dpf.equalized_odds_difference(tensor(y[:5]), pred, sensitive_features=words)


def test_two_devices_or_namespaces_are_refused():
    y, tensor, here = (
        on_device([0, 1]),
        torch.tensor([0, 1]),
        on_device([0, 1], device=strict.Device("device2")),
    )
    for pred, found in (
        (here, r"an array of array_api_strict on .*device2"), (tensor, "an array of torch on cpu"),
        ([0, 1], "rows of the type list"), (np.zeros(2), "rows of the type ndarray"),
        (pd.Series([0, 1]), "rows of the type Series"),
    ):  # fmt: skip
        with pytest.raises(
            ValueError, match=rf"y_pred: found {found}.*, expected an array of .*device1.*as y_true is"
        ):
            dpf.accuracy_parity_difference(y, pred, sensitive_features=y)
    assert space_of(one=None, other=[1]) is HOST
    with pytest.raises(
        ValueError, match=r"X: found an array of torch on meta, expected an array of torch on cpu"
    ):
        space_of(y=tensor, X=torch.zeros(2, device="meta"))


def test_rows_of_other_kinds_are_not_numbers():
    y = on_device([0, 1, 0, 1])
    complex_numbers = strict.astype(y, strict.complex128)
    with pytest.raises(ValueError, match="y_pred: found entries that are not numbers, expected numbers"):
        dpf.demographic_parity_difference(None, complex_numbers, sensitive_features=y)
    with pytest.raises(ValueError, match=r"sensitive_features: found entries of type .*complex128"):
        as_groups(complex_numbers, space=space_of(y=y))


def test_what_is_in_the_memory_of_the_host_is_shared_and_the_rest_refused():
    here, there = torch.arange(3), on_device([0, 1, 2])
    assert np.shares_memory(host_array(here, "y"), here.numpy())
    assert host_array(on_device([0, 1], device=None), "y").tolist() == [0, 1]
    for values in (there, torch.zeros(3, device="meta")):
        with pytest.raises(
            ValueError, match=r"y: found an array of .*, expected one in the host's memory, where"
        ):
            host_array(values, "y")


def tables():
    yield "Arrow", lambda values: pa.chunked_array([pa.array(values[:2]), pa.array(values[2:])])
    yield "an Arrow array", pa.array
    yield "pandas with Arrow", lambda values: pd.Series(values).convert_dtypes(dtype_backend="pyarrow")
    yield "polars", polars.Series


@pytest.mark.parametrize(("_", "column"), [*tables()])
def test_columns_of_tables_are_read_as_before(_, column):
    y, pred, group = [0, 1, 0, 1, 1], [0, 1, 1, 0, 1], ["a", "a", "b", "b", "b"]
    wanted = dpf.equalized_odds_difference(y, pred, sensitive_features=group)
    assert dpf.equalized_odds_difference(column(y), column(pred), sensitive_features=column(group)) == wanted
    assert dpf.margins(column([0.5, -1.0, 2.0]), column([1, 1, 0])).tolist() == [0.5, -1.0, -2.0]
    assert dpf.generalized_randomized_response(2, np.inf).apply(column(y)).tolist() == y


@MAKERS
def test_reports_are_counted_where_they_are(make, travelled):
    rows = draw(10)
    channel = dpf.generalized_randomized_response(3, 1.0)
    reports = channel.apply(rows["three"], rng=np.random.default_rng(0))
    for about in ("population", "people"):
        equal(
            dpf.estimate_frequencies(make(reports), channel, about=about),
            dpf.estimate_frequencies(reports, channel, about=about),
            0,
        )
        equal(
            dpf.estimate_rates(make(reports), make(rows["y"]), channel, about=about),
            dpf.estimate_rates(reports, rows["y"], channel, about=about),
            0,
        )
    assert max(travelled) <= 4
    with pytest.raises(ValueError, match="reports: found 3, expected integers in 0, …, 2"):
        dpf.estimate_frequencies(make(reports + 1), channel)


PAGE = Path(__file__).parents[1] / "book" / "where-it-runs.md"
WITH_ROWS, ON_HOST, WRAPPED = (
    "with the rows",
    "on the host",
    "features where the wrapped estimator takes them",
)


def places_on_the_page():
    """Return the place that the table names for each function; what follows the name says for which arguments."""
    found = {}
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            names, place = line.strip("| ").split(" | ")
            for name in names.split(", "):
                key = name.replace("`", "")
                assert key not in found
                found[key] = next(one for one in (WITH_ROWS, ON_HOST, WRAPPED) if place.startswith(one))
    return found


def seeded(apply):
    return lambda a: apply(a, rng=np.random.default_rng(0))


def fitting(estimator):
    return lambda **given: clone(estimator).fit(**given)


def calls_with_rows():
    """Return for each function of rows a call and its arguments; `extremes` has those of all public names."""
    rows, channel = draw(14, n=40), dpf.generalized_randomized_response(3, 1.0)
    told = {"y_true": rows["y"], "y_pred": rows["pred"], "sensitive_features": rows["group"] % 2}
    y_pred, groups = told["y_pred"], told["sensitive_features"]
    found = {
        "label_rates": (lambda **given: label_rates(**given, label=1), told),
        "accuracies": (accuracies, told),
        "expected_parity_difference": (expected_parity_difference, {"pred": y_pred, "sensitive_features": groups}),
        "Randomizer.apply": (seeded(dpf.Randomizer(channel.matrix).apply), {"a": rows["three"]}),
        "SubsetSelection.apply": (seeded(dpf.subset_selection(3, 1.0).apply), {"a": rows["three"]}),
        "estimate_frequencies": (
            lambda reports: dpf.estimate_frequencies(reports, channel), {"reports": rows["three"]}
        ),
        "estimate_rates": (
            lambda reports, y: dpf.estimate_rates(reports, y, channel), {"reports": rows["three"], "y": rows["y"]}
        ),
    }  # fmt: skip
    study = {"noise": "study", "random_state": 0}
    for fair in (dpf.FairPostprocessor(), dpf.PrivateFairPostprocessor(1.0, **study)):
        fitted, kind = clone(fair).fit(y_pred, sensitive_features=groups), type(fair).__name__
        given = {"y_pred": y_pred, "sensitive_features": groups}
        found |= {
            f"{kind}.fit": (fitting(fair), given), f"{kind}.predict": (fitted.predict, {**given, "random_state": 0}),
        }  # fmt: skip
    found["FairPostprocessor.fit without scores"] = found.pop("FairPostprocessor.fit")
    found["FairPostprocessor.fit with scores"] = (
        fitting(dpf.FairPostprocessor()),
        {"y_pred": y_pred, "scores": rows["scores"], "sensitive_features": groups},
    )
    for name, (call, given) in bases().items():
        kind = name.partition(",")[0]
        if kind not in found and f"{kind}.predict" not in found:
            found[kind] = call, given
    certificate, given = found["private_certificate"]
    found["private_certificate"] = (
        lambda **rows: certificate(**rows, noise="study", rng=np.random.default_rng(0)), given
    )  # fmt: skip
    return found


def is_column(value):
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.ndim and len(value) >= 40


def test_the_page_says_of_each_public_function_of_rows_where_it_runs():
    named, seen = places_on_the_page(), set()
    for name, (call, given) in calls_with_rows().items():
        moved = {key: on_device(value) for key, value in given.items() if is_column(value)}
        if not moved:
            continue
        seen.add(name)
        place = named.get(name)
        if place == WITH_ROWS:
            call(**{**given, **moved})
        elif place == ON_HOST:
            with pytest.raises(ValueError, match=r"found an array of .*, expected one in the host's memory"):
                call(**{**given, **moved})
        else:
            assert place == WRAPPED, f"{name} is not on the page"
            columns = {key: value for key, value in moved.items() if key not in {"X"}}
            with pytest.raises(ValueError, match=r"y: found an array of .*, expected one in"):
                call(**{**given, **columns})
    assert seen == set(named)


def in_memory(values):
    return on_device(values, device=None)


HANDING_ON = {
    "certify_model": [as_tensor], "GroupColumn": [as_tensor, in_memory], "PostprocessedClassifier": [as_tensor],
    "PrivateSelection": [in_memory], "ExponentialFairLearner": [in_memory],
}  # fmt: skip
"""What hands features on as they are, with the kinds of arrays that are refused then."""


def alike(found, wanted):
    """Compare what two calls return, whatever arrays they hold."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            alike(found[key], value)
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            alike(one, other)
    elif isinstance(wanted, np.ndarray | float) and np.asarray(wanted).dtype.kind in "fiub":
        values = found if isinstance(found, np.ndarray | float) else numbers(found)
        np.testing.assert_allclose(values, wanted, rtol=1e-9, atol=1e-12)
    elif type(wanted).__module__.startswith("dpfair_lib") and hasattr(wanted, "__dict__"):
        assert type(found) is type(wanted)
        alike(vars(found), vars(wanted))
    elif not isinstance(wanted, np.ndarray):
        assert found == wanted or type(found) is type(wanted)


def moved(given, make):
    return {key: make(value) if is_column(value) else value for key, value in given.items()}


CALLS = {
    name: call for name, call in calls_with_rows().items() if any(is_column(one) for one in call[1].values())
}


@pytest.mark.parametrize("name", CALLS)
def test_what_the_page_lists_gives_the_same_for_arrays_in_the_memory_of_the_host(name):
    call, given = CALLS[name]
    wanted, place = call(**given), places_on_the_page()[name]
    for make in (torch.tensor, as_tensor, in_memory):
        if make in HANDING_ON.get(name, ()):
            continue
        found = call(**moved(given, make))
        alike(found, wanted)
        if isinstance(wanted, np.ndarray):  # rows come back as what they came in
            of_rows = type(make(given[next(key for key in given if is_column(given[key]))]))
            assert type(found) is (of_rows if place == WITH_ROWS else np.ndarray)


def test_the_page_says_which_functions_hand_features_on():
    """Each of them does refuse such an array, and the page names no other."""
    line = next(line for line in PAGE.read_text().splitlines() if "hand the features on" in line)
    assert set(re.findall(r"`(\w+)`", line)) == set(HANDING_ON)
    for name, kinds in HANDING_ON.items():
        call, given = CALLS[name]
        for make in kinds:
            with pytest.raises((RuntimeError, IndexError), match=r"requires grad|array_api_strict|Array API"):
                call(**moved(given, make))


@pytest.mark.parametrize("fault", [1.0 + 1e-6, [1.0, 2.0], {"a": 1.0}])
def test_a_difference_is_seen(fault):
    wanted = {float: 1.0, list: [1.0, 2.0 + 1e-6], dict: {"b": 1.0}}[type(fault)]
    with pytest.raises(AssertionError):
        alike(fault, wanted)
