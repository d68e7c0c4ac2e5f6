(** How far accuracy, levels and notions of fairness differ between two models, over every ordered field.

    Nothing is used of the numbers but that they are an ordered field with absolute values: an ordered ring as the
    standard library defines it, with inverses. The fractions are one, and the real numbers are one. *)

From Checked Require Import Base.Numbers.
From Coq Require Import OrderedRing QMicromega RMicromega.

Record ordered_field : Type := {
  carrier :> Type; nought : carrier; unit : carrier;
  plus : carrier -> carrier -> carrier; times : carrier -> carrier -> carrier; minus : carrier -> carrier -> carrier;
  opposite : carrier -> carrier; same : carrier -> carrier -> Prop;
  at_most : carrier -> carrier -> Prop; less : carrier -> carrier -> Prop;
  ordered_ring : SOR nought unit plus times minus opposite same at_most less;
  inverse : carrier -> carrier; inverse_left : forall x, ~ same x nought -> same (times (inverse x) x) unit;
  size : carrier -> carrier;
  size_up : forall x, at_most nought x -> same (size x) x;
  size_down : forall x, at_most x nought -> same (size x) (opposite x)
}.

Declare Scope field_scope.
Delimit Scope field_scope with F.
Notation "x + y" := (plus _ x y) : field_scope.
Notation "x * y" := (times _ x y) : field_scope.
Notation "x - y" := (minus _ x y) : field_scope.
Notation "- x" := (opposite _ x) : field_scope.
Notation "x == y" := (same _ x y) : field_scope.
Notation "x <= y" := (at_most _ x y) : field_scope.
Notation "x < y" := (less _ x y) : field_scope.
Notation "0" := (nought _) : field_scope.
Notation "1" := (unit _) : field_scope.

Section AnyField.
  Context {K : ordered_field}.
  Local Open Scope field_scope.
  Let laws := ordered_ring K.

  Add Parametric Relation : K (same K)
    reflexivity proved by (@Equivalence_Reflexive _ _ (SORsetoid laws))
    symmetry proved by (@Equivalence_Symmetric _ _ (SORsetoid laws))
    transitivity proved by (@Equivalence_Transitive _ _ (SORsetoid laws)) as same_relation.
  Add Parametric Morphism : (plus K) with signature same K ==> same K ==> same K as plus_same.
  Proof. exact (SORplus_wd laws). Qed.
  Add Parametric Morphism : (times K) with signature same K ==> same K ==> same K as times_same.
  Proof. exact (SORtimes_wd laws). Qed.
  Add Parametric Morphism : (opposite K) with signature same K ==> same K as opposite_same.
  Proof. exact (SORopp_wd laws). Qed.
  Add Parametric Morphism : (at_most K) with signature same K ==> same K ==> iff as at_most_same.
  Proof. exact (SORle_wd laws). Qed.
  Add Parametric Morphism : (less K) with signature same K ==> same K ==> iff as less_same.
  Proof. exact (SORlt_wd laws). Qed.
  Add Ring field_ring : (SORrt laws).
  Add Parametric Morphism : (minus K) with signature same K ==> same K ==> same K as minus_same.
  Proof. intros x y E z t G. rewrite (Rsub_def (SORrt laws) x z), (Rsub_def (SORrt laws) y t), E, G. reflexivity. Qed.
  Add Parametric Morphism : (size K) with signature same K ==> same K as size_same.
  Proof.
    intros x y E. destruct (Rle_gt_cases laws 0 x) as [H|H].
    - rewrite (size_up K x H). rewrite E in H |- *. now rewrite (size_up K y H).
    - apply (Rlt_le_neq laws) in H. destruct H as [H _]. rewrite (size_down K x H). rewrite E in H |- *. now rewrite (size_down K y H).
  Qed.

  Lemma by_difference (x y z : K) : 0 <= z -> y - x == z -> x <= y.
  Proof. intros Z E. apply (Rle_le_minus laws). now rewrite E. Qed.

  Lemma room (x y : K) : x <= y -> 0 <= y - x.
  Proof. apply (Rle_le_minus laws). Qed.

  Lemma added (x y : K) : 0 <= x -> 0 <= y -> 0 <= x + y.
  Proof. apply (Rplus_nonneg_nonneg laws). Qed.

  Lemma multiplied (x y : K) : 0 <= x -> 0 <= y -> 0 <= x * y.
  Proof. apply (Rtimes_nonneg_nonneg laws). Qed.

  Lemma at_most_trans (x y z : K) : x <= y -> y <= z -> x <= z.
  Proof. apply (Rle_trans laws). Qed.

  Lemma less_at_most (x y : K) : x < y -> x <= y.
  Proof. intros H. apply (Rle_lt_eq laws). now left. Qed.

  Lemma size_at_most (x y : K) : size K x <= y <-> - y <= x /\ x <= y.
  Proof.
    destruct (Rle_gt_cases laws 0 x) as [H|H].
    - rewrite (size_up K x H). split; [intros L; split; [|assumption] | tauto].
      apply by_difference with ((y - x) + (x + x)); [|ring]. repeat apply added; try assumption. now apply room.
    - apply less_at_most in H. rewrite (size_down K x H). split.
      + intros L. pose proof (room _ _ L) as L0. pose proof (room _ _ H) as H0. split.
        * apply by_difference with (y - - x); [assumption | ring].
        * apply by_difference with ((y - - x) + ((0 - x) + (0 - x))); [repeat apply added; assumption | ring].
      + intros [L _]. apply by_difference with (x - - y); [now apply room | ring].
  Qed.

  Lemma size_nonneg (x : K) : 0 <= size K x.
  Proof.
    destruct (Rle_gt_cases laws 0 x) as [H|H]; [now rewrite (size_up K x H)|]. apply less_at_most in H.
    rewrite (size_down K x H). apply by_difference with (0 - x); [now apply room | ring].
  Qed.

  Fixpoint total (n : nat) (f : nat -> K) : K := match n with O => 0 | S m => total m f + f m end.

  Lemma total_same n f g : (forall i, (i < n)%nat -> f i == g i) -> total n f == total n g.
  Proof.
    induction n as [|n IH]; intros H; cbn [total]; [reflexivity|]. rewrite IH, (H n) by (intros; try apply H; lia). reflexivity.
  Qed.

  Lemma total_minus n f g : total n (fun i => f i - g i) == total n f - total n g.
  Proof. induction n as [|n IH]; cbn [total]; [ring|]. rewrite IH. ring. Qed.

  Lemma total_scale n f c : total n (fun i => f i * c) == total n f * c.
  Proof. induction n as [|n IH]; cbn [total]; [ring|]. rewrite IH. ring. Qed.

  Lemma total_size n f g : (forall i, (i < n)%nat -> size K (f i) <= g i) -> size K (total n f) <= total n g.
  Proof.
    induction n as [|n IH]; intros H; cbn [total].
    - apply size_at_most. split; apply by_difference with 0; try ring; apply (Rle_refl laws).
    - destruct (proj1 (size_at_most _ _) (IH (fun i Hi => H i (Nat.lt_lt_succ_r _ _ Hi)))) as [A B].
      destruct (proj1 (size_at_most _ _) (H n (Nat.lt_succ_diag_r n))) as [C D]. apply size_at_most.
      apply room in A, B, C, D. split.
      + apply by_difference with ((total n f - - total n g) + (f n - - g n)); [now apply added | ring].
      + apply by_difference with ((total n g - total n f) + (g n - f n)); [now apply added | ring].
  Qed.

  Lemma size_of_product (x y z : K) : size K y <= z -> size K (x * y) <= size K x * z.
  Proof.
    intros H. destruct (proj1 (size_at_most _ _) H) as [A B]. apply room in A, B. apply size_at_most.
    destruct (Rle_gt_cases laws 0 x) as [S|S].
    - rewrite (size_up K x S). split.
      + eapply by_difference; [exact (multiplied _ _ S A) | ring].
      + eapply by_difference; [exact (multiplied _ _ S B) | ring].
    - apply less_at_most in S. rewrite (size_down K x S). pose proof (room _ _ S) as S'. split.
      + eapply by_difference; [exact (multiplied _ _ S' B) | ring].
      + eapply by_difference; [exact (multiplied _ _ S' A) | ring].
  Qed.

  (** The chance that a prediction is right, by its margin; rows with weights, margins, Lipschitz constants, chances. *)
  Definition chance_by (margin chance : K) : Prop :=
    (0 <= chance /\ chance <= 1) /\ (0 < margin -> chance == 1) /\ (margin < 0 -> chance == 0).

  Record rows_of (n : nat) (w u v l c c' : nat -> K) (d : K) : Prop := {
    weights_of : (forall i, (i < n)%nat -> 0 <= w i) /\ total n w == 1;
    lipschitz_of : forall i, (i < n)%nat -> 0 <= l i /\ size K (u i - v i) <= l i * d;
    first_of : forall i, (i < n)%nat -> chance_by (u i) (c i);
    second_of : forall i, (i < n)%nat -> chance_by (v i) (c' i);
    apart_of : 0 <= d;
    no_tie : forall i, (i < n)%nat -> ~ u i == 0
  }.

  (** P(H = Y); the chance of an answer that is the label where [s] says so, and not the label elsewhere. *)
  Definition answered (n : nat) (s : nat -> bool) (w c : nat -> K) : K :=
    total n (fun i => w i * (if s i then c i else 1 - c i)).

  (** E[L/|ρ|]. *)
  Definition mean_of_ratios (n : nat) (w u l : nat -> K) : K := total n (fun i => w i * (l i * inverse K (size K (u i)))).

  Lemma size_positive (x : K) : ~ x == 0 -> 0 < size K x.
  Proof.
    intros N. apply (Rlt_le_neq laws). split; [apply size_nonneg|]. intros E. apply N.
    destruct (proj1 (size_at_most x 0)) as [A B]; [rewrite <- E; apply (Rle_refl laws)|].
    apply (Rle_antisymm laws); [assumption|]. apply by_difference with (x - - 0); [now apply room | ring].
  Qed.

  Lemma inverse_positive (x : K) : 0 < x -> 0 <= inverse K x.
  Proof.
    intros P. assert (N : ~ x == 0) by (intros E; rewrite E in P; apply (Rlt_neq laws) in P; apply P; reflexivity).
    pose proof (inverse_left K x N) as I. destruct (Rle_gt_cases laws 0 (inverse K x)) as [H|H]; [assumption|].
    exfalso. pose proof (Rtimes_pos_neg laws _ _ P H) as B. rewrite (Rtimes_comm laws), I in B.
    apply (Rlt_nge laws) in B. apply B, less_at_most, (Rlt_0_1 laws).
  Qed.

  Lemma change_within (u v l d c c' : K) : 0 <= l -> 0 <= d -> ~ u == 0 -> size K (u - v) <= l * d ->
    chance_by u c -> chance_by v c' -> size K (c - c') <= l * inverse K (size K u) * d.
  Proof.
    intros L D U H (C & P & N) (C' & P' & N'). pose proof (size_positive u U) as Up.
    pose proof (inverse_positive _ Up) as I.
    destruct (Rle_gt_cases laws (size K u) (l * d)) as [Near|Far].
    - assert (One : inverse K (size K u) * size K u == 1).
      { apply inverse_left. intros E. rewrite E in Up. apply (Rlt_neq laws) in Up. apply Up. reflexivity. }
      assert (B : 1 <= l * inverse K (size K u) * d).
      { rewrite <- One. apply by_difference with (inverse K (size K u) * (l * d - size K u)); [|ring].
        apply multiplied; [assumption | now apply room]. }
      apply room in B. destruct C as [C0 C1], C' as [C0' C1']. apply room in C1, C1'. apply size_at_most. split.
      + apply by_difference with ((l * inverse K (size K u) * d - 1) + (c + (1 - c'))); [repeat apply added; assumption | ring].
      + apply by_difference with ((l * inverse K (size K u) * d - 1) + (c' + (1 - c))); [repeat apply added; assumption | ring].
    - assert (Z : c == c').
      { destruct (proj1 (size_at_most _ _) H) as [A B]. apply room in A, B.
        destruct (Rle_gt_cases laws 0 u) as [S|S].
        - rewrite (size_up K u S) in Far, Up. rewrite (P Up), P'; [reflexivity|].
          apply (Rlt_le_trans laws) with (u - l * d); [apply (Rlt_lt_minus laws) in Far; exact Far|].
          apply by_difference with (l * d - (u - v)); [assumption | ring].
        - rewrite (size_down K u (less_at_most _ _ S)) in Far. rewrite (N S), N'; [reflexivity|].
          apply (Rle_lt_trans laws) with (u + l * d).
          + apply by_difference with (u - v - - (l * d)); [assumption | ring].
          + apply (Rlt_lt_minus laws) in Far. apply (Rlt_lt_minus laws).
            setoid_replace (0 - (u + l * d)) with (- u - l * d) by ring. assumption. }
      assert (B : 0 <= l * inverse K (size K u) * d) by (repeat apply multiplied; assumption).
      apply size_at_most. rewrite Z. split.
      + apply by_difference with (l * inverse K (size K u) * d); [assumption | ring].
      + apply by_difference with (l * inverse K (size K u) * d); [assumption | ring].
  Qed.

  Lemma answered_within n s w u v l c c' d : rows_of n w u v l c c' d ->
    size K (answered n s w c - answered n s w c') <= mean_of_ratios n w u l * d.
  Proof.
    intros [[W _] L C C' D U]. unfold answered, mean_of_ratios. rewrite <- total_scale.
    assert (E : total n (fun i => w i * (if s i then c i else 1 - c i)) - total n (fun i => w i * (if s i then c' i else 1 - c' i))
      == total n (fun i => w i * (if s i then c i - c' i else c' i - c i))).
    { rewrite <- total_minus. apply total_same. intros i _. destruct (s i); ring. }
    assert (B : forall i, (i < n)%nat -> size K (w i * (if s i then c i - c' i else c' i - c i)) <= w i * (l i * inverse K (size K (u i))) * d).
    { intros i Hi. destruct (L i Hi) as [L0 L1]. pose proof (W i Hi) as W0.
      pose proof (change_within _ _ _ _ _ _ L0 D (U i Hi) L1 (C i Hi) (C' i Hi)) as X.
      destruct (proj1 (size_at_most _ _) X) as [A B]. apply room in A, B.
      pose proof (multiplied _ _ W0 A) as A'. pose proof (multiplied _ _ W0 B) as B'. apply size_at_most.
      destruct (s i); split.
      - eapply by_difference; [exact A' | ring].
      - eapply by_difference; [exact B' | ring].
      - eapply by_difference; [exact B' | ring].
      - eapply by_difference; [exact A' | ring]. }
    apply total_size in B. rewrite E. exact B.
  Qed.

  Definition everywhere (_ : nat) : bool := true.

  (** A level c⁰ + Σ C·accuracy of [g] groups, and its constant χ. *)
  Definition level_of (g n : nat) (c0 : K) (C : nat -> K) (w c : nat -> nat -> K) : K :=
    c0 + total g (fun k => C k * answered n everywhere (w k) (c k)).

  Definition chi_of (g n : nat) (C : nat -> K) (w u l : nat -> nat -> K) : K :=
    total g (fun k => size K (C k) * mean_of_ratios n (w k) (u k) (l k)).

  Lemma level_of_within g n c0 C w u v l c c' d :
    (forall k, (k < g)%nat -> rows_of n (w k) (u k) (v k) (l k) (c k) (c' k) d) ->
    size K (level_of g n c0 C w c - level_of g n c0 C w c') <= chi_of g n C w u l * d.
  Proof.
    intros H. unfold level_of, chi_of. rewrite <- total_scale.
    assert (E : c0 + total g (fun k => C k * answered n everywhere (w k) (c k)) -
                 (c0 + total g (fun k => C k * answered n everywhere (w k) (c' k))) ==
                 total g (fun k => C k * (answered n everywhere (w k) (c k) - answered n everywhere (w k) (c' k)))).
    { rewrite (total_same g (fun k => C k * (answered n everywhere (w k) (c k) - answered n everywhere (w k) (c' k)))
        (fun k => C k * answered n everywhere (w k) (c k) - C k * answered n everywhere (w k) (c' k))) by (intros; ring).
      rewrite total_minus. ring. }
    rewrite E. apply total_size. intros k Hk.
    apply at_most_trans with (size K (C k) * (mean_of_ratios n (w k) (u k) (l k) * d)).
    - apply size_of_product. exact (answered_within n everywhere _ _ _ _ _ _ _ (H k Hk)).
    - apply by_difference with 0; [apply (Rle_refl laws) | ring].
  Qed.

  Lemma at_most_size (x : K) : x <= size K x /\ - x <= size K x.
  Proof.
    destruct (proj1 (size_at_most x (size K x)) (Rle_refl laws _)) as [A B]. split; [assumption|].
    apply by_difference with (x - - size K x); [now apply room | ring].
  Qed.

  Lemma sizes_apart (x y : K) : size K (size K x - size K y) <= size K (x - y).
  Proof.
    assert (H : forall a b : K, size K a <= size K b + size K (a - b)).
    { intros a b. destruct (at_most_size b) as [B0 B1], (at_most_size (a - b)) as [D0 D1]. apply room in B0, B1, D0, D1.
      apply size_at_most. split.
      - eapply by_difference; [exact (added _ _ B1 D1) | ring].
      - eapply by_difference; [exact (added _ _ B0 D0) | ring]. }
    assert (E : size K (y - x) == size K (x - y)).
    { apply (Rle_antisymm laws); apply size_at_most.
      - destruct (at_most_size (x - y)) as [A B]. apply room in A, B. split; eapply by_difference; [exact A | ring | exact B | ring].
      - destruct (at_most_size (y - x)) as [A B]. apply room in A, B. split; eapply by_difference; [exact A | ring | exact B | ring]. }
    pose proof (room _ _ (H x y)) as A. pose proof (room _ _ (H y x)) as B. rewrite E in B. apply size_at_most. split.
    - eapply by_difference; [exact B | ring].
    - eapply by_difference; [exact A | ring].
  Qed.

  (** The weighted mean of the sizes of [f] levels, and of their constants. *)
  Definition mean_level (f g n : nat) (m c0 : nat -> K) (C : nat -> nat -> K) (w c : nat -> nat -> K) : K :=
    total f (fun z => m z * size K (level_of g n (c0 z) (C z) w c)).
  Definition mean_chi (f g n : nat) (m : nat -> K) (C : nat -> nat -> K) (w u l : nat -> nat -> K) : K :=
    total f (fun z => m z * chi_of g n (C z) w u l).

  Lemma mean_level_within f g n m c0 C w u v l c c' d : (forall z, (z < f)%nat -> 0 <= m z) ->
    (forall k, (k < g)%nat -> rows_of n (w k) (u k) (v k) (l k) (c k) (c' k) d) ->
    size K (mean_level f g n m c0 C w c - mean_level f g n m c0 C w c') <= mean_chi f g n m C w u l * d.
  Proof.
    intros M H. unfold mean_level, mean_chi. rewrite <- total_scale, <- total_minus. apply total_size. intros z Hz.
    assert (E : m z * size K (level_of g n (c0 z) (C z) w c) - m z * size K (level_of g n (c0 z) (C z) w c') ==
                m z * (size K (level_of g n (c0 z) (C z) w c) - size K (level_of g n (c0 z) (C z) w c'))) by ring.
    rewrite E. apply at_most_trans with (size K (m z) * (chi_of g n (C z) w u l * d)).
    - apply size_of_product. eapply at_most_trans; [apply sizes_apart|]. now apply level_of_within with (v := v).
    - rewrite (size_up K (m z) (M z Hz)). apply by_difference with 0; [apply (Rle_refl laws) | ring].
  Qed.

  Lemma two_events_within n s w u v l c c' n' s' w' u' v' l' a a' d :
    rows_of n w u v l c c' d -> rows_of n' w' u' v' l' a a' d ->
    size K ((answered n s w c - answered n' s' w' a) - (answered n s w c' - answered n' s' w' a')) <=
    (mean_of_ratios n w u l + mean_of_ratios n' w' u' l') * d.
  Proof.
    intros H H'.
    pose proof (answered_within n s _ _ _ _ _ _ _ H) as X. pose proof (answered_within n' s' _ _ _ _ _ _ _ H') as Y.
    destruct (proj1 (size_at_most _ _) X) as [A B], (proj1 (size_at_most _ _) Y) as [C D]. apply room in A, B, C, D.
    apply size_at_most. split.
    - eapply by_difference; [exact (added _ _ A D) | ring].
    - eapply by_difference; [exact (added _ _ B C) | ring].
  Qed.
End AnyField.

(** The fractions are an ordered field, and the real numbers are one. *)
Lemma fraction_inverse x : ~ x == 0 -> / x * x == 1.
Proof. intros N. field. assumption. Qed.

Definition fractions : ordered_field :=
  {| ordered_ring := Qsor; inverse := Qinv; inverse_left := fraction_inverse; size := Qabs;
     size_up := Qabs_pos; size_down := Qabs_neg |}.

Definition reals : ordered_field :=
  {| ordered_ring := Rsor; inverse := Rdefinitions.Rinv; inverse_left := Raxioms.Rinv_l; size := Rbasic_fun.Rabs;
     size_up := fun x H => Rbasic_fun.Rabs_pos_eq x H; size_down := fun x H => Rbasic_fun.Rabs_left1 x H |}.
