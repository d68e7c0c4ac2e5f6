(** A finite channel as a whole: its level, its δ, whether shares follow from reports, and a program that says less. *)

From Checked Require Import Base.Numbers Privacy.Channels Privacy.Composition.

(** (ln t, δ)-privacy of a channel with S k inputs: for all pairs of inputs and all events. *)
Definition channel_private (t delta : Q) (k m : nat) (q : nat -> nat -> Q) : Prop :=
  forall i i', (i <= k)%nat -> (i' <= k)%nat -> close t delta m (q i) (q i').

(** ** Pure privacy is the largest ratio within a column *)

Definition pure_is (ratios : Q -> nat -> nat -> (nat -> nat -> Q) -> Prop) : Prop :=
  forall t k m q, 0 <= t -> channel (S k) m q -> (channel_private t 0 k m q <-> ratios t k m q).

Theorem level_is_largest_ratio : pure_is (fun t k m q => private t (S k) m q).
Proof.
  intros t k m q T C. split.
  - intros H i i' j Hi Hi' Hj. specialize (H i i' ltac:(lia) ltac:(lia) (fun y => Nat.eqb y j)).
    unfold chance in H. rewrite (sum_pick m j (q i) Hj), (sum_pick m j (q i') Hj) in H. lra.
  - intros H i i' Hi Hi' event. unfold chance. rewrite <- sum_scale.
    assert (L : sum m (fun y => if event y then q i y else 0) <= sum m (fun y => t * (if event y then q i' y else 0))).
    { apply sum_le. intros y Hy. specialize (H i i' y ltac:(lia) ltac:(lia) Hy). destruct (event y); lra. }
    lra.
Qed.

(** ** δ over all pairs of rows *)

(** [ChannelAudit.delta_from_odds] of [dpfair_lib.local.channel_audit], for S k inputs. *)
Definition channel_delta (t : Q) (k m : nat) (q : nat -> nat -> Q) : Q :=
  largest k (fun i => largest k (fun i' => hockey_stick t m (q i) (q i'))).

Definition delta_is (formula : Q -> nat -> nat -> (nat -> nat -> Q) -> Q) : Prop :=
  forall t delta k m q, channel_private t delta k m q <-> formula t k m q <= delta.

Theorem channel_delta_is_least : delta_is channel_delta.
Proof.
  intros t delta k m q. unfold channel_delta. split.
  - intros H. apply largest_le. intros i Hi. apply largest_le. intros i' Hi'.
    apply (proj1 (least_delta_is_hockey_stick t m (q i) (q i') delta)). now apply H.
  - intros H i i' Hi Hi'. apply (proj2 (least_delta_is_hockey_stick t m (q i) (q i') delta)).
    eapply Qle_trans; [|exact H].
    eapply Qle_trans; [|exact (largest_ge k (fun i => largest k (fun i' => hockey_stick t m (q i) (q i'))) i Hi)].
    exact (largest_ge k (fun i' => hockey_stick t m (q i) (q i')) i' Hi').
Qed.

(** ** Shares of the inputs follow from those of the reports if and only if the rows are independent *)

Definition independent (k m : nat) (q : nat -> nat -> Q) : Prop :=
  forall c, (forall j, (j < m)%nat -> sum k (fun i => c i * q i j) == 0) -> forall i, (i < k)%nat -> c i == 0.

Definition shares_follow (k m : nat) (q : nat -> nat -> Q) : Prop :=
  forall p p', distribution k p -> distribution k p' ->
  (forall j, (j < m)%nat -> processed k p q j == processed k p' q j) -> forall i, (i < k)%nat -> p i == p' i.

Definition follow_if_and_only_if (condition : nat -> nat -> (nat -> nat -> Q) -> Prop) : Prop :=
  forall k m q, channel k m q -> (shares_follow k m q <-> condition k m q).

Theorem shares_follow_from_independence : follow_if_and_only_if independent.
Proof.
  intros k m q C. split.
  - intros F c Z i Hi.
    assert (K : 1 <= number k) by (pose proof (number_le 1 k ltac:(lia)); change (number 1) with 1 in *; lra).
    set (A := sum k (fun i => Qabs (c i))).
    assert (A0 : 0 <= A) by (apply sum_nonneg; intros; apply Qabs_nonneg).
    set (s := / (number k * (1 + A))).
    assert (P : 0 < number k * (1 + A)) by (apply mul_pos; lra).
    assert (S0 : 0 < s) by now apply Qinv_lt_0_compat.
    assert (SA : s * (1 + A) == / number k) by (unfold s; field; lra).
    assert (NK : 0 < / number k) by (apply Qinv_lt_0_compat; lra).
    (* the coefficients add up to 0, since the rows add up to 1 *)
    assert (Sum : sum k c == 0).
    { assert (E : sum k c == sum m (fun j => sum k (fun i => c i * q i j))).
      { rewrite sum_swap. apply sum_ext. intros x Hx. rewrite sum_scale. destruct (C x Hx) as [_ One]. rewrite One. ring. }
      rewrite E, (sum_ext m _ (fun _ => 0)) by (intros; now apply Z). apply sum_zero. }
    assert (U : sum k (fun _ => / number k) == 1) by (rewrite sum_const; fold (number k); field; lra).
    specialize (F (fun i => / number k + s * c i) (fun _ => / number k)). cbv beta in F.
    assert (G : / number k + s * c i == / number k).
    { apply F; try assumption.
      - split.
        + intros x Hx. pose proof (sum_term k (fun i => Qabs (c i)) x ltac:(intros; apply Qabs_nonneg) Hx) as T.
          fold A in T. cbv beta in T. pose proof (abs_ge_minus (c x)) as M.
          assert (B : s * (- c x) <= s * (1 + A)) by (apply scaled; lra). lra.
        + rewrite sum_plus, sum_scale, Sum, U. ring.
      - split; [intros; lra | exact U].
      - intros j Hj. unfold processed. specialize (Z j Hj).
        rewrite (sum_ext k _ (fun y => / number k * q y j + s * (c y * q y j))) by (intros; ring).
        rewrite sum_plus, (sum_scale k s), Z. ring. }
    assert (H : s * c i == 0) by lra. apply Qmult_integral in H. destruct H; [lra | assumption].
  - intros I p p' _ _ E i Hi. specialize (I (fun i => p i - p' i)). cbv beta in I.
    assert (G : p i - p' i == 0); [|lra]. apply I; [|assumption]. intros j Hj. specialize (E j Hj). unfold processed in E.
    rewrite (sum_ext k _ (fun i => p i * q i j - p' i * q i j)) by (intros; ring). rewrite sum_minus. lra.
Qed.

(** ** A program that tells the truth with chance 1 − e^(−ε)/2 for both values *)

Definition truthful (t : Q) (i j : nat) : Q := if Nat.eqb i j then 1 - 1 / (2 * t) else 1 / (2 * t).

Definition truthful_level (level : Q -> Q) : Prop :=
  forall t s, 1 <= t -> (private s 2 2 (truthful t) <-> level t <= s).

Theorem truthful_level_is_doubled : truthful_level (fun t => 2 * t - 1).
Proof.
  intros t s T.
  assert (P : 0 < 1 / (2 * t)) by (apply div_pos; lra).
  assert (E : 1 == 2 * t * (1 / (2 * t))) by (field; lra). set (x := 1 / (2 * t)) in *.
  assert (T2 : 1 - x == (2 * t - 1) * x) by lra. split.
  - intros H. specialize (H 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)). unfold truthful in H. cbn in H. fold x in H.
    rewrite T2 in H. destruct (Qlt_le_dec s (2 * t - 1)) as [L|L]; [|assumption]. exfalso. nra.
  - intros L i i' j _ _ _. unfold truthful. fold x.
    assert (A : 0 <= (s - (2 * t - 1)) * x) by nra. assert (B : 0 <= (2 * t - 2) * x) by nra.
    assert (D : 0 <= (s - 1) * x) by nra. assert (F : 0 <= (s - 1) * ((2 * t - 1) * x)) by nra.
    destruct (Nat.eqb i j), (Nat.eqb i' j); rewrite ?T2; nra.
Qed.

(** ** Planted faults *)

(** Two inputs that the third tells apart. *)
Definition steps (i j : nat) : Q := match i, j with
  | 0%nat, _ => 1#2 | 1%nat, 0%nat => 1#4 | 1%nat, _ => 3#4 | _, 0%nat => 3#4 | _, _ => 1#4 end.

Lemma steps_channel : channel 3 2 steps.
Proof.
  intros i Hi. destruct i as [|[|[|i]]]; [..|lia]; (split; [intros [|[|j]] Hj; [..|lia]; cbn; lra | now compute]).
Qed.

(** The first two inputs only. *)
Theorem level_is_largest_ratio_fault_1 : ~ pure_is (fun t k m q => private t 2 m q).
Proof.
  intros H. pose proof (proj2 (H 2 2%nat 2%nat steps ltac:(lra) steps_channel)) as K.
  assert (P : private 2 2 2 steps) by (intros [|[|i]] [|[|i']] [|[|j]] A B C; try lia; cbn; lra).
  specialize (K P 1%nat 2%nat ltac:(lia) ltac:(lia) (fun y => Nat.eqb y 1)). now vm_compute in K.
Qed.

(** The first report only. *)
Theorem level_is_largest_ratio_fault_2 : ~ pure_is (fun t k m q => private t (S k) 1 q).
Proof.
  set (q := fun i j => match i, j with 0%nat, 0%nat => 7#8 | 0%nat, _ => 1#8 | _, _ => 1#2 end).
  intros H. assert (C : channel 2 2 q).
  { intros i Hi. destruct i as [|[|i]]; [..|lia]; (split; [intros [|[|j]] Hj; [..|lia]; cbn; lra | now compute]). }
  pose proof (proj2 (H 2 1%nat 2%nat q ltac:(lra) C)) as K.
  assert (P : private 2 2 1 q) by (intros [|[|i]] [|[|i']] [|j] A B D; try lia; cbn; lra).
  specialize (K P 1%nat 0%nat ltac:(lia) ltac:(lia) (fun y => Nat.eqb y 1)). now vm_compute in K.
Qed.

(** One order of the first two inputs. *)
Theorem channel_delta_fault_1 : ~ delta_is (fun t k m q => hockey_stick t m (q 0%nat) (q 1%nat)).
Proof.
  intros H. assert (K : channel_private 2 0 2 2 steps) by (apply H; now vm_compute).
  specialize (K 1%nat 2%nat ltac:(lia) ltac:(lia) (fun y => Nat.eqb y 1)). now vm_compute in K.
Qed.

(** Single reports for events. *)
Theorem channel_delta_fault_2 : ~ delta_is (fun t k m q =>
  largest k (fun i => largest k (fun i' => largest (m - 1) (fun j => Qmax (q i j - t * q i' j) 0)))).
Proof.
  set (q := fun i j => match i, j with 0%nat, 0%nat | 0%nat, 1%nat => 3#8 | 0%nat, _ => 1#8
                                     | _, 0%nat | _, 1%nat => 1#8 | _, _ => 3#8 end).
  intros H. assert (K : channel_private 2 (1#8) 1 4 q) by (apply H; now vm_compute).
  specialize (K 0%nat 1%nat ltac:(lia) ltac:(lia) (fun y => Nat.ltb y 2)). now vm_compute in K.
Qed.

(** All rows differ. *)
Theorem shares_follow_fault_1 : ~ follow_if_and_only_if (fun k m q =>
  forall i i', (i < k)%nat -> (i' < k)%nat -> (forall j, (j < m)%nat -> q i j == q i' j) -> i = i').
Proof.
  intros H. pose proof (proj2 (H 3%nat 2%nat steps steps_channel)) as K.
  assert (D : forall i i', (i < 3)%nat -> (i' < 3)%nat -> (forall j, (j < 2)%nat -> steps i j == steps i' j) -> i = i').
  { intros i i' Hi Hi' E. specialize (E 0%nat ltac:(lia)).
    destruct i as [|[|[|i]]], i' as [|[|[|i']]]; try lia; now compute in E. }
  specialize (K D (fun i => match i with 0%nat => 1 | _ => 0 end) (fun i => match i with 0%nat => 0 | _ => 1#2 end)).
  specialize (K ltac:(split; [intros [|i] _; cbv beta iota; lra | now compute]) ltac:(split; [intros [|i] _; cbv beta iota; lra | now compute])).
  specialize (K ltac:(intros [|[|j]] Hj; [..|lia]; now compute) 0%nat ltac:(lia)). now compute in K.
Qed.

(** As many reports as inputs. *)
Theorem shares_follow_fault_2 : ~ follow_if_and_only_if (fun k m q => (k <= m)%nat).
Proof.
  intros H. assert (C : channel 2 2 (fun _ _ => 1#2)) by (intros i _; split; [intros; now compute | now compute]).
  pose proof (proj2 (H 2%nat 2%nat _ C) (Nat.le_refl 2)) as K.
  specialize (K (fun i => match i with 0%nat => 1 | _ => 0 end) (fun i => match i with 0%nat => 0 | _ => 1 end)).
  specialize (K ltac:(split; [intros [|i] _; cbv beta iota; lra | now compute]) ltac:(split; [intros [|i] _; cbv beta iota; lra | now compute])).
  specialize (K ltac:(intros [|[|j]] Hj; [..|lia]; now compute) 0%nat ltac:(lia)). now compute in K.
Qed.

(** The level that is claimed. *)
Theorem truthful_level_fault_1 : ~ truthful_level (fun t => t).
Proof.
  intros H. pose proof (proj2 (H 2 2 ltac:(lra)) (Qle_refl 2) 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)) as K.
  now vm_compute in K.
Qed.

(** Twice the odds, which is more than is needed. *)
Theorem truthful_level_fault_2 : ~ truthful_level (fun t => 2 * t).
Proof.
  intros H. assert (P : private 1 2 2 (truthful 1)) by (intros [|[|i]] [|[|i']] [|[|j]] A B C; try lia; now vm_compute).
  pose proof (proj1 (H 1 1 ltac:(lra)) P) as K. now vm_compute in K.
Qed.
