"""Entries of the ledger: MPBT (2023).

Differential Privacy has Bounded Impact on Fairness in Classification.
"""

from dpfair_lib.claims.ledger import Claim, Erratum

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="mpbt.example-1",
        where="Example 1, Appendix A",
        statement="Equalized odds, P(H = Y | y, r) − P(H = Y | y), has the form (1) over groups (y′, r′) "
        "with C⁰ = 0, C^(y,r) = 1 − P(S = r | y), C^(y,r′) = −P(S = r′ | y) for r′ ≠ r, and 0 for "
        "y′ ≠ y.",
    ),
    Claim(
        id="mpbt.example-2",
        where="Example 2, Appendix A",
        statement="Equality of opportunity has the form (1) with C⁰ = 0, C^(y,r) = 1 − P(S = r | y), "
        "C^(y,r′) = −P(S = r′ | y) if the label y is desirable, and with all coefficients 0 "
        "otherwise.",
    ),
    Claim(
        id="mpbt.example-3",
        where="Example 3, Appendix A",
        statement="Accuracy parity, P(H = Y | r) − P(H = Y), has the form (1) over groups r′ with C⁰ = 0, "
        "C^(r) = 1 − P(S = r) and C^(r′) = −P(S = r′) for r′ ≠ r.",
    ),
    Claim(
        id="mpbt.example-4",
        where="Example 4, Appendix A",
        statement="For two labels y, ȳ demographic parity has the form (1): C⁰ = P(y) − P(y|r), C^(y,r) = "
        "P(y|r) − P(y,r), C^(ȳ,r) = P(ȳ,r) − P(ȳ|r), and C^(y,r′) = −P(y,r′), C^(ȳ,r′) = P(ȳ,r′) "
        "for r′ ≠ r.",
    ),
    Claim(
        id="mpbt.margin-lipschitz",
        where="Assumption 2.1 and the paragraph on linear models, § 2",
        statement="For h(x, y) = W_yᵀx and ‖h − h′‖ = ‖W − W′‖₂ the margin h(x, y) − max_{y′≠y} h(x, y′) is "
        "Lipschitz in h with L_{x,y} = 2‖x‖₂.",
    ),
    Claim(
        id="mpbt.thm-3.1",
        where="Theorem 3.1, § 3.1 and Appendix B",
        statement="For every event E with a finite E[L/|ρ| | E], |P(H(X) = Y | E) − P(H′(X) = Y | E)| ≤ "
        "E[L_{X,Y}/|ρ(h, X, Y)| | E]·‖h − h′‖; ties are broken at random.",
        statement_uses=("mpbt.margin-lipschitz",),
    ),
    Claim(
        id="mpbt.remark-b1",
        where="Remark B.1, Appendix B; § 3.1",
        statement="The accuracy difference is at most inf_{t≥0} exp(t‖h − h′‖)·E[exp(−t|ρ(h, X, "
        "Y)|/L_{X,Y}) | E], which the right t can make smaller than Theorem 3.1's bound.",
        statement_uses=("mpbt.margin-lipschitz",),
        proof_uses=("mpbt.thm-3.1",),
    ),
    Claim(
        id="mpbt.remark-b2",
        where="Remark B.2, Appendix B; § 3.1",
        statement="Setting |ρ(h)|/L to +∞ where it exceeds ‖h − h′‖ leaves P(|ρ(h)|/L ≤ ‖h − h′‖ | E) as it "
        "is, so the Markov and Chernoff bounds hold with the truncated ratio, are smaller, and "
        "may become 0.",
        statement_uses=("mpbt.margin-lipschitz", "mpbt.remark-b1"),
        proof_uses=("mpbt.thm-3.1",),
    ),
    Claim(
        id="mpbt.thm-3.2",
        where="Theorem 3.2, § 3.2 and Appendix C",
        statement="For F_k of the form (1), |F_k(h) − F_k(h′)| ≤ χ_k(h)·‖h − h′‖ with χ_k(h) = Σ_k′ "
        "|C_k^k′|·E[L/|ρ(h)| | D_k′]; the mean of |F_k| obeys it with the mean of the χ_k.",
        statement_uses=("mpbt.margin-lipschitz",),
        proof_uses=("mpbt.thm-3.1",),
    ),
    Claim(
        id="mpbt.cor-3.3",
        where="Corollary 3.3, § 3.2",
        statement="With e(·) = E[L/|ρ(h)| | ·], χ_k is e(y) + e(y, r) for equalized odds and (y desirable, "
        "else 0) opportunity, e() + e(r) for accuracy parity and binary demographic parity, e() "
        "for accuracy.",
        statement_uses=("mpbt.thm-3.2",),
        proof_uses=(
            "mpbt.thm-3.2",
            "mpbt.example-1",
            "mpbt.example-2",
            "mpbt.example-3",
            "mpbt.example-4",
        ),
    ),
    Claim(
        id="mpbt.lemma-3.4",
        where="Lemma 3.4, § 3.2 and Appendix D",
        statement="If n ≥ 8 ln((2K + 1)/δ)/min p_k, w.p. ≥ 1 − δ, for all h, h′, |F_k(h) − F̂_k(h′)| ≤ "
        "χ̂_k(h)‖h − h′‖ + Õ(Σ_k′ |Ĉ_k^k′|·√((d_H + log(K/δ))/(n·p_k′))); without d_H if h, h′ "
        "are independent of D.",
        statement_uses=("mpbt.thm-3.2",),
        proof_uses=("cgkm.hoeffding",),
    ),
    Claim(
        id="mpbt.lemma-4.1",
        where="Lemma 4.1, § 4.1 and Appendix E",
        statement="Output perturbation with σ² = 8Λ² log(1.25/δ)/(μ²n²ε²) gives, w.p. ≥ 1 − ζ, ‖h_priv − "
        "h*‖₂² ≤ 32pΛ² log(1.25/δ) log(2/ζ)/(μ²n²ε²).",
        proof_uses=("mpbt.sensitivity",),
    ),
    Claim(
        id="mpbt.sensitivity",
        where="§ 4.1, output perturbation; Appendix E",
        statement="Replacing one of n examples moves the minimiser over a convex H of the mean of "
        "Λ-Lipschitz, μ-strongly convex losses by at most Δ = 2Λ/(μn) in ℓ₂.",
    ),
    Claim(
        id="mpbt.gaussian-mechanism",
        where="§ 2.2; § 4.1, output perturbation; experiments in § 5 and Appendix G.1",
        statement="Adding N(0, 2Δ² log(1.25/δ)/ε²·I_p) to a query of ℓ₂-sensitivity Δ is (ε, δ)-DP: § 2.2 "
        "names no range, § 4.1 asks 0 < ε, δ < 1, the experiments use ε = 1 and ε up to 10.",
    ),
    Claim(
        id="mpbt.lemma-4.2",
        where="Lemma 4.2, § 4.1 and Appendix F",
        statement="T-step DP-SGD with σ² = 64Λ²T² log(3T/δ) log(2/δ)/(n²ε²) is (ε, δ)-DP and, for a smooth "
        "loss with σ*² ≤ σ², has ‖h_priv − h*‖₂² = Õ(pΛ² log(1/δ)²/(ζμ²n²ε²)) w.p. ≥ 1 − ζ.",
        proof_uses=("mpbt.gaussian-mechanism", "cgkm.advanced-composition", "mpbt.amplification"),
    ),
    Claim(
        id="mpbt.thm-4.4",
        where="Theorem 4.4, § 4.2",
        statement="W.p. ≥ 1 − ζ, |F_k(h_priv) − F_k(h*)| ≤ χ_k(h_ref)·LΛ√(32p log(1.25/δ) log(2/ζ))/(μnε), "
        "h_ref ∈ {h_priv, h*}, for output perturbation; for DP-SGD Õ(χ_k(h_ref)·LΛ√(p "
        "log(1/δ))/(√ζ·μnε)).",
        statement_uses=("mpbt.thm-3.2",),
        proof_uses=("mpbt.lemma-4.1", "mpbt.lemma-4.2"),
    ),
    Claim(
        id="mpbt.g3-refined",
        where="Appendix G.3; § 5.3",
        statement="For linear models Theorem 3.1's bound also holds with 2·max_y ‖projection of x on h_y − "
        "h′_y‖ in place of L = 2‖x‖₂, and is then much tighter.",
        statement_uses=("mpbt.margin-lipschitz",),
        proof_uses=("mpbt.thm-3.1",),
    ),
    Claim(
        id="mpbt.table-1",
        where="Table 1, § 5.1",
        statement="At 99 %, ε = 1, δ = 1/n², Theorem 4.4 bounds opportunity, odds, demographic, accuracy "
        "parity, accuracy by .1044, .0975, .0975, .0975, .0487 (CelebA) and .0017, .0026, .0026, "
        ".0026, .0013 (folktables).",
        statement_uses=("mpbt.thm-4.4", "mpbt.cor-3.3"),
        proof_uses=("mpbt.remark-b1", "mpbt.remark-b2", "mpbt.lemma-4.1"),
    ),
    Claim(
        id="mpbt.figs-1-3",
        where="Figure 1, § 5.2; Figures 2 and 3, Appendix G.2",
        statement="For five measures on CelebA and folktables, over 20 values of n and 20 of ε from 10⁻³ to "
        "10, the levels of 100 output-perturbed models lie within Theorem 4.4's band round h*'s "
        "and close in on it.",
        statement_uses=("mpbt.thm-4.4", "mpbt.cor-3.3", "mpbt.g3-refined"),
        proof_uses=("mpbt.remark-b1", "mpbt.remark-b2", "mpbt.lemma-4.1"),
    ),
    Claim(
        id="mpbt.large-margin",
        where="§ 3.1, after Theorem 3.1; Remark B.2, Appendix B",
        statement="If |ρ(h, x, y)| ≥ L_{x,y}‖h − h′‖, then h and h′ predict the same label at x; if that "
        "holds for all examples, the bound on the accuracy difference is 0.",
        statement_uses=("mpbt.margin-lipschitz", "mpbt.remark-b2"),
    ),
    Claim(
        id="mpbt.amplification",
        where="§ 2.2",
        statement="An (ε, δ)-DP mechanism applied to a random fraction q of the data is (O(qε), qδ)-DP.",
    ),
    Claim(
        id="mpbt.remarks",
        where="Remark 4.3, § 4.1; Remark 4.5, § 4.2",
        statement="Variance reduction removes the σ* assumption, Rényi DP improves σ, ε < 1 only serves "
        "closed forms; convex fairness regularisers with a squared ℓ₂-norm are strongly convex "
        "and Lipschitz over H.",
        statement_uses=("mpbt.lemma-4.2", "mpbt.thm-4.4"),
    ),
    Claim(
        id="mpbt.rate",
        where="Abstract; § 1, contributions; § 4.2; § 6",
        statement="The fairness difference between private and non-private models vanishes at rate Õ(√p/n) "
        "in the number n of records and p of parameters, for output perturbation and DP-SGD.",
        proof_uses=("mpbt.thm-4.4",),
    ),
    Claim(
        id="mpbt.sentences",
        where="§ 5.1–5.3",
        statement="The bounds are at most 0.105 (CelebA) and 0.0026 (folktables), meaningful at ε = 1 for n "
        "≥ 100,000, at full n for ε ≥ 1 and ε ≥ 0.1, right in n and ε, and without more knowledge "
        "not much improvable.",
        statement_uses=("mpbt.table-1", "mpbt.figs-1-3", "mpbt.g3-refined"),
    ),
)

ERRATA: tuple[Erratum, ...] = ()
