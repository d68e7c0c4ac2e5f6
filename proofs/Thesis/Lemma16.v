(** Thesis, Lemma 16: the two ways to measure the unfairness of data bound each other. *)

From Checked Require Import Base.Numbers Privacy.Channels Thesis.Lemma13.

(** [dpfair_lib.local.trade_off.unfairness_constants]; [m] is at most the smallest share. *)
Definition first_constant (overall m : Q) : Q := (1 - m) / overall.
Definition second_constant (overall : Q) : Q := 2 * overall.

Definition deviation_within (constant : Q -> Q -> Q) : Prop :=
  forall n p r m, distribution (S n) p -> rates (S n) r -> 0 < overall (S n) p r ->
  0 <= m -> (forall a, (a <= n)%nat -> m <= p a) ->
  deviation n r (overall (S n) p r) <= constant (overall (S n) p r) m * difference n r.

Theorem lemma_16_first : deviation_within first_constant.
Proof.
  intros n p r m P R Y M0 M. set (y := overall (S n) p r) in *. unfold deviation, first_constant.
  apply largest_le. intros a Ha. cbv beta.
  set (d := difference n r).
  assert (Df : forall a b, (a <= n)%nat -> (b <= n)%nat -> r a - r b <= d).
  { intros a' b Ha' Hb. unfold d, difference. pose proof (largest_ge n r a' Ha'). pose proof (least_le n r b Hb). lra. }
  assert (D0 : 0 <= d) by (pose proof (Df a a Ha Ha); lra).
  assert (E : r a - y == sum (S n) (fun b => p b * (r a - r b))).
  { unfold y, overall. destruct P as [_ P]. transitivity (sum (S n) p * r a - sum (S n) (fun b => p b * r b)).
    - rewrite P. ring.
    - rewrite <- sum_scale_r, <- sum_minus. apply sum_ext. intros; ring. }
  assert (W : sum (S n) (fun b => if Nat.eqb b a then 0 else p b) == 1 - p a).
  { destruct P as [_ P]. rewrite (sum_split (S n) (fun _ => 0) p a ltac:(lia)), P. ring. }
  assert (B : Qabs (r a - y) <= (1 - m) * d).
  { rewrite E. eapply Qle_trans; [apply sum_abs|].
    apply Qle_trans with (sum (S n) (fun b => (if Nat.eqb b a then 0 else p b) * d)).
    - apply sum_le. intros b Hb. cbv beta. pose proof (proj1 P b Hb).
      destruct (Nat.eqb_spec b a) as [->|N].
      + setoid_replace (p a * (r a - r a)) with 0 by ring. change (Qabs 0) with 0. lra.
      + rewrite Qabs_Qmult, (Qabs_pos (p b)) by assumption. apply scaled; [assumption|].
        apply abs_le. pose proof (Df a b Ha ltac:(lia)). pose proof (Df b a ltac:(lia) Ha). lra.
    - rewrite sum_scale_r, W. rewrite !(Qmult_comm _ d). apply scaled; [assumption|]. pose proof (M a Ha). lra. }
  assert (F : r a / y - 1 == (r a - y) / y) by (field; lra).
  rewrite F. unfold Qdiv. rewrite Qabs_Qmult, (Qabs_pos (/ y)) by (apply Qlt_le_weak, Qinv_lt_0_compat, Y).
  setoid_replace ((1 - m) * / y * d) with ((1 - m) * d * / y) by ring.
  apply Qmult_le_compat_r; [assumption|]. apply Qlt_le_weak, Qinv_lt_0_compat, Y.
Qed.

(** The printed constant, 1/P(Y = 1), is [m = 0]. *)
Theorem lemma_16_first_as_printed : deviation_within (fun y _ => 1 / y).
Proof.
  intros n p r m P R Y M0 M. pose proof (lemma_16_first n p r 0 P R Y ltac:(lra)) as H.
  assert (G : forall a, (a <= n)%nat -> 0 <= p a) by (intros; apply P; lia).
  specialize (H G). unfold first_constant in H. setoid_replace (1 - 0) with 1 in H by ring. exact H.
Qed.

Definition difference_within (constant : Q -> Q) : Prop :=
  forall n p r, distribution (S n) p -> rates (S n) r -> 0 < overall (S n) p r ->
  difference n r <= constant (overall (S n) p r) * deviation n r (overall (S n) p r).

Theorem lemma_16_second : difference_within second_constant.
Proof.
  intros n p r P R Y. set (y := overall (S n) p r) in *. unfold difference, second_constant.
  destruct (largest_at n r) as (a & Ha & ->). destruct (least_at n r) as (b & Hb & ->).
  pose proof (largest_ge n (fun a => Qabs (r a / y - 1)) a Ha) as A.
  pose proof (largest_ge n (fun a => Qabs (r a / y - 1)) b Hb) as B.
  fold (deviation n r y) in A, B. cbv beta in A, B. apply abs_le in A, B. destruct A as [_ A], B as [B _].
  assert (EA : r a == r a / y * y) by (field; lra). assert (EB : r b == r b / y * y) by (field; lra).
  set (u := r a / y) in *. set (v := r b / y) in *. rewrite EA, EB.
  assert (K : y * (u - v) <= y * (2 * deviation n r y)) by (apply scaled; lra). lra.
Qed.

(** Equal groups with rates [y - e] and [y + e]: the second constant is attained. *)
Definition around (y e : Q) (a : nat) : Q := match a with 0%nat => y - e | _ => y + e end.

Lemma around_overall y e : overall 2 half (around y e) == y.
Proof. unfold overall, half, around. cbn. field. Qed.

Lemma around_difference y e : 0 <= e -> difference 1 (around y e) == 2 * e.
Proof.
  intros H. unfold difference. cbn [largest least around]. rewrite Q.max_r, Q.min_l by lra. ring.
Qed.

Lemma around_deviation y e : 0 < y -> 0 <= e -> deviation 1 (around y e) y == e / y.
Proof.
  intros Y H. unfold deviation. cbn [largest around].
  assert (A : (y - e) / y - 1 == - (e / y)) by (field; lra).
  assert (B : (y + e) / y - 1 == e / y) by (field; lra).
  rewrite A, B, Qabs_opp, Qabs_pos by (apply div_nonneg; lra). apply Q.max_l. lra.
Qed.

Lemma around_rates y e : 0 <= e -> e <= y -> y + e <= 1 -> rates 2 (around y e).
Proof. intros ? ? ? [|a] _; cbn; lra. Qed.

Theorem lemma_16_second_attained : forall y e, 0 < y -> 0 <= e ->
  difference 1 (around y e) == second_constant y * deviation 1 (around y e) y.
Proof.
  intros y e Y H. rewrite around_difference, around_deviation by assumption. unfold second_constant. field. lra.
Qed.

(** The first is an equality for any two groups, of whatever shares and rates. *)
Definition equal_for_two (share constant : Q -> Q -> Q) : Prop :=
  forall w r0 r1, 0 < w < 1 -> let y := w * r0 + (1 - w) * r1 in 0 < y ->
  deviation 1 (two r0 r1) y == constant y (share w (1 - w)) * difference 1 (two r0 r1).

Theorem lemma_16_equality : equal_for_two Qmin first_constant.
Proof.
  intros w r0 r1 W y Y. rewrite (deviation_of_two (two r0 r1) w y) by (assumption || reflexivity).
  rewrite difference_of_two. cbn [two]. unfold first_constant.
  destruct (min_cases w (1 - w)) as [[L E]|[L E]]; rewrite E; [rewrite Q.max_r | rewrite Q.max_l]; try lra; field; lra.
Qed.

(** ** Planted faults *)

(** The share of both smallest groups taken off. *)
Theorem lemma_16_first_fault_1 : ~ deviation_within (fun y m => (1 - 2 * m) / y).
Proof.
  intros H. specialize (H 1%nat half (around (1#2) (1#2)) (1#2) half_law (around_rates (1#2) (1#2) ltac:(lra) ltac:(lra) ltac:(lra))
    ltac:(now compute) ltac:(lra) ltac:(intros; unfold half; lra)). now vm_compute in H.
Qed.

(** The rate of the label 0 for that of the label 1. *)
Theorem lemma_16_first_fault_2 : ~ deviation_within (fun y m => (1 - m) / (1 - y)).
Proof.
  intros H. specialize (H 1%nat half (around (1#4) (1#4)) (1#2) half_law (around_rates (1#4) (1#4) ltac:(lra) ltac:(lra) ltac:(lra))
    ltac:(now compute) ltac:(lra) ltac:(intros; unfold half; lra)). now vm_compute in H.
Qed.

(** The second constant without its 2. *)
Theorem lemma_16_second_fault_1 : ~ difference_within (fun y => y).
Proof.
  intros H. specialize (H 1%nat half (around (1#2) (1#2)) half_law (around_rates (1#2) (1#2) ltac:(lra) ltac:(lra) ltac:(lra))
    ltac:(now compute)). now vm_compute in H.
Qed.

(** A constant that is right at one half only. *)
Theorem lemma_16_second_fault_2 : ~ difference_within (fun y => 4 * y * y).
Proof.
  intros H. specialize (H 1%nat half (around (1#4) (1#4)) half_law (around_rates (1#4) (1#4) ltac:(lra) ltac:(lra) ltac:(lra))
    ltac:(now compute)). now vm_compute in H.
Qed.

(** The larger share for the smaller one. *)
Theorem lemma_16_equality_fault_1 : ~ equal_for_two Qmax first_constant.
Proof. intros H. specialize (H (1#3) 0 1 ltac:(lra) ltac:(now compute)). now vm_compute in H. Qed.

(** The printed constant. *)
Theorem lemma_16_equality_fault_2 : ~ equal_for_two Qmin (fun y _ => 1 / y).
Proof. intros H. specialize (H (1#3) 0 1 ltac:(lra) ltac:(now compute)). now vm_compute in H. Qed.
