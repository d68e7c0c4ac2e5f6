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

Definition admitted (k : nat) (p : nat -> Q) (x zeta : Q) (q : nat -> nat -> Q) : Prop :=
  channel k k q /\ truthful_columns k q /\ private_by_truth k x q /\ 1 - truth_of k p q <= zeta.

Theorem program_set_convex : forall k p x zeta q q' c, 0 <= c <= 1 -> 0 <= x ->
  admitted k p x zeta q -> admitted k p x zeta q' -> admitted k p x zeta (mixed c q q').
Proof.
  intros k p x zeta q q' c [C0 C1] X (C & T & V & Z) (C' & T' & V' & Z').
  assert (C2 : 0 <= 1 - c) by lra. unfold admitted. splits.
  - intros i Hi. destruct (C i Hi) as [P S], (C' i Hi) as [P' S']. split.
    + intros j Hj. unfold mixed. specialize (P j Hj). specialize (P' j Hj).
      pose proof (mul_nonneg _ _ C0 P). pose proof (mul_nonneg _ _ C2 P'). lra.
    + unfold mixed. rewrite sum_plus, !sum_scale, S, S'. ring.
  - intros i j Hi Hj. unfold mixed. pose proof (scaled c _ _ C0 (T i j Hi Hj)). pose proof (scaled (1 - c) _ _ C2 (T' i j Hi Hj)). lra.
  - intros i j Hi Hj. unfold mixed. pose proof (scaled c _ _ C0 (V i j Hi Hj)). pose proof (scaled (1 - c) _ _ C2 (V' i j Hi Hj)). lra.
  - assert (E : truth_of k p (mixed c q q') == c * truth_of k p q + (1 - c) * truth_of k p q').
    { unfold truth_of, mixed. rewrite <- !sum_scale, <- sum_plus. apply sum_ext. intros; ring. }
    rewrite E. pose proof (scaled c _ _ C0 Z). pose proof (scaled (1 - c) _ _ C2 Z'). lra.
Qed.

(** ** The least error ζ_min

    If every share is at least 1/(e^ε + k - 1) = x/(1 + (k - 1)x), no channel is more truthful than randomised response;
    if every share is larger, no other one is as truthful. *)
Definition response_truth (k : nat) (x : Q) : Q := 1 / (1 + (number k - 1) * x).

Definition truth_bounded (least : nat -> Q -> Q) (bound : nat -> Q -> Q) : Prop :=
  forall k p x q, (2 <= k)%nat -> 0 < x < 1 -> distribution k p -> channel k k q -> private_by_truth k x q ->
  (forall i, (i < k)%nat -> least k x <= p i) ->
  truth_of k p q <= bound k x.

Definition least_share (k : nat) (x : Q) : Q := x / (1 + (number k - 1) * x).

Lemma row_slack k x q i : (i < k)%nat -> 0 <= x -> channel k k q -> private_by_truth k x q ->
  (1 - x) * q i i + x * sum k (fun j => q j j) <= 1.
Proof.
  intros Hi X C V. pose proof (proj2 (C i Hi)) as One.
  assert (L : sum k (fun j => if Nat.eqb j i then q i i else x * q j j) <= sum k (q i)).
  { apply sum_le. intros j Hj. cbv beta. destruct (Nat.eqb_spec j i) as [->|N]; [lra|]. now apply V. }
  rewrite (sum_split k (fun _ => q i i) (fun j => x * q j j) i Hi), sum_scale in L. lra.
Qed.

Lemma number_two k : (2 <= k)%nat -> 2 <= number k.
Proof. intros H. pose proof (number_le 2 k H) as N. change (number 2) with 2 in N. exact N. Qed.

Lemma lost_truth k p x q : (2 <= k)%nat -> 0 < x < 1 -> distribution k p ->
  (1 - x) * (response_truth k x - truth_of k p q) ==
  sum k (fun i => (p i - least_share k x) * (1 - ((1 - x) * q i i + x * sum k (fun j => q j j)))).
Proof.
  intros Hk X [_ P]. pose proof (number_two k Hk) as N. set (u := sum k (fun j => q j j)).
  assert (D : 0 < 1 + (number k - 1) * x) by nra.
  rewrite (sum_ext k _ (fun i => (1 - x * u) * p i - (1 - x) * (p i * q i i)
                                 - (least_share k x * (1 - x * u) - least_share k x * (1 - x) * q i i))) by (intros; ring).
  rewrite !sum_minus, !sum_scale, sum_const, P. fold (truth_of k p q) (number k) u.
  unfold response_truth, least_share. field. lra.
Qed.

Theorem zeta_min_of_response : truth_bounded least_share response_truth.
Proof.
  intros k p x q Hk X P C V L. pose proof (lost_truth k p x q Hk X P) as E.
  assert (N : 0 <= sum k (fun i => (p i - least_share k x) * (1 - ((1 - x) * q i i + x * sum k (fun j => q j j))))).
  { apply sum_nonneg. intros i Hi. apply mul_nonneg; [specialize (L i Hi); lra|].
    pose proof (row_slack k x q i Hi ltac:(lra) C V). lra. }
  rewrite <- E in N. destruct X. nra.
Qed.

Theorem zeta_min_only_response : forall k p x q, (2 <= k)%nat -> 0 < x < 1 -> distribution k p ->
  channel k k q -> private_by_truth k x q -> (forall i, (i < k)%nat -> least_share k x < p i) ->
  truth_of k p q == response_truth k x ->
  forall i j, (i < k)%nat -> (j < k)%nat ->
  q i j == (if Nat.eqb i j then response_truth k x else x * response_truth k x).
Proof.
  intros k p x q Hk X P C V L T. pose proof (lost_truth k p x q Hk X P) as E. rewrite T in E.
  set (u := sum k (fun j => q j j)) in *.
  assert (S : forall i, (i < k)%nat -> 0 <= 1 - ((1 - x) * q i i + x * u)).
  { intros i Hi. pose proof (row_slack k x q i Hi ltac:(lra) C V) as R. fold u in R. lra. }
  assert (Z : forall i, (i < k)%nat -> 1 - ((1 - x) * q i i + x * u) == 0).
  { intros i Hi.
    assert (W : forall a, (a < k)%nat -> 0 <= (p a - least_share k x) * (1 - ((1 - x) * q a a + x * u))).
    { intros a Ha. apply mul_nonneg; [specialize (L a Ha); lra | now apply S]. }
    pose proof (sum_term k _ i W Hi) as B. cbv beta in B. specialize (L i Hi). specialize (S i Hi).
    assert (Zr : sum k (fun i => (p i - least_share k x) * (1 - ((1 - x) * q i i + x * u))) == 0) by lra.
    nra. }
  pose proof (number_two k Hk) as N. assert (D : 0 < 1 + (number k - 1) * x) by nra.
  assert (G : forall i, (i < k)%nat -> q i i == (1 - x * u) / (1 - x)).
  { intros i Hi. specialize (Z i Hi). apply Qeq_sym, (Qmult_inj_r _ _ (1 - x)); [lra|]. rewrite div_mul by lra. lra. }
  assert (U : u == number k * ((1 - x * u) / (1 - x))).
  { unfold u at 1. rewrite (sum_ext k _ (fun _ => (1 - x * u) / (1 - x))) by exact G. now rewrite sum_const. }
  assert (Qd : forall i, (i < k)%nat -> q i i == response_truth k x).
  { intros i Hi. rewrite (G i Hi). set (v := (1 - x * u) / (1 - x)) in *.
    assert (Ev : v * (1 - x) == 1 - x * u) by (unfold v; apply div_mul; lra).
    rewrite U in Ev at 1. unfold response_truth.
    apply (Qmult_inj_r _ _ (1 + (number k - 1) * x)); [lra|]. rewrite div_mul by lra. lra. }
  intros i j Hi Hj. destruct (Nat.eqb_spec i j) as [->|Nij]; [now apply Qd|].
  (* row i adds up to 1, and every entry off the diagonal is at least x times the truth *)
  assert (Row : sum k (fun j' => q i j' - (if Nat.eqb j' i then q i i else x * response_truth k x)) == 0).
  { rewrite sum_minus, (proj2 (C i Hi)), (sum_split k (fun _ => q i i) (fun _ => x * response_truth k x) i Hi), sum_const.
    fold (number k). rewrite (Qd i Hi). unfold response_truth. field. lra. }
  assert (Pos : forall j', (j' < k)%nat -> 0 <= q i j' - (if Nat.eqb j' i then q i i else x * response_truth k x)).
  { intros j' Hj'. destruct (Nat.eqb_spec j' i) as [->|Nj]; [lra|]. rewrite <- (Qd j' Hj').
    pose proof (V i j' Hi Hj'). lra. }
  pose proof (sum_term k _ j Pos Hj) as B. specialize (Pos j Hj). cbv beta in B.
  destruct (Nat.eqb_spec j i) as [->|_]; [contradiction|]. lra.
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

(** All shares are allowed. *)
Definition first_only (i : nat) : Q := match i with 0%nat => 1 | _ => 0 end.
Definition served_first (i j : nat) : Q :=
  match i, j with 0%nat, 0%nat => 3#4 | 0%nat, _ => 1#4 | _, _ => 1#2 end.

Lemma first_only_law : distribution 2 first_only.
Proof. split; [intros [|i] _; cbn; lra | now compute]. Qed.

Lemma served_first_channel : channel 2 2 served_first.
Proof.
  intros i Hi. destruct i as [|[|i]]; [| |lia]; (split; [|now compute]); intros [|j] _; cbn; lra.
Qed.

Lemma served_first_private : private_by_truth 2 (1#2) served_first.
Proof. intros i j Hi Hj. destruct i as [|[|i]], j as [|[|j]]; try lia; cbn; lra. Qed.

Theorem zeta_min_of_response_fault_1 : ~ truth_bounded (fun _ _ => 0) response_truth.
Proof.
  intros H. specialize (H 2%nat first_only (1#2) served_first ltac:(lia) ltac:(lra) first_only_law
    served_first_channel served_first_private).
  assert (G : forall i, (i < 2)%nat -> 0 <= first_only i) by (intros [|i] _; cbn; lra).
  specialize (H G). now vm_compute in H.
Qed.

(** One value more in the denominator. *)
Theorem zeta_min_of_response_fault_2 : ~ truth_bounded least_share (fun k x => 1 / (1 + number k * x)).
Proof.
  intros H. specialize (H 2%nat half (1#2) (response 2 2) ltac:(lia) ltac:(lra) half_law
    (response_channel 2 2 ltac:(lia) ltac:(lra))).
  assert (V : private_by_truth 2 (1#2) (response 2 2)).
  { intros i j Hi Hj. destruct i as [|[|i]], j as [|[|j]]; try lia; now compute. }
  assert (L : forall i, (i < 2)%nat -> least_share 2 (1#2) <= half i) by (intros; now compute).
  specialize (H V L). now vm_compute in H.
Qed.
