(** (ε, δ)-privacy of finite laws: the least δ, post-processing and composition. *)

From Checked Require Import Base.Numbers Privacy.Channels.

(** The probability of an event. *)
Definition chance (m : nat) (p : nat -> Q) (event : nat -> bool) : Q :=
  sum m (fun y => if event y then p y else 0).

(** (ln t, δ)-privacy in one direction: [p] on the data, [p'] on neighbouring data. *)
Definition close (t delta : Q) (m : nat) (p p' : nat -> Q) : Prop :=
  forall event, chance m p event <= t * chance m p' event + delta.

(** [dpfair_lib.privacy.finite_laws.hockey_stick]. *)
Definition hockey_stick (t : Q) (m : nat) (p p' : nat -> Q) : Q :=
  sum m (fun y => Qmax (p y - t * p' y) 0).

Lemma chance_difference t m p p' event :
  chance m p event - t * chance m p' event == sum m (fun y => if event y then p y - t * p' y else 0).
Proof.
  unfold chance. rewrite <- sum_scale, <- sum_minus. apply sum_ext. intros y _. destruct (event y); ring.
Qed.

(** The least δ at [t] is the sum of the positive parts. *)
Definition least_delta (formula : Q -> nat -> (nat -> Q) -> (nat -> Q) -> Q) : Prop :=
  forall t m p p' delta, close t delta m p p' <-> formula t m p p' <= delta.

Theorem least_delta_is_hockey_stick : least_delta hockey_stick.
Proof.
  intros t m p p' delta. split.
  - intros H. specialize (H (fun y => below (t * p' y) (p y))).
    pose proof (chance_difference t m p p' (fun y => below (t * p' y) (p y))) as E.
    assert (S : sum m (fun y => if below (t * p' y) (p y) then p y - t * p' y else 0) == hockey_stick t m p p').
    { apply sum_ext. intros y _. destruct (below_cases (t * p' y) (p y)) as [[L ->]|[L ->]]; cases_abs; lra. }
    rewrite S in E. lra.
  - intros H event. pose proof (chance_difference t m p p' event) as E.
    assert (S : sum m (fun y => if event y then p y - t * p' y else 0) <= hockey_stick t m p p').
    { apply sum_le. intros y _. pose proof (Q.le_max_l (p y - t * p' y) 0). pose proof (Q.le_max_r (p y - t * p' y) 0).
      destruct (event y); lra. }
    lra.
Qed.

(** A test answers "yes" with a chance that depends on the report. *)
Definition test (m : nat) (s : nat -> Q) : Prop := forall y, (y < m)%nat -> 0 <= s y <= 1.

Lemma close_tests t delta m p p' s : close t delta m p p' -> test m s ->
  sum m (fun y => p y * s y) <= t * sum m (fun y => p' y * s y) + delta.
Proof.
  intros H T. apply (proj1 (least_delta_is_hockey_stick t m p p' delta)) in H.
  assert (S : sum m (fun y => p y * s y - t * (p' y * s y)) <= hockey_stick t m p p').
  { apply sum_le. intros y Hy. destruct (T y Hy).
    pose proof (Q.le_max_l (p y - t * p' y) 0). pose proof (Q.le_max_r (p y - t * p' y) 0).
    set (M := Qmax (p y - t * p' y) 0) in *. clearbody M. cbv beta. nra. }
  rewrite sum_minus, sum_scale in S. lra.
Qed.

(** ** Post-processing *)

(** [dpfair_lib.privacy.finite_laws.processed]. *)
Definition processed (m : nat) (p : nat -> Q) (map : nat -> nat -> Q) (z : nat) : Q := sum m (fun y => p y * map y z).

Lemma chance_processed m l p map event :
  chance l (processed m p map) event == sum m (fun y => p y * chance l (map y) event).
Proof.
  unfold chance, processed.
  rewrite (sum_ext l _ (fun z => sum m (fun y => p y * (if event z then map y z else 0)))).
  - rewrite sum_swap. apply sum_ext. intros y _. now rewrite sum_scale.
  - intros z _. destruct (event z); [apply sum_ext; intros; ring|]. symmetry. rewrite <- (sum_zero m).
    apply sum_ext. intros. ring.
Qed.

Lemma chance_in_range m p event : distribution m p -> 0 <= chance m p event <= 1.
Proof.
  intros [H S]. split.
  - apply sum_nonneg. intros y Hy. cbv beta. specialize (H y Hy). destruct (event y); lra.
  - rewrite <- S. apply sum_le. intros y Hy. cbv beta. specialize (H y Hy). destruct (event y); lra.
Qed.

Definition post_processing_keeps (t' delta' : Q -> Q -> Q) : Prop :=
  forall t delta m l p p' map, 1 <= t -> 0 <= delta ->
  distribution m p -> distribution m p' -> channel m l map -> close t delta m p p' ->
  close (t' t delta) (delta' t delta) l (processed m p map) (processed m p' map).

Theorem post_processing : post_processing_keeps (fun t _ => t) (fun _ d => d).
Proof.
  intros t delta m l p p' map _ _ _ _ C H event. rewrite !chance_processed.
  apply (close_tests t delta m p p'); [assumption|]. intros y Hy. apply chance_in_range. now apply C.
Qed.

(** ** Composition; the second law may depend on the first report *)

Definition joint_chance (m l : nat) (p : nat -> Q) (q : nat -> nat -> Q) (event : nat -> nat -> bool) : Q :=
  sum m (fun y => p y * chance l (q y) (event y)).

Definition composition_costs (odds delta : Q -> Q -> Q -> Q -> Q) : Prop :=
  forall t1 d1 t2 d2 m l p p' q q',
  1 <= t1 -> 1 <= t2 -> 0 <= d1 <= 1 -> 0 <= d2 <= 1 ->
  distribution m p -> distribution m p' -> channel m l q -> channel m l q' ->
  close t1 d1 m p p' -> (forall y, (y < m)%nat -> close t2 d2 l (q y) (q' y)) ->
  forall event, joint_chance m l p q event
    <= odds t1 d1 t2 d2 * joint_chance m l p' q' event + delta t1 d1 t2 d2.

Theorem composition : composition_costs (fun t1 _ t2 _ => t1 * t2) (fun _ d1 _ d2 => 1 - (1 - d1) * (1 - d2)).
Proof.
  intros t1 d1 t2 d2 m l p p' q q' T1 T2 D1 D2 P P' C C' H K event. unfold joint_chance.
  set (A := fun y => chance l (q y) (event y)). set (B := fun y => chance l (q' y) (event y)).
  assert (RA : forall y, (y < m)%nat -> 0 <= A y <= 1) by (intros; apply chance_in_range; now apply C).
  assert (RB : forall y, (y < m)%nat -> 0 <= B y <= 1) by (intros; apply chance_in_range; now apply C').
  assert (AB : forall y, (y < m)%nat -> A y <= t2 * B y + d2) by (intros; apply K; assumption).
  change (sum m (fun y => p y * A y) <= t1 * t2 * sum m (fun y => p' y * B y) + (1 - (1 - d1) * (1 - d2))).
  destruct P as [P S], P' as [P' S'].
  destruct (Qlt_le_dec d2 1) as [L|L].
  - set (s := fun y => Qmin 1 (t2 * B y / (1 - d2))).
    assert (Ts : test m s).
    { intros y Hy. unfold s. destruct (RB y Hy).
      assert (0 <= t2 * B y / (1 - d2)) by (apply div_nonneg; nra). cases_abs; lra. }
    pose proof (close_tests t1 d1 m p p' s H Ts) as G.
    assert (U : sum m (fun y => p y * A y) <= sum m (fun y => d2 * p y + (1 - d2) * (p y * s y))).
    { apply sum_le. intros y Hy. cbv beta. specialize (P y Hy). specialize (AB y Hy). destruct (RA y Hy).
      assert (E : A y <= d2 + (1 - d2) * s y).
      { unfold s. assert (F : (1 - d2) * (t2 * B y / (1 - d2)) == t2 * B y) by (field; lra).
        destruct (min_cases 1 (t2 * B y / (1 - d2))) as [[_ M]|[_ M]]; rewrite M; lra. }
      pose proof (scaled (p y) _ _ P E). lra. }
    rewrite sum_plus, !sum_scale, S in U.
    assert (V : (1 - d2) * sum m (fun y => p' y * s y) <= t2 * sum m (fun y => p' y * B y)).
    { rewrite <- !sum_scale. apply sum_le. intros y Hy. cbv beta. specialize (P' y Hy).
      assert (E : (1 - d2) * s y <= t2 * B y).
      { assert (F : (1 - d2) * (t2 * B y / (1 - d2)) == t2 * B y) by (field; lra). rewrite <- F.
        apply scaled; [lra|]. apply Q.le_min_r. }
      pose proof (scaled (p' y) _ _ P' E). lra. }
    assert (T0 : 0 <= t1) by lra. pose proof (scaled t1 _ _ T0 V) as W.
    assert (T2' : 0 <= 1 - d2) by lra. pose proof (scaled (1 - d2) _ _ T2' G) as Z. lra.
  - assert (U : sum m (fun y => p y * A y) <= sum m p).
    { apply sum_le. intros y Hy. cbv beta. specialize (P y Hy). destruct (RA y Hy). nra. }
    assert (V : 0 <= sum m (fun y => p' y * B y)).
    { apply sum_nonneg. intros y Hy. cbv beta. specialize (P' y Hy). destruct (RB y Hy). nra. }
    assert (E : d2 == 1) by lra. rewrite E.
    assert (0 <= t1 * t2) by nra. pose proof (mul_nonneg (t1 * t2) _ H0 V). lra.
Qed.

(** As printed: (2ε, 2δ). *)
Theorem composition_as_printed : composition_costs (fun t1 _ t2 _ => t1 * t2) (fun _ d1 _ d2 => d1 + d2).
Proof.
  intros t1 d1 t2 d2 m l p p' q q' T1 T2 D1 D2 P P' C C' H K event.
  pose proof (composition t1 d1 t2 d2 m l p p' q q' T1 T2 D1 D2 P P' C C' H K event). cbv beta in *. nra.
Qed.

(** *** Attained: [revealing] tells everything with chance [d], and else is randomised response. *)
Definition revealing (t d : Q) (y : nat) : Q :=
  match y with
  | 0%nat => d
  | 1%nat => (1 - d) * (t / (1 + t))
  | 2%nat => (1 - d) * (1 / (1 + t))
  | _ => 0
  end.

Definition revealing' (t d : Q) (y : nat) : Q :=
  match y with
  | 0%nat => 0
  | 1%nat => (1 - d) * (1 / (1 + t))
  | 2%nat => (1 - d) * (t / (1 + t))
  | _ => d
  end.

Lemma fraction_of t : 1 <= t -> t / (1 + t) == t * (1 / (1 + t)) /\ 0 < 1 / (1 + t) /\ (1 + t) * (1 / (1 + t)) == 1.
Proof. intros T. splits; [field; lra | apply div_pos; lra | field; lra]. Qed.

Lemma revealing_law t d : 1 <= t -> 0 <= d <= 1 -> distribution 4 (revealing t d) /\ distribution 4 (revealing' t d).
Proof.
  intros T D. destruct (fraction_of t T) as (E & P & F). set (x := 1 / (1 + t)) in *. split; split.
  - intros i _. destruct i as [|[|[|i]]]; cbn; rewrite ?E; fold x; try lra; try nra.
    apply mul_nonneg; [lra|]. apply mul_nonneg; lra.
  - cbn. rewrite E. fold x. setoid_replace (0 + d + (1 - d) * (t * x) + (1 - d) * x + 0) with (d + (1 - d) * ((1 + t) * x)) by ring.
    rewrite F. ring.
  - intros i _. destruct i as [|[|[|i]]]; cbn; rewrite ?E; fold x; try lra; try nra.
    apply mul_nonneg; [lra|]. apply mul_nonneg; lra.
  - cbn. rewrite E. fold x. setoid_replace (0 + 0 + (1 - d) * x + (1 - d) * (t * x) + d) with (d + (1 - d) * ((1 + t) * x)) by ring.
    rewrite F. ring.
Qed.

Lemma revealing_close t d : 1 <= t -> 0 <= d <= 1 -> close t d 4 (revealing t d) (revealing' t d).
Proof.
  intros T D. apply least_delta_is_hockey_stick. destruct (fraction_of t T) as (E & P & F).
  unfold hockey_stick. cbn. rewrite E. set (x := 1 / (1 + t)) in *. clearbody x.
  assert (A : 0 <= (1 - d) * x) by nra. assert (B : 0 <= (t - 1) * ((1 - d) * x)) by nra.
  assert (G : 0 <= (t - 1) * (t * ((1 - d) * x))) by nra. assert (K : 0 <= t * d) by nra.
  rewrite (Q.max_l (d - t * 0)), !Q.max_r by lra. lra.
Qed.

Theorem composition_attained : forall t1 d1 t2 d2 delta, 1 <= t1 -> 1 <= t2 -> 0 <= d1 <= 1 -> 0 <= d2 <= 1 ->
  (forall event, joint_chance 4 4 (revealing t1 d1) (fun _ => revealing t2 d2) event
    <= t1 * t2 * joint_chance 4 4 (revealing' t1 d1) (fun _ => revealing' t2 d2) event + delta) ->
  1 - (1 - d1) * (1 - d2) <= delta.
Proof.
  intros t1 d1 t2 d2 delta T1 T2 D1 D2 H.
  specialize (H (fun y z => (Nat.eqb y 0 || Nat.eqb z 0 || (Nat.eqb y 1 && Nat.eqb z 1))%bool)).
  unfold joint_chance, chance in H. cbn in H.
  destruct (fraction_of t1 T1) as (E1 & _ & F1), (fraction_of t2 T2) as (E2 & _ & F2). rewrite E1, E2 in H.
  set (x := 1 / (1 + t1)) in *. set (y := 1 / (1 + t2)) in *. clearbody x y.
  assert (G1 : t1 * x == 1 - x) by lra. assert (G2 : t2 * y == 1 - y) by lra. rewrite G1, G2 in H. clear E1 E2 F1 F2.
  assert (R : t1 * t2 * ((1 - d1) * x * ((1 - d2) * y)) == (1 - d1) * (1 - d2) * ((1 - x) * (1 - y)))
    by (rewrite <- G1, <- G2; ring).
  lra.
Qed.

(** *** Planted faults *)

Definition first (y : nat) : Q := match y with 0%nat => 2#3 | 1%nat => 1#3 | _ => 0 end.
Definition second (y : nat) : Q := match y with 0%nat => 1#3 | 1%nat => 2#3 | _ => 0 end.

Lemma first_law : distribution 2 first.
Proof. split; [intros [|[|i]] _; cbn; lra | now compute]. Qed.
Lemma second_law : distribution 2 second.
Proof. split; [intros [|[|i]] _; cbn; lra | now compute]. Qed.

Lemma first_close : close 2 0 2 first second.
Proof. apply least_delta_is_hockey_stick. now compute. Qed.

Definition same (y z : nat) : Q := if Nat.eqb y z then 1 else 0.

Lemma same_channel : channel 2 2 same.
Proof.
  intros i Hi. destruct i as [|[|i]]; [| |lia].
  - split; [|now compute]. intros j _. destruct j as [|[|j]]; cbn; lra.
  - split; [|now compute]. intros j _. destruct j as [|[|j]]; cbn; lra.
Qed.

(** Absolute values for positive parts. *)
Theorem least_delta_fault_1 : ~ least_delta (fun t m p p' => sum m (fun y => Qabs (p y - t * p' y))).
Proof. intros H. pose proof (proj1 (H 2 2%nat first second 0) first_close) as K. now vm_compute in K. Qed.

(** The largest positive part for their sum. *)
Theorem least_delta_fault_2 : ~ least_delta (fun t m p p' => largest (m - 1) (fun y => p y - t * p' y)).
Proof.
  intros H. set (p := fun y => match y with 2%nat => 0 | _ => 1#2 end). set (p' := fun y => match y with 2%nat => 1 | _ => 0 end).
  assert (C : close 1 (1#2) 3 p p') by (apply H; now vm_compute).
  apply least_delta_is_hockey_stick in C. now vm_compute in C.
Qed.

(** Post-processing that makes the law more private. *)
Theorem post_processing_fault_1 : ~ post_processing_keeps (fun t _ => (1 + t) / 2) (fun _ d => d).
Proof.
  intros H. specialize (H 2 0 2%nat 2%nat first second same
    ltac:(lra) ltac:(lra) first_law second_law).
  specialize (H same_channel first_close (fun z => Nat.eqb z 0)). now vm_compute in H.
Qed.

(** Post-processing that halves δ. *)
Theorem post_processing_fault_2 : ~ post_processing_keeps (fun t _ => t) (fun _ d => d / 2).
Proof.
  intros H. specialize (H 1 (1#3) 2%nat 2%nat first second same
    ltac:(lra) ltac:(lra) first_law second_law).
  assert (D : close 1 (1#3) 2 first second) by (apply least_delta_is_hockey_stick; now compute).
  specialize (H same_channel D (fun z => Nat.eqb z 0)). now vm_compute in H.
Qed.

Lemma composition_sharp odds delta t d : composition_costs odds delta -> 1 <= t -> 0 <= d <= 1 -> odds t d t d == t * t ->
  1 - (1 - d) * (1 - d) <= delta t d t d.
Proof.
  intros H T D O. apply (composition_attained t d t d); [assumption..|]. intros event. rewrite <- O.
  destruct (revealing_law t d T D) as [L L'].
  apply (H t d t d 4%nat 4%nat); try assumption; try (intros ? ?; assumption); try now apply revealing_close.
  intros ? _. now apply revealing_close.
Qed.

(** δ paid once. *)
Theorem composition_fault_1 : ~ composition_costs (fun t1 _ t2 _ => t1 * t2) (fun _ d1 _ d2 => Qmax d1 d2).
Proof. intros H. apply (composition_sharp _ _ 2 (1#2)) in H; [now vm_compute in H | lra | lra | reflexivity]. Qed.

(** Both δ lowered by their whole product. *)
Theorem composition_fault_2 : ~ composition_costs (fun t1 _ t2 _ => t1 * t2) (fun _ d1 _ d2 => d1 + d2 - 2 * d1 * d2).
Proof. intros H. apply (composition_sharp _ _ 2 (1#2)) in H; [now vm_compute in H | lra | lra | reflexivity]. Qed.
