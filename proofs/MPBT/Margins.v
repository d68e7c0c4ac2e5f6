(** MPBT, Theorems 3.1 and 3.2 and Remark B.2: how far accuracy and fairness differ between two models.

    Row [i] below [n] of an event has the weight [w i] (given the event), the margins [u i] and [v i] under the two
    models and the Lipschitz constant [l i]; [d] is the distance of the models. *)

From Checked Require Import Base.Numbers.

(** A row with a positive margin is right, one with a negative margin wrong; a tie is broken at random. *)
Definition right_chance (margin chance : Q) : Prop :=
  0 <= chance <= 1 /\ (0 < margin -> chance == 1) /\ (margin < 0 -> chance == 0).

Record rows (n : nat) (w u v l c c' : nat -> Q) (d : Q) : Prop := {
  weights : distribution n w;
  lipschitz : forall i, (i < n)%nat -> 0 <= l i /\ Qabs (u i - v i) <= l i * d;
  right_first : forall i, (i < n)%nat -> right_chance (u i) (c i);
  right_second : forall i, (i < n)%nat -> right_chance (v i) (c' i);
  apart : 0 <= d
}.

Definition accuracy (n : nat) (w c : nat -> Q) : Q := sum n (fun i => w i * c i).

(** Only rows within reach, |ρ| <= L·d, can change: their share. *)
Definition near (n : nat) (w u l : nat -> Q) (d : Q) : Q :=
  sum n (fun i => w i * indicator (Qle_bool (Qabs (u i)) (l i * d))).

(** Theorem 3.1's bound, E[L/|ρ|]·d. *)
Definition mean_ratio (n : nat) (w u l : nat -> Q) : Q := sum n (fun i => w i * (l i / Qabs (u i))).

Definition accuracy_moves_at_most (bound : nat -> (nat -> Q) -> (nat -> Q) -> (nat -> Q) -> Q -> Q) : Prop :=
  forall n w u v l c c' d, rows n w u v l c c' d -> (forall i, (i < n)%nat -> ~ u i == 0) ->
  Qabs (accuracy n w c - accuracy n w c') <= bound n w u l d.

Lemma near_or_same u v l d c c' : Qabs (u - v) <= l * d -> right_chance u c -> right_chance v c' ->
  Qabs (c - c') <= indicator (Qle_bool (Qabs u) (l * d)).
Proof.
  intros H (C & P & N) (C' & P' & N'). assert (LD : 0 <= l * d) by (pose proof (Qabs_nonneg (u - v)); lra). destruct (Qle_bool (Qabs u) (l * d)) eqn:E; unfold indicator.
  - apply abs_le. destruct C, C'. lra.
  - assert (F : l * d < Qabs u).
    { destruct (Qlt_le_dec (l * d) (Qabs u)) as [?|K]; [assumption|]. apply Qle_bool_iff in K. congruence. }
    assert (Z : c - c' == 0).
    { apply abs_le in H. destruct (abs_cases u) as [[S A]|[S A]]; rewrite A in F.
      - rewrite (P ltac:(lra)), (P' ltac:(lra)). ring.
      - rewrite (N ltac:(lra)), (N' ltac:(lra)). ring. }
    rewrite Z. now compute.
Qed.

(** Remark B.2: the share of the rows within reach, with either model's margins. *)
Theorem remark_b2 : accuracy_moves_at_most near.
Proof.
  intros n w u v l c c' d [W L R R' D] _. unfold accuracy, near. rewrite <- sum_minus.
  eapply Qle_trans; [apply sum_abs|]. apply sum_le. intros i Hi. cbv beta.
  pose proof (proj1 W i Hi). destruct (L i Hi) as [_ K].
  setoid_replace (w i * c i - w i * c' i) with (w i * (c i - c' i)) by ring.
  rewrite Qabs_Qmult, (Qabs_pos (w i)) by assumption. apply scaled; [assumption|].
  apply (near_or_same (u i) (v i)); auto.
Qed.

Lemma near_at_most_ratio n w u v l c c' d : rows n w u v l c c' d -> (forall i, (i < n)%nat -> ~ u i == 0) ->
  near n w u l d <= mean_ratio n w u l * d.
Proof.
  intros [W L _ _ D] U. unfold near, mean_ratio. rewrite <- sum_scale_r. apply sum_le. intros i Hi. cbv beta.
  pose proof (proj1 W i Hi). destruct (L i Hi) as [L0 _]. specialize (U i Hi).
  assert (A : 0 < Qabs (u i)).
  { destruct (abs_cases (u i)) as [[S E]|[S E]]; rewrite E; destruct (Q_dec (u i) 0) as [[?|?]|?]; try lra; contradiction. }
  rewrite <- Qmult_assoc. apply scaled; [assumption|].
  assert (B : 0 <= l i / Qabs (u i) * d) by (apply mul_nonneg; [apply div_nonneg|]; assumption).
  destruct (Qle_bool (Qabs (u i)) (l i * d)) eqn:E; unfold indicator; [|assumption].
  apply Qle_bool_iff in E. setoid_replace (l i / Qabs (u i) * d) with (l i * d / Qabs (u i)) by (field; lra).
  apply le_div; [assumption|]. lra.
Qed.

Theorem theorem_3_1 : accuracy_moves_at_most (fun n w u l d => mean_ratio n w u l * d).
Proof.
  intros n w u v l c c' d H U. eapply Qle_trans; [exact (remark_b2 n w u v l c c' d H U)|].
  exact (near_at_most_ratio n w u v l c c' d H U).
Qed.

(** Theorem 3.2: a level F = C⁰ + Σ_k C^k·accuracy in group k, of [g] groups with rows of their own. *)
Definition level (g n : nat) (c0 : Q) (C : nat -> Q) (w c : nat -> nat -> Q) : Q :=
  c0 + sum g (fun k => C k * accuracy n (w k) (c k)).

Definition chi (g n : nat) (C : nat -> Q) (w u l : nat -> nat -> Q) : Q :=
  sum g (fun k => Qabs (C k) * mean_ratio n (w k) (u k) (l k)).

Definition level_moves_at_most (bound : nat -> nat -> (nat -> Q) -> (nat -> nat -> Q) -> (nat -> nat -> Q) -> (nat -> nat -> Q) -> Q -> Q) : Prop :=
  forall g n c0 C w u v l c c' d,
  (forall k, (k < g)%nat -> rows n (w k) (u k) (v k) (l k) (c k) (c' k) d) ->
  (forall k i, (k < g)%nat -> (i < n)%nat -> ~ u k i == 0) ->
  Qabs (level g n c0 C w c - level g n c0 C w c') <= bound g n C w u l d.

Theorem theorem_3_2 : level_moves_at_most (fun g n C w u l d => chi g n C w u l * d).
Proof.
  intros g n c0 C w u v l c c' d H U. unfold level, chi.
  setoid_replace (c0 + sum g (fun k => C k * accuracy n (w k) (c k)) - (c0 + sum g (fun k => C k * accuracy n (w k) (c' k))))
    with (sum g (fun k => C k * accuracy n (w k) (c k)) - sum g (fun k => C k * accuracy n (w k) (c' k))) by ring.
  rewrite <- sum_minus, <- sum_scale_r. eapply Qle_trans; [apply sum_abs|]. apply sum_le. intros k Hk. cbv beta.
  setoid_replace (C k * accuracy n (w k) (c k) - C k * accuracy n (w k) (c' k))
    with (C k * (accuracy n (w k) (c k) - accuracy n (w k) (c' k))) by ring.
  rewrite Qabs_Qmult, <- Qmult_assoc. apply scaled; [apply Qabs_nonneg|].
  exact (theorem_3_1 n (w k) (u k) (v k) (l k) (c k) (c' k) d (H k Hk) (fun i => U k i Hk)).
Qed.

(** Corollary 3.3 for equalized odds: e(y) + e(y, r), whatever the coefficients. *)
Definition odds_move_at_most (factor : Q) : Prop :=
  forall n w u v l c c' n' w' u' v' l' a a' d,
  rows n w u v l c c' d -> (forall i, (i < n)%nat -> ~ u i == 0) ->
  rows n' w' u' v' l' a a' d -> (forall i, (i < n')%nat -> ~ u' i == 0) ->
  Qabs ((accuracy n w c - accuracy n' w' a) - (accuracy n w c' - accuracy n' w' a'))
  <= factor * (mean_ratio n w u l + mean_ratio n' w' u' l') * d.

Theorem corollary_3_3 : odds_move_at_most 1.
Proof.
  intros n w u v l c c' n' w' u' v' l' a a' d H U H' U'.
  pose proof (theorem_3_1 n w u v l c c' d H U) as A. pose proof (theorem_3_1 n' w' u' v' l' a a' d H' U') as B.
  cbv beta in A, B. apply abs_le in A, B. apply abs_le. destruct A, B. split; lra.
Qed.

(** ** Over every ordered field

    The same theorems, with nothing used of the fractions but that they are an ordered field with absolute values: an
    ordered ring as the standard library defines it, with inverses. The real numbers are one, and so are the fractions. *)

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

(** Theorem 3.1 for an event of finitely many rows, in every ordered field. *)
Definition accuracy_within (bound : forall K : ordered_field, nat -> (nat -> K) -> (nat -> K) -> (nat -> K) -> K -> K) : Prop :=
  forall (K : ordered_field) n w u v l c c' (d : K), rows_of n w u v l c c' d ->
  (size K (answered n everywhere w c - answered n everywhere w c') <= bound K n w u l d)%F.

Theorem theorem_3_1_any_field : accuracy_within (fun K n w u l d => mean_of_ratios n w u l * d)%F.
Proof. intros K n w u v l c c' d H. now apply answered_within with (v := v). Qed.

(** Theorem 3.2, with rows of their own in each group. *)
Definition level_within (bound : forall K : ordered_field, nat -> nat -> (nat -> K) -> (nat -> nat -> K) -> (nat -> nat -> K) ->
  (nat -> nat -> K) -> K -> K) : Prop :=
  forall (K : ordered_field) g n c0 C w u v l c c' (d : K),
  (forall k, (k < g)%nat -> rows_of n (w k) (u k) (v k) (l k) (c k) (c' k) d) ->
  (size K (level_of g n c0 C w c - level_of g n c0 C w c') <= bound K g n C w u l d)%F.

Theorem theorem_3_2_any_field : level_within (fun K g n C w u l d => chi_of g n C w u l * d)%F.
Proof. intros K g n c0 C w u v l c c' d H. now apply level_of_within with (v := v). Qed.

(** Corollary 3.3: two events of their own rows, each with the answers that count in it. *)
Definition notion_within (bound : forall K : ordered_field, K -> K -> K -> K) : Prop :=
  forall (K : ordered_field) n s w u v l c c' n' s' w' u' v' l' a a' (d : K),
  rows_of n w u v l c c' d -> rows_of n' w' u' v' l' a a' d ->
  (size K ((answered n s w c - answered n' s' w' a) - (answered n s w c' - answered n' s' w' a')) <=
   bound K (mean_of_ratios n w u l) (mean_of_ratios n' w' u' l') d)%F.

Theorem corollary_3_3_any_field : notion_within (fun K e e' d => (e + e') * d)%F.
Proof. intros K n s w u v l c c' n' s' w' u' v' l' a a' d H H'. now apply two_events_within with (v := v) (v' := v'). Qed.

(** The fractions are an ordered field, and the real numbers are one. *)
Lemma fraction_inverse x : ~ x == 0 -> / x * x == 1.
Proof. intros N. field. assumption. Qed.

Definition fractions : ordered_field :=
  {| ordered_ring := Qsor; inverse := Qinv; inverse_left := fraction_inverse; size := Qabs;
     size_up := Qabs_pos; size_down := Qabs_neg |}.

(** ** Planted faults: one row whose margin changes its sign, and stays as large *)

Definition one (_ : nat) : Q := 1.
Definition minus_one (_ : nat) : Q := -(1).
Definition none (_ : nat) : Q := 0.

Lemma turned : rows 1 one one minus_one one one none 2.
Proof.
  split.
  - split; [intros; unfold one; lra | now compute].
  - intros i _. unfold one, minus_one. split; [lra | now compute].
  - intros i _. unfold right_chance, one. lra.
  - intros i _. unfold right_chance, none, minus_one. lra.
  - lra.
Qed.

Lemma one_margin i : (i < 1)%nat -> ~ one i == 0.
Proof. intros _. unfold one. lra. Qed.

(** A quarter of the bound: twice the distance of a margin may be needed. *)
Theorem theorem_3_1_fault_1 : ~ accuracy_moves_at_most (fun n w u l d => mean_ratio n w u l * d / 4).
Proof. intros H. specialize (H 1%nat one one minus_one one one none 2 turned one_margin). now vm_compute in H. Qed.

(** The distance squared. *)
Lemma touched : rows 1 one (fun _ => 1#2) none one one none (1#2).
Proof.
  split.
  - split; [intros; unfold one; lra | now compute].
  - intros i _. unfold one, none. split; [lra | now compute].
  - intros i _. unfold right_chance, one. lra.
  - intros i _. unfold right_chance, none. lra.
  - lra.
Qed.

Lemma half_margin i : (i < 1)%nat -> ~ (fun _ : nat => 1#2) i == 0.
Proof. intros _. cbv beta. lra. Qed.

Theorem theorem_3_1_fault_2 : ~ accuracy_moves_at_most (fun n w u l d => mean_ratio n w u l * d * d).
Proof. intros H. specialize (H 1%nat one (fun _ => 1#2) none one one none (1#2) touched half_margin). now vm_compute in H. Qed.

(** Rows strictly within reach: a tie at the edge of it is missed. *)
Theorem remark_b2_fault_1 : ~ accuracy_moves_at_most (fun n w u l d => sum n (fun i => w i * indicator (below (Qabs (u i)) (l i * d)))).
Proof. intros H. specialize (H 1%nat one (fun _ => 1#2) none one one none (1#2) touched half_margin). now vm_compute in H. Qed.

(** Half of the reach. *)
Theorem remark_b2_fault_2 : ~ accuracy_moves_at_most (fun n w u l d => near n w u l (d / 2)).
Proof. intros H. specialize (H 1%nat one (fun _ => 1#2) none one one none (1#2) touched half_margin). now vm_compute in H. Qed.

(** Coefficients with their signs. *)
Theorem theorem_3_2_fault_1 :
  ~ level_moves_at_most (fun g n C w u l d => sum g (fun k => C k * mean_ratio n (w k) (u k) (l k)) * d).
Proof.
  intros H. specialize (H 1%nat 1%nat 0 (fun _ => -(1)) (fun _ => one) (fun _ => one) (fun _ => minus_one) (fun _ => one)
    (fun _ => one) (fun _ => none) 2 (fun _ _ => turned) (fun _ i _ Hi => one_margin i Hi)). now vm_compute in H.
Qed.

(** The largest group for the sum. *)
Theorem theorem_3_2_fault_2 :
  ~ level_moves_at_most (fun g n C w u l d => largest (g - 1) (fun k => Qabs (C k) * mean_ratio n (w k) (u k) (l k)) * d).
Proof.
  intros H. specialize (H 2%nat 1%nat 0 (fun _ => 1) (fun _ => one) (fun _ _ => 1#2) (fun _ => none) (fun _ => one)
    (fun _ => one) (fun _ => none) (1#2) (fun _ _ => touched) (fun _ i _ Hi => half_margin i Hi)). now vm_compute in H.
Qed.

Lemma still : rows 1 one one one none one one (1#2).
Proof.
  split.
  - split; [intros; unfold one; lra | now compute].
  - intros i _. unfold one, none. split; [lra | now compute].
  - intros i _. unfold right_chance, one. lra.
  - intros i _. unfold right_chance, one. lra.
  - lra.
Qed.

(** Half, and nine tenths, of the corollary's sum. *)
Lemma odds_sharp factor : odds_move_at_most factor -> 1 <= factor.
Proof.
  intros H. specialize (H 1%nat one (fun _ => 1#2) none one one none 1%nat one one one none one one (1#2)
    touched half_margin still one_margin).
  assert (A : Qabs (accuracy 1 one one - accuracy 1 one one - (accuracy 1 one none - accuracy 1 one one)) == 1) by now compute.
  assert (B : mean_ratio 1 one (fun _ => 1#2) one + mean_ratio 1 one one none == 2) by now compute.
  rewrite A in H. rewrite <- Qmult_assoc, B in H. lra.
Qed.

Theorem corollary_3_3_fault_1 : ~ odds_move_at_most (1#2).
Proof. intros H. apply odds_sharp in H. lra. Qed.

Theorem corollary_3_3_fault_2 : ~ odds_move_at_most (9#10).
Proof. intros H. apply odds_sharp in H. lra. Qed.

(** *** In every ordered field: disproved by the fractions *)

Lemma turned_rows : @rows_of fractions 1 one one minus_one one one none 2.
Proof.
  split.
  - split; [intros; unfold one; cbn; lra | now compute].
  - intros i _. unfold one, minus_one. split; cbn; [lra | now compute].
  - intros i _. unfold chance_by, one. cbn. splits; lra.
  - intros i _. unfold chance_by, none, minus_one. cbn. splits; lra.
  - cbn. lra.
  - exact one_margin.
Qed.

Lemma touched_rows : @rows_of fractions 1 one (fun _ => 1#2) none one one none (1#2).
Proof.
  split.
  - split; [intros; unfold one; cbn; lra | now compute].
  - intros i _. unfold one, none. split; cbn; [lra | now compute].
  - intros i _. unfold chance_by, one. cbn. splits; lra.
  - intros i _. unfold chance_by, none. cbn. splits; lra.
  - cbn. lra.
  - exact half_margin.
Qed.

(** The distance squared. *)
Theorem theorem_3_1_any_field_fault_1 : ~ accuracy_within (fun K n w u l d => mean_of_ratios n w u l * d * d)%F.
Proof. intros H. specialize (H fractions 1%nat one (fun _ => 1#2) none one one none (1#2) touched_rows). now vm_compute in H. Qed.

(** The Lipschitz constants without the margins. *)
Theorem theorem_3_1_any_field_fault_2 : ~ accuracy_within (fun K n w u l d => total n (fun i => w i * l i) * d)%F.
Proof. intros H. specialize (H fractions 1%nat one (fun _ => 1#2) none one one none (1#2) touched_rows). now vm_compute in H. Qed.

(** Coefficients with their signs. *)
Theorem theorem_3_2_any_field_fault_1 :
  ~ level_within (fun K g n C w u l d => total g (fun k => C k * mean_of_ratios n (w k) (u k) (l k)) * d)%F.
Proof.
  intros H. specialize (H fractions 1%nat 1%nat 0 (fun _ => -(1)) (fun _ => one) (fun _ => one) (fun _ => minus_one)
    (fun _ => one) (fun _ => one) (fun _ => none) 2 (fun _ _ => turned_rows)). now vm_compute in H.
Qed.

(** The first group alone. *)
Theorem theorem_3_2_any_field_fault_2 : ~ level_within (fun K g n C w u l d => chi_of 1 n C w u l * d)%F.
Proof.
  intros H. specialize (H fractions 2%nat 1%nat 0 (fun _ => 1) (fun _ => one) (fun _ _ => 1#2) (fun _ => none)
    (fun _ => one) (fun _ => one) (fun _ => none) (1#2) (fun _ _ => touched_rows)). now vm_compute in H.
Qed.

(** One event's mean for those of both. *)
Theorem corollary_3_3_any_field_fault_1 : ~ notion_within (fun K e _ d => e * d)%F.
Proof.
  intros H. specialize (H fractions 1%nat everywhere one (fun _ => 1#2) none one one none 1%nat everywhere one (fun _ => 1#2) none one
    one none (1#2) touched_rows touched_rows). now vm_compute in H.
Qed.

(** The difference of both. *)
Theorem corollary_3_3_any_field_fault_2 : ~ notion_within (fun K e e' d => (e - e') * d)%F.
Proof.
  intros H. specialize (H fractions 1%nat everywhere one (fun _ => 1#2) none one one none 1%nat (fun _ => false) one (fun _ => 1#2) none one
    one none (1#2) touched_rows touched_rows). now vm_compute in H.
Qed.
