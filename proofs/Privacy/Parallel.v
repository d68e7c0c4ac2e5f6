(** Parallel composition: one release for each of two groups, under each relation of neighbouring data.

    The data of a group are a list of records of any type; a mechanism sends it to a law on finitely many reports. *)

From Checked Require Import Base.Numbers.
From Coq Require Import List.
Import ListNotations.

Section Relations.
  Context {A : Type}.

  (** A record is added. *)
  Definition added (x x' : list A) : Prop := exists l r a, x = l ++ r /\ x' = l ++ a :: r.

  Definition added_or_removed (x x' : list A) : Prop := added x x' \/ added x' x.

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
    replace_within_group x x' \/ (added (fst x) (fst x') /\ added (snd x') (snd x)) \/
    (added (fst x') (fst x) /\ added (snd x) (snd x')).

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
  destruct H as [[[E F]|[E F]]|[[E F]|[E F]]]; subst; apply product_le; try lra.
  - apply P0; [now right | assumption].
  - nra.
  - nra.
  - apply P1; [now right | assumption].
  - apply P0; [left; now left | assumption].
  - apply P1; [left; now right | assumption].
  - apply P0; [left; now right | assumption].
  - apply P1; [left; now left | assumption].
Qed.

(** A replacement is a removal and an addition: twice the level, for a mechanism that is private under add-remove. *)
Definition replacing_costs (cost : Q -> Q) : Prop :=
  forall A m (M : @mechanism A) t, 1 <= t -> law m M -> level (@added_or_removed A) t m M ->
  level (@replaced A) (cost t) m M.

Theorem replacing_costs_twice : replacing_costs (fun t => t * t).
Proof.
  intros A m M t T L P x x' y (l & r & a & b & -> & ->) Hy.
  assert (U : M (l ++ a :: r) y <= t * M (l ++ r) y) by (apply P; [right; exists l, r, a; now split | assumption]).
  assert (V : M (l ++ r) y <= t * M (l ++ b :: r) y) by (apply P; [left; exists l, r, b; now split | assumption]).
  assert (0 <= t) by lra. pose proof (scaled t _ _ H V). lra.
Qed.

Lemma higher_odds a b s t : a <= s * b -> 0 <= b -> s <= t -> a <= t * b.
Proof. intros. nra. Qed.

(** Any record replaced, where each release is private under add-remove only: twice the larger level. *)
Theorem parallel_of_add_remove : parallel (@added_or_removed) (@replace_one) (fun t0 t1 => Qmax t0 t1 * Qmax t0 t1).
Proof.
  intros A m0 m1 M0 M1 t0 t1 T0 T1 L0 L1 P0 P1 x x' y z H Hy Hz.
  pose proof (Q.le_max_l t0 t1) as A0. pose proof (Q.le_max_r t0 t1) as A1. set (t := Qmax t0 t1) in *.
  assert (T : 0 <= t0 /\ 0 <= t1 /\ t0 * t0 <= t * t /\ t1 * t1 <= t * t /\ t0 <= t * t /\ t1 <= t * t) by (splits; nra).
  destruct T as (Z0 & Z1 & S0 & S1 & U0 & U1).
  assert (Q0 : level (@any_change A) (t * t) m0 M0).
  { intros u u' v [E|E] V; pose proof (proj1 (L0 u') v V).
    - apply (higher_odds _ _ t0); [now apply P0 | assumption | assumption].
    - apply (higher_odds _ _ (t0 * t0)); [now apply (replacing_costs_twice A m0 M0 t0 T0 L0 P0) | assumption | assumption]. }
  assert (Q1 : level (@any_change A) (t * t) m1 M1).
  { intros u u' v [E|E] V; pose proof (proj1 (L1 u') v V).
    - apply (higher_odds _ _ t1); [now apply P1 | assumption | assumption].
    - apply (higher_odds _ _ (t1 * t1)); [now apply (replacing_costs_twice A m1 M1 t1 T1 L1 P1) | assumption | assumption]. }
  destruct x as [x u], x' as [x' u']. cbn [fst snd].
  pose proof (proj1 (L0 x) y Hy). pose proof (proj1 (L1 u) z Hz).
  pose proof (proj1 (L0 x') y Hy). pose proof (proj1 (L1 u') z Hz).
  assert (0 <= t * t) by nra.
  unfold replace_one, replace_within_group in H. cbn in H. destruct H as [[[E F]|[E F]]|EF]; subst.
  - rewrite <- (Qmult_1_r (t * t)). apply product_le; try lra; apply Q0; [now right | assumption].
  - setoid_replace (t * t) with (1 * (t * t)) by ring. apply product_le; try lra; apply Q1; [now right | assumption].
  - assert (R : added_or_removed x x' /\ added_or_removed u u') by (unfold added_or_removed; tauto). destruct R as [E F].
    apply product_le; try lra.
    + apply (higher_odds _ _ t0); [now apply P0 | assumption | assumption].
    + apply (higher_odds _ _ t1); [now apply P1 | assumption | assumption].
Qed.

(** ** No cost can be less, for any two levels *)

(** Randomised response, at the odds [t], to whether the group is empty, or to whether its first record is [true]. *)
Definition answer (t : Q) (yes : bool) (y : nat) : Q :=
  match y, yes with
  | 0%nat, true => t / (1 + t) | 0%nat, false => 1 / (1 + t)
  | 1%nat, true => 1 / (1 + t) | 1%nat, false => t / (1 + t) | _, _ => 0
  end.
Definition first_true (x : list bool) : bool := match x with true :: _ => true | _ => false end.
Definition no_record (x : list bool) : bool := match x with [] => true | _ => false end.

Lemma answer_law t b : 1 <= t -> distribution 2 (answer t b).
Proof.
  intros T. split.
  - intros i _. destruct b, i as [|[|i]]; cbn; try apply div_nonneg; lra.
  - destruct b; cbn; field; lra.
Qed.

Lemma answer_level t b b' y : 1 <= t -> answer t b y <= t * answer t b' y.
Proof.
  intros T. assert (P : 0 < / (1 + t)) by (apply Qinv_lt_0_compat; lra). unfold answer, Qdiv.
  set (p := / (1 + t)) in *. clearbody p.
  assert (A : 0 <= (t - 1) * p) by nra. assert (B : 0 <= t * ((t - 1) * p)) by nra. destruct b, b', y as [|[|y]]; lra.
Qed.

(** A law that distinguishes a single [true], a single [false] and all else: each step costs [t]. *)
Definition weight (t : Q) (x : list bool) : Q := match x with [true] => t * t | [false] => 1 | _ => t end.
Definition graded (t : Q) (x : list bool) (y : nat) : Q :=
  match y with 0%nat => weight t x / (t * t * (1 + t)) | 1%nat => 1 - weight t x / (t * t * (1 + t)) | _ => 0 end.

Lemma graded_law t : 1 <= t -> law 2 (graded t).
Proof.
  intros T x. assert (A : 1 <= t * t) by nra. assert (A1 : t <= t * t) by nra. assert (A2 : 1 <= t * t * t) by nra.
  assert (D : 0 < t * t * (1 + t)) by (apply mul_pos; lra).
  assert (W : 0 <= weight t x <= t * t * (1 + t)) by (unfold weight; destruct x as [|[|] [|b x]]; split; lra).
  split; [|cbn; ring]. intros i _. destruct i as [|[|i]]; cbn [graded].
  - apply div_nonneg; lra.
  - assert (weight t x / (t * t * (1 + t)) <= 1) by (apply div_le; lra). lra.
  - lra.
Qed.

Lemma graded_level t : 1 <= t -> level (@added_or_removed bool) t 2 (graded t).
Proof.
  intros T x x' y H _. assert (A : 1 <= t * t) by nra. set (d := t * t * (1 + t)).
  assert (D : 0 < d) by (apply mul_pos; lra).
  assert (W : weight t x <= t * weight t x' /\ d - weight t x <= t * (d - weight t x')).
  { assert (Mid : forall l r a, (weight t (l ++ r) = t /\ (weight t (l ++ a :: r) = t \/ l = [] /\ r = [])) \/
                                (weight t (l ++ a :: r) = t)).
    { intros l r a. destruct l as [|b l]; [destruct r as [|c r]; [left; cbn; tauto | right; now destruct a]|].
      right. destruct l, r, b; reflexivity. }
    assert (S : 0 <= t * ((t - 1) * (t - 1)) * (t + 1)) by (repeat apply mul_nonneg; try lra; apply square_nonneg).
    assert (S2 : 0 <= (t * t - 1) * (t * t - 1)) by apply square_nonneg.
    assert (S3 : 0 <= t * t * (t * t - 1)) by (apply mul_nonneg; lra).
    assert (S4 : 0 <= t * (t - 1)) by (apply mul_nonneg; lra).
    assert (S5 : 0 <= t * (t * t - 1)) by (apply mul_nonneg; lra).
    assert (Vals : forall z, weight t z = t * t \/ weight t z = t \/ weight t z = 1)
      by (intros z; unfold weight; destruct z as [|[|] [|b z]]; tauto).
    assert (One : weight t x = t \/ weight t x' = t).
    { destruct H as [(l & r & a & -> & ->)|(l & r & a & -> & ->)]; destruct (Mid l r a) as [[U _]|U]; tauto. }
    unfold d. destruct One as [E|E]; rewrite E; [destruct (Vals x') as [F|[F|F]] | destruct (Vals x) as [F|[F|F]]];
      rewrite F; split; try nra; lra. }
  destruct W as [W0 W1].
  assert (P : 0 < / d) by now apply Qinv_lt_0_compat. unfold graded. fold d. destruct y as [|[|y]]; [| |lra].
  - unfold Qdiv. setoid_replace (t * (weight t x' * / d)) with (t * weight t x' * / d) by ring.
    apply Qmult_le_compat_r; lra.
  - setoid_replace (1 - weight t x / d) with ((d - weight t x) * / d) by (field; lra).
    setoid_replace (t * (1 - weight t x' / d)) with (t * (d - weight t x') * / d) by (field; lra).
    apply Qmult_le_compat_r; lra.
Qed.

(** Under the relations of a group and of both, every cost that serves is at least [cost]. *)
Definition least_cost (R0 : forall A, list A -> list A -> Prop) (R : forall A, @data A -> @data A -> Prop)
  (cost : Q -> Q -> Q) : Prop :=
  forall serves, parallel R0 R serves -> forall t0 t1, 1 <= t0 -> 1 <= t1 -> cost t0 t1 <= serves t0 t1.

(** The four costs: add-remove, within groups, replace-one by releases that bear any change, and by add-remove. *)
Definition least_costs (added within any twice : Q -> Q -> Q) : Prop :=
  least_cost (@added_or_removed) (@add_remove) added /\ least_cost (@replaced) (@replace_within_group) within /\
  least_cost (@any_change) (@replace_one) any /\ least_cost (@added_or_removed) (@replace_one) twice.

Lemma by_ratio a b c : 0 < b -> a * b <= c * b -> a <= c.
Proof. intros B H. apply (Qmult_le_r _ _ b); assumption. Qed.

Lemma answer_ratio t : 1 <= t -> answer t true 0 == t * answer t false 0 /\ 0 < answer t false 0.
Proof. intros T. cbn. split; [field; lra | apply div_pos; lra]. Qed.

Lemma graded_ratio t : 1 <= t -> graded t [true] 0 == t * t * graded t [false] 0 /\ 0 < graded t [false] 0.
Proof. intros T. assert (0 < t * t) by nra. cbn. split; [field; lra | apply div_pos; [apply mul_pos|]; lra]. Qed.

Theorem parallel_costs_are_least : least_costs Qmax Qmax (fun t0 t1 => t0 * t1) (fun t0 t1 => Qmax t0 t1 * Qmax t0 t1).
Proof.
  assert (Ans : forall R f t, 1 <= t -> level R t 2 (fun x : list bool => answer t (f x))) by (intros R f t T x x' y _ _; now apply answer_level).
  assert (Alw : forall (f : list bool -> bool) t, 1 <= t -> law 2 (fun x => answer t (f x))) by (intros f t T x; now apply answer_law).
  unfold least_costs. splits; intros c H t0 t1 T0 T1;
    destruct (answer_ratio t0 T0) as [E0 P0], (answer_ratio t1 T1) as [E1 P1].
  - pose proof (H bool 2%nat 2%nat _ _ t0 t1 T0 T1 (Alw no_record t0 T0) (Alw no_record t1 T1) (Ans _ no_record t0 T0) (Ans _ no_record t1 T1)) as K.
    pose proof (K ([], []) ([true], []) 0%nat 0%nat ltac:(left; split; [left; exists [], [], true; now split | reflexivity]) ltac:(lia) ltac:(lia)) as K0.
    pose proof (K ([], []) ([], [true]) 0%nat 0%nat ltac:(right; split; [reflexivity | left; exists [], [], true; now split]) ltac:(lia) ltac:(lia)) as K1.
    cbn [fst snd no_record] in K0, K1. rewrite E0, E1 in K0, K1.
    pose proof (mul_pos _ _ P0 P1) as PP. apply Q.max_lub.
    + apply by_ratio with (answer t0 false 0 * (t1 * answer t1 false 0)); [nra | lra].
    + apply by_ratio with (t0 * answer t0 false 0 * answer t1 false 0); [nra | lra].
  - pose proof (H bool 2%nat 2%nat _ _ t0 t1 T0 T1 (Alw first_true t0 T0) (Alw first_true t1 T1) (Ans _ first_true t0 T0) (Ans _ first_true t1 T1)) as K.
    pose proof (K ([true], [false]) ([false], [false]) 0%nat 0%nat ltac:(left; split; [exists [], [], true, false; now split | reflexivity]) ltac:(lia) ltac:(lia)) as K0.
    pose proof (K ([false], [true]) ([false], [false]) 0%nat 0%nat ltac:(right; split; [reflexivity | exists [], [], true, false; now split]) ltac:(lia) ltac:(lia)) as K1.
    cbn [fst snd first_true] in K0, K1. rewrite E0 in K0. rewrite E1 in K1.
    pose proof (mul_pos _ _ P0 P1) as PP. apply Q.max_lub; apply by_ratio with (answer t0 false 0 * answer t1 false 0); lra.
  - pose proof (H bool 2%nat 2%nat _ _ t0 t1 T0 T1 (Alw no_record t0 T0) (Alw (fun x => negb (no_record x)) t1 T1)
      (Ans _ no_record t0 T0) (Ans _ (fun x => negb (no_record x)) t1 T1)) as K.
    pose proof (K ([], [true]) ([true], []) 0%nat 0%nat ltac:(right; left; split; exists [], [], true; now split) ltac:(lia) ltac:(lia)) as K0.
    cbn [fst snd no_record negb] in K0. rewrite E0, E1 in K0. pose proof (mul_pos _ _ P0 P1) as PP.
    apply by_ratio with (answer t0 false 0 * answer t1 false 0); lra.
  - destruct (graded_ratio t0 T0) as [G0 Q0], (graded_ratio t1 T1) as [G1 Q1].
    pose proof (H bool 2%nat 2%nat _ _ t0 t1 T0 T1 (graded_law t0 T0) (graded_law t1 T1) (graded_level t0 T0) (graded_level t1 T1)) as K.
    pose proof (K ([true], [false]) ([false], [false]) 0%nat 0%nat ltac:(left; left; split; [exists [], [], true, false; now split | reflexivity]) ltac:(lia) ltac:(lia)) as K0.
    pose proof (K ([false], [true]) ([false], [false]) 0%nat 0%nat ltac:(left; right; split; [reflexivity | exists [], [], true, false; now split]) ltac:(lia) ltac:(lia)) as K1.
    cbn [fst snd] in K0, K1. rewrite G0 in K0. rewrite G1 in K1. pose proof (mul_pos _ _ Q0 Q1) as PP.
    destruct (max_cases t0 t1) as [[L F]|[L F]]; rewrite F; apply by_ratio with (graded t0 [false] 0 * graded t1 [false] 0); lra.
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
  { right. left. split; exists [], [], tt; now split. }
  specialize (H R ltac:(lia) ltac:(lia)). now vm_compute in H.
Qed.

(** The mean of both levels' sum and product. *)
Theorem parallel_replace_one_fault_2 : ~ parallel (@any_change) (@replace_one) (fun t0 t1 => t0 + t1 - 1).
Proof.
  intros H. specialize (H unit 2%nat 2%nat told told 2 2 ltac:(lra) ltac:(lra) (told_law _) (told_law _)
    (told_level _ _) (told_level _ _) ([], [tt]) ([tt], []) 0%nat 1%nat).
  assert (R : replace_one ([], [tt]) ([tt], [])).
  { right. left. split; exists [], [], tt; now split. }
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
  { left. split; cbn; [left; exists [], [], tt; now split | reflexivity]. }
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
  intros x x' y [(l & r & a & -> & ->)|(l & r & a & -> & ->)] _; apply H.
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
  { left. split; cbn; [left; exists [], [], tt; now split | reflexivity]. }
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

Lemma added_sharp cost : parallel (@added_or_removed) (@replace_one) cost -> 4 <= cost 2 1 /\ 4 <= cost 2 2.
Proof.
  intros H. destruct parallel_costs_are_least as (_ & _ & _ & L). split.
  - exact (L cost H 2 1 ltac:(lra) ltac:(lra)).
  - exact (L cost H 2 2 ltac:(lra) ltac:(lra)).
Qed.

(** The sum of both levels, as for releases that bear any change. *)
Theorem parallel_of_add_remove_fault_1 : ~ parallel (@added_or_removed) (@replace_one) (fun t0 t1 => t0 * t1).
Proof. intros H. destruct (added_sharp _ H) as [K _]. now compute in K. Qed.

(** The larger level alone. *)
Theorem parallel_of_add_remove_fault_2 : ~ parallel (@added_or_removed) (@replace_one) Qmax.
Proof. intros H. destruct (added_sharp _ H) as [K _]. now compute in K. Qed.

(** The sum of both levels already under add-remove. *)
Theorem parallel_costs_are_least_fault_1 :
  ~ least_costs (fun t0 t1 => t0 * t1) Qmax (fun t0 t1 => t0 * t1) (fun t0 t1 => Qmax t0 t1 * Qmax t0 t1).
Proof.
  intros (H & _). specialize (H Qmax parallel_add_remove 2 2 ltac:(lra) ltac:(lra)). now vm_compute in H.
Qed.

(** Four times the level where a record is replaced. *)
Theorem parallel_costs_are_least_fault_2 :
  ~ least_costs Qmax Qmax (fun t0 t1 => t0 * t1) (fun t0 t1 => t0 * t0 * (t1 * t1)).
Proof.
  intros (_ & _ & _ & H). specialize (H _ parallel_of_add_remove 2 2 ltac:(lra) ltac:(lra)). now vm_compute in H.
Qed.
