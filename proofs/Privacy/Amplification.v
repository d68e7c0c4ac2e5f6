(** MPBT, § 2.2: privacy amplified by a random subset of fixed size, under replace-one.

    A chance event [event] has the probability [r] if the changed record is not drawn, and [a] (or [a'], on the
    neighbouring data) if it is; it is drawn with chance [q]. Without the record both data sets are the same. *)

From Checked Require Import Base.Numbers.

Definition outcome (q r a : Q) : Q := (1 - q) * r + q * a.

(** [dpfair_lib.privacy.amplification.amplified_odds]. *)
Definition amplified_odds (t q : Q) : Q := 1 + q * (t - 1).

(** A subset with the record is a neighbour of the one with its replacement, and of those with another record for it. *)
Definition amplifies (odds : Q -> Q -> Q) (slack : Q -> Q -> Q) : Prop :=
  forall t delta q r a a', 1 <= t -> 0 <= delta -> 0 <= q <= 1 -> 0 <= r -> 0 <= a' ->
  a <= t * a' + delta -> a <= t * r + delta ->
  outcome q r a <= odds t q * outcome q r a' + slack delta q.

Theorem amplification : amplifies amplified_odds (fun delta q => q * delta).
Proof.
  intros t delta q r a a' T D [Q0 Q1] R A H K. unfold outcome, amplified_odds.
  set (m := Qmin r a').
  assert (M : 0 <= m /\ m <= r /\ m <= a').
  { unfold m. splits; [now apply Q.min_glb | apply Q.le_min_l | apply Q.le_min_r]. }
  assert (E : a <= t * m + delta).
  { unfold m. destruct (min_cases r a') as [[_ E]|[_ E]]; rewrite E; assumption. }
  assert (C : 0 <= 1 - q) by lra. pose proof (scaled q _ _ Q0 E) as F.
  assert (G : m <= (1 - q) * r + q * a').
  { pose proof (scaled (1 - q) m r C ltac:(lra)). pose proof (scaled q m a' Q0 ltac:(lra)). lra. }
  assert (W : 0 <= q * (t - 1)) by (apply mul_nonneg; lra).
  pose proof (scaled _ _ _ W G) as Z. pose proof (scaled q m a' Q0 ltac:(lra)) as Y. lra.
Qed.

(** No smaller odds do: a reveals as much as it may. *)
Theorem amplification_attained : forall t q, 1 <= t -> 0 <= q <= 1 ->
  outcome q 1 t == amplified_odds t q * outcome q 1 1.
Proof. intros t q _ _. unfold outcome, amplified_odds. ring. Qed.

(** [qε] for small ε is a limit; as a bound on odds it is 1 + q(t - 1), not the [q]-th part of the odds. *)
Theorem amplification_fault_1 : ~ amplifies (fun t q => 1 + q * (t - 1) / 2) (fun delta q => q * delta).
Proof.
  intros H. specialize (H 2 0 (1#2) (1#2) 1 (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  now vm_compute in H.
Qed.

(** δ multiplied by the square of the share. *)
Theorem amplification_fault_2 : ~ amplifies amplified_odds (fun delta q => q * q * delta).
Proof.
  intros H. specialize (H 1 (1#2) (1#2) (1#2) 1 (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  now vm_compute in H.
Qed.

(** The neighbourhood of subsets with and without the record cannot be left out: as for Poisson batches. *)
Theorem amplification_needs_both : ~ (forall t q r a a', 1 <= t -> 0 <= q <= 1 -> 0 <= r -> 0 <= a' ->
  a <= t * a' -> outcome q r a <= amplified_odds t q * outcome q r a').
Proof.
  intros H. specialize (H 2 (1#2) 0 1 (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)). now vm_compute in H.
Qed.
