"""Faults planted in private gradient descent with secure noise, and caught by the checks of this folder."""

import dataclasses

import numpy as np
import pytest
from cases import cases
from checks import caught, check_neighbours, check_secure

import dpfair_lib as dpf
from dpfair_lib.learners import exact_steps, fermi, fermi_exact, logistic

CASES = {case.name: case for case in cases()}
WHOLE = [CASES[f"secure {kind}, add-remove, rate 1"] for kind in ("DPLogisticRegression", "DPLinearSVM")]
FAULTS = {
    # 5 % less noise: the grid is finer than the noise multiplier allows
    "finer grid": lambda usual: {"grid_step": lambda *numbers: 0.95 * usual.grid_step(*numbers)},
    "no clipping": lambda usual: {"prepared": lambda *data: _longer(usual.prepared(*data), np.inf)},
    "longer clipping": lambda usual: {"prepared": lambda *data: _longer(usual.prepared(*data), 1.05)},
    "no noise": lambda _: {"add_discrete_gaussian_noise": lambda sums, _: sums},
    "noise once for all steps": lambda usual: {"add_discrete_gaussian_noise": _once(usual)},
    "less noise": lambda usual: {
        "add_discrete_gaussian_noise": lambda sums, scale: usual.add_discrete_gaussian_noise(
            sums, 0.95 * scale
        )
    },
}


def _longer(rows, factor):
    return rows._replace(limits=rows.limits * factor)


def _once(usual):
    kept = []

    def noisy(sums, scale):
        if not kept:
            kept.append(usual.add_discrete_gaussian_noise(np.zeros_like(sums), scale))
        return sums + kept[0]

    return noisy


class Usual:
    """The functions of the steps as they are before a fault is planted."""

    def __init__(self):
        vars(self).update(vars(exact_steps))


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("case", WHOLE, ids=str)
def test_a_fault_in_the_steps_is_caught(case, name, monkeypatch):
    pair = case.pairs()["large beside small"]
    check_secure(case, pair[0])
    for place, planted in FAULTS[name](Usual()).items():
        monkeypatch.setattr(exact_steps, place, planted)
    assert caught(check_secure, case, pair[0])


@pytest.mark.parametrize("kept", ["the number of rows divides", "the last batch is kept"])
def test_what_is_known_of_a_batch_is_caught(kept, monkeypatch):
    case = CASES["secure DPLogisticRegression, add-remove, rate 0.5"]
    if kept == "the number of rows divides":
        usual = exact_steps.train

        def counted(X, y, steps):
            return usual(X, y, dataclasses.replace(steps, expected_batch_size=steps.sample_rate * len(X)))

        monkeypatch.setattr(exact_steps, "train", counted)
    else:
        usual_fit, sums = dpf.DPLogisticRegression.fit, exact_steps.exact_sum

        def fit(self, X, y):
            seen = []
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(exact_steps, "exact_sum", lambda *given: seen.append(sums(*given)) or seen[-1])
                usual_fit(self, X, y)
            self.last_ = seen[-1]
            return self

        monkeypatch.setattr(logistic.DPLogisticRegression, "fit", fit)
    assert caught(check_neighbours, case, "secure")


def test_faults_in_penalised_steps_are_caught(monkeypatch):
    case = CASES["secure fermi, group_frequencies, rate 1"]
    check_secure(case, case.data())
    noisy = fermi_exact.add_discrete_gaussian_noise
    for fault in (
        lambda sums, _: sums,
        lambda sums, scale: noisy(sums, 0.95 * scale),
        # W is released as it is
        lambda sums, scale: np.append(noisy(sums[:5], scale), sums[5:]),
    ):
        monkeypatch.setattr(fermi_exact, "add_discrete_gaussian_noise", fault)
        assert caught(check_secure, case, case.data())
    monkeypatch.setattr(fermi_exact, "add_discrete_gaussian_noise", noisy)
    # clips and radius of W from the exact frequencies
    usual = fermi.train_exact
    counted = CASES["secure fermi, frequency_epsilon, rate 0.5"]

    def exact(data, frequencies, steps):
        return usual(
            data, frequencies, dataclasses.replace(steps, w_radius=float(data[0][:, 0].clip(0, 9).sum()))
        )

    check_neighbours(counted, "secure", every=9)
    monkeypatch.setattr(fermi, "train_exact", exact)
    assert caught(check_neighbours, counted, "secure")
