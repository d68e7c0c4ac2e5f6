(** MPBT, § 2.2: privacy amplified by a random subset of fixed size, under replace-one.

    A chance event [event] has the probability [r] if the changed record is not drawn, and [a] (or [a'], on the
    neighbouring data) if it is; it is drawn with chance [q]. Without the record both data sets are the same. *)

From Checked Require Import Base.Numbers Privacy.Channels Privacy.Geometric.

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

(** No smaller odds do: the event is sure with the record, and has the chance 1/t without it or with its replacement. *)
Theorem amplification_attained : forall t q, 1 <= t -> 0 <= q <= 1 ->
  outcome q (1 / t) 1 == amplified_odds t q * outcome q (1 / t) (1 / t).
Proof. intros t q T _. unfold outcome, amplified_odds. field. lra. Qed.

(** ** No multiple of qε serves for every ε: the printed O(qε) is a statement about small ε

    The share is 1/m, and [m] times the real level is compared with [C] times ε, both as odds. The chances are any three
    that are pairwise within the odds [t]. *)
Definition exceeds_multiples (records : nat -> nat) : Prop :=
  forall C, (1 <= C)%nat -> exists t, 1 <= t /\
  forall odds, (forall r a a', 0 <= r <= 1 -> 0 <= a <= 1 -> 0 <= a' <= 1 ->
                a <= t * a' -> a' <= t * a -> a <= t * r -> r <= t * a -> a' <= t * r -> r <= t * a' ->
                outcome (1 / number (records C)) r a <= odds * outcome (1 / number (records C)) r a') ->
  pow t C < pow odds (records C).

Lemma pow_product x y n : pow (x * y) n == pow x n * pow y n.
Proof. induction n as [|n IH]; cbn [pow]; [ring|]. rewrite IH. ring. Qed.

Lemma pow_up x y n : 0 < x -> x < y -> (1 <= n)%nat -> pow x n < pow y n.
Proof.
  intros X L N. destruct n as [|n]; [lia|]. clear N. induction n as [|n IH]; [cbn; lra|].
  change (pow x (S (S n))) with (x * pow x (S n)). change (pow y (S (S n))) with (y * pow y (S n)).
  pose proof (pow_pos x (S n) X). apply Qlt_trans with (y * pow x (S n)); [now apply Qmult_lt_compat_r | apply Qmult_lt_l; lra].
Qed.

Theorem amplification_not_linear : exceeds_multiples S.
Proof.
  intros C HC. set (m := number (S C)).
  assert (M : 2 <= m) by (unfold m; pose proof (number_le 2 (S C) ltac:(lia)) as N; change (number 2) with 2 in N; exact N).
  exists (pow m (S C)). set (t := pow m (S C)). assert (T : 1 <= t) by (apply pow_one_le; lra). split; [assumption|].
  assert (It : 0 < / t) by (apply Qinv_lt_0_compat; lra). assert (TI : t * / t == 1) by (apply Qmult_inv_r; lra).
  assert (It1 : / t <= 1) by (apply (Qmult_le_l _ _ t); lra). assert (W : / t <= t * / t) by lra.
  intros odds H. specialize (H (/ t) 1 (/ t) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) W W). fold m in H.
  (* the odds that serve are at least 1 + (t - 1)/m, so more than t/m, whose m-th power is t^C *)
  assert (J : 0 < / m) by (apply Qinv_lt_0_compat; lra). assert (J1 : / m < 1) by (apply Qlt_shift_inv_r; lra).
  assert (L : t * / m < odds).
  { unfold outcome in H. setoid_replace (1 / m) with (/ m) in H by (field; lra).
    assert (O : 1 + / m * (t - 1) <= odds).
    { apply (Qmult_le_r _ _ (/ t)); [assumption|].
      setoid_replace ((1 + / m * (t - 1)) * / t) with ((1 - / m) * / t + / m * (t * / t)) by ring. rewrite TI. lra. }
    lra. }
  assert (P : pow (t * / m) (S C) == pow t C).
  { rewrite pow_product. change (pow t (S C)) with (t * pow t C). unfold t at 1.
    pose proof (pow_inverse m (S C) ltac:(lra)) as I.
    setoid_replace (pow m (S C) * pow t C * pow (/ m) (S C)) with (pow t C * (pow m (S C) * pow (/ m) (S C))) by ring.
    rewrite I. ring. }
  rewrite <- P. apply pow_up; [|assumption|lia]. apply mul_pos; [lra|]. apply Qinv_lt_0_compat. lra.
Qed.

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

(** A share of 1/C: then C times qε is ε itself, which serves. *)
Theorem amplification_not_linear_fault_1 : ~ exceeds_multiples (fun C => C).
Proof.
  intros H. destruct (H 2%nat ltac:(lia)) as (t & T & K). specialize (K t).
  assert (L : pow t 2 < pow t 2); [|lra]. apply K. intros r a a' R A A' U _ _ _ _ _.
  unfold outcome. cbv beta. assert (E : 1 / number 2 == 1#2) by reflexivity. rewrite E.
  assert (0 <= (t - 1) * r) by (apply mul_nonneg; lra). lra.
Qed.

(** All records: the level is not amplified, and is less than twice itself. *)
Theorem amplification_not_linear_fault_2 : ~ exceeds_multiples (fun _ => 1%nat).
Proof.
  intros H. destruct (H 2%nat ltac:(lia)) as (t & T & K). specialize (K t).
  assert (L : pow t 2 < pow t 1).
  { apply K. intros r a a' R A A' U _ _ _ _ _. unfold outcome. cbv beta.
    assert (E : 1 / number 1 == 1) by reflexivity. rewrite E. lra. }
  cbn [pow] in L. assert (0 <= t * (t - 1)) by (apply mul_nonneg; lra). lra.
Qed.
