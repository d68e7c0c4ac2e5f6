"""Errata of MPBT, Differential Privacy has Bounded Impact on Fairness in Classification (2023)."""

from dpfair_lib.claims.ledger import Erratum

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        claim="mpbt.thm-3.1",
        where="Theorem 3.1, § 3.1, assumption",
        printed="E[L/|ρ(h′, X, Y)| | E] < ∞",
        correct="E[L/|ρ(h, X, Y)| | E] < ∞, as in Appendix B; the bound has h's margins (that of h′ holds too)",
    ),
    Erratum(
        claim="mpbt.thm-3.1",
        where="Appendix B, first sentence of the proof",
        printed="… ≤ P(L/|ρ(h, X, Y)| ≤ ‖h − h′‖ | E)",
        correct="… ≤ P(|ρ(h, X, Y)|/L ≤ ‖h − h′‖ | E), as at the end of the proof",
    ),
    Erratum(
        claim="mpbt.thm-3.2",
        where="Appendix C, restatement of the theorem",
        printed="E[1/|h(X)| | D_k′]",
        correct="E[L/|ρ(h, X, Y)| | D_k′], as in § 3.2",
    ),
    Erratum(
        claim="mpbt.lemma-3.4",
        where="Appendix D, first display of the proof",
        printed="χ̂_k(h′, D)‖h − h′‖",
        correct="χ̂_k(h, D)‖h − h′‖, as in the statement; Theorem 3.2 allows both",
    ),
    Erratum(
        claim="mpbt.lemma-3.4",
        where="§ 3.2, sketch of the proof",
        printed="|F_k(h′) − F̂_k(h)|, the two models exchanged against the statement",
        correct="|F_k(h) − F̂_k(h′)|",
    ),
    Erratum(
        claim="mpbt.lemma-4.1",
        where="Appendix E, before (11)",
        printed="the moment generating function of h_j − h*_j is given as (1 − 2tσ²)^(−1/2)",
        correct="that of (h_j − h*_j)²",
    ),
    Erratum(
        claim="mpbt.lemma-4.1",
        where="Appendix E, (12)",
        printed="a middle term exp(1/(2(1 − 1/p))), undefined for p = 1 and above exp(1/2) for p ≥ 2",
        correct="exp(1/(4(1 − 1/(2p)))), which is at most exp(1/2)",
    ),
    Erratum(
        claim="mpbt.lemma-4.1",
        where="Appendix E, (13)",
        printed="σ in the denominator of the exponent",
        correct="σ²",
    ),
    Erratum(
        claim="mpbt.sensitivity",
        where="Appendix E, after (15)",
        printed="the sum of the two inequalities has the factor μ/2",
        correct="μ, as (16) then uses",
    ),
    Erratum(
        claim="mpbt.sensitivity",
        where="Appendix E, (17)",
        printed="gradients vanish at minimisers over a convex set, and the two losses that differ enter "
        "without 1/n",
        correct="the variational inequality of a minimiser over a convex set, and the factor 1/n",
    ),
    Erratum(
        claim="mpbt.lemma-4.2",
        where="Lemma 4.2 and § 4.1 against Appendix F",
        printed="T² in the noise of the lemma, T in that of its proof, whose rate belongs to T",
        correct="neither is private for all T; the rate is that of T",
    ),
    Erratum(
        claim="mpbt.lemma-4.2",
        where="Appendix F, (30) and (31)",
        printed="2γ²σ² for the noise, too small for p ≥ 3; nor does (30) follow from (24), whose factor 2 it drops",
        correct="γ²pσ², from (20) with noise of mean 0 that is independent of the record; all else as printed",
    ),
    Erratum(
        claim="mpbt.lemma-4.2",
        where="Appendix F, (32)",
        printed="(1 − γμ)^(T − t) in the sum over t = 0 … T − 1, too small by a factor: at T = 1 (31) has 4γ²σ²",
        correct="(1 − γμ)^(T − 1 − t), of which (33) is a bound",
    ),
    Erratum(
        claim="mpbt.lemma-4.2",
        where="Appendix F, (37)",
        printed="G², which is not defined, without p and with one log(1/δ)",
        correct="pΛ² and log(1/δ)², as in the lemma",
    ),
    Erratum(
        claim="mpbt.thm-4.4",
        where="Theorem 4.4, both displays",
        printed="a factor L beside χ, which contains L",
        correct="no factor L",
    ),
    Erratum(
        claim="mpbt.thm-4.4",
        where="Theorem 4.4, second display",
        printed="the root of log(1/δ), where Lemma 4.2 has log(1/δ)² for the squared distance",
        correct="log(1/δ)",
    ),
    Erratum(
        claim="mpbt.g3-refined",
        where="Appendix G.3, fourth line of the chain",
        printed="x is projected on h_y − h′_y under the maximum over y′",
        correct="on h_y′ − h′_y′",
    ),
    Erratum(
        claim="mpbt.table-1",
        where="§ 5, first paragraph, and Table 1",
        printed="the problem is made 1-strongly convex",
        correct="with scikit-learn's C = n the modulus of the mean loss is 1/n²; C = 1/n has modulus 1",
    ),
    Erratum(
        claim="mpbt.table-1",
        where="Table 1, column Equalized Odds",
        printed="0.0975 for CelebA, grouped by the sensitive attribute alone",
        correct="0.0993 with the groups of Corollary 3.3, all else as run",
    ),
    Erratum(
        claim="mpbt.table-1",
        where="Table 1, training records of CelebA",
        printed="n = 182,339",
        correct="the digits belong to the first 182,338 of them",
    ),
    Erratum(
        claim="mpbt.figs-1-3",
        where="Appendix G.1, last paragraph",
        printed="ε up to 10 for both data sets",
        correct="up to 1 for folktables, as run",
    ),
)
