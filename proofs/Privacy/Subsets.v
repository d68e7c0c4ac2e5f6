(** Subset selection: a report is a set of [w] of the [k] values, one bit for each. *)

From Checked Require Import Base.Numbers Privacy.Channels.
From Coq Require Import List Bool Qround.
Import ListNotations.

(** All sets of [w] out of [k] values, and how many there are. *)
Fixpoint subsets (k w : nat) : list (list bool) :=
  match k, w with
  | O, O => [[]]
  | O, S _ => []
  | S k, O => map (cons false) (subsets k O)
  | S k, S w' => map (cons true) (subsets k w') ++ map (cons false) (subsets k w)
  end.

Fixpoint choose (k w : nat) : nat :=
  match k, w with
  | _, O => 1
  | O, S _ => 0
  | S k, S w' => choose k w' + choose k w
  end%nat.

(** How many of the sets hold value [i]. *)
Definition holding (i : nat) (sets : list (list bool)) : nat := length (filter (fun s => nth i s false) sets).

Lemma subsets_length k w : length (subsets k w) = choose k w.
Proof.
  revert w. induction k as [|k IH]; intros [|w]; cbn; try reflexivity.
  - rewrite map_length. rewrite IH. now destruct k.
  - rewrite app_length, !map_length, !IH. reflexivity.
Qed.

Lemma filter_map {A B} (f : A -> B) p l : length (filter p (map f l)) = length (filter (fun x => p (f x)) l).
Proof. induction l as [|x l IH]; cbn; [reflexivity|]. destruct (p (f x)); cbn; now rewrite IH. Qed.

Lemma filter_all {A} (l : list A) : length (filter (fun _ => true) l) = length l.
Proof. induction l as [|x l IH]; cbn; [reflexivity|]. now rewrite IH. Qed.

Lemma filter_none {A} (l : list A) : length (filter (fun _ => false) l) = 0%nat.
Proof. induction l as [|x l IH]; cbn; [reflexivity|]. exact IH. Qed.

Lemma holding_count k w i : (i < S k)%nat -> holding i (subsets (S k) (S w)) = choose k w /\ holding i (subsets (S k) 0) = 0%nat.
Proof.
  revert w i. induction k as [|k IH]; intros w i Hi.
  - assert (i = 0)%nat by lia. subst. split; [|reflexivity]. unfold holding.
    change (subsets 1 (S w)) with (map (cons true) (subsets 0 w) ++ map (cons false) (subsets 0 (S w))).
    rewrite filter_app, app_length, !filter_map. cbn [nth]. rewrite filter_all, filter_none, subsets_length. lia.
  - split.
    + unfold holding. change (subsets (S (S k)) (S w)) with (map (cons true) (subsets (S k) w) ++ map (cons false) (subsets (S k) (S w))).
      rewrite filter_app, app_length, !filter_map. destruct i as [|i].
      * cbn [nth]. rewrite filter_all, filter_none, subsets_length. lia.
      * cbn [nth]. fold (holding i (subsets (S k) w)). fold (holding i (subsets (S k) (S w))).
        destruct (IH w i ltac:(lia)) as [-> Z]. destruct w as [|w]; [rewrite Z; cbn; now destruct k|].
        destruct (IH w i ltac:(lia)) as [-> _]. reflexivity.
    + unfold holding. change (subsets (S (S k)) 0) with (map (cons false) (subsets (S k) 0)). rewrite filter_map.
      destruct i as [|i]; cbn [nth]; [apply filter_none|]. exact (proj2 (IH 0%nat i ltac:(lia))).
Qed.

(** [dpfair_lib.local.subsets.subset_matrix k w (1/t)], with 1 <= w <= k: the chance of the report [s] for value [i]. *)
Definition selection (k w : nat) (t : Q) (i : nat) (s : list bool) : Q :=
  (if nth i s false then t else 1) / (number (choose (k - 1) (w - 1)) * t + number (choose (k - 1) w)).

Fixpoint sum_over (f : list bool -> Q) (sets : list (list bool)) : Q :=
  match sets with [] => 0 | s :: sets => f s + sum_over f sets end.

Lemma choose_positive k w : (w <= k)%nat -> (1 <= choose k w)%nat.
Proof. revert w. induction k as [|k IH]; intros [|w] H; cbn; try lia. specialize (IH w ltac:(lia)). lia. Qed.

Lemma choose_above k w : (k < w)%nat -> choose k w = 0%nat.
Proof. revert w. induction k as [|k IH]; intros [|w] H; cbn; try lia. rewrite !IH by lia. reflexivity. Qed.

Lemma denominator_positive k w t : (1 <= w)%nat -> (w <= k)%nat -> 1 <= t ->
  0 < number (choose (k - 1) (w - 1)) * t + number (choose (k - 1) w).
Proof.
  intros W K T. pose proof (choose_positive (k - 1) (w - 1) ltac:(lia)) as C.
  pose proof (number_le 1 _ C) as N. change (number 1) with 1 in N. pose proof (number_nonneg (choose (k - 1) w)). nra.
Qed.

Lemma sum_over_two (f : list bool -> bool) a b sets :
  sum_over (fun s => if f s then a else b) sets ==
  number (length (filter f sets)) * a + number (length sets - length (filter f sets)) * b.
Proof.
  induction sets as [|s sets IH].
  - cbn. change (number 0) with 0. ring.
  - assert (L : (length (filter f sets) <= length sets)%nat).
    { clear. induction sets as [|x l IH]; cbn; [lia|]. destruct (f x); cbn; lia. }
    cbn [sum_over filter length]. rewrite IH. destruct (f s); cbn [length].
    + rewrite number_S. replace (S (length sets) - S (length (filter f sets)))%nat with (length sets - length (filter f sets))%nat by lia. ring.
    + replace (S (length sets) - length (filter f sets))%nat with (S (length sets - length (filter f sets))) by lia. rewrite number_S. ring.
Qed.

(** It is a channel: for each value the chances of all reports add up to 1. *)
Theorem selection_adds_up : forall k w t i, (1 <= w)%nat -> (w <= k)%nat -> (i < k)%nat -> 1 <= t ->
  sum_over (selection k w t i) (subsets k w) == 1.
Proof.
  intros k w t i W K I T. pose proof (denominator_positive k w t W K T) as D. unfold selection.
  destruct k as [|k]; [lia|]. destruct w as [|w]; [lia|]. cbn [Nat.sub] in *. rewrite !Nat.sub_0_r in *.
  set (den := number (choose k w) * t + number (choose k (S w))) in *.
  assert (E : sum_over (fun s => (if nth i s false then t else 1) / den) (subsets (S k) (S w)) ==
              sum_over (fun s => if nth i s false then t else 1) (subsets (S k) (S w)) / den).
  { induction (subsets (S k) (S w)) as [|s l IH]; cbn [sum_over]; [field; lra|]. rewrite IH. field. lra. }
  rewrite E, sum_over_two. fold (holding i (subsets (S k) (S w))).
  rewrite (proj1 (holding_count k w i I)), subsets_length.
  change (choose (S k) (S w)) with (choose k w + choose k (S w))%nat.
  replace (choose k w + choose k (S w) - choose k w)%nat with (choose k (S w)) by lia. fold den.
  setoid_replace (number (choose k w) * t + number (choose k (S w)) * 1) with den by (unfold den; ring). field. lra.
Qed.

(** ε-private, e^ε = t. *)
Definition selection_is_private (odds : Q -> Q) : Prop :=
  forall k w t i i' s, (1 <= w)%nat -> (w <= k)%nat -> 1 <= t -> selection k w t i s <= odds t * selection k w t i' s.

Theorem selection_private : selection_is_private (fun t => t).
Proof.
  intros k w t i i' s W K T. pose proof (denominator_positive k w t W K T) as D. apply Qinv_lt_0_compat in D.
  unfold selection, Qdiv. set (p := / _) in *. clearbody p.
  assert (A : 0 <= (t - 1) * p) by nra. assert (B : 0 <= t * ((t - 1) * p)) by nra.
  destruct (nth i s false), (nth i' s false); lra.
Qed.

(** No smaller level does, for 1 <= w < k. *)
Definition first_values (k w : nat) : list bool := repeat true w ++ repeat false (k - w).

Definition selection_is_tight (odds : Q -> Q) : Prop :=
  forall k w t r, (1 <= w)%nat -> (w < k)%nat -> 1 <= t ->
  (forall i i' s, (i < k)%nat -> (i' < k)%nat -> In s (subsets k w) -> selection k w t i s <= r * selection k w t i' s) ->
  odds t <= r.

Lemma nothing_chosen k : In (repeat false k) (subsets k 0).
Proof. induction k as [|k IH]; cbn; [now left|]. now apply in_map. Qed.

Lemma first_values_chosen k w : (w <= k)%nat -> In (first_values k w) (subsets k w).
Proof.
  revert w. induction k as [|k IH]; intros w H.
  - assert (w = 0)%nat by lia. subst. now left.
  - destruct w as [|w]; [apply (nothing_chosen (S k))|]. unfold first_values. cbn. apply in_or_app. left. apply in_map.
    apply IH. lia.
Qed.

Theorem selection_tight : selection_is_tight (fun t => t).
Proof.
  intros k w t r W K T H. pose proof (denominator_positive k w t W ltac:(lia) T) as D.
  specialize (H 0%nat (k - 1)%nat (first_values k w) ltac:(lia) ltac:(lia) (first_values_chosen k w ltac:(lia))).
  assert (A : nth 0 (first_values k w) false = true) by (destruct w; [lia|reflexivity]).
  assert (B : nth (k - 1) (first_values k w) false = false).
  { unfold first_values. rewrite app_nth2; rewrite repeat_length; [|lia].
    apply nth_repeat. }
  unfold selection in H. rewrite A, B in H.
  set (den := number (choose (k - 1) (w - 1)) * t + number (choose (k - 1) w)) in *.
  apply (Qmult_le_compat_r _ _ den) in H; [|lra].
  setoid_replace (t / den * den) with t in H by (field; lra).
  setoid_replace (r * (1 / den) * den) with r in H by (field; lra). exact H.
Qed.

(** The true value is in the report with chance w·e^ε/(w·e^ε + k − w). *)
Definition truth_is (formula : nat -> nat -> Q -> Q) : Prop :=
  forall k w t i, (1 <= w)%nat -> (w <= k)%nat -> (i < k)%nat -> 1 <= t ->
  sum_over (fun s => if nth i s false then selection k w t i s else 0) (subsets k w) == formula k w t.

Lemma absorption k w : (number (S w) * number (choose k (S w)) == (number k - number w) * number (choose k w)).
Proof.
  revert w. induction k as [|k IH]; intros w.
  - destruct w as [|w]; cbn; change (number 0) with 0; ring.
  - assert (Pascal : forall v, number (choose (S k) (S v)) == number (choose k v) + number (choose k (S v))).
    { intros v. cbn [choose]. unfold number. rewrite Nat2Z.inj_add, inject_Z_plus. reflexivity. }
    rewrite Pascal. destruct w as [|w].
    + specialize (IH 0%nat). replace (choose k 0) with 1%nat in * by now destruct k.
      replace (choose (S k) 0) with 1%nat by reflexivity.
      change (number 1) with 1 in *. change (number 0) with 0 in *. rewrite number_S. lra.
    + rewrite Pascal. pose proof (IH w) as A. pose proof (IH (S w)) as B. rewrite !number_S in *. lra.
Qed.

Theorem selection_truth : truth_is (fun k w t => number w * t / (number w * t + number k - number w)).
Proof.
  intros k w t i W K I T. pose proof (denominator_positive k w t W K T) as D. unfold selection.
  destruct k as [|k]; [lia|]. destruct w as [|w]; [lia|]. cbn [Nat.sub] in *. rewrite !Nat.sub_0_r in *.
  set (den := number (choose k w) * t + number (choose k (S w))) in *.
  assert (E : sum_over (fun s => if nth i s false then (if nth i s false then t else 1) / den else 0) (subsets (S k) (S w)) ==
              sum_over (fun s => if nth i s false then t / den else 0) (subsets (S k) (S w))).
  { induction (subsets (S k) (S w)) as [|s l IH]; cbn [sum_over]; [reflexivity|]. rewrite IH. destruct (nth i s false); reflexivity. }
  rewrite E, sum_over_two. fold (holding i (subsets (S k) (S w))). rewrite (proj1 (holding_count k w i I)).
  pose proof (absorption k w) as Ab. rewrite number_S in Ab |- *. rewrite (number_S k).
  pose proof (number_nonneg w) as Nw. assert (Nk : number w <= number k) by (apply number_le; lia).
  assert (P : 0 < (number w + 1) * t + (number k + 1) - (number w + 1)) by nra.
  assert (Cp : 0 < number (choose k w)).
  { pose proof (number_le 1 _ (choose_positive k w ltac:(lia))) as N. change (number 1) with 1 in N. lra. }
  apply (Qmult_inj_r _ _ den); [lra|]. rewrite Qmult_0_r, Qplus_0_r.
  setoid_replace (number (choose k w) * (t / den) * den) with (number (choose k w) * t) by (field; lra).
  apply (Qmult_inj_r _ _ ((number w + 1) * t + (number k + 1) - (number w + 1))); [lra|].
  setoid_replace ((number w + 1) * t / ((number w + 1) * t + (number k + 1) - (number w + 1)) * den * ((number w + 1) * t + (number k + 1) - (number w + 1)))
    with ((number w + 1) * t * den) by (field; lra).
  unfold den.
  setoid_replace ((number w + 1) * t * (number (choose k w) * t + number (choose k (S w))))
    with (t * ((number w + 1) * number (choose k w) * t + (number w + 1) * number (choose k (S w)))) by ring.
  rewrite Ab. ring.
Qed.

(** With sets of one value it is randomised response: the true value with chance t/(t + k − 1). *)
Theorem selection_of_one : forall k t i, (1 <= k)%nat -> (i < k)%nat -> 1 <= t ->
  sum_over (fun s => if nth i s false then selection k 1 t i s else 0) (subsets k 1) == response k t i i.
Proof.
  intros k t i K I T. rewrite (selection_truth k 1%nat t i ltac:(lia) K I T). unfold response. rewrite Nat.eqb_refl.
  change (number 1) with 1. pose proof (response_denominator k t K T). field. lra.
Qed.

(** The whole channel: the reports are the sets of one value, in order, and each has randomised response's chance. *)
Definition only (k j : nat) : list bool := map (Nat.eqb j) (seq 0 k).

Definition sets_of_one (chance : nat -> Q -> nat -> nat -> Q) : Prop :=
  forall k t, (1 <= k)%nat -> 1 <= t ->
  subsets k 1 = map (only k) (seq 0 k) /\
  forall i j, (i < k)%nat -> (j < k)%nat -> selection k 1 t i (only k j) == chance k t i j.

Lemma only_shifted k j : only (S k) (S j) = false :: only k j.
Proof. unfold only. cbn [seq map Nat.eqb]. f_equal. rewrite <- seq_shift, map_map. reflexivity. Qed.

Lemma none_of k : subsets k 0 = [map (fun _ => false) (seq 0 k)].
Proof.
  induction k as [|k IH]; [reflexivity|]. cbn [subsets]. rewrite IH. cbn [map seq]. rewrite <- seq_shift, map_map. reflexivity.
Qed.

Lemma sets_of_one_in_order k : subsets k 1 = map (only k) (seq 0 k).
Proof.
  induction k as [|k IH]; [reflexivity|].
  change (subsets (S k) 1) with (map (cons true) (subsets k 0) ++ map (cons false) (subsets k 1)).
  change (map (only (S k)) (seq 0 (S k))) with (only (S k) 0 :: map (only (S k)) (seq 1 k)).
  rewrite none_of, IH, <- seq_shift, !map_map. cbn [map app]. f_equal.
  - unfold only. change (seq 0 (S k)) with (0%nat :: seq 1 k). rewrite <- seq_shift. cbn [map]. f_equal. now rewrite map_map.
  - apply map_ext. intros j. symmetry. apply only_shifted.
Qed.

Lemma only_holds k i j : (i < k)%nat -> nth i (only k j) false = Nat.eqb i j.
Proof.
  intros H. unfold only. rewrite nth_indep with (d' := Nat.eqb j 0) by (rewrite map_length, seq_length; assumption).
  rewrite map_nth, seq_nth by assumption. apply Nat.eqb_sym.
Qed.

Lemma choose_one k : choose k 1 = k.
Proof. induction k as [|k IH]; [reflexivity|]. cbn [choose]. rewrite IH. now destruct k. Qed.

Theorem selection_is_response : sets_of_one response.
Proof.
  intros k t K T. split; [apply sets_of_one_in_order|]. intros i j I J.
  unfold selection, response. rewrite only_holds by assumption. pose proof (response_denominator k t K T) as D.
  assert (E : number (choose (k - 1) (1 - 1)) * t + number (choose (k - 1) 1) == t + number k - 1).
  { rewrite choose_one. destruct k as [|k]; [lia|]. cbn [Nat.sub]. rewrite Nat.sub_0_r.
    replace (choose k 0) with 1%nat by now destruct k. rewrite (number_S k). change (number 1) with 1. ring. }
  rewrite E. destruct (Nat.eqb i j); reflexivity.
Qed.

(** [dpfair_lib.local.subsets.subset_size]: k/(e^ε + 1), rounded to the nearest whole number, halves upwards, at least 1. *)
Definition printed_size (k : nat) (t : Q) : Z := Z.max 1 (Qfloor (number k / (t + 1) + (1#2))).

(** From which odds on the printed sets have one value. *)
Definition one_value_from (least : nat -> Q) : Prop :=
  forall k t, (1 <= k)%nat -> 1 <= t -> (printed_size k t = 1%Z <-> least k < t).

Theorem printed_size_is_one : one_value_from (fun k => 2 * number k / 3 - 1).
Proof.
  intros k t K T. unfold printed_size. set (v := number k / (t + 1) + (1#2)).
  assert (F : Z.max 1 (Qfloor v) = 1%Z <-> v < 2).
  { pose proof (Qfloor_le v) as L. pose proof (Qlt_floor v) as U. split.
    - intros M. assert (B : (Qfloor v + 1 <= 2)%Z) by lia. apply (Qlt_le_trans _ _ _ U).
      change 2 with (inject_Z 2). rewrite <- Zle_Qle. exact B.
    - intros B. assert (C : inject_Z (Qfloor v) < inject_Z 2) by (apply (Qle_lt_trans _ _ _ L B)).
      rewrite <- Zlt_Qlt in C. lia. }
  rewrite F. unfold v. assert (E : 2 * number k / 3 == (2#3) * number k) by field. rewrite E.
  assert (V : number k / (t + 1) * (t + 1) == number k) by (apply div_mul; lra).
  set (u := number k / (t + 1)) in *. clearbody u. split; intros H; nra.
Qed.

(** ** Planted faults *)

(** The right diagonal, and nothing else. *)
Theorem selection_is_response_fault_1 : ~ sets_of_one (fun k t i j => if Nat.eqb i j then response k t i j else 0).
Proof. intros H. destruct (H 2%nat 2 ltac:(lia) ltac:(lra)) as [_ K]. specialize (K 0%nat 1%nat ltac:(lia) ltac:(lia)). now vm_compute in K. Qed.

(** Randomised response of one value more. *)
Theorem selection_is_response_fault_2 : ~ sets_of_one (fun k => response (S k)).
Proof. intros H. destruct (H 2%nat 2 ltac:(lia) ltac:(lra)) as [_ K]. specialize (K 0%nat 1%nat ltac:(lia) ltac:(lia)). now vm_compute in K. Qed.

(** The level of half the odds. *)
Theorem selection_private_fault_1 : ~ selection_is_private (fun t => (1 + t) / 2).
Proof. intros H. specialize (H 3%nat 1%nat 3 0%nat 1%nat [true; false; false] ltac:(lia) ltac:(lia) ltac:(lra)). now vm_compute in H. Qed.

(** No level at all. *)
Theorem selection_private_fault_2 : ~ selection_is_private (fun _ => 1).
Proof. intros H. specialize (H 3%nat 1%nat 3 0%nat 1%nat [true; false; false] ltac:(lia) ltac:(lia) ltac:(lra)). now vm_compute in H. Qed.

Lemma tight_sharp odds : selection_is_tight odds -> odds 2 <= 2.
Proof.
  intros H. apply (H 2%nat 1%nat 2 2 ltac:(lia) ltac:(lia) ltac:(lra)). intros. apply selection_private; lia || lra.
Qed.

(** Twice the level is needed. *)
Theorem selection_tight_fault_1 : ~ selection_is_tight (fun t => 2 * t).
Proof. intros H. apply tight_sharp in H. now compute in H. Qed.

(** The level squared. *)
Theorem selection_tight_fault_2 : ~ selection_is_tight (fun t => t * t).
Proof. intros H. apply tight_sharp in H. now compute in H. Qed.

(** The chance without the size of the set. *)
Theorem selection_truth_fault_1 : ~ truth_is (fun k w t => t / (t + number k - 1)).
Proof. intros H. specialize (H 3%nat 2%nat 2 0%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lra)). now vm_compute in H. Qed.

(** All values in the denominator. *)
Theorem selection_truth_fault_2 : ~ truth_is (fun k w t => number w * t / (number w * t + number k)).
Proof. intros H. specialize (H 3%nat 2%nat 2 0%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lra)). now vm_compute in H. Qed.

(** Rounded down. *)
Theorem printed_size_is_one_fault_1 : ~ one_value_from (fun k => number k / 2 - 1).
Proof. intros H. destruct (H 12%nat 6 ltac:(lia) ltac:(lra)) as [_ K]. specialize (K ltac:(now compute)). now vm_compute in K. Qed.

(** Rounded up. *)
Theorem printed_size_is_one_fault_2 : ~ one_value_from (fun k => number k - 1).
Proof. intros H. destruct (H 3%nat 2 ltac:(lia) ltac:(lra)) as [K _]. specialize (K ltac:(reflexivity)). now vm_compute in K. Qed.
