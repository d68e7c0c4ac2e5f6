(** MPBT, Examples 1 to 4 (Appendix A): fairness levels as linear forms in the accuracies of groups.

    [m y r] is P(Y = y, S = r) for labels [y] below [l] and groups [r] below [g], all positive;
    [a y r] is P(H = Y | Y = y, S = r). *)

From Checked Require Import Base.Numbers.

Definition joint (l g : nat) (m : nat -> nat -> Q) : Prop :=
  (forall y r, (y < l)%nat -> (r < g)%nat -> 0 < m y r) /\ sum l (fun y => sum g (fun r => m y r)) == 1.

Definition label_share (g : nat) (m : nat -> nat -> Q) (y : nat) : Q := sum g (fun r => m y r).
Definition group_share (l : nat) (m : nat -> nat -> Q) (r : nat) : Q := sum l (fun y => m y r).

(** P(H = Y | y), P(H = Y | r), P(H = Y). *)
Definition right_given_label (g : nat) (m a : nat -> nat -> Q) (y : nat) : Q :=
  sum g (fun r => m y r * a y r) / label_share g m y.
Definition right_given_group (l : nat) (m a : nat -> nat -> Q) (r : nat) : Q :=
  sum l (fun y => m y r * a y r) / group_share l m r.
Definition right (l g : nat) (m a : nat -> nat -> Q) : Q := sum l (fun y => sum g (fun r => m y r * a y r)).

Lemma positive_sum n f : (1 <= n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof.
  intros Hn H. destruct n as [|n]; [lia|]. cbn [sum].
  assert (0 <= sum n f) by (apply sum_nonneg; intros; apply Qlt_le_weak, H; lia).
  assert (0 < f n) by (apply H; lia). lra.
Qed.

(** ** Example 1: equalized odds. Example 2 is the same where the label is desirable, and 0 elsewhere. *)

Definition odds_level (g : nat) (m a : nat -> nat -> Q) (y r : nat) : Q := a y r - right_given_label g m a y.

Definition odds_coefficient (g : nat) (m : nat -> nat -> Q) (y r y' r' : nat) : Q :=
  if Nat.eqb y' y then (if Nat.eqb r' r then 1 - m y r / label_share g m y else - (m y r' / label_share g m y)) else 0.

Definition odds_form (coefficient : nat -> (nat -> nat -> Q) -> nat -> nat -> nat -> nat -> Q) : Prop :=
  forall l g m a y r, (1 <= g)%nat -> (y < l)%nat -> (r < g)%nat -> joint l g m ->
  odds_level g m a y r == sum l (fun y' => sum g (fun r' => coefficient g m y r y' r' * a y' r')).

Theorem example_1 : odds_form odds_coefficient.
Proof.
  intros l g m a y r Hg Hy Hr [P _]. unfold odds_level, odds_coefficient, right_given_label.
  assert (S : 0 < label_share g m y) by (apply positive_sum; auto).
  rewrite (sum_ext l _ (fun y' => if Nat.eqb y' y then
    sum g (fun r' => (if Nat.eqb r' r then 1 - m y r / label_share g m y else - (m y r' / label_share g m y)) * a y' r') else 0)).
  - rewrite (sum_pick l y (fun y' => sum g (fun r' => (if Nat.eqb r' r then 1 - m y r / label_share g m y else - (m y r' / label_share g m y)) * a y' r')) Hy). cbv beta.
    assert (E : sum g (fun r' => (if Nat.eqb r' r then 1 - m y r / label_share g m y else - (m y r' / label_share g m y)) * a y r')
      == sum g (fun r' => if Nat.eqb r' r then (1 - m y r / label_share g m y) * a y r' else - / label_share g m y * (m y r' * a y r')))
      by (apply sum_ext; intros r' _; destruct (Nat.eqb r' r); [reflexivity | field; lra]).
    rewrite E. clear E.
    rewrite (sum_split g (fun r' => (1 - m y r / label_share g m y) * a y r') (fun r' => - / label_share g m y * (m y r' * a y r')) r Hr), sum_scale.
    field. lra.
  - intros y' _. destruct (Nat.eqb y' y); [reflexivity|].
    rewrite (sum_ext g _ (fun _ => 0)) by (intros; ring). apply sum_zero.
Qed.

Definition opportunity_level (desirable : nat -> bool) (g : nat) (m a : nat -> nat -> Q) (y r : nat) : Q :=
  if desirable y then odds_level g m a y r else 0.

Definition opportunity_coefficient (desirable : nat -> bool) (g : nat) (m : nat -> nat -> Q) (y r y' r' : nat) : Q :=
  if desirable y then odds_coefficient g m y r y' r' else 0.

Definition opportunity_form (coefficient : (nat -> bool) -> nat -> (nat -> nat -> Q) -> nat -> nat -> nat -> nat -> Q) : Prop :=
  forall desirable l g m a y r, (1 <= g)%nat -> (y < l)%nat -> (r < g)%nat -> joint l g m ->
  opportunity_level desirable g m a y r ==
  sum l (fun y' => sum g (fun r' => coefficient desirable g m y r y' r' * a y' r')).

Theorem example_2 : opportunity_form opportunity_coefficient.
Proof.
  intros desirable l g m a y r Hg Hy Hr J. unfold opportunity_level, opportunity_coefficient.
  destruct (desirable y); [now apply example_1|].
  rewrite (sum_ext l _ (fun _ => 0)); [now rewrite sum_zero|]. intros y' _.
  rewrite (sum_ext g _ (fun _ => 0)) by (intros; ring). apply sum_zero.
Qed.

(** ** Example 3: accuracy parity, over groups *)

Definition accuracy_level (l g : nat) (m a : nat -> nat -> Q) (r : nat) : Q :=
  right_given_group l m a r - right l g m a.

Definition accuracy_coefficient (l : nat) (m : nat -> nat -> Q) (r r' : nat) : Q :=
  if Nat.eqb r' r then 1 - group_share l m r else - group_share l m r'.

Definition accuracy_form (coefficient : nat -> (nat -> nat -> Q) -> nat -> nat -> Q) : Prop :=
  forall l g m a r, (1 <= l)%nat -> (r < g)%nat -> joint l g m ->
  accuracy_level l g m a r == sum g (fun r' => coefficient l m r r' * right_given_group l m a r').

Theorem example_3 : accuracy_form accuracy_coefficient.
Proof.
  intros l g m a r Hl Hr [P _]. unfold accuracy_level, accuracy_coefficient.
  assert (S : forall r', (r' < g)%nat -> 0 < group_share l m r') by (intros; apply positive_sum; auto).
  rewrite (sum_ext g _ (fun r' => if Nat.eqb r' r then (1 - group_share l m r) * right_given_group l m a r'
                                  else - (group_share l m r' * right_given_group l m a r')))
    by (intros r' _; destruct (Nat.eqb r' r); ring).
  rewrite (sum_split g (fun r' => (1 - group_share l m r) * right_given_group l m a r')
             (fun r' => - (group_share l m r' * right_given_group l m a r')) r Hr).
  assert (E : right l g m a == sum g (fun r' => group_share l m r' * right_given_group l m a r')).
  { unfold right. rewrite sum_swap. apply sum_ext. intros r' Hr'. unfold right_given_group. specialize (S r' Hr'). field. lra. }
  rewrite E, (sum_ext g (fun r' => - _) (fun r' => -(1) * (group_share l m r' * right_given_group l m a r'))) by (intros; ring).
  rewrite sum_scale. ring.
Qed.

(** ** Example 4: demographic parity, for two labels *)

Definition other (y : nat) : nat := match y with 0%nat => 1%nat | _ => 0%nat end.

(** P(H = y | r) and P(H = y): right where Y = y, wrong where it is the other label. *)
Definition predicted_given_group (m a : nat -> nat -> Q) (y r : nat) : Q :=
  (m y r * a y r + m (other y) r * (1 - a (other y) r)) / group_share 2 m r.
Definition predicted (g : nat) (m a : nat -> nat -> Q) (y : nat) : Q :=
  sum g (fun r => m y r * a y r + m (other y) r * (1 - a (other y) r)).

Definition parity_level (g : nat) (m a : nat -> nat -> Q) (y r : nat) : Q :=
  predicted_given_group m a y r - predicted g m a y.

Definition parity_constant (g : nat) (m : nat -> nat -> Q) (y r : nat) : Q :=
  label_share g m y - m y r / group_share 2 m r.

Definition parity_coefficient (m : nat -> nat -> Q) (y r y' r' : nat) : Q :=
  if Nat.eqb r' r
  then (if Nat.eqb y' y then m y r / group_share 2 m r - m y r else m (other y) r - m (other y) r / group_share 2 m r)
  else (if Nat.eqb y' y then - m y r' else m (other y) r').

Definition parity_form (constant : nat -> (nat -> nat -> Q) -> nat -> nat -> Q)
  (coefficient : (nat -> nat -> Q) -> nat -> nat -> nat -> nat -> Q) : Prop :=
  forall g m a y r, (y < 2)%nat -> (r < g)%nat -> joint 2 g m ->
  parity_level g m a y r ==
  constant g m y r + sum 2 (fun y' => sum g (fun r' => coefficient m y r y' r' * a y' r')).

Lemma two_labels y f : (y < 2)%nat -> sum 2 f == f y + f (other y).
Proof. intros H. destruct y as [|[|y]]; [| |lia]; cbn; ring. Qed.

Theorem example_4 : parity_form parity_constant parity_coefficient.
Proof.
  intros g m a y r Hy Hr [P One]. unfold parity_level, parity_constant.
  assert (S : 0 < group_share 2 m r) by (apply positive_sum; auto with arith).
  rewrite (two_labels y) by assumption.
  assert (Eo : Nat.eqb (other y) y = false) by (destruct y as [|[|y]]; [reflexivity | reflexivity | lia]).
  assert (C1 : sum g (fun r' => parity_coefficient m y r y r' * a y r') ==
               m y r / group_share 2 m r * a y r - sum g (fun r' => m y r' * a y r')).
  { unfold parity_coefficient. rewrite Nat.eqb_refl.
    rewrite (sum_ext g _ (fun r' => if Nat.eqb r' r then (m y r / group_share 2 m r - m y r) * a y r' else -(1) * (m y r' * a y r')))
      by (intros r' _; destruct (Nat.eqb r' r); ring).
    rewrite (sum_split g (fun r' => (m y r / group_share 2 m r - m y r) * a y r') (fun r' => -(1) * (m y r' * a y r')) r Hr), sum_scale. ring. }
  assert (C2 : sum g (fun r' => parity_coefficient m y r (other y) r' * a (other y) r') ==
               sum g (fun r' => m (other y) r' * a (other y) r') - m (other y) r / group_share 2 m r * a (other y) r).
  { unfold parity_coefficient. rewrite Eo.
    rewrite (sum_ext g _ (fun r' => if Nat.eqb r' r then (m (other y) r - m (other y) r / group_share 2 m r) * a (other y) r' else m (other y) r' * a (other y) r'))
      by (intros r' _; destruct (Nat.eqb r' r); ring).
    rewrite (sum_split g (fun r' => (m (other y) r - m (other y) r / group_share 2 m r) * a (other y) r') (fun r' => m (other y) r' * a (other y) r') r Hr). ring. }
  rewrite C1, C2. unfold predicted_given_group, predicted.
  assert (Dist : sum g (fun r0 => m y r0 * a y r0 + m (other y) r0 * (1 - a (other y) r0)) ==
                 sum g (fun r' => m y r' * a y r') + label_share g m (other y) - sum g (fun r' => m (other y) r' * a (other y) r')).
  { unfold label_share. rewrite <- sum_plus, <- sum_minus. apply sum_ext. intros; ring. }
  rewrite Dist. rewrite (two_labels y) in One by assumption. fold (label_share g m y) in One. fold (label_share g m (other y)) in One.
  assert (G : group_share 2 m r == m y r + m (other y) r) by (unfold group_share; now rewrite (two_labels y)).
  assert (D : (m y r * a y r + m (other y) r * (1 - a (other y) r)) / group_share 2 m r ==
              m y r / group_share 2 m r * a y r + (1 - m y r / group_share 2 m r) - m (other y) r / group_share 2 m r * a (other y) r).
  { assert (U : 1 - m y r / group_share 2 m r == m (other y) r / group_share 2 m r)
      by (rewrite <- (Qplus_inj_r _ _ (m y r / group_share 2 m r)); rewrite G in S |- *; field; lra).
    rewrite U. field. lra. }
  rewrite D. set (u := m y r / group_share 2 m r * a y r) in *.
  set (v := m (other y) r / group_share 2 m r * a (other y) r) in *. set (z := m y r / group_share 2 m r) in *.
  assert (O : label_share g m (other y) == 1 - label_share g m y) by lra. rewrite O. ring.
Qed.

(** ** Planted faults: two labels and two groups *)

Definition quarters (_ _ : nat) : Q := 1#4.
Definition uneven (y r : nat) : Q := match y, r with 0%nat, 0%nat => 1#2 | 0%nat, _ => 1#4 | _, _ => 1#8 end.
Definition one_cell (y r : nat) : Q := match y, r with 0%nat, 0%nat => 1 | _, _ => 0 end.

Lemma quarters_joint : joint 2 2 quarters.
Proof. split; [intros; unfold quarters; lra | now compute]. Qed.

Lemma uneven_joint : joint 2 2 uneven.
Proof. split; [intros [|y] [|r] _ _; cbn; lra | now compute]. Qed.

(** The share of the cell for that of the group among the label. *)
Theorem example_1_fault_1 : ~ odds_form (fun g m y r y' r' =>
  if Nat.eqb y' y then (if Nat.eqb r' r then 1 - m y r else - m y r') else 0).
Proof.
  intros H. specialize (H 2%nat 2%nat uneven one_cell 0%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia) uneven_joint).
  now vm_compute in H.
Qed.

(** The other groups without their sign. *)
Theorem example_1_fault_2 : ~ odds_form (fun g m y r y' r' => Qabs (odds_coefficient g m y r y' r')).
Proof.
  intros H. specialize (H 2%nat 2%nat quarters one_cell 0%nat 1%nat ltac:(lia) ltac:(lia) ltac:(lia) quarters_joint).
  now vm_compute in H.
Qed.

(** Every label counts as desirable. *)
Theorem example_2_fault_1 : ~ opportunity_form (fun _ => odds_coefficient).
Proof.
  intros H. specialize (H (fun _ => false) 2%nat 2%nat quarters one_cell 0%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia) quarters_joint).
  now vm_compute in H.
Qed.

(** The desirability of the cell that is summed, with the share of the other one. *)
Theorem example_2_fault_2 : ~ opportunity_form (fun desirable g m y r y' r' =>
  if desirable y then odds_coefficient g m y r (other y') r' else 0).
Proof.
  intros H. specialize (H (fun _ => true) 2%nat 2%nat quarters one_cell 0%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia) quarters_joint).
  now vm_compute in H.
Qed.

(** The other groups without their sign. *)
Theorem example_3_fault_1 : ~ accuracy_form (fun l m r r' => Qabs (accuracy_coefficient l m r r')).
Proof.
  intros H. specialize (H 2%nat 2%nat quarters one_cell 1%nat ltac:(lia) ltac:(lia) quarters_joint). now vm_compute in H.
Qed.

(** The group's own coefficient without its share. *)
Theorem example_3_fault_2 : ~ accuracy_form (fun l m r r' => if Nat.eqb r' r then 1 else - group_share l m r').
Proof.
  intros H. specialize (H 2%nat 2%nat quarters one_cell 0%nat ltac:(lia) ltac:(lia) quarters_joint). now vm_compute in H.
Qed.

(** No constant, as for the other notions. *)
Theorem example_4_fault_1 : ~ parity_form (fun _ _ _ _ => 0) parity_coefficient.
Proof.
  intros H. specialize (H 2%nat uneven one_cell 0%nat 0%nat ltac:(lia) ltac:(lia) uneven_joint). now vm_compute in H.
Qed.

(** Wrong predictions counted as if they were right. *)
Theorem example_4_fault_2 : ~ parity_form parity_constant (fun m y r y' r' =>
  if Nat.eqb y' y then parity_coefficient m y r y' r' else - parity_coefficient m y r y' r').
Proof.
  intros H. specialize (H 2%nat uneven (fun y r => match y, r with 1%nat, 0%nat => 1 | _, _ => 0 end) 0%nat 0%nat ltac:(lia) ltac:(lia) uneven_joint).
  now vm_compute in H.
Qed.
