(** Thesis, Theorem 14: the binary channel that leaves the least unfairness at level ε, and what is better.

    [w] is the share of group 0, [x] is e^(-ε); group 0 tells the truth with chance [p], group 1 with [q]. *)

From Checked Require Import Base.Numbers.

(** P(Z = 0). *)
Definition reported_0 (w p q : Q) : Q := w * p + (1 - w) * (1 - q).

(** [dpfair_lib.local.binary.unfairness_ratio]: Δ′ and Δ of the reports over those of the values. *)
Definition difference_ratio (w p q : Q) : Q :=
  Qabs (p + q - 1) * w * (1 - w) / (reported_0 w p q * (1 - reported_0 w p q)).
Definition deviation_ratio (w p q : Q) : Q :=
  Qabs (p + q - 1) * Qmin w (1 - w) / Qmin (reported_0 w p q) (1 - reported_0 w p q).

(** [dpfair_lib.local.binary.optimal_truths]: the smaller group tells the truth with 1 - x/2. *)
Definition optimal_truths (w x : Q) : Q * Q :=
  if Qle_bool w (1#2) then (1 - x / 2, 1#2) else (1#2, 1 - x / 2).

(** The channel's least level is at least ε, and it is ε-private. *)
Definition level_at_least (x p q : Q) : Prop := 1 - q <= x * p \/ 1 - p <= x * q.
Definition private (x p q : Q) : Prop := x * p <= 1 - q /\ x * q <= 1 - p /\ x * (1 - q) <= p /\ x * (1 - p) <= q.

(** The chance of group 0 after the report 0, less that after the report 1. *)
Definition split (w p q : Q) : Q := w * p / reported_0 w p q - w * (1 - p) / (1 - reported_0 w p q).

Lemma ratio_is_split w p q : 0 < w < 1 -> 0 < reported_0 w p q < 1 -> 1 <= p + q ->
  difference_ratio w p q == split w p q.
Proof.
  intros W R H. unfold difference_ratio, split. rewrite Qabs_pos by lra. unfold reported_0 in *. field. lra.
Qed.

Definition corner (w x : Q) : Q := w / (w + (1 - w) * x) - w / (w + (1 - w) * (2 - x)).

Lemma below_corner w x p q : 0 < w < 1 -> 0 < x <= 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 ->
  1 - q <= x * p -> corner w x <= split w p q.
Proof.
  intros W X P Q H. unfold corner, split, reported_0.
  assert (A : w / (w + (1 - w) * x) <= w * p / (w * p + (1 - w) * (1 - q))).
  { apply le_div; [nra|]. apply (Qmult_le_r _ _ (w + (1 - w) * x)); [nra|].
    assert (E : w / (w + (1 - w) * x) * (w * p + (1 - w) * (1 - q)) * (w + (1 - w) * x)
                == w * (w * p + (1 - w) * (1 - q))) by (field; nra).
    rewrite E. assert (K : 0 <= w * (1 - w)) by nra.
    pose proof (scaled _ _ _ K H). lra. }
  assert (B : w * (1 - p) / (1 - (w * p + (1 - w) * (1 - q))) <= w / (w + (1 - w) * (2 - x))).
  { apply div_le; [nra|]. apply (Qmult_le_r _ _ (w + (1 - w) * (2 - x))); [nra|].
    assert (E : w / (w + (1 - w) * (2 - x)) * (1 - (w * p + (1 - w) * (1 - q))) * (w + (1 - w) * (2 - x))
                == w * (1 - (w * p + (1 - w) * (1 - q)))) by (field; nra).
    rewrite E. assert (K : 0 <= w * (1 - w)) by nra.
    assert (G : (1 - p) * (2 - x) <= q) by nra. pose proof (scaled _ _ _ K G). lra. }
  lra.
Qed.

Lemma split_swapped w p q : 0 < reported_0 w p q < 1 -> split (1 - w) q p == split w p q.
Proof. intros R. unfold split, reported_0 in *. field. lra. Qed.

Lemma reports_inside w p q : 0 < w < 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 -> 0 < reported_0 w p q < 1.
Proof. intros W P Q. unfold reported_0. split; nra. Qed.

Lemma corners_in_order w x : 0 < w <= (1#2) -> 0 < x <= 1 -> corner (1 - w) x <= corner w x.
Proof.
  intros W X. unfold corner.
  assert (A : 0 < w + (1 - w) * x) by nra. assert (B : 0 < w + (1 - w) * (2 - x)) by nra.
  assert (C : 0 < (1 - w) + w * x) by nra. assert (D : 0 < (1 - w) + w * (2 - x)) by nra.
  assert (E : w / (w + (1 - w) * x) - w / (w + (1 - w) * (2 - x))
              == 2 * w * (1 - w) * (1 - x) / ((w + (1 - w) * x) * (w + (1 - w) * (2 - x)))) by (field; lra).
  assert (F : (1 - w) / (1 - w + (1 - (1 - w)) * x) - (1 - w) / (1 - w + (1 - (1 - w)) * (2 - x))
              == 2 * w * (1 - w) * (1 - x) / (((1 - w) + w * x) * ((1 - w) + w * (2 - x)))) by (field; lra).
  rewrite E, F. clear E F. pose proof (mul_pos _ _ A B) as AB. pose proof (mul_pos _ _ C D) as CD.
  assert (N : 0 <= 2 * w * (1 - w) * (1 - x)) by (repeat apply mul_nonneg; lra).
  assert (L : (w + (1 - w) * x) * (w + (1 - w) * (2 - x)) <= ((1 - w) + w * x) * ((1 - w) + w * (2 - x))).
  { assert (G : ((1 - w) + w * x) * ((1 - w) + w * (2 - x)) - (w + (1 - w) * x) * (w + (1 - w) * (2 - x))
                == (1 - 2 * w) * ((1 - x) * (1 - x))) by ring.
    assert (0 <= (1 - 2 * w) * ((1 - x) * (1 - x))) by (apply mul_nonneg; [lra | apply square_nonneg]). lra. }
  apply div_le; [assumption|]. apply (Qmult_le_r _ _ ((w + (1 - w) * x) * (w + (1 - w) * (2 - x)))); [assumption|].
  set (n := 2 * w * (1 - w) * (1 - x)) in *. set (ab := (w + (1 - w) * x) * (w + (1 - w) * (2 - x))) in *.
  set (cd := ((1 - w) + w * x) * ((1 - w) + w * (2 - x))) in *.
  assert (E : n / ab * cd * ab == n * cd) by (field; lra). rewrite E. now apply scaled.
Qed.

(** The repaired theorem: among channels with p, q at least ½ whose level is ε or more, no other Δ′ is less. *)
Definition least_difference (truths : Q -> Q -> Q * Q) : Prop :=
  forall w x p q, 0 < w < 1 -> 0 < x <= 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 -> level_at_least x p q ->
  difference_ratio w (fst (truths w x)) (snd (truths w x)) <= difference_ratio w p q.

Lemma optimum_is_corner w x : 0 < w <= (1#2) -> 0 < x <= 1 ->
  difference_ratio w (1 - x / 2) (1#2) == corner (1 - w) x.
Proof.
  intros W X. assert (H : 0 <= x / 2 <= 1#2) by (split; [apply le_div | apply div_le]; lra).
  rewrite ratio_is_split; [|lra|apply reports_inside; lra|lra].
  unfold split, corner, reported_0. field. repeat split; nra.
Qed.

Lemma ratio_swapped w p q : difference_ratio w p q == difference_ratio (1 - w) q p.
Proof.
  unfold difference_ratio. assert (E : reported_0 (1 - w) q p == 1 - reported_0 w p q) by (unfold reported_0; ring).
  rewrite E. setoid_replace (q + p - 1) with (p + q - 1) by ring.
  setoid_replace (1 - (1 - reported_0 w p q)) with (reported_0 w p q) by ring.
  setoid_replace (1 - (1 - w)) with w by ring.
  unfold Qdiv. rewrite (Qmult_comm (1 - reported_0 w p q)). ring.
Qed.

Lemma least_for_the_smaller w x p q : 0 < w <= (1#2) -> 0 < x <= 1 -> (1#2) <= p <= 1 -> (1#2) <= q <= 1 ->
  level_at_least x p q -> difference_ratio w (1 - x / 2) (1#2) <= difference_ratio w p q.
Proof.
  intros W X P Q L. pose proof (reports_inside w p q ltac:(lra) P Q) as R.
  rewrite optimum_is_corner, (ratio_is_split w p q) by lra.
  destruct L as [L|L].
  - apply Qle_trans with (corner w x); [now apply corners_in_order | apply below_corner; lra].
  - rewrite <- (split_swapped w p q R). apply below_corner; lra.
Qed.

Theorem theorem_14_repaired : least_difference optimal_truths.
Proof.
  intros w x p q W X P Q L. unfold optimal_truths. destruct (Qle_bool w (1#2)) eqn:E; cbn [fst snd].
  - apply Qle_bool_iff in E. now apply least_for_the_smaller.
  - assert (H : (1#2) < w).
    { destruct (Qlt_le_dec (1#2) w) as [?|K]; [assumption|]. apply Qle_bool_iff in K. congruence. }
    rewrite (ratio_swapped w (1#2)), (ratio_swapped w p q).
    apply least_for_the_smaller; try lra. destruct L; [right|left]; assumption.
Qed.

(** As printed, without p, q ≥ ½, and with the levels at least ε of a channel for its least one: fair coins win. *)
Definition theorem_14_as_printed : Prop :=
  forall w x p q y, 0 < w < 1 -> 0 < x <= 1 -> 0 <= p <= 1 -> 0 <= q <= 1 -> 0 < y <= x -> private y p q ->
  difference_ratio w (fst (optimal_truths w x)) (snd (optimal_truths w x)) <= difference_ratio w p q.

Theorem theorem_14_as_printed_fails : ~ theorem_14_as_printed.
Proof.
  intros H. specialize (H (1#3) (1#2) (1#2) (1#2) (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  assert (P : private (1#2) (1#2) (1#2)) by (unfold private; lra).
  specialize (H P). now vm_compute in H.
Qed.

(** ** Plain response of the same truth probability

    [m] is the share of the smaller group, here group 0; [dpfair_lib.local.binary.equally_truthful_response]. *)
Definition equally_truthful (m x : Q) : Q := (1 + m * (1 - x)) / 2.

Definition plain_is_better (plain : Q -> Q -> Q) : Prop :=
  forall m x, 0 < m <= (1#2) -> 0 < x < 1 ->
  let p := 1 - x / 2 in let y := plain m x in
  m * y + (1 - m) * y == m * p + (1 - m) * (1#2) /\
  x * y < 1 - y /\
  difference_ratio m y y < difference_ratio m p (1#2) /\
  deviation_ratio m y y < deviation_ratio m p (1#2).

Theorem plain_response_is_better : plain_is_better equally_truthful.
Proof.
  intros m x M X p y. set (u := m * (1 - x)).
  assert (U : 0 < u) by (apply mul_pos; lra). assert (U1 : u < 1#2) by (unfold u; nra).
  assert (Hx : x / 2 == (1#2) * x) by field.
  assert (Y : y == (1#2) + (1#2) * u) by (unfold y, equally_truthful, u; field).
  assert (Ry : reported_0 m y y == (1#2) * (1 - (1 - 2 * m) * u)) by (unfold reported_0; rewrite Y; ring).
  assert (Rp : reported_0 m p (1#2) == (1#2) * (1 + u)) by (unfold reported_0, p, u; rewrite Hx; ring).
  splits.
  - rewrite Y. unfold p, u. rewrite Hx. ring.
  - rewrite Y. unfold u in *. nra.
  - unfold difference_ratio. rewrite Ry, Rp. rewrite (Qabs_pos (y + y - 1)), (Qabs_pos (p + _ - 1)); [|unfold p; rewrite Hx; lra | rewrite Y; lra].
    assert (D1 : 0 < (1#2) * (1 + u) * (1 - (1#2) * (1 + u))) by nra.
    assert (V : 0 <= (1 - 2 * m) * u <= u) by (split; [apply mul_nonneg; lra | nra]).
    assert (D2 : 0 < (1#2) * (1 - (1 - 2 * m) * u) * (1 - (1#2) * (1 - (1 - 2 * m) * u))) by nra.
    apply div_lt; [assumption|].
    apply (Qmult_lt_r _ _ ((1#2) * (1 + u) * (1 - (1#2) * (1 + u)))); [assumption|].
    set (d1 := (1#2) * (1 + u) * (1 - (1#2) * (1 + u))) in *.
    set (d2 := (1#2) * (1 - (1 - 2 * m) * u) * (1 - (1#2) * (1 - (1 - 2 * m) * u))) in *.
    assert (E : (p + (1#2) - 1) * m * (1 - m) / d1 * d2 * d1 == (p + (1#2) - 1) * m * (1 - m) * d2) by (field; lra).
    rewrite E.
    assert (Hp : p + (1#2) - 1 == (1#2) * (1 - x)) by (unfold p; rewrite Hx; ring).
    assert (Hy : y + y - 1 == m * (1 - x)) by (rewrite Y; unfold u; ring).
    rewrite Hp, Hy.
    assert (K : m * d1 < (1#2) * d2).
    { assert (G : (1#2) * d2 - m * d1 == (1#8) * ((1 - 2 * m) * (1 - u * u) + 4 * (m * (1 - m)) * (u * u))) by (unfold d1, d2; ring).
      assert (0 <= (1 - 2 * m) * (1 - u * u)) by (apply mul_nonneg; nra).
      assert (0 < m * (1 - m)) by nra. assert (0 < u * u) by nra.
      assert (0 < m * (1 - m) * (u * u)) by (apply mul_pos; assumption). lra. }
    assert (N : 0 < (1 - x) * m * (1 - m)) by (repeat apply mul_pos; lra).
    apply Qlt_le_trans with ((1 - x) * m * (1 - m) * ((1#2) * d2)); [|lra].
    setoid_replace (m * (1 - x) * m * (1 - m) * d1) with ((1 - x) * m * (1 - m) * (m * d1)) by ring.
    now apply Qmult_lt_l.
  - unfold deviation_ratio. rewrite Ry, Rp. rewrite (Qabs_pos (y + y - 1)), (Qabs_pos (p + _ - 1)); [|unfold p; rewrite Hx; lra | rewrite Y; lra].
    assert (V : 0 <= (1 - 2 * m) * u <= u) by (split; [apply mul_nonneg; lra | nra]).
    rewrite (Q.min_l m), (Q.min_r ((1#2) * (1 + u))), (Q.min_l ((1#2) * (1 - _))) by lra.
    assert (D1 : 0 < 1 - (1#2) * (1 + u)) by lra. assert (D2 : 0 < (1#2) * (1 - (1 - 2 * m) * u)) by lra.
    apply div_lt; [assumption|]. apply (Qmult_lt_r _ _ (1 - (1#2) * (1 + u))); [assumption|].
    set (d1 := 1 - (1#2) * (1 + u)) in *. set (d2 := (1#2) * (1 - (1 - 2 * m) * u)) in *.
    assert (E : (p + (1#2) - 1) * m / d1 * d2 * d1 == (p + (1#2) - 1) * m * d2) by (field; lra).
    rewrite E.
    assert (Hp : p + (1#2) - 1 == (1#2) * (1 - x)) by (unfold p; rewrite Hx; ring).
    assert (Hy : y + y - 1 == m * (1 - x)) by (rewrite Y; unfold u; ring).
    rewrite Hp, Hy.
    assert (K : m * d1 < (1#2) * d2).
    { assert (G : (1#2) * d2 - m * d1 == (1#4) * ((1 - 2 * m) * (1 - u) + 2 * (m * u))) by (unfold d1, d2; ring).
      assert (0 <= (1 - 2 * m) * (1 - u)) by (apply mul_nonneg; lra).
      assert (0 < m * u) by (apply mul_pos; lra). lra. }
    assert (N : 0 < (1 - x) * m) by (apply mul_pos; lra).
    setoid_replace (m * (1 - x) * m * d1) with ((1 - x) * m * (m * d1)) by ring.
    setoid_replace ((1#2) * (1 - x) * m * d2) with ((1 - x) * m * ((1#2) * d2)) by ring.
    now apply Qmult_lt_l.
Qed.

(** Among the channels of a truth probability [y] above the larger share, plain response has the least level. *)
Definition plain_is_most_private (level : Q -> Q -> Q) : Prop :=
  forall w p q x, 0 < w < 1 -> 0 <= p <= 1 -> 0 <= q <= 1 -> 0 < x <= 1 ->
  let y := w * p + (1 - w) * q in w < y -> 1 - w < y -> private x p q -> x * y <= level w y.

Lemma one_side w p q x y : 0 < w < 1 -> 0 <= p <= 1 -> 0 < x -> y == w * p + (1 - w) * q -> w < y -> y <= 1 -> y <= p ->
  x * q <= 1 - p -> x * y <= 1 - y.
Proof.
  intros W P X Y A Y1 H K.
  assert (G : y * (1 - p) <= q * (1 - y)).
  { apply (Qmult_le_l _ _ (1 - w)); [lra|].
    assert (E : (1 - w) * (q * (1 - y)) - (1 - w) * (y * (1 - p)) == (p - y) * (y - w) + (1 - y) * (w * p + (1 - w) * q - y)) by ring.
    assert (0 <= (p - y) * (y - w)) by nra. rewrite <- Y in E. nra. }
  destruct (Qlt_le_dec p 1) as [L|L].
  - apply (Qmult_le_r _ _ (1 - p)); [lra|]. nra.
  - assert (p == 1) by lra. assert (q <= 0) by nra. nra.
Qed.

Theorem plain_response_most_private : plain_is_most_private (fun _ y => 1 - y).
Proof.
  intros w p q x W P Q X y A B (H & K & _). assert (Y1 : y <= 1) by (unfold y; nra).
  destruct (Qlt_le_dec p y) as [L|L].
  - apply (one_side (1 - w) q p x y); try lra; [unfold y; ring|]. unfold y in *. nra.
  - apply (one_side w p q x y); try lra. unfold y. ring.
Qed.

(** ** Planted faults *)

(** The larger group with 1 - x/2. *)
Theorem theorem_14_repaired_fault_1 :
  ~ least_difference (fun w x => if Qle_bool w (1#2) then (1#2, 1 - x / 2) else (1 - x / 2, 1#2)).
Proof.
  intros H. specialize (H (1#3) (1#2) (3#4) (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(right; lra)).
  now vm_compute in H.
Qed.

(** Randomised response of level ε. *)
Theorem theorem_14_repaired_fault_2 : ~ least_difference (fun w x => (1 / (1 + x), 1 / (1 + x))).
Proof.
  intros H. specialize (H (1#3) (1#2) (3#4) (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(right; lra)).
  now vm_compute in H.
Qed.

(** Plain response of level ε. *)
Theorem plain_response_is_better_fault_1 : ~ plain_is_better (fun m x => 1 / (1 + x)).
Proof.
  intros H. destruct (H (1#3) (1#2) ltac:(lra) ltac:(lra)) as (E & _). now vm_compute in E.
Qed.

(** The larger group's share for the smaller one's. *)
Theorem plain_response_is_better_fault_2 : ~ plain_is_better (fun m x => (1 + (1 - m) * (1 - x)) / 2).
Proof.
  intros H. destruct (H (1#3) (1#2) ltac:(lra) ltac:(lra)) as (E & _). now vm_compute in E.
Qed.

(** Half of the level. *)
Theorem plain_response_most_private_fault_1 : ~ plain_is_most_private (fun _ y => (1 - y) / 2).
Proof.
  intros H. specialize (H (1#2) (2#3) (2#3) (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  cbv zeta in H. specialize (H ltac:(lra) ltac:(lra) ltac:(unfold private; lra)). now vm_compute in H.
Qed.

(** The larger share for the truth probability. *)
Theorem plain_response_most_private_fault_2 : ~ plain_is_most_private (fun w y => (1 - y) * Qmax w (1 - w)).
Proof.
  intros H. specialize (H (1#2) (2#3) (2#3) (1#2) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)).
  cbv zeta in H. specialize (H ltac:(lra) ltac:(lra) ltac:(unfold private; lra)). now vm_compute in H.
Qed.
