import itertools
import math

import numpy as np
import pytest
from scipy.special import softmax

from dpfair_lib.claims.ours.sharp_losses import attained_softmax, softmax_minimiser
from dpfair_lib.margins.softmax_losses import (
    largest_pull,
    softmax_gradient_length,
    softmax_perturbation_sensitivity,
    softmax_reach,
)
from dpfair_lib.privacy.minimisers import (
    LARGEST_PULL,
    logistic_perturbation_sensitivity,
    minimiser_reach,
    output_perturbation_sensitivity,
)


def test_two_classes_are_logistic_regression():
    assert largest_pull(2) == pytest.approx(LARGEST_PULL, rel=1e-14)
    for kappa in (0.1, 1.0, 5.0, 300.0):
        # rows are √2 as long, and so is Λ‖h‖
        assert math.sqrt(2) * softmax_reach(kappa, 2) == pytest.approx(minimiser_reach(2 * kappa), rel=1e-12)
    known = {"lipschitz": 2.0, "strong_convexity": 0.3, "n": 7}
    assert softmax_perturbation_sensitivity(**known, classes=2) == pytest.approx(
        logistic_perturbation_sensitivity(**known | {"lipschitz": 2 * math.sqrt(2)}), rel=1e-12
    )


@pytest.mark.parametrize("classes", [3, 6])
@pytest.mark.parametrize("kappa", [0.2, 2.0, 40.0])
def test_equal_rows_attain_the_reach(classes, kappa):
    reach, pull = softmax_reach(kappa, classes), largest_pull(classes)
    short = reach * math.sqrt(classes / (classes - 1)) <= 1 + pull
    norm = 1.0 if short else (1 + pull) / (reach * math.sqrt(classes / (classes - 1)))
    found = softmax_minimiser(np.array([[norm, 0.0]]), np.array([0]), 1 / kappa, classes)
    assert np.linalg.norm(found) == pytest.approx(reach, rel=1e-5)


def test_the_length_at_no_weights_and_at_very_long_ones():
    for classes in (2, 3, 50):
        assert softmax_gradient_length(0.0, classes) == pytest.approx(math.sqrt(1 - 1 / classes), rel=1e-12)
        assert softmax_gradient_length(1e6, classes) == pytest.approx(math.sqrt(2), rel=1e-12)
    logits = np.array([-1.0, 1.0]) * 3 / math.sqrt(2)  # two classes: equality
    assert softmax_gradient_length(3.0, 2) == pytest.approx(
        np.linalg.norm(softmax(logits) - [1, 0]), rel=1e-12
    )


def test_no_length_is_rounded_above_the_usual_one():
    # as whole numbers: the float √2 is above the root of 2
    assert float(np.sqrt(2.0)).as_integer_ratio()[0] ** 2 > 2 * float(np.sqrt(2.0)).as_integer_ratio()[1] ** 2
    for classes, reach in itertools.product((2, 3, 10, 1000), (10.0, 20.0, 100.0, 1000.0, 1e9)):
        assert 1.41 < softmax_gradient_length(reach, classes) <= math.sqrt(2)
    for classes in (3, 10):
        usual = output_perturbation_sensitivity(lipschitz=math.sqrt(2), strong_convexity=1e-9, n=5)
        assert (
            softmax_perturbation_sensitivity(lipschitz=1.0, strong_convexity=1e-9, n=5, classes=classes)
            <= usual
        )


def test_what_is_attained_is_below_the_bound_and_meets_it_for_two_classes():
    for classes in (2, 3, 10):
        for kappa in (0.1, 1.0, 30.0):
            upper = softmax_perturbation_sensitivity(
                lipschitz=1.0, strong_convexity=1 / kappa, n=1, classes=classes
            ) / (2 * math.sqrt(2) * kappa)
            share = attained_softmax(kappa, classes)
            assert share <= upper
            assert classes > 2 or share > 0.998 * upper


def test_bad_numbers_are_refused():
    with pytest.raises(ValueError, match="classes: found 1"):
        softmax_perturbation_sensitivity(lipschitz=1.0, strong_convexity=1.0, n=1, classes=1)
    with pytest.raises(ValueError, match="ratio: found -1"):
        softmax_reach(-1, 3)
    with pytest.raises(ValueError, match="lipschitz: found 0"):
        softmax_perturbation_sensitivity(lipschitz=0, strong_convexity=1.0, n=1, classes=3)
