(** Thesis, Theorem 14: the binary channel that leaves the least unfairness at level ε, and what is better.

    [w] is the share of group 0, [x] is e^(-ε); group 0 tells the truth with chance [p], group 1 with [q]. *)

From Checked Require Import Base.Numbers Privacy.Channels Thesis.Lemma13.

(** P(Z = 0). *)
Definition reported_0 (w p q : Q) : Q := w * p + (1 - w) * (1 - q).

(** [dpfair_lib.local.binary.unfairness_ratio]: Δ′ and Δ of the reports over those of the values. *)
Definition difference_ratio (w p q : Q) : Q :=
  Qabs (p + q - 1) * w * (1 - w) / (reported_0 w p q * (1 - reported_0 w p q)).
Definition deviation_ratio (w p q : Q) : Q :=
  Qabs (p + q - 1) * Qmin w (1 - w) / Qmin (reported_0 w p q) (1 - reported_0 w p q).

(** [dpfair_lib.local.binary.optimal_truths]: the smaller group tells the truth with 1 - x/2. *)
Definition optimal_truths (w x : Q) : Q * Q :=
  if Qle_bool w (1#2) then (1 - x / 2, 1#2) else (1#2, 1 - x / 2).

(** The channel's least level is at least ε, and it is ε-private. *)
Definition level_at_least (x p q : Q) : Prop := 1 - q <= x * p \/ 1 - p <= x * q.
Definition private (x p q : Q) : Prop := x * p <= 1 - q /\ x * q <= 1 - p /\ x * (1 - q) <= p /\ x * (1 - p) <= q.

(** The chance of group 0 after the report 0, less that after the report 1. *)
Definition split (w p q : Q) : Q := w * p / reported_0 w p q - w * (1 - p) / (1 - reported_0 w p q).

Lemma ratio_is_split w p q : 0 < w < 1 -> 0 < reported_0 w p q < 1 -> 1 <= p + q ->
  difference_ratio w p q == split w p q.
Proof.
  intros W R H. unfold difference_ratio, split. rewrite Qabs_pos by lra. unfold reported_0 in *. field. lra.
Qed.

Definition corner (w x : Q) : Q := w / (w + (1 - w) * x) - w / (w + (1 - w) * (2 - x)).

Lemma below_corner w x p q : 0 < w < 1 -> 0 < x <= 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 ->
  1 - q <= x * p -> corner w x <= split w p q.
Proof.
  intros W X P Q H. unfold corner, split, reported_0.
  assert (A : w / (w + (1 - w) * x) <= w * p / (w * p + (1 - w) * (1 - q))).
  { apply le_div; [nra|]. apply (Qmult_le_r _ _ (w + (1 - w) * x)); [nra|].
    assert (E : w / (w + (1 - w) * x) * (w * p + (1 - w) * (1 - q)) * (w + (1 - w) * x)
                == w * (w * p + (1 - w) * (1 - q))) by (field; nra).
    rewrite E. assert (K : 0 <= w * (1 - w)) by nra.
    pose proof (scaled _ _ _ K H). lra. }
  assert (B : w * (1 - p) / (1 - (w * p + (1 - w) * (1 - q))) <= w / (w + (1 - w) * (2 - x))).
  { apply div_le; [nra|]. apply (Qmult_le_r _ _ (w + (1 - w) * (2 - x))); [nra|].
    assert (E : w / (w + (1 - w) * (2 - x)) * (1 - (w * p + (1 - w) * (1 - q))) * (w + (1 - w) * (2 - x))
                == w * (1 - (w * p + (1 - w) * (1 - q)))) by (field; nra).
    rewrite E. assert (K : 0 <= w * (1 - w)) by nra.
    assert (G : (1 - p) * (2 - x) <= q) by nra. pose proof (scaled _ _ _ K G). lra. }
  lra.
Qed.

Lemma split_swapped w p q : 0 < reported_0 w p q < 1 -> split (1 - w) q p == split w p q.
Proof. intros R. unfold split, reported_0 in *. field. lra. Qed.

Lemma reports_inside w p q : 0 < w < 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 -> 0 < reported_0 w p q < 1.
Proof. intros W P Q. unfold reported_0. split; nra. Qed.

Lemma corners_in_order w x : 0 < w <= (1#2) -> 0 < x <= 1 -> corner (1 - w) x <= corner w x.
Proof.
  intros W X. unfold corner.
  assert (A : 0 < w + (1 - w) * x) by nra. assert (B : 0 < w + (1 - w) * (2 - x)) by nra.
  assert (C : 0 < (1 - w) + w * x) by nra. assert (D : 0 < (1 - w) + w * (2 - x)) by nra.
  assert (E : w / (w + (1 - w) * x) - w / (w + (1 - w) * (2 - x))
              == 2 * w * (1 - w) * (1 - x) / ((w + (1 - w) * x) * (w + (1 - w) * (2 - x)))) by (field; lra).
  assert (F : (1 - w) / (1 - w + (1 - (1 - w)) * x) - (1 - w) / (1 - w + (1 - (1 - w)) * (2 - x))
              == 2 * w * (1 - w) * (1 - x) / (((1 - w) + w * x) * ((1 - w) + w * (2 - x)))) by (field; lra).
  rewrite E, F. clear E F. pose proof (mul_pos _ _ A B) as AB. pose proof (mul_pos _ _ C D) as CD.
  assert (N : 0 <= 2 * w * (1 - w) * (1 - x)) by (repeat apply mul_nonneg; lra).
  assert (L : (w + (1 - w) * x) * (w + (1 - w) * (2 - x)) <= ((1 - w) + w * x) * ((1 - w) + w * (2 - x))).
  { assert (G : ((1 - w) + w * x) * ((1 - w) + w * (2 - x)) - (w + (1 - w) * x) * (w + (1 - w) * (2 - x))
                == (1 - 2 * w) * ((1 - x) * (1 - x))) by ring.
    assert (0 <= (1 - 2 * w) * ((1 - x) * (1 - x))) by (apply mul_nonneg; [lra | apply square_nonneg]). lra. }
  apply div_le; [assumption|]. apply (Qmult_le_r _ _ ((w + (1 - w) * x) * (w + (1 - w) * (2 - x)))); [assumption|].
  set (n := 2 * w * (1 - w) * (1 - x)) in *. set (ab := (w + (1 - w) * x) * (w + (1 - w) * (2 - x))) in *.
  set (cd := ((1 - w) + w * x) * ((1 - w) + w * (2 - x))) in *.
  assert (E : n / ab * cd * ab == n * cd) by (field; lra). rewrite E. now apply scaled.
Qed.

(** The repaired theorem: among channels with p, q at least ½ whose level is ε or more, no other Δ′ is less. *)
Definition least_difference (truths : Q -> Q -> Q * Q) : Prop :=
  forall w x p q, 0 < w < 1 -> 0 < x <= 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 -> level_at_least x p q ->
  difference_ratio w (fst (truths w x)) (snd (truths w x)) <= difference_ratio w p q.

Lemma optimum_is_corner w x : 0 < w <= (1#2) -> 0 < x <= 1 ->
  difference_ratio w (1 - x / 2) (1#2) == corner (1 - w) x.
Proof.
  intros W X. assert (H : 0 <= x / 2 <= 1#2) by (split; [apply le_div | apply div_le]; lra).
  rewrite ratio_is_split; [|lra|apply reports_inside; lra|lra].
  unfold split, corner, reported_0. field. repeat split; nra.
Qed.

Lemma ratio_swapped w p q : difference_ratio w p q == difference_ratio (1 - w) q p.
Proof.
  unfold difference_ratio. assert (E : reported_0 (1 - w) q p == 1 - reported_0 w p q) by (unfold reported_0; ring).
  rewrite E. setoid_replace (q + p - 1) with (p + q - 1) by ring.
  setoid_replace (1 - (1 - reported_0 w p q)) with (reported_0 w p q) by ring.
  setoid_replace (1 - (1 - w)) with w by ring.
  unfold Qdiv. rewrite (Qmult_comm (1 - reported_0 w p q)). ring.
Qed.

Lemma least_for_the_smaller w x p q : 0 < w <= (1#2) -> 0 < x <= 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 ->
  level_at_least x p q -> difference_ratio w (1 - x / 2) (1#2) <= difference_ratio w p q.
Proof.
  intros W X P Q L. pose proof (reports_inside w p q ltac:(lra) P Q) as R.
  rewrite optimum_is_corner, (ratio_is_split w p q) by lra.
  destruct L as [L|L].
  - apply Qle_trans with (corner w x); [now apply corners_in_order | apply below_corner; lra].
  - rewrite <- (split_swapped w p q R). apply below_corner; lra.
Qed.

Theorem theorem_14_repaired : least_difference optimal_truths.
Proof.
  intros w x p q W X P Q L. unfold optimal_truths. destruct (Qle_bool w (1#2)) eqn:E; cbn [fst snd].
  - apply Qle_bool_iff in E. now apply least_for_the_smaller.
  - assert (H : (1#2) < w).
    { destruct (Qlt_le_dec (1#2) w) as [?|K]; [assumption|]. apply Qle_bool_iff in K. congruence. }
    rewrite (ratio_swapped w (1#2)), (ratio_swapped w p q).
    apply least_for_the_smaller; try lra. destruct L; [right|left]; assumption.
Qed.

(** ** The printed channel is admitted, and no other one is as good *)

(** Its truths lie in [½, 1], its level is at least ε, and it is ε-private: its level is ε itself. *)
Definition admitted_at_level (truths : Q -> Q -> Q * Q) : Prop :=
  forall w x, 0 < w < 1 -> 0 < x <= 1 -> let p := fst (truths w x) in let q := snd (truths w x) in
  (1#2) <= p <= 1 /\ (1#2) <= q <= 1 /\ level_at_least x p q /\ private x p q.

Theorem theorem_14_admitted : admitted_at_level optimal_truths.
Proof.
  intros w x W X. assert (H : x / 2 == (1#2) * x) by field. pose proof (square_nonneg (1 - x)) as S. assert (x * x <= 1) by nra.
  unfold optimal_truths. destruct (Qle_bool w (1#2)); cbn [fst snd]; cbv zeta; unfold level_at_least, private;
    rewrite H; splits; try lra; solve [right; lra | left; lra].
Qed.

(** Two fractions that are not negative, and whose sum is at most 0. *)
Lemma both_vanish u v d e : 0 <= u -> 0 <= v -> 0 < d -> 0 < e -> u / d + v / e <= 0 -> u == 0 /\ v == 0.
Proof.
  intros U V D E H. pose proof (div_nonneg u d D U) as A. pose proof (div_nonneg v e E V) as B. split.
  - destruct (Qlt_le_dec 0 u) as [P|P]; [|lra]. pose proof (div_pos u d D P). lra.
  - destruct (Qlt_le_dec 0 v) as [P|P]; [|lra]. pose proof (div_pos v e E P). lra.
Qed.

Lemma only_corner w x p q : 0 < w < 1 -> 0 < x <= 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 -> 1 - q <= x * p ->
  split w p q <= corner w x -> p == 1#2 /\ q == 1 - x / 2.
Proof.
  intros W X P Q H L. destruct (reports_inside w p q W P Q) as [R0 R1]. unfold reported_0 in R0, R1.
  assert (C0 : 0 < w + (1 - w) * x) by nra. assert (C1 : 0 < w + (1 - w) * (2 - x)) by nra.
  assert (K : 0 < w * (1 - w)) by (apply mul_pos; lra). assert (G : (1 - p) * (2 - x) <= q) by nra.
  assert (E : split w p q - corner w x ==
    w * (1 - w) * (x * p - (1 - q)) / ((w * p + (1 - w) * (1 - q)) * (w + (1 - w) * x)) +
    w * (1 - w) * (q - (1 - p) * (2 - x)) / ((1 - (w * p + (1 - w) * (1 - q))) * (w + (1 - w) * (2 - x)))).
  { unfold split, corner, reported_0. field. repeat split; lra. }
  destruct (both_vanish (w * (1 - w) * (x * p - (1 - q))) (w * (1 - w) * (q - (1 - p) * (2 - x)))
    ((w * p + (1 - w) * (1 - q)) * (w + (1 - w) * x)) ((1 - (w * p + (1 - w) * (1 - q))) * (w + (1 - w) * (2 - x))))
    as [U V]; [apply mul_nonneg; lra | apply mul_nonneg; lra | apply mul_pos; lra | apply mul_pos; lra | lra |].
  clear E L. assert (A : x * p == 1 - q) by nra. assert (B : q == (1 - p) * (2 - x)) by nra.
  assert (Z : (1 - x) * (2 * p - 1) == 0) by nra.
  assert (Hx : x / 2 == (1#2) * x) by field. rewrite Hx.
  destruct (Qlt_le_dec x 1) as [Lx|Lx]; [split; nra | assert (x == 1) by lra; split; nra].
Qed.

(** Which channels with p, q at least ½ and a level of at least ε have no more Δ′ than the printed one. *)
Definition least_only (which : Q -> Q -> Q -> Q -> Prop) : Prop :=
  forall w x p q, 0 < w < 1 -> 0 < x <= 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 -> level_at_least x p q ->
  (difference_ratio w p q <= difference_ratio w (fst (optimal_truths w x)) (snd (optimal_truths w x)) <-> which w x p q).

(** The printed one alone; for groups of one size also the same with the groups exchanged. *)
Definition printed_only (w x p q : Q) : Prop :=
  (w <= (1#2) /\ p == 1 - x / 2 /\ q == 1#2) \/ ((1#2) <= w /\ p == 1#2 /\ q == 1 - x / 2).

Lemma ratio_ext w p q p' q' : p == p' -> q == q' -> difference_ratio w p q == difference_ratio w p' q'.
Proof. intros P Q. unfold difference_ratio, reported_0. rewrite P, Q. reflexivity. Qed.

Lemma corners_apart w x : 0 < w <= (1#2) -> 0 < x <= 1 -> corner w x <= corner (1 - w) x -> w == 1#2 \/ x == 1.
Proof.
  intros W X L.
  assert (A : 0 < w + (1 - w) * x) by nra. assert (B : 0 < w + (1 - w) * (2 - x)) by nra.
  assert (C : 0 < (1 - w) + w * x) by nra. assert (D : 0 < (1 - w) + w * (2 - x)) by nra.
  set (n := 2 * w * (1 - w) * (1 - x)).
  assert (E : corner w x - corner (1 - w) x ==
    n * ((1 - 2 * w) * ((1 - x) * (1 - x))) / ((w + (1 - w) * x) * (w + (1 - w) * (2 - x)) * (((1 - w) + w * x) * ((1 - w) + w * (2 - x))))).
  { unfold corner, n. field. repeat split; lra. }
  destruct (Qlt_le_dec w (1#2)) as [Lw|Lw]; [|left; lra]. destruct (Qlt_le_dec x 1) as [Lx|Lx]; [|right; lra].
  exfalso.
  assert (N : 0 < n) by (unfold n; repeat apply mul_pos; lra).
  pose proof (div_pos (n * ((1 - 2 * w) * ((1 - x) * (1 - x))))
    ((w + (1 - w) * x) * (w + (1 - w) * (2 - x)) * (((1 - w) + w * x) * ((1 - w) + w * (2 - x))))
    ltac:(repeat apply mul_pos; assumption) ltac:(repeat apply mul_pos; lra)). lra.
Qed.

Lemma only_for_the_smaller w x p q : 0 < w <= (1#2) -> 0 < x <= 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 ->
  level_at_least x p q -> difference_ratio w p q <= difference_ratio w (1 - x / 2) (1#2) -> printed_only w x p q.
Proof.
  intros W X P Q L H. pose proof (reports_inside w p q ltac:(lra) P Q) as R. unfold printed_only.
  rewrite optimum_is_corner, (ratio_is_split w p q) in H by lra. destruct L as [L|L].
  - pose proof (corners_in_order w x W X). pose proof (below_corner w x p q ltac:(lra) X P Q L).
    destruct (only_corner w x p q ltac:(lra) X P Q L ltac:(lra)) as [U V].
    destruct (corners_apart w x W X ltac:(lra)) as [Z|Z]; [right; splits; lra | left; rewrite Z in *].
    assert (Hx : 1 / 2 == 1#2) by field. rewrite Hx in *. splits; lra.
  - left. rewrite <- (split_swapped w p q R) in H.
    destruct (only_corner (1 - w) x q p ltac:(lra) X Q P L H) as [U V]. splits; lra.
Qed.

Theorem theorem_14_only : least_only printed_only.
Proof.
  intros w x p q W X P Q L. unfold optimal_truths. destruct (Qle_bool w (1#2)) eqn:E; cbn [fst snd].
  - apply Qle_bool_iff in E. split; [apply only_for_the_smaller; lra || assumption|].
    intros [(_ & U & V)|(F & U & V)].
    + rewrite (ratio_ext w p q _ _ U V). apply Qle_refl.
    + rewrite (ratio_swapped w p q), (ratio_ext (1 - w) q p _ _ V U). assert (Z : w == 1#2) by lra.
      unfold difference_ratio, reported_0. rewrite Z. apply Qle_refl.
  - assert (H : (1#2) < w).
    { destruct (Qlt_le_dec (1#2) w) as [?|K]; [assumption|]. apply Qle_bool_iff in K. congruence. }
    rewrite (ratio_swapped w (1#2)), (ratio_swapped w p q). split; intros K.
    + destruct (only_for_the_smaller (1 - w) x q p ltac:(lra) X Q P ltac:(destruct L; [right|left]; assumption) K)
        as [(_ & U & V)|(F & U & V)]; [right; splits; lra | lra].
    + destruct K as [(F & _)|(_ & U & V)]; [lra|]. rewrite (ratio_ext (1 - w) q p _ _ V U). apply Qle_refl.
Qed.

(** ** The two ratios are those of Lemma 13's Δ′ and Δ: reports over values, for all rates of both groups *)

Definition binary (p q : Q) (i : nat) : nat -> Q := match i with 0%nat => two p (1 - p) | _ => two (1 - q) q end.

Definition ratios_of_reports (of_difference of_deviation : Q -> Q -> Q -> Q) : Prop :=
  forall w p q r0 r1, 0 < w < 1 -> 0 < reported_0 w p q < 1 ->
  let s := two w (1 - w) in let r := two r0 r1 in let after := reported 2 s r (binary p q) in let mean := overall 2 s r in
  difference 1 after == of_difference w p q * difference 1 r /\
  (0 < mean -> deviation 1 after mean == of_deviation w p q * deviation 1 r mean).

Theorem ratios_are_lemma_13 : ratios_of_reports difference_ratio deviation_ratio.
Proof.
  intros w p q r0 r1 W R s r after mean.
  assert (S0 : share 2 s (binary p q) 0 == reported_0 w p q) by (unfold share, s, reported_0; cbn; ring).
  assert (S1 : share 2 s (binary p q) 1 == 1 - reported_0 w p q) by (unfold share, s, reported_0; cbn; ring).
  set (z := reported_0 w p q) in *.
  assert (A0 : after 0%nat == (w * p * r0 + (1 - w) * (1 - q) * r1) / z) by (unfold after, reported; rewrite S0; unfold s, r; cbn; field; lra).
  assert (A1 : after 1%nat == (w * (1 - p) * r0 + (1 - w) * q * r1) / (1 - z)) by (unfold after, reported; rewrite S1; unfold s, r; cbn; field; lra).
  assert (Ez : z == w * p + (1 - w) * (1 - q)) by reflexivity.
  assert (Gap : after 0%nat - after 1%nat == (p + q - 1) * (w * (1 - w) / (z * (1 - z))) * (r0 - r1)).
  { rewrite A0, A1. unfold z, reported_0 in *. field. lra. }
  assert (Z : 0 < z * (1 - z)) by (apply mul_pos; lra).
  assert (K : 0 <= w * (1 - w) / (z * (1 - z))) by (apply div_nonneg; [assumption | apply mul_nonneg; lra]).
  assert (Gabs : Qabs (after 0%nat - after 1%nat) == Qabs (p + q - 1) * (w * (1 - w) / (z * (1 - z))) * Qabs (r0 - r1))
    by (rewrite Gap, !Qabs_Qmult, (Qabs_pos (w * (1 - w) / (z * (1 - z)))) by assumption; reflexivity).
  assert (M : mean == w * r0 + (1 - w) * r1) by (unfold mean, overall, s, r; cbn; ring). split.
  - rewrite !difference_of_two, Gabs. change (r 0%nat) with r0. change (r 1%nat) with r1.
    unfold difference_ratio. fold z. field. lra.
  - intros Mp. rewrite (deviation_of_two after z mean) by (try assumption; rewrite M, A0, A1; field; lra).
    rewrite (deviation_of_two r w mean) by (try assumption; rewrite M; reflexivity).
    rewrite Gabs. change (r 0%nat) with r0. change (r 1%nat) with r1. unfold deviation_ratio. fold z.
    set (g := Qabs (r0 - r1)). set (h := Qabs (p + q - 1)).
    destruct (max_cases z (1 - z)) as [[Lz Fz]|[Lz Fz]], (max_cases w (1 - w)) as [[Lw Fw]|[Lw Fw]]; rewrite Fz, Fw;
      [rewrite (Q.min_l z), (Q.min_l w) by lra | rewrite (Q.min_l z), (Q.min_r w) by lra
      | rewrite (Q.min_r z), (Q.min_l w) by lra | rewrite (Q.min_r z), (Q.min_r w) by lra]; field; repeat split; lra.
Qed.

(** As printed, without p, q ≥ ½, and with the levels at least ε of a channel for its least one: fair coins win. *)
Definition theorem_14_as_printed : Prop :=
  forall w x p q y, 0 < w < 1 -> 0 < x <= 1 -> 0 <= p <= 1 -> 0 <= q <= 1 -> 0 < y <= x -> private y p q ->
  difference_ratio w (fst (optimal_truths w x)) (snd (optimal_truths w x)) <= difference_ratio w p q.

Theorem theorem_14_as_printed_fails : ~ theorem_14_as_printed.
Proof.
  intros H. specialize (H (1#3) (1#2) (1#2) (1#2) (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  assert (P : private (1#2) (1#2) (1#2)) by (unfold private; lra).
  specialize (H P). now vm_compute in H.
Qed.

(** ** Plain response of the same truth probability

    [m] is the share of the smaller group, here group 0; [dpfair_lib.local.binary.equally_truthful_response]. *)
Definition equally_truthful (m x : Q) : Q := (1 + m * (1 - x)) / 2.

Definition plain_is_better (plain : Q -> Q -> Q) : Prop :=
  forall m x, 0 < m <= (1#2) -> 0 < x < 1 ->
  let p := 1 - x / 2 in let y := plain m x in
  m * y + (1 - m) * y == m * p + (1 - m) * (1#2) /\
  x * y < 1 - y /\
  difference_ratio m y y < difference_ratio m p (1#2) /\
  deviation_ratio m y y < deviation_ratio m p (1#2).

Theorem plain_response_is_better : plain_is_better equally_truthful.
Proof.
  intros m x M X p y. set (u := m * (1 - x)).
  assert (U : 0 < u) by (apply mul_pos; lra). assert (U1 : u < 1#2) by (unfold u; nra).
  assert (Hx : x / 2 == (1#2) * x) by field.
  assert (Y : y == (1#2) + (1#2) * u) by (unfold y, equally_truthful, u; field).
  assert (Ry : reported_0 m y y == (1#2) * (1 - (1 - 2 * m) * u)) by (unfold reported_0; rewrite Y; ring).
  assert (Rp : reported_0 m p (1#2) == (1#2) * (1 + u)) by (unfold reported_0, p, u; rewrite Hx; ring).
  splits.
  - rewrite Y. unfold p, u. rewrite Hx. ring.
  - rewrite Y. unfold u in *. nra.
  - unfold difference_ratio. rewrite Ry, Rp. rewrite (Qabs_pos (y + y - 1)), (Qabs_pos (p + _ - 1)); [|unfold p; rewrite Hx; lra | rewrite Y; lra].
    assert (D1 : 0 < (1#2) * (1 + u) * (1 - (1#2) * (1 + u))) by nra.
    assert (V : 0 <= (1 - 2 * m) * u <= u) by (split; [apply mul_nonneg; lra | nra]).
    assert (D2 : 0 < (1#2) * (1 - (1 - 2 * m) * u) * (1 - (1#2) * (1 - (1 - 2 * m) * u))) by nra.
    apply div_lt; [assumption|].
    apply (Qmult_lt_r _ _ ((1#2) * (1 + u) * (1 - (1#2) * (1 + u)))); [assumption|].
    set (d1 := (1#2) * (1 + u) * (1 - (1#2) * (1 + u))) in *.
    set (d2 := (1#2) * (1 - (1 - 2 * m) * u) * (1 - (1#2) * (1 - (1 - 2 * m) * u))) in *.
    assert (E : (p + (1#2) - 1) * m * (1 - m) / d1 * d2 * d1 == (p + (1#2) - 1) * m * (1 - m) * d2) by (field; lra).
    rewrite E.
    assert (Hp : p + (1#2) - 1 == (1#2) * (1 - x)) by (unfold p; rewrite Hx; ring).
    assert (Hy : y + y - 1 == m * (1 - x)) by (rewrite Y; unfold u; ring).
    rewrite Hp, Hy.
    assert (K : m * d1 < (1#2) * d2).
    { assert (G : (1#2) * d2 - m * d1 == (1#8) * ((1 - 2 * m) * (1 - u * u) + 4 * (m * (1 - m)) * (u * u))) by (unfold d1, d2; ring).
      assert (0 <= (1 - 2 * m) * (1 - u * u)) by (apply mul_nonneg; nra).
      assert (0 < m * (1 - m)) by nra. assert (0 < u * u) by nra.
      assert (0 < m * (1 - m) * (u * u)) by (apply mul_pos; assumption). lra. }
    assert (N : 0 < (1 - x) * m * (1 - m)) by (repeat apply mul_pos; lra).
    apply Qlt_le_trans with ((1 - x) * m * (1 - m) * ((1#2) * d2)); [|lra].
    setoid_replace (m * (1 - x) * m * (1 - m) * d1) with ((1 - x) * m * (1 - m) * (m * d1)) by ring.
    now apply Qmult_lt_l.
  - unfold deviation_ratio. rewrite Ry, Rp. rewrite (Qabs_pos (y + y - 1)), (Qabs_pos (p + _ - 1)); [|unfold p; rewrite Hx; lra | rewrite Y; lra].
    assert (V : 0 <= (1 - 2 * m) * u <= u) by (split; [apply mul_nonneg; lra | nra]).
    rewrite (Q.min_l m), (Q.min_r ((1#2) * (1 + u))), (Q.min_l ((1#2) * (1 - _))) by lra.
    assert (D1 : 0 < 1 - (1#2) * (1 + u)) by lra. assert (D2 : 0 < (1#2) * (1 - (1 - 2 * m) * u)) by lra.
    apply div_lt; [assumption|]. apply (Qmult_lt_r _ _ (1 - (1#2) * (1 + u))); [assumption|].
    set (d1 := 1 - (1#2) * (1 + u)) in *. set (d2 := (1#2) * (1 - (1 - 2 * m) * u)) in *.
    assert (E : (p + (1#2) - 1) * m / d1 * d2 * d1 == (p + (1#2) - 1) * m * d2) by (field; lra).
    rewrite E.
    assert (Hp : p + (1#2) - 1 == (1#2) * (1 - x)) by (unfold p; rewrite Hx; ring).
    assert (Hy : y + y - 1 == m * (1 - x)) by (rewrite Y; unfold u; ring).
    rewrite Hp, Hy.
    assert (K : m * d1 < (1#2) * d2).
    { assert (G : (1#2) * d2 - m * d1 == (1#4) * ((1 - 2 * m) * (1 - u) + 2 * (m * u))) by (unfold d1, d2; ring).
      assert (0 <= (1 - 2 * m) * (1 - u)) by (apply mul_nonneg; lra).
      assert (0 < m * u) by (apply mul_pos; lra). lra. }
    assert (N : 0 < (1 - x) * m) by (apply mul_pos; lra).
    setoid_replace (m * (1 - x) * m * d1) with ((1 - x) * m * (m * d1)) by ring.
    setoid_replace ((1#2) * (1 - x) * m * d2) with ((1 - x) * m * ((1#2) * d2)) by ring.
    now apply Qmult_lt_l.
Qed.

(** Among the channels of a truth probability [y] above the larger share, plain response has the least level. *)
Definition plain_is_most_private (level : Q -> Q -> Q) : Prop :=
  forall w p q x, 0 < w < 1 -> 0 <= p <= 1 -> 0 <= q <= 1 -> 0 < x <= 1 ->
  let y := w * p + (1 - w) * q in w < y -> 1 - w < y -> private x p q -> x * y <= level w y.

Lemma one_side w p q x y : 0 < w < 1 -> 0 <= p <= 1 -> 0 < x -> y == w * p + (1 - w) * q -> w < y -> y <= 1 -> y <= p ->
  x * q <= 1 - p -> x * y <= 1 - y.
Proof.
  intros W P X Y A Y1 H K.
  assert (G : y * (1 - p) <= q * (1 - y)).
  { apply (Qmult_le_l _ _ (1 - w)); [lra|].
    assert (E : (1 - w) * (q * (1 - y)) - (1 - w) * (y * (1 - p)) == (p - y) * (y - w) + (1 - y) * (w * p + (1 - w) * q - y)) by ring.
    assert (0 <= (p - y) * (y - w)) by nra. rewrite <- Y in E. nra. }
  destruct (Qlt_le_dec p 1) as [L|L].
  - apply (Qmult_le_r _ _ (1 - p)); [lra|]. nra.
  - assert (p == 1) by lra. assert (q <= 0) by nra. nra.
Qed.

Theorem plain_response_most_private : plain_is_most_private (fun _ y => 1 - y).
Proof.
  intros w p q x W P Q X y A B (H & K & _). assert (Y1 : y <= 1) by (unfold y; nra).
  destruct (Qlt_le_dec p y) as [L|L].
  - apply (one_side (1 - w) q p x y); try lra; [unfold y; ring|]. unfold y in *. nra.
  - apply (one_side w p q x y); try lra. unfold y. ring.
Qed.

(** ** Planted faults *)

(** The larger group with 1 - x/2. *)
Theorem theorem_14_repaired_fault_1 :
  ~ least_difference (fun w x => if Qle_bool w (1#2) then (1#2, 1 - x / 2) else (1 - x / 2, 1#2)).
Proof.
  intros H. specialize (H (1#3) (1#2) (3#4) (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(right; lra)).
  now vm_compute in H.
Qed.

(** Randomised response of level ε. *)
Theorem theorem_14_repaired_fault_2 : ~ least_difference (fun w x => (1 / (1 + x), 1 / (1 + x))).
Proof.
  intros H. specialize (H (1#3) (1#2) (3#4) (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(right; lra)).
  now vm_compute in H.
Qed.

(** Plain response of level ε. *)
Theorem plain_response_is_better_fault_1 : ~ plain_is_better (fun m x => 1 / (1 + x)).
Proof.
  intros H. destruct (H (1#3) (1#2) ltac:(lra) ltac:(lra)) as (E & _). now vm_compute in E.
Qed.

(** The larger group's share for the smaller one's. *)
Theorem plain_response_is_better_fault_2 : ~ plain_is_better (fun m x => (1 + (1 - m) * (1 - x)) / 2).
Proof.
  intros H. destruct (H (1#3) (1#2) ltac:(lra) ltac:(lra)) as (E & _). now vm_compute in E.
Qed.

(** Half of the level. *)
Theorem plain_response_most_private_fault_1 : ~ plain_is_most_private (fun _ y => (1 - y) / 2).
Proof.
  intros H. specialize (H (1#2) (2#3) (2#3) (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  cbv zeta in H. specialize (H ltac:(lra) ltac:(lra) ltac:(unfold private; lra)). now vm_compute in H.
Qed.

(** The larger share for the truth probability. *)
Theorem plain_response_most_private_fault_2 : ~ plain_is_most_private (fun w y => (1 - y) * Qmax w (1 - w)).
Proof.
  intros H. specialize (H (1#2) (2#3) (2#3) (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  cbv zeta in H. specialize (H ltac:(lra) ltac:(lra) ltac:(unfold private; lra)). now vm_compute in H.
Qed.

(** Less noise for the smaller group: the level is below ε. *)
Theorem theorem_14_admitted_fault_1 : ~ admitted_at_level (fun w x => if Qle_bool w (1#2) then (1 - x, 1#2) else (1#2, 1 - x)).
Proof. intros H. destruct (H (1#3) (1#2) ltac:(lra) ltac:(lra)) as (_ & _ & [L|L] & _); now vm_compute in L. Qed.

(** The truth for the smaller group: no level at all. *)
Theorem theorem_14_admitted_fault_2 : ~ admitted_at_level (fun w x => if Qle_bool w (1#2) then (1, 1#2) else (1#2, 1)).
Proof. intros H. destruct (H (1#3) (1#2) ltac:(lra) ltac:(lra)) as (_ & _ & _ & _ & V & _). now vm_compute in V. Qed.

(** One channel alone, also for groups of one size. *)
Theorem theorem_14_only_fault_1 : ~ least_only (fun w x p q => p == fst (optimal_truths w x) /\ q == snd (optimal_truths w x)).
Proof.
  intros H. destruct (H (1#2) (1#2) (1#2) (3#4) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(left; lra)) as [K _].
  destruct (K ltac:(now vm_compute)) as [E _]. now vm_compute in E.
Qed.

(** Both channels, whatever the sizes. *)
Theorem theorem_14_only_fault_2 : ~ least_only (fun _ x p q => (p == 1 - x / 2 /\ q == 1#2) \/ (p == 1#2 /\ q == 1 - x / 2)).
Proof.
  intros H. destruct (H (1#3) (1#2) (1#2) (3#4) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(left; lra)) as [_ K].
  specialize (K ltac:(right; split; now vm_compute)). now vm_compute in K.
Qed.

(** The ratio of one measure for that of the other. *)
Theorem ratios_are_lemma_13_fault_1 : ~ ratios_of_reports deviation_ratio difference_ratio.
Proof. intros H. destruct (H (1#3) (3#4) (1#2) 0 1 ltac:(lra) ltac:(split; now compute)) as [K _]. now vm_compute in K. Qed.

(** The truths' own distance from a coin, without the shares of the groups. *)
Theorem ratios_are_lemma_13_fault_2 : ~ ratios_of_reports (fun _ p q => Qabs (p + q - 1)) deviation_ratio.
Proof. intros H. destruct (H (1#3) (3#4) (1#2) 0 1 ltac:(lra) ltac:(split; now compute)) as [K _]. now vm_compute in K. Qed.
