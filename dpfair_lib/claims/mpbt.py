"""Entries of the ledger: MPBT (2023).

Differential Privacy has Bounded Impact on Fairness in Classification.
"""

from dpfair_lib.claims.checks import (
    mpbt_amplification,
    mpbt_cor_3_3,
    mpbt_example_1,
    mpbt_example_2,
    mpbt_example_3,
    mpbt_example_4,
    mpbt_figs_1_3,
    mpbt_g3_refined,
    mpbt_gaussian_mechanism,
    mpbt_large_margin,
    mpbt_lemma_3_4,
    mpbt_lemma_4_1,
    mpbt_lemma_4_2,
    mpbt_margin_lipschitz,
    mpbt_rate,
    mpbt_remark_b1,
    mpbt_remark_b2,
    mpbt_remarks,
    mpbt_sensitivity,
    mpbt_sentences,
    mpbt_table_1,
    mpbt_thm_3_1,
    mpbt_thm_3_2,
    mpbt_thm_4_4,
)
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.mpbt_errata import ERRATA

__all__ = ["CLAIMS", "ERRATA"]

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="mpbt.example-1",
        where="Example 1, Appendix A",
        statement="Equalized odds, P(H = Y | y, r) − P(H = Y | y), has the form (1) over groups (y′, r′) "
        "with C⁰ = 0, C^(y,r) = 1 − P(S = r | y), C^(y,r′) = −P(S = r′ | y) for r′ ≠ r, and 0 for "
        "y′ ≠ y.",
        verdict="holds",
        finding="Exact for every number of labels and groups in which each pair of them occurs. With two groups of "
        "any shares, the mean of |F_k| is half of the mean over the labels of the gap between the groups' "
        "true rates.",
        chapter="mpbt-linear-form",
        check=mpbt_example_1.check,
        faults=mpbt_example_1.FAULTS,
    ),
    Claim(
        id="mpbt.example-2",
        where="Example 2, Appendix A",
        statement="Equality of opportunity has the form (1) with C⁰ = 0, C^(y,r) = 1 − P(S = r | y), "
        "C^(y,r′) = −P(S = r′ | y) if the label y is desirable, and with all coefficients 0 "
        "otherwise.",
        verdict="holds",
        finding="Exact for every number of labels and every desirable set. The groups of other labels count with 0 "
        "in the mean of |F_k|: with two labels and two groups, it is a quarter of the true positive gap.",
        chapter="mpbt-linear-form",
        check=mpbt_example_2.check,
        faults=mpbt_example_2.FAULTS,
    ),
    Claim(
        id="mpbt.example-3",
        where="Example 3, Appendix A",
        statement="Accuracy parity, P(H = Y | r) − P(H = Y), has the form (1) over groups r′ with C⁰ = 0, "
        "C^(r) = 1 − P(S = r) and C^(r′) = −P(S = r′) for r′ ≠ r.",
        verdict="holds",
        finding="Exact for every number of labels and groups. With two groups of any shares, the mean of |F_k| is "
        "half of their accuracy gap.",
        chapter="mpbt-linear-form",
        check=mpbt_example_3.check,
        faults=mpbt_example_3.FAULTS,
    ),
    Claim(
        id="mpbt.example-4",
        where="Example 4, Appendix A",
        statement="For two labels y, ȳ demographic parity has the form (1): C⁰ = P(y) − P(y|r), C^(y,r) = "
        "P(y|r) − P(y,r), C^(ȳ,r) = P(ȳ,r) − P(ȳ|r), and C^(y,r′) = −P(y,r′), C^(ȳ,r′) = P(ȳ,r′) "
        "for r′ ≠ r.",
        verdict="holds",
        finding="Exact for two labels, which is what it claims; with three there is no such form: two classifiers "
        "of equal accuracies in all groups differ in F_k. With two groups the mean of |F_k| is half of the "
        "parity gap.",
        chapter="mpbt-linear-form",
        check=mpbt_example_4.check,
        faults=mpbt_example_4.FAULTS,
    ),
    Claim(
        id="mpbt.margin-lipschitz",
        where="Assumption 2.1 and the paragraph on linear models, § 2",
        statement="For h(x, y) = W_yᵀx and ‖h − h′‖ = ‖W − W′‖₂ the margin h(x, y) − max_{y′≠y} h(x, y′) is "
        "Lipschitz in h with L_{x,y} = 2‖x‖₂.",
        verdict="holds",
        finding="True and never attained: the least L is √2‖x‖ for the Frobenius and the spectral norm and any "
        "number of labels, and ‖x‖ for one weight vector. 2‖x‖ is the least for the norm of the longest "
        "row.",
        chapter="mpbt-thm-3-1",
        check=mpbt_margin_lipschitz.check,
        faults=mpbt_margin_lipschitz.FAULTS,
    ),
    Claim(
        id="mpbt.thm-3.1",
        where="Theorem 3.1, § 3.1 and Appendix B",
        statement="For every event E with a finite E[L/|ρ| | E], |P(H(X) = Y | E) − P(H′(X) = Y | E)| ≤ "
        "E[L_{X,Y}/|ρ(h, X, Y)| | E]·‖h − h′‖; ties are broken at random.",
        statement_uses=("mpbt.margin-lipschitz",),
        verdict="holds",
        finding="Either model's margins will do; ties are covered, with L/0 = ∞. Where L = ρ = 0 the ratio is "
        "undefined: 0 is right for linear models, not in general. If |ρ|/L has a positive density at 0, "
        "the mean is infinite: then the theorem says nothing, while the share of margins within ‖h − h′‖ "
        "does.",
        chapter="mpbt-thm-3-1",
        check=mpbt_thm_3_1.check,
        faults=mpbt_thm_3_1.FAULTS,
    ),
    Claim(
        id="mpbt.remark-b1",
        where="Remark B.1, Appendix B; § 3.1",
        statement="The accuracy difference is at most inf_{t≥0} exp(t‖h − h′‖)·E[exp(−t|ρ(h, X, "
        "Y)|/L_{X,Y}) | E], which the right t can make smaller than Theorem 3.1's bound.",
        statement_uses=("mpbt.margin-lipschitz",),
        proof_uses=("mpbt.thm-3.1",),
        verdict="holds",
        finding="Valid, and never above Theorem 3.1's: t = 1/‖h − h′‖ already gives e^(1−u) ≤ 1/u, row by row. "
        "Finite also where the mean of L/|ρ| is not.",
        chapter="mpbt-thm-3-1",
        check=mpbt_remark_b1.check,
        faults=mpbt_remark_b1.FAULTS,
    ),
    Claim(
        id="mpbt.remark-b2",
        where="Remark B.2, Appendix B; § 3.1",
        statement="Setting |ρ(h)|/L to +∞ where it exceeds ‖h − h′‖ leaves P(|ρ(h)|/L ≤ ‖h − h′‖ | E) as it "
        "is, so the Markov and Chernoff bounds hold with the truncated ratio, are smaller, and "
        "may become 0.",
        statement_uses=("mpbt.margin-lipschitz", "mpbt.remark-b1"),
        proof_uses=("mpbt.thm-3.1",),
        verdict="holds",
        finding="Once the terms are cut off, the infimum over t is at t = 0 and is the share of rows with |ρ| ≤ "
        "L‖h − h′‖ itself: no moment bound is needed. The cut-off Markov bound is never below that; "
        "without a cut, Chernoff's may lie on either side of it.",
        chapter="mpbt-thm-3-1",
        check=mpbt_remark_b2.check,
        faults=mpbt_remark_b2.FAULTS,
    ),
    Claim(
        id="mpbt.thm-3.2",
        where="Theorem 3.2, § 3.2 and Appendix C",
        statement="For F_k of the form (1), |F_k(h) − F_k(h′)| ≤ χ_k(h)·‖h − h′‖ with χ_k(h) = Σ_k′ "
        "|C_k^k′|·E[L/|ρ(h)| | D_k′]; the mean of |F_k| obeys it with the mean of the χ_k.",
        statement_uses=("mpbt.margin-lipschitz",),
        proof_uses=("mpbt.thm-3.1",),
        verdict="holds",
        finding="True with either model's margins, and for the share of small margins in place of the mean. Kept "
        "apart for right and wrong rows it is between half of that and all of it, and no bound from "
        "margins alone can be smaller for one group.",
        chapter="mpbt-thm-3-1",
        check=mpbt_thm_3_2.check,
        faults=mpbt_thm_3_2.FAULTS,
    ),
    Claim(
        id="mpbt.cor-3.3",
        where="Corollary 3.3, § 3.2",
        statement="With e(·) = E[L/|ρ(h)| | ·], |F_k(h) − F_k(h′)| ≤ χ_k‖h − h′‖ where χ_k is e(y) + e(y, r) for "
        "equalized odds and (y desirable, else 0) opportunity, e() + e(r) for accuracy parity and binary "
        "demographic parity, e() for accuracy.",
        statement_uses=("mpbt.thm-3.2",),
        proof_uses=(
            "mpbt.thm-3.2",
            "mpbt.example-1",
            "mpbt.example-2",
            "mpbt.example-3",
            "mpbt.example-4",
        ),
        verdict="holds",
        finding="Valid, but not Theorem 3.2 with its coefficients: larger by twice the group's share times its "
        "mean of L/|ρ| (equal for accuracy). For one group the ratio has no limit; of the means over m "
        "groups it is below (m + 1)/(m − 1), so 3 for two, and 2 for two equal groups.",
        chapter="mpbt-thm-3-1",
        check=mpbt_cor_3_3.check,
        faults=mpbt_cor_3_3.FAULTS,
    ),
    Claim(
        id="mpbt.lemma-3.4",
        where="Lemma 3.4, § 3.2 and Appendix D",
        statement="If n ≥ 8 ln((2K + 1)/δ)/min p_k, w.p. ≥ 1 − δ, for all h, h′, |F_k(h) − F̂_k(h′)| ≤ "
        "χ̂_k(h)‖h − h′‖ + Õ(Σ_k′ |Ĉ_k^k′|·√((d_H + log(K/δ))/(n·p_k′))); without d_H if h, h′ "
        "are independent of D.",
        statement_uses=("mpbt.thm-3.2",),
        proof_uses=("cgkm.hoeffding",),
        verdict="corrected",
        finding="The proof's budget is right, and its step to n p/2 rows too, but its term √(ln(B₃(2K + 1)/δ)/(B₄ "
        "n)) is missing from the statement: where all C^k′ are 0 the printed bound is 0. χ̂ of either "
        "model will do. For all models of dimension 38 it says nothing below n = 107,852 (K = 4).",
        chapter="mpbt-thm-3-1",
        check=mpbt_lemma_3_4.check,
        faults=mpbt_lemma_3_4.FAULTS,
    ),
    Claim(
        id="mpbt.lemma-4.1",
        where="Lemma 4.1, § 4.1 and Appendix E",
        statement="Output perturbation with σ² = 8Λ² log(1.25/δ)/(μ²n²ε²) gives, w.p. ≥ 1 − ζ, ‖h_priv − "
        "h*‖₂² ≤ 32pΛ² log(1.25/δ) log(2/ζ)/(μ²n²ε²).",
        proof_uses=("mpbt.sensitivity",),
        verdict="holds",
        finding="True for every p and ζ, though (12) as printed divides by zero at p = 1 and is false for p "
        "≥ 2; −(p/2) ln(1 − 1/(2p)) ≤ 1/(4(1 − 1/(2p))) ≤ ½ repairs it. Far from tight: the exact quantile "
        "gives a radius 3.6 times smaller at p = 38, ζ = 0.01, and every true failure probability examined "
        "is below ζ/10.",
        chapter="mpbt-output-perturbation",
        check=mpbt_lemma_4_1.check,
        faults=mpbt_lemma_4_1.FAULTS,
    ),
    Claim(
        id="mpbt.sensitivity",
        where="§ 4.1, output perturbation; Appendix E",
        statement="Replacing one of n examples moves the minimiser over a convex H of the mean of "
        "Λ-Lipschitz, μ-strongly convex losses by at most Δ = 2Λ/(μn) in ℓ₂.",
        verdict="holds",
        finding="True, with optimality on a convex set in place of (17), under replace-one and public n. If "
        "each loss is itself strongly convex, 2Λ/(μ(n + 1)) is sharp; with a common regulariser, Λ without "
        "it, 2Λ/(μn) is; for the logistic loss a smaller constant is (ours). scikit-learn's C gives μ = 1/(Cn): "
        "C = n/μ, as run, is modulus μ/n².",
        chapter="mpbt-output-perturbation",
        check=mpbt_sensitivity.check,
        faults=mpbt_sensitivity.FAULTS,
    ),
    Claim(
        id="mpbt.gaussian-mechanism",
        where="§ 2.2; § 4.1, output perturbation; experiments in § 5 and Appendix G.1",
        statement="Adding N(0, 2Δ² log(1.25/δ)/ε²·I_p) to a query of ℓ₂-sensitivity Δ is (ε, δ)-DP: § 2.2 "
        "names no range, § 4.1 asks 0 < ε, δ < 1, the experiments use ε = 1 and ε up to 10.",
        verdict="corrected",
        finding="True for ε ≤ 1 and every δ, so in Table 1. For each δ it fails at large ε: at δ = 10⁻² "
        "from 6.8 on, and at the figures' ε = 10 on CelebA (δ = 1/n²), where the true δ is 1.02 times the "
        "stated one. The analytic σ is exact at every ε, and 13 % smaller at ε = 1 there.",
        chapter="mpbt-output-perturbation",
        check=mpbt_gaussian_mechanism.check,
        faults=mpbt_gaussian_mechanism.FAULTS,
    ),
    Claim(
        id="mpbt.lemma-4.2",
        where="Lemma 4.2, § 4.1 and Appendix F",
        statement="T-step DP-SGD with σ² = 64Λ²T² log(3T/δ) log(2/δ)/(n²ε²) is (ε, δ)-DP and, for a smooth "
        "loss with σ*² ≤ σ², has ‖h_priv − h*‖₂² = Õ(pΛ² log(1/δ)²/(ζμ²n²ε²)) w.p. ≥ 1 − ζ.",
        proof_uses=("mpbt.gaussian-mechanism", "cgkm.advanced-composition", "mpbt.amplification"),
        verdict="corrected",
        finding="With neither T² nor T is the noise private for all T: at the proof's T, n = 10⁷, δ = 1/n², "
        "the true δ is 10⁷ times the stated. (30) has 2γ²σ² where γ²pσ² is due, so fails for p ≥ 3; its "
        "rest is right. σ*² ≤ σ² fails for large n if σ*² stays above 0. Full-batch descent with exact noise has "
        "the rate, without σ*.",
        chapter="mpbt-dp-sgd",
        check=mpbt_lemma_4_2.check,
        faults=mpbt_lemma_4_2.FAULTS,
    ),
    Claim(
        id="mpbt.thm-4.4",
        where="Theorem 4.4, § 4.2",
        statement="W.p. ≥ 1 − ζ, |F_k(h_priv) − F_k(h*)| ≤ χ_k(h_ref)·LΛ√(32p log(1.25/δ) log(2/ζ))/(μnε), "
        "h_ref ∈ {h_priv, h*}, for output perturbation; for DP-SGD Õ(χ_k(h_ref)·LΛ√(p "
        "log(1/δ))/(√ζ·μnε)).",
        statement_uses=("mpbt.thm-3.2",),
        proof_uses=("mpbt.lemma-4.1", "mpbt.lemma-4.2"),
        verdict="corrected",
        finding="The factor L before Λ is one too many: χ contains it, and with features of norm 0.001 the "
        "printed bound fails with probability 0.46, not 0.01. Without it the theorem holds for output "
        "perturbation, with either model as h_ref where χ is finite. χ of h* is computed from data and not "
        "private.",
        chapter="mpbt-dp-sgd",
        check=mpbt_thm_4_4.check,
        faults=mpbt_thm_4_4.FAULTS,
    ),
    Claim(
        id="mpbt.g3-refined",
        where="Appendix G.3; § 5.3",
        statement="For linear models Theorem 3.1's bound also holds with 2·max_y ‖projection of x on h_y − "
        "h′_y‖ in place of L = 2‖x‖₂, and is then much tighter.",
        statement_uses=("mpbt.margin-lipschitz",),
        proof_uses=("mpbt.thm-3.1",),
        verdict="holds",
        finding="True; each label's difference has its own projection (the printed chain uses one for all). "
        "Never larger than 2‖x‖, a fifth of it for random differences and 39 features, but it needs both "
        "models.",
        chapter="mpbt-dp-sgd",
        check=mpbt_g3_refined.check,
        faults=mpbt_g3_refined.FAULTS,
    ),
    Claim(
        id="mpbt.table-1",
        where="Table 1, § 5.1",
        statement="At 99 %, ε = 1, δ = 1/n², Theorem 4.4 bounds opportunity, odds, demographic, accuracy "
        "parity, accuracy by .1044, .0975, .0975, .0975, .0487 (CelebA) and .0017, .0026, .0026, "
        ".0026, .0013 (folktables).",
        statement_uses=("mpbt.thm-4.4", "mpbt.cor-3.3"),
        proof_uses=("mpbt.remark-b1", "mpbt.remark-b2", "mpbt.lemma-4.1"),
        verdict="not-reproduced",
        finding="As run, CelebA's five digits come out, on 182,338 rows. But C = n/μ has modulus 1/n²: with one "
        "record of CelebA replaced, ε is at least 62.9, not 1. With μ = 1, L = 2‖x‖ and Corollary 3.3's groups the "
        "bounds are .171, .317, .309, .309, .158. Odds were grouped as accuracy parity; the search over t ends at "
        "t = 0, with the share of near rows.",
        chapter="mpbt-table-1",
        check=mpbt_table_1.check,
        faults=mpbt_table_1.FAULTS,
    ),
    Claim(
        id="mpbt.figs-1-3",
        where="Figure 1, § 5.2; Figures 2 and 3, Appendix G.2",
        statement="For five measures on CelebA and folktables, over 20 values of n and 20 of ε from 10⁻³ to "
        "10, the levels of 100 output-perturbed models lie within Theorem 4.4's band round h*'s "
        "and close in on it.",
        statement_uses=("mpbt.thm-4.4", "mpbt.cor-3.3", "mpbt.g3-refined"),
        proof_uses=("mpbt.remark-b1", "mpbt.remark-b2", "mpbt.lemma-4.1"),
        verdict="reproduced",
        finding="Of 100 models at each of 160 points none leaves Lemma 4.1's band, as run or as stated, and they close "
        "in. But the panel of odds shows accuracy parity, δ of the largest n is in every radius, the dotted line is "
        "the first model's, not the farthest's, and ε is not the privacy of the models as run.",
        chapter="mpbt-figures",
        check=mpbt_figs_1_3.check,
        faults=mpbt_figs_1_3.FAULTS,
    ),
    Claim(
        id="mpbt.large-margin",
        where="§ 3.1, after Theorem 3.1; Remark B.2, Appendix B",
        statement="If |ρ(h, x, y)| ≥ L_{x,y}‖h − h′‖, then h and h′ predict the same label at x; if that "
        "holds for all examples, the bound on the accuracy difference is 0.",
        statement_uses=("mpbt.margin-lipschitz", "mpbt.remark-b2"),
        verdict="corrected",
        finding="With > in place of ≥ a right prediction stays and a wrong one stays wrong, but with three labels "
        "another wrong label may win; at equality h′ can tie. The prediction is kept if the lead of the "
        "best over the second score exceeds L‖h − h′‖.",
        chapter="mpbt-thm-3-1",
        check=mpbt_large_margin.check,
        faults=mpbt_large_margin.FAULTS,
    ),
    Claim(
        id="mpbt.amplification",
        where="§ 2.2",
        statement="An (ε, δ)-DP mechanism applied to a random fraction q of the data is (O(qε), qδ)-DP.",
        verdict="corrected",
        finding="Exact is ε′ = ln(1 + q(e^ε − 1)), δ′ = qδ, for a subset of fixed size under replace-one: "
        "at most 1.72qε for ε ≤ 1, and no multiple of qε for all ε. With Poisson batches a mechanism that "
        "is private under replace-one only may gain nothing.",
        chapter="mpbt-output-perturbation",
        check=mpbt_amplification.check,
        faults=mpbt_amplification.FAULTS,
    ),
    Claim(
        id="mpbt.remarks",
        where="Remark 4.3, § 4.1; Remark 4.5, § 4.2",
        statement="Variance reduction removes the σ* assumption, Rényi DP improves σ, ε < 1 only serves "
        "closed forms; output perturbation asks for no more than a strongly convex, Lipschitz objective, as a "
        "convex fairness regulariser with a squared ℓ₂-norm makes it.",
        statement_uses=("mpbt.lemma-4.2", "mpbt.thm-4.4"),
        verdict="corrected",
        finding="Remark 4.3 holds: σ* and ε < 1 can be dispensed with, and Rényi accounting improves σ. Remark 4.5 is "
        "wrong: a regulariser made of group means couples the records, and replacing one in a group of m moves "
        "the minimiser by up to 2Λ/(μn) + 2w/(μm), which 2Λ/(μn) does not cover.",
        chapter="mpbt-dp-sgd",
        check=mpbt_remarks.check,
        faults=mpbt_remarks.FAULTS,
    ),
    Claim(
        id="mpbt.rate",
        where="Abstract; § 1, contributions; § 4.2; § 6",
        statement="The fairness difference between private and non-private models vanishes at rate Õ(√p/n) "
        "in the number n of records and p of parameters, for output perturbation and DP-SGD.",
        proof_uses=("mpbt.thm-4.4",),
        verdict="corrected",
        finding="No rate in n holds without a condition on margins: n·difference can grow like n^(9/10). With "
        "distances D to the boundary of finite E[1/D], at most 0.17σE[1/D] of the predictions change on average, and "
        "w.p. 1 − ζ at most P(D ≤ tσ) + s, Φ(−t) = ζs: 1/n without √p. For DP-SGD the proof gives no private noise.",
        chapter="mpbt-output-perturbation",
        check=mpbt_rate.check,
        faults=mpbt_rate.FAULTS,
    ),
    Claim(
        id="mpbt.sentences",
        where="§ 5.1–5.3",
        statement="The bounds are at most 0.105 (CelebA) and 0.0026 (folktables), meaningful at ε = 1 for n "
        "≥ 100,000, at full n for ε ≥ 1 and ε ≥ 0.1, right in n and ε, and without more knowledge "
        "not much improvable.",
        statement_uses=("mpbt.table-1", "mpbt.figs-1-3", "mpbt.g3-refined"),
        verdict="corrected",
        finding="Twelve sentences, judged one by one in the chapter, some borne out. With μ = 1, CelebA's bounds reach "
        "0.317, not 0.105, and opportunity's excludes nothing at any n. "
        "That they cannot be significantly tightened fails: one projection of the noise per row gives bounds 5 to 32 "
        "times smaller. Both named factors of looseness are real.",
        chapter="mpbt-figures",
        check=mpbt_sentences.check,
        faults=mpbt_sentences.FAULTS,
    ),
)
