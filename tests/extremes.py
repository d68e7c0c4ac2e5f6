"""Every public function and estimator with one argument at a time replaced by an extreme one.

``python tests/extremes.py [SHARE [NAME]]`` tries them all, or a share, or one name's, and lists what should not have
come: an answer or a refusal that names the argument is due within `SECONDS` of processor time, in `MEMORY` bytes.
Each call is made in a process of its own kind, which is ended when it takes too long.
"""

# ruff: noqa: E501 - a table of calls, one to a line
from __future__ import annotations

import inspect
import json
import math
import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError

SECONDS, MEMORY = 10, 3 << 30
WAITING = 6  # times as long by the clock, as others may be at work on the machine
NUMBERS = {
    "0": 0, "-1": -1, "-1.5": -1.5, "nan": math.nan, "inf": math.inf, "-inf": -math.inf, "2**31": 2**31, "2**53": 2**53,
    "2**63": 2**63, "10**400": 10**400, "1e-300": 1e-300, "5e-324": 5e-324, "1e308": 1e308, "1 - 2**-53": 1 - 2**-53,
    "1 + 2**-52": 1 + 2**-52, "Fraction": Fraction(1, 10**400), "True": True, "None": None, "text": "x", "2.0": 2.0,
    "1j": 1j, "1000": 1000,
}  # fmt: skip
ARRAYS = {
    "empty": [], "empty 2-D": np.zeros((0, 3)), "0-D": np.array(1.0), "objects": np.array([object(), None], dtype=object),
    "nan array": np.full(4, np.nan), "huge": np.full(4, 1e308), "tiny": np.full(4, 5e-324), "2**63 array": [2**63] * 4,
    "10**400 array": [10**400] * 4, "Fractions": np.array([Fraction(1, 4)] * 4), "text array": ["a", "b", "c", "d"],
    "bool array": [True, False, True, True], "3-D": np.zeros((2, 2, 2)), "infinite": np.full(4, np.inf), "one": [1],
    "dates": np.array(["2020-01-01"] * 4, dtype="datetime64[D]"), "long": np.zeros(10**6), "huge pair": [1e308, 1e308],
    "whole pair": [10**400, 2**63], "tiny pair": [5e-324, 1e-300], "nan pair": [math.nan, math.inf],
    "ragged": [[1.0], [0.5, 0.5]], "table of words": [["a", "b"], ["c", "d"]], "sets": [{1}, {2}, {3}, {4}], "dict": {0: 1},
}  # fmt: skip
SCIKIT_LEARN = (
    "Expected 2D array",
    "Found array with",
    "Found input",
    "float() argument",
    "could not convert",
    "inhomogeneous shape",
)
# these hand X to scikit-learn's own classifier, which refuses in its own words
HANDING_ON = {"GroupColumn", "PostprocessedClassifier"}
# ordinary by themselves, these make another number, derived from them, too large or too small for a float
HUGE = {"1e308", "5e-324", "1e-300", "2**31", "2**53", "2**63", "1 - 2**-53"}
WORDS = ("None", "text", "0", "True", "nan", "empty")
EXTREMES = {**NUMBERS, **ARRAYS}


def _noisy(data, size, rng):
    return data + rng.laplace(size=size)


def _positive(x, _):
    return (np.asarray(x) > 0).astype(int)


def bases():
    """Return for each public name a function of keyword arguments, and ordinary arguments."""
    from sklearn.linear_model import LogisticRegression

    import dpfair_lib as dpf
    from dpfair_lib.compatibility.impossibility.criteria import beats_constants, fair_within

    rng = np.random.default_rng(0)
    n = 40
    X, groups, y = rng.normal(size=(n, 2)), np.arange(n) % 2, np.arange(n) // 2 % 2
    w = np.array([1.0, -1.0])
    yes = (X @ w > 0).astype(int)
    people = {"sensitive_features": groups}
    population = dpf.Population.from_table([[[Fraction(1, 8)] * 2] * 2] * 2)
    family = {
        "hypotheses": np.array([[[0, 1], [1, 0]]]), "fair": fair_within("parity"), "accurate": beats_constants()
    }  # fmt: skip
    private = dpf.PrivacyStatement(0.1, 0.0, "replace-one")
    certified = {"scores": X @ w, "y": y, "X": X, **people, "notion": "equalized_odds"}
    shares, rates, study = [0.3, 0.7], [0.2, 0.6], {"noise": "study", "random_state": 0}
    training = {"sample_rate": 0.1, "steps": 10, "delta": 1e-5}
    sgd = {**training, "noise_multiplier": 1.0, "max_grad_norm": 1.0, "learning_rate": 0.1, "classes": [0, 1]}
    cells, features = np.arange(n) % 3, pd.DataFrame({"x": np.arange(n) % 3})

    def estimator(kind, fit, **given):
        def call(**changed):
            model = kind(**{name: changed[name] for name in given})
            rows = {name: changed[name] for name in fit}
            model.fit(**rows)
            taken = inspect.signature(model.predict).parameters
            inputs = {name: value for name, value in rows.items() if name in taken}
            model.predict(**inputs, **({"random_state": 0} if "random_state" in taken else {}))

        return call, {**given, **fit}

    def prepared(kind, X, **given):
        return (lambda X, **changed: kind(**changed).fit_transform(X)), {"X": X, **given}

    told = {"y_true": y, "y_pred": yes, **people}
    judged = {**told, "method": "to_overall", "sample_weight": np.ones(n)}
    rows = {"X": X, "y": y}
    changed = dpf.PostprocessedClassifier(LogisticRegression(), dpf.FairPostprocessor())
    perturbed = dpf.ObjectivePerturbation(feature_bound=5.0, epsilon=1.0, delta=1e-6, classes=[0, 1], **study)
    return {
        "margin_lipschitz": (dpf.margin_lipschitz, {"X": X, "norm": "frobenius", "binary": True}),
        "margins": (dpf.margins.margins, {"scores": X @ w, "y": y}),
        "fairness_certificate": (dpf.fairness_certificate, {**certified, "radius": 0.1, "slack": 0.0, "desirable": None, "intercept": False}),
        "certify_model": (dpf.certify_model, {**{name: value for name, value in certified.items() if name != "scores"}, "model": LogisticRegression(C=1e-3, fit_intercept=False).fit(certified["X"], certified["y"]), "epsilon": 1.0, "delta": 1e-5, "zeta": 0.1, "feature_bound": 9.0, "tolerance": 1e-3, "slack": 1e-3, "desirable": None}),
        "noise_certificate": (dpf.noise_certificate, {**certified, "sigma": 0.1, "zeta": 0.1, "slack": 1e-3, "reach": "markov"}),
        "private_certificate": (
            dpf.private_certificate, {**certified, "sigma": 0.1, "zeta": 0.1, "epsilon": 1.0, "slack": 1e-3}
        ),
        "output_perturbation_radius": (
            dpf.output_perturbation_radius,
            {"p": 3, "lipschitz": 1.0, "strong_convexity": 0.1, "n": 100, "epsilon": 1.0, "delta": 1e-5, "zeta": 0.1},
        ),
        "strong_convexity": (dpf.strong_convexity, {"C": 1.0, "n": 10}),
        "change_lower_bound": (dpf.change_lower_bound, {"alpha": 0.2, "beta": 0.7, "gamma": 0.1}),
        "optimal_change": (dpf.optimal_change, {"alpha": 0.2, "beta": 0.7, "gamma": 0.1}),
        "parity_bound": (dpf.parity_bound, {"n": [10, 20], "epsilon": 1.0, "eta": 0.1, "mechanism": "geometric"}),
        "expected_parity_bound": (dpf.expected_parity_bound, {"n": [10, 20], "epsilon": 1.0, "mechanism": "geometric"}),
        "parity_violation_probability": (
            dpf.parity_violation_probability, {"gap": 0.1, "rates": shares, "n": [10, 20], "epsilon": 1.0}
        ),
        "acceptable_hypotheses": (dpf.acceptable_hypotheses, {"population": population, **family}),
        "pure_dp_feasible": (
            dpf.pure_dp_feasible, {"populations": [population], "zeta": Fraction(1, 2), "epsilon": 1.0, **family}
        ),
        "synthetic": (dpf.synthetic, {"name": "adult", "n": 50, "random_state": 0}),
        "accuracy_parity_difference": (dpf.accuracy_parity_difference, judged),
        "data_unfairness": (dpf.data_unfairness, {"y": y, **people, "kind": "difference"}),
        "data_unfairness_from_rates": (dpf.data_unfairness_from_rates, {"p": shares, "p1": rates, "kind": "difference"}),
        "demographic_parity_difference": (dpf.demographic_parity_difference, judged),
        "demographic_parity_ratio": (dpf.demographic_parity_ratio, judged),
        "equal_opportunity_difference": (dpf.equal_opportunity_difference, judged),
        "equal_opportunity_ratio": (dpf.equal_opportunity_ratio, judged),
        "equalized_odds_difference": (dpf.equalized_odds_difference, {**judged, "agg": "mean"}),
        "equalized_odds_ratio": (dpf.equalized_odds_ratio, {**judged, "agg": "mean"}),
        "gap_interval_from_rows": (
            dpf.gap_interval_from_rows, {**told, "notion": "equalized_odds", "level": 0.9, "method": "chernoff"}
        ),
        "fairness_coefficients": (dpf.fairness_coefficients, {"y_true": y, **people, "notion": "equalized_odds"}),
        "group_fairness": (dpf.group_fairness, {"y_true": y, "y_pred": yes, **people, "notion": "accuracy_parity"}),
        "mean_equalized_odds_difference": (dpf.mean_equalized_odds_difference, judged),
        "selection_rates": (dpf.selection_rates, {"y_pred": yes, **people}),
        "binary_optimum": (dpf.binary_optimum, {"p": shares, "p1": rates, "epsilon": 1.0}),
        "generalized_randomized_response": (dpf.generalized_randomized_response, {"k": 3, "epsilon": 1.0}),
        "optimal_randomizer": (
            dpf.optimal_randomizer, {"p": shares, "p1": rates, "epsilon": 1.0, "error": 0.4, "tol": 1e-6, "time_limit": 5.0}
        ),
        "smallest_error": (dpf.smallest_error, {"p": shares, "epsilon": 1.0}),
        "subset_selection": (dpf.subset_selection, {"k": 4, "epsilon": 1.0, "size": 2}),
        "subset_selection, default size": (dpf.subset_selection, {"k": 4, "epsilon": 1.0}),
        "Randomizer": (lambda matrix: repr(dpf.Randomizer(matrix)), {"matrix": [[0.7, 0.3], [0.3, 0.7]]}),
        "audit_channel": (lambda channel, epsilon: dpf.audit_channel(channel).delta(epsilon), {"channel": [[0.7, 0.3], [0.3, 0.7]], "epsilon": 0.5}),
        "estimate_frequencies": (dpf.estimate_frequencies, {"reports": [0, 1, 1, 0], "channel": [[0.7, 0.3], [0.3, 0.7]], "level": 0.9}),
        "estimate_rates": (dpf.estimate_rates, {"reports": [0, 1, 1, 0], "y": [0, 1, 0, 1], "channel": [[0.7, 0.3], [0.3, 0.7]], "level": 0.9}),
        "Randomizer.apply": (dpf.generalized_randomized_response(3, 1.0).apply, {"a": [0, 1, 2], "rng": None}),
        "SubsetSelection.apply": (dpf.subset_selection(4, 1.0).apply, {"a": [0, 1, 2], "rng": None}),
        "Randomizer.pushforward": (dpf.generalized_randomized_response(2, 1.0).pushforward, {"p": shares, "p1": rates}),
        "FairProjection": estimator(
            dpf.FairProjection, {"y_proba": np.full(n, 0.5) + X[:, 0] / 100, **people},
            notion="demographic_parity", divergence="kl", tolerance=0.01,
        ),
        "Population": (dpf.Population.from_table, {"table": [[[0.125] * 2] * 2] * 2}),
        "Budget": (dpf.Budget, {"epsilon": 1.0, "delta": 1e-5, "relation": "replace-one"}),
        "Budget.spend": (lambda statement: dpf.Budget(1.0, 0, "replace-one").spend(statement), {"statement": private}),
        "PrivacyStatement": (
            dpf.PrivacyStatement, {"epsilon": 1.0, "delta": 1e-5, "relation": "local", "unit": "record", "public": (), "parts": ()}
        ),
        "compose": (
            lambda statements, parallel, to: dpf.compose(statements, private, parallel=parallel, to=to),
            {"statements": private, "parallel": "position", "to": "sensitive-attribute"},
        ),
        "audit": (
            lambda **given: dpf.audit(_noisy, **given),
            {"pairs": [(0, 1)], "n": 10, "alpha": 0.1, "rng": np.random.default_rng(0)},
        ),
        **{
            f"dp_sgd_epsilon, {name}": (dpf.dp_sgd_epsilon, {**training, "noise_multiplier": 1.0, "accountant": name})
            for name in ("pld", "prv", "rdp", "gdp")
        },
        **{
            f"dp_sgd_noise, {name}": (dpf.dp_sgd_noise, {**training, "epsilon": 1.0, "accountant": name})
            for name in ("pld", "rdp", "gdp")
        },
        "gaussian_delta": (dpf.gaussian_delta, {"epsilon": 1.0, "sigma": 1.0, "sensitivity": 1.0}),
        "gaussian_sigma": (dpf.gaussian_sigma, {"epsilon": 1.0, "delta": 1e-5, "sensitivity": 1.0, "kind": "analytic"}),
        "generic_linf_bound": (dpf.generic_linf_bound, {"n_groups": 2, "m": 10, "epsilon": 1.0, "beta": 0.1}),
        "generic_linf_bound, exact": (
            dpf.generic_linf_bound, {"n_groups": 2, "m": 10, "epsilon": 1.0, "beta": 0.1, "kind": "exact"}
        ),
        "svm_linf_bound": (
            dpf.svm_linf_bound,
            {"n_groups": 2, "m": 10, "k": 5, "epsilon": 1.0, "beta": 0.1, "kind": "corrected", "flippable": 1.0, "share": 0.5},
        ),
        "GroupColumn": estimator(
            dpf.GroupColumn, {"X": np.column_stack([X, groups]), "y": y}, estimator=changed, group=2, keep=True
        ),
        "PostprocessedClassifier": estimator(
            dpf.PostprocessedClassifier, {**rows, **people}, estimator=LogisticRegression(),
            postprocessor=dpf.FairPostprocessor(), prefit=False, scores="predict_proba",
        ),
        "FairPostprocessor": estimator(dpf.FairPostprocessor, {"y_pred": yes, **people}, rate="midpoint", gamma=0.1),
        **{
            f"FairPostprocessor, {notion}": estimator(
                dpf.FairPostprocessor,
                {"y_pred": yes, "y_true": y, "scores": X @ w, "sample_weight": np.ones(len(y)), **people},
                rate="midpoint", gamma=0.1, notion=notion, objective="errors",
            )
            for notion in ("demographic_parity", "equal_opportunity", "equalized_odds")
        },
        "PrivateFairPostprocessor": estimator(
            dpf.PrivateFairPostprocessor, {"y_pred": yes, **people}, epsilon=1.0, mechanism="geometric", **study
        ),
        "PrivateFairPostprocessor, Laplace": estimator(
            dpf.PrivateFairPostprocessor, {"y_pred": yes, **people}, epsilon=1.0, mechanism="laplace"
        ),
        "PrivateFairPostprocessor, equal opportunity": estimator(
            dpf.PrivateFairPostprocessor, {"y_pred": yes, "y_true": y, **people}, epsilon=1.0, gamma=0.1,
            notion="equal_opportunity",
        ),
        "EqualizedOddsPostprocessor": estimator(
            dpf.EqualizedOddsPostprocessor, {"y_pred": yes, "y_true": y, **people}, gamma=0.1, epsilon=1.0, failure=0.05,
            groups=[0, 1],
        ),
        "OutputPerturbation": estimator(
            dpf.OutputPerturbation, rows, regularization=1.0, feature_bound=5.0, epsilon=1.0, delta=1e-5, tolerance=1e-3,
            classes=[0, 1], **study,
        ),
        "ObjectivePerturbation": estimator(
            dpf.ObjectivePerturbation, rows, regularization=1.0, feature_bound=5.0, epsilon=1.0, delta=1e-5, classes=[0, 1],
            **study,
        ),
        **{
            name: prepared(kind, X=X, **given)
            for name, kind, given in (
                ("PublicScaler", dpf.PublicScaler, {"bounds": {0: (-1, 1)}}),
                ("PrivateScaler", dpf.PrivateScaler, {"bounds": {0: (-1, 1)}, "epsilon": 1.0, "relation": "add-remove", **study}),
                ("PublicImputer", dpf.PublicImputer, {"values": {0: 1.0}}),
                (
                    "PrivateImputer", dpf.PrivateImputer,
                    {"bounds": {0: (-1, 1)}, "categories": {1: (0, 1)}, "epsilon": 1.0, "relation": "replace-one", **study},
                ),
                ("PublicEncoder", dpf.PublicEncoder, {"categories": {0: (0, 1)}}),
            )
        },
        "PrivatePipeline": estimator(dpf.PrivatePipeline, rows, steps=(("scale", dpf.PublicScaler({0: (-1, 1)})), ("learn", perturbed)), delta=1e-5, to="replace-one"),
        "PrivateSelection": estimator(
            dpf.PrivateSelection, rows, candidates=(perturbed,), epsilon=1.0, holdout_every=5, delta=1e-5, **study
        ),
        "PrivateFairClassifier": estimator(
            dpf.PrivateFairClassifier, {**rows, **people}, epsilon=1.0, delta=1e-5, feature_bound=5.0, share=0.2,
            classes=[0, 1], **study,
        ),
        "PrivateFairClassifier, split": estimator(
            dpf.PrivateFairClassifier, {**rows, **people}, epsilon=1.0, delta=0, feature_bound=5.0, share=0.5,
            relation="replace-one", rows="split", group_sizes={0: 20, 1: 20},
        ),
        "StableAnswers": (dpf.StableAnswers, {"key": bytes(16), "purpose": "loans"}),
        "StableAnswers.of": (dpf.StableAnswers(bytes(16)).of, {"identifiers": [1, 2, 3]}),
        "DPLogisticRegression": estimator(dpf.DPLogisticRegression, rows, **sgd, **study),
        "DPLinearSVM": estimator(dpf.DPLinearSVM, rows, **sgd, **study),
        "FairFunctionalClassifier": estimator(
            dpf.FairFunctionalClassifier, {**rows, **people}, penalty=1.0, feature_bound=5.0, epsilon=1.0, delta=1e-5,
            regularization=0.1, groups=[0, 1], classes=[0, 1], **study,
        ),
        "ReportedOddsPostprocessor": estimator(
            dpf.ReportedOddsPostprocessor, {"y_pred": y, "y_true": y, "reports": groups},
            channel=dpf.Randomizer([[0.75, 0.25], [0.25, 0.75]]), gamma=0.1,
        ),
        "DPGroupClippingClassifier": estimator(
            dpf.DPGroupClippingClassifier, {**rows, **people}, count_share=0.1, groups=[0, 1], **sgd, **study
        ),
        "DPGlobalScalingClassifier": estimator(
            dpf.DPGlobalScalingClassifier, rows, count_share=0.1, scale_norm=2.0, threshold=1.0, scale_rate=0.1, **sgd,
            **study,
        ),
        "DPNetworkClassifier": estimator(dpf.DPNetworkClassifier, rows, hidden=3, start=1, **sgd, **study),
        "DPLagrangianClassifier": estimator(
            dpf.DPLagrangianClassifier, {**rows, **people}, notion="equalized_odds", gamma=0.1, multiplier_rate=0.1,
            largest_multiplier=2.0, memory=0.5, count_share=0.1, groups=[0, 1], **sgd, **study,
        ),
        "PrivateExponentiatedGradient": estimator(
            dpf.PrivateExponentiatedGradient, {**rows, **people}, notion="equalized_odds", gamma=0.1, feature_bound=5.0,
            epsilon=1.0, delta=1e-5, rounds=3, multiplier_bound=2.0, multiplier_rate=1.0, sums_share=0.3,
            regularization=0.1, groups=[0, 1], classes=[0, 1], **study,
        ),
        "ExponentialFairLearner": estimator(
            dpf.ExponentialFairLearner, {"X": cells, "y": y, **people}, hypotheses=[_positive],
            epsilon=1.0, delta=Fraction(1, 1000), **study,
        ),
        "PrivateNoRegretFair": estimator(
            dpf.PrivateNoRegretFair, {"X": features, "y": y, "sensitive_features": pd.DataFrame({"s": groups})}, epsilon=1.0,
            delta=1e-5, subgroups=[{"s": 0}, {"s": 1}], rounds=3, samples=10, levels={"x": (0, 1, 2), "s": (0, 1)},
            dual_bound=10.0, tolerance=0.0, **study,
        ),
    }  # fmt: skip


def extremes_for(value):
    """Return the names of the extremes for an argument, by the kind of its ordinary value."""
    if isinstance(value, list | np.ndarray | pd.DataFrame):
        return [*ARRAYS, "None", "0", "text"]
    return [*NUMBERS, "0-D"] if isinstance(value, int | float | Fraction) and value is not True else WORDS


def plan(share=1.0, name=None, seed=0):
    """Return the calls to make, as (name, argument, extreme), a random share of each name's."""
    rng = np.random.default_rng(seed)
    made = []
    for known, (_, given) in bases().items():
        if name in (None, known):
            calls = [
                (known, argument, extreme)
                for argument in sorted(given)
                for extreme in extremes_for(given[argument])
            ]
            due = max(1, round(share * len(calls)))
            made += [calls[at] for at in sorted(rng.permutation(len(calls))[:due])]
    return made


def serve():
    """Make the calls that come in, one line each, and answer with what came of each."""
    known = bases()
    resource.setrlimit(resource.RLIMIT_AS, (_held() + MEMORY,) * 2)
    warnings.simplefilter("ignore")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        name, argument, extreme = json.loads(line)
        call, given = known.get(name, (_misbehave, {}))
        try:
            if name == "test":
                _misbehave(argument)
            call(**{**given, argument: EXTREMES[extreme]})
            found = "answered"
        except (ValueError, TypeError) as error:
            own = type(error) in (ValueError, TypeError, NotFittedError) or type(error).__module__.startswith(
                ("dpfair_lib", "numpy") if argument == "pairs" or "hypotheses" in given else "dpfair_lib"
            )
            found = (
                "refused"
                if own and says_what(str(error), argument, given, extreme)
                else f"{type(error).__name__}: {error}"
            )
        except OverflowError as error:
            theirs = name in HANDING_ON and argument == "X"
            found = "refused" if theirs else f"{type(error).__name__}: {error}"
        except BaseException as error:
            found = f"{type(error).__name__}: {error}"
        sys.stdout.write(json.dumps(found[:300]) + "\n")
        sys.stdout.flush()


def says_what(message, argument, given, extreme):
    """Return whether a refusal says what was found and expected, and names an argument of the call.

    It may name another one that does not fit: classes beside labels, groups beside rows.
    """
    if argument in "Xy" and any(
        words in message for words in (*SCIKIT_LEARN, "Input y", "requires y", "y should be")
    ):
        return True  # what scikit-learn says of X and y is what users of its estimators know
    if argument == "pairs" or (argument == "X" and "hypotheses" in given):
        return True  # which the caller's own functions take
    named = any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message) for name in given)
    told = "found" in message or message.startswith("lengths differ")
    return told and (extreme in HUGE or (named and "expected" in message))


def _misbehave(how):
    """Do what the harness has to notice."""
    if how == "hang":
        time.sleep(100)
    elif how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "hold":
        np.ones(MEMORY // 4)
    raise ValueError("something is off")


def _held():
    return int(Path("/proc/self/status").read_text().split("VmSize:")[1].split()[0]) * 1024


class Server:
    """A process that makes calls, started again when it ended or was ended."""

    def __init__(self):
        self.process = None

    def ask(self, call):
        if self.process is None:
            command = [sys.executable, __file__, "--serve"]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
            )  # fmt: skip
            assert self._line(300) == "ready\n"
        self.process.stdin.write(json.dumps(call) + "\n")
        answer = self._line(SECONDS)
        if answer:
            return json.loads(answer)
        self.close()
        return f"no answer within {SECONDS} s" if answer is None else "the process ended"

    def _line(self, seconds):
        start, worked = time.monotonic(), self._worked()
        while not select.select([self.process.stdout], [], [], 0.5)[0]:
            if self._worked() - worked > seconds or time.monotonic() - start > WAITING * seconds:
                return None
        return self.process.stdout.readline()

    def _worked(self):
        """Return the processor seconds of the process so far."""
        times = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None


def defects(calls, tell=lambda *_: None):
    """Return the calls that were neither answered nor refused by name, with what came of them."""
    server, found = Server(), {}
    try:
        for call in calls:
            what = server.ask(call)
            if what not in ("answered", "refused"):
                found[call] = what
                tell(*call, what)
    finally:
        server.close()
    return found


def main():
    share = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    calls = plan(share, sys.argv[2] if len(sys.argv) > 2 else None)
    found = defects(calls, lambda *parts: (sys.stdout.write(" | ".join(parts) + "\n"), sys.stdout.flush()))
    sys.stdout.write(f"{len(calls)} calls, {len(found)} defects\n")


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main()
