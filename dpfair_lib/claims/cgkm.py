"""Entries of the ledger: CGKM, On the Compatibility of Privacy and Fairness (2019)."""

from dpfair_lib.claims.cgkm_errata import ERRATA
from dpfair_lib.claims.checks import (
    cgkm_advanced_composition,
    cgkm_alg_1,
    cgkm_alg_2,
    cgkm_alg_3,
    cgkm_composition,
    cgkm_definitions,
    cgkm_fairnr_privacy,
    cgkm_freund_schapire,
    cgkm_ftpl_regret,
    cgkm_hoeffding,
    cgkm_laplace,
    cgkm_lemma_1,
    cgkm_lemma_2,
    cgkm_lemma_3,
    cgkm_lemma_4,
    cgkm_lemma_5,
    cgkm_post_processing,
    cgkm_remarks,
    cgkm_thm_1_asides,
    cgkm_thm_1_proof,
    cgkm_thm_1_statement,
    cgkm_thm_2_accuracy,
    cgkm_thm_2_privacy,
    cgkm_thm_2_sample_size,
    cgkm_thm_3,
    cgkm_utility_sensitivity,
    cgkm_which_pairs,
)
from dpfair_lib.claims.ledger import Claim

__all__ = ["CLAIMS", "ERRATA"]

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="cgkm.thm-1.proof",
        where="Theorem 1, proof, § 3",
        statement="On the uniform law over z₀…z₃ = (x₀,0,0), (x₁,0,1), (x₂,1,0), (x₃,1,1), moving mass ζ from z₁ to z₃ "
        "makes every h with h(z₁) = h(z₃) and h(z₁) + h(z₃) > h(z₀) + h(z₂) unfair: γ₁₀ = ¼ − ζ ≠ ¼ + ζ = "
        "γ₁₁.",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.thm-1.asides",),
        verdict="corrected",
        finding="γ₁₀ and γ₁₁ are rates within cells of one atom each: h(z₁) and h(z₃), on D′ as on D. ¼ − ζ and ¼ + ζ "
        "are the joint masses P₁₀, P₁₁. On D′ each such h is as fair as on D, and errs as rarely. What does "
        "work: moving positives within one group, between two points on which h differs.",
        chapter="cgkm-thm-1",
        check=cgkm_thm_1_proof.check,
        faults=cgkm_thm_1_proof.FAULTS,
    ),
    Claim(
        id="cgkm.thm-1.statement",
        where="Theorem 1, § 3",
        statement="For every hypothesis class, no (ε, 0)-DP algorithm with ε < ∞ always outputs an h that "
        "satisfies exact equal opportunity and errs less than every constant classifier "
        "(neighbours: ζ-close laws).",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.thm-1.proof",),
        verdict="corrected",
        finding="False on the proof's own four atoms: one h is fair and better on all laws. On a universe where (x, "
        "a) does not tell the label it is void: some law has no such h, privacy or not. On the laws that have "
        "one, if all (x, a, y) occur and H is deterministic: possible if and only if at most one h in H is not "
        "constant and selects people of both groups.",
        chapter="cgkm-thm-1",
        check=cgkm_thm_1_statement.check,
        faults=cgkm_thm_1_statement.FAULTS,
    ),
    Claim(
        id="cgkm.alg-1",
        where="Algorithm 1, § 4",
        statement="With M = min_a |Z₁ₐ| + Lap(1/ε) − ln(1/δ)/ε, δ = exp(−√n) and Δ = 2/(M − 1) + 1/n, "
        "sampling h with probability ∝ exp(−ε·u(Z, h)/(2Δ)), u = Γ^Z + err^Z, defines a mechanism "
        "for every sample.",
        verdict="corrected",
        finding="For M < 1 (and above 1 − 2n) Δ is negative and the largest loss is the likeliest; near M = 1 − 2n "
        "it vanishes; without positives in a group Γ is 0/0. With M raised to 1 and Δ = max(2/(M + 1), 1/M + 1/n), "
        "the exact joint sensitivity at the smaller count M, it is a mechanism for every sample. Pr[M > min_a "
        "|Z₁ₐ|] is δ/2; ln(1/(2δ))/ε is shift enough.",
        statement_uses=("cgkm.definitions",),
        chapter="cgkm-thm-2",
        check=cgkm_alg_1.check,
        faults=cgkm_alg_1.FAULTS,
    ),
    Claim(
        id="cgkm.lemma-2",
        where="Lemma 2, § 4 and Appendix B",
        statement="Changing one entry of Z moves Γ^Z(h) by at most max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1) (the "
        "proof: max_a 2/(|Z₁ₐ| − 1) if both |Z₁ₐ| ≥ 2) and err^Z(h) by at most 1/n.",
        verdict="corrected",
        finding="A sensitivity cannot depend on ε and δ: where |Z₁ₐ| ≤ √n/ε + 1 the printed bound is negative, or "
        "that of the larger group. 2/(|Z₁ₐ| − 1), as proved, is true. Exact: (m + m′)/(m(m′ + 1)) for counts m ≤ "
        "m′, between 1/m and 2/(m + 1), attained by randomised h always, by deterministic h where m divides m′. "
        "err: 1/n.",
        statement_uses=("cgkm.definitions",),
        chapter="cgkm-thm-2",
        check=cgkm_lemma_2.check,
        faults=cgkm_lemma_2.FAULTS,
    ),
    Claim(
        id="cgkm.lemma-3",
        where="Lemma 3, Appendix B",
        statement="For a fixed h and n i.i.d. examples, Pr[|Γ(h) − Γ^Z(h)| > ρ] ≤ 16·exp(¼ρ²n·min_{y,a} "
        "P_{ya}) = δ (no minus sign in print).",
        verdict="corrected",
        finding="Void as printed: the δ is at least 16, no failure probability. With a minus sign it is true, with "
        "random group counts and empty cells counted as failures too. Sharper: 2·Σ_a (1 − P₁ₐ(1 − exp(−ρ²/2)))ⁿ, at "
        "most 4·exp(−0.39·ρ²n·min_a P₁ₐ), and only the cells with label 1 matter.",
        statement_uses=("cgkm.definitions",),
        chapter="cgkm-thm-2",
        check=cgkm_lemma_3.check,
        faults=cgkm_lemma_3.FAULTS,
    ),
    Claim(
        id="cgkm.lemma-1",
        where="Lemma 1, § 4 and Appendix B",
        statement="For a fixed h and n i.i.d. examples, Pr[|u(Z, h) − u(D, h)| > ρ] ≤ 18·exp(−min_a "
        "ρ²nP₁ₐ/16), where u adds up Γ and err.",
        verdict="holds",
        finding="True, since the Lemma 3 that it uses is the one with the minus sign. With our form of it, "
        "6·exp(−0.098·ρ²n·min_a P₁ₐ) does. In the proof of Theorem 2 u(D, h) is written Γ^Z + err once; Γ + err is "
        "meant.",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.lemma-3", "cgkm.hoeffding"),
        chapter="cgkm-thm-2",
        check=cgkm_lemma_1.check,
        faults=cgkm_lemma_1.FAULTS,
    ),
    Claim(
        id="cgkm.thm-2.privacy",
        where="Theorem 2, § 4",
        statement='With n > 2/(kε)² labelled examples, k = |Z₁ₐ|/n ("for example, k would be P₁ₐ") and |Z₁ₐ| ≥ 2, '
        "Algorithm 1 is (2ε, δ)-DP with δ = exp(−√n), since Δ ≥ Δu with probability at least 1 − δ.",
        verdict="corrected",
        finding="True between samples that both have (ε·min_a |Z₁ₐ|)² > 2n, though there Pr[Δ < Δu] can exceed δ. "
        "It fails for others, which P₁ₐ does not exclude: with two positives in each group, n = 400 "
        "and ε = 1, it needs δ = 0.68 at 2ε instead of 2·10⁻⁹. With the repaired scale M and h together are (2ε, δ)-DP "
        "for every sample and n.",
        statement_uses=("cgkm.alg-1",),
        proof_uses=(
            "cgkm.utility-sensitivity",
            "cgkm.lemma-2",
            "cgkm.laplace",
            "cgkm.post-processing",
            "cgkm.composition",
        ),
        chapter="cgkm-thm-2",
        check=cgkm_thm_2_privacy.check,
        faults=cgkm_thm_2_privacy.FAULTS,
    ),
    Claim(
        id="cgkm.thm-2.accuracy",
        where="Theorem 2, proof up to (1), § 4",
        statement="Algorithm 1 outputs h with Γ(h) + err(h) > OPT + α with probability at most "
        "|H|·(18·exp(−min_a α²nP₁ₐ/144) + exp(−εα/(6Δu))) + exp(−√n).",
        verdict="corrected",
        finding="The scale that the choice uses is Δ, which must exceed Δu: with Δu the bound fails for n just "
        "above 2/(kε)². With Δ at M = m − 2·ln(1/(2δ))/ε, which M stays above with probability 1 − δ, the step is "
        "right: |H|·exp(−ε·gap/(2Δ)) + δ on the sample. The printed plug-in, one shift instead of two, is Δ's "
        "median.",
        statement_uses=("cgkm.alg-1", "cgkm.definitions", "cgkm.utility-sensitivity"),
        proof_uses=("cgkm.lemma-1", "cgkm.laplace"),
        chapter="cgkm-thm-2",
        check=cgkm_thm_2_accuracy.check,
        faults=cgkm_thm_2_accuracy.FAULTS,
    ),
    Claim(
        id="cgkm.thm-2.sample-size",
        where="Theorem 2, § 4",
        statement="(2ε, δ) and (α, β) need only n ≥ max{144·ln(20|H|/β)·max_a(1/(α²P₁ₐ), (2n/(|Z₁ₐ| − √n/ε "
        "− 1) + 1)/(εα), (√n + ln|H|)/n), 2/(kε)²}; the right side is o(n).",
        verdict="corrected",
        finding="The printed n does not make the printed algorithm private for every sample. 2/(kε)² should read "
        "4/(kε)², the third inner term is upside down and void, and 144 belongs to the first alone (6 to the second, "
        "1 to the third). Where |Z₁ₐ| = kn it suffices thanks to the 144, in the cases tried at 11 to 23 times what "
        "our bounds ask for the repaired learner, and more for a small ε; that learner's privacy needs no n.",
        statement_uses=("cgkm.thm-2.privacy", "cgkm.thm-2.accuracy"),
        proof_uses=("cgkm.lemma-2",),
        chapter="cgkm-thm-2",
        check=cgkm_thm_2_sample_size.check,
        faults=cgkm_thm_2_sample_size.FAULTS,
    ),
    Claim(
        id="cgkm.laplace",
        where="Theorems 4 and 5, Appendix A",
        statement="Adding i.i.d. Lap(Δf/ε) to the k coordinates of f is (ε, 0)-DP, and the largest error "
        "reaches ln(k/β)·Δf/ε with probability at most β.",
        verdict="holds",
        finding="The largest loss is exactly ‖f − f′‖₁/b, reached at y = f. The largest of k errors reaches the "
        "printed threshold with probability 1 − (1 − β/k)^k: β for k = 1, and as little as 1 − e^(−β) for "
        "large k. The exact threshold is −(Δf/ε) ln(1 − (1 − β)^(1/k)).",
        chapter="cgkm-tools",
        check=cgkm_laplace.check,
        faults=cgkm_laplace.FAULTS,
    ),
    Claim(
        id="cgkm.post-processing",
        where="Proposition 1, Appendix A",
        statement="Any randomised map applied to the output of an (ε, δ)-DP algorithm leaves it (ε, δ)-DP.",
        verdict="holds",
        finding="The smallest δ at any ε never grows under a map that has coins of its own and does not see the data; "
        "a map that sees them can reveal everything.",
        chapter="cgkm-tools",
        check=cgkm_post_processing.check,
        faults=cgkm_post_processing.FAULTS,
    ),
    Claim(
        id="cgkm.composition",
        where="Proposition 2, Appendix A",
        statement="Releasing the outputs of two (ε, δ)-DP algorithms on the same data is (2ε, 2δ)-DP.",
        verdict="holds",
        finding="True, and the second algorithm may be chosen after seeing the first's output; exactly, δ becomes 1 − "
        "(1 − δ)². It needs coins of their own for the two: with shared coins two releases that tell nothing "
        "can tell everything together.",
        chapter="cgkm-tools",
        check=cgkm_composition.check,
        faults=cgkm_composition.FAULTS,
    ),
    Claim(
        id="cgkm.advanced-composition",
        where="Theorem 6, Appendix A",
        statement="T adaptive (ε, δ)-DP mechanisms are (ε√(2T ln(1/δ′)) + Tε(e^ε − 1), Tδ + δ′)-DP; in "
        "particular T mechanisms that are (ε/√(8T ln(1/δ)), 0)-DP are together (ε, δ)-DP for "
        "every ε ≤ 1.",
        verdict="corrected",
        finding="The formula holds; at δ = 0 half of its second term, Tε²/2, will do. The 'in particular' holds for "
        "every T if ε ≤ 8 ln(1/δ), hence for all ε ≤ 1 if δ ≤ e^(−1/8) = 0.882; for δ close to 1 (0.998) it "
        "fails with T = 1. A share of ε/√(3T ln(1/δ)) suffices for ε ≤ ln(1/δ).",
        chapter="cgkm-tools",
        check=cgkm_advanced_composition.check,
        faults=cgkm_advanced_composition.FAULTS,
    ),
    Claim(
        id="cgkm.hoeffding",
        where="Theorem 7, Appendix B",
        statement="The mean of n i.i.d. variables in [a, b] is more than ρ away from its expectation with "
        "probability at most 2·exp(−2ρ²n/(b − a)²).",
        verdict="holds",
        finding="True with both sides and, without the factor 2, for one side; 'at least ρ' as well as 'more than ρ'. "
        "For both sides a factor is needed: of one toss of a fair coin it is √e = 1.649.",
        chapter="cgkm-tools",
        check=cgkm_hoeffding.check,
        faults=cgkm_hoeffding.FAULTS,
    ),
    Claim(
        id="cgkm.ftpl-regret",
        where="Theorem 8, Appendix C.1",
        statement="For H ⊆ {0,1}ⁿ and non-negative losses, E[cost of FTPL(ε)] ≤ (1 + 2Aε)·OPT + 2M(1 + ln "
        "n)/ε, where M ≥ ‖h − h′‖₁ and A ≥ ‖ℓ‖₁.",
        statement_uses=("cgkm.alg-2",),
        verdict="corrected",
        finding="Holds for Aε ≤ ln 2 if round 1 is played by the noise too. For every ε: e^(Aε)(OPT + M·Hₙ/ε). "
        "Without a limit on Aε it is false: one round, one point, one loss A costs A/2 on average, more than "
        "2/ε if Aε > 4. Fresh noise makes it hold against adversaries who see all past plays.",
        chapter="cgkm-ftpl",
        check=cgkm_ftpl_regret.check,
        faults=cgkm_ftpl_regret.FAULTS,
    ),
    Claim(
        id="cgkm.freund-schapire",
        where="Theorem 9, Appendix C.2",
        statement="If learner and auditor have average regrets at most γ_L and γ_A, their time-averaged "
        "plays (D̄, λ̄) form a minimax equilibrium up to γ_L + γ_A.",
        verdict="holds",
        finding="More is true: what the two players could gain by leaving their averages adds up to exactly γ_L + "
        "γ_A, for exact regrets. One of them may have all of it, so that the constant cannot be less; best "
        "replies are not needed.",
        chapter="cgkm-tools",
        check=cgkm_freund_schapire.check,
        faults=cgkm_freund_schapire.FAULTS,
    ),
    Claim(
        id="cgkm.lemma-4",
        where="Lemma 4, Appendix C.1",
        statement="If each loss vector is ℓᵗ = fᵗ(x), T rounds of FTPL*(ε′) are (ε, δ)-DP for ε′ = ε/(max_t "
        "Δfᵗ·√(T ln(1/δ))).",
        statement_uses=("cgkm.alg-2",),
        proof_uses=("cgkm.laplace", "cgkm.advanced-composition", "cgkm.post-processing"),
        verdict="corrected",
        finding="True for T(T + 1)² ≤ 4 ln(1/δ); at ε = 1, δ = 1e-5 false for the printed algorithm from T = 3 on "
        "(from 5, if the choice after the last loss stays hidden). With each loss noised once it fails there from "
        "T = 16 if the noisy losses are seen; for the plays alone we cannot say. √(8T ln(1/δ)) is safe for ε ≤ 8 "
        "ln(1/δ), √(3T ln(1/δ)) for ε ≤ ln(1/δ). Sums need √((T + 1)(2T + 1)/6) times that noise.",
        chapter="cgkm-ftpl",
        check=cgkm_lemma_4.check,
        faults=cgkm_lemma_4.FAULTS,
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
        "show with δ close to ½ at the printed T and m; at T = 20 and m = 1, one changed label turns ε = 1, δ = 10⁻⁶ "
        "into ε = 43 for the mixture ĥ, and into δ = 0.036 at ε = 1 for one draw of it. Private: counts noised once, "
        "or the loss and the auditor's choice of each round.",
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
        verdict="corrected",
        finding="The costs can be negative, and ‖ℓ‖₁ can be C/2, at most 1 + C/2, not (1 + C)/n; even with that A a "
        "factor 2(1 + C)/(2 + C) is lost. In a game of two hypotheses the regret is larger than printed. What "
        "holds if round 1 follows the noise: T(1 + C/2)·tanh((1 + C/2)ε′/2) + n·Hₙ/ε′.",
        chapter="cgkm-ftpl",
        check=cgkm_lemma_5.check,
        faults=cgkm_lemma_5.FAULTS,
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
        "false. (2) begins to hold at n = 10²⁵ for α = 0.1, ε = 1, δ = 10⁻⁶, d = c₀ = 1, and even "
        "there Algorithm 3 as printed errs by ½. What noisy counts give, with a bound, survives.",
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
        verdict="corrected",
        finding="It noises each running sum afresh. Release t then moves by a factor of e^(tεΔ), not e^(εΔ): it is "
        "the Laplace mechanism on the sum of t losses. Noise added to each loss once, and kept, is the "
        "Laplace mechanism on the loss, but the noise in the sum grows like √t.",
        chapter="cgkm-ftpl",
        check=cgkm_alg_2.check,
        faults=cgkm_alg_2.FAULTS,
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
        verdict="corrected",
        finding="Between multisets of one size n, ζ = 1/n is exactly replace-one; the size is not seen. Definition 7 "
        "gives Γ ≤ α + OPT − err and err ≤ (best fair error) + α, neither Γ ≤ α nor accuracy. Definition 8 "
        "for one group reads P₀₀P₀₁/P₀·|γ₀₀ − γ₀₁| ≤ α: weaker than α-discrimination, and void for a rare "
        "group.",
        chapter="cgkm-thm-1",
        check=cgkm_definitions.check,
        faults=cgkm_definitions.FAULTS,
    ),
    Claim(
        id="cgkm.thm-1.asides",
        where="Theorem 1, proof, § 3",
        statement="Under the proof's uniform four-point law x, a and y are independent, every constant "
        "classifier errs with probability ½, and H holds a fair h better than that, or else the "
        "theorem is trivially true.",
        verdict="corrected",
        finding="Group and label are independent, every constant errs ½, and without an acceptable h in H there is "
        "nothing to prove. But x is independent of both only if x₀ = … = x₃, and then no h errs less than ½: "
        "the first aside and the third exclude each other.",
        chapter="cgkm-thm-1",
        check=cgkm_thm_1_asides.check,
        faults=cgkm_thm_1_asides.FAULTS,
    ),
    Claim(
        id="cgkm.which-pairs",
        where="§ 3, opening paragraphs; § 2.3; § 4, first paragraph",
        statement="Exact fairness and differential privacy exclude each other already as a pair, even with "
        "full distributional access; Theorem 1 is stated for the triple with accuracy beyond "
        "every constant classifier.",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.thm-1.statement",),
        verdict="corrected",
        finding="Fair and private go together: constants. If all (x, a, y) occur, nothing else is fair on all of a "
        "ball of laws, randomised or not; non-constant h get probability δ at most, together. Then accurate and "
        "private exclude each other without fairness, once two deterministic h in H are not constant. Two "
        "neighbouring laws show each conflict.",
        chapter="cgkm-thm-1",
        check=cgkm_which_pairs.check,
        faults=cgkm_which_pairs.FAULTS,
    ),
    Claim(
        id="cgkm.remarks",
        where="§ 3, after Theorem 1; § 4, footnote 4 and after Theorem 2",
        statement="Theorem 1 extends to equalized odds and, by the same proof, to hard thresholds on other "
        "notions; small δ > 0 does not help; other weights of Γ and err change Theorem 2's n only "
        "by a constant.",
        statement_uses=("cgkm.thm-1.statement", "cgkm.thm-2.sample-size"),
        proof_uses=("cgkm.thm-1.proof",),
        verdict="corrected",
        finding="Equalized odds: true. Γ ≤ α < 1 on all laws, if all (x, a, y) occur: deterministic, only constants; "
        "but α·h (or 1 − α·(1 − h)) is α-fair everywhere, needs no data, and beats the constants where h does. "
        "δ > 0: h gets at most δ under exact fairness, up to 1 under a threshold many steps of ζ away, a constant near "
        "it. Fair within α ≥ 0 and accurate, always: for no δ < 1 once two deterministic h in H "
        "are not constant and (α > 0) not the group, (α = 0) select in each group. Weights: a factor max(1, w²).",
        chapter="cgkm-thm-1",
        check=cgkm_remarks.check,
        faults=cgkm_remarks.FAULTS,
    ),
    Claim(
        id="cgkm.utility-sensitivity",
        where="§ 4, between Algorithm 1 and Assumption 1",
        statement="Δu ≤ ΔΓ + Δerr ≤ max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1) + 1/n for u = Γ^Z + err^Z, by the "
        "triangle inequality.",
        verdict="corrected",
        finding="The triangle inequality holds, the printed bound fails with Lemma 2. Jointly u moves by at most "
        "max{(m + m′)/(m(m′ + 1)), 1/m + 1/n}, less than the sum for m ≥ 2: the largest moves of Γ leave err as it "
        "was. The moves of m·u are less than 5 apart, so that exp(−2ε·m·u/5) is (2ε, 0)-private without any noisy "
        "count.",
        statement_uses=("cgkm.definitions",),
        proof_uses=("cgkm.lemma-2",),
        chapter="cgkm-thm-2",
        check=cgkm_utility_sensitivity.check,
        faults=cgkm_utility_sensitivity.FAULTS,
    ),
)
