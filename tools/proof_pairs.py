"""The Coq definitions that stand for functions of the library, each with what draws its cases.

`tools/proof_cases.py` computes them by both.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from proof_draws import Pair, function, inside, objects, odds, q, share, shares, simple, table
from proof_instances import (
    accuracy_cells,
    any_channel,
    blind,
    by_cells,
    by_form,
    counted,
    counts_and_rows,
    group_rates,
    groups_and_error,
    joint_law,
    law_and_map,
    line_coq,
    line_library,
    linear_program,
    linear_program_of,
    noisy_count,
    on_a_line,
    parity_constants,
    selection_of,
    sets,
    size_below,
    sorted_groups,
    two_laws,
)

import dpfair_lib as dpf
from dpfair_lib.central.flips import flip_probabilities
from dpfair_lib.central.gap_law import excess_change, signed_gap, summed_changes
from dpfair_lib.claims.cgkm.alg_1 import printed_scale
from dpfair_lib.claims.sk.lemma_a2_2 import noisy_cells_failure
from dpfair_lib.compatibility.private_learner.sensitivity import (
    discrimination_sensitivity,
    utility_sensitivity,
)
from dpfair_lib.fairness.linear_form import form_coefficients
from dpfair_lib.local.binary import equally_truthful_response, optimal_truths, unfairness_ratio
from dpfair_lib.local.optimal.linear_bound import linear_bound
from dpfair_lib.local.optimal.program import most_truthful
from dpfair_lib.local.response import collecting_ratio, response_matrix
from dpfair_lib.local.robust.closed_forms import unfairness_of_level
from dpfair_lib.local.subsets import least_variance_size, subset_matrix, subset_size, subset_variance
from dpfair_lib.local.trade_off import unfairness_constants
from dpfair_lib.postprocessing.bands import least_total_change
from dpfair_lib.postprocessing.group_unknown import least_blind_change
from dpfair_lib.postprocessing.reported_groups import largest_gap
from dpfair_lib.privacy.amplification import amplified_odds
from dpfair_lib.privacy.finite_laws import hockey_stick, processed
from dpfair_lib.svm.guarantees import error_deviation, excess_errors, rate_deviation, slack


def pairs() -> list[Pair]:
    """Return every Coq definition that stands for a function of the library."""
    bounds, theorem, flips = (
        "ISIT/Proposition1.v",
        "ISIT/Theorem3.v",
        "dpfair_lib.central.flips.flip_probabilities",
    )
    laws, gap = "dpfair_lib.privacy.finite_laws", "dpfair_lib.central.gap_law"
    binary, rates = "dpfair_lib.local.binary", "dpfair_lib.data_unfairness_from_rates"
    sk, svm = "SK/Guarantees.v", "dpfair_lib.svm.guarantees"
    form, example = "dpfair_lib.fairness.linear_form.form_coefficients", "MPBT/LinearForm.v"
    constants, fourteen = "dpfair_lib.local.trade_off.unfairness_constants", "Thesis/Theorem14.v"
    return [
        simple(
            bounds, "change_lower_bound", "dpfair_lib.change_lower_bound", shares(3), dpf.change_lower_bound
        ),
        simple(bounds, "optimal_change", "dpfair_lib.optimal_change", shares(3), dpf.optimal_change),
        simple(bounds, "flip_down", flips, shares(2), lambda *a: flip_probabilities(*a)[0]),
        simple(bounds, "flip_up", flips, shares(2), lambda *a: flip_probabilities(*a)[1]),
        simple(
            theorem,
            "signed_gap",
            f"{gap}.signed_gap",
            shares(4),
            lambda *a: np.asarray(signed_gap(*a)).item(),
        ),
        simple(theorem, "summed_changes", f"{gap}.summed_changes", shares(4), lambda *a: summed_changes(*a)),
        simple(
            theorem,
            "excess_change",
            f"{gap}.excess_change",
            lambda rng: (share(rng), share(rng), share(rng) - share(rng)),
            lambda *a: np.asarray(excess_change(*map(objects, a))).item(),
        ),
        Pair(
            "Privacy/Channels.v",
            "response",
            "dpfair_lib.local.response.response_matrix",
            lambda rng: (rng.randint(1, 5), odds(rng)),
            lambda k, t: (
                "("
                + " :: ".join(f"response {k} {q(t)} {i} {j}" for i in range(k) for j in range(k))
                + " :: nil)"
            ),
            lambda k, t: list(response_matrix(k, 1 / t).ravel()),
        ),
        simple(
            "Privacy/Composition.v",
            "hockey_stick",
            f"{laws}.hockey_stick",
            two_laws,
            lambda t, p, r: hockey_stick(objects(p), objects(r), t),
            coq=lambda t, p, r: f"(hockey_stick {q(t)} {len(p)} {function(p)} {function(r)})",
        ),
        simple(
            "Privacy/Audit.v",
            "channel_delta",
            "dpfair_lib.local.channel_audit.ChannelAudit.delta_from_odds",
            any_channel,
            lambda t, m: dpf.audit_channel(objects(m)).delta_from_odds(t),
            coq=lambda t, m: f"(channel_delta {q(t)} {len(m) - 1} {len(m[0])} {table(m)})",
        ),
        simple(
            "CGKM/Scale.v",
            "utility_sensitivity",
            "dpfair_lib.compatibility.private_learner.sensitivity.utility_sensitivity",
            counts_and_rows,
            lambda m, other, n: utility_sensitivity((m, other), n),
        ),
        simple(
            "CGKM/Scale.v",
            "printed_scale",
            "dpfair_lib.claims.cgkm.alg_1.printed_scale",
            noisy_count,
            printed_scale,
            coq=lambda n, count: f"(printed_scale {q(count)} {q(n)})",
        ),
        Pair(
            "SK/Refutation.v",
            "support",
            "dpfair_lib.svm.line.hard_margin",
            on_a_line,
            line_coq,
            line_library,
        ),
        simple(
            "SK/Feasibility.v",
            "cells_failure",
            "dpfair_lib.claims.sk.lemma_a2_2.noisy_cells_failure",
            lambda rng: (share(rng), rng.randint(1, 8)),
            noisy_cells_failure,
            coq=lambda tail, groups: f"(cells_failure {q(tail)} {groups})",
        ),
        simple(
            "SK/Feasibility.v",
            "slack",
            f"{svm}.slack",
            lambda rng: (share(rng), inside(rng), inside(rng)),
            lambda eta, n, m: slack(objects([[n, m]]), ((0, 1),), eta)[0, 0],
        ),
        Pair(
            "Privacy/Composition.v",
            "processed",
            f"{laws}.processed",
            law_and_map,
            lambda p, m: (
                "("
                + " :: ".join(f"processed {len(p)} {function(p)} {table(m)} {z}" for z in range(len(m[0])))
                + " :: nil)"
            ),
            lambda p, m: [Fraction(value) for value in processed(objects(p), objects(m))],
        ),
        simple(
            "Thesis/Lemma13.v",
            "difference",
            rates,
            group_rates,
            lambda p, r: dpf.data_unfairness_from_rates(objects(p), objects(r), kind="difference"),
            coq=lambda _, r: f"(difference {len(r) - 1} {function(r)})",
        ),
        simple(
            "Thesis/Lemma13.v",
            "deviation",
            rates,
            group_rates,
            lambda p, r: dpf.data_unfairness_from_rates(objects(p), objects(r), kind="ratio"),
            coq=lambda p, r: (
                f"(deviation {len(r) - 1} {function(r)} (overall {len(p)} {function(p)} {function(r)}))"
            ),
        ),
        simple(
            "Thesis/Lemma16.v",
            "first_constant",
            constants,
            lambda rng: (inside(rng), share(rng)),
            lambda y, m: unfairness_constants(y, m)[0],
        ),
        simple(
            "Thesis/Lemma16.v",
            "second_constant",
            constants,
            lambda rng: (inside(rng),),
            lambda y: unfairness_constants(y)[1],
        ),
        simple(
            fourteen,
            "difference_ratio",
            f"{binary}.unfairness_ratio",
            lambda rng: (inside(rng), share(rng), share(rng)),
            unfairness_ratio,
        ),
        simple(
            fourteen,
            "deviation_ratio",
            f"{binary}.unfairness_ratio",
            lambda rng: (inside(rng), share(rng), share(rng)),
            lambda *a: unfairness_ratio(*a, kind="ratio"),
        ),
        Pair(
            fourteen,
            "optimal_truths",
            f"{binary}.optimal_truths",
            lambda rng: (inside(rng), share(rng)),
            lambda w, x: f"(fst (optimal_truths {q(w)} {q(x)}) :: snd (optimal_truths {q(w)} {q(x)}) :: nil)",
            lambda w, x: [Fraction(value) for value in optimal_truths(w, x)],
        ),
        simple(
            fourteen,
            "equally_truthful",
            f"{binary}.equally_truthful_response",
            lambda rng: (inside(rng), share(rng)),
            equally_truthful_response,
            coq=lambda w, x: f"(equally_truthful (Coq.QArith.Qminmax.Qmin {q(w)} {q(1 - w)}) {q(x)})",
        ),
        simple(
            "Ours/LeastChange.v",
            "least_total_change",
            "dpfair_lib.postprocessing.bands.least_total_change",
            sorted_groups,
            least_total_change,
            coq=lambda r, g: f"(least_total_change {len(r)} {function(r)} {q(g)})",
        ),
        simple(
            "CGKM/Sensitivity.v",
            "sensitivity",
            "dpfair_lib.compatibility.private_learner.sensitivity.discrimination_sensitivity",
            lambda rng: (rng.randint(1, 60), rng.randint(1, 60)),
            lambda m, n: discrimination_sensitivity((m, n)),
        ),
        Pair(
            example,
            "odds_coefficient",
            form,
            joint_law(),
            by_cells("odds_coefficient {groups}"),
            by_form("equalized_odds"),
        ),
        Pair(
            example,
            "opportunity_coefficient",
            form,
            joint_law(),
            by_cells("opportunity_coefficient {desirable} {groups}"),
            by_form("equal_opportunity"),
        ),
        Pair(example, "accuracy_coefficient", form, joint_law(), accuracy_cells, by_form("accuracy_parity")),
        Pair(
            example,
            "parity_coefficient",
            form,
            joint_law(2),
            by_cells("parity_coefficient"),
            by_form("demographic_parity"),
        ),
        Pair(
            example,
            "parity_constant",
            form,
            joint_law(2),
            parity_constants,
            lambda joint, _: [
                Fraction(v) for v in form_coefficients(objects(joint), "demographic_parity", None)[0].ravel()
            ],
        ),
        Pair(
            "Privacy/Subsets.v",
            "selection",
            "dpfair_lib.local.subsets.subset_matrix",
            sets,
            selection_of,
            lambda k, w, t: list(subset_matrix(k, w, 1 / t).T.ravel()),
        ),
        simple(
            "Privacy/Subsets.v",
            "printed_size",
            "dpfair_lib.local.subsets.subset_size",
            lambda rng: (rng.randint(1, 60), odds(rng)),
            subset_size,
            coq=lambda k, t: f"(inject_Z (printed_size {k} {q(t)}))",
        ),
        simple(
            "Privacy/Subsets.v",
            "least_variance_size",
            "dpfair_lib.local.subsets.least_variance_size",
            lambda rng: (rng.randint(1, 30), odds(rng)),
            least_variance_size,
            coq=lambda k, t: f"(inject_Z (Z.of_nat (least_variance_size {k} {q(t)})))",
        ),
        simple(
            "Privacy/Subsets.v",
            "variance",
            "dpfair_lib.local.subsets.subset_variance",
            size_below,
            subset_variance,
            coq=lambda k, w, t: f"(variance {k} {w} {q(t)})",
        ),
        simple(
            "Thesis/ZetaMin.v",
            "binary_truth",
            "dpfair_lib.local.optimal.program.most_truthful",
            lambda rng: (share(rng), inside(rng)),
            lambda w, x: most_truthful(objects([w, 1 - w]), x)[0],
        ),
        simple(
            "Privacy/Amplification.v",
            "amplified_odds",
            "dpfair_lib.privacy.amplification.amplified_odds",
            lambda rng: (odds(rng), share(rng)),
            amplified_odds,
        ),
        simple(
            "Certificates/LinearProgram.v",
            "linear_bound",
            "dpfair_lib.local.optimal.linear_bound.linear_bound",
            linear_program,
            linear_bound,
            coq=linear_program_of,
        ),
        simple(
            sk,
            "error_deviation",
            f"{svm}.error_deviation",
            groups_and_error,
            error_deviation,
            coq=counted("error_deviation"),
        ),
        simple(
            sk,
            "excess_errors",
            f"{svm}.excess_errors",
            groups_and_error,
            excess_errors,
            coq=counted("excess_errors"),
        ),
        simple(
            sk,
            "rate_deviation",
            f"{svm}.rate_deviation",
            lambda rng: (share(rng), inside(rng)),
            lambda eta, n: rate_deviation(eta, np.asarray(n, dtype=object)),
        ),
        simple(
            "Ours/UnknownLaw.v",
            "unfairness_of_level",
            "dpfair_lib.local.robust.closed_forms.unfairness_of_level",
            lambda rng: (odds(rng), inside(rng)),
            unfairness_of_level,
        ),
        simple(
            "Ours/CollectFirst.v",
            "collecting_odds",
            "dpfair_lib.local.response.collecting_ratio",
            lambda rng: (rng.randint(2, 60), odds(rng)),
            collecting_ratio,
            coq=counted("collecting_odds"),
        ),
        simple(
            "Ours/RuleAndChannel.v",
            "largest_gap",
            "dpfair_lib.postprocessing.reported_groups.largest_gap",
            shares(2),
            largest_gap,
        ),
        simple(
            "Ours/GroupUnknown.v",
            "least_cost",
            "dpfair_lib.postprocessing.group_unknown.least_blind_change",
            blind,
            lambda r, w, gap, gamma: least_blind_change(r, gap, gamma, w).cost,
            coq=lambda r, w, gap, gamma: (
                f"(least_cost {q(gap)} {q(gamma)} (ones {len(r)} {function(w)} {function(r)}) "
                f"(zeros {len(r)} {function(w)} {function(r)}))"
            ),
        ),
    ]
