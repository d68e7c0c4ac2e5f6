(** CGKM, Lemma 2 made exact: how far Γ, the difference of the true positive rates, moves with one record.

    A record either is a positive of a group, with the answer of h, or does not count. *)

From Checked Require Import Base.Numbers Privacy.Channels.
From Coq Require Import List Bool.
Import ListNotations.

Inductive record := uncounted | positive (group : bool) (answer : Q).

Definition one_of (g : bool) (z : record) : nat :=
  match z with positive g' _ => if Bool.eqb g g' then 1 else 0 | uncounted => 0 end%nat.
Definition answer_of (g : bool) (z : record) : Q :=
  match z with positive g' v => if Bool.eqb g g' then v else 0 | uncounted => 0 end.

(** |Z₁ₐ|, the sum of h over it, and the true positive rate; 0 for an empty group. *)
Fixpoint positives (g : bool) (z : list record) : nat :=
  match z with [] => 0 | r :: z => (one_of g r + positives g z)%nat end.
Fixpoint answers (g : bool) (z : list record) : Q :=
  match z with [] => 0 | r :: z => answer_of g r + answers g z end.
Definition rate (g : bool) (z : list record) : Q := answers g z / number (positives g z).
Definition discrimination (z : list record) : Q := Qabs (rate false z - rate true z).

(** h has values in [0, 1]. *)
Definition fits (r : record) : Prop := match r with positive _ v => 0 <= v <= 1 | uncounted => True end.

(** [dpfair_lib.compatibility.private_learner.sensitivity.discrimination_sensitivity]. *)
Definition sensitivity (m m' : Q) : Q := (m + m') / (Qmin m m' * (Qmax m m' + 1)).

Definition moves_at_most (bound : Q -> Q -> Q) : Prop :=
  forall l r a b, Forall fits (l ++ a :: r) -> Forall fits (l ++ b :: r) ->
  (1 <= positives false (l ++ a :: r))%nat -> (1 <= positives true (l ++ a :: r))%nat ->
  Qabs (discrimination (l ++ b :: r) - discrimination (l ++ a :: r))
  <= bound (number (positives false (l ++ a :: r))) (number (positives true (l ++ a :: r))).

Lemma positives_insert g l a r : positives g (l ++ a :: r) = (one_of g a + positives g (l ++ r))%nat.
Proof. induction l as [|x l IH]; cbn; [reflexivity|]. rewrite IH. lia. Qed.

Lemma answers_insert g l a r : answers g (l ++ a :: r) == answer_of g a + answers g (l ++ r).
Proof. induction l as [|x l IH]; cbn; [reflexivity|]. rewrite IH. ring. Qed.

Lemma answers_range g z : Forall fits z -> 0 <= answers g z <= number (positives g z).
Proof.
  induction 1 as [|x z F _ IH]; cbn [answers positives].
  - now compute.
  - destruct x as [|g' v]; cbn [one_of answer_of].
    + rewrite Nat.add_0_l. lra.
    + cbn in F. destruct (Bool.eqb g g'); [change (1 + positives g z)%nat with (S (positives g z)); rewrite number_S | rewrite Nat.add_0_l]; lra.
Qed.

Lemma rate_range g z : Forall fits z -> 0 <= rate g z <= 1.
Proof.
  intros F. destruct (answers_range g z F) as [A B]. unfold rate.
  destruct (positives g z) as [|n] eqn:E.
  - change (number 0) with 0 in *. assert (Z : answers g z == 0) by lra. rewrite Z. split; now compute.
  - assert (P : 0 < number (S n)) by (rewrite number_S; pose proof (number_nonneg n); lra).
    split; [apply le_div | apply div_le]; lra.
Qed.

(** Two rates [s] and [u]; one is mixed with [v] by [p] before, the other with [v'] by [r] afterwards. *)
Lemma mixed_move p r s u v v' : 0 <= p <= 1 -> 0 <= r <= 1 -> 0 <= s <= 1 -> 0 <= u <= 1 -> 0 <= v <= 1 -> 0 <= v' <= 1 ->
  Qabs (s - ((1 - r) * u + r * v')) - Qabs ((1 - p) * s + p * v - u) <= p + (1 - p) * r.
Proof.
  intros P R S U V V'. set (G := Qabs ((1 - p) * s + p * v - u)).
  assert (G1 : (1 - p) * s + p * v - u <= G) by apply abs_ge.
  assert (G2 : - ((1 - p) * s + p * v - u) <= G) by apply abs_ge_minus.
  assert (G0 : 0 <= G) by apply Qabs_nonneg.
  assert (K : 0 <= p + (1 - p) * r) by nra.
  assert (Pv : 0 <= p * v <= p) by nra. assert (Rv : 0 <= r * v' <= r) by nra.
  destruct (abs_cases (s - ((1 - r) * u + r * v'))) as [[H E]|[H E]]; rewrite E; clear E.
  - set (D := s - ((1 - r) * u + r * v') - G).
    assert (H1 : D <= p * s + r * u) by (unfold D; lra).
    assert (H2 : D <= s - (1 - r) * u) by (unfold D; lra).
    assert (C1 : 0 <= 1 - r) by lra. pose proof (scaled _ _ _ C1 H1) as J1. pose proof (scaled r _ _ ltac:(lra) H2) as J2.
    assert (J3 : (p + (1 - p) * r) * s <= p + (1 - p) * r) by nra. lra.
  - set (D := - (s - ((1 - r) * u + r * v')) - G).
    assert (H1 : D <= p * (1 - s) + r * (1 - u)) by (unfold D; lra).
    assert (H2 : D <= (1 - s) - (1 - r) * (1 - u)) by (unfold D; lra).
    assert (C1 : 0 <= 1 - r) by lra. pose proof (scaled _ _ _ C1 H1) as J1. pose proof (scaled r _ _ ltac:(lra) H2) as J2.
    assert (J3 : (p + (1 - p) * r) * (1 - s) <= p + (1 - p) * r) by nra. lra.
Qed.

Lemma mixed_moves p r s u v v' : 0 <= p <= 1 -> 0 <= r <= 1 -> 0 <= s <= 1 -> 0 <= u <= 1 -> 0 <= v <= 1 -> 0 <= v' <= 1 ->
  Qabs (Qabs (s - ((1 - r) * u + r * v')) - Qabs ((1 - p) * s + p * v - u)) <= p + (1 - p) * r.
Proof.
  intros P R S U V V'. apply abs_le. pose proof (mixed_move p r s u v v' P R S U V V') as A.
  pose proof (mixed_move r p u s v' v R P U S V' V) as B.
  setoid_replace (u - ((1 - p) * s + p * v)) with (- ((1 - p) * s + p * v - u)) in B by ring.
  setoid_replace ((1 - r) * u + r * v' - s) with (- (s - ((1 - r) * u + r * v'))) in B by ring.
  rewrite !Qabs_opp in B. split; lra.
Qed.

Lemma sensitivity_symmetric m m' : sensitivity m m' == sensitivity m' m.
Proof. unfold sensitivity. rewrite (Q.min_comm m m'), (Q.max_comm m m'), (Qplus_comm m m'). reflexivity. Qed.

(** A record that moves from a group of [m] to one of [m']. *)
Lemma crossing m m' : 1 <= m -> 1 <= m' -> 1 / m + (1 - 1 / m) * (1 / (m' + 1)) <= sensitivity m m'.
Proof.
  intros M M'.
  assert (E : 1 / m + (1 - 1 / m) * (1 / (m' + 1)) == (m + m') / (m * (m' + 1))) by (field; lra).
  rewrite E. unfold sensitivity. destruct (Qlt_le_dec m' m) as [L|L].
  - rewrite Q.min_r, Q.max_l by lra. apply div_le; [nra|].
    assert (F : (m + m') / (m' * (m + 1)) * (m * (m' + 1)) == (m + m') * ((m * (m' + 1)) / (m' * (m + 1)))) by (field; lra).
    rewrite F. assert (1 <= (m * (m' + 1)) / (m' * (m + 1))) by (apply le_div; nra). nra.
  - rewrite Q.min_l, Q.max_r by lra. lra.
Qed.

Lemma single m m' : 1 <= m -> 1 <= m' -> 1 / m <= sensitivity m m' /\ 1 / m' <= sensitivity m m'.
Proof.
  intros M M'. assert (A : forall n, 1 <= n -> 0 <= 1 / n <= 1) by (intros n N; split; [apply le_div | apply div_le]; lra).
  assert (B : forall n, 1 <= n -> 0 <= 1 / (n + 1) <= 1) by (intros n N; split; [apply le_div | apply div_le]; lra).
  pose proof (crossing m m' M M') as C. pose proof (crossing m' m M' M) as D. rewrite (sensitivity_symmetric m' m) in D.
  destruct (A m M), (A m' M'), (B m M), (B m' M'). split; nra.
Qed.

Definition flipped (r : record) : record :=
  match r with positive g v => positive (negb g) v | uncounted => uncounted end.

(** The same move, as numbers: a group of [n] others with the sum [t], and one more record. *)
Lemma rate_without n t v : 0 < n -> 0 <= t <= n -> 0 <= v <= 1 ->
  (v + t) / (1 + n) == (1 - 1 / (1 + n)) * (t / n) + 1 / (1 + n) * v.
Proof. intros. field. lra. Qed.

Lemma triangle_move a b c d : Qabs (Qabs (a - b) - Qabs (c - d)) <= Qabs (a - c) + Qabs (b - d).
Proof. cases_abs; lra. Qed.

Lemma unit_share n t : 0 < n -> 0 <= t <= n -> 0 <= t / n <= 1.
Proof. intros. split; [apply le_div | apply div_le]; lra. Qed.

Lemma replaced_answer n t v w : 0 <= n -> 0 <= v <= 1 -> 0 <= w <= 1 ->
  Qabs ((v + t) / (1 + n) - (w + t) / (1 + n)) <= 1 / (1 + n).
Proof.
  intros N V W. assert (E : (v + t) / (1 + n) - (w + t) / (1 + n) == (v - w) * (1 / (1 + n))) by (field; lra).
  assert (P : 0 <= 1 / (1 + n)) by (apply div_nonneg; lra).
  rewrite E, Qabs_Qmult, (Qabs_pos (1 / (1 + n))) by assumption.
  assert (Qabs (v - w) <= 1) by (apply abs_le; split; lra). nra.
Qed.

Lemma added_answer n t v : 0 < n -> 0 <= t <= n -> 0 <= v <= 1 -> Qabs (t / n - (v + t) / (1 + n)) <= 1 / (1 + n).
Proof.
  intros N T V. rewrite (rate_without n t v N T V). pose proof (unit_share n t N T).
  assert (P : 0 <= 1 / (1 + n)) by (apply div_nonneg; lra).
  setoid_replace (t / n - ((1 - 1 / (1 + n)) * (t / n) + 1 / (1 + n) * v)) with ((t / n - v) * (1 / (1 + n))) by ring.
  rewrite Qabs_Qmult, (Qabs_pos (1 / (1 + n))) by assumption.
  assert (Qabs (t / n - v) <= 1) by (apply abs_le; split; lra). nra.
Qed.

Lemma both_in_unit x y : 0 <= x <= 1 -> 0 <= y <= 1 -> Qabs (x - y) <= 1.
Proof. intros. apply abs_le. split; lra. Qed.

Definition gap (n0 t0 n1 t1 : Q) : Q := Qabs (t0 / n0 - t1 / n1).

(** The nine cases, in numbers. *)
Definition at_most (n0 t0 n1 t1 n0' t0' n1' t1' : Q) : Prop :=
  Qabs (gap n0' t0' n1' t1' - gap n0 t0 n1 t1) <= sensitivity n0 n1.

Lemma crossing_case n0 t0 n1 t1 v w : 0 < n0 -> 0 <= t0 <= n0 -> 1 <= n1 -> 0 <= t1 <= n1 -> 0 <= v <= 1 -> 0 <= w <= 1 ->
  at_most (1 + n0) (v + t0) n1 t1 n0 t0 (1 + n1) (w + t1).
Proof.
  intros N0 T0 N1 T1 V W. unfold at_most, gap. rewrite (rate_without n0 t0 v) by lra. rewrite (rate_without n1 t1 w) by lra.
  assert (P : forall n, 0 < n -> 0 <= 1 / (1 + n) <= 1) by (intros n N; split; [apply le_div | apply div_le]; lra).
  pose proof (mixed_moves (1 / (1 + n0)) (1 / (1 + n1)) (t0 / n0) (t1 / n1) v w (P n0 N0) (P n1 ltac:(lra))
    (unit_share n0 t0 N0 T0) (unit_share n1 t1 ltac:(lra) T1) V W) as M.
  eapply Qle_trans; [exact M|]. pose proof (crossing (1 + n0) n1 ltac:(lra) N1) as C.
  rewrite (Qplus_comm 1 n1). exact C.
Qed.

Lemma gap_symmetric n0 t0 n1 t1 : gap n0 t0 n1 t1 == gap n1 t1 n0 t0.
Proof. unfold gap. rewrite <- Qabs_opp. setoid_replace (- (t0 / n0 - t1 / n1)) with (t1 / n1 - t0 / n0) by ring. reflexivity. Qed.

Lemma at_most_symmetric n0 t0 n1 t1 n0' t0' n1' t1' :
  at_most n0 t0 n1 t1 n0' t0' n1' t1' -> at_most n1 t1 n0 t0 n1' t1' n0' t0'.
Proof.
  unfold at_most. rewrite (gap_symmetric n0 t0 n1 t1), (gap_symmetric n0' t0' n1' t1'), (sensitivity_symmetric n0 n1). auto.
Qed.

Lemma one_group_case n0 t0 n1 t1 n0' t0' : 1 <= n0 -> 1 <= n1 ->
  Qabs (t0' / n0' - t0 / n0) <= 1 / n0 -> at_most n0 t0 n1 t1 n0' t0' n1 t1.
Proof.
  intros N0 N1 H. unfold at_most, gap. eapply Qle_trans; [apply triangle_move|].
  setoid_replace (t1 / n1 - t1 / n1) with 0 by ring. change (Qabs 0) with 0.
  destruct (single n0 n1 N0 N1). lra.
Qed.

(** With a single positive in a group the bound is 1, and nothing moves by more. *)
Lemma lone_case n0 t0 n1 t1 x : n0 == 1 -> 1 <= n1 -> 0 <= x <= 1 -> 0 <= gap n0 t0 n1 t1 <= 1 ->
  Qabs (x - gap n0 t0 n1 t1) <= sensitivity n0 n1.
Proof.
  intros N0 N1 X G. destruct (single n0 n1 ltac:(lra) N1) as [S _]. rewrite N0 in S at 1. change (1 / 1) with 1 in S.
  eapply Qle_trans; [now apply both_in_unit|]. assert (E : 1 / 1 == 1) by now compute. lra.
Qed.

Lemma discrimination_gap z : discrimination z = gap (number (positives false z)) (answers false z) (number (positives true z)) (answers true z).
Proof. reflexivity. Qed.

Lemma gap_range z : Forall fits z -> 0 <= discrimination z <= 1.
Proof.
  intros F. split; [apply Qabs_nonneg|]. apply both_in_unit; now apply rate_range.
Qed.

#[global] Instance gap_proper : Proper (Qeq ==> Qeq ==> Qeq ==> Qeq ==> Qeq) gap.
Proof. intros a a' A b b' B c c' C d d' D. unfold gap. now rewrite A, B, C, D. Qed.

#[global] Instance sensitivity_proper : Proper (Qeq ==> Qeq ==> Qeq) sensitivity.
Proof. intros a a' A b b' B. unfold sensitivity. now rewrite A, B. Qed.

Lemma number_add b n : number ((if b : bool then 1 else 0) + n)%nat == (if b then 1 + number n else number n).
Proof. destruct b; cbn [Nat.add]; [rewrite number_S; ring | reflexivity]. Qed.

Theorem lemma_2_exact : moves_at_most sensitivity.
Proof.
  intros l r a b Fa Fb M0 M1.
  assert (F : Forall fits (l ++ r)).
  { apply Forall_app in Fa. destruct Fa as [Fl Fr]. inversion Fr; subst. apply Forall_app. now split. }
  assert (Ha : fits a). { apply Forall_app in Fa. destruct Fa as [_ Fr]. now inversion Fr. }
  assert (Hb : fits b). { apply Forall_app in Fb. destruct Fb as [_ Fr]. now inversion Fr. }
  pose proof (gap_range _ Fa) as Ga. pose proof (gap_range _ Fb) as Gb.
  rewrite !discrimination_gap in *. rewrite !positives_insert in *.
  rewrite !answers_insert in *.
  pose proof (answers_range false _ F) as T0. pose proof (answers_range true _ F) as T1.
  set (n0 := positives false (l ++ r)) in *. set (n1 := positives true (l ++ r)) in *.
  set (t0 := answers false (l ++ r)) in *. set (t1 := answers true (l ++ r)) in *. clearbody n0 n1 t0 t1.
  assert (Z : forall n, (1 <= n)%nat -> 1 <= number n) by (intros n N; exact (number_le 1 n N)).
  pose proof (number_nonneg n0) as P0. pose proof (number_nonneg n1) as P1.
  destruct a as [|[|] v], b as [|[|] w]; cbn [one_of answer_of Bool.eqb fits] in *;
    rewrite ?number_add, ?Nat.add_0_l, ?Qplus_0_l in *;
    change (1 + n0)%nat with (S n0) in *; change (1 + n1)%nat with (S n1) in *;
    rewrite ?number_S, ?(Qplus_comm (number n0) 1), ?(Qplus_comm (number n1) 1) in *.
  - setoid_replace (gap (number n0) t0 (number n1) t1 - gap (number n0) t0 (number n1) t1) with 0 by ring.
    change (Qabs 0) with 0. destruct (single _ _ (Z _ M0) (Z _ M1)) as [S _].
    assert (0 <= 1 / number n0) by (apply div_nonneg; [specialize (Z _ M0)|]; lra). lra.
  - apply at_most_symmetric. apply Z in M0, M1. apply one_group_case; try assumption.
    pose proof (added_answer (number n1) t1 w ltac:(lra) T1 Hb) as A.
    rewrite <- Qabs_opp. setoid_replace (- ((w + t1) / (1 + number n1) - t1 / number n1)) with (t1 / number n1 - (w + t1) / (1 + number n1)) by ring.
    eapply Qle_trans; [exact A|]. apply div_le; [lra|]. apply (Qmult_le_r _ _ (number n1)); [lra|].
    assert (E : 1 / number n1 * (1 + number n1) * number n1 == 1 + number n1) by (field; lra). lra.
  - apply Z in M0, M1. apply one_group_case; try assumption.
    pose proof (added_answer (number n0) t0 w ltac:(lra) T0 Hb) as A.
    rewrite <- Qabs_opp. setoid_replace (- ((w + t0) / (1 + number n0) - t0 / number n0)) with (t0 / number n0 - (w + t0) / (1 + number n0)) by ring.
    eapply Qle_trans; [exact A|]. apply div_le; [lra|]. apply (Qmult_le_r _ _ (number n0)); [lra|].
    assert (E : 1 / number n0 * (1 + number n0) * number n0 == 1 + number n0) by (field; lra). lra.
  - apply Z in M0. destruct n1 as [|k].
    + rewrite (sensitivity_symmetric (number n0)). rewrite (gap_symmetric (number n0) t0 (1 + _)).
      apply lone_case; [now compute | assumption | assumption |]. rewrite gap_symmetric. assumption.
    + assert (N : 1 <= number (S k)) by (apply Z; lia). apply at_most_symmetric. apply one_group_case; [lra | assumption|].
      apply added_answer; [lra | assumption | assumption].
  - apply Z in M0. apply at_most_symmetric. apply one_group_case; [lra | assumption|]. now apply replaced_answer.
  - apply Z in M0. destruct n1 as [|k].
    + rewrite (sensitivity_symmetric (number n0)). rewrite (gap_symmetric (number n0) t0 (1 + _)).
      apply lone_case; [now compute | assumption | assumption |]. rewrite gap_symmetric. assumption.
    + assert (N : 1 <= number (S k)) by (apply Z; lia). apply at_most_symmetric.
      apply crossing_case; try assumption; lra.
  - apply Z in M1. destruct n0 as [|k].
    + apply lone_case; [now compute | assumption | assumption | assumption].
    + assert (N : 1 <= number (S k)) by (apply Z; lia). apply one_group_case; [lra | assumption|].
      apply added_answer; [lra | assumption | assumption].
  - apply Z in M1. destruct n0 as [|k].
    + apply lone_case; [now compute | assumption | assumption | assumption].
    + assert (N : 1 <= number (S k)) by (apply Z; lia). apply crossing_case; try assumption; lra.
  - apply Z in M1. apply one_group_case; [lra | assumption|]. now apply replaced_answer.
Qed.

Lemma repeated g g' v n z : positives g (repeat (positive g' v) n ++ z) = ((if Bool.eqb g g' then n else 0) + positives g z)%nat
  /\ answers g (repeat (positive g' v) n ++ z) == (if Bool.eqb g g' then number n * v else 0) + answers g z.
Proof.
  induction n as [|n [I J]]; cbn [repeat app positives answers one_of answer_of].
  - destruct (Bool.eqb g g'); (split; [reflexivity|]); change (number 0) with 0; ring.
  - rewrite I, J. destruct (Bool.eqb g g'); (split; [lia|]); rewrite ?number_S; ring.
Qed.

(** Attained for all counts m ≤ m': the one positive that h accepts leaves the smaller group for the larger one. *)
Theorem lemma_2_attained : forall m m', (1 <= m)%nat -> (m <= m')%nat -> exists a b r,
  Forall fits (a :: r) /\ Forall fits (b :: r) /\ positives false (a :: r) = m /\ positives true (a :: r) = m' /\
  Qabs (discrimination (b :: r) - discrimination (a :: r)) == sensitivity (number m) (number m').
Proof.
  intros m m' M L. destruct m as [|p]; [lia|]. set (v := 1 / number (S p)).
  assert (N : 1 <= number (S p)) by (rewrite number_S; pose proof (number_nonneg p); lra).
  assert (N' : number (S p) <= number m') by now apply number_le.
  assert (V : 0 <= v <= 1) by (unfold v; split; [apply le_div | apply div_le]; lra).
  exists (positive false 1), (positive true 1), (repeat (positive false 0) p ++ repeat (positive true v) m' ++ []).
  assert (F : Forall fits (repeat (positive false 0) p ++ repeat (positive true v) m' ++ [])).
  { rewrite !Forall_app. splits; [| |constructor]; apply Forall_forall; intros x H; apply repeat_spec in H; subst x; cbn; lra. }
  set (r := repeat (positive false 0) p ++ repeat (positive true v) m' ++ []) in *.
  assert (P0 : positives false r = p) by (unfold r; rewrite !(proj1 (repeated _ _ _ _ _)); cbn; lia).
  assert (P1 : positives true r = m') by (unfold r; rewrite !(proj1 (repeated _ _ _ _ _)); cbn; lia).
  assert (A0 : answers false r == 0).
  { unfold r. rewrite !(proj2 (repeated _ _ _ _ _)). cbn. ring. }
  assert (A1 : answers true r == number m' * v).
  { unfold r. rewrite !(proj2 (repeated _ _ _ _ _)). cbn. ring. }
  splits.
  - constructor; [cbn; lra | assumption].
  - constructor; [cbn; lra | assumption].
  - cbn. now rewrite P0.
  - cbn. now rewrite P1.
  - unfold discrimination, rate. cbn [positives answers one_of answer_of Bool.eqb]. rewrite P0, P1.
    change (0 + p)%nat with p. change (0 + m')%nat with m'. change (1 + p)%nat with (S p). change (1 + m')%nat with (S m').
    rewrite A0, A1.
    assert (B : (1 + 0) / number (S p) - (0 + number m' * v) / number m' == 0) by (unfold v; field; split; lra).
    assert (C : (0 + 0) / number p - (1 + number m' * v) / number (S m') == - ((number (S p) + number m') / (number (S p) * (number m' + 1)))).
    { rewrite (number_S m'). setoid_replace ((0 + 0) / number p) with 0 by (unfold Qdiv; ring). unfold v. field. split; lra. }
    rewrite B, C. unfold sensitivity. rewrite Q.min_l, Q.max_r by lra.
    assert (Z : 0 <= (number (S p) + number m') / (number (S p) * (number m' + 1))) by (apply div_nonneg; [apply mul_pos|]; lra).
    rewrite (Qabs_neg (- _)) by lra. change (Qabs 0) with 0. rewrite Qabs_pos by lra. ring.
Qed.

(** ** The printed bound, max_a 2/(|Z₁ₐ| − L − 1) with L = ln(1/δ)/ε, fails for small groups *)
Definition printed_bound (L m m' : Q) : Q := Qmax (2 / (m - L - 1)) (2 / (m' - L - 1)).

(** As soon as L exceeds [limit], some pair of samples with these counts moves Γ by more. *)
Definition exceeded_above (limit : Q -> Q -> Q) : Prop :=
  forall m m' L, (1 <= m)%nat -> (m <= m')%nat -> limit (number m) (number m') < L -> exists a b r,
  Forall fits (a :: r) /\ Forall fits (b :: r) /\ positives false (a :: r) = m /\ positives true (a :: r) = m' /\
  printed_bound L (number m) (number m') < Qabs (discrimination (b :: r) - discrimination (a :: r)).

Lemma quotient_of_negative d : 0 < d -> 2 / (- d) < 0.
Proof. intros D. setoid_replace (2 / - d) with (- (2 / d)) by (field; lra). pose proof (div_pos 2 d D). lra. Qed.

Theorem printed_sensitivity_fails : exceeded_above (fun _ m' => m' - 1).
Proof.
  intros m m' L M M' H. destruct (lemma_2_attained m m' M M') as (a & b & r & A & B & P & P' & E).
  exists a, b, r. splits; try assumption. rewrite E.
  assert (N : 1 <= number m) by (pose proof (number_le 1 m M); change (number 1) with 1 in *; lra).
  assert (N' : number m <= number m') by now apply number_le.
  pose proof (quotient_of_negative (L + 1 - number m) ltac:(lra)) as X. pose proof (quotient_of_negative (L + 1 - number m') ltac:(lra)) as Y.
  apply Qlt_trans with 0.
  - unfold printed_bound. setoid_replace (number m - L - 1) with (- (L + 1 - number m)) by ring.
    setoid_replace (number m' - L - 1) with (- (L + 1 - number m')) by ring. apply Q.max_lub_lt; assumption.
  - unfold sensitivity. rewrite Q.min_l, Q.max_r by assumption. apply div_pos; [apply mul_pos; lra | lra].
Qed.

(** ** Planted faults *)

Definition half_answers (k : nat) : list record := repeat (positive true (1#2)) k.

Lemma half_answers_fit k : Forall fits (half_answers k).
Proof. induction k as [|k IH]; constructor; [cbn; lra | assumption]. Qed.

Lemma moved_fits g k : Forall fits (positive g 0 :: positive false 1 :: half_answers k).
Proof. repeat constructor; try (cbn; lra). apply half_answers_fit. Qed.

(** One over the smaller count alone. *)
Theorem lemma_2_exact_fault_1 : ~ moves_at_most (fun m m' => 1 / Qmin m m').
Proof.
  intros H. specialize (H [] (positive false 1 :: half_answers 2) (positive false 0) (positive true 0)
    (moved_fits false 2) (moved_fits true 2) ltac:(cbn; lia) ltac:(cbn; lia)). now vm_compute in H.
Qed.

(** The larger count in the place of the smaller one. *)
Theorem lemma_2_exact_fault_2 : ~ moves_at_most (fun m m' => (m + m') / (Qmax m m' * (Qmin m m' + 1))).
Proof.
  intros H. specialize (H [] (positive false 1 :: half_answers 4) (positive false 0) (positive true 0)
    (moved_fits false 4) (moved_fits true 4) ltac:(cbn; lia) ltac:(cbn; lia)). now vm_compute in H.
Qed.

(** What no pair of samples with these counts exceeds. *)
Lemma not_exceeded limit m m' L : exceeded_above limit -> (1 <= m)%nat -> (m <= m')%nat -> limit (number m) (number m') < L ->
  printed_bound L (number m) (number m') < sensitivity (number m) (number m').
Proof.
  intros H M M' X. destruct (H m m' L M M' X) as (a & b & r & A & B & P & P' & Y).
  pose proof (lemma_2_exact [] r a b A B) as K. cbn [app] in K. rewrite P, P' in K.
  exact (Qlt_le_trans _ _ _ Y (K ltac:(lia) ltac:(lia))).
Qed.

(** For every L. *)
Theorem printed_sensitivity_fails_fault_1 : ~ exceeded_above (fun _ _ => 0).
Proof. intros H. pose proof (not_exceeded _ 3 3 (1#2) H ltac:(lia) ltac:(lia) ltac:(now compute)) as K. now vm_compute in K. Qed.

(** From half of the larger count on. *)
Theorem printed_sensitivity_fails_fault_2 : ~ exceeded_above (fun _ m' => m' / 2 - 1).
Proof. intros H. pose proof (not_exceeded _ 10 10 (9#2) H ltac:(lia) ltac:(lia) ltac:(now compute)) as K. now vm_compute in K. Qed.
