import functools
import inspect
import re

import numpy as np
import pytest

import dpfair_lib as dpf

Y_PRED, Y = np.array([1, 1, 1, 0, 1, 0, 0, 0]), np.array([1, 0, 1, 0, 1, 1, 0, 0])
GROUP = np.array(list("aaaabbbb"))


def test_the_score_is_the_expected_share_of_right_labels():
    fair = dpf.FairPostprocessor().fit(Y_PRED, sensitive_features=GROUP)
    # group a keeps a positive label with 2/3; group b gives one to each of three with 1/3
    right = [2 / 3, 1 / 3, 2 / 3, 1, 1, 1 / 3, 2 / 3, 2 / 3]
    assert fair.score(Y_PRED, Y, sensitive_features=GROUP) == pytest.approx(np.mean(right))
    weight = np.arange(8.0)
    weighted = fair.score(Y_PRED, Y, sensitive_features=GROUP, sample_weight=weight)
    assert weighted == pytest.approx(np.average(right, weights=weight))
    drawn = [(fair.predict(Y_PRED, sensitive_features=GROUP, random_state=s) == Y).mean() for s in range(400)]
    assert np.mean(drawn) == pytest.approx(np.mean(right), abs=4 * np.std(drawn) / 20)


def test_bad_labels_and_weights_are_refused():
    fair = dpf.FairPostprocessor().fit(Y_PRED, sensitive_features=GROUP)
    with pytest.raises(ValueError, match="y: found label 3 at position 0"):
        fair.score(Y_PRED, Y + 2, sensitive_features=GROUP)
    for weight in (np.zeros(8), np.full(8, -1.0)):
        with pytest.raises(ValueError, match="sample_weight: found a negative number or only 0"):
            fair.score(Y_PRED, Y, sensitive_features=GROUP, sample_weight=weight)
    with pytest.raises(ValueError, match="lengths differ"):
        fair.score(Y_PRED, Y[:-1], sensitive_features=GROUP)


def test_an_error_of_a_missing_argument_names_the_class_that_the_caller_knows():
    fair = dpf.FairPostprocessor().fit(Y_PRED, sensitive_features=GROUP)
    private = dpf.PrivateFairPostprocessor(1.0).fit(Y_PRED, sensitive_features=GROUP)
    for model in (fair, private):
        for call, given in ((model.predict, 1), (model.predict_proba, 1), (model.score, 2)):
            own = f"{type(model).__name__}.{call.__name__}() missing 1 required keyword-only argument: 'sensitive"
            with pytest.raises(TypeError, match=re.escape(own)):
                call(*[Y_PRED] * given)
    with pytest.raises(ValueError, match="random_state: found 'a', expected an integer"):
        fair.predict(Y_PRED, sensitive_features=GROUP, random_state="a")


def test_no_method_that_takes_groups_is_named_after_a_class_that_is_not_public():
    public = [getattr(dpf, name) for name in dpf.__all__]
    methods = [
        (owner, method)
        for owner in public
        if isinstance(owner, type)
        for name in ("fit", "predict", "predict_proba", "score")
        if inspect.isfunction(method := getattr(owner, name, None))
        and "sensitive_features" in inspect.signature(method).parameters
    ]
    assert len(methods) > 25
    names = {owner.__name__ for owner in public if isinstance(owner, type)}
    assert [
        method for _, method in methods if inspect.unwrap(method).__qualname__.split(".")[0] not in names
    ] == []


def test_a_subclass_keeps_the_decorator_of_an_inherited_method():
    calls = []

    def counted(method):
        @functools.wraps(method)
        def noted(*args, **kwargs):
            calls.append(method.__name__)
            return method(*args, **kwargs)

        return noted

    class Counted(dpf.FairPostprocessor):
        @counted
        def predict(self, *args, **kwargs):
            return super().predict(*args, **kwargs)

    class Below(Counted):
        pass

    y_pred, groups = np.array([0, 1, 1, 0]), np.array(["a", "a", "b", "b"])
    Below().fit(y_pred, sensitive_features=groups).predict(y_pred, sensitive_features=groups)
    assert calls == ["predict"]
