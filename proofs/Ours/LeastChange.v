(** Any number of groups: the least total change with which all selection rates are within γ.

    Group [i] below [k] has finitely many points; the groups are numbered by their old selection rates, upwards. *)

From Checked Require Import Base.Numbers ISIT.Proposition1.

(** [dpfair_lib.postprocessing.bands.least_total_change], for rates that are sorted upwards. *)
Definition least_total_change (k : nat) (alpha : nat -> Q) (gamma : Q) : Q :=
  sum (k / 2) (fun i => Qmax (alpha (k - 1 - i)%nat - alpha i - gamma) 0).

Definition sorted (k : nat) (alpha : nat -> Q) : Prop :=
  forall i j, (i <= j)%nat -> (j < k)%nat -> alpha i <= alpha j.

Definition within (k : nat) (gamma : Q) (b : nat -> Q) : Prop :=
  forall i j, (i < k)%nat -> (j < k)%nat -> b i - b j <= gamma.

(** ** Sums in pairs, from both ends *)

Lemma sum_from_the_end k f m : (m <= k)%nat ->
  sum m (fun i => f (k - 1 - i)%nat) == sum k f - sum (k - m) f.
Proof.
  induction m as [|m IH]; intros H.
  - rewrite Nat.sub_0_r. cbn. ring.
  - cbn [sum]. rewrite IH by lia. replace (k - m)%nat with (S (k - S m)) by lia. cbn [sum].
    replace (k - 1 - m)%nat with (k - S m)%nat by lia. ring.
Qed.

Lemma half_of k : (k / 2 + k / 2 = k \/ k / 2 + S (k / 2) = k)%nat.
Proof.
  pose proof (Nat.div_mod k 2 ltac:(lia)) as E. pose proof (Nat.mod_upper_bound k 2 ltac:(lia)) as B.
  destruct (k mod 2)%nat as [|[|r]]; lia.
Qed.

Lemma sum_in_pairs k f :
  sum (k / 2) (fun i => f i + f (k - 1 - i)%nat) ==
  sum k f - (if Nat.eqb (k / 2 + k / 2) k then 0 else f (k / 2)%nat).
Proof.
  rewrite sum_plus, sum_from_the_end by (destruct (half_of k); lia).
  destruct (half_of k) as [E|E].
  - replace (k - k / 2)%nat with (k / 2)%nat by lia. rewrite (proj2 (Nat.eqb_eq _ _) E). ring.
  - replace (k - k / 2)%nat with (S (k / 2)) by lia. cbn [sum].
    destruct (Nat.eqb_spec (k / 2 + k / 2) k); [lia|]. ring.
Qed.

(** ** No classifier changes less *)

Definition total_change_at_least (formula : nat -> (nat -> Q) -> Q -> Q) : Prop :=
  forall k n w c gamma,
  (forall i, (i < k)%nat -> distribution n (w i) /\ valid n (c i)) ->
  sorted k (fun i => old_rate n (w i) (c i)) ->
  within k gamma (fun i => new_rate n (w i) (c i)) ->
  formula k (fun i => old_rate n (w i) (c i)) gamma <= sum k (fun i => changed n (w i) (c i)).

Theorem least_change_bound : total_change_at_least least_total_change.
Proof.
  intros k n w c gamma V S W. unfold least_total_change.
  assert (P : forall i, (i < k)%nat -> 0 <= changed n (w i) (c i)).
  { intros i Hi. destruct (V i Hi) as [D Vc]. pose proof (rate_moves n (w i) (c i) D Vc).
    pose proof (Qabs_nonneg (old_rate n (w i) (c i) - new_rate n (w i) (c i))). lra. }
  apply Qle_trans with (sum (k / 2) (fun i => changed n (w i) (c i) + changed n (w (k - 1 - i)%nat) (c (k - 1 - i)%nat))).
  - apply sum_le. intros i Hi. cbv beta.
    assert (Li : (i < k)%nat) by (destruct (half_of k); lia). assert (Lj : (k - 1 - i < k)%nat) by lia.
    destruct (V i Li) as [Di Vi]. destruct (V _ Lj) as [Dj Vj].
    pose proof (rate_moves n _ _ Di Vi) as A. pose proof (rate_moves n _ _ Dj Vj) as B.
    specialize (W _ _ Lj Li). cbv beta in W. pose proof (P _ Li). pose proof (P _ Lj).
    apply abs_le in A, B. apply Q.max_lub; lra.
  - rewrite (sum_in_pairs k (fun i => changed n (w i) (c i))).
    destruct (Nat.eqb_spec (k / 2 + k / 2) k); [lra|].
    assert (L : (k / 2 < k)%nat) by (destruct (half_of k); lia). specialize (P _ L). lra.
Qed.

(** ** Some classifiers change no more: rates are moved into a band [c, c + γ] *)

Definition clamp (c gamma a : Q) : Q := Qmin (Qmax a c) (c + gamma).

(** The band's lower end: the largest over the pairs of the lower rate, or of the upper one less γ. *)
Definition band (k : nat) (alpha : nat -> Q) (gamma : Q) : Q :=
  largest ((k - 1) / 2) (fun i => Qmin (alpha i) (alpha (k - 1 - i)%nat - gamma)).

Lemma half_below k i : (1 <= k)%nat -> ((i <= (k - 1) / 2)%nat <-> (i <= k - 1 - i)%nat /\ (i < k)%nat).
Proof.
  intros H. pose proof (Nat.div_mod (k - 1) 2 ltac:(lia)) as E.
  pose proof (Nat.mod_upper_bound (k - 1) 2 ltac:(lia)) as B. split; lia.
Qed.

Lemma band_fits k alpha gamma i : (1 <= k)%nat -> 0 <= gamma -> sorted k alpha -> (i <= k - 1 - i)%nat -> (i < k)%nat ->
  let c := band k alpha gamma in let a := alpha i in let b := alpha (k - 1 - i)%nat in
  (a <= c /\ c + gamma <= b /\ gamma <= b - a) \/ (c <= a /\ b <= c + gamma /\ b - a <= gamma).
Proof.
  intros K G S Hi Hk c a b. assert (AB : a <= b) by (apply S; lia).
  assert (Up : forall x, (forall j, (j <= (k - 1) / 2)%nat -> Qmin (alpha j) (alpha (k - 1 - j)%nat - gamma) <= x) -> c <= x)
    by (intros x H; now apply largest_le).
  assert (Low : Qmin a (b - gamma) <= c).
  { apply (largest_ge ((k - 1) / 2) (fun i => Qmin (alpha i) (alpha (k - 1 - i)%nat - gamma)) i). apply half_below; lia. }
  destruct (Qlt_le_dec (b - a) gamma) as [N|N].
  - right. splits; [|destruct (min_cases a (b - gamma)) as [[? E]|[? E]]; rewrite E in Low; lra | lra].
    apply Up. intros j Hj. apply half_below in Hj; [|assumption].
    destruct (Nat.le_gt_cases j i) as [L|L].
    + apply Qle_trans with (alpha j); [apply Q.le_min_l | apply S; lia].
    + apply Qle_trans with (alpha (k - 1 - j)%nat - gamma); [apply Q.le_min_r|].
      assert (alpha (k - 1 - j)%nat <= b) by (apply S; lia). lra.
  - left. splits; [destruct (min_cases a (b - gamma)) as [[? E]|[? E]]; rewrite E in Low; lra | | lra].
    assert (U : c <= b - gamma); [|lra].
    apply Up. intros j Hj. apply half_below in Hj; [|assumption].
    destruct (Nat.le_gt_cases i j) as [L|L].
    + apply Qle_trans with (alpha (k - 1 - j)%nat - gamma); [apply Q.le_min_r|].
      assert (alpha (k - 1 - j)%nat <= b) by (apply S; lia). lra.
    + apply Qle_trans with (alpha j); [apply Q.le_min_l|].
      assert (alpha j <= a) by (apply S; lia). lra.
Qed.

Lemma clamp_pair c gamma a b : 0 <= gamma ->
  (a <= c /\ c + gamma <= b /\ gamma <= b - a) \/ (c <= a /\ a <= b /\ b <= c + gamma /\ b - a <= gamma) ->
  Qabs (a - clamp c gamma a) + Qabs (b - clamp c gamma b) == Qmax (b - a - gamma) 0.
Proof.
  intros G [(A & B & W)|(A & O & B & W)]; unfold clamp.
  - rewrite (Q.max_r a c), (Q.min_l c), (Q.max_l b c), (Q.min_r b), (Q.max_l (b - a - gamma)) by lra.
    rewrite (Qabs_neg (a - c)), (Qabs_pos (b - _)) by lra. ring.
  - rewrite (Q.max_l a c), (Q.min_l a), (Q.max_l b c), (Q.min_l b), (Q.max_r (b - a - gamma)) by lra.
    rewrite !Qabs_pos by lra. ring.
Qed.

Definition total_change_attained (formula : nat -> (nat -> Q) -> Q -> Q) : Prop :=
  forall k n w h gamma, 0 <= gamma ->
  (forall i, (i < k)%nat -> distribution n (w i) /\ classifier n (h i)) ->
  sorted k (fun i => rate n (w i) (h i)) ->
  exists c : nat -> answers,
  (forall i, (i < k)%nat -> valid n (c i) /\ answers_of n (h i) (c i)) /\
  within k gamma (fun i => new_rate n (w i) (c i)) /\
  sum k (fun i => changed n (w i) (c i)) == formula k (fun i => rate n (w i) (h i)) gamma.

Theorem least_change_attained : total_change_attained least_total_change.
Proof.
  intros k n w h gamma G V S. destruct k as [|k'].
  { exists (fun _ => flipped (h 0%nat) 0 0). splits; [intros; lia | intros i j; lia | reflexivity]. }
  set (k := Datatypes.S k') in *. set (alpha := fun i => rate n (w i) (h i)) in *.
  set (c := band k alpha gamma).
  assert (K : (1 <= k)%nat) by lia.
  assert (R : forall i, (i < k)%nat -> 0 <= alpha i <= 1).
  { intros i Hi. destruct (V i Hi) as [D H]. now apply rate_in_range. }
  assert (C : 0 <= c + gamma /\ c <= 1).
  { destruct (band_fits k alpha gamma 0 K G S ltac:(lia) ltac:(lia)) as [(A & B & _)|(A & B & _)]; fold c in A, B.
    - pose proof (R 0%nat ltac:(lia)). pose proof (R (k - 1 - 0)%nat ltac:(lia)). lra.
    - pose proof (R 0%nat ltac:(lia)). pose proof (R (k - 1 - 0)%nat ltac:(lia)). lra. }
  assert (T : forall i, (i < k)%nat -> 0 <= clamp c gamma (alpha i) <= 1).
  { intros i Hi. specialize (R i Hi). unfold clamp.
    destruct (max_cases (alpha i) c) as [[? E]|[? E]]; rewrite E;
      match goal with |- context [Qmin ?u ?v] => destruct (min_cases u v) as [[? F]|[? F]]; rewrite F end; lra. }
  exists (fun i => moved_to n (w i) (h i) (clamp c gamma (alpha i))).
  assert (M : forall i, (i < k)%nat ->
    valid n (moved_to n (w i) (h i) (clamp c gamma (alpha i))) /\
    old_rate n (w i) (moved_to n (w i) (h i) (clamp c gamma (alpha i))) == alpha i /\
    new_rate n (w i) (moved_to n (w i) (h i) (clamp c gamma (alpha i))) == clamp c gamma (alpha i) /\
    changed n (w i) (moved_to n (w i) (h i) (clamp c gamma (alpha i))) == Qabs (alpha i - clamp c gamma (alpha i))).
  { intros i Hi. destruct (V i Hi) as [D H]. apply moved_to_reaches; auto. }
  splits.
  - intros i Hi. destruct (M i Hi) as (? & _). split; [assumption | apply moved_to_answers].
  - intros i j Hi Hj. destruct (M i Hi) as (_ & _ & E & _). destruct (M j Hj) as (_ & _ & F & _).
    rewrite E, F. unfold clamp.
    pose proof (Q.le_min_r (Qmax (alpha i) c) (c + gamma)).
    assert (c <= Qmin (Qmax (alpha j) c) (c + gamma)).
    { apply Q.min_glb; [apply Q.le_max_r | lra]. }
    lra.
  - rewrite (sum_ext k _ (fun i => Qabs (alpha i - clamp c gamma (alpha i)))) by (intros i Hi; apply M; assumption).
    assert (Pairs : least_total_change k alpha gamma ==
      sum (k / 2) (fun i => Qabs (alpha i - clamp c gamma (alpha i))
                            + Qabs (alpha (k - 1 - i)%nat - clamp c gamma (alpha (k - 1 - i)%nat)))).
    { apply sum_ext. intros i Hi. symmetry. apply clamp_pair; [assumption|].
      assert (L : (i <= k - 1 - i)%nat /\ (i < k)%nat) by (destruct (half_of k); lia). destruct L as [L1 L2].
      assert (AB : alpha i <= alpha (k - 1 - i)%nat) by (apply S; lia).
      destruct (band_fits k alpha gamma i K G S L1 L2) as [F|(F1 & F2 & F3)]; [left; exact F | right; splits; assumption]. }
    rewrite Pairs, (sum_in_pairs k (fun i => Qabs (alpha i - clamp c gamma (alpha i)))).
    destruct (Nat.eqb_spec (k / 2 + k / 2) k) as [E|E]; [ring|].
    (* an odd number of groups: the middle one does not move *)
    assert (O : (k / 2 + Datatypes.S (k / 2) = k)%nat) by (destruct (half_of k); lia).
    destruct (band_fits k alpha gamma (k / 2) K G S ltac:(lia) ltac:(lia)) as [(A & B & W)|(A & B & W)];
      fold c in A, B; replace (k - 1 - k / 2)%nat with (k / 2)%nat in * by lia.
    + unfold clamp. rewrite Q.max_r, Q.min_l by lra.
      rewrite (Qabs_neg (alpha (k / 2)%nat - c)) by lra. lra.
    + unfold clamp. rewrite Q.max_l, Q.min_l by lra. rewrite (Qabs_pos (alpha (k / 2)%nat - _)) by lra. lra.
Qed.

(** ** Planted faults *)

Definition steady (p : Q) : answers := always p 1.
Definition from_to (p q : Q) : answers := {| both := fun _ => Qmin p q; lost := fun _ => Qmax (p - q) 0; won := fun _ => Qmax (q - p) 0 |}.

Definition three (i : nat) : answers := match i with 0%nat => from_to 0 0 | 1%nat => from_to 0 0 | _ => from_to 1 0 end.

Lemma three_groups : (forall i, (i < 3)%nat -> distribution 1 one_point /\ valid 1 (three i)) /\
  sorted 3 (fun i => old_rate 1 one_point (three i)) /\ within 3 0 (fun i => new_rate 1 one_point (three i)).
Proof.
  splits.
  - intros i Hi. split; [split; [intros; unfold one_point; lra | reflexivity]|].
    destruct i as [|[|[|i]]]; [..|lia]; intros j _; cbn; repeat split; now compute.
  - intros i j Hij Hj. destruct i as [|[|[|i]]], j as [|[|[|j]]]; try lia; now compute.
  - intros i j Hi Hj. destruct i as [|[|[|i]]], j as [|[|[|j]]]; try lia; now compute.
Qed.

(** The mean of the rates as the common rate. *)
Theorem least_change_bound_fault_1 :
  ~ total_change_at_least (fun k alpha gamma => sum k (fun i => Qabs (alpha i - sum k alpha / inject_Z (Z.of_nat k))) - gamma).
Proof.
  intros H. destruct three_groups as (V & S & W). specialize (H 3%nat 1%nat (fun _ => one_point) three 0 V S W).
  now vm_compute in H.
Qed.

(** Half of γ. *)
Definition two (i : nat) : answers := match i with 0%nat => from_to 0 0 | _ => from_to 1 1 end.

Theorem least_change_bound_fault_2 :
  ~ total_change_at_least (fun k alpha gamma => least_total_change k alpha (gamma / 2)).
Proof.
  intros H. specialize (H 2%nat 1%nat (fun _ => one_point) two 1).
  assert (V : forall i, (i < 2)%nat -> distribution 1 one_point /\ valid 1 (two i)).
  { intros i Hi. split; [split; [intros; unfold one_point; lra | reflexivity]|].
    destruct i as [|[|i]]; [..|lia]; intros j _; cbn; repeat split; now compute. }
  assert (S : sorted 2 (fun i => old_rate 1 one_point (two i))).
  { intros i j Hij Hj. destruct i as [|[|i]], j as [|[|j]]; try lia; now compute. }
  assert (W : within 2 1 (fun i => new_rate 1 one_point (two i))).
  { intros i j Hi Hj. destruct i as [|[|i]], j as [|[|j]]; try lia; now compute. }
  specialize (H V S W). now vm_compute in H.
Qed.

(** Each pair counted without the limit 0. *)
Lemma attained_is_least formula : total_change_attained formula -> forall k n w h gamma, 0 <= gamma ->
  (forall i, (i < k)%nat -> distribution n (w i) /\ classifier n (h i)) -> sorted k (fun i => rate n (w i) (h i)) ->
  0 <= formula k (fun i => rate n (w i) (h i)) gamma.
Proof.
  intros H k n w h gamma G V S. destruct (H k n w h gamma G V S) as (c & Vc & _ & <-).
  apply sum_nonneg. intros i Hi. destruct (V i Hi) as [D _]. destruct (Vc i Hi) as [U _].
  pose proof (rate_moves n (w i) (c i) D U).
  pose proof (Qabs_nonneg (old_rate n (w i) (c i) - new_rate n (w i) (c i))). lra.
Qed.

Definition zeros : nat -> nat -> Q := fun _ _ => 0.

Lemma zeros_fit : (forall i, (i < 2)%nat -> distribution 1 one_point /\ classifier 1 (zeros i)) /\
  sorted 2 (fun i => rate 1 one_point (zeros i)).
Proof.
  split.
  - intros i _. split; [split; [intros; unfold one_point; lra | reflexivity]|]. intros j _. unfold zeros. lra.
  - intros i j _ _. unfold zeros. lra.
Qed.

Theorem least_change_attained_fault_1 :
  ~ total_change_attained (fun k alpha gamma => sum (k / 2) (fun i => alpha (k - 1 - i)%nat - alpha i - gamma)).
Proof.
  intros H. destruct zeros_fit as [V S].
  pose proof (attained_is_least _ H 2%nat 1%nat (fun _ => one_point) zeros 1 ltac:(lra) V S) as K. now vm_compute in K.
Qed.

(** γ with the wrong sign. *)
Theorem least_change_attained_fault_2 :
  ~ total_change_attained (fun k alpha gamma => - least_total_change k alpha (- gamma)).
Proof.
  intros H. destruct zeros_fit as [V S].
  pose proof (attained_is_least _ H 2%nat 1%nat (fun _ => one_point) zeros 1 ltac:(lra) V S) as K. now vm_compute in K.
Qed.
