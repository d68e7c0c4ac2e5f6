"""Entries of the ledger: the thesis, chapter 5.

Classification Algorithms with Differential Privacy and Fairness Guarantees (2024).
"""

from dpfair_lib.claims.checks import (
    thesis_figs_5_1_5_10,
    thesis_front,
    thesis_grr_ldp,
    thesis_kamiran_calders_1,
    thesis_lemma_13,
    thesis_lemma_16,
    thesis_open_1,
    thesis_open_2,
    thesis_program_5_5_9,
    thesis_reduction_5_5_7,
    thesis_sentences,
    thesis_ss_equals_grr,
    thesis_ss_ldp,
    thesis_table_2_1,
    thesis_tables_5_1_5_4,
    thesis_thm_14,
    thesis_thm_14_hypotheses,
    thesis_thm_15,
    thesis_zeta_min,
)
from dpfair_lib.claims.ledger import Claim, Erratum

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="thesis.grr-ldp",
        where="thesis § 5.2.3",
        statement="Reporting the true value of k with probability e^ε/(e^ε + k − 1), "
        "and every other one with probability 1/(e^ε + k − 1), is an ε-LDP mechanism.",
        verdict="holds",
        finding="True for every k and ε ≥ 0, and no smaller ε would do (k ≥ 2). Among all ε-LDP channels on k values "
        "it has the largest sum of truth probabilities. Drawn from 32-bit words it is the same mechanism at an ε′ "
        "below ε by less than k·2^(−30), up to ε = 20.",
        chapter="local-randomisers",
        check=thesis_grr_ldp.check,
        faults=thesis_grr_ldp.FAULTS,
    ),
    Claim(
        id="thesis.ss-ldp",
        where="thesis § 5.2.3; rounding: § 5.1",
        statement="A set of ω values, holding the true one with probability ωe^ε/(ωe^ε + k − ω), "
        "filled uniformly, is ε-LDP; ω = k/(e^ε + 1), rounded to a positive integer, has least variance.",
        verdict="corrected",
        finding="The level is ε exactly for 1 ≤ ω < k. The size of least total variance is the least ω with "
        "ω(ω + 1)e^(2ε) ≥ (k − ω)(k − ω − 1): for ε > 0 the rounded one or the next larger. They differ first at "
        "k = 4, for e^ε between 5/3 and √3; the variance lost is a few per cent at most.",
        chapter="local-randomisers",
        check=thesis_ss_ldp.check,
        faults=thesis_ss_ldp.FAULTS,
    ),
    Claim(
        id="thesis.ss-equals-grr",
        where="thesis § 5.2.3 (end), § 5.7.2 (end)",
        statement="Subset selection with ω = 1 is generalised randomised response; "
        "for a binary attribute the two are the same mechanism at every ε.",
        statement_uses=("thesis.grr-ldp", "thesis.ss-ldp"),
        verdict="holds",
        finding="The two channels are equal, entry by entry. The printed size is 1, and SS therefore GRR, exactly for "
        "e^ε > 2k/3 − 1 (halves rounded up): for k = 2 always, for k = 5 from ε = 0.85 on, for k = 10 from 1.74 on.",
        chapter="local-randomisers",
        check=thesis_ss_equals_grr.check,
        faults=thesis_ss_equals_grr.FAULTS,
    ),
    Claim(
        id="thesis.lemma-13",
        where="thesis Lemma 13, § 5.3; proof App. B",
        statement="For binary Y and A of any size k, GRR on A never raises Δ′, "
        "the largest difference of P(Y = 1 | A = a) between two values: Δ′(D_GRR) ≤ Δ′(D).",
        statement_uses=("thesis.grr-ldp",),
        verdict="holds",
        finding="True in law for Δ and Δ′ and any channel. Sharper: every ε-LDP channel leaves at most the factor "
        "tanh(ε/2) of either, attained by randomised response on two equal groups; so finite ε makes it strict "
        "unless all rates agree. Not true of a data set in hand: its reports can show a larger difference than it had.",
        chapter="thesis-lemma-13",
        check=thesis_lemma_13.check,
        faults=thesis_lemma_13.FAULTS,
    ),
    Claim(
        id="thesis.thm-14",
        where="thesis Thm 14 and (5.4.2), § 5.4; proof App. B",
        statement="If P(Y=1|A=0) ≤ P(Y=1|A=1), the truth probabilities (p, q) of least Δ′ over "
        "LDP levels ≥ ε are (1 − e^(−ε)/2, ½) for P(A=0) < P(A=1) and (½, 1 − e^(−ε)/2) for P(A=1) < P(A=0).",
        verdict="corrected",
        finding="Fair coins are ε₀-LDP for every ε₀ ≥ ε and leave Δ′ = 0, so they win (5.4.2) as printed. True for "
        "p, q ≥ ½ and least level exactly ε or more; the order of the rates is not needed. But for ε > 0 plain "
        "randomised response of the same truth probability has less Δ′, less Δ and a smaller ε.",
        chapter="thesis-thm-14",
        check=thesis_thm_14.check,
        faults=thesis_thm_14.FAULTS,
    ),
    Claim(
        id="thesis.reduction-5.5.7",
        where="thesis (5.5.1), (5.5.5), (5.5.7), § 5.5",
        statement="If q_jj ≥ q_ij for all i, j, then ε-LDP, "
        "q_ij ≤ e^ε·q_i′j for all i ≠ i′ and j, is the same as q_jj ≤ e^ε·q_ij for all i, j.",
        verdict="holds",
        finding="True, and q_jj ≥ q_ij is what it needs: without it the short list does not imply privacy. "
        "P(Z = j) is at least (e^(−ε) + (1 − e^(−ε))p_j)/k, so that no denominator of Δ is 0 if P(Y = 1) > 0.",
        chapter="thesis-optimum",
        check=thesis_reduction_5_5_7.check,
        faults=thesis_reduction_5_5_7.FAULTS,
    ),
    Claim(
        id="thesis.program-5.5.9",
        where="thesis (5.5.8)–(5.5.9), § 5.5; § 6.2.2",
        statement="The truthful ε-LDP channel of error ≤ ζ with least Δ solves (5.5.9), a min–max "
        "linear fractional program in the off-diagonal entries: not convex, solved by branch and bound.",
        statement_uses=("thesis.reduction-5.5.7",),
        verdict="holds",
        finding="(5.5.9) is the program meant, and its objective is not convex. It is quasi-convex, though: linear "
        "programs solve it to any accuracy, with a proof, and branch and bound is not needed.",
        chapter="thesis-optimum",
        check=thesis_program_5_5_9.check,
        faults=thesis_program_5_5_9.FAULTS,
    ),
    Claim(
        id="thesis.zeta-min",
        where="thesis § 5.7.3",
        statement="Program (5.5.9) stays feasible down to a smallest error ζ; "
        "OPT for k > 2 is its solution at that ζ and the given ε.",
        statement_uses=("thesis.program-5.5.9",),
        verdict="holds",
        finding="ζ_min has a closed form and does not depend on Y. If every p_i > 1/(e^ε + k − 1), one channel attains "
        "it, GRR: OPT is GRR, and at large ε can differ only by a rounded ζ. For k = 2 it is GRR or tells the "
        "larger group truly with probability 1 − e^(−ε)/2; for ε > 0 it is never Theorem 14's channel.",
        chapter="thesis-front",
        check=thesis_zeta_min.check,
        faults=thesis_zeta_min.FAULTS,
    ),
    Claim(
        id="thesis.kamiran-calders-1",
        where="thesis App. B, proof of Thm 15 (Theorem 1 of Kamiran and Calders, 2012)",
        statement="Among classifiers with P(Ŷ = 1) = P(Y = 1), "
        "h is DA-optimal iff 1 − acc(h) = 2n₀n₁/(n₀ + n₁)² · (Δ_SP(perfect classifier) − Δ_SP(h)).",
        verdict="corrected",
        finding="With ≥ for = it holds for every such classifier and law of labels, and equality always makes h "
        "DA-optimal. The converse holds if any person can be given any label and Δ_SP has a sign, as where it is taken "
        "from, or h is randomised. For classifiers of features it can fail: with noisy labels, or the group unseen.",
        chapter="thesis-thm-15",
        check=thesis_kamiran_calders_1.check,
        faults=thesis_kamiran_calders_1.FAULTS,
    ),
    Claim(
        id="thesis.thm-15",
        where="thesis Thm 15, § 5.6; proof App. B",
        statement="If P and Q share the law of A, Δ′(P) ≤ Δ′(Q), and h_P, h_Q, DA-optimal "
        "among classifiers with P(Ŷ = 1) = P(Y = 1), are equally accurate, then Δ_SP(h_P) ≤ Δ_SP(h_Q).",
        proof_uses=("thesis.kamiran-calders-1",),
        verdict="corrected",
        finding="Fails with noisy labels (equal X, A, P(Y = 1)), and without noise for five people who can all be told "
        "apart: the optimum may go beyond parity. Equally accurate exchanges of people keep the order iff Δ′(P) = "
        "Δ′(Q) or their mean is at least (1 − acc)/(2w₀w₁). Randomised: all optima are exchanges up to parity iff one "
        "errs least and one closes the gap, as where (X, A) is seen and tells Y. No equally accurate classifier of X "
        "and a report is fairer to people than DA-optimal ones of (X, A); Theorem 14's channel changes the law of A.",
        chapter="thesis-thm-15",
        check=thesis_thm_15.check,
        faults=thesis_thm_15.FAULTS,
    ),
    Claim(
        id="thesis.lemma-16",
        where="thesis Lemma 16, App. B; used in § 5.2.1",
        statement="Δ ≤ c₁Δ′ and Δ′ ≤ c₂Δ with c₁ = 1/P(Y = 1) and c₂ = 2P(Y = 1), "
        "where Δ = max over a of |P(Y = 1 | A = a)/P(Y = 1) − 1|.",
        verdict="holds",
        finding="Both hold for P(Y = 1) > 0. c₂ is attained for every P(Y = 1) < 1 and every k ≥ 2. c₁ is the least "
        "constant that knows only P(Y = 1), but never attained (Δ′ > 0): with m the smallest share, "
        "Δ ≤ (1 − m)Δ′/P(Y = 1), with equality for two groups.",
        chapter="thesis-thm-15",
        check=thesis_lemma_16.check,
        faults=thesis_lemma_16.FAULTS,
    ),
    Claim(
        id="thesis.figs-5.1-5.10",
        where="thesis Figs 5.1–5.10, §§ 5.7.1–5.7.3",
        statement="On Adult and LSAC (LightGBM, A with k = 2, 5, 10), OPT, GRR and SS differ little "
        "from no LDP in accuracy and F1; OPT's Δ_SP and Δ_EO are the smallest, for k > 2 from some ε on.",
        statement_uses=(
            "thesis.grr-ldp",
            "thesis.ss-ldp",
            "thesis.thm-14",
            "thesis.program-5.5.9",
            "thesis.zeta-min",
        ),
        verdict="not-reproduced",
        finding="Accuracy and F1 hardly move. On Adult with two groups OPT's gaps are smaller, at large ε by 0.017 "
        "and 0.027. Half on LSAC comes out with a tuned classifier and signed differences, not with absolute ones. For "
        "k = 5 and 10 OPT at ζ_min is GRR, to the digit, from ε = 8 on. Nowhere is OPT seen below leaving A out.",
        chapter="thesis-figures",
        check=thesis_figs_5_1_5_10.check,
        faults=thesis_figs_5_1_5_10.FAULTS,
    ),
    Claim(
        id="thesis.tables-5.1-5.4",
        where="thesis Tables 5.1–5.4, § 5.7.4",
        statement="At equal parity or mean equalised-odds gap, OPT (ε = 0.2, 1, 4) is at least as accurate "
        "as Fair Projection (KL, CE): COMPAS 0.6798 to 0.6804, Adult 0.8609 to 0.8611; and much faster.",
        statement_uses=("thesis.thm-14",),
        verdict="not-reproduced",
        finding="Non-Fair comes out again, and OPT as Theorem 14's channel on the training rows. Fair Projection, "
        "solved exactly, mostly loses less accuracy than printed. At equal gaps OPT is nowhere seen ahead in a "
        "hundred trials; on COMPAS it is behind by about 0.001 in 2 of 12 comparisons. OPT takes less time, but a "
        "projection takes milliseconds.",
        chapter="thesis-fair-projection",
        check=thesis_tables_5_1_5_4.check,
        faults=thesis_tables_5_1_5_4.FAULTS,
    ),
    Claim(
        id="thesis.thm-14.hypotheses",
        where="thesis § 5.2.1 (end), § 5.4, App. B (proof of Thm 14, step 1)",
        statement="Non-trivial utility requires p, q ≥ ½, so that Theorem 14 loses nothing by it; "
        "and Δ could stand for Δ′, the two being the same up to constants.",
        statement_uses=("thesis.thm-14", "thesis.lemma-16"),
        verdict="corrected",
        finding="Channels with p < ½ can be fairer at level ε and more truthful than Theorem 14's. Without p, q ≥ ½ "
        "the infimum of Δ′ falls by the factor (1 + mu)/2, m the smaller share, u = 1 − e^(−ε), and none attains it. "
        "For Δ nothing is lost, but a whole edge of channels is optimal: the printed is the least truthful of them.",
        chapter="thesis-thm-14",
        check=thesis_thm_14_hypotheses.check,
        faults=thesis_thm_14_hypotheses.FAULTS,
    ),
    Claim(
        id="thesis.front",
        where="thesis (5.5.6) and the remark after it, § 5.5",
        statement="The error budget ζ trades data fairness for utility: "
        "without it the optimum may reach Δ = 0, but only at poor utility.",
        statement_uses=("thesis.program-5.5.9",),
        verdict="corrected",
        finding="Right for k = 2: Δ = 0 only at chance, and the front has a closed form. For k ≥ 3 and ε > 0 utility "
        "need not fall to chance: Δ = 0 with every group told truly with probability 1/(2 + (k − 2)e^(−ε)) > 1/k; "
        "the least budget for it is one linear program.",
        chapter="thesis-front",
        check=thesis_front.check,
        faults=thesis_front.FAULTS,
    ),
    Claim(
        id="thesis.table-2.1",
        where="thesis Table 2.1, §§ 2.3–2.4; ISIT Table I, § I",
        statement="Of 14 methods only Algorithm 2 serves any model, has guarantees and covers all features; "
        "DP-FERMI lacks guarantees, the post-processing of Jagielski et al. covers A only.",
        statement_uses=(
            "isit.thm-3.privacy",
            "isit.thm-3.fairness",
            "isit.thm-3.utility",
            "sk.jagielski-baseline",
        ),
        verdict="corrected",
        finding="Three rows judged. Algorithm 2: any classifier of two groups, through its rates; a bound, void for "
        "small groups; all features if divisors are fixed and h* is private. Post-processed noisy cells then cover all "
        "too; with a bare h* of x alone, either covers A only: that ✗ is of the input. DP-FERMI: models with "
        "gradients; at fixed λ a gap stays.",
        chapter="thesis-table-2-1",
        check=thesis_table_2_1.check,
        faults=thesis_table_2_1.FAULTS,
    ),
    Claim(
        id="thesis.sentences",
        where="thesis §§ 1.2.2, 5.7.2–5.7.4, 6.1",
        statement="OPT costs next to no utility and beats GRR and SS in fairness (large ε, k = 2: "
        "LSAC gaps about halved, Adult ≥ 2 % lower); it matches or beats Fair Projection, far faster.",
        statement_uses=("thesis.figs-5.1-5.10", "thesis.tables-5.1-5.4"),
        verdict="corrected",
        finding="Borne out for utility. For fairness on Adult with two groups, from moderate ε on; by 2 points in one "
        "gap of two. On LSAC only if differences are signed and the classifier tuned. For more groups no lead over "
        "GRR, unless ζ is rounded up to tenths. OPT is never seen ahead of Fair Projection, or of leaving A out.",
        chapter="thesis-figures",
        check=thesis_sentences.check,
        faults=thesis_sentences.FAULTS,
    ),
    Claim(
        id="thesis.open-1",
        where="thesis § 6.2.1",
        statement="Left open: the least parity gap, in terms of ε and δ, of an "
        "(ε, δ)-DP classifier with non-trivial utility; the thesis has only the upper bound of Theorem 8.",
        statement_uses=("isit.thm-3.privacy", "isit.thm-3.fairness"),
        verdict="holds",
        finding="Answered up to a constant. On one population no bound exists. Over populations, classifiers that "
        "answer to a feature with response κ have a worst expected gap of order κ·min(1, 1/√n + 1/(n(ε + δ))), known "
        "up to a factor of 12; n counts the group of unknown rate. Algorithm 2 (κ ≥ ½) has this rate in n and ε. With "
        "Adult's rows the bound at ε′ = 3 and 9 is that of sampling alone.",
        chapter="thesis-open-1",
        check=thesis_open_1.check,
        faults=thesis_open_1.FAULTS,
    ),
    Claim(
        id="thesis.open-2",
        where="thesis § 6.2.2",
        statement="Left open: does program (5.5.9) have, "
        "for k > 2, a closed-form solution as for k = 2, or an equivalent convex program?",
        statement_uses=("thesis.thm-14", "thesis.program-5.5.9"),
        verdict="holds",
        finding="Answered. Δ ≤ t is linear in the channel, as |N_a| ≤ t·D_a with D_a > 0: a quasi-convex program, "
        "solved by linear programs in polynomial time. No formula rational in the data exists: p = (1/2, 1/3, 1/6), "
        "rates 0, 1/2, 1, e^ε = 2, ζ = 1/2 give (√13 − 1)/12.",
        chapter="thesis-optimum",
        check=thesis_open_2.check,
        faults=thesis_open_2.FAULTS,
    ),
)

ERRATA: tuple[Erratum, ...] = (
    Erratum(
        claim="thesis.thm-14",
        where="thesis Theorem 14, § 5.4",
        printed="p and q are free; the case P(A=0) = P(A=1) is left out",
        correct="p, q ≥ ½ and a level of exactly ε or more, as in the proof; at equal shares both channels are optimal",
    ),
    Erratum(
        claim="thesis.lemma-16",
        where="thesis App. B, Lemma 16, first part",
        printed="the step to Δ′ follows from min P(Y=1|A=a) ≤ P(Y=1)",
        correct="it needs min P(Y=1|A=a) ≤ P(Y=1) ≤ max P(Y=1|A=a)",
    ),
    Erratum(
        claim="thesis.thm-15",
        where="thesis Theorem 15, § 5.6",
        printed="one class H*, of the classifiers with P(Ŷ = 1) = P(Y = 1), for P and for Q",
        correct="a class of its own for either, as P(Y = 1) may differ",
    ),
    Erratum(
        claim="thesis.thm-15",
        where="thesis App. B, proof of Theorem 15, the two equations for 1 − acc",
        printed="they hold for h_P and h_Q since both are DA-optimal",
        correct="the equation is for a discrimination with a sign; beyond parity Δ_SP = (1 − acc)/c − Δ′",
    ),
)
