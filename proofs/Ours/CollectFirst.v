(** Collect plain reports first: which channels are plain response followed by another channel.

    [t] is the e^ε of plain response; the channel [w] acts on its reports. *)

From Checked Require Import Base.Numbers Privacy.Channels.

Definition followed (k : nat) (t : Q) (w : nat -> nat -> Q) (i j : nat) : Q := sum k (fun l => response k t i l * w l j).
Definition made (k m : nat) (t : Q) (q : nat -> nat -> Q) : Prop :=
  exists w, channel k m w /\ forall i j, (i < k)%nat -> (j < m)%nat -> q i j == followed k t w i j.
Definition column (k : nat) (q : nat -> nat -> Q) (j : nat) : Q := sum k (fun i => q i j).

Lemma followed_is k t w i j : (1 <= k)%nat -> 1 <= t -> (i < k)%nat ->
  (t + number k - 1) * followed k t w i j == (t - 1) * w i j + column k w j.
Proof.
  intros K T I. pose proof (response_denominator k t K T) as D. unfold followed, column.
  rewrite <- sum_scale.
  rewrite (sum_ext k _ (fun l => if Nat.eqb l i then t * w l j else w l j)).
  - rewrite (sum_split k (fun l => t * w l j) (fun l => w l j) i I). ring.
  - intros l _. unfold response. rewrite Nat.eqb_sym. destruct (Nat.eqb l i); field; lra.
Qed.

Lemma column_followed k t w j : (1 <= k)%nat -> 1 <= t -> column k (followed k t w) j == column k w j.
Proof.
  intros K T. pose proof (response_denominator k t K T) as D. apply (Qmult_inj_l _ _ (t + number k - 1)); [lra|].
  unfold column at 1. rewrite <- sum_scale.
  rewrite (sum_ext k _ (fun i => (t - 1) * w i j + column k w j)) by (intros i I; now apply followed_is).
  rewrite sum_plus, sum_scale, sum_const. fold (number k) (column k w j). ring.
Qed.

(** What the channel after plain response has to be, so that there is at most one for ε > 0. *)
Lemma made_by k m t q w : (1 <= k)%nat -> 1 <= t ->
  (forall i j, (i < k)%nat -> (j < m)%nat -> q i j == followed k t w i j) ->
  forall i j, (i < k)%nat -> (j < m)%nat -> (t + number k - 1) * q i j == (t - 1) * w i j + column k q j.
Proof.
  intros K T H i j I J. rewrite (H i j I J), (followed_is k t w i j K T I), <- (column_followed k t w j K T).
  unfold column. rewrite (sum_ext k (fun a => q a j) (fun a => followed k t w a j)) by (intros; now apply H). reflexivity.
Qed.

Theorem made_once : forall k m t q w w', (1 <= k)%nat -> 1 < t ->
  (forall i j, (i < k)%nat -> (j < m)%nat -> q i j == followed k t w i j) ->
  (forall i j, (i < k)%nat -> (j < m)%nat -> q i j == followed k t w' i j) ->
  forall i j, (i < k)%nat -> (j < m)%nat -> w i j == w' i j.
Proof.
  intros k m t q w w' K T H H' i j I J.
  pose proof (made_by k m t q w K ltac:(lra) H i j I J) as A. pose proof (made_by k m t q w' K ltac:(lra) H' i j I J) as B.
  apply (Qmult_inj_l _ _ (t - 1)); lra.
Qed.

(** No entry of a column is below its part of the column's sum. *)
Definition made_exactly (parts : nat -> Q -> Q) : Prop :=
  forall k m t q, (1 <= k)%nat -> 1 <= t -> channel k m q ->
  (made k m t q <-> forall i j, (i < k)%nat -> (j < m)%nat -> column k q j <= parts k t * q i j).

Theorem collect_first : made_exactly (fun k t => t + number k - 1).
Proof.
  intros k m t q K T C. pose proof (response_denominator k t K T) as D. split.
  - intros (w & W & H) i j I J. rewrite (made_by k m t q w K T H i j I J).
    pose proof (mul_nonneg (t - 1) (w i j) ltac:(lra) (proj1 (W i I) j J)). lra.
  - intros H. destruct (Qlt_le_dec 1 t) as [T1|T1].
    + exists (fun i j => ((t + number k - 1) * q i j - column k q j) / (t - 1)).
      assert (Col : forall j, column k (fun i j => ((t + number k - 1) * q i j - column k q j) / (t - 1)) j == column k q j).
      { intros j. unfold column at 1.
        rewrite (sum_ext k _ (fun i => / (t - 1) * ((t + number k - 1) * q i j - column k q j))) by (intros; field; lra).
        rewrite sum_scale, sum_minus, sum_scale, sum_const. fold (number k) (column k q j). field. lra. }
      split.
      * intros i I. split; [intros j J; apply div_nonneg; [lra|]; pose proof (H i j I J); lra|].
        rewrite (sum_ext m _ (fun j => / (t - 1) * ((t + number k - 1) * q i j - column k q j))) by (intros; field; lra).
        rewrite sum_scale, sum_minus, sum_scale, (proj2 (C i I)). unfold column. rewrite <- sum_swap.
        rewrite (sum_ext k _ (fun _ => 1)) by (intros a A; apply C; assumption). rewrite sum_const. fold (number k). field. lra.
      * intros i j I J. apply (Qmult_inj_l _ _ (t + number k - 1)); [lra|].
        rewrite (followed_is k t _ i j K T I), Col. field. lra.
    + (* at ε = 0 all rows are the same, and the channel itself follows *)
      assert (E : t == 1) by lra. exists q. split; [assumption|]. intros i j I J.
      apply (Qmult_inj_l _ _ (t + number k - 1)); [lra|]. rewrite (followed_is k t q i j K T I).
      assert (N : forall a, (a < k)%nat -> 0 <= (t + number k - 1) * q a j - column k q j) by (intros a A; pose proof (H a j A J); lra).
      pose proof (sum_term k _ i N I) as B. cbv beta in B. pose proof (N i I) as P.
      rewrite sum_minus, sum_scale, sum_const in B. fold (number k) (column k q j) in B.
      assert (Z : (t - 1) * column k q j == 0) by (rewrite E; ring). assert (Y : (t - 1) * q i j == 0) by (rewrite E; ring). lra.
Qed.

(** Two values: exactly the channels that are as private. *)
Definition two_values_need (own : Q -> Q) : Prop :=
  forall m t q, 1 <= t -> channel 2 m q -> (made 2 m t q <-> private (own t) 2 m q).

Theorem collect_first_two_values : two_values_need (fun t => t).
Proof.
  intros m t q T C. rewrite (collect_first 2%nat m t q ltac:(lia) T C). change (number 2) with 2. unfold column. cbn [sum]. split.
  - intros H i i' j I I' J. pose proof (H i' j I' J) as A. pose proof (proj1 (C i I) j J). pose proof (proj1 (C i' I') j J).
    assert (B : 0 <= (t - 1) * q i' j) by (apply mul_nonneg; lra).
    destruct i as [|[|i]], i' as [|[|i']]; try lia; lra.
  - intros H i j I J. pose proof (H 0%nat 1%nat j ltac:(lia) ltac:(lia) J). pose proof (H 1%nat 0%nat j ltac:(lia) ltac:(lia) J).
    destruct i as [|[|i]]; [lra | lra | lia].
Qed.

(** [dpfair_lib.local.response.collecting_ratio]: the odds of plain response that make all channels of odds [t]. *)
Definition collecting_odds (k : nat) (t : Q) : Q := 1 + (number k - 1) * (t - 1).

Definition price_is (price : nat -> Q -> Q) : Prop :=
  forall k t s, (2 <= k)%nat -> 1 <= t -> 1 <= s ->
  ((forall m q, channel k m q -> private t k m q -> made k m s q) <-> price k t <= s).

(** The question whether the value is the first one. *)
Definition first_or_not (t : Q) (i j : nat) : Q := if Nat.eqb (Nat.min i 1) j then t / (1 + t) else 1 / (1 + t).

Lemma first_or_not_fits k t : 1 <= t -> channel k 2 (first_or_not t) /\ private t k 2 (first_or_not t).
Proof.
  intros T. assert (P : 0 < 1 / (1 + t)) by (apply div_pos; lra).
  assert (E : t / (1 + t) == t * (1 / (1 + t))) by (field; lra). assert (S : t / (1 + t) + 1 / (1 + t) == 1) by (field; lra).
  unfold first_or_not. set (p := 1 / (1 + t)) in *. clearbody p. set (u := t / (1 + t)) in *. clearbody u.
  assert (A : 0 <= (t - 1) * p) by (apply mul_nonneg; lra). assert (B : 0 <= (t - 1) * u) by (apply mul_nonneg; lra). split.
  - intros i _. split; [intros j _; destruct (Nat.eqb (Nat.min i 1) j); lra|]. destruct i as [|i]; cbn; [lra|]. destruct i; cbn; lra.
  - intros i i' j _ _ _. destruct (Nat.eqb (Nat.min i 1) j), (Nat.eqb (Nat.min i' 1) j); lra.
Qed.

Theorem collect_first_price : price_is collecting_odds.
Proof.
  intros k t s K T S. unfold collecting_odds. split.
  - intros H. destruct (first_or_not_fits k t T) as [C P].
    pose proof (proj1 (collect_first k 2%nat s _ ltac:(lia) S C) (H _ _ C P) 0%nat 1%nat ltac:(lia) ltac:(lia)) as L.
    unfold column in L. rewrite (sum_ext k _ (fun i => if Nat.eqb i 0 then 1 / (1 + t) else t / (1 + t))) in L.
    + rewrite (sum_split k (fun _ => 1 / (1 + t)) (fun _ => t / (1 + t)) 0%nat ltac:(lia)), sum_const in L. fold (number k) in L.
      unfold first_or_not in L. cbn [Nat.min Nat.eqb] in L. assert (I : 0 < / (1 + t)) by (apply Qinv_lt_0_compat; lra).
      apply (Qmult_le_r _ _ (/ (1 + t))); [assumption|]. unfold Qdiv in L. lra.
    + intros i _. unfold first_or_not. destruct i as [|i]; [reflexivity|]. destruct i; reflexivity.
  - intros H m q C P. apply (collect_first k m s q ltac:(lia) S C). intros i j I J. pose proof (proj1 (C i I) j J) as N.
    assert (U : column k q j <= sum k (fun a => if Nat.eqb a i then q i j else t * q i j)).
    { apply sum_le. intros a A. destruct (Nat.eqb_spec a i) as [->|_]; [lra | now apply P]. }
    rewrite (sum_split k (fun _ => q i j) (fun _ => t * q i j) i I), sum_const in U. fold (number k) in U.
    assert (V : 0 <= (s - (1 + (number k - 1) * (t - 1))) * q i j) by (apply mul_nonneg; lra). lra.
Qed.

(** ** Planted faults *)

Lemma not_that_much k t s : (2 <= k)%nat -> 1 <= t -> 1 <= s -> made k k t (response k s) ->
  column k (response k s) 1 <= (t + number k - 1) * response k s 0 1.
Proof.
  intros K T R M. exact (proj1 (collect_first k k t _ ltac:(lia) T (response_channel k s ltac:(lia) R)) M 0%nat 1%nat ltac:(lia) ltac:(lia)).
Qed.

(** k for k − 1: plain response of e^ε = 3 from one of 2. *)
Theorem collect_first_fault_1 : ~ made_exactly (fun k t => t + number k).
Proof.
  intros H. assert (M : made 2 2 2 (response 2 3)).
  { apply (H 2%nat 2%nat 2 _ ltac:(lia) ltac:(lra) (response_channel 2%nat 3 ltac:(lia) ltac:(lra))).
    intros [|[|i]] [|[|j]] I J; try lia; now vm_compute. }
  pose proof (not_that_much 2%nat 2 3 ltac:(lia) ltac:(lra) ltac:(lra) M) as L. now vm_compute in L.
Qed.

(** The part of two values for all k: plain response of three values, from itself. *)
Theorem collect_first_fault_2 : ~ made_exactly (fun _ t => t + 1).
Proof.
  intros H. pose proof (response_channel 3%nat 2 ltac:(lia) ltac:(lra)) as C.
  assert (M : made 3 3 2 (response 3 2)).
  { apply (collect_first 3%nat 3%nat 2 _ ltac:(lia) ltac:(lra) C). intros [|[|[|i]]] [|[|[|j]]] I J; try lia; now vm_compute. }
  pose proof (proj1 (H 3%nat 3%nat 2 _ ltac:(lia) ltac:(lra) C) M 0%nat 1%nat ltac:(lia) ltac:(lia)) as L. now vm_compute in L.
Qed.

(** Twice the ε. *)
Theorem collect_first_two_values_fault_1 : ~ two_values_need (fun t => t * t).
Proof.
  intros H. pose proof (response_channel 2%nat 4 ltac:(lia) ltac:(lra)) as C.
  pose proof (proj2 (H 2%nat 2 _ ltac:(lra) C)) as M.
  assert (P : private (2 * 2) 2 2 (response 2 4)).
  { intros i i' j A B D. pose proof (response_private 2%nat 4 ltac:(lia) ltac:(lra) i i' j A B D) as L. cbv beta in L. lra. }
  pose proof (proj1 (collect_first_two_values 2%nat 2 _ ltac:(lra) C) (M P) 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)) as L.
  now vm_compute in L.
Qed.

(** The mean of 1 and the odds. *)
Theorem collect_first_two_values_fault_2 : ~ two_values_need (fun t => (1 + t) / 2).
Proof.
  intros H. pose proof (response_channel 2%nat 2 ltac:(lia) ltac:(lra)) as C.
  pose proof (proj2 (collect_first_two_values 2%nat 2 _ ltac:(lra) C) (response_private 2%nat 2 ltac:(lia) ltac:(lra))) as M.
  pose proof (proj1 (H 2%nat 2 _ ltac:(lra) C) M 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)) as L. now vm_compute in L.
Qed.

(** One price for all k: that of two values. *)
Theorem collect_first_price_fault_1 : ~ price_is (fun _ t => t).
Proof.
  intros H. pose proof (proj1 (collect_first_price 3%nat 2 2 ltac:(lia) ltac:(lra) ltac:(lra))
    (proj2 (H 3%nat 2 2 ltac:(lia) ltac:(lra) ltac:(lra)) ltac:(cbv beta; lra))) as L. now vm_compute in L.
Qed.

(** k times the odds: more than is needed. *)
Theorem collect_first_price_fault_2 : ~ price_is (fun k t => number k * t).
Proof.
  intros H. pose proof (proj1 (H 2%nat 2 2 ltac:(lia) ltac:(lra) ltac:(lra))
    (proj2 (collect_first_price 2%nat 2 2 ltac:(lia) ltac:(lra) ltac:(lra)) ltac:(now compute))) as L. now vm_compute in L.
Qed.
