(** ISIT, Theorem 3 (privacy): a private classifier, and two noisy rates of its answers, with one record replaced.

    The classifier is a report [h] below [l] of a mechanism on both groups; the rates are released by mechanisms that may
    depend on [h]. All data are lists of records of any type. *)

From Checked Require Import Base.Numbers Privacy.Channels Privacy.Composition Privacy.Parallel.
From Coq Require Import List.
Import ListNotations.

(** The chance of an event of the classifier and both rates. *)
Definition released {A} (l m0 m1 : nat) (C : @data A -> nat -> Q) (M0 M1 : nat -> @mechanism A) (x : @data A)
  (event : nat -> nat -> nat -> bool) : Q :=
  sum l (fun h => C x h * sum m0 (fun y => sum m1 (fun z =>
    if event h y z then M0 h (fst x) y * M1 h (snd x) z else 0))).

(** The cost under [R], if the classifier is (ln t, δ)-private under [R], and each rate's release costs [t0], [t1] for
    a change [R0] of its group. *)
Definition algorithm_2_costs (R0 : forall A, list A -> list A -> Prop) (R : forall A, @data A -> @data A -> Prop)
  (odds delta : Q -> Q -> Q -> Q -> Q) : Prop :=
  forall A l m0 m1 (C : @data A -> nat -> Q) (M0 M1 : nat -> @mechanism A) t d t0 t1,
  1 <= t -> 0 <= d -> 1 <= t0 -> 1 <= t1 ->
  (forall x, distribution l (C x)) -> (forall x x', R A x x' -> close t d l (C x) (C x')) ->
  (forall h, law m0 (M0 h) /\ level (R0 A) t0 m0 (M0 h)) -> (forall h, law m1 (M1 h) /\ level (R0 A) t1 m1 (M1 h)) ->
  forall x x' event, R A x x' ->
  released l m0 m1 C M0 M1 x event <= odds t d t0 t1 * released l m0 m1 C M0 M1 x' event + delta t d t0 t1.

Lemma two_rates {A} m0 m1 (M0 M1 : @mechanism A) (x : @data A) (event : nat -> nat -> bool) : law m0 M0 -> law m1 M1 ->
  0 <= sum m0 (fun y => sum m1 (fun z => if event y z then M0 (fst x) y * M1 (snd x) z else 0)) <= 1.
Proof.
  intros L0 L1. destruct (L0 (fst x)) as [P S], (L1 (snd x)) as [P' S'].
  assert (Pos : forall y z, (y < m0)%nat -> (z < m1)%nat -> 0 <= M0 (fst x) y * M1 (snd x) z)
    by (intros; apply mul_nonneg; auto).
  split.
  - apply sum_nonneg. intros y Hy. apply sum_nonneg. intros z Hz. cbv beta. specialize (Pos y z Hy Hz). destruct (event y z); lra.
  - apply Qle_trans with (sum m0 (fun y => sum m1 (fun z => M0 (fst x) y * M1 (snd x) z))).
    + apply sum_le. intros y Hy. apply sum_le. intros z Hz. cbv beta. specialize (Pos y z Hy Hz). destruct (event y z); lra.
    + rewrite <- sum_product, S, S'. lra.
Qed.

(** A classifier's law and then rates of cost [s] in common. *)
Lemma classifier_then_rates l p p' (a b : nat -> Q) t d s : 1 <= t -> 1 <= s ->
  (forall h, (h < l)%nat -> 0 <= p h) -> (forall h, (h < l)%nat -> 0 <= p' h) -> close t d l p p' ->
  (forall h, (h < l)%nat -> 0 <= a h <= 1) -> (forall h, (h < l)%nat -> 0 <= b h <= 1) ->
  (forall h, (h < l)%nat -> a h <= s * b h) ->
  sum l (fun h => p h * a h) <= t * s * sum l (fun h => p' h * b h) + d.
Proof.
  intros T S P P' K A B AB. set (c := fun h => Qmin 1 (s * b h)).
  assert (Tc : test l c).
  { intros h Hh. unfold c. destruct (B h Hh). assert (0 <= s * b h) by (apply mul_nonneg; lra).
    split; [apply Q.min_glb; lra | apply Q.le_min_l]. }
  pose proof (close_tests t d l p p' c K Tc) as G.
  assert (U : sum l (fun h => p h * a h) <= sum l (fun h => p h * c h)).
  { apply sum_le. intros h Hh. apply scaled; [now apply P|]. unfold c. apply Q.min_glb; [apply A; assumption | now apply AB]. }
  assert (V : sum l (fun h => p' h * c h) <= s * sum l (fun h => p' h * b h)).
  { rewrite <- sum_scale. apply sum_le. intros h Hh. cbv beta.
    pose proof (scaled (p' h) (c h) (s * b h) (P' h Hh) (Q.le_min_r _ _)). lra. }
  assert (W : t * sum l (fun h => p' h * c h) <= t * (s * sum l (fun h => p' h * b h))) by (apply scaled; lra). lra.
Qed.

Lemma from_both R0 R cost : parallel R0 R cost -> (forall t0 t1, 1 <= t0 -> 1 <= t1 -> 1 <= cost t0 t1) ->
  algorithm_2_costs R0 R (fun t _ t0 t1 => t * cost t0 t1) (fun _ d _ _ => d).
Proof.
  intros Par One A l m0 m1 C M0 M1 t d t0 t1 T D T0 T1 L Cl H0 H1 x x' event HR. unfold released.
  apply (classifier_then_rates l (C x) (C x') _ _ t d (cost t0 t1)).
  - assumption.
  - now apply One.
  - apply L.
  - apply L.
  - now apply Cl.
  - intros h _. now apply two_rates; [apply H0 | apply H1].
  - intros h _. now apply two_rates; [apply H0 | apply H1].
  - intros h _. destruct (H0 h) as [L0 P0], (H1 h) as [L1 P1].
    pose proof (Par A m0 m1 (M0 h) (M1 h) t0 t1 T0 T1 L0 L1 P0 P1) as B.
    rewrite <- sum_scale. apply sum_le. intros y Hy. rewrite <- sum_scale. apply sum_le. intros z Hz. cbv beta.
    specialize (B x x' y z HR Hy Hz). destruct (event h y z); lra.
Qed.

(** As printed: ε + ε₀ + ε₁ and δ, for one record replaced, also by one of the other group. *)
Theorem algorithm_2_replace_one :
  algorithm_2_costs (@any_change) (@replace_one) (fun t _ t0 t1 => t * (t0 * t1)) (fun _ d _ _ => d).
Proof. apply (from_both _ _ _ parallel_replace_one). intros t0 t1 A B. nra. Qed.

(** Within its group: ε + max(ε₀, ε₁). *)
Theorem algorithm_2_within_group :
  algorithm_2_costs (@replaced) (@replace_within_group) (fun t _ t0 t1 => t * Qmax t0 t1) (fun _ d _ _ => d).
Proof. apply (from_both _ _ _ parallel_within_group). intros t0 t1 A B. pose proof (Q.le_max_l t0 t1). lra. Qed.

(** ** Planted faults: the classifier tells by a coin whether group 0 is empty, and so does each rate *)

Definition teller (x : @data unit) : nat -> Q := coin (empty (fst x)).

Lemma teller_close x x' : close 2 0 2 (teller x) (teller x').
Proof.
  apply least_delta_is_hockey_stick. unfold hockey_stick, teller. cbn [sum].
  destruct (empty (fst x)), (empty (fst x')); now vm_compute.
Qed.

Lemma moves : @replace_one unit ([], [tt]) ([tt], []).
Proof. right. left. split; exists [], [], tt; now split. Qed.

Lemma all_three odds delta : algorithm_2_costs (@any_change) (@replace_one) odds delta ->
  8 # 27 <= odds 2 0 2 2 * (1 # 27) + delta 2 0 2 2.
Proof.
  intros H. specialize (H unit 2%nat 2%nat 2%nat teller (fun _ => told) (fun _ => told) 2 0 2 2
    ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) (fun x => coin_law (empty (fst x))) (fun x x' _ => teller_close x x')
    (fun _ => conj (told_law _) (told_level _ _)) (fun _ => conj (told_law _) (told_level _ _))
    ([], [tt]) ([tt], []) (fun h y z => (Nat.eqb h 0 && Nat.eqb y 0 && Nat.eqb z 1)%bool) moves).
  assert (E : released 2 2 2 teller (fun _ => told) (fun _ => told) ([], [tt])
    (fun h y z => (Nat.eqb h 0 && Nat.eqb y 0 && Nat.eqb z 1)%bool) == 8 # 27) by now vm_compute.
  assert (F : released 2 2 2 teller (fun _ => told) (fun _ => told) ([tt], [])
    (fun h y z => (Nat.eqb h 0 && Nat.eqb y 0 && Nat.eqb z 1)%bool) == 1 # 27) by now vm_compute.
  rewrite E, F in H. exact H.
Qed.

(** The larger of the two rates' levels, though a record may change its group. *)
Theorem algorithm_2_replace_one_fault_1 :
  ~ algorithm_2_costs (@any_change) (@replace_one) (fun t _ t0 t1 => t * Qmax t0 t1) (fun _ d _ _ => d).
Proof. intros H. apply all_three in H. now vm_compute in H. Qed.

(** The classifier's level left out. *)
Theorem algorithm_2_replace_one_fault_2 :
  ~ algorithm_2_costs (@any_change) (@replace_one) (fun _ _ t0 t1 => t0 * t1) (fun _ d _ _ => d).
Proof. intros H. apply all_three in H. now vm_compute in H. Qed.

(** One record of group 0 replaced: a classifier and a rate that tell by a coin which one it is. *)
Definition first_of (x : list bool) : bool := match x with b :: _ => b | [] => false end.
Definition shows (x : list bool) : nat -> Q := coin (first_of x).

Lemma one_within odds : algorithm_2_costs (@replaced) (@replace_within_group) odds (fun _ d _ _ => d) -> 4 <= odds 2 0 2 1.
Proof.
  intros H. assert (L : law 2 shows) by (intros x; apply coin_law).
  assert (P : level (@replaced bool) 2 2 shows) by (intros x x' y _ _; apply coin_level).
  assert (K : forall x x' : @data bool, close 2 0 2 (shows (fst x)) (shows (fst x'))).
  { intros x x'. apply least_delta_is_hockey_stick. unfold hockey_stick, shows. cbn [sum].
    destruct (first_of (fst x)), (first_of (fst x')); now vm_compute. }
  assert (R : @replace_within_group bool ([true], []) ([false], [])).
  { left. split; cbn; [exists [], [], true, false; now split | reflexivity]. }
  specialize (H bool 2%nat 2%nat 1%nat (fun x => shows (fst x)) (fun _ => shows) (fun _ => silent) 2 0 2 1
    ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) (fun x => coin_law (first_of (fst x))) (fun x x' _ => K x x')
    (fun _ => conj L P) (fun _ => conj (silent_law _) (silent_level _ _))
    ([true], []) ([false], []) (fun h y _ => (Nat.eqb h 0 && Nat.eqb y 0)%bool) R).
  assert (E : released 2 2 1 (fun x : @data bool => shows (fst x)) (fun _ => shows) (fun _ => silent) ([true], [])
    (fun h y _ => (Nat.eqb h 0 && Nat.eqb y 0)%bool) == 4 # 9) by now vm_compute.
  assert (F : released 2 2 1 (fun x : @data bool => shows (fst x)) (fun _ => shows) (fun _ => silent) ([false], [])
    (fun h y _ => (Nat.eqb h 0 && Nat.eqb y 0)%bool) == 1 # 9) by now vm_compute.
  rewrite E, F in H. lra.
Qed.

(** The larger of all levels, as if the classifier saw other rows. *)
Theorem algorithm_2_within_group_fault_1 :
  ~ algorithm_2_costs (@replaced) (@replace_within_group) (fun t _ t0 t1 => Qmax t (Qmax t0 t1)) (fun _ d _ _ => d).
Proof. intros H. apply one_within in H. now vm_compute in H. Qed.

(** The smaller level of the two rates. *)
Theorem algorithm_2_within_group_fault_2 :
  ~ algorithm_2_costs (@replaced) (@replace_within_group) (fun t _ t0 t1 => t * Qmin t0 t1) (fun _ d _ _ => d).
Proof. intros H. apply one_within in H. now vm_compute in H. Qed.
