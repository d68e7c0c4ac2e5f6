(** Thesis, (5.5.5) to (5.5.9): the program of the fairest truthful channel.

    [x] is e^(-ε); value [i] below [k] is reported as [j] with chance [q i j]. *)

From Checked Require Import Base.Numbers Privacy.Channels Thesis.Lemma13.

(** Every report is likeliest from those whose value it is. *)
Definition truthful_columns (k : nat) (q : nat -> nat -> Q) : Prop :=
  forall i j, (i < k)%nat -> (j < k)%nat -> q i j <= q j j.

(** [dpfair_lib.local.truthful.private_by_pairs] and [private_by_truth], in fractions x = e^(-ε). *)
Definition private_by_pairs (k : nat) (x : Q) (q : nat -> nat -> Q) : Prop :=
  forall i i' j, (i < k)%nat -> (i' < k)%nat -> (j < k)%nat -> i <> i' -> x * q i j <= q i' j.
Definition private_by_truth (k : nat) (x : Q) (q : nat -> nat -> Q) : Prop :=
  forall i j, (i < k)%nat -> (j < k)%nat -> x * q j j <= q i j.

(** (5.5.7): with truthful columns the k² short constraints are enough. *)
Definition reduction (condition : nat -> (nat -> nat -> Q) -> Prop) : Prop :=
  forall k x q, 0 <= x <= 1 -> channel k k q -> condition k q ->
  (private_by_pairs k x q <-> private_by_truth k x q).

Theorem reduction_5_5_7 : reduction truthful_columns.
Proof.
  intros k x q X C T. split; intros H.
  - intros i j Hi Hj. destruct (Nat.eq_dec j i) as [->|N]; [|now apply H].
    pose proof (proj1 (C i Hi) i Hi). nra.
  - intros i i' j Hi Hi' Hj _. specialize (H i' j Hi' Hj). specialize (T i j Hi Hj).
    assert (x * q i j <= x * q j j) by (apply scaled; lra). lra.
Qed.

(** ** The objective

    [Δ] of the reports, and a mixture of two channels. *)
Definition unfairness (l k : nat) (p r : nat -> Q) (q : nat -> nat -> Q) : Q :=
  deviation l (reported k p r q) (overall k p r).

Definition mixed (c : Q) (q q' : nat -> nat -> Q) (i j : nat) : Q := c * q i j + (1 - c) * q' i j.

Lemma share_mixed k p c q q' j : share k p (mixed c q q') j == c * share k p q j + (1 - c) * share k p q' j.
Proof. unfold share, mixed. rewrite <- !sum_scale, <- sum_plus. apply sum_ext. intros; ring. Qed.

Lemma positives_mixed k p r c q q' j :
  sum k (fun a => p a * mixed c q q' a j * r a) ==
  c * sum k (fun a => p a * q a j * r a) + (1 - c) * sum k (fun a => p a * q' a j * r a).
Proof. unfold mixed. rewrite <- !sum_scale, <- sum_plus. apply sum_ext. intros; ring. Qed.

(** A level of Δ is a set of linear inequalities: |N_j| <= t·D_j. *)
Lemma level_is_linear n d y t : 0 < d -> 0 < y -> (Qabs (n / d / y - 1) <= t <-> Qabs (n - y * d) <= t * (y * d)).
Proof.
  intros D Y. assert (P : 0 < y * d) by now apply mul_pos.
  assert (E : n / d / y - 1 == (n - y * d) / (y * d)) by (field; lra).
  rewrite E. unfold Qdiv. rewrite Qabs_Qmult, (Qabs_pos (/ (y * d))) by (apply Qlt_le_weak, Qinv_lt_0_compat, P).
  fold (Qabs (n - y * d) / (y * d)). split; intros H.
  - apply (Qmult_le_compat_r _ _ (y * d)) in H; [|lra]. rewrite div_mul in H; lra.
  - now apply div_le.
Qed.

(** Quasi-convexity: a mixture is at most as unfair as the less fair of both. *)
Definition mixture_at_most (bound : Q -> Q -> Q -> Q) : Prop :=
  forall k l p r q q' c, 0 <= c <= 1 -> 0 < overall k p r ->
  (forall j, (j <= l)%nat -> 0 < share k p q j /\ 0 < share k p q' j) ->
  unfairness l k p r (mixed c q q') <= bound c (unfairness l k p r q) (unfairness l k p r q').

Theorem program_quasi_convex : mixture_at_most (fun _ u v => Qmax u v).
Proof.
  intros k l p r q q' c [C0 C1] Y D. unfold unfairness. set (y := overall k p r) in *.
  set (u := deviation l (reported k p r q) y). set (v := deviation l (reported k p r q') y).
  apply largest_le. intros j Hj. cbv beta. destruct (D j Hj) as [Dq Dq'].
  assert (U : Qabs (reported k p r q j / y - 1) <= Qmax u v).
  { eapply Qle_trans; [|apply Q.le_max_l].
    exact (largest_ge l (fun a => Qabs (reported k p r q a / y - 1)) j Hj). }
  assert (V : Qabs (reported k p r q' j / y - 1) <= Qmax u v).
  { eapply Qle_trans; [|apply Q.le_max_r].
    exact (largest_ge l (fun a => Qabs (reported k p r q' a / y - 1)) j Hj). }
  set (t := Qmax u v) in *. clearbody t. unfold reported in *.
  apply level_is_linear in U, V; try assumption.
  assert (P : 0 < share k p (mixed c q q') j).
  { rewrite share_mixed. destruct (Qlt_le_dec 0 c).
    - assert (0 < c * share k p q j) by now apply mul_pos.
      assert (0 <= (1 - c) * share k p q' j) by (apply mul_nonneg; lra). lra.
    - assert (E : c == 0) by lra. rewrite E. lra. }
  apply level_is_linear; [assumption..|]. rewrite share_mixed, positives_mixed.
  set (n := sum k (fun a => p a * q a j * r a)) in *. set (n' := sum k (fun a => p a * q' a j * r a)) in *.
  set (d := share k p q j) in *. set (d' := share k p q' j) in *.
  apply abs_le in U, V. destruct U as [U1 U2], V as [V1 V2]. apply abs_le.
  pose proof (scaled c _ _ C0 U1). pose proof (scaled c _ _ C0 U2).
  assert (C2 : 0 <= 1 - c) by lra.
  pose proof (scaled (1 - c) _ _ C2 V1). pose proof (scaled (1 - c) _ _ C2 V2). split; lra.
Qed.

(** The channels that the program admits are convex, and so is the error budget. *)
Definition truth_of (k : nat) (p : nat -> Q) (q : nat -> nat -> Q) : Q := sum k (fun i => p i * q i i).

(** And every value is likeliest to be reported as it is. *)
Definition truthful_rows (k : nat) (q : nat -> nat -> Q) : Prop :=
  forall i j, (i < k)%nat -> (j < k)%nat -> q i j <= q i i.

Definition admitted (k : nat) (p : nat -> Q) (x zeta : Q) (q : nat -> nat -> Q) : Prop :=
  channel k k q /\ truthful_columns k q /\ truthful_rows k q /\ private_by_truth k x q /\ 1 - truth_of k p q <= zeta.

Theorem program_set_convex : forall k p x zeta q q' c, 0 <= c <= 1 -> 0 <= x ->
  admitted k p x zeta q -> admitted k p x zeta q' -> admitted k p x zeta (mixed c q q').
Proof.
  intros k p x zeta q q' c [C0 C1] X (C & T & R & V & Z) (C' & T' & R' & V' & Z').
  assert (C2 : 0 <= 1 - c) by lra. unfold admitted. splits.
  - intros i Hi. destruct (C i Hi) as [P S], (C' i Hi) as [P' S']. split.
    + intros j Hj. unfold mixed. specialize (P j Hj). specialize (P' j Hj).
      pose proof (mul_nonneg _ _ C0 P). pose proof (mul_nonneg _ _ C2 P'). lra.
    + unfold mixed. rewrite sum_plus, !sum_scale, S, S'. ring.
  - intros i j Hi Hj. unfold mixed. pose proof (scaled c _ _ C0 (T i j Hi Hj)). pose proof (scaled (1 - c) _ _ C2 (T' i j Hi Hj)). lra.
  - intros i j Hi Hj. unfold mixed. pose proof (scaled c _ _ C0 (R i j Hi Hj)). pose proof (scaled (1 - c) _ _ C2 (R' i j Hi Hj)). lra.
  - intros i j Hi Hj. unfold mixed. pose proof (scaled c _ _ C0 (V i j Hi Hj)). pose proof (scaled (1 - c) _ _ C2 (V' i j Hi Hj)). lra.
  - assert (E : truth_of k p (mixed c q q') == c * truth_of k p q + (1 - c) * truth_of k p q').
    { unfold truth_of, mixed. rewrite <- !sum_scale, <- sum_plus. apply sum_ext. intros; ring. }
    rewrite E. pose proof (scaled c _ _ C0 Z). pose proof (scaled (1 - c) _ _ C2 Z'). lra.
Qed.

(** Inside the program every report occurs, so Δ of a mixture is at most the larger Δ, without further conditions. *)
Definition mixture_in_program (bound : Q -> Q -> Q -> Q) : Prop :=
  forall l p r x zeta q q' c, 0 <= c <= 1 -> 0 < x <= 1 -> distribution (S l) p -> 0 < overall (S l) p r ->
  admitted (S l) p x zeta q -> admitted (S l) p x zeta q' ->
  unfairness l (S l) p r (mixed c q q') <= bound c (unfairness l (S l) p r q) (unfairness l (S l) p r q').

Lemma every_report_occurs k p x zeta q j : 0 < x -> distribution k p -> admitted k p x zeta q -> (j < k)%nat -> 0 < share k p q j.
Proof.
  intros X P (C & _ & R & V & _) J. destruct (C j J) as [_ One].
  assert (T : 0 < q j j).
  { destruct (Qlt_le_dec 0 (q j j)) as [T|T]; [assumption|].
    assert (L : sum k (q j) <= sum k (fun _ => 0)) by (apply sum_le; intros i Hi; pose proof (R j i J Hi); lra).
    rewrite sum_zero in L. lra. }
  assert (L : sum k (fun a => p a * (x * q j j)) <= share k p q j).
  { apply sum_le. intros a Ha. apply scaled; [now apply P | now apply V]. }
  rewrite sum_scale_r, (proj2 P) in L. pose proof (mul_pos _ _ X T). lra.
Qed.

Theorem program_quasi_convex_inside : mixture_in_program (fun _ u v => Qmax u v).
Proof.
  intros l p r x zeta q q' c C X P Y A A'. apply program_quasi_convex; [assumption..|]. intros j Hj.
  split; apply (every_report_occurs (S l) p x zeta); try assumption; try lia; apply X.
Qed.

(** A channel of two values by its truths. *)
Definition by_truths (a b : Q) (i : nat) : nat -> Q := match i with 0%nat => two a (1 - a) | _ => two (1 - b) b end.

Lemma by_truths_admitted w x a b : 0 <= x -> (1#2) <= a <= 1 -> (1#2) <= b <= 1 -> x * b <= 1 - a -> x * a <= 1 - b ->
  admitted 2 (two w (1 - w)) x (1 - (w * a + (1 - w) * b)) (by_truths a b).
Proof.
  intros X A B H K. unfold admitted, by_truths. assert (x * a <= a /\ x * b <= b) by (split; nra). splits.
  - intros i _. destruct i; (split; [intros [|j] _; cbn; lra | cbn; ring]).
  - intros [|i] [|j] _ _; cbn; lra.
  - intros [|i] [|j] _ _; cbn; lra.
  - intros [|i] [|j] _ _; cbn; lra.
  - unfold truth_of. cbn. lra.
Qed.

(** ** Planted faults *)

(** Without truthful columns. *)
Theorem reduction_5_5_7_fault_1 : ~ reduction (fun _ _ => True).
Proof.
  intros H.
  set (q := fun i j : nat => match i, j with 0%nat, 0%nat => 1#4 | 0%nat, 1%nat => 3#4 | 1%nat, 0%nat => 3#4 | _, _ => 1#4 end).
  assert (C : channel 2 2 q).
  { intros i Hi. destruct i as [|[|i]]; [| |lia]; (split; [|now compute]);
      intros j _; destruct j as [|[|j]]; cbn; lra. }
  destruct (H 2%nat (1#2) q ltac:(lra) C I) as [_ K].
  assert (V : private_by_truth 2 (1#2) q).
  { intros i j Hi Hj. destruct i as [|[|i]], j as [|[|j]]; try lia; cbn; lra. }
  specialize (K V 1%nat 0%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)). now vm_compute in K.
Qed.

(** With rows in which the truth is likeliest, instead of columns. *)
Theorem reduction_5_5_7_fault_2 : ~ reduction (fun k q => forall i j, (i < k)%nat -> (j < k)%nat -> q i j <= q i i).
Proof.
  intros H.
  set (q := fun i j : nat => match i, j with
    | 1%nat, 0%nat => 2#5 | 1%nat, 1%nat => 2#5 | 1%nat, _ => 1#5
    | 2%nat, 0%nat => 1#15 | 2%nat, 1%nat => 1#10 | 2%nat, _ => 5#6
    | _, _ => 1#3 end).
  assert (C : channel 3 3 q).
  { intros i Hi. destruct i as [|[|[|i]]]; [| | |lia]; (split; [|now compute]);
      intros j _; destruct j as [|[|[|j]]]; cbn; lra. }
  assert (R : forall i j, (i < 3)%nat -> (j < 3)%nat -> q i j <= q i i).
  { intros i j Hi Hj. destruct i as [|[|[|i]]], j as [|[|[|j]]]; try lia; cbn; lra. }
  destruct (H 3%nat (1#5) q ltac:(lra) C R) as [_ K].
  assert (V : private_by_truth 3 (1#5) q).
  { intros i j Hi Hj. destruct i as [|[|[|i]]], j as [|[|[|j]]]; try lia; cbn; lra. }
  specialize (K V 1%nat 2%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lia)). now vm_compute in K.
Qed.

(** The mean of both for the larger: the objective is not convex. *)
Definition identity (i j : nat) : Q := if Nat.eqb i j then 1 else 0.
Definition constant (_ j : nat) : Q := match j with 0%nat => 1#4 | _ => 3#4 end.

Lemma both_reported j : (j <= 1)%nat -> 0 < share 2 half identity j /\ 0 < share 2 half constant j.
Proof. intros Hj. destruct j as [|[|j]]; [split; now compute | split; now compute | lia]. Qed.

Theorem program_quasi_convex_fault_1 : ~ mixture_at_most (fun c u v => c * u + (1 - c) * v).
Proof.
  intros H. specialize (H 2%nat 1%nat half zero_one identity constant (1#2) ltac:(lra) ltac:(now compute) both_reported).
  now vm_compute in H.
Qed.

(** The fairer of both. *)
Theorem program_quasi_convex_fault_2 : ~ mixture_at_most (fun _ u v => Qmin u v).
Proof.
  intros H. specialize (H 2%nat 1%nat half zero_one identity constant (1#2) ltac:(lra) ltac:(now compute) both_reported).
  now vm_compute in H.
Qed.

(** Two channels of the program, and their middle: the objective is not convex inside it either. *)
Definition one_way : nat -> nat -> Q := by_truths (1#2) (2#3).
Definition other_way : nat -> nat -> Q := by_truths (3#4) (3#4).

Lemma both_ways : admitted 2 (two (1#2) (1 - (1#2))) (1#4) (5#12) one_way /\ admitted 2 (two (1#2) (1 - (1#2))) (1#4) (5#12) other_way.
Proof.
  split.
  - destruct (by_truths_admitted (1#2) (1#4) (1#2) (2#3)) as (A & B & R & V & Z); try lra. unfold admitted. splits; try assumption;
      (eapply Qle_trans; [exact Z | now compute]).
  - destruct (by_truths_admitted (1#2) (1#4) (3#4) (3#4)) as (A & B & R & V & Z); try lra. unfold admitted. splits; try assumption;
      (eapply Qle_trans; [exact Z | now compute]).
Qed.

Lemma two_halves : distribution 2 (two (1#2) (1 - (1#2))).
Proof. split; [intros [|i] _; cbn; lra | now compute]. Qed.

(** The mean of both for the larger. *)
Theorem program_quasi_convex_inside_fault_1 : ~ mixture_in_program (fun c u v => c * u + (1 - c) * v).
Proof.
  intros H. destruct both_ways as [A B]. specialize (H 1%nat _ zero_one (1#4) (5#12) _ _ (1#2) ltac:(lra) ltac:(lra) two_halves ltac:(now compute) A B).
  now vm_compute in H.
Qed.

(** The fairer of both. *)
Theorem program_quasi_convex_inside_fault_2 : ~ mixture_in_program (fun _ u v => Qmin u v).
Proof.
  intros H. destruct both_ways as [A B]. specialize (H 1%nat _ zero_one (1#4) (5#12) _ _ (1#2) ltac:(lra) ltac:(lra) two_halves ltac:(now compute) A B).
  now vm_compute in H.
Qed.
