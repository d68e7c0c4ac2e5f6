(** Parallel composition: one release for each of two groups, under each relation of neighbouring data.

    The data of a group are a list of records of any type; a mechanism sends it to a law on finitely many reports. *)

From Checked Require Import Base.Numbers.
From Coq Require Import List.
Import ListNotations.

Section Relations.
  Context {A : Type}.

  (** A record is added or removed. *)
  Definition added_or_removed (x x' : list A) : Prop :=
    exists l r a, (x = l ++ r /\ x' = l ++ a :: r) \/ (x' = l ++ r /\ x = l ++ a :: r).

  (** A record is replaced. *)
  Definition replaced (x x' : list A) : Prop :=
    exists l r a b, x = l ++ a :: r /\ x' = l ++ b :: r.

  Definition data : Type := (list A * list A)%type.

  (** The relations "add-remove", "replace-within-group" and "replace-one" of the library, for two groups. *)
  Definition add_remove (x x' : data) : Prop :=
    (added_or_removed (fst x) (fst x') /\ snd x = snd x') \/ (fst x = fst x' /\ added_or_removed (snd x) (snd x')).

  Definition replace_within_group (x x' : data) : Prop :=
    (replaced (fst x) (fst x') /\ snd x = snd x') \/ (fst x = fst x' /\ replaced (snd x) (snd x')).

  Definition replace_one (x x' : data) : Prop :=
    replace_within_group x x' \/ (added_or_removed (fst x) (fst x') /\ added_or_removed (snd x) (snd x')).

  Definition mechanism : Type := list A -> nat -> Q.

  Definition law (m : nat) (M : mechanism) : Prop := forall x, distribution m (M x).

  (** ε-privacy, [t = e^ε], under a relation of lists. *)
  Definition level (R : list A -> list A -> Prop) (t : Q) (m : nat) (M : mechanism) : Prop :=
    forall x x' y, R x x' -> (y < m)%nat -> M x y <= t * M x' y.

  (** The pair of both reports. *)
  Definition both_level (R : data -> data -> Prop) (t : Q) (m0 m1 : nat) (M0 M1 : mechanism) : Prop :=
    forall x x' y z, R x x' -> (y < m0)%nat -> (z < m1)%nat ->
    M0 (fst x) y * M1 (snd x) z <= t * (M0 (fst x') y * M1 (snd x') z).
End Relations.

Lemma product_le a b c d s t : 0 <= a -> 0 <= b -> 0 <= c -> 0 <= d -> 0 <= s ->
  a <= s * c -> b <= t * d -> a * b <= s * t * (c * d).
Proof.
  intros A B C D S H K. apply Qle_trans with (s * c * b).
  - rewrite (Qmult_comm a b), (Qmult_comm (s * c) b). now apply scaled.
  - apply Qle_trans with (s * c * (t * d)); [|lra]. apply scaled; [now apply mul_nonneg | assumption].
Qed.

(** The cost of two releases under a relation [R], if each costs [t0], [t1] under [R0] within its group. *)
Definition parallel (R0 : forall A, list A -> list A -> Prop) (R : forall A, @data A -> @data A -> Prop)
  (cost : Q -> Q -> Q) : Prop :=
  forall A m0 m1 (M0 M1 : @mechanism A) t0 t1,
  1 <= t0 -> 1 <= t1 -> law m0 M0 -> law m1 M1 ->
  level (R0 A) t0 m0 M0 -> level (R0 A) t1 m1 M1 ->
  both_level (R A) (cost t0 t1) m0 m1 M0 M1.

(** One record added or removed: the larger level. *)
Theorem parallel_add_remove : parallel (@added_or_removed) (@add_remove) Qmax.
Proof.
  intros A m0 m1 M0 M1 t0 t1 T0 T1 L0 L1 P0 P1 [x u] [x' u'] y z H Hy Hz. cbn [fst snd].
  pose proof (proj1 (L0 x) y Hy). pose proof (proj1 (L1 u) z Hz).
  pose proof (proj1 (L0 x') y Hy). pose proof (proj1 (L1 u') z Hz).
  pose proof (Q.le_max_l t0 t1). pose proof (Q.le_max_r t0 t1). set (t := Qmax t0 t1) in *.
  destruct H as [[E F]|[E F]]; cbn in *; subst.
  - specialize (P0 _ _ y E Hy). rewrite <- (Qmult_1_r t). apply product_le; nra.
  - specialize (P1 _ _ z F Hz). setoid_replace t with (1 * t) by ring. apply product_le; nra.
Qed.

(** One record replaced within its group: the larger level, if each release bears a replacement. *)
Theorem parallel_within_group : parallel (@replaced) (@replace_within_group) Qmax.
Proof.
  intros A m0 m1 M0 M1 t0 t1 T0 T1 L0 L1 P0 P1 [x u] [x' u'] y z H Hy Hz. cbn [fst snd].
  pose proof (proj1 (L0 x) y Hy). pose proof (proj1 (L1 u) z Hz).
  pose proof (proj1 (L0 x') y Hy). pose proof (proj1 (L1 u') z Hz).
  pose proof (Q.le_max_l t0 t1). pose proof (Q.le_max_r t0 t1). set (t := Qmax t0 t1) in *.
  destruct H as [[E F]|[E F]]; cbn in *; subst.
  - specialize (P0 _ _ y E Hy). rewrite <- (Qmult_1_r t). apply product_le; nra.
  - specialize (P1 _ _ z F Hz). setoid_replace t with (1 * t) by ring. apply product_le; nra.
Qed.

(** Any record replaced, where each release bears a record that comes, goes or is replaced: the product. *)
Definition any_change {A} (x x' : list A) : Prop := added_or_removed x x' \/ replaced x x'.

Theorem parallel_replace_one : parallel (@any_change) (@replace_one) (fun t0 t1 => t0 * t1).
Proof.
  intros A m0 m1 M0 M1 t0 t1 T0 T1 L0 L1 P0 P1 [x u] [x' u'] y z H Hy Hz. cbn [fst snd].
  pose proof (proj1 (L0 x) y Hy). pose proof (proj1 (L1 u) z Hz).
  pose proof (proj1 (L0 x') y Hy). pose proof (proj1 (L1 u') z Hz).
  unfold replace_one, replace_within_group in H. cbn in H.
  destruct H as [[[E F]|[E F]]|[E F]]; subst; apply product_le; try lra.
  - apply P0; [now right | assumption].
  - nra.
  - nra.
  - apply P1; [now right | assumption].
  - apply P0; [now left | assumption].
  - apply P1; [now left | assumption].
Qed.

(** A replacement is a removal and an addition: twice the level, for a mechanism that is private under add-remove. *)
Definition replacing_costs (cost : Q -> Q) : Prop :=
  forall A m (M : @mechanism A) t, 1 <= t -> law m M -> level (@added_or_removed A) t m M ->
  level (@replaced A) (cost t) m M.

Theorem replacing_costs_twice : replacing_costs (fun t => t * t).
Proof.
  intros A m M t T L P x x' y (l & r & a & b & -> & ->) Hy.
  assert (U : M (l ++ a :: r) y <= t * M (l ++ r) y) by (apply P; [exists l, r, a; now right | assumption]).
  assert (V : M (l ++ r) y <= t * M (l ++ b :: r) y) by (apply P; [exists l, r, b; now left | assumption]).
  assert (0 <= t) by lra. pose proof (scaled t _ _ H V). lra.
Qed.

(** ** Planted faults *)

(** Randomised response to whether the group is empty. *)
Definition coin (yes : bool) (y : nat) : Q :=
  match y, yes with
  | 0%nat, true => 2#3 | 0%nat, false => 1#3 | 1%nat, true => 1#3 | 1%nat, false => 2#3 | _, _ => 0
  end.

Definition empty {A} (x : list A) : bool := match x with [] => true | _ => false end.
Definition told {A} : @mechanism A := fun x => coin (empty x).

Lemma coin_law b : distribution 2 (coin b).
Proof. split; [|now destruct b]. intros i _. destruct b, i as [|[|i]]; cbn; lra. Qed.

Lemma coin_level b b' y : coin b y <= 2 * coin b' y.
Proof. destruct b, b', y as [|[|y]]; cbn; lra. Qed.

Lemma told_law A : law 2 (@told A).
Proof. intros x. apply coin_law. Qed.

Lemma told_level A R : level R 2 2 (@told A).
Proof. intros x x' y _ _. apply coin_level. Qed.

(** A record that changes its group, by the larger level. *)
Theorem parallel_replace_one_fault_1 : ~ parallel (@any_change) (@replace_one) Qmax.
Proof.
  intros H. specialize (H unit 2%nat 2%nat told told 2 2 ltac:(lra) ltac:(lra) (told_law _) (told_law _)
    (told_level _ _) (told_level _ _) ([], [tt]) ([tt], []) 0%nat 1%nat).
  assert (R : replace_one ([], [tt]) ([tt], [])).
  { right. split; cbn; [exists [], [], tt; now left | exists [], [], tt; now right]. }
  specialize (H R ltac:(lia) ltac:(lia)). now vm_compute in H.
Qed.

(** The mean of both levels' sum and product. *)
Theorem parallel_replace_one_fault_2 : ~ parallel (@any_change) (@replace_one) (fun t0 t1 => t0 + t1 - 1).
Proof.
  intros H. specialize (H unit 2%nat 2%nat told told 2 2 ltac:(lra) ltac:(lra) (told_law _) (told_law _)
    (told_level _ _) (told_level _ _) ([], [tt]) ([tt], []) 0%nat 1%nat).
  assert (R : replace_one ([], [tt]) ([tt], [])).
  { right. split; cbn; [exists [], [], tt; now left | exists [], [], tt; now right]. }
  specialize (H R ltac:(lia) ltac:(lia)). now vm_compute in H.
Qed.

Definition silent {A} : @mechanism A := fun _ y => match y with 0%nat => 1 | _ => 0 end.

Lemma silent_law A : law 1 (@silent A).
Proof. intros x. split; [intros [|i] _; cbn; lra | now compute]. Qed.

Lemma silent_level A R : level R 1 1 (@silent A).
Proof. intros x x' y _ _. unfold silent. destruct y; lra. Qed.

(** One record added or removed, by the smaller level. *)
Theorem parallel_add_remove_fault_1 : ~ parallel (@added_or_removed) (@add_remove) Qmin.
Proof.
  intros H. specialize (H unit 2%nat 1%nat told silent 2 1 ltac:(lra) ltac:(lra) (told_law _) (silent_law _)
    (told_level _ _) (silent_level _ _) ([], []) ([tt], []) 0%nat 0%nat).
  assert (R : add_remove (@nil unit, @nil unit) ([tt], [])).
  { left. split; cbn; [exists [], [], tt; now left | reflexivity]. }
  specialize (H R ltac:(lia) ltac:(lia)). now vm_compute in H.
Qed.

(** The larger level, also where a record is replaced though each release bears only one that comes or goes. *)
Definition size_or_first (x : list bool) (y : nat) : Q :=
  match x, y with
  | [], 0%nat => 1#2 | [], 1%nat => 1#2
  | true :: _, 0%nat => 2#3 | true :: _, 1%nat => 1#3
  | false :: _, 0%nat => 1#3 | false :: _, 1%nat => 2#3
  | _, _ => 0
  end.

Definition short (x : list bool) (y : nat) : Q :=
  match x with [_] => size_or_first x y | _ => size_or_first [] y end.

Lemma short_law : law 2 short.
Proof.
  intros x. unfold short. destruct x as [|[|] [|b x]]; split; try (now compute);
    intros [|[|i]] _; cbn; lra.
Qed.

Lemma short_level : level (@added_or_removed bool) (3#2) 2 short.
Proof.
  assert (H : forall l r a y, short (l ++ r) y <= (3#2) * short (l ++ a :: r) y /\
                              short (l ++ a :: r) y <= (3#2) * short (l ++ r) y).
  { intros l r a y.
    destruct l as [|b l]; [destruct r as [|c [|d r]] | destruct l as [|c l]; [destruct r as [|d r]|destruct l, r]];
      try destruct a; try destruct b; try destruct c; try destruct d;
      destruct y as [|[|y]]; cbn; lra. }
  intros x x' y (l & r & a & [[-> ->]|[-> ->]]) _; apply H.
Qed.

Theorem parallel_within_group_fault_1 : ~ parallel (@added_or_removed) (@replace_within_group) Qmax.
Proof.
  intros H. specialize (H bool 2%nat 1%nat short silent (3#2) 1 ltac:(lra) ltac:(lra) short_law (silent_law _)
    short_level (silent_level _ _) ([true], []) ([false], []) 0%nat 0%nat).
  assert (R : replace_within_group ([true], @nil bool) ([false], [])).
  { left. split; cbn; [exists [], [], true, false; now split | reflexivity]. }
  specialize (H R ltac:(lia) ltac:(lia)). now vm_compute in H.
Qed.

(** Within a group, by the smaller level. *)
Theorem parallel_within_group_fault_2 : ~ parallel (@replaced) (@replace_within_group) Qmin.
Proof.
  intros H. 
  assert (L : level (@replaced bool) 4 2 short).
  { intros x x' y (l & r & a & b & -> & ->) _. destruct l as [|c l]; [destruct r as [|c r] | destruct l, r];
      try destruct a; try destruct b; try destruct c; destruct y as [|[|y]]; cbn; lra. }
  specialize (H bool 2%nat 1%nat short silent 4 1 ltac:(lra) ltac:(lra) short_law (silent_law _)
    L (silent_level _ _) ([true], []) ([false], []) 0%nat 0%nat).
  assert (R : replace_within_group ([true], @nil bool) ([false], [])).
  { left. split; cbn; [exists [], [], true, false; now split | reflexivity]. }
  specialize (H R ltac:(lia) ltac:(lia)). now vm_compute in H.
Qed.

(** Add-remove, by the square root's bound: the mean of 1 and the larger level. *)
Theorem parallel_add_remove_fault_2 : ~ parallel (@added_or_removed) (@add_remove) (fun t0 t1 => (1 + Qmax t0 t1) / 2).
Proof.
  intros H. specialize (H unit 2%nat 1%nat told silent 2 1 ltac:(lra) ltac:(lra) (told_law _) (silent_law _)
    (told_level _ _) (silent_level _ _) ([], []) ([tt], []) 0%nat 0%nat).
  assert (R : add_remove (@nil unit, @nil unit) ([tt], [])).
  { left. split; cbn; [exists [], [], tt; now left | reflexivity]. }
  specialize (H R ltac:(lia) ltac:(lia)). now vm_compute in H.
Qed.

(** A replacement at the level of one addition; at one and a half times the level. *)
Lemma replacing_sharp cost : replacing_costs cost -> 2 <= cost (3#2).
Proof.
  intros H. specialize (H bool 2%nat short (3#2) ltac:(lra) short_law short_level [true] [false] 0%nat).
  assert (R : replaced [true] [false]) by (exists [], [], true, false; now split).
  specialize (H R ltac:(lia)). cbn in H. lra.
Qed.

Theorem replacing_costs_twice_fault_1 : ~ replacing_costs (fun t => t).
Proof. intros H. apply replacing_sharp in H. now compute in H. Qed.

Theorem replacing_costs_twice_fault_2 : ~ replacing_costs (fun t => 2 * t - 1 - (1#8)).
Proof. intros H. apply replacing_sharp in H. now compute in H. Qed.
