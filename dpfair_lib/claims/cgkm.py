"""Entries of the ledger: CGKM, On the Compatibility of Privacy and Fairness (2019)."""

from dpfair_lib.claims.checks import cgkm_alg_3, cgkm_fairnr_privacy, cgkm_thm_3
from dpfair_lib.claims.ledger import Claim, Erratum

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="cgkm.thm-1.proof",
        where="Theorem 1, proof, § 3",
        statement="On the uniform law over z₀…z₃ = (x,0,0), (x,0,1), (x,1,0), (x,1,1), moving mass ζ from "
        "z₁ to z₃ makes every h with h(z₁) = h(z₃) and h(z₁) + h(z₃) > h(z₀) + h(z₂) unfair: γ₁₀ "
        "= ¼ − ζ ≠ ¼ + ζ = γ₁₁.",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.thm-1.asides",),
    ),
    Claim(
        id="cgkm.thm-1.statement",
        where="Theorem 1, § 3",
        statement="For every hypothesis class, no (ε, 0)-DP algorithm with ε < ∞ always outputs an h that "
        "satisfies exact equal opportunity and errs less than every constant classifier "
        "(neighbours: ζ-close laws).",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.thm-1.proof",),
    ),
    Claim(
        id="cgkm.alg-1",
        where="Algorithm 1, § 4",
        statement="With M = min_a |Z₁ₐ| + Lap(1/ε) − ln(1/δ)/ε, δ = exp(−√n) and Δ = 2/(M − 1) + 1/n, "
        "sampling h with probability ∝ exp(−ε·u(Z, h)/(2Δ)), u = Γ^Z + err^Z, defines a mechanism "
        "for every sample.",
        statement_uses=("cgkm.definitions",),
    ),
    Claim(
        id="cgkm.lemma-2",
        where="Lemma 2, § 4 and Appendix B",
        statement="Changing one entry of Z moves Γ^Z(h) by at most max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1) (the "
        "proof: max_a 2/(|Z₁ₐ| − 1) if both |Z₁ₐ| ≥ 2) and err^Z(h) by at most 1/n.",
        statement_uses=("cgkm.definitions",),
    ),
    Claim(
        id="cgkm.lemma-3",
        where="Lemma 3, Appendix B",
        statement="For a fixed h and n i.i.d. examples, Pr[|Γ(h) − Γ^Z(h)| > ρ] ≤ 16·exp(¼ρ²n·min_{y,a} "
        "P_{ya}) (no minus sign in print).",
        statement_uses=("cgkm.definitions",),
    ),
    Claim(
        id="cgkm.lemma-1",
        where="Lemma 1, § 4 and Appendix B",
        statement="For a fixed h and n i.i.d. examples, Pr[|u(Z, h) − u(D, h)| > ρ] ≤ 18·exp(−min_a "
        "ρ²nP₁ₐ/16), where u adds up Γ and err.",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.lemma-3", "cgkm.hoeffding"),
    ),
    Claim(
        id="cgkm.thm-2.privacy",
        where="Theorem 2, § 4",
        statement="Under Assumption 1 (|Z₁ₐ| = kn ≥ 2) and n > 2/(kε)², Algorithm 1 is (2ε, δ)-DP with δ = "
        "exp(−√n), and Δ ≥ Δu with probability at least 1 − δ.",
        statement_uses=("cgkm.alg-1",),
        proof_uses=(
            "cgkm.utility-sensitivity",
            "cgkm.lemma-2",
            "cgkm.laplace",
            "cgkm.post-processing",
            "cgkm.composition",
        ),
    ),
    Claim(
        id="cgkm.thm-2.accuracy",
        where="Theorem 2, proof up to (1), § 4",
        statement="Algorithm 1 outputs h with Γ(h) + err(h) > OPT + α with probability at most "
        "|H|·(18·exp(−min_a α²nP₁ₐ/144) + exp(−εα/(6Δu))) + exp(−√n).",
        statement_uses=("cgkm.alg-1", "cgkm.definitions", "cgkm.utility-sensitivity"),
        proof_uses=("cgkm.lemma-1", "cgkm.laplace"),
    ),
    Claim(
        id="cgkm.thm-2.sample-size",
        where="Theorem 2, § 4",
        statement="(2ε, δ) and (α, β) need only n ≥ max{144·ln(20|H|/β)·max_a(1/(α²P₁ₐ), (2n/(|Z₁ₐ| − √n/ε "
        "− 1) + 1)/(εα), (√n + ln|H|)/n), 2/(kε)²}; the right side is o(n).",
        statement_uses=("cgkm.thm-2.privacy", "cgkm.thm-2.accuracy"),
        proof_uses=("cgkm.lemma-2",),
    ),
    Claim(
        id="cgkm.laplace",
        where="Theorems 4 and 5, Appendix A",
        statement="Adding i.i.d. Lap(Δf/ε) to the k coordinates of f is (ε, 0)-DP, and the largest error "
        "reaches ln(k/β)·Δf/ε with probability at most β.",
    ),
    Claim(
        id="cgkm.post-processing",
        where="Proposition 1, Appendix A",
        statement="Any randomised map applied to the output of an (ε, δ)-DP algorithm leaves it (ε, δ)-DP.",
    ),
    Claim(
        id="cgkm.composition",
        where="Proposition 2, Appendix A",
        statement="Releasing the outputs of two (ε, δ)-DP algorithms on the same data is (2ε, 2δ)-DP.",
    ),
    Claim(
        id="cgkm.advanced-composition",
        where="Theorem 6, Appendix A",
        statement="T adaptive (ε, δ)-DP mechanisms are (ε√(2T ln(1/δ′)) + Tε(e^ε − 1), Tδ + δ′)-DP; in "
        "particular T mechanisms that are (ε/√(8T ln(1/δ)), 0)-DP are together (ε, δ)-DP for "
        "every ε ≤ 1.",
    ),
    Claim(
        id="cgkm.hoeffding",
        where="Theorem 7, Appendix B",
        statement="The mean of n i.i.d. variables in [a, b] is more than ρ away from its expectation with "
        "probability at most 2·exp(−2ρ²n/(b − a)²).",
    ),
    Claim(
        id="cgkm.ftpl-regret",
        where="Theorem 8, Appendix C.1",
        statement="For H ⊆ {0,1}ⁿ and non-negative losses, E[cost of FTPL(ε)] ≤ (1 + 2Aε)·OPT + 2M(1 + ln "
        "n)/ε, where M ≥ ‖h − h′‖₁ and A ≥ ‖ℓ‖₁.",
        statement_uses=("cgkm.alg-2",),
    ),
    Claim(
        id="cgkm.freund-schapire",
        where="Theorem 9, Appendix C.2",
        statement="If learner and auditor have average regrets at most γ_L and γ_A, their time-averaged "
        "plays (D̄, λ̄) form a minimax equilibrium up to γ_L + γ_A.",
    ),
    Claim(
        id="cgkm.lemma-4",
        where="Lemma 4, Appendix C.1",
        statement="If each loss vector is ℓᵗ = fᵗ(x), T rounds of FTPL*(ε′) are (ε, δ)-DP for ε′ = ε/(max_t "
        "Δfᵗ·√(T ln(1/δ))).",
        statement_uses=("cgkm.alg-2",),
        proof_uses=("cgkm.laplace", "cgkm.advanced-composition", "cgkm.post-processing"),
    ),
    Claim(
        id="cgkm.fairnr-privacy",
        where="Theorem 3, proof, Appendix C.2",
        statement="Private-FairNR touches the data only through its FTPL* subroutine, and is therefore (ε, "
        "δ)-DP as a whole.",
        statement_uses=("cgkm.alg-3",),
        proof_uses=("cgkm.lemma-4", "cgkm.post-processing"),
        verdict="corrected",
        finding="The auditor reads the data and the oracle the features, both without noise: one record's features "
        "show with δ close to ½ at the printed T and m, and two data sets that differ in one label turn ε = 1 into 43 "
        "at δ = 10⁻⁶. Private: counts noised once, or the loss and the auditor's choice of each round.",
        chapter="cgkm-fairnr",
        check=cgkm_fairnr_privacy.check,
        faults=cgkm_fairnr_privacy.FAULTS,
    ),
    Claim(
        id="cgkm.lemma-5",
        where="Lemma 5, Appendix C.2",
        statement="The learner's regret over T rounds of Private-FairNR is at most ε·OPT/√(mT ln(1/δ)) + "
        "2(1 + ln n)(2 + C)√(mT ln(1/δ))/ε, with OPT the best fixed h's total payoff.",
        statement_uses=("cgkm.alg-3",),
        proof_uses=("cgkm.ftpl-regret", "cgkm.lemma-4"),
    ),
    Claim(
        id="cgkm.thm-3",
        where="Theorem 3, § 5 and Appendix C.2",
        statement="Given CSC oracles, a polynomial-time (ε, δ)-DP algorithm outputs, with probability ≥ 1 − "
        "β, ĥ with err(ĥ) ≤ OPT + α and A_FP(g)·|FP(ĥ) − FP(ĥ, g)| ≤ ξ + O(α) for every g; the "
        "proof adds condition (2).",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.alg-3", "cgkm.fairnr-privacy", "cgkm.lemma-5", "cgkm.freund-schapire"),
        verdict="corrected",
        finding="False without (2), already for two people; ξ and OPT are undefined, and with OPT at tolerance α "
        "false. (2) begins to hold at n = 10²⁵ for α = 0.1, ε = 1, and even there Algorithm 3 as printed errs by ½. "
        "What noisy counts give, with a bound, survives.",
        chapter="cgkm-fairnr",
        check=cgkm_thm_3.check,
        faults=cgkm_thm_3.FAULTS,
    ),
    Claim(
        id="cgkm.alg-2",
        where="Algorithm 2, Appendix C.1",
        statement="FTPL*(ε) plays in round t + 1 a minimiser over H ⊆ {0,1}ⁿ of ⟨Σ_{r≤t} ℓʳ + ξᵗ, h⟩, ξᵗ "
        "having fresh Lap(1/ε) coordinates in each round; this amounts to releasing the loss "
        "vector by the Laplace mechanism.",
    ),
    Claim(
        id="cgkm.alg-3",
        where="Algorithm 3, Appendix C.2",
        statement="Private-FairNR, T rounds: ĥᵗ is the empirical law of m best responses to LC(Σλ) + "
        "Lap(1/ε′) noise, ε′ = nε/((2 + C)√(mT ln(1/δ))); the auditor best-responds; draws from "
        "ĥ = Σĥᵗ (no 1/T in print) are released.",
        statement_uses=("cgkm.alg-2",),
        verdict="corrected",
        finding="The payoff is linear and the oracle's costs are right; but LC(Σλ) counts the error once in all "
        "rounds, Σĥᵗ lacks 1/T, and T, m need not be whole. With the losses of all rounds added and the average "
        "taken, the play comes close to the value of the game.",
        chapter="cgkm-fairnr",
        check=cgkm_alg_3.check,
        faults=cgkm_alg_3.FAULTS,
    ),
    Claim(
        id="cgkm.definitions",
        where="Definitions 1–2, § 2.1; 5, § 2.3; 7, § 2.4; 8, § 5",
        statement="ζ-closeness generalises neighbouring multisets; Pr[Γ(h) + err(h) ≤ OPT + α] ≥ 1 − β "
        "makes a learner (α, β)-accurate and at most α-discriminatory w.p. 1 − β; FP-subgroup "
        "fairness generalises α-discrimination.",
    ),
    Claim(
        id="cgkm.thm-1.asides",
        where="Theorem 1, proof, § 3",
        statement="Under the proof's uniform four-point law x, a and y are independent, every constant "
        "classifier errs with probability ½, and H holds a fair h better than that, or else the "
        "theorem is trivially true.",
    ),
    Claim(
        id="cgkm.which-pairs",
        where="§ 3, opening paragraphs; § 2.3; § 4, first paragraph",
        statement="Exact fairness and differential privacy exclude each other already as a pair, even with "
        "full distributional access; Theorem 1 is stated for the triple with accuracy beyond "
        "every constant classifier.",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.thm-1.statement",),
    ),
    Claim(
        id="cgkm.remarks",
        where="§ 3, after Theorem 1; § 4, footnote 4 and after Theorem 2",
        statement="Theorem 1 extends to equalized odds and, by the same proof, to hard thresholds on other "
        "notions; small δ > 0 does not help; other weights of Γ and err change Theorem 2's n only "
        "by a constant.",
        statement_uses=("cgkm.thm-1.statement", "cgkm.thm-2.sample-size"),
        proof_uses=("cgkm.thm-1.proof",),
    ),
    Claim(
        id="cgkm.utility-sensitivity",
        where="§ 4, between Algorithm 1 and Assumption 1",
        statement="Δu ≤ ΔΓ + Δerr ≤ max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1) + 1/n for u = Γ^Z + err^Z, by the "
        "triangle inequality.",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.lemma-2",),
    ),
)

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        claim="cgkm.alg-3",
        where="Algorithm 3, the line before the output",
        printed="the average distribution ĥ = Σₜ ĥᵗ",
        correct="ĥ = (1/T) Σₜ ĥᵗ; how many draws are released is not said",
    ),
    Erratum(
        claim="cgkm.alg-3",
        where="Algorithm 3, the oracle's call",
        printed="LC(λ̄) of the summed plays λ̄ of the auditor, in which the error counts once",
        correct="the sum over the rounds of LC(λʳ), in which the error counts t − 1 times",
    ),
    Erratum(
        claim="cgkm.thm-3",
        where="§ 5 and Appendix C.2, Theorem 3",
        printed="ξ + O(α), and OPT, without a word on ξ",
        correct="ξ is the tolerance of the constraints that OPT is taken over; the printed payoff has none, ξ = 0",
    ),
    Erratum(
        claim="cgkm.thm-3",
        where="Appendix C.2, proof of Theorem 3, last lines and (2)",
        printed="√(ln(2T/β) d ln(n) c₀ (1 + ln n))",
        correct="(1 + ln n)√(ln(2T/β) d ln(n) c₀), as in the line before",
    ),
)
