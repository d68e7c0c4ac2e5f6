(** A channel on a group of which only P(Y = 1) is known: the largest unfairness of its reports, and what has the least.

    [u] and [v] are the laws of the group among the labels 1 and 0, [q a j] is the chance of report [j]; [tau] is P(Y = 1). *)

From Checked Require Import Base.Numbers Privacy.Channels.

(** P(Z = j | label), and |P(Y = 1 | Z = j)/P(Y = 1) − 1|. *)
Definition seen (k : nat) (u : nat -> Q) (q : nat -> nat -> Q) (j : nat) : Q := sum k (fun a => u a * q a j).
Definition unfair (tau s1 s0 : Q) : Q := Qabs (s1 / (tau * s1 + (1 - tau) * s0) - 1).
(** The report occurs. *)
Definition occurs (tau s1 s0 : Q) : Prop := 0 < tau * s1 + (1 - tau) * s0.

(** [dpfair_lib.local.robust.closed_forms.unfairness_of_level]: [ratio] is the largest one within the column. *)
Definition unfairness_of_level (ratio tau : Q) : Q :=
  (1 - tau) * (ratio - 1) / (1 + Qmin tau (1 - tau) * (ratio - 1)).

Definition worst_is (formula : Q -> Q -> Q) : Prop :=
  forall k q ratio tau j, 0 < tau < 1 -> 1 <= ratio -> (forall a, (a < k)%nat -> 0 < q a j) ->
  (forall a b, (a < k)%nat -> (b < k)%nat -> q a j <= ratio * q b j) ->
  (forall u v, distribution k u -> distribution k v -> unfair tau (seen k u q j) (seen k v q j) <= formula ratio tau) /\
  (forall a b, (a < k)%nat -> (b < k)%nat -> q a j == ratio * q b j -> exists u v, distribution k u /\ distribution k v /\
   unfair tau (seen k u q j) (seen k v q j) == formula ratio tau).

Lemma seen_within k u v q j ratio : distribution k u -> distribution k v ->
  (forall a b, (a < k)%nat -> (b < k)%nat -> q a j <= ratio * q b j) -> seen k u q j <= ratio * seen k v q j.
Proof.
  intros [U U1] [V V1] H. unfold seen.
  assert (One : forall a, (a < k)%nat -> q a j <= ratio * sum k (fun b => v b * q b j)).
  { intros a Ha. rewrite <- (Qmult_1_l (q a j)), <- V1, <- sum_scale_r, <- sum_scale. apply sum_le. intros b Hb. cbv beta.
    pose proof (scaled (v b) _ _ (V b Hb) (H a b Ha Hb)). lra. }
  rewrite <- (Qmult_1_l (ratio * _)), <- U1, <- sum_scale_r. apply sum_le. intros a Ha. apply scaled; [now apply U | now apply One].
Qed.

Lemma seen_positive k u q j : distribution k u -> (forall a, (a < k)%nat -> 0 < q a j) -> 0 < seen k u q j.
Proof.
  intros [U U1] P. assert (N : 0 <= seen k u q j).
  { apply sum_nonneg. intros a Ha. apply mul_nonneg; [now apply U | apply Qlt_le_weak; now apply P]. }
  destruct (Qlt_le_dec 0 (seen k u q j)) as [?|Z]; [assumption|]. exfalso.
  assert (E : forall a, (a < k)%nat -> u a == 0).
  { intros a Ha. assert (T : forall i, (i < k)%nat -> 0 <= u i * q i j) by (intros i Hi; apply mul_nonneg; [now apply U | apply Qlt_le_weak; now apply P]).
    pose proof (sum_term k _ a T Ha) as B. cbv beta in B. fold (seen k u q j) in B. pose proof (U a Ha). pose proof (P a Ha).
    destruct (Qlt_le_dec 0 (u a)) as [G|G]; [|lra]. pose proof (mul_pos _ _ G (P a Ha)). unfold seen in *. lra. }
  rewrite (sum_ext k u (fun _ => 0) E), sum_zero in U1. lra.
Qed.

Lemma above tau s1 s0 ratio : 0 < tau < 1 -> 0 < s0 -> 0 < s1 -> 1 <= ratio -> s1 <= ratio * s0 -> s0 <= ratio * s1 ->
  - unfairness_of_level ratio tau <= s1 / (tau * s1 + (1 - tau) * s0) - 1 <= unfairness_of_level ratio tau.
Proof.
  intros T S0 S1 R H K. unfold unfairness_of_level. set (m := Qmin tau (1 - tau)).
  assert (M : 0 < m /\ m <= tau /\ m <= 1 - tau).
  { unfold m. destruct (min_cases tau (1 - tau)) as [[L E]|[L E]]; rewrite E; lra. }
  destruct M as (M0 & M1 & M2).
  assert (D : 0 < tau * s1 + (1 - tau) * s0) by (assert (0 < tau * s1) by (apply mul_pos; lra); assert (0 < (1 - tau) * s0) by (apply mul_pos; lra); lra).
  assert (P : 0 < 1 + m * (ratio - 1)) by (assert (0 <= m * (ratio - 1)) by (apply mul_nonneg; lra); lra).
  assert (E : s1 / (tau * s1 + (1 - tau) * s0) - 1 == (1 - tau) * (s1 - s0) / (tau * s1 + (1 - tau) * s0)) by (field; lra).
  rewrite E. set (d := tau * s1 + (1 - tau) * s0) in *.
  assert (X : (s1 - s0) * (1 + m * (ratio - 1)) <= (ratio - 1) * d).
  { destruct (Qlt_le_dec s0 s1) as [L|L].
    - assert (0 <= (tau - m) * ((ratio - 1) * (s1 - s0))) by (apply mul_nonneg; [lra | apply mul_nonneg; lra]). unfold d. lra.
    - assert (0 <= (ratio - 1) * d) by (apply mul_nonneg; lra). assert (0 <= (s0 - s1) * (1 + m * (ratio - 1))) by (apply mul_nonneg; lra). lra. }
  assert (Y : (s0 - s1) * (1 + m * (ratio - 1)) <= (ratio - 1) * d).
  { destruct (Qlt_le_dec s1 s0) as [L|L].
    - assert (0 <= (1 - tau - m) * ((ratio - 1) * (s0 - s1))) by (apply mul_nonneg; [lra | apply mul_nonneg; lra]). unfold d. lra.
    - assert (0 <= (ratio - 1) * d) by (apply mul_nonneg; lra). assert (0 <= (s1 - s0) * (1 + m * (ratio - 1))) by (apply mul_nonneg; lra). lra. }
  assert (C : 0 <= 1 - tau) by lra. pose proof (scaled _ _ _ C X) as X'. pose proof (scaled _ _ _ C Y) as Y'. split.
  - apply le_div; [assumption|]. apply (Qmult_le_r _ _ (1 + m * (ratio - 1))); [assumption|].
    setoid_replace (- ((1 - tau) * (ratio - 1) / (1 + m * (ratio - 1))) * d * (1 + m * (ratio - 1))) with (- ((1 - tau) * ((ratio - 1) * d))) by (field; lra). lra.
  - apply div_le; [assumption|]. apply (Qmult_le_r _ _ (1 + m * (ratio - 1))); [assumption|].
    setoid_replace ((1 - tau) * (ratio - 1) / (1 + m * (ratio - 1)) * d * (1 + m * (ratio - 1))) with ((1 - tau) * ((ratio - 1) * d)) by (field; lra). lra.
Qed.

(** All of one label have one value. *)
Definition at_value (a i : nat) : Q := if Nat.eqb i a then 1 else 0.

Lemma at_value_law k a : (a < k)%nat -> distribution k (at_value a).
Proof.
  intros H. split; [intros i _; unfold at_value; destruct (Nat.eqb i a); lra|]. unfold at_value. exact (sum_pick k a (fun _ => 1) H).
Qed.

Lemma seen_at k a q j : (a < k)%nat -> seen k (at_value a) q j == q a j.
Proof.
  intros H. unfold seen, at_value. rewrite (sum_ext k _ (fun i => if Nat.eqb i a then q i j else 0)).
  - exact (sum_pick k a (fun i => q i j) H).
  - intros i _. destruct (Nat.eqb i a); ring.
Qed.

(** Any two values of ratio at least 1 give some laws the unfairness of that ratio. *)
Lemma reached k q ratio tau j a b : 0 < tau < 1 -> 1 <= ratio -> (a < k)%nat -> (b < k)%nat -> 0 < q b j ->
  q a j == ratio * q b j ->
  exists u v, distribution k u /\ distribution k v /\ occurs tau (seen k u q j) (seen k v q j) /\
  unfair tau (seen k u q j) (seen k v q j) == unfairness_of_level ratio tau.
Proof.
  intros T R Ha Hb Pb E.
  assert (Pa : 0 < q a j) by (rewrite E; apply mul_pos; lra).
  assert (Oc : forall s1 s0, 0 < s1 -> 0 < s0 -> occurs tau s1 s0).
  { intros s1 s0 S1 S0. unfold occurs. assert (0 < tau * s1) by (apply mul_pos; lra).
    assert (0 < (1 - tau) * s0) by (apply mul_pos; lra). lra. }
  destruct (Qlt_le_dec tau (1 - tau)) as [L|L].
  - exists (at_value a), (at_value b). splits; try (now apply at_value_law); unfold occurs, unfair; rewrite !seen_at by assumption; [apply Oc; assumption|].
    rewrite E.
    assert (D : 0 < 1 + tau * (ratio - 1)) by (assert (0 <= tau * (ratio - 1)) by (apply mul_nonneg; lra); lra).
    assert (F : ratio * q b j / (tau * (ratio * q b j) + (1 - tau) * q b j) - 1 == (1 - tau) * (ratio - 1) / (1 + tau * (ratio - 1))).
    { field. split; [lra|]. assert (0 < q b j * (1 + tau * (ratio - 1))) by (apply mul_pos; assumption). lra. }
    rewrite F. unfold unfairness_of_level. rewrite Q.min_l by lra. apply Qabs_pos. apply div_nonneg; [assumption | apply mul_nonneg; lra].
  - exists (at_value b), (at_value a). splits; try (now apply at_value_law); unfold occurs, unfair; rewrite !seen_at by assumption; [apply Oc; assumption|].
    rewrite E.
    assert (D : 0 < 1 + (1 - tau) * (ratio - 1)) by (assert (0 <= (1 - tau) * (ratio - 1)) by (apply mul_nonneg; lra); lra).
    assert (F : q b j / (tau * q b j + (1 - tau) * (ratio * q b j)) - 1 == - ((1 - tau) * (ratio - 1) / (1 + (1 - tau) * (ratio - 1)))).
    { field. split; [lra|]. assert (0 < q b j * (1 + (1 - tau) * (ratio - 1))) by (apply mul_pos; assumption). lra. }
    rewrite F, Qabs_opp. unfold unfairness_of_level. rewrite Q.min_r by lra. apply Qabs_pos. apply div_nonneg; [assumption | apply mul_nonneg; lra].
Qed.

Theorem unknown_law_worst : worst_is unfairness_of_level.
Proof.
  intros k q ratio tau j T R P H. split.
  - intros u v U V. apply abs_le. apply above; try assumption; try (now apply seen_positive); now apply seen_within.
  - intros a b Ha Hb E. destruct (reached k q ratio tau j a b T R Ha Hb (P b Hb) E) as (u & v & U & V & _ & W).
    exists u, v. now splits.
Qed.

(** A larger ratio is a larger unfairness, and a smaller one a smaller. *)
Definition grows (formula : Q -> Q -> Q) : Prop :=
  forall tau r r', 0 < tau < 1 -> 1 <= r -> 1 <= r' -> (r < r' <-> formula r tau < formula r' tau).

Theorem unfairness_grows : grows unfairness_of_level.
Proof.
  assert (Up : forall tau r r', 0 < tau < 1 -> 1 <= r -> 1 <= r' -> r < r' -> unfairness_of_level r tau < unfairness_of_level r' tau).
  { intros tau r r' T R R' L. unfold unfairness_of_level. set (m := Qmin tau (1 - tau)).
    assert (M : 0 < m) by (unfold m; destruct (min_cases tau (1 - tau)) as [[_ E]|[_ E]]; rewrite E; lra).
    assert (D : 0 < 1 + m * (r - 1)) by (assert (0 <= m * (r - 1)) by (apply mul_nonneg; lra); lra).
    assert (D' : 0 < 1 + m * (r' - 1)) by (assert (0 <= m * (r' - 1)) by (apply mul_nonneg; lra); lra).
    assert (E : (1 - tau) * (r' - 1) / (1 + m * (r' - 1)) - (1 - tau) * (r - 1) / (1 + m * (r - 1)) ==
                (1 - tau) * (r' - r) / ((1 + m * (r - 1)) * (1 + m * (r' - 1)))) by (field; lra).
    assert (P : 0 < (1 - tau) * (r' - r) / ((1 + m * (r - 1)) * (1 + m * (r' - 1))))
      by (apply div_pos; [now apply mul_pos | apply mul_pos; lra]).
    lra. }
  intros tau r r' T R R'. split; [now apply Up|]. intros F. destruct (Qlt_le_dec r r') as [?|L]; [assumption|].
  destruct (Qlt_le_dec r' r) as [L'|L']; [pose proof (Up tau r' r T R' R L'); lra|].
  assert (E : r == r') by lra. unfold unfairness_of_level in F. rewrite E in F. lra.
Qed.

(** ** Plain response has its own ratio, the least of all channels that are so truthful, and no other one has it *)

Definition plain (k : nat) (T : Q) (i j : nat) : Q := if Nat.eqb i j then T else (1 - T) / (number k - 1).
Definition plain_ratio (k : nat) (T : Q) : Q := T * (number k - 1) / (1 - T).

Lemma some_values k : (2 <= k)%nat -> 2 <= number k.
Proof. intros H. pose proof (number_le 2 k H) as N. change (number 2) with 2 in N. exact N. Qed.

Lemma more_than_chance k T : (2 <= k)%nat -> T < 1 -> 1 <= number k * T -> 0 < T /\ 1 <= plain_ratio k T.
Proof.
  intros Hk L H. pose proof (some_values k Hk) as N.
  assert (P : 0 < T) by (destruct (Qlt_le_dec 0 T); [assumption | nra]).
  split; [assumption|]. unfold plain_ratio. apply le_div; lra.
Qed.

(** Truths below chance are left out: there lies are more likely, and another channel has a smaller ratio. *)
Definition plain_has (level : nat -> Q -> Q) : Prop :=
  forall k T, (2 <= k)%nat -> T < 1 -> 1 <= number k * T ->
  channel k k (plain k T) /\ private (level k T) k k (plain k T).

Theorem plain_has_level : plain_has plain_ratio.
Proof.
  intros k T Hk HT H. pose proof (some_values k Hk) as N. destruct (more_than_chance k T Hk HT H) as [T0 R].
  assert (O : 0 <= (1 - T) / (number k - 1)) by (apply div_nonneg; lra). split.
  - intros i Hi. split; [intros j _; unfold plain; destruct (Nat.eqb i j); lra|].
    unfold plain. rewrite (sum_ext k _ (fun j => if Nat.eqb j i then T else (1 - T) / (number k - 1))) by (intros; now rewrite Nat.eqb_sym).
    rewrite (sum_split k (fun _ => T) (fun _ => (1 - T) / (number k - 1)) i Hi), sum_const. fold (number k). field. lra.
  - intros i i' j _ _ _. unfold plain.
    assert (E : plain_ratio k T * ((1 - T) / (number k - 1)) == T) by (unfold plain_ratio; field; lra).
    assert (Le : (1 - T) / (number k - 1) <= T) by (apply div_le; lra).
    set (L := plain_ratio k T) in *. set (o := (1 - T) / (number k - 1)) in *. clearbody L o.
    assert (A : 0 <= (L - 1) * T) by (apply mul_nonneg; lra). assert (B : 0 <= (L - 1) * o) by (apply mul_nonneg; lra).
    destruct (Nat.eqb i j), (Nat.eqb i' j); lra.
Qed.

Definition least_level (level : nat -> Q -> Q) : Prop :=
  forall k T ratio q, (2 <= k)%nat -> T < 1 -> 1 <= number k * T -> channel k k q ->
  (forall j, (j < k)%nat -> T <= q j j) -> private ratio k k q -> level k T <= ratio /\
  (ratio == level k T -> forall i j, (i < k)%nat -> (j < k)%nat -> q i j == plain k T i j).

Lemma others k f i : (i < k)%nat -> sum k (fun j => if Nat.eqb j i then 0 else f j) == sum k f - f i.
Proof. intros H. rewrite (sum_split k (fun _ => 0) f i H). ring. Qed.

Theorem plain_response_least_level : least_level plain_ratio.
Proof.
  intros k T ratio q Hk T1 HT C Tr H. pose proof (some_values k Hk) as N. destruct (more_than_chance k T Hk T1 HT) as [T0 _].
  clear HT. assert (HT : 0 < T < 1) by lra. unfold plain_ratio, plain.
  assert (R0 : 0 <= ratio).
  { pose proof (H 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)) as A. pose proof (Tr 0%nat ltac:(lia)).
    pose proof (proj1 (C 1%nat ltac:(lia)) 0%nat ltac:(lia)). destruct (Qlt_le_dec ratio 0) as [L|L]; [|assumption]. nra. }
  (* in row i: the lies are at least T/ratio each, and leave room for 1 − T *)
  assert (Row : forall i, (i < k)%nat -> sum k (fun j => if Nat.eqb j i then 0 else ratio * q i j - T) ==
                          ratio * (1 - q i i) - (number k - 1) * T).
  { intros i Hi. rewrite (others k (fun j => ratio * q i j - T) i Hi), sum_minus, sum_scale, (proj2 (C i Hi)), sum_const. fold (number k). ring. }
  assert (Pos : forall i j, (i < k)%nat -> (j < k)%nat -> 0 <= (if Nat.eqb j i then 0 else ratio * q i j - T)).
  { intros i j Hi Hj. destruct (Nat.eqb j i); [lra|]. pose proof (H j i j Hj Hi Hj). pose proof (Tr j Hj). lra. }
  assert (Sum : forall i, (i < k)%nat -> (number k - 1) * T <= ratio * (1 - q i i)).
  { intros i Hi. assert (P : 0 <= sum k (fun j => if Nat.eqb j i then 0 else ratio * q i j - T)) by (apply sum_nonneg; intros; now apply Pos).
    rewrite (Row i Hi) in P. lra. }
  assert (Le : (number k - 1) * T <= ratio * (1 - T)).
  { pose proof (Sum 0%nat ltac:(lia)). pose proof (Tr 0%nat ltac:(lia)). nra. }
  split; [apply div_le; lra|]. intros E i j Hi Hj.
  assert (EE : ratio * (1 - T) == (number k - 1) * T) by (rewrite E; field; lra).
  assert (Rp : 0 < ratio) by (destruct (Qlt_le_dec 0 ratio) as [?|L]; [assumption|]; assert (0 < (number k - 1) * T) by (apply mul_pos; lra); nra).
  assert (Diag : q i i == T).
  { pose proof (Sum i Hi). pose proof (Tr i Hi). assert (G : ratio * (q i i - T) <= 0) by lra. nra. }
  destruct (Nat.eqb_spec i j) as [<-|Ne]; [assumption|].
  assert (Z : sum k (fun j => if Nat.eqb j i then 0 else ratio * q i j - T) == 0) by (rewrite (Row i Hi), Diag; lra).
  pose proof (sum_term k _ j (fun j Hj => Pos i j Hi Hj) Hj) as B. cbv beta in B. rewrite Z in B. pose proof (Pos i j Hi Hj) as P.
  destruct (Nat.eqb_spec j i) as [->|_]; [contradiction|].
  assert (V : ratio * q i j == T) by lra. apply (Qmult_inj_l _ _ ratio); [lra|]. rewrite V.
  setoid_replace (ratio * ((1 - T) / (number k - 1))) with (ratio * (1 - T) / (number k - 1)) by (field; lra). rewrite EE. field. lra.
Qed.

(** So its reports are the least unfair: [value] is the largest unfairness of its reports over all laws; no channel of
    such truths keeps below it in every report and law under which the report occurs, and no other one keeps to it. *)
Definition least_unfair (value : nat -> Q -> Q -> Q) : Prop :=
  forall k T tau, (2 <= k)%nat -> T < 1 -> 1 <= number k * T -> 0 < tau < 1 ->
  (forall j u v, (j < k)%nat -> distribution k u -> distribution k v ->
   unfair tau (seen k u (plain k T) j) (seen k v (plain k T) j) <= value k T tau) /\
  forall q bound, channel k k q -> (forall j, (j < k)%nat -> T <= q j j) ->
  (forall j u v, (j < k)%nat -> distribution k u -> distribution k v -> occurs tau (seen k u q j) (seen k v q j) ->
   unfair tau (seen k u q j) (seen k v q j) <= bound) ->
  value k T tau <= bound /\
  (bound == value k T tau -> forall i j, (i < k)%nat -> (j < k)%nat -> q i j == plain k T i j).

Lemma plain_positive k T i j : (2 <= k)%nat -> T < 1 -> 1 <= number k * T -> 0 < plain k T i j.
Proof.
  intros Hk HT H. pose proof (some_values k Hk). destruct (more_than_chance k T Hk HT H). unfold plain.
  destruct (Nat.eqb i j); [assumption | apply div_pos; lra].
Qed.

(** No finite ratio is as unfair as a chance of 0 beside one that is not. *)
Lemma below_limit ratio tau : 0 < tau < 1 -> 1 <= ratio ->
  unfairness_of_level ratio tau < 1 / tau - 1 \/ unfairness_of_level ratio tau < 1.
Proof.
  intros T R. assert (Limit : forall m, 0 < m -> (1 - tau) * (ratio - 1) / (1 + m * (ratio - 1)) < (1 - tau) / m).
  { intros m M. assert (D : 0 < 1 + m * (ratio - 1)) by (assert (0 <= m * (ratio - 1)) by (apply mul_nonneg; lra); lra).
    apply div_lt; [assumption|]. setoid_replace ((1 - tau) / m * (1 + m * (ratio - 1))) with ((1 - tau) / m + (1 - tau) * (ratio - 1)) by (field; lra).
    assert (0 < (1 - tau) / m) by (apply div_pos; lra). lra. }
  unfold unfairness_of_level. destruct (min_cases tau (1 - tau)) as [[_ E]|[_ E]].
  - left. rewrite E. setoid_replace (1 / tau - 1) with ((1 - tau) / tau) by (field; lra). apply Limit. lra.
  - right. rewrite E. apply Qlt_le_trans with ((1 - tau) / (1 - tau)); [apply Limit; lra | apply div_le; lra].
Qed.

Theorem plain_response_least_unfair : least_unfair (fun k T tau => unfairness_of_level (plain_ratio k T) tau).
Proof.
  intros k T tau Hk HT H Ht. destruct (plain_has_level k T Hk HT H) as [_ Pr]. destruct (more_than_chance k T Hk HT H) as [T0 R]. split.
  - intros j u v Hj U V.
    refine (proj1 (unknown_law_worst k (plain k T) (plain_ratio k T) tau j Ht R _ _) u v U V).
    + intros a _. now apply plain_positive.
    + intros a b Ha Hb. now apply Pr.
  - intros q bound C Tr B. set (f := unfairness_of_level (plain_ratio k T) tau) in *.
    (* a channel that keeps to the value has no larger ratio than plain response *)
    assert (S : bound <= f -> private (plain_ratio k T) k k q).
    { intros L a b j Ha Hb Hj. pose proof (proj1 (C b Hb) j Hj) as Nb. pose proof (proj1 (C a Ha) j Hj) as Na.
      destruct (Qlt_le_dec (plain_ratio k T * q b j) (q a j)) as [G|?]; [exfalso|assumption].
      destruct (Qlt_le_dec 0 (q b j)) as [Pb|Zb].
      - assert (E : q a j == q a j / q b j * q b j) by (field; lra).
        assert (Q : plain_ratio k T < q a j / q b j) by (apply lt_div; assumption).
        destruct (reached k q (q a j / q b j) tau j a b Ht ltac:(lra) Ha Hb Pb E) as (u & v & U & V & O & W).
        specialize (B j u v Hj U V O). rewrite W in B.
        pose proof (proj1 (unfairness_grows tau (plain_ratio k T) (q a j / q b j) Ht R ltac:(lra)) Q). unfold f in L. lra.
      - assert (Z : q b j == 0) by lra. rewrite Z, Qmult_0_r in G.
        pose proof (at_value_law k a Ha) as La. pose proof (at_value_law k b Hb) as Lb.
        pose proof (B j _ _ Hj La Lb) as X. pose proof (B j _ _ Hj Lb La) as Y. unfold occurs, unfair in X, Y.
        rewrite !seen_at in X by assumption. rewrite !seen_at in Y by assumption. rewrite Z in X, Y.
        assert (P : 0 < tau * q a j) by (apply mul_pos; lra). assert (P' : 0 < (1 - tau) * q a j) by (apply mul_pos; lra).
        specialize (X ltac:(lra)). specialize (Y ltac:(lra)).
        setoid_replace (q a j / (tau * q a j + (1 - tau) * 0) - 1) with (1 / tau - 1) in X by (field; split; lra).
        setoid_replace (0 / (tau * 0 + (1 - tau) * q a j) - 1) with (- (1)) in Y by (field; lra).
        change (Qabs (- (1))) with 1 in Y. pose proof (abs_ge (1 / tau - 1)).
        destruct (below_limit (plain_ratio k T) tau Ht R) as [K|K]; fold f in K; lra. }
    assert (Only : bound <= f -> forall i j, (i < k)%nat -> (j < k)%nat -> q i j == plain k T i j).
    { intros L. exact (proj2 (plain_response_least_level k T (plain_ratio k T) q Hk HT H C Tr (S L)) (Qeq_refl _)). }
    split; [|intros E; apply Only; rewrite E; apply Qle_refl].
    destruct (Qlt_le_dec bound f) as [L|?]; [exfalso|assumption].
    specialize (Only ltac:(lra)). pose proof (Only 0%nat 0%nat ltac:(lia) ltac:(lia)) as E0. pose proof (Only 1%nat 0%nat ltac:(lia) ltac:(lia)) as E1.
    unfold plain in E0, E1. cbn [Nat.eqb] in E0, E1. pose proof (some_values k Hk) as N.
    assert (P1 : 0 < q 1%nat 0%nat) by (rewrite E1; apply div_pos; lra).
    assert (F : q 0%nat 0%nat == plain_ratio k T * q 1%nat 0%nat) by (rewrite E0, E1; unfold plain_ratio; field; lra).
    destruct (reached k q (plain_ratio k T) tau 0%nat 0%nat 1%nat Ht R ltac:(lia) ltac:(lia) P1 F) as (u & v & U & V & O & W).
    specialize (B 0%nat u v ltac:(lia) U V O). rewrite W in B. fold f in B. lra.
Qed.

(** ** Planted faults *)

Definition two_rows (i j : nat) : Q := match i, j with 0%nat, 0%nat => 2#3 | 0%nat, _ => 1#3 | _, 0%nat => 1#3 | _, _ => 2#3 end.

Lemma worst_at formula : worst_is formula ->
  (forall u v, distribution 2 u -> distribution 2 v -> unfair (1#4) (seen 2 u two_rows 0) (seen 2 v two_rows 0) <= formula 2 (1#4)) /\
  exists u v, distribution 2 u /\ distribution 2 v /\ unfair (1#4) (seen 2 u two_rows 0) (seen 2 v two_rows 0) == formula 2 (1#4).
Proof.
  intros H. destruct (H 2%nat two_rows 2 (1#4) 0%nat ltac:(lra) ltac:(lra)) as [A B].
  - intros a _. destruct a; cbn; lra.
  - intros a b _ _. destruct a, b; cbn; lra.
  - split; [exact A|]. apply (B 0%nat 1%nat); [lia | lia | now compute].
Qed.

Lemma worst_value formula : worst_is formula -> formula 2 (1#4) == unfairness_of_level 2 (1#4).
Proof.
  intros H. destruct (worst_at _ H) as [A (u & v & U & V & E)], (worst_at _ unknown_law_worst) as [A' (u' & v' & U' & V' & E')].
  pose proof (A u' v' U' V'). pose proof (A' u v U V). lra.
Qed.

(** The larger one of P(Y = 1) and P(Y = 0). *)
Theorem unknown_law_worst_fault_1 : ~ worst_is (fun ratio tau => (1 - tau) * (ratio - 1) / (1 + Qmax tau (1 - tau) * (ratio - 1))).
Proof. intros H. apply worst_value in H. now vm_compute in H. Qed.

(** Without the denominator. *)
Theorem unknown_law_worst_fault_2 : ~ worst_is (fun ratio tau => (1 - tau) * (ratio - 1)).
Proof. intros H. apply worst_value in H. now vm_compute in H. Qed.

Lemma two_rows_fit : channel 2 2 two_rows /\ (forall j, (j < 2)%nat -> (2#3) <= two_rows j j) /\ private 2 2 2 two_rows.
Proof.
  splits.
  - intros i _. destruct i; (split; [intros [|j] _; cbn; lra | now compute]).
  - intros [|j] _; cbn; lra.
  - intros [|i] [|i'] [|j] _ _ _; cbn; lra.
Qed.

(** All values in the numerator. *)
Theorem plain_response_least_level_fault_1 : ~ least_level (fun k T => T * number k / (1 - T)).
Proof.
  intros H. destruct two_rows_fit as (C & T & P). destruct (H 2%nat (2#3) 2 two_rows ltac:(lia) ltac:(lra) ltac:(now compute) C T P) as [K _]. now vm_compute in K.
Qed.

(** Twice it, less 1. *)
Theorem plain_response_least_level_fault_2 : ~ least_level (fun k T => 2 * T * (number k - 1) / (1 - T) - 1).
Proof.
  intros H. destruct two_rows_fit as (C & T & P). destruct (H 2%nat (2#3) 2 two_rows ltac:(lia) ltac:(lra) ltac:(now compute) C T P) as [K _]. now vm_compute in K.
Qed.

(** The truth against all lies together. *)
Theorem plain_has_level_fault_1 : ~ plain_has (fun k T => T / (1 - T)).
Proof.
  intros H. destruct (H 3%nat (1#2) ltac:(lia) ltac:(lra) ltac:(now compute)) as [_ K].
  specialize (K 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)). now vm_compute in K.
Qed.

(** The truth in the numerator left out. *)
Theorem plain_has_level_fault_2 : ~ plain_has (fun k T => (number k - 1) / (1 - T) / number k).
Proof.
  intros H. destruct (H 3%nat (3#4) ltac:(lia) ltac:(lra) ltac:(now compute)) as [_ K].
  specialize (K 0%nat 1%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)). now vm_compute in K.
Qed.

(** Any truth, also one below chance. *)
Theorem plain_has_level_fault_3 : ~ forall k T, (2 <= k)%nat -> 0 < T < 1 -> private (plain_ratio k T) k k (plain k T).
Proof. intros H. specialize (H 2%nat (1#4) ltac:(lia) ltac:(lra) 1%nat 0%nat 0%nat ltac:(lia) ltac:(lia) ltac:(lia)). now vm_compute in H. Qed.

(** Cut off at 1, which an unfairness may exceed. *)
Theorem unfairness_grows_fault_1 : ~ grows (fun r tau => Qmin 1 (unfairness_of_level r tau)).
Proof.
  intros H. pose proof (proj1 (H (1#4) 3 5 ltac:(lra) ltac:(lra) ltac:(lra)) ltac:(lra)) as K. now vm_compute in K.
Qed.

(** The square of R − 1 below. *)
Theorem unfairness_grows_fault_2 : ~ grows (fun r tau => (1 - tau) * (r - 1) / (1 + Qmin tau (1 - tau) * ((r - 1) * (r - 1)))).
Proof.
  intros H. pose proof (proj1 (H (1#4) 3 9 ltac:(lra) ltac:(lra) ltac:(lra)) ltac:(lra)) as K. now vm_compute in K.
Qed.

Lemma least_value value : least_unfair value -> value 2%nat (2#3) (1#4) == unfairness_of_level 2 (1#4).
Proof.
  intros H. assert (A : forall f, least_unfair f -> forall g, least_unfair g -> f 2%nat (2#3) (1#4) <= g 2%nat (2#3) (1#4)).
  { intros f F g G. destruct (F 2%nat (2#3) (1#4) ltac:(lia) ltac:(lra) ltac:(now compute) ltac:(lra)) as [_ L].
    destruct (G 2%nat (2#3) (1#4) ltac:(lia) ltac:(lra) ltac:(now compute) ltac:(lra)) as [U _].
    apply (L (plain 2 (2#3))).
    - exact (proj1 (plain_has_level 2%nat (2#3) ltac:(lia) ltac:(lra) ltac:(now compute))).
    - intros j _. unfold plain. rewrite Nat.eqb_refl. lra.
    - intros j u v Hj Hu Hv _. now apply U. }
  pose proof (A _ H _ plain_response_least_unfair) as X. pose proof (A _ plain_response_least_unfair _ H) as Y. cbv beta in X, Y.
  assert (E : unfairness_of_level (plain_ratio 2 (2#3)) (1#4) == unfairness_of_level 2 (1#4)) by now vm_compute.
  rewrite E in X, Y. lra.
Qed.

(** Four fifths of the ratio. *)
Theorem plain_response_least_unfair_fault_1 : ~ least_unfair (fun k T tau => unfairness_of_level ((4#5) * plain_ratio k T) tau).
Proof. intros H. apply least_value in H. now vm_compute in H. Qed.

(** The square of the ratio. *)
Theorem plain_response_least_unfair_fault_2 : ~ least_unfair (fun k T tau => unfairness_of_level (plain_ratio k T * plain_ratio k T) tau).
Proof. intros H. apply least_value in H. now vm_compute in H. Qed.
