"""Labels known beforehand: what may be declared, and the place of each value, against a search through the list."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfair_lib as dpf
from dpfair_lib._labels import declared_labels, places
from dpfair_lib.local.frames import randomize_frame

FORMS = {
    "list": list,
    "array": np.array,
    "objects": lambda values: np.array(values, dtype=object),
    "series": pd.Series,
    "category": lambda values: pd.Series(values, dtype="category"),
    "column": lambda values: np.array(values)[:, None],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [int, float, str, bool])
def test_places_are_those_in_the_list(form, kind):
    known = {int: [7, -1, 3], float: [0.5, -0.0, 2.0], str: ["b", "", "a b"], bool: [True, False]}[kind]
    values = [known[at] for at in np.random.default_rng(0).integers(0, len(known), 40)]
    assert places(FORMS[form](values), known, "y").tolist() == [known.index(value) for value in values]


@given(
    st.lists(st.one_of(st.integers(-3, 3), st.booleans(), st.sampled_from([0.0, 0.5, "0", "a"])), min_size=1)
)
def test_values_are_compared_as_python_compares_them(values):
    known = ["a", 0, "0", 0.5]
    array = np.array(values, dtype=object)
    if strangers := [at for at, value in enumerate(values) if value not in known]:
        first = strangers[0]
        with pytest.raises(
            ValueError, match=rf"y: found group .* at position {first}, expected one of \['a', 0,"
        ):
            places(array, known, "y")
    else:
        assert places(array, known, "y").tolist() == [known.index(value) for value in values]


@pytest.mark.parametrize(
    "missing", [["a", None], np.array([0.0, np.nan]), pd.Series(["a", pd.NA], dtype="string")]
)
def test_a_missing_value_is_no_label(missing):
    with pytest.raises(
        ValueError, match="a: found a missing value at position 1, expected a group for every row"
    ):
        places(missing, ["a", 0.0], "a")


def test_a_label_that_nobody_has_keeps_its_place():
    assert places(["c", "a"], ["a", "b", "c"], "y").tolist() == [2, 0]
    assert places([1.0, 0.0], [0, 1, 2], "y").dtype == np.int64
    with pytest.raises(ValueError, match="y: found an empty array"):
        places([], [0, 1], "y")
    with pytest.raises(ValueError, match=r"^y: found 2 of x at position 0, expected one of \[0, 1\]$"):
        places([2], [0, 1], "y", of="", where=" of x")


def test_tuples_are_the_rows_of_a_table():
    known = [("b", 1), ("a", 0), ("a", 1)]
    rows = [("a", 1), ("b", 1), ("a", 0), ("a", 1)]
    for table in (rows, pd.DataFrame(rows), pd.Series(rows), np.array(rows, dtype=object)):
        assert places(table, known, "g").tolist() == [known.index(row) for row in rows]
    for strange, message in [
        ([("a", 1), ("b", 0)], r"g: found group \('b', 0\) at position 1, expected one of \[\('b', 1\)"),
        ([("a", 1), ("a", None)], "g: found a missing value at position 1"),
        (pd.DataFrame([("a", 1, 2)]), r"g: found group \('a', 1, 2\)"),
        (["a", "b"], "g: found group 'a' at position 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            places(strange, known, "g")
    with pytest.raises(ValueError, match=r"g: found shape \(1, 2\), expected a 1-D array"):
        places([("a", 1)], ["a", "b"], "g")


@pytest.mark.parametrize("given", [["b", "a"], ("b", "a"), np.array(["b", "a"]), pd.Index(["b", "a"])])
def test_declared_labels_are_a_list_in_its_order_or_sorted(given):
    assert declared_labels(given, "groups") == ["b", "a"]
    assert declared_labels(given, "groups", least=2, most=2, ordered=True) == ["a", "b"]


@pytest.mark.parametrize(
    "given", ["ab", b"ab", 3, None, {"a", "b"}, [], [1, 1], [1, True], [[1], [2]], [None, 1], [1, float("nan")], {}]
)  # fmt: skip
def test_what_is_no_list_of_labels_is_refused(given):
    with pytest.raises(
        ValueError, match=r"groups: found .* for x, expected a list of distinct labels, none of them"
    ):
        declared_labels(given, "groups", where=" for x")


def test_too_few_or_too_many_are_refused():
    for listed, limits, wanted in [
        ([1], {"least": 2}, "at least two"), ([1], {"least": 2, "most": 2}, "expected two"),
        ([1, 2, 3], {"least": 2, "most": 2}, "expected two"), ([1, 2], {"least": 3}, "at least 3"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=f"{wanted} distinct labels"):
            declared_labels(listed, "classes", **limits)
    with pytest.raises(ValueError, match="classes: found labels of the types int, str, expected one type"):
        declared_labels([0, "a"], "classes", ordered=True)


X, Y, GROUP = np.arange(12.0)[:, None] / 12, np.arange(12) % 2, np.array(["a", "b", "b"] * 4)
STUDY = {"noise": "study", "random_state": 0}
DECLARED = {
    "classes": lambda known: dpf.OutputPerturbation(
        regularization=0.1, feature_bound=1.0, epsilon=1.0, delta=1e-3, classes=known, **STUDY
    ).fit(X, np.where(Y, "b", "a")),
    "classes of perturbed objectives": lambda known: dpf.ObjectivePerturbation(
        feature_bound=1.0, epsilon=1.0, delta=1e-3, classes=known, **STUDY
    ).fit(X, np.where(Y, "b", "a")),
    "classes beside groups": lambda known: dpf.PrivateFairClassifier(
        feature_bound=1.0, epsilon=1.0, delta=1e-3, classes=known, **STUDY
    ).fit(X, np.where(Y, "b", "a"), sensitive_features=GROUP),
    "groups beside classes": lambda known: dpf.PrivateFairClassifier(
        feature_bound=1.0,
        epsilon=1.0,
        delta=1e-3,
        relation="replace-one",
        group_sizes=dict.fromkeys(known, 8),
        **STUDY,
    ).fit(X, Y, sensitive_features=GROUP),
    "groups of a learner": lambda known: dpf.ExponentialFairLearner(
        [lambda x, _: np.ones(len(x))], epsilon=1.0, delta=0.1, groups=known, **STUDY
    ).fit(X, Y, sensitive_features=GROUP),
    "groups of rates": lambda known: dpf.PrivateFairPostprocessor(
        1.0, relation="replace-one", group_sizes=dict.fromkeys(known, 8), **STUDY
    ).fit(Y, sensitive_features=GROUP),
    "groups of true positive rates": lambda known: dpf.PrivateFairPostprocessor(
        1.0, relation="replace-one", group_sizes=known, notion="equal_opportunity", **STUDY
    ).fit(Y, Y, sensitive_features=GROUP),
    "groups of odds": lambda known: dpf.EqualizedOddsPostprocessor(
        gamma=0.1, epsilon=1.0, groups=known, **STUDY
    ).fit(Y, Y, sensitive_features=GROUP),
    "levels": lambda known: dpf.PrivateNoRegretFair(
        epsilon=1.0, delta=1e-3, subgroups=[{0: known[0]}], rounds=2, samples=2, levels={0: known}, **STUDY
    ).fit(GROUP, Y, sensitive_features=GROUP),
    "labels": lambda known: randomize_frame(
        pd.DataFrame({"own": GROUP}),
        "own",
        dpf.generalized_randomized_response(len(known), 1.0),
        labels=known,
    ),
}


@pytest.mark.parametrize("name", DECLARED)
def test_all_that_declare_labels_treat_them_alike(name):
    DECLARED[name](["a", "b"])
    with pytest.raises(ValueError, match=r"found (group )?'b'.* (position|row) \d, expected one of"):
        DECLARED[name](["a", "c"])
    if name not in ("groups of rates", "groups beside classes"):  # a mapping has no key twice
        with pytest.raises(ValueError, match=r"found .*, expected .*distinct labels, none of them missing"):
            DECLARED[name](["a", "a"])
    with pytest.raises(ValueError, match=r"found .*, expected .*distinct labels, none of them missing"):
        DECLARED[name](["a", None])


@pytest.mark.parametrize("fitted", [
    dpf.FairPostprocessor(), dpf.PrivateFairPostprocessor(1.0), dpf.EqualizedOddsPostprocessor(gamma=0.5),
], ids=lambda one: type(one).__name__)  # fmt: skip
def test_a_post_processor_that_is_given_words_names_what_takes_them(fitted):
    people, words = {"sensitive_features": list("aabb")}, ["no", "yes", "yes", "no"]
    message = (
        "y_pred: found entries that are not numbers, such as 'no', expected labels 0 and 1; Postprocessed"
    )
    for labels in (words, np.array(words), pd.Series(words), [0, 1, 1, "no"]):
        with pytest.raises(ValueError, match=message):
            fitted.fit(labels, [0, 1, 0, 1], **people)
    fitted.fit([0, 1, 1, 0], [0, 1, 0, 1], **people)
    with pytest.raises(ValueError, match=message):
        fitted.predict(words, **people)
    taken = dpf.PostprocessedClassifier(None, fitted).fit(words, ["no", "yes", "no", "yes"], **people)
    assert taken.classes_.tolist() == ["no", "yes"]
