(** A channel on a group of which only P(Y = 1) is known: the largest unfairness of its reports, and what has the least.

    [u] and [v] are the laws of the group among the labels 1 and 0, [q a j] is the chance of report [j]; [tau] is P(Y = 1). *)

From Checked Require Import Base.Numbers Privacy.Channels.

(** P(Z = j | label), and |P(Y = 1 | Z = j)/P(Y = 1) − 1|. *)
Definition seen (k : nat) (u : nat -> Q) (q : nat -> nat -> Q) (j : nat) : Q := sum k (fun a => u a * q a j).
Definition unfair (tau s1 s0 : Q) : Q := Qabs (s1 / (tau * s1 + (1 - tau) * s0) - 1).

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

Theorem unknown_law_worst : worst_is unfairness_of_level.
Proof.
  intros k q ratio tau j T R P H. split.
  - intros u v U V. apply abs_le. apply above; try assumption; try (now apply seen_positive); now apply seen_within.
  - intros a b Ha Hb E. pose proof (P a Ha) as Pa. pose proof (P b Hb) as Pb.
    destruct (Qlt_le_dec tau (1 - tau)) as [L|L].
    + exists (at_value a), (at_value b). splits; try (now apply at_value_law). unfold unfair. rewrite !seen_at by assumption. rewrite E.
      assert (D : 0 < 1 + tau * (ratio - 1)) by (assert (0 <= tau * (ratio - 1)) by (apply mul_nonneg; lra); lra).
      assert (F : ratio * q b j / (tau * (ratio * q b j) + (1 - tau) * q b j) - 1 == (1 - tau) * (ratio - 1) / (1 + tau * (ratio - 1))).
      { field. split; [lra|]. assert (0 < q b j * (1 + tau * (ratio - 1))) by (apply mul_pos; assumption). lra. }
      rewrite F. unfold unfairness_of_level. rewrite Q.min_l by lra. apply Qabs_pos. apply div_nonneg; [assumption | apply mul_nonneg; lra].
    + exists (at_value b), (at_value a). splits; try (now apply at_value_law). unfold unfair. rewrite !seen_at by assumption. rewrite E.
      assert (D : 0 < 1 + (1 - tau) * (ratio - 1)) by (assert (0 <= (1 - tau) * (ratio - 1)) by (apply mul_nonneg; lra); lra).
      assert (F : q b j / (tau * q b j + (1 - tau) * (ratio * q b j)) - 1 == - ((1 - tau) * (ratio - 1) / (1 + (1 - tau) * (ratio - 1)))).
      { field. split; [lra|]. assert (0 < q b j * (1 + (1 - tau) * (ratio - 1))) by (apply mul_pos; assumption). lra. }
      rewrite F, Qabs_opp. unfold unfairness_of_level. rewrite Q.min_r by lra. apply Qabs_pos. apply div_nonneg; [assumption | apply mul_nonneg; lra].
Qed.

(** ** Plain response has the least ratio of all channels that are so truthful, and no other one has it *)

Definition least_level (level : nat -> Q -> Q) : Prop :=
  forall k T ratio q, (2 <= k)%nat -> 0 < T < 1 -> channel k k q -> (forall j, (j < k)%nat -> T <= q j j) ->
  private ratio k k q -> level k T <= ratio /\
  (ratio == level k T -> forall i j, (i < k)%nat -> (j < k)%nat -> q i j == if Nat.eqb i j then T else (1 - T) / (number k - 1)).

Lemma others k f i : (i < k)%nat -> sum k (fun j => if Nat.eqb j i then 0 else f j) == sum k f - f i.
Proof. intros H. rewrite (sum_split k (fun _ => 0) f i H). ring. Qed.

Theorem plain_response_least_level : least_level (fun k T => T * (number k - 1) / (1 - T)).
Proof.
  intros k T ratio q Hk HT C Tr H.
  assert (N : 2 <= number k) by (pose proof (number_le 2 k Hk) as N; change (number 2) with 2 in N; exact N).
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
  intros H. destruct two_rows_fit as (C & T & P). destruct (H 2%nat (2#3) 2 two_rows ltac:(lia) ltac:(lra) C T P) as [K _]. now vm_compute in K.
Qed.

(** Twice it, less 1. *)
Theorem plain_response_least_level_fault_2 : ~ least_level (fun k T => 2 * T * (number k - 1) / (1 - T) - 1).
Proof.
  intros H. destruct two_rows_fit as (C & T & P). destruct (H 2%nat (2#3) 2 two_rows ltac:(lia) ltac:(lra) C T P) as [K _]. now vm_compute in K.
Qed.
