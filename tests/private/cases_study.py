"""Releases with study noise only: learners by private gradient descent, and the printed perturbation of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases import Case, Pairs, estimator
from cases_learners import grouped
from neighbours import feature_pairs, features, replaced
from sklearn.svm import SVC

import dpfair_lib as dpf
from dpfair_lib.svm.perturbation import noisy_support_vectors


def _study(*names: str) -> dict[str, Any]:
    return {"asked": None, "through": None, "noisy": frozenset(names)}


STEPS = {"noise_multiplier": 1.0, "delta": 1e-3, "max_grad_norm": 1.0, "sample_rate": 0.5, "steps": 3,
         "learning_rate": 0.1, "device": "cpu", "classes": (0, 1), "expected_batch_size": 6.0}  # fmt: skip


def _in_domain(pairs: Pairs, domain: float = 1e100) -> Pairs:
    """Return the pairs without entries above 10¹⁰⁰, or 10¹⁵ in 32 bits; the learners say that they take no other."""
    return {
        name: pair
        for name, pair in pairs.items()
        if all(np.abs(np.asarray(data["X"], dtype=float)).max() <= domain for data in pair)
    }


def _descended_pairs(relation: str, domain: float) -> Pairs:
    pairs = _in_domain(feature_pairs(), domain)
    plain = dict(zip("Xy", features(), strict=True))
    pairs["the edge of the domain"] = (plain, replaced(plain, X=domain * np.array([1, 1, -1, -1])))
    if relation == "add-remove":
        pairs = {
            name: (data, {column: values[1:] for column, values in data.items()})
            for name, (_, data) in pairs.items()
            if len(data["y"]) > 1
        }
    return pairs


def _descended(kind: type, relation: str, dtype: str = "float64") -> Case:
    return Case(
        name=f"{kind.__name__}, {relation}, {dtype}",
        covers=(kind,),
        relation=relation,
        make=estimator(kind, relation=relation, dtype=dtype, **STEPS),
        data=lambda: dict(zip("Xy", features(), strict=True)),
        pairs=lambda: _descended_pairs(relation, {"float64": 1e100, "float32": 1e15}[dtype]),
        numbers=lambda fitted: np.append(fitted.coef_[0], fitted.intercept_),
        **_study("coef_", "intercept_"),
    )


def _fermi(**options: Any) -> Case:
    # the number of rows, both labels and all groups are public, and occur: a row is replaced, which is two steps
    def pairs() -> Pairs:
        data = grouped()
        found = _in_domain(feature_pairs(labels=False, sensitive_features=data["sensitive_features"]))
        return {name: pair for name, pair in found.items() if name != "a row alone"}

    return Case(
        name=f"fermi, {next(iter(options))}",
        covers=(dpf.DPFermiClassifier,),
        relation="replace-one" if "as_run" in options else "add-remove",
        make=estimator(
            dpf.DPFermiClassifier, penalty=1.0, epsilon=5.0, delta=1e-3, steps=2, batch_size=4, **options
        ),
        data=grouped,
        pairs=pairs,
        numbers=lambda fitted: np.concatenate([fitted.coef_[0], fitted.intercept_, fitted.W_.ravel()]),
        **_study(
            "coef_", "intercept_", "W_", *(["group_frequencies_"] if "frequency_epsilon" in options else [])
        ),
    )


def _vectors() -> Case:
    """Return the case of the printed perturbation of support vectors, which is not private and says so."""
    X, y = features()

    def make(_: str, seed: Any) -> Any:
        def fit(X: Any, y: Any) -> Any:
            svc = SVC(kernel="linear").fit(X, y)
            return dpf.SupportVectorPerturbation(svc, epsilon=1.0).perturb(np.random.default_rng(seed))

        return fit

    return Case(
        name="support vectors",
        covers=(dpf.SupportVectorPerturbation, noisy_support_vectors),
        relation="replace-one",
        make=make,
        data=lambda: {"X": X, "y": y},
        pairs=dict,  # refuted: the number of support vectors and their labels go out as they are
        numbers=lambda drawn: drawn.support_vectors_.ravel(),
        **_study("support_vectors_", "classifier_", "scale_"),
    )


CASES = [
    *(
        _descended(kind, relation)
        for kind in (dpf.DPLogisticRegression, dpf.DPLinearSVM)
        for relation in ("add-remove", "replace-one")
    ),
    _descended(dpf.DPLogisticRegression, "replace-one", "float32"),
    _fermi(frequency_epsilon=1.0),
    _fermi(group_frequencies={0: 0.5, 1: 0.5}),
    _fermi(as_run=True),
    _vectors(),
]
