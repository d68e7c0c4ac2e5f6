"""Entries of the ledger: SK, Differentially Private Fair Support Vector Machines (2024)."""

from dpfair_lib.claims.checks import (
    sk_alg_1_privacy,
    sk_claim_a1,
    sk_comparison,
    sk_guarantees,
    sk_jagielski_baseline,
    sk_lemma_a2_1,
    sk_lemma_a2_2,
    sk_lemma_a2_3,
    sk_lemma_a2_4,
    sk_lemma_a2_5,
    sk_linf_bound,
    sk_scaling,
    sk_sentences,
)
from dpfair_lib.claims.ledger import Claim, Erratum

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="sk.alg-1-privacy",
        where="Algorithm 1, § 4",
        statement="Adding Lap(2/(kε)) to each of the k support vectors and Lap(2/(mε)) to each q̂_ay, then "
        "solving the linear program, makes the output (p̃*, Ŷ) ε-DP.",
        proof_uses=("cgkm.laplace", "sk.claim-a1"),
        verdict="refuted",
        finding="No noise on them helps: their number k and labels go out, and one replaced record changes both: δ = "
        "1. At the same k, ε is (k/2)·‖change‖₁ times the printed one. For A alone, if q̃'s rates are the "
        "records', e^ε = 2: with limits γ = 0, δ ≥ 0.996 at m = 160 and every ε′; with the lemma's slack, δ ≥ ½ at "
        "38ε, m = 4000. Noise on all cells of q̂ is ε-DP for A: the generic algorithm.",
        chapter="sk-alg-1",
        check=sk_alg_1_privacy.check,
        faults=sk_alg_1_privacy.FAULTS,
    ),
    Claim(
        id="sk.linf-bound",
        where="§ 5 and Appendix A, after Claim A.1",
        statement="With probability at least 1 − β, ‖q̂ − q̃‖∞ ≤ 2 ln(2|A|/β)/(mε) + 2 ln(2/β)/(kε), for "
        "|A| groups, m points and k support vectors: the sum of the two perturbations' tails.",
        statement_uses=("sk.alg-1-privacy",),
        proof_uses=("cgkm.laplace", "sk.claim-a1", "sk.scaling"),
        verdict="corrected",
        finding="Noise on a vector is no noise on the law: it can move by nearly 1 with probability nearly 1. True: 2"
        " ln(4|A|/β)/(mε) plus the share, in one cell, that a linear machine's noise can flip at β/2. Were "
        "the noise added to two outputs, both tails would hold at 1 − 2β only, but their sum fails with less "
        "than β.",
        chapter="sk-linf-bound",
        check=sk_linf_bound.check,
        faults=sk_linf_bound.FAULTS,
    ),
    Claim(
        id="sk.comparison",
        where="§ 5",
        statement="The SVM bound ≤ the generic bound 2 ln(4|A|/β)/(mε) exactly if β ≥ 2^(1−k/m) ≥ 1, a "
        "contradiction for β ∈ [0, 1], k ≤ m: it is always strictly worse, and so are the "
        "guarantees built on it.",
        statement_uses=("sk.linf-bound", "sk.jagielski-baseline"),
        verdict="corrected",
        finding="The equivalence is right; at β = 1, k = m the two are equal, else the printed SVM bound is the "
        "larger. That compares formulas: the printed one is no bound. The proved bound is the generic one "
        "plus the flippable share, and with more than β/2 spent on the cells it is smaller where nothing can "
        "flip.",
        chapter="sk-linf-bound",
        check=sk_comparison.check,
        faults=sk_comparison.FAULTS,
    ),
    Claim(
        id="sk.claim-a1",
        where="Claim A.1, Appendix A",
        statement="Changing one entry of the sensitive attribute A moves the empirical joint law q̂ of (Ŷ, "
        "A, Y) on m points by at most 2/m in ℓ₁, and 2/m is attained.",
        verdict="holds",
        finding="For |A| ≥ 2, m = 1 included (with one group nothing can change). So it is when a whole "
        "record is replaced; counts move by 1 when one is added. All of it needs predictions that "
        "stay: a classifier trained on A can move all of them, and q̂ by 2.",
        chapter="sk-equalized-odds",
        check=sk_claim_a1.check,
        faults=sk_claim_a1.FAULTS,
    ),
    Claim(
        id="sk.lemma-a2.1",
        where="Lemma A.2 (1), Appendix A",
        statement="If min q̂_ay > 4 ln(2|A|/β)/(mε) + 4 ln(2/β)/(kε), then w.p. ≥ 1 − β, for all p, "
        "|ẽrr(Ŷ_p) − êrr(Ŷ_p)| ≤ 12|A| ln(2|A|/β)/(mε) + 12|A| ln(2/β)/(kε).",
        statement_uses=("sk.alg-1-privacy",),
        proof_uses=("sk.linf-bound",),
        verdict="corrected",
        finding="If ‖q̃ − q̂‖∞ ≤ η the errors differ by at most 2|A|η, which is attained: a third of "
        "the printed 6|A|η. But Algorithm 1 does not keep its η = 2L: with a tiny feature all "
        "predictions turn around, and the errors differ by 1 with probability above 0.24.",
        chapter="sk-guarantees",
        check=sk_lemma_a2_1.check,
        faults=sk_lemma_a2_1.FAULTS,
    ),
    Claim(
        id="sk.lemma-a2.2",
        where="Lemma A.2 (2), Appendix A",
        statement="If min q̂_ay > 4 ln(2|A|/β)/(mε) + 4 ln(2/β)/(kε), then w.p. ≥ 1 − β every q̃_ay > 0; "
        "the proof: |q̃_ay − q̂_ay| ≤ 4 ln(2|A|/β)/(mε) + 4 ln(2/β)/(kε).",
        statement_uses=("sk.alg-1-privacy",),
        proof_uses=("sk.linf-bound",),
        verdict="holds",
        finding="It fails with probability at most β²/(4|A|), so that half of the condition is enough, as "
        "q̃_ay has noise of its own. The proof's chain over q̃_1ay + q̃_0ay, for noise on 4|A| "
        "cells, holds at the same condition.",
        chapter="sk-guarantees",
        check=sk_lemma_a2_2.check,
        faults=sk_lemma_a2_2.FAULTS,
    ),
    Claim(
        id="sk.lemma-a2.3",
        where="Lemma A.2 (3), Appendix A",
        statement="Under Lemma A.2's condition, w.p. ≥ 1 − β, |F̃P_a(Ŷ) − F̂P_a(Ŷ)| ≤ 2 "
        "ln(2|A|/β)/(q̃_a0·mε) + 2 ln(2/β)/(q̃_a0·kε) for all a, and likewise TP with q̃_a1.",
        statement_uses=("sk.alg-1-privacy",),
        proof_uses=("sk.linf-bound",),
        verdict="corrected",
        finding="η/q̃_a0 is right on the event ‖q̃ − q̂‖∞ ≤ η, and attained; but noisy rates can be below "
        "0 or above 1. With negative cells set to 0 the bound is min(1, η/q̂_a0), without any "
        "condition. Algorithm 1's own probability fails as in part 1.",
        chapter="sk-guarantees",
        check=sk_lemma_a2_3.check,
        faults=sk_lemma_a2_3.FAULTS,
    ),
    Claim(
        id="sk.lemma-a2.4",
        where="Lemma A.2 (4), Appendix A",
        statement="Under Lemma A.2's condition, w.p. ≥ 1 − β, |ΔF̃P_a(Ŷ_p) − ΔF̂P_a(Ŷ_p)| ≤ 4 "
        "ln(2|A|/β)/(μmε) + 4 ln(2/β)/(μkε), μ = min{q̃_a0, q̃_00}, for all a, p; likewise TP "
        "with min{q̃_a1, q̃_01}.",
        statement_uses=("sk.alg-1-privacy",),
        proof_uses=("sk.lemma-a2.3",),
        verdict="corrected",
        finding="Right on the event, for all rules at once, in spite of three wrong signs in the "
        "display. Sharper: min(1, η/q̂_a0) + min(1, η/q̂_00), negative cells set to 0; "
        "attained. With a tiny feature Algorithm 1 moves a difference by 1 with probability "
        "above 0.12.",
        chapter="sk-guarantees",
        check=sk_lemma_a2_4.check,
        faults=sk_lemma_a2_4.FAULTS,
    ),
    Claim(
        id="sk.lemma-a2.5",
        where="Lemma A.2 (5), Appendix A",
        statement="Under Lemma A.2's condition, w.p. ≥ 1 − β, the empirical optimum p̂* is feasible in the "
        "noisy program (in the proof: with slack γ + 4 ln(4|A|/β)/(min{q̃_a0, q̃_00}·mε), the "
        "generic algorithm's).",
        statement_uses=("sk.alg-1-privacy", "sk.jagielski-baseline"),
        proof_uses=("sk.lemma-a2.4",),
        verdict="corrected",
        finding="With γ alone an exact optimum becomes infeasible when one count moves by 1. The limits "
        "need γ plus part 4's bound; the proof has that of the generic algorithm, which is "
        "smaller. On the event, γ + min(1, η/q̃_a0) + min(1, η/q̃_00) is enough for every rule "
        "that keeps γ, and an optimum can need all of it.",
        chapter="sk-guarantees",
        check=sk_lemma_a2_5.check,
        faults=sk_lemma_a2_5.FAULTS,
    ),
    Claim(
        id="sk.guarantees",
        where="Appendix A, after Lemma A.2",
        statement="W.p. ≥ 1 − β, êrr(p̃*) ≤ êrr(p̂*) + 24|A|L and ΔF̂P_a(p̃*) ≤ γ + 8ℓ₁/(μmε − 4L) + "
        "8ℓ₂/(μkε − 4L), ℓ₁ = ln(2|A|/β), ℓ₂ = ln(2/β), L = ℓ₁/(mε) + ℓ₂/(kε), μ = min{q̃_a0, "
        "q̃_00}; TP alike, q̂ and q̃ mixed.",
        statement_uses=("sk.alg-1-privacy",),
        proof_uses=("sk.lemma-a2.1", "sk.lemma-a2.2", "sk.lemma-a2.4", "sk.lemma-a2.5"),
        verdict="corrected",
        finding="On the event: excess error at most 4|A|η, attained, a third of the printed 12|A|η; "
        "difference at most γ + 4η/(μ̂ − 2η). The printed denominators take 4L for 4Lmε, and "
        "with q̂ a solved program goes beyond them. Algorithm 1 keeps neither: excess error 1, "
        "probability above 0.48.",
        chapter="sk-guarantees",
        check=sk_guarantees.check,
        faults=sk_guarantees.FAULTS,
    ),
    Claim(
        id="sk.jagielski-baseline",
        where="§ 5 and Appendix B",
        statement="The generic algorithm has, w.p. ≥ 1 − β and with ℓ = ln(4|A|/β), ‖q̂ − q̃‖∞ ≤ 2ℓ/(mε), "
        "excess error ≤ 24|A|ℓ/(mε), and ΔF̂P_a ≤ γ + 8ℓ/(min{q̂_a0, q̂_00}·mε − 4ℓ), likewise "
        "ΔT̂P_a.",
        proof_uses=("cgkm.laplace", "sk.claim-a1"),
        verdict="corrected",
        finding="Right if min q̂_ay·mε > 4ℓ, a condition that § 5 leaves out (below it the bound is "
        "negative), and if the noisy limits are γ + 4ℓ/(μ̃mε), which the paper does not print. "
        "The excess error is at most 8|A|ℓ/(mε). § 5 compares êrr(p̃*) with itself.",
        chapter="sk-equalized-odds",
        check=sk_jagielski_baseline.check,
        faults=sk_jagielski_baseline.FAULTS,
    ),
    Claim(
        id="sk.scaling",
        where="Algorithm 1, § 4; § 5, on the output data",
        statement="Whatever the range of the features, perturbing the k support vectors has sensitivity 2/k "
        "and two outputs, so it moves the joint law by at most 2 ln(2/β)/(kε) with high "
        "probability.",
        statement_uses=("sk.alg-1-privacy",),
        proof_uses=("cgkm.laplace",),
        verdict="corrected",
        finding="At the same number and labels the list moves by up to kR per feature of range R, nearly attained; "
        "2/k has no unit. Features in millionths: 997 of 1000 records flip with probability near ½; in "
        "millions nothing flips, and ε is 10⁶ times larger. Noise has to be in the unit of the features.",
        chapter="sk-alg-1",
        check=sk_scaling.check,
        faults=sk_scaling.FAULTS,
    ),
    Claim(
        id="sk.sentences",
        where="§ 2, § 6, § 7",
        statement="Perturbing support vectors does not beat the generic bounds on error and unfairness; "
        "CGKM is said to use equalized odds, to exclude exact fairness from every DP model, and "
        "to give a DP, fair PAC learner.",
        statement_uses=(
            "sk.comparison",
            "cgkm.thm-1.statement",
            "cgkm.which-pairs",
            "cgkm.thm-2.privacy",
            "cgkm.thm-2.accuracy",
            "cgkm.definitions",
            "cgkm.remarks",
        ),
        verdict="corrected",
        finding="The new formula is never the smaller one, which says nothing of the methods. CGKM's notion "
        "is equal opportunity; constants are private and exactly fair: what is excluded is accuracy "
        "besides. The repaired learner is as fair as its best Γ + err. § 6 rests on no experiment; in "
        "ours no shift of the gap by the noise shows (at ε = 0.1: +0.012 ± 0.062, −0.018 ± 0.033).",
        chapter="sk-private-svms",
        check=sk_sentences.check,
        faults=sk_sentences.FAULTS,
    ),
)

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        claim="sk.jagielski-baseline",
        where="§ 5, the quoted guarantee on the error",
        printed="êrr(Ŷ_p̃*) ≤ êrr(Ŷ_p̃*) + 24|A| ln(4|A|/β)/(mε)",
        correct="êrr(Ŷ_p̃*) ≤ êrr(Ŷ_p̂*) + …, as in Appendix A",
    ),
    Erratum(
        claim="sk.jagielski-baseline",
        where="Appendix B, Δ of the true positive rates",
        printed="(1 − T̂P_1(Ŷ))·p_0a",
        correct="(1 − T̂P_a(Ŷ))·p_0a, as in § 4",
    ),
    Erratum(
        claim="sk.jagielski-baseline",
        where="§ 3.2, after the definition",
        printed="y = 0 and y = 1 represent the true negative and the true positive rate",
        correct="P(Ŷ = 1 | Y = 0) is the false positive rate",
    ),
    Erratum(
        claim="sk.lemma-a2.4",
        where="Appendix A, proof of part 4, second line",
        printed="− F̂P_a p_1a + (1 − F̂P_a) p_0a − F̂P_0 p_10 − (1 − F̂P_0) p_00",
        correct="− F̂P_a p_1a − (1 − F̂P_a) p_0a + F̂P_0 p_10 + (1 − F̂P_0) p_00; the next line is right",
    ),
    Erratum(
        claim="sk.lemma-a2.3",
        where="Appendix A, proof of part 3, last line but one",
        printed="|(q̂_0a0 + q̂_1a0)/(q̃_a0·q̂_a0)|",
        correct="(q̂_0a0 + q̂_1a0)‖q̂ − q̃‖∞/(q̃_a0·q̂_a0)",
    ),
    Erratum(
        claim="sk.guarantees",
        where="Appendix A, last display",
        printed="ΔT̂P_a(Ŷ_p̂*) ≤ γ + 8 ln(4|A|/β)/(min{q̂_a1, q̂_01}…) + 8 ln(2/β)/(min{q̃_a1, q̃_01}…)",
        correct="ΔT̂P_a(Ŷ_p̃*), with ln(2|A|/β), q̂ in both denominators, and 4L multiplied by mε and by kε",
    ),
    Erratum(
        claim="sk.comparison",
        where="§ 5, last line",
        printed="β ∈ [0, 1] … >",
        correct="0 < β < 1 …, or ≥: at β = 1 and k = m the two are equal; at β = 0 neither is defined",
    ),
)
