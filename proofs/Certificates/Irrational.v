(** An optimum that is no fraction: three groups of shares 1/2, 1/3, 1/6 and rates 0, 1/2, 1, e^ε = 2, error at most 1/2.

    The least Δ is (√13 − 1)/12. All channels over the real numbers count, so this file rests on their axioms. *)

From Coq Require Import Reals Lra Lia ZArith PeanoNat.
Open Scope R_scope.

(** ** The program *)

(** P(Z = j), and P(Y = 1, Z = j). *)
Definition share (q : nat -> nat -> R) (j : nat) : R := 1/2 * q 0%nat j + 1/3 * q 1%nat j + 1/6 * q 2%nat j.
Definition ones (q : nat -> nat -> R) (j : nat) : R := 1/2 * 0 * q 0%nat j + 1/3 * (1/2) * q 1%nat j + 1/6 * 1 * q 2%nat j.

(** Δ: the largest |P(Y = 1 | Z = j)/P(Y = 1) − 1|; P(Y = 1) is 1/3. *)
Definition off (q : nat -> nat -> R) (j : nat) : R := Rabs (ones q j / share q j / (1/3) - 1).
Definition unfairness (q : nat -> nat -> R) : R := Rmax (off q 0) (Rmax (off q 1) (off q 2)).

Definition feasible (q : nat -> nat -> R) : Prop :=
  (forall i, (i < 3)%nat -> q i 0%nat + q i 1%nat + q i 2%nat = 1) /\
  (forall i j, (i < 3)%nat -> (j < 3)%nat -> 0 <= q i j /\ q i j <= q i i /\ q i j <= q j j) /\
  (forall i i' j, (i < 3)%nat -> (i' < 3)%nat -> (j < 3)%nat -> q i j <= 2 * q i' j) /\
  1 - (1/2 * q 0%nat 0%nat + 1/3 * q 1%nat 1%nat + 1/6 * q 2%nat 2%nat) <= 1/2.

Definition least_unfairness_is (t : R) : Prop :=
  (forall q, feasible q -> t <= unfairness q) /\ (exists q, feasible q /\ unfairness q <= t).

(** ** √13 *)

Lemma root : 0 < sqrt 13 /\ sqrt 13 * sqrt 13 = 13.
Proof. split; [apply sqrt_lt_R0; lra | apply sqrt_sqrt; lra]. Qed.

Lemma root_between : 3.6055 < sqrt 13 < 3.6056.
Proof. destruct root as [P S]. set (r := sqrt 13) in *. clearbody r. split; nra. Qed.

Lemma off_within q j t : 0 < share q j ->
  (off q j <= t <-> - (t * share q j) <= 3 * ones q j - share q j <= t * share q j).
Proof.
  intros S. unfold off. set (s := share q j) in *. set (o := ones q j) in *. clearbody s o.
  assert (E : (o / s / (1/3) - 1) * s = 3 * o - s) by (field; lra).
  set (a := o / s / (1/3) - 1) in *. clearbody a. rewrite <- E. split; intros H.
  - unfold Rabs in H. destruct (Rcase_abs a); nra.
  - unfold Rabs. destruct (Rcase_abs a); nra.
Qed.

(** ** The channel that attains it *)

Definition best (i j : nat) : R :=
  let r := sqrt 13 in
  match i, j with
  | 0%nat, 0%nat => (58 + 14 * r) / 204 | 0%nat, 1%nat => (96 - 12 * r) / 204 | 0%nat, _ => (50 - 2 * r) / 204
  | 1%nat, 0%nat => (-15 + 21 * r) / 204 | 1%nat, 1%nat => (192 - 24 * r) / 204 | 1%nat, _ => (27 + 3 * r) / 204
  | _, 0%nat => (54 + 6 * r) / 204 | _, 1%nat => (96 - 12 * r) / 204 | _, _ => (54 + 6 * r) / 204
  end.

Ltac each i := destruct i as [|[|[|i]]]; try lia.

Lemma best_feasible : feasible best.
Proof.
  pose proof root_between as B. unfold feasible, best. cbv zeta. set (r := sqrt 13) in *. clearbody r.
  repeat split; intros; repeat match goal with i : nat |- _ => each i end; lra.
Qed.

Lemma best_attains : unfairness best <= (sqrt 13 - 1) / 12.
Proof.
  pose proof root_between as B. destruct root as [_ S].
  assert (L : forall j, (j < 3)%nat -> off best j <= (sqrt 13 - 1) / 12).
  { intros j Hj. apply off_within; unfold share, ones, best; cbv zeta; set (r := sqrt 13) in *; clearbody r; each j; nra. }
  unfold unfairness. repeat apply Rmax_lub; apply L; lia.
Qed.

(** ** The multipliers that prove it *)

Lemma share_positive q j : feasible q -> (j < 3)%nat -> 0 < share q j.
Proof.
  intros (S & C & _ & _) Hj. pose proof (S j Hj) as Row.
  assert (D : 0 < q j j).
  { pose proof (C j 0%nat Hj ltac:(lia)). pose proof (C j 1%nat Hj ltac:(lia)). pose proof (C j 2%nat Hj ltac:(lia)). lra. }
  unfold share. pose proof (C 0%nat j ltac:(lia) Hj). pose proof (C 1%nat j ltac:(lia) Hj). pose proof (C 2%nat j ltac:(lia) Hj).
  each j; lra.
Qed.

(** The identity of the chapter; [b] are the budget, truthfulness of row 3, and privacy three times. *)
Lemma identity r q00 q01 q02 q10 q11 q12 q20 q21 q22 : r * r = 13 ->
  q00 + q01 + q02 = 1 -> q10 + q11 + q12 = 1 -> q20 + q21 + q22 = 1 ->
  36 * (-3 * q02 + q12 + 2 * q22 - (r - 1) / 12 * (3 * q02 + 2 * q12 + q22))
  + 12 * (2 + r) * (3 * q00 - q10 - 2 * q20 - (r - 1) / 12 * (3 * q00 + 2 * q10 + q20))
  = 12 * (23 + 7 * r) * (1/2 * q00 + 1/3 * q11 + 1/6 * q22 - 1/2)
  + 6 * (11 + r) * (q22 - q20) + 9 * (11 + r) * (q01 - 1/2 * q11)
  + 8 * (11 + r) * (q12 - 1/2 * q22) + (19 * r - 7) * (q21 - 1/2 * q11).
Proof.
  intros H R0 R1 R2.
  replace q02 with (1 - q00 - q01) by lra. replace q10 with (1 - q11 - q12) by lra. replace q21 with (1 - q20 - q22) by lra.
  apply Rminus_diag_uniq. field_simplify. replace (r ^ 2) with 13 by (rewrite <- H; ring). field.
Qed.

Lemma no_less q : feasible q -> (sqrt 13 - 1) / 12 <= unfairness q.
Proof.
  intros F. apply Rnot_lt_le. intros L. pose proof root_between as B. destruct root as [_ S].
  pose proof (share_positive q 0 F ltac:(lia)) as P0. pose proof (share_positive q 2 F ltac:(lia)) as P2.
  assert (U0 : off q 0 <= unfairness q) by (unfold unfairness; apply Rmax_l).
  assert (U2 : off q 2 <= unfairness q) by (unfold unfairness; eapply Rle_trans; [|apply Rmax_r]; apply Rmax_r).
  apply off_within in U0, U2; try assumption. destruct U0 as [U0 _], U2 as [_ U2].
  destruct F as (Row & C & V & Z).
  pose proof (identity (sqrt 13) _ _ _ _ _ _ _ _ _ S (Row 0%nat ltac:(lia)) (Row 1%nat ltac:(lia)) (Row 2%nat ltac:(lia))) as I.
  destruct (C 2%nat 0%nat ltac:(lia) ltac:(lia)) as (_ & T & _).
  pose proof (V 1%nat 0%nat 1%nat ltac:(lia) ltac:(lia) ltac:(lia)) as V0.
  pose proof (V 2%nat 1%nat 2%nat ltac:(lia) ltac:(lia) ltac:(lia)) as V1.
  pose proof (V 1%nat 2%nat 1%nat ltac:(lia) ltac:(lia) ltac:(lia)) as V2.
  unfold share in P0, P2, U0, U2. unfold ones in U0, U2.
  set (r := sqrt 13) in *. set (u := unfairness q) in *. set (t := (r - 1) / 12) in *.
  set (q00 := q 0%nat 0%nat) in *. set (q01 := q 0%nat 1%nat) in *. set (q02 := q 0%nat 2%nat) in *.
  set (q10 := q 1%nat 0%nat) in *. set (q11 := q 1%nat 1%nat) in *. set (q12 := q 1%nat 2%nat) in *.
  set (q20 := q 2%nat 0%nat) in *. set (q21 := q 2%nat 1%nat) in *. set (q22 := q 2%nat 2%nat) in *.
  clearbody r u t q00 q01 q02 q10 q11 q12 q20 q21 q22.
  assert (N2 : -3 * q02 + q12 + 2 * q22 - t * (3 * q02 + 2 * q12 + q22) < 0).
  { pose proof (Rmult_lt_compat_r _ _ _ P2 L) as M. lra. }
  assert (N0 : 3 * q00 - q10 - 2 * q20 - t * (3 * q00 + 2 * q10 + q20) < 0).
  { pose proof (Rmult_lt_compat_r _ _ _ P0 L) as M. lra. }
  assert (M0 : (2 + r) * (3 * q00 - q10 - 2 * q20 - t * (3 * q00 + 2 * q10 + q20)) < 0) by nra.
  assert (A1 : 0 <= (23 + 7 * r) * (1/2 * q00 + 1/3 * q11 + 1/6 * q22 - 1/2)) by (apply Rmult_le_pos; lra).
  assert (A2 : 0 <= (11 + r) * (q22 - q20)) by (apply Rmult_le_pos; lra).
  assert (A3 : 0 <= (11 + r) * (q01 - 1/2 * q11)) by (apply Rmult_le_pos; lra).
  assert (A4 : 0 <= (11 + r) * (q12 - 1/2 * q22)) by (apply Rmult_le_pos; lra).
  assert (A5 : 0 <= (19 * r - 7) * (q21 - 1/2 * q11)) by (apply Rmult_le_pos; lra).
  lra.
Qed.

Theorem irrational_optimum : least_unfairness_is ((sqrt 13 - 1) / 12).
Proof. split; [exact no_less | exists best; split; [exact best_feasible | exact best_attains]]. Qed.

Lemma only_one s t : least_unfairness_is s -> least_unfairness_is t -> s = t.
Proof.
  intros [L (q & F & U)] [L' (q' & F' & U')]. apply Rle_antisym.
  - eapply Rle_trans; [apply (L q' F') | exact U'].
  - eapply Rle_trans; [apply (L' q F) | exact U].
Qed.

(** ** No fraction *)

Lemma divided a : (a * a mod 13 = 0)%Z -> (a mod 13 = 0)%Z.
Proof.
  intros H. rewrite Z.mul_mod in H by lia. pose proof (Z.mod_pos_bound a 13 ltac:(lia)) as B.
  set (m := (a mod 13)%Z) in *. clearbody m.
  assert (C : (m = 0 \/ m = 1 \/ m = 2 \/ m = 3 \/ m = 4 \/ m = 5 \/ m = 6 \/ m = 7 \/ m = 8 \/ m = 9 \/ m = 10 \/ m = 11 \/ m = 12)%Z) by lia.
  repeat destruct C as [->|C]; try reflexivity; try discriminate. subst. discriminate.
Qed.

Lemma no_root n : forall a b, (Z.abs b < Z.of_nat n)%Z -> (a * a = 13 * (b * b))%Z -> b = 0%Z.
Proof.
  induction n as [|n IH]; intros a b L E; [lia|].
  assert (A : (a mod 13 = 0)%Z) by (apply divided; rewrite E, Z.mul_comm; apply Z.mod_mul; lia).
  apply Z.mod_divide in A; [|lia]. destruct A as [c ->].
  assert (E' : (b * b = 13 * (c * c))%Z) by lia.
  destruct (Z.eq_dec b 0) as [|N]; [assumption|].
  assert (K : (Z.abs c < Z.abs b)%Z) by nia.
  assert (c = 0%Z) by (apply (IH b c); [lia | assumption]). subst. nia.
Qed.

Theorem irrational_optimum_no_fraction : forall a b : Z, b <> 0%Z -> ~ least_unfairness_is (IZR a / IZR b).
Proof.
  intros a b N H. pose proof (only_one _ _ H irrational_optimum) as E. destruct root as [_ Sq].
  assert (Nb : IZR b <> 0) by (intros Z; now apply eq_IZR in Z).
  assert (R : IZR (12 * a + b) = sqrt 13 * IZR b).
  { rewrite plus_IZR, mult_IZR. replace (sqrt 13) with (12 * (IZR a / IZR b) + 1) by (rewrite E; field). field. assumption. }
  assert (Q : ((12 * a + b) * (12 * a + b) = 13 * (b * b))%Z).
  { apply eq_IZR. rewrite mult_IZR, R, !mult_IZR. replace (sqrt 13 * IZR b * (sqrt 13 * IZR b)) with (sqrt 13 * sqrt 13 * (IZR b * IZR b)) by ring.
    now rewrite Sq. }
  apply N. apply (no_root (S (Z.to_nat (Z.abs b))) (12 * a + b) b); [lia | assumption].
Qed.

(** ** Planted faults *)

(** √13 − 2 for √13 − 1. *)
Theorem irrational_optimum_fault_1 : ~ least_unfairness_is ((sqrt 13 - 2) / 12).
Proof. intros H. pose proof (only_one _ _ H irrational_optimum). lra. Qed.

(** Three digits of it. *)
Theorem irrational_optimum_fault_2 : ~ least_unfairness_is (217 / 1000).
Proof. apply (irrational_optimum_no_fraction 217 1000). lia. Qed.
