(** Finite channels, their level, and randomised response of k values.

    A channel sends input [i] below [k] to report [j] below [m] with chance [q i j]; [t] is e^ε. *)

From Checked Require Import Base.Numbers.

Definition channel (k m : nat) (q : nat -> nat -> Q) : Prop :=
  forall i, (i < k)%nat -> distribution m (q i).

(** Pure local privacy of level ln [t]. *)
Definition private (t : Q) (k m : nat) (q : nat -> nat -> Q) : Prop :=
  forall i i' j, (i < k)%nat -> (i' < k)%nat -> (j < m)%nat -> q i j <= t * q i' j.

(** ** Generalised randomised response *)

Definition number (k : nat) : Q := inject_Z (Z.of_nat k).

Lemma number_S k : number (S k) == number k + 1.
Proof. unfold number. rewrite Nat2Z.inj_succ, <- Z.add_1_r, inject_Z_plus. reflexivity. Qed.

Lemma number_nonneg k : 0 <= number k.
Proof. induction k as [|k IH]; [now compute|]. rewrite number_S. lra. Qed.

Lemma number_le k m : (k <= m)%nat -> number k <= number m.
Proof. induction 1 as [|m _ IH]; [lra|]. rewrite number_S. lra. Qed.

(** [dpfair_lib.local.response.response_matrix k x] with [x = 1/t]. *)
Definition response (k : nat) (t : Q) (i j : nat) : Q :=
  if Nat.eqb i j then t / (t + number k - 1) else 1 / (t + number k - 1).

Lemma response_denominator k t : (1 <= k)%nat -> 1 <= t -> 0 < t + number k - 1.
Proof. intros Hk Ht. pose proof (number_le 1 k Hk). change (number 1) with 1 in *. lra. Qed.

Lemma response_channel k t : (1 <= k)%nat -> 1 <= t -> channel k k (response k t).
Proof.
  intros Hk Ht i Hi. pose proof (response_denominator k t Hk Ht) as D. split.
  - intros j Hj. unfold response. destruct (Nat.eqb i j); apply div_nonneg; lra.
  - rewrite (sum_ext k _ (fun j => if Nat.eqb j i then t / (t + number k - 1) else 1 / (t + number k - 1)))
      by (intros j _; unfold response; now rewrite Nat.eqb_sym).
    rewrite (sum_split k (fun _ => t / (t + number k - 1)) (fun _ => 1 / (t + number k - 1)) i Hi), sum_const.
    fold (number k). field. lra.
Qed.

Definition response_is_private (odds : nat -> Q -> Q) : Prop :=
  forall k t, (1 <= k)%nat -> 1 <= t -> private (odds k t) k k (response k t).

Theorem response_private : response_is_private (fun _ t => t).
Proof.
  intros k t Hk Ht i i' j _ _ _. pose proof (response_denominator k t Hk Ht) as D. unfold response.
  apply Qinv_lt_0_compat in D. unfold Qdiv. set (p := / (t + number k - 1)) in *. clearbody p.
  assert (A : 0 <= (t - 1) * p) by nra. assert (B : 0 <= t * ((t - 1) * p)) by nra.
  destruct (Nat.eqb i j), (Nat.eqb i' j); lra.
Qed.

(** No smaller level holds as soon as there are two values. *)
Definition response_is_tight (odds : nat -> Q -> Q) : Prop :=
  forall k t s, (2 <= k)%nat -> 1 <= t -> private s k k (response k t) -> odds k t <= s.

Theorem response_tight : response_is_tight (fun _ t => t).
Proof.
  intros k t s Hk Ht H. specialize (H 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)).
  pose proof (response_denominator k t ltac:(lia) Ht) as D. unfold response in H. cbn [Nat.eqb] in H.
  assert (E : s * (1 / (t + number k - 1)) == s / (t + number k - 1)) by (field; lra).
  rewrite E in H. apply (Qmult_le_compat_r _ _ (t + number k - 1)) in H; [|lra].
  rewrite !div_mul in H by lra. exact H.
Qed.

(** No channel of this level on [k] values has a larger sum of truth probabilities. *)
Definition truth (k : nat) (q : nat -> nat -> Q) : Q := sum k (fun j => q j j).

Definition truth_at_most (bound : nat -> Q -> Q) : Prop :=
  forall k t q, (1 <= k)%nat -> 1 <= t -> channel k k q -> private t k k q -> truth k q <= bound k t.

Theorem response_most_truthful : truth_at_most (fun k t => truth k (response k t)).
Proof.
  intros k t q Hk Ht C H. pose proof (response_denominator k t Hk Ht) as D.
  assert (R : truth k (response k t) == number k * t / (t + number k - 1)).
  { unfold truth, response. rewrite (sum_ext k _ (fun _ => t / (t + number k - 1))).
    - rewrite sum_const. fold (number k). field. lra.
    - intros i _. now rewrite Nat.eqb_refl. }
  rewrite R. apply le_div; [assumption|].
  assert (Col : forall j, (j < k)%nat -> q j j * (t + number k - 1) <= t * sum k (fun i => q i j)).
  { intros j Hj. rewrite <- sum_scale.
    assert (L : sum k (fun i => if Nat.eqb i j then t * q j j else q j j) <= sum k (fun i => t * q i j)).
    { apply sum_le. intros i Hi. cbv beta. destruct (Nat.eqb_spec i j) as [->|N]; [lra|]. now apply H. }
    rewrite (sum_split k (fun _ => t * q j j) (fun _ => q j j) j Hj), sum_const in L. fold (number k) in L. lra. }
  assert (T : sum k (fun j => q j j * (t + number k - 1)) <= sum k (fun j => t * sum k (fun i => q i j)))
    by (apply sum_le; exact Col).
  rewrite sum_scale_r, sum_scale, sum_swap in T. fold (truth k q) in T.
  rewrite (sum_ext k (fun j => sum k (fun i => q j i)) (fun _ => 1)) in T by (intros i Hi; apply C; assumption).
  rewrite sum_const in T. fold (number k) in T. lra.
Qed.

(** *** Planted faults *)

(** The level halved. *)
Theorem response_private_fault_1 : ~ response_is_private (fun _ t => t / 2).
Proof. intros H. specialize (H 2%nat 2 ltac:(lia) ltac:(lra) 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)). now vm_compute in H. Qed.

(** A level that the number of values lowers. *)
Theorem response_private_fault_2 : ~ response_is_private (fun k t => t - (number k - 1) / 8).
Proof. intros H. specialize (H 2%nat 2 ltac:(lia) ltac:(lra) 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)). now vm_compute in H. Qed.

(** Twice the level would be needed. *)
Theorem response_tight_fault_1 : ~ response_is_tight (fun _ t => 2 * t).
Proof.
  intros H. specialize (H 2%nat 2 2 ltac:(lia) ltac:(lra) (response_private 2%nat 2 ltac:(lia) ltac:(lra))). now vm_compute in H.
Qed.

(** The level of the truth probability against one half of the rest. *)
Theorem response_tight_fault_2 : ~ response_is_tight (fun k t => t + number k - 2 + (1#8)).
Proof.
  intros H. specialize (H 2%nat 2 2 ltac:(lia) ltac:(lra) (response_private 2%nat 2 ltac:(lia) ltac:(lra))). now vm_compute in H.
Qed.

(** One value too many in the denominator. *)
Theorem response_most_truthful_fault_1 : ~ truth_at_most (fun k t => number k * t / (t + number k)).
Proof.
  intros H. specialize (H 2%nat 2 (response 2 2) ltac:(lia) ltac:(lra) (response_channel 2 2 ltac:(lia) ltac:(lra))
    (response_private 2%nat 2 ltac:(lia) ltac:(lra))). now vm_compute in H.
Qed.

(** The truth of chance. *)
Theorem response_most_truthful_fault_2 : ~ truth_at_most (fun k t => 1).
Proof.
  intros H. specialize (H 2%nat 2 (response 2 2) ltac:(lia) ltac:(lra) (response_channel 2 2 ltac:(lia) ltac:(lra))
    (response_private 2%nat 2 ltac:(lia) ltac:(lra))). now vm_compute in H.
Qed.
