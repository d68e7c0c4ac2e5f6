(** MPBT, Theorems 3.1 and 3.2 and Remark B.2: how far accuracy and fairness differ between two models.

    Row [i] below [n] of an event has the weight [w i] (given the event), the margins [u i] and [v i] under the two
    models and the Lipschitz constant [l i]; [d] is the distance of the models. *)

From Checked Require Import Base.Numbers MPBT.AnyField.

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

(** ** Over every ordered field, with the fractions and the real numbers among them *)

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

(** And the mean of the sizes of several levels, with any weights. *)
Definition means_within (bound : forall K : ordered_field, nat -> nat -> nat -> (nat -> K) -> (nat -> nat -> K) -> (nat -> nat -> K) ->
  (nat -> nat -> K) -> (nat -> nat -> K) -> K -> K) : Prop :=
  forall (K : ordered_field) f g n m c0 C w u v l c c' (d : K), (forall z, (z < f)%nat -> (0 <= m z)%F) ->
  (forall k, (k < g)%nat -> rows_of n (w k) (u k) (v k) (l k) (c k) (c' k) d) ->
  (size K (mean_level f g n m c0 C w c - mean_level f g n m c0 C w c') <= bound K f g n m C w u l d)%F.

Theorem theorem_3_2_of_means : means_within (fun K f g n m C w u l d => mean_chi f g n m C w u l * d)%F.
Proof. intros K f g n m c0 C w u v l c c' d M H. now apply mean_level_within with (v := v). Qed.

(** Corollary 3.3: two events of their own rows, each with the answers that count in it. *)
Definition notion_within (bound : forall K : ordered_field, K -> K -> K -> K) : Prop :=
  forall (K : ordered_field) n s w u v l c c' n' s' w' u' v' l' a a' (d : K),
  rows_of n w u v l c c' d -> rows_of n' w' u' v' l' a a' d ->
  (size K ((answered n s w c - answered n' s' w' a) - (answered n s w c' - answered n' s' w' a')) <=
   bound K (mean_of_ratios n w u l) (mean_of_ratios n' w' u' l') d)%F.

Theorem corollary_3_3_any_field : notion_within (fun K e e' d => (e + e') * d)%F.
Proof. intros K n s w u v l c c' n' s' w' u' v' l' a a' d H H'. now apply two_events_within with (v := v) (v' := v'). Qed.

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

Lemma one_of_each bound : means_within bound ->
  1 <= bound fractions 2%nat 1%nat 1%nat (fun _ => 1#2) (fun _ _ => 1) (fun _ => one) (fun _ _ => 1#2) (fun _ => one) (1#2).
Proof.
  intros H. specialize (H fractions 2%nat 1%nat 1%nat (fun _ => 1#2) (fun _ => 0) (fun _ _ => 1) (fun _ => one) (fun _ _ => 1#2) (fun _ => none)
    (fun _ => one) (fun _ => one) (fun _ => none) (1#2) ltac:(intros; now compute) (fun _ _ => touched_rows)).
  eapply Qle_trans; [|exact H]. now vm_compute.
Qed.

(** The first level alone. *)
Theorem theorem_3_2_of_means_fault_1 : ~ means_within (fun K f g n m C w u l d => mean_chi 1 g n m C w u l * d)%F.
Proof. intros H. apply one_of_each in H. now vm_compute in H. Qed.

(** The distance squared. *)
Theorem theorem_3_2_of_means_fault_2 : ~ means_within (fun K f g n m C w u l d => mean_chi f g n m C w u l * d * d)%F.
Proof. intros H. apply one_of_each in H. now vm_compute in H. Qed.

(** One event's mean for those of both. *)
Theorem corollary_3_3_any_field_fault_1 : ~ notion_within (fun K e _ d => e * d)%F.
Proof.
  intros H. specialize (H fractions 1%nat everywhere one (fun _ => 1#2) none one one none 1%nat (fun _ => false) one (fun _ => 1#2)
    none one one none (1#2) touched_rows touched_rows). now vm_compute in H.
Qed.

(** The difference of both. *)
Theorem corollary_3_3_any_field_fault_2 : ~ notion_within (fun K e e' d => (e - e') * d)%F.
Proof.
  intros H. specialize (H fractions 1%nat everywhere one (fun _ => 1#2) none one one none 1%nat (fun _ => false) one (fun _ => 1#2) none one
    one none (1#2) touched_rows touched_rows). now vm_compute in H.
Qed.
