(** A rule of equal rates that is applied through a channel that it was not computed for.

    Everything is given one true label. [p i] is P(Ŷ = 1) in group [i]; [r h j] is the rule's chance of answer 1 for
    the predicted label [h] and the group [j]. Group 0 is exchanged with chance [a], group 1 with [b]. *)

From Checked Require Import Base.Numbers.

(** The rate of group [i] under the rule of group [j]. *)
Definition rate_under (p : nat -> Q) (r : nat -> nat -> Q) (i j : nat) : Q := (1 - p i) * r 0%nat j + p i * r 1%nat j.

Definition gap_through (p : nat -> Q) (r : nat -> nat -> Q) (a b : Q) : Q :=
  ((1 - a) * rate_under p r 0 0 + a * rate_under p r 0 1) - ((1 - b) * rate_under p r 1 1 + b * rate_under p r 1 0).

(** Chances, and the rate [m] of both groups without the channel. *)
Definition equal_rates (p : nat -> Q) (r : nat -> nat -> Q) (m : Q) : Prop :=
  (forall i, (i < 2)%nat -> 0 <= p i <= 1) /\ (forall h j, (h < 2)%nat -> (j < 2)%nat -> 0 <= r h j <= 1) /\
  rate_under p r 0 0 == m /\ rate_under p r 1 1 == m.

Definition gap_is (formula : Q -> Q -> Q -> Q -> Q -> Q) : Prop :=
  forall p r m a b, equal_rates p r m -> 0 <= a <= 1 -> 0 <= b <= 1 ->
  gap_through p r a b == formula a b (rate_under p r 0 1) (rate_under p r 1 0) m.

Theorem rule_and_channel : gap_is (fun a b s01 s10 m => a * (s01 - m) - b * (s10 - m)).
Proof. intros p r m a b (_ & _ & E & F) _ _. unfold gap_through. rewrite E, F. ring. Qed.

Lemma rate_range p r m i j : equal_rates p r m -> (i < 2)%nat -> (j < 2)%nat -> 0 <= rate_under p r i j <= 1.
Proof.
  intros (P & R & _) I J. unfold rate_under. specialize (P i I).
  pose proof (R 0%nat j ltac:(lia) J). pose proof (R 1%nat j ltac:(lia) J).
  assert (0 <= (1 - p i) * r 0%nat j) by (apply mul_nonneg; lra). assert (0 <= p i * r 1%nat j) by (apply mul_nonneg; lra).
  assert (0 <= (1 - p i) * (1 - r 0%nat j)) by (apply mul_nonneg; lra). assert (0 <= p i * (1 - r 1%nat j)) by (apply mul_nonneg; lra).
  lra.
Qed.

(** The largest gap over all predictions and rules of equal rates. *)
Definition largest_gap_is (largest : Q -> Q -> Q) : Prop :=
  forall a b, 0 <= a <= 1 -> 0 <= b <= 1 ->
  (forall p r m, equal_rates p r m -> Qabs (gap_through p r a b) <= largest a b) /\
  exists p r m, equal_rates p r m /\ Qabs (gap_through p r a b) == largest a b.

(** [dpfair_lib.postprocessing.reported_groups.largest_gap]. *)
Definition largest_gap (a b : Q) : Q := Qmax a b.

(** Group 0 is predicted 0, group 1 is predicted 1; one group's rule would answer 1 to the other group. *)
Definition apart (i : nat) : Q := match i with 0%nat => 0 | _ => 1 end.
Definition rule_of (first second : Q) (h j : nat) : Q :=
  match h, j with 0%nat, 1%nat => first | 1%nat, 0%nat => second | _, _ => 0 end.

Lemma apart_equal first second : 0 <= first <= 1 -> 0 <= second <= 1 -> equal_rates apart (rule_of first second) 0.
Proof.
  intros F S. split; [|split; [|split]].
  - intros [|i] _; cbn; lra.
  - intros [|[|h]] [|[|j]] _ _; cbn; lra.
  - unfold rate_under, apart, rule_of. ring.
  - unfold rate_under, apart, rule_of. ring.
Qed.

Theorem rule_and_channel_largest : largest_gap_is largest_gap.
Proof.
  intros a b A B. unfold largest_gap. split.
  - intros p r m E. rewrite (rule_and_channel p r m a b E A B). cbv beta.
    pose proof (rate_range p r m 0%nat 1%nat E ltac:(lia) ltac:(lia)) as X. pose proof (rate_range p r m 1%nat 0%nat E ltac:(lia) ltac:(lia)) as Y.
    pose proof (rate_range p r m 0%nat 0%nat E ltac:(lia) ltac:(lia)) as M. destruct E as (_ & _ & E & _). rewrite E in M.
    pose proof (Q.le_max_l a b) as La. pose proof (Q.le_max_r a b) as Lb. set (c := Qmax a b) in *. clearbody c.
    set (x := rate_under p r 0 1) in *. set (y := rate_under p r 1 0) in *. clearbody x y. clear E.
    assert (0 <= a * (1 - x)) by (apply mul_nonneg; lra). assert (0 <= a * x) by (apply mul_nonneg; lra).
    assert (0 <= b * (1 - y)) by (apply mul_nonneg; lra). assert (0 <= b * y) by (apply mul_nonneg; lra).
    assert (0 <= (c - a) * (1 - m)) by (apply mul_nonneg; lra). assert (0 <= (c - a) * m) by (apply mul_nonneg; lra).
    assert (0 <= (c - b) * (1 - m)) by (apply mul_nonneg; lra). assert (0 <= (c - b) * m) by (apply mul_nonneg; lra).
    apply abs_le. split; lra.
  - destruct (max_cases a b) as [[L E]|[L E]].
    + exists apart, (rule_of 0 1), 0. split; [apply apart_equal; lra|].
      assert (G : gap_through apart (rule_of 0 1) a b == - b) by (unfold gap_through, rate_under, apart, rule_of; ring).
      rewrite G, E, Qabs_opp. apply Qabs_pos. lra.
    + exists apart, (rule_of 1 0), 0. split; [apply apart_equal; lra|].
      assert (G : gap_through apart (rule_of 1 0) a b == a) by (unfold gap_through, rate_under, apart, rule_of; ring).
      rewrite G, E. apply Qabs_pos. lra.
Qed.

(** ** Planted faults *)

Lemma formula_at formula : gap_is formula -> formula (1#2) (1#4) 1 1 0 == 1#4.
Proof.
  intros H. specialize (H apart (rule_of 1 1) 0 (1#2) (1#4) (apart_equal 1 1 ltac:(lra) ltac:(lra)) ltac:(lra) ltac:(lra)).
  assert (X : formula (1#2) (1#4) (rate_under apart (rule_of 1 1) 0 1) (rate_under apart (rule_of 1 1) 1 0) 0 == 1#4)
    by (rewrite <- H; now vm_compute).
  exact X.
Qed.

(** The first group's part alone. *)
Theorem rule_and_channel_fault_1 : ~ gap_is (fun a _ s01 _ m => a * (s01 - m)).
Proof. intros H. apply formula_at in H. now vm_compute in H. Qed.

(** The parts are added. *)
Theorem rule_and_channel_fault_2 : ~ gap_is (fun a b s01 s10 m => a * (s01 - m) + b * (s10 - m)).
Proof. intros H. apply formula_at in H. now vm_compute in H. Qed.

Lemma largest_at_half largest : largest_gap_is largest -> largest (1#2) (1#4) == 1#2.
Proof.
  intros H. destruct (H (1#2) (1#4) ltac:(lra) ltac:(lra)) as [U (p & r & m & E & V)].
  destruct (rule_and_channel_largest (1#2) (1#4) ltac:(lra) ltac:(lra)) as [U' (p' & r' & m' & E' & V')].
  pose proof (U p' r' m' E') as A. pose proof (U' p r m E) as B.
  assert (M : largest_gap (1#2) (1#4) == 1#2) by now vm_compute. rewrite M in *. lra.
Qed.

(** The smaller of both. *)
Theorem rule_and_channel_largest_fault_1 : ~ largest_gap_is Qmin.
Proof. intros H. apply largest_at_half in H. now vm_compute in H. Qed.

(** The sum of both. *)
Theorem rule_and_channel_largest_fault_2 : ~ largest_gap_is (fun a b => a + b).
Proof. intros H. apply largest_at_half in H. now vm_compute in H. Qed.
