(** Thesis, Lemma 13: what a private channel on A leaves of the unfairness of the data.

    Value [a] below [k] has the share [p a] and the rate [r a] of Y = 1; the channel sends it to report [j]
    with chance [q a j]. [t] is e^ε. *)

From Checked Require Import Base.Numbers Privacy.Channels.

(** P(Z = j), and P(Y = 1 | Z = j). *)
Definition share (k : nat) (p : nat -> Q) (q : nat -> nat -> Q) (j : nat) : Q := sum k (fun a => p a * q a j).
Definition reported (k : nat) (p r : nat -> Q) (q : nat -> nat -> Q) (j : nat) : Q :=
  sum k (fun a => p a * q a j * r a) / share k p q j.

(** P(Y = 1). *)
Definition overall (k : nat) (p r : nat -> Q) : Q := sum k (fun a => p a * r a).

(** Chances [s] of a property, weighted by [f] whose values lie within the factor [t] of each other: both bounds. *)
Lemma tilted k p f s t : 1 <= t -> distribution k p -> (forall a, (a < k)%nat -> 0 <= s a <= 1) ->
  (forall a b, (a < k)%nat -> (b < k)%nat -> f a <= t * f b) ->
  let m := sum k (fun a => p a * s a) in
  let x := sum k (fun a => p a * f a * s a) in
  let d := sum k (fun a => p a * f a) in
  x * (1 - m) <= t * m * (d - x) /\ m * (d - x) <= t * (1 - m) * x.
Proof.
  intros T [P S] Hs F m x d.
  assert (E : d - x == sum k (fun a => p a * f a * (1 - s a))).
  { unfold d, x. rewrite <- sum_minus. apply sum_ext. intros; ring. }
  assert (G : 1 - m == sum k (fun a => p a * (1 - s a))).
  { unfold m. rewrite <- S at 1. rewrite <- sum_minus. apply sum_ext. intros; ring. }
  rewrite E, G. unfold m, x. split.
  - rewrite <- Qmult_assoc, !sum_product, <- sum_scale. apply sum_le. intros a Ha. rewrite <- sum_scale.
    apply sum_le. intros b Hb. cbv beta. specialize (F a b Ha Hb). pose proof (P a Ha). pose proof (P b Hb).
    destruct (Hs a Ha), (Hs b Hb).
    assert (W : 0 <= p a * s a * (p b * (1 - s b))) by (repeat apply mul_nonneg; lra).
    pose proof (scaled _ _ _ W F). lra.
  - rewrite <- Qmult_assoc, (Qmult_comm (sum k (fun a => p a * (1 - s a)))), !sum_product, <- sum_scale.
    apply sum_le. intros a Ha. rewrite <- sum_scale.
    apply sum_le. intros b Hb. cbv beta. specialize (F b a Hb Ha). pose proof (P a Ha). pose proof (P b Hb).
    destruct (Hs a Ha), (Hs b Hb).
    assert (W : 0 <= p a * s a * (p b * (1 - s b))) by (repeat apply mul_nonneg; lra).
    pose proof (scaled _ _ _ W F). lra.
Qed.

(** Two weightings of the same shares: their means differ by at most (t - 1)/(t + 1). *)
Lemma two_tilted t m x d x' d' : 1 <= t -> 0 <= m <= 1 -> 0 < d -> 0 < d' ->
  x * (1 - m) <= t * m * (d - x) -> m * (d' - x') <= t * (1 - m) * x' ->
  x / d - x' / d' <= (t - 1) / (t + 1).
Proof.
  intros T M D D' H H'.
  assert (A : 0 < t * m + (1 - m)) by nra. assert (B : 0 < m + t * (1 - m)) by nra.
  assert (X : x / d <= t * m / (t * m + (1 - m))).
  { apply div_le; [assumption|]. apply (Qmult_le_r _ _ (t * m + (1 - m))); [assumption|].
    assert (E : t * m / (t * m + (1 - m)) * d * (t * m + (1 - m)) == t * m * d) by (field; lra).
    rewrite E. lra. }
  assert (X' : m / (m + t * (1 - m)) <= x' / d').
  { apply le_div; [assumption|]. apply (Qmult_le_r _ _ (m + t * (1 - m))); [assumption|].
    assert (E : m / (m + t * (1 - m)) * d' * (m + t * (1 - m)) == m * d') by (field; lra).
    rewrite E. lra. }
  assert (Z : t * m / (t * m + (1 - m)) - m / (m + t * (1 - m)) <= (t - 1) / (t + 1)).
  { apply le_div; [lra|].
    apply (Qmult_le_r _ _ ((t * m + (1 - m)) * (m + t * (1 - m)))); [now apply mul_pos|].
    assert (E : (t * m / (t * m + (1 - m)) - m / (m + t * (1 - m))) * (t + 1)
                * ((t * m + (1 - m)) * (m + t * (1 - m)))
                == (t - 1) * ((t + 1) * (t + 1) * (m * (1 - m)))) by (field; lra).
    rewrite E. clear E. apply scaled; [lra|].
    assert (F : (t * m + (1 - m)) * (m + t * (1 - m)) - (t + 1) * (t + 1) * (m * (1 - m))
                == t * ((1 - 2 * m) * (1 - 2 * m))) by ring.
    assert (0 <= t * ((1 - 2 * m) * (1 - 2 * m))) by (apply mul_nonneg; [lra | apply square_nonneg]). lra. }
  lra.
Qed.

(** The largest difference Δ′ of rates; [n + 1] values. *)
Definition difference (n : nat) (r : nat -> Q) : Q := largest n r - least n r.

Definition rates (k : nat) (r : nat -> Q) : Prop := forall a, (a < k)%nat -> 0 <= r a <= 1.

Lemma scaled_back k (p : nat -> Q) q r lo w j : ~ w == 0 -> ~ share k p q j == 0 ->
  reported k p r q j - lo == w * (sum k (fun a => p a * q a j * ((r a - lo) / w)) / share k p q j).
Proof.
  intros W D. unfold reported.
  rewrite (sum_ext k (fun a => p a * q a j * ((r a - lo) / w)) (fun a => / w * (p a * q a j * r a - lo * (p a * q a j))))
    by (intros; field; assumption).
  rewrite sum_scale, sum_minus, sum_scale. fold (share k p q j). field. split; assumption.
Qed.

Definition shrinks_difference (factor : Q -> Q) : Prop :=
  forall n l p r q t, 1 <= t -> distribution (S n) p -> rates (S n) r ->
  channel (S n) (S l) q -> private t (S n) (S l) q ->
  (forall j, (j <= l)%nat -> 0 < share (S n) p q j) ->
  difference l (reported (S n) p r q) <= factor t * difference n r.

Theorem lemma_13_difference : shrinks_difference (fun t => (t - 1) / (t + 1)).
Proof.
  intros n l p r q t T P R C V D.
  destruct (largest_at l (reported (S n) p r q)) as (j & Hj & Ej).
  destruct (least_at l (reported (S n) p r q)) as (i & Hi & Ei).
  unfold difference. rewrite Ej, Ei. clear Ej Ei.
  set (lo := least n r). set (hi := largest n r). set (w := hi - lo).
  assert (Lo : forall a, (a < S n)%nat -> lo <= r a) by (intros; apply least_le; lia).
  assert (Hi' : forall a, (a < S n)%nat -> r a <= hi) by (intros; apply largest_ge; lia).
  pose proof (D j Hj) as Dj. pose proof (D i Hi) as Di.
  destruct (Qlt_le_dec 0 w) as [W|W].
  - assert (Sc : forall a, (a < S n)%nat -> 0 <= (r a - lo) / w <= 1).
    { intros a Ha. specialize (Lo a Ha). specialize (Hi' a Ha). unfold w in *.
      split; [apply le_div | apply div_le]; lra. }
    assert (Vj : forall j, (j <= l)%nat -> forall a b, (a < S n)%nat -> (b < S n)%nat -> q a j <= t * q b j)
      by (intros; apply V; try assumption; lia).
    destruct (tilted (S n) p (fun a => q a j) (fun a => (r a - lo) / w) t T P Sc (Vj j Hj)) as [U _].
    destruct (tilted (S n) p (fun a => q a i) (fun a => (r a - lo) / w) t T P Sc (Vj i Hi)) as [_ U'].
    assert (M : 0 <= sum (S n) (fun a => p a * ((r a - lo) / w)) <= 1).
    { destruct P as [P1 P2]. split.
      - apply sum_nonneg. intros a Ha. specialize (P1 a Ha). destruct (Sc a Ha). now apply mul_nonneg.
      - rewrite <- P2. apply sum_le. intros a Ha. cbv beta. specialize (P1 a Ha). destruct (Sc a Ha). nra. }
    pose proof (two_tilted t _ _ _ _ _ T M Dj Di U U') as K.
    pose proof (scaled_back (S n) p q r lo w j ltac:(lra) ltac:(lra)) as Bj.
    pose proof (scaled_back (S n) p q r lo w i ltac:(lra) ltac:(lra)) as Bi.
    unfold share in Bj, Bi, K. cbv beta in K.
    set (xj := sum (S n) (fun a => p a * q a j * ((r a - lo) / w)) / sum (S n) (fun a => p a * q a j)) in *.
    set (xi := sum (S n) (fun a => p a * q a i * ((r a - lo) / w)) / sum (S n) (fun a => p a * q a i)) in *.
    assert (Z : w * (xj - xi) <= w * ((t - 1) / (t + 1))) by (apply scaled; lra).
    unfold w in *. lra.
  - assert (Const : forall a, (a < S n)%nat -> r a == lo).
    { intros a Ha. specialize (Lo a Ha). specialize (Hi' a Ha). unfold w in W. lra. }
    assert (Rep : forall j, (j <= l)%nat -> reported (S n) p r q j == lo).
    { intros j' Hj'. specialize (D j' Hj'). unfold reported.
      rewrite (sum_ext (S n) _ (fun a => lo * (p a * q a j'))) by (intros a Ha; rewrite (Const a Ha); ring).
      rewrite sum_scale. fold (share (S n) p q j'). field. lra. }
    rewrite (Rep j Hj), (Rep i Hi).
    assert (0 <= (t - 1) / (t + 1)) by (apply div_nonneg; lra).
    assert (w == 0).
    { unfold w in *. pose proof (Lo 0%nat ltac:(lia)). pose proof (Hi' 0%nat ltac:(lia)). lra. }
    rewrite H0. lra.
Qed.

(** Δ: how far the rates are from the overall rate, relative to it. *)
Definition deviation (n : nat) (r : nat -> Q) (mean : Q) : Q := largest n (fun a => Qabs (r a / mean - 1)).

(** Both measures for two values: [two a b] are their rates. *)
Definition two (a b : Q) (i : nat) : Q := match i with 0%nat => a | _ => b end.

Lemma difference_of_two f : difference 1 f == Qabs (f 0%nat - f 1%nat).
Proof. unfold difference. cbn [largest least]. cases_abs; lra. Qed.

(** Both groups' distances to their mean are the other group's share of the gap. *)
Lemma deviation_of_two f u m : 0 < u < 1 -> 0 < m -> m == u * f 0%nat + (1 - u) * f 1%nat ->
  deviation 1 f m == Qmax u (1 - u) * Qabs (f 0%nat - f 1%nat) / m.
Proof.
  intros U M E. unfold deviation. cbn [largest].
  assert (A : f 0%nat / m - 1 == (1 - u) * (f 0%nat - f 1%nat) * / m)
    by (setoid_replace ((1 - u) * (f 0%nat - f 1%nat)) with (f 0%nat - m) by (rewrite E; ring); field; lra).
  assert (B : f 1%nat / m - 1 == u * (f 1%nat - f 0%nat) * / m)
    by (setoid_replace (u * (f 1%nat - f 0%nat)) with (f 1%nat - m) by (rewrite E; ring); field; lra).
  rewrite A, B. rewrite !Qabs_Qmult.
  rewrite (Qabs_pos (/ m)) by (apply Qlt_le_weak, Qinv_lt_0_compat, M). rewrite (Qabs_pos (1 - u)), (Qabs_pos u) by lra.
  setoid_replace (Qabs (f 1%nat - f 0%nat)) with (Qabs (f 0%nat - f 1%nat))
    by (rewrite <- Qabs_opp; setoid_replace (- (f 1%nat - f 0%nat)) with (f 0%nat - f 1%nat) by ring; reflexivity).
  set (g := Qabs (f 0%nat - f 1%nat) * / m).
  assert (G : 0 <= g) by (apply mul_nonneg; [apply Qabs_nonneg | apply Qlt_le_weak, Qinv_lt_0_compat, M]).
  setoid_replace ((1 - u) * Qabs (f 0%nat - f 1%nat) * / m) with ((1 - u) * g) by (unfold g; ring).
  setoid_replace (u * Qabs (f 0%nat - f 1%nat) * / m) with (u * g) by (unfold g; ring).
  setoid_replace (Qmax u (1 - u) * Qabs (f 0%nat - f 1%nat) / m) with (Qmax u (1 - u) * g) by (unfold g; field; lra).
  destruct (max_cases u (1 - u)) as [[L F]|[L F]]; rewrite F; [apply Q.max_l | apply Q.max_r]; nra.
Qed.

Definition shrinks_deviation (factor : Q -> Q) : Prop :=
  forall n l p r q t, 1 <= t -> distribution (S n) p -> rates (S n) r -> 0 < overall (S n) p r ->
  channel (S n) (S l) q -> private t (S n) (S l) q ->
  (forall j, (j <= l)%nat -> 0 < share (S n) p q j) ->
  deviation l (reported (S n) p r q) (overall (S n) p r) <= factor t * deviation n r (overall (S n) p r).

(** Rates whose mean is in the middle of their range: the weighted mean stays within (t - 1)/(t + 1) of it. *)
Lemma one_tilted t x d : 1 <= t -> 0 < d ->
  x * (1 - (1#2)) <= t * (1#2) * (d - x) -> (1#2) * (d - x) <= t * (1 - (1#2)) * x ->
  Qabs (2 * (x / d) - 1) <= (t - 1) / (t + 1).
Proof.
  intros T D H K. apply abs_le.
  assert (A : x / d <= t / (t + 1)).
  { apply div_le; [assumption|]. apply (Qmult_le_r _ _ (t + 1)); [lra|].
    assert (E : t / (t + 1) * d * (t + 1) == t * d) by (field; lra). rewrite E. lra. }
  assert (B : 1 / (t + 1) <= x / d).
  { apply le_div; [assumption|]. apply (Qmult_le_r _ _ (t + 1)); [lra|].
    assert (E : 1 / (t + 1) * d * (t + 1) == d) by (field; lra). rewrite E. lra. }
  assert (E : (t - 1) / (t + 1) == 2 * (t / (t + 1)) - 1) by (field; lra).
  assert (F : (t - 1) / (t + 1) == 1 - 2 * (1 / (t + 1))) by (field; lra).
  split; lra.
Qed.

Theorem lemma_13_deviation : shrinks_deviation (fun t => (t - 1) / (t + 1)).
Proof.
  intros n l p r q t T P R Y C V D. unfold deviation. set (y := overall (S n) p r) in *.
  set (c := largest n (fun a => Qabs (r a / y - 1))).
  assert (Dev : forall a, (a < S n)%nat -> - c <= r a / y - 1 <= c).
  { intros a Ha. pose proof (largest_ge n (fun a => Qabs (r a / y - 1)) a ltac:(lia)) as H. fold c in H.
    apply abs_le in H. lra. }
  assert (C0 : 0 <= c).
  { pose proof (largest_ge n (fun a => Qabs (r a / y - 1)) 0%nat ltac:(lia)) as H. fold c in H.
    cbv beta in H. pose proof (Qabs_nonneg (r 0%nat / y - 1)). lra. }
  assert (F0 : 0 <= (t - 1) / (t + 1)) by (apply div_nonneg; lra).
  apply largest_le. intros j Hj. specialize (D j Hj).
  destruct (Qlt_le_dec 0 c) as [W|W].
  - assert (Sc : forall a, (a < S n)%nat -> 0 <= (r a / y - 1 + c) / (2 * c) <= 1).
    { intros a Ha. destruct (Dev a Ha). split; [apply le_div | apply div_le]; lra. }
    assert (Vj : forall a b, (a < S n)%nat -> (b < S n)%nat -> q a j <= t * q b j)
      by (intros; apply V; try assumption; lia).
    destruct (tilted (S n) p (fun a => q a j) (fun a => (r a / y - 1 + c) / (2 * c)) t T P Sc Vj) as [U U'].
    assert (M : sum (S n) (fun a => p a * ((r a / y - 1 + c) / (2 * c))) == 1#2).
    { rewrite (sum_ext (S n) _ (fun a => / (2 * c * y) * (p a * r a) + (c - 1) / (2 * c) * p a)) by (intros; field; lra).
      rewrite sum_plus, !sum_scale. destruct P as [_ P2]. rewrite P2. fold (overall (S n) p r). fold y. field. lra. }
    rewrite M in U, U'. pose proof (one_tilted t _ _ T D U U') as K.
    assert (E : reported (S n) p r q j / y - 1 ==
                c * (2 * (sum (S n) (fun a => p a * q a j * ((r a / y - 1 + c) / (2 * c))) / share (S n) p q j) - 1)).
    { unfold reported.
      rewrite (sum_ext (S n) (fun a => p a * q a j * ((r a / y - 1 + c) / (2 * c)))
                 (fun a => / (2 * c * y) * (p a * q a j * r a) + (c - 1) / (2 * c) * (p a * q a j))) by (intros; field; lra).
      rewrite sum_plus, !sum_scale. fold (share (S n) p q j). field. lra. }
    cbv beta. rewrite E, Qabs_Qmult, (Qabs_pos c) by assumption.
    pose proof (scaled c _ _ C0 K). lra.
  - assert (Const : forall a, (a < S n)%nat -> r a == y).
    { intros a Ha. destruct (Dev a Ha). assert (E : r a / y == 1) by lra.
      rewrite <- (div_mul (r a) y) by lra. rewrite E. ring. }
    assert (E : reported (S n) p r q j / y - 1 == 0).
    { unfold reported.
      rewrite (sum_ext (S n) _ (fun a => y * (p a * q a j))) by (intros a Ha; rewrite (Const a Ha); ring).
      rewrite sum_scale. fold (share (S n) p q j). field. lra. }
    rewrite E. change (Qabs 0) with 0. now apply mul_nonneg.
Qed.

(** Randomised response, on any shares, is such a channel: the printed lemma. *)
Theorem lemma_13_as_printed : forall n p r t, 1 <= t -> distribution (S n) p -> rates (S n) r ->
  difference n (reported (S n) p r (response (S n) t)) <= difference n r.
Proof.
  intros n p r t T P R.
  pose proof (response_private (S n) t ltac:(lia) T) as V.
  pose proof (response_channel (S n) t ltac:(lia) T) as C.
  assert (D : forall j, (j <= n)%nat -> 0 < share (S n) p (response (S n) t) j).
  { intros j Hj. pose proof (response_denominator (S n) t ltac:(lia) T) as W. unfold share.
    destruct P as [P1 P2].
    assert (L : sum (S n) (fun a => p a * (1 / (t + number (S n) - 1))) <= sum (S n) (fun a => p a * response (S n) t a j)).
    { apply sum_le. intros a Ha. cbv beta. apply scaled; [now apply P1|]. unfold response.
      destruct (Nat.eqb a j); [|lra]. apply div_le; [assumption|]. rewrite div_mul; lra. }
    rewrite sum_scale_r, P2 in L. assert (0 < 1 / (t + number (S n) - 1)) by (apply div_pos; lra). lra. }
  pose proof (lemma_13_difference n n p r _ t T P R C V D) as H. cbv beta in H.
  assert (G : (t - 1) / (t + 1) <= 1) by (apply div_le; lra).
  assert (0 <= difference n r).
  { unfold difference. pose proof (least_le n r 0 ltac:(lia)). pose proof (largest_ge n r 0 ltac:(lia)). lra. }
  nra.
Qed.

(** ** Attained by randomised response on two equal groups *)

Definition half (_ : nat) : Q := 1#2.
Definition zero_one (a : nat) : Q := match a with 0%nat => 0 | _ => 1 end.

Lemma half_law : distribution 2 half.
Proof. split; [intros; unfold half; lra | now compute]. Qed.

Lemma zero_one_rates : rates 2 zero_one.
Proof. intros [|a] _; cbn; lra. Qed.

Lemma half_share t j : 1 <= t -> (j <= 1)%nat -> share 2 half (response 2 t) j == 1#2.
Proof.
  intros T Hj. unfold share, half, response, number. cbn. destruct j as [|[|j]]; cbn; [| |lia]; field; lra.
Qed.

Theorem lemma_13_attained : forall t, 1 <= t ->
  difference 1 (reported 2 half zero_one (response 2 t)) == (t - 1) / (t + 1) * difference 1 zero_one.
Proof.
  intros t T. pose proof (half_share t 0 T ltac:(lia)) as S0. pose proof (half_share t 1 T ltac:(lia)) as S1.
  assert (D0 : difference 1 zero_one == 1) by now compute. rewrite D0.
  assert (R0 : reported 2 half zero_one (response 2 t) 0 == 1 / (t + 1)).
  { unfold reported. rewrite S0. unfold half, response, number. cbn. field. lra. }
  assert (R1 : reported 2 half zero_one (response 2 t) 1 == t / (t + 1)).
  { unfold reported. rewrite S1. unfold half, response, number. cbn. field. lra. }
  unfold difference. cbn [largest least]. rewrite R0, R1.
  assert (1 / (t + 1) <= t / (t + 1)) by (apply div_le; [lra|]; rewrite div_mul; lra).
  rewrite Q.max_r, Q.min_l by assumption. field. lra.
Qed.

(** ** Planted faults *)

Lemma shrinks_sharp factor t : shrinks_difference factor -> 1 <= t -> (t - 1) / (t + 1) <= factor t.
Proof.
  intros H T.
  specialize (H 1%nat 1%nat half zero_one (response 2 t) t T half_law zero_one_rates
    (response_channel 2 t ltac:(lia) T) (response_private 2%nat t ltac:(lia) T)).
  assert (D : forall j, (j <= 1)%nat -> 0 < share 2 half (response 2 t) j)
    by (intros j Hj; rewrite half_share by assumption; lra).
  specialize (H D). rewrite lemma_13_attained in H by assumption.
  assert (E : difference 1 zero_one == 1) by now compute. rewrite E in H. lra.
Qed.

(** The factor of half the level: for e^ε = 4, (2 - 1)/(2 + 1). *)
Theorem lemma_13_difference_fault_1 : ~ shrinks_difference (fun t => (t - 1) / (t + 2)).
Proof. intros H. apply (shrinks_sharp _ 2) in H; [now vm_compute in H | lra]. Qed.

(** The factor squared. *)
Theorem lemma_13_difference_fault_2 : ~ shrinks_difference (fun t => (t - 1) * (t - 1) / ((t + 1) * (t + 1))).
Proof. intros H. apply (shrinks_sharp _ 2) in H; [now vm_compute in H | lra]. Qed.

Lemma deviation_sharp factor t : shrinks_deviation factor -> 1 <= t -> (t - 1) / (t + 1) <= factor t.
Proof.
  intros H T.
  assert (Y : overall 2 half zero_one == 1#2) by now compute.
  specialize (H 1%nat 1%nat half zero_one (response 2 t) t T half_law zero_one_rates ltac:(rewrite Y; lra)
    (response_channel 2 t ltac:(lia) T) (response_private 2%nat t ltac:(lia) T)).
  assert (D : forall j, (j <= 1)%nat -> 0 < share 2 half (response 2 t) j)
    by (intros j Hj; rewrite half_share by assumption; lra).
  specialize (H D).
  assert (R1 : reported 2 half zero_one (response 2 t) 1 == t / (t + 1)).
  { unfold reported. rewrite half_share by (try assumption; lia). unfold half, response, number. cbn. field. lra. }
  assert (E : deviation 1 zero_one (overall 2 half zero_one) == 1) by now compute.
  rewrite E in H.
  pose proof (largest_ge 1 (fun a => Qabs (reported 2 half zero_one (response 2 t) a / overall 2 half zero_one - 1)) 1 ltac:(lia)) as G.
  cbv beta in G.
  assert (Z : reported 2 half zero_one (response 2 t) 1 / overall 2 half zero_one - 1 == (t - 1) / (t + 1))
    by (rewrite R1, Y; field; lra).
  rewrite Z in G. pose proof (abs_ge ((t - 1) / (t + 1))). unfold deviation in H. lra.
Qed.

Theorem lemma_13_deviation_fault_1 : ~ shrinks_deviation (fun t => (t - 1) / (t + 2)).
Proof. intros H. apply (deviation_sharp _ 2) in H; [now vm_compute in H | lra]. Qed.

Theorem lemma_13_deviation_fault_2 : ~ shrinks_deviation (fun t => (t - 1) * (t - 1) / ((t + 1) * (t + 1))).
Proof. intros H. apply (deviation_sharp _ 2) in H; [now vm_compute in H | lra]. Qed.
