(** Geometric noise on a whole number: private without any δ.

    The noise [z] has a chance in proportion to t^(-|z|), where [t = e^(ε/Δ)]. *)

From Checked Require Import Base.Numbers.

Fixpoint pow (x : Q) (n : nat) : Q := match n with O => 1 | S n => x * pow x n end.

Lemma pow_pos x n : 0 < x -> 0 < pow x n.
Proof. intros H. induction n as [|n IH]; cbn; [lra|]. now apply mul_pos. Qed.

Lemma pow_add x m n : pow x (m + n) == pow x m * pow x n.
Proof. induction m as [|m IH]; cbn; [ring|]. rewrite IH. ring. Qed.

Lemma pow_one_le x n : 1 <= x -> 1 <= pow x n.
Proof. intros H. induction n as [|n IH]; cbn [pow]; [lra|]. nra. Qed.

Lemma pow_inverse t n : 0 < t -> pow t n * pow (/ t) n == 1.
Proof.
  intros T. induction n as [|n IH]; cbn [pow]; [ring|].
  setoid_replace (t * pow t n * (/ t * pow (/ t) n)) with (t * / t * (pow t n * pow (/ t) n)) by ring.
  rewrite IH, Qmult_inv_r by lra. ring.
Qed.

(** The chance of the noise [z], with x = 1/t. *)
Definition geometric (x : Q) (z : Z) : Q := (1 - x) / (1 + x) * pow x (Z.abs_nat z).

(** A count [f] with noise is reported as [y]; [f'] is the neighbour's count. *)
Definition loss_within (odds : Q -> nat -> Q) : Prop :=
  forall t y f f', 1 < t ->
  geometric (/ t) (y - f)%Z <= odds t (Z.abs_nat (f - f')) * geometric (/ t) (y - f')%Z.

Theorem geometric_private : loss_within pow.
Proof.
  intros t y f f' T. unfold geometric. set (x := / t).
  assert (X : 0 < x) by (apply Qinv_lt_0_compat; lra).
  assert (X1 : x < 1) by (unfold x; apply Qlt_shift_inv_r; lra).
  assert (C : 0 < (1 - x) / (1 + x)) by (apply div_pos; lra).
  set (m := Z.abs_nat (f - f')). set (n := Z.abs_nat (y - f)). set (n' := Z.abs_nat (y - f')).
  assert (L : (n' <= n + m)%nat) by (unfold n', n, m; lia).
  assert (H : pow x n <= pow t m * pow x n').
  { replace (n + m)%nat with (n' + (n + m - n'))%nat in * by lia. set (r := (n + m - n')%nat) in *.
    assert (E : pow x n * pow x m == pow x n' * pow x r).
    { rewrite <- !pow_add. replace (n + m)%nat with (n' + r)%nat by (unfold r; lia). reflexivity. }
    assert (R : pow x r <= 1).
    { pose proof (pow_inverse t r ltac:(lra)) as I. fold x in I. pose proof (pow_one_le t r ltac:(lra)).
      pose proof (pow_pos x r X). nra. }
    pose proof (pow_pos x n' X) as P'. pose proof (pow_pos t m ltac:(lra)) as Pt.
    pose proof (pow_inverse t m ltac:(lra)) as I. fold x in I.
    assert (K : pow x n * pow x m <= pow x n') by (rewrite E; nra).
    pose proof (scaled (pow t m) _ _ (Qlt_le_weak _ _ Pt) K) as S.
    setoid_replace (pow t m * (pow x n * pow x m)) with (pow t m * pow x m * pow x n) in S by ring. rewrite I in S. lra. }
  pose proof (scaled _ _ _ (Qlt_le_weak _ _ C) H). lra.
Qed.

(** Attained at y = f, so that no smaller level does. *)
Theorem geometric_attained : forall t f f', 1 < t ->
  geometric (/ t) (f - f)%Z == pow t (Z.abs_nat (f - f')) * geometric (/ t) (f - f')%Z.
Proof.
  intros t f f' T. unfold geometric. rewrite Z.sub_diag. cbn [Z.abs_nat pow].
  pose proof (pow_inverse t (Z.abs_nat (f - f')) ltac:(lra)) as I.
  setoid_replace (pow t (Z.abs_nat (f - f')) * ((1 - / t) / (1 + / t) * pow (/ t) (Z.abs_nat (f - f'))))
    with ((1 - / t) / (1 + / t) * (pow t (Z.abs_nat (f - f')) * pow (/ t) (Z.abs_nat (f - f')))) by ring.
  rewrite I. reflexivity.
Qed.

(** The chances of the noise from −n to n miss 1 by 2x^(n+1)/(1 + x), which vanishes: they add up to 1. *)
Definition central_chance (x : Q) (n : nat) : Q :=
  geometric x 0 + sum n (fun i => geometric x (Z.of_nat (S i)) + geometric x (- Z.of_nat (S i))).

Definition misses (rest : Q -> nat -> Q) : Prop :=
  forall x n, 0 < x < 1 -> central_chance x n == 1 - rest x n.

Theorem geometric_adds_up : misses (fun x n => 2 * pow x (S n) / (1 + x)).
Proof.
  intros x n X. unfold central_chance. induction n as [|n IH]; cbn [sum].
  - unfold geometric. cbn [Z.abs_nat pow]. field. lra.
  - rewrite Qplus_assoc, IH. unfold geometric. replace (Z.abs_nat (- Z.of_nat (S n))) with (S n) by lia.
    replace (Z.abs_nat (Z.of_nat (S n))) with (S n) by lia. cbn [pow]. field. lra.
Qed.

(** ** Planted faults *)

Lemma loss_sharp odds : loss_within odds -> 2 <= odds 2 1%nat.
Proof.
  intros H. specialize (H 2 0%Z 0%Z 1%Z ltac:(lra)). rewrite (geometric_attained 2 0%Z 1%Z ltac:(lra)) in H.
  change (Z.abs_nat (0 - 1)) with 1%nat in H. change (pow 2 1) with (2 * 1) in H.
  assert (G : geometric (/ 2) (0 - 1)%Z == 1#6) by now compute. rewrite G in H. lra.
Qed.

(** No loss for a neighbour. *)
Theorem geometric_private_fault_1 : ~ loss_within (fun t m => pow t (m - 1)).
Proof. intros H. apply loss_sharp in H. now compute in H. Qed.

(** The mean of 1 and the loss. *)
Theorem geometric_private_fault_2 : ~ loss_within (fun t m => (1 + pow t m) / 2).
Proof. intros H. apply loss_sharp in H. now compute in H. Qed.

(** One tail only. *)
Theorem geometric_adds_up_fault_1 : ~ misses (fun x n => pow x (S n) / (1 + x)).
Proof. intros H. specialize (H (1#2) 1%nat ltac:(lra)). now vm_compute in H. Qed.

(** Both tails without their normalisation. *)
Theorem geometric_adds_up_fault_2 : ~ misses (fun x n => 2 * pow x (S n)).
Proof. intros H. specialize (H (1#2) 1%nat ltac:(lra)). now vm_compute in H. Qed.
