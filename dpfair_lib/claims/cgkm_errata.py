"""Errata of CGKM, On the Compatibility of Privacy and Fairness (2019)."""

from dpfair_lib.claims.ledger import Erratum

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        claim="cgkm.alg-2",
        where="Algorithm 2, initialisation, first and last line of the loop",
        printed="h¹ is initialised, hᵗ is played, ⟨ℓᵗ, dᵗ⟩ is suffered and d^(t + 1) is updated",
        correct="one name for the play of round t",
    ),
    Erratum(
        claim="cgkm.hoeffding",
        where="Theorem 7, Appendix B",
        printed="variables X₁, …, X_d, of which the sum is divided by n",
        correct="X₁, …, Xₙ",
    ),
    Erratum(
        claim="cgkm.ftpl-regret",
        where="Theorem 8, Appendix C.1",
        printed="no condition on ε but ε ∈ (0, 1) in Algorithm 2, whose first play is arbitrary",
        correct="Aε at most ln 2, and a first play that follows the noise alone",
    ),
    Erratum(
        claim="cgkm.lemma-4",
        where="Lemma 4, Appendix C.1; likewise ε′ in Algorithm 3, in Lemma 5 and its proof",
        printed="ε′ = ε/(max_t Δfᵗ·√(T ln(1/δ))), by Theorem 6",
        correct="Theorem 6 gives √(8T ln(1/δ)), and only for losses that are noised once each",
    ),
    Erratum(
        claim="cgkm.lemma-5",
        where="Lemma 5, proof, Appendix C.2",
        printed="Theorem 8 with A = (1 + C)/n, where (1 + C)/n is the largest entry of the loss vector",
        correct="A bounds the sum of the absolute entries: 1 + C/2 will do, and (1 + C)/n will not",
    ),
    Erratum(
        claim="cgkm.lemma-5",
        where="Lemma 5, proof, Appendix C.2",
        printed="the least cost of an example is −1/n",
        correct="for a label 0 in a subgroup it can be down to, not including, (1 − C)/n",
    ),
    Erratum(
        claim="cgkm.lemma-5",
        where="Lemma 5, first term",
        printed="ε·OPT/√(mT ln(1/δ))",
        correct="with the printed A and ε′, 2Aε′·OPT is 2(1 + C)/(2 + C) times that, close to twice",
    ),
    Erratum(
        claim="cgkm.definitions",
        where="§ 2.2, after Definition 4",
        printed="equality of false negatives, because it requires that the false positive rates be equal",
        correct="because it requires that the false negative rates be equal",
    ),
    Erratum(
        claim="cgkm.thm-1.proof",
        where="Theorem 1, proof, last display on γ",
        printed="γ₁₀ = ¼ − ζ and γ₁₁ = ¼ + ζ on D′",
        correct="those are P₁₀ and P₁₁; γ₁₀ = h(z₁) and γ₁₁ = h(z₃), as on D",
    ),
    Erratum(
        claim="cgkm.thm-1.asides",
        where="Theorem 1, proof, after D",
        printed="x, a and y are all independent",
        correct="a and y are; x tells both if x₀, …, x₃ differ",
    ),
    Erratum(
        claim="cgkm.alg-1",
        where="Algorithm 1, third and fourth line; also the footing of Theorem 2",
        printed="Δ = 2/(M − 1) + 1/n for every M that the Laplace noise gives, M ≤ 1 included",
        correct="M raised to at least 1 and Δ = max(2/(M + 1), 1/M + 1/n)",
    ),
    Erratum(
        claim="cgkm.lemma-2",
        where="Lemma 2, § 4 and Appendix B",
        printed="ΔΓ = max_a 2/(|Z₁ₐ| − ln(1/δ)/ε − 1)",
        correct="ΔΓ ≤ max_a 2/(|Z₁ₐ| − 1), which its proof shows; the term with ε and δ belongs to the noisy count",
    ),
    Erratum(
        claim="cgkm.lemma-3",
        where="Lemma 3, Appendix B",
        printed="16·exp(¼ρ²n·min P_ya) = δ",
        correct="16·exp(−¼ρ²n·min P_ya)",
    ),
    Erratum(
        claim="cgkm.lemma-1",
        where="Theorem 2, proof, where u(D, h) is introduced",
        printed="Γ^Z(h) + err(h)",
        correct="Γ(h) + err(h)",
    ),
    Erratum(
        claim="cgkm.thm-2.privacy",
        where="Theorem 2, proof, before the display on Pr[M > min_a |Z₁ₐ|]",
        printed="M is at least |Z₁ₐ| with probability δ; the display bounds it by δ",
        correct="M exceeds min_a |Z₁ₐ| with probability δ/2, exactly",
    ),
    Erratum(
        claim="cgkm.thm-2.accuracy",
        where="Theorem 2, proof, first line of the bound on Pr[E]",
        printed="an h with u(Z, h) > OPT + α",
        correct="u(D, h) > OPT + α, as E was defined",
    ),
    Erratum(
        claim="cgkm.thm-2.sample-size",
        where="Theorem 2 and its proof",
        printed="ln(1/δ)/ε < kn/2 if and only if n > 2/(kε)²",
        correct="n > 4/(kε)²",
    ),
    Erratum(
        claim="cgkm.thm-2.sample-size",
        where="Theorem 2, proof, the displays after Lemma 2, a and b being the two exponentials",
        printed="β ≥ |H|(18a + b) + δ ≥ |H|(19·max(a, b) + δ) ≥ 20|H|·max(a, b, δ/|H|); likewise, in logarithms, "
        "when Δu is replaced by its bound",
        correct="|H|(18a + b) + δ ≤ 19|H|·max(a, b) + δ ≤ 20|H|·max(a, b, δ/|H|), and with the bound more: "
        "a β of at least the last is enough",
    ),
    Erratum(
        claim="cgkm.thm-2.sample-size",
        where="Theorem 2 and the last display of its proof, third inner term",
        printed="(√n + ln|H|)/n",
        correct="n/(√n + ln|H|), without the factor 144",
    ),
    Erratum(
        claim="cgkm.thm-2.sample-size",
        where="last display of the proof of Theorem 2, second inner term; right in the theorem",
        printed="2n/((|Z₁ₐ| − ln(1/δ)/ε − 1) + 1) + 1",
        correct="2n/(|Z₁ₐ| − 2·ln(1/δ)/ε − 1) + 1, the shift being taken off twice",
    ),
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
    Erratum(
        claim="cgkm.thm-3",
        where="Appendix C.2, proof of Theorem 3, γ_A and η",
        printed="ln(2T/δ) and ln(2/δ), with the δ of privacy, in bounds that fail with probability β/2",
        correct="ln(2T/β) and ln(2/β), as in m",
    ),
)
