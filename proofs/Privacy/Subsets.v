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

(** ** The size of least variance

    [dpfair_lib.local.subsets.subset_variance]: n times the variance of the estimated shares, summed over the values. *)
Definition variance (k w : nat) (t : Q) : Q :=
  let p := number w * t / (number w * t + number k - number w) in let q := (number w - p) / (number k - 1) in
  (p * (1 - p) + (number k - 1) * q * (1 - q)) / ((p - q) * (p - q)).

(** [dpfair_lib.local.subsets.least_variance_size]: the least ω with ω(ω + 1)e^(2ε) ≥ (k − ω)(k − ω − 1). *)
Definition enough (k : nat) (t : Q) (w : nat) : bool :=
  Qle_bool ((number k - number w) * (number k - number w - 1)) (number w * (number w + 1) * (t * t)).
Fixpoint first_enough (k : nat) (t : Q) (w fuel : nat) : nat :=
  match fuel with O => w | S fuel => if enough k t w then w else first_enough k t (S w) fuel end.
Definition least_variance_size (k : nat) (t : Q) : nat := first_enough k t 1 (k - 2).

(** What the variance grows with. *)
Definition growth (K t W : Q) : Q := t * t * W / (K - W) + (K - W) / W.

Lemma variance_of_growth k w t : (2 <= k)%nat -> (1 <= w)%nat -> (w < k)%nat -> 1 < t ->
  variance k w t == (number k - 1) * (number k - 1) / (number k * ((t - 1) * (t - 1))) * (growth (number k) t (number w) + 2 * t)
                    - (number k - 1) / number k.
Proof.
  intros Hk Hw L T. set (K := number k). set (W := number w).
  assert (K2 : 2 <= K) by (unfold K; pose proof (number_le 2 k Hk) as N; change (number 2) with 2 in N; exact N).
  assert (W1 : 1 <= W) by (unfold W; pose proof (number_le 1 w Hw) as N; change (number 1) with 1 in N; exact N).
  assert (WK : W + 1 <= K) by (unfold W, K; rewrite <- number_S; apply number_le; lia).
  unfold variance, growth. fold K W. cbv zeta.
  assert (D : 0 < W * t + K - W) by nra. set (d := W * t + K - W) in *.
  set (p := W * t / d). set (q := (W - p) / (K - 1)).
  assert (Ep : 1 - p == (K - W) / d) by (unfold p, d; field; fold d; lra).
  assert (Eq : q == W * (d - t) / ((K - 1) * d)) by (unfold q, p; field; lra).
  assert (Eq1 : 1 - q == ((K - 1) * d - W * (d - t)) / ((K - 1) * d)) by (rewrite Eq; field; lra).
  assert (Epq : p - q == W * (K - W) * (t - 1) / ((K - 1) * d)) by (rewrite Eq; unfold p, d; field; fold d; lra).
  rewrite Ep, Epq. rewrite Eq1, Eq. unfold p. clear Ep Eq Eq1 Epq p q.
  assert (N : ~ W * (K - W) * (t - 1) == 0).
  { assert (0 < W * (K - W) * (t - 1)) by (apply mul_pos; [apply mul_pos|]; lra). lra. }
  unfold d in *. field. repeat split; try lra.
Qed.

Lemma growth_step K t W : 0 < W -> W + 1 < K ->
  growth K t (W + 1) - growth K t W ==
  K / (W * (W + 1) * ((K - W) * (K - W - 1))) * (W * (W + 1) * (t * t) - (K - W) * (K - W - 1)).
Proof. intros A B. unfold growth. field. repeat split; lra. Qed.

Lemma growth_after K t w : growth K t (number (S w)) == growth K t (number w + 1).
Proof. unfold growth. rewrite number_S. reflexivity. Qed.

Lemma enough_stays k t w : (1 <= w)%nat -> (w + 1 < k)%nat -> enough k t w = true -> enough k t (S w) = true.
Proof.
  unfold enough. rewrite !Qle_bool_iff, number_S. intros Hw Hk H.
  assert (W1 : 1 <= number w) by (pose proof (number_le 1 w Hw) as N; change (number 1) with 1 in N; exact N).
  assert (WK : number w + 1 + 1 <= number k) by (rewrite <- !number_S; apply number_le; lia).
  set (W := number w) in *. set (K := number k) in *. pose proof (square_nonneg t) as T.
  assert (A : (K - (W + 1)) * (K - (W + 1) - 1) <= (K - W) * (K - W - 1)) by lra.
  assert (B : W * (W + 1) * (t * t) <= (W + 1) * (W + 1 + 1) * (t * t)) by (apply Qmult_le_compat_r; lra). lra.
Qed.

Lemma first_enough_is_first k t fuel : forall w, (1 <= w)%nat -> (w + fuel = k - 1)%nat ->
  (w <= first_enough k t w fuel <= k - 1)%nat /\ enough k t (first_enough k t w fuel) = true /\
  forall v, (w <= v < first_enough k t w fuel)%nat -> enough k t v = false.
Proof.
  induction fuel as [|fuel IH]; intros w Hw E; cbn [first_enough].
  - splits; [lia | lia | | intros; lia]. unfold enough. rewrite Qle_bool_iff.
    assert (X : number k == number w + 1) by (rewrite <- number_S; unfold number; replace (S w) with k by lia; reflexivity).
    rewrite X. pose proof (number_nonneg w). pose proof (square_nonneg t).
    assert (0 <= number w * (number w + 1) * (t * t)) by (apply mul_nonneg; [apply mul_nonneg; lra | assumption]).
    setoid_replace ((number w + 1 - number w) * (number w + 1 - number w - 1)) with 0 by ring. assumption.
  - destruct (enough k t w) eqn:H; [splits; [lia | lia | assumption | intros; lia]|].
    destruct (IH (S w) ltac:(lia) ltac:(lia)) as ([A B] & C & F). splits; [lia | lia | assumption |].
    intros v Hv. destruct (Nat.eq_dec v w) as [->|N]; [assumption | apply F; lia].
Qed.

Definition has_least_variance (size : nat -> Q -> nat) : Prop :=
  forall k t w, (2 <= k)%nat -> 1 < t -> (1 <= w)%nat -> (w < k)%nat ->
  variance k (size k t) t <= variance k w t.

Theorem least_variance_size_is_best : has_least_variance least_variance_size.
Proof.
  intros k t w Hk T Hw L. destruct (first_enough_is_first k t (k - 2) 1 ltac:(lia) ltac:(lia)) as ([A B] & C & F).
  fold (least_variance_size k t) in A, B, C, F. set (s := least_variance_size k t) in *. clearbody s.
  assert (K2 : 2 <= number k) by (pose proof (number_le 2 k Hk) as N; change (number 2) with 2 in N; exact N).
  assert (Step : forall v, (1 <= v)%nat -> (v + 1 < k)%nat -> 0 < number k / (number v * (number v + 1) * ((number k - number v) * (number k - number v - 1)))
                 /\ 0 < number v /\ number v + 1 < number k).
  { intros v V1 V2. assert (1 <= number v) by (pose proof (number_le 1 v V1) as N; change (number 1) with 1 in N; exact N).
    assert (number v + 1 + 1 <= number k) by (rewrite <- !number_S; apply number_le; lia).
    splits; [|lra|lra]. apply div_pos; [repeat apply mul_pos; lra | lra]. }
  assert (Up : forall n, (s + n < k)%nat -> enough k t (s + n) = true /\ growth (number k) t (number s) <= growth (number k) t (number (s + n))).
  { induction n as [|n IH]; intros Hn; [rewrite Nat.add_0_r; split; [assumption | lra]|].
    destruct (IH ltac:(lia)) as [E G]. rewrite Nat.add_succ_r. split; [apply enough_stays; lia || assumption|].
    destruct (Step (s + n)%nat ltac:(lia) ltac:(lia)) as (P & V0 & V1).
    pose proof (growth_step (number k) t (number (s + n)) V0 V1) as X. pose proof (growth_after (number k) t (s + n)) as Z.
    unfold enough in E. rewrite Qle_bool_iff in E. set (c := number k / _) in *.
    assert (0 <= c * (number (s + n) * (number (s + n) + 1) * (t * t) - (number k - number (s + n)) * (number k - number (s + n) - 1)))
      by (apply mul_nonneg; lra). lra. }
  assert (Down : forall n, (n < s)%nat -> (1 <= s - n)%nat -> growth (number k) t (number s) <= growth (number k) t (number (s - n))).
  { induction n as [|n IH]; intros Hn Hs; [rewrite Nat.sub_0_r; lra|].
    specialize (IH ltac:(lia) ltac:(lia)). set (v := (s - S n)%nat). replace (s - n)%nat with (S v) in IH by (unfold v; lia).
    destruct (Step v ltac:(unfold v; lia) ltac:(unfold v; lia)) as (P & V0 & V1).
    pose proof (growth_step (number k) t (number v) V0 V1) as X. pose proof (growth_after (number k) t v) as Z.
    assert (E : enough k t v = false) by (apply F; unfold v; lia).
    assert (E' : number v * (number v + 1) * (t * t) < (number k - number v) * (number k - number v - 1)).
    { destruct (Qlt_le_dec (number v * (number v + 1) * (t * t)) ((number k - number v) * (number k - number v - 1))) as [?|Y]; [assumption|].
      unfold enough in E. apply Qle_bool_iff in Y. congruence. }
    set (c := number k / _) in *.
    assert (0 <= c * ((number k - number v) * (number k - number v - 1) - number v * (number v + 1) * (t * t))) by (apply mul_nonneg; lra).
    lra. }
  rewrite (variance_of_growth k s t Hk ltac:(lia) ltac:(lia) T), (variance_of_growth k w t Hk Hw L T).
  assert (G : growth (number k) t (number s) <= growth (number k) t (number w)).
  { destruct (Nat.le_gt_cases s w) as [M|M].
    - destruct (Up (w - s)%nat ltac:(lia)) as [_ G]. replace (s + (w - s))%nat with w in G by lia. exact G.
    - pose proof (Down (s - w)%nat ltac:(lia) ltac:(lia)) as G. replace (s - (s - w))%nat with w in G by lia. exact G. }
  set (c := (number k - 1) * (number k - 1) / (number k * ((t - 1) * (t - 1)))).
  assert (Cp : 0 <= c) by (apply div_nonneg; [apply mul_pos; [lra | apply mul_pos; lra] | apply mul_nonneg; lra]).
  assert (Y : c * (growth (number k) t (number s) + 2 * t) <= c * (growth (number k) t (number w) + 2 * t)) by (apply scaled; lra).
  lra.
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

(** The printed size. *)
Theorem least_variance_size_is_best_fault_1 : ~ has_least_variance (fun k t => Z.to_nat (printed_size k t)).
Proof. intros H. specialize (H 4%nat (17#10) 2%nat ltac:(lia) ltac:(lra) ltac:(lia) ltac:(lia)). now vm_compute in H. Qed.

(** Always one value, as randomised response. *)
Theorem least_variance_size_is_best_fault_2 : ~ has_least_variance (fun _ _ => 1%nat).
Proof. intros H. specialize (H 4%nat (3#2) 2%nat ltac:(lia) ltac:(lra) ltac:(lia) ltac:(lia)). now vm_compute in H. Qed.
