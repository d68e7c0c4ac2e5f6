(** ISIT, Theorem 2: Algorithm 1 reaches parity with the fewest changes; and all classifiers that do. *)

From Checked Require Import Base.Numbers ISIT.Proposition1.

(** Algorithm 1 moves both groups to a common rate [r] between their rates; printed is the midpoint. *)
Definition algorithm_1_is_optimal (common : Q -> Q -> Q) (changes : Q -> Q -> Q) : Prop :=
  forall n w0 w1 h0 h1,
  distribution n w0 -> distribution n w1 -> classifier n h0 -> classifier n h1 ->
  let alpha := rate n w0 h0 in let beta := rate n w1 h1 in let r := common alpha beta in
  let c0 := moved_to n w0 h0 r in let c1 := moved_to n w1 h1 r in
  new_rate n w0 c0 == new_rate n w1 c1 /\
  changed n w0 c0 + changed n w1 c1 == changes alpha beta /\
  forall d0 d1, valid n d0 -> valid n d1 ->
    old_rate n w0 d0 == alpha -> old_rate n w1 d1 == beta ->
    new_rate n w0 d0 == new_rate n w1 d1 ->
    changed n w0 c0 + changed n w1 c1 <= changed n w0 d0 + changed n w1 d1.

(** Every common rate between the two does; the midpoint is one of them. *)
Theorem theorem_2 : forall step, 0 <= step <= 1 ->
  algorithm_1_is_optimal (fun a b => b + step * (a - b)) (fun a b => Qabs (a - b)).
Proof.
  intros step S n w0 w1 h0 h1 D0 D1 H0 H1 alpha beta r c0 c1.
  pose proof (rate_in_range n w0 h0 D0 H0) as A. pose proof (rate_in_range n w1 h1 D1 H1) as B.
  fold alpha in A. fold beta in B.
  assert (R : 0 <= r <= 1) by (unfold r; nra).
  destruct (moved_to_reaches n w0 h0 r D0 H0 R) as (V0 & O0 & N0 & C0).
  destruct (moved_to_reaches n w1 h1 r D1 H1 R) as (V1 & O1 & N1 & C1).
  assert (C : changed n w0 c0 + changed n w1 c1 == Qabs (alpha - beta)).
  { unfold c0, c1. rewrite C0, C1. fold alpha beta.
    assert (E0 : alpha - r == (1 - step) * (alpha - beta)) by (unfold r; ring).
    assert (E1 : beta - r == - step * (alpha - beta)) by (unfold r; ring).
    rewrite E0, E1, !Qabs_Qmult, Qabs_opp, (Qabs_pos step), (Qabs_pos (1 - step)) by lra. ring. }
  splits; [unfold c0, c1; now rewrite N0, N1 | exact C |].
  intros d0 d1 W0 W1 E0 E1 G. rewrite C.
  pose proof (proposition_1 n w0 w1 d0 d1 0 D0 D1 W0 W1) as P. unfold change_lower_bound in P.
  rewrite E0, E1 in P.
  assert (Z : Qabs (new_rate n w0 d0 - new_rate n w1 d1) <= 0).
  { setoid_replace (new_rate n w0 d0 - new_rate n w1 d1) with 0 by (rewrite G; ring). now compute. }
  specialize (P Z). lra.
Qed.

(** The printed algorithm: the midpoint. *)
Theorem theorem_2_as_printed :
  algorithm_1_is_optimal (fun a b => b + (1#2) * (a - b)) (fun a b => Qabs (a - b)).
Proof. apply (theorem_2 (1#2)). lra. Qed.

(** ** All optima

    [before] and [after] are the chances of a 1 at each point; a point counts with [|after - before|]. *)
Definition change (n : nat) (w before after : nat -> Q) : Q := sum n (fun i => w i * Qabs (after i - before i)).

Definition optimal (n : nat) (w0 w1 b0 b1 a0 a1 : nat -> Q) : Prop :=
  rate n w0 a0 == rate n w1 a1 /\
  change n w0 b0 a0 + change n w1 b1 a1 == Qabs (rate n w0 b0 - rate n w1 b1).

(** [dpfair_lib.central.least_change.is_least_change]: [lower w b a] says that nobody is promoted. *)
Definition never_raised (n : nat) (w b a : nat -> Q) : Prop := forall i, (i < n)%nat -> 0 < w i -> a i <= b i.
Definition never_lowered (n : nat) (w b a : nat -> Q) : Prop := forall i, (i < n)%nat -> 0 < w i -> b i <= a i.

Definition structure (n : nat) (w0 w1 b0 b1 a0 a1 : nat -> Q) : Prop :=
  rate n w0 a0 == rate n w1 a1 /\ never_raised n w0 b0 a0 /\ never_lowered n w1 b1 a1.

Lemma excess_down n w b a : distribution n w ->
  change n w b a == rate n w b - rate n w a + sum n (fun i => 2 * w i * Qmax (a i - b i) 0).
Proof.
  intros D. unfold change, rate. rewrite <- sum_minus, <- sum_plus. apply sum_ext. intros i _.
  destruct (Qlt_le_dec (b i) (a i)); [rewrite Qabs_pos, Q.max_l by lra | rewrite Qabs_neg, Q.max_r by lra]; ring.
Qed.

Lemma excess_up n w b a : distribution n w ->
  change n w b a == rate n w a - rate n w b + sum n (fun i => 2 * w i * Qmax (b i - a i) 0).
Proof.
  intros D. unfold change, rate. rewrite <- sum_minus, <- sum_plus. apply sum_ext. intros i _.
  destruct (Qlt_le_dec (a i) (b i)); [rewrite Qabs_neg, Q.max_l by lra | rewrite Qabs_pos, Q.max_r by lra]; ring.
Qed.

Lemma sum_zero_iff n f : (forall i, (i < n)%nat -> 0 <= f i) ->
  (sum n f == 0 <-> forall i, (i < n)%nat -> f i == 0).
Proof.
  intros H. split.
  - intros S i Hi. pose proof (sum_term n f i H Hi). specialize (H i Hi). lra.
  - intros Z. rewrite <- (sum_zero n). now apply sum_ext.
Qed.

Lemma excess_nonneg n w f : distribution n w -> forall i, (i < n)%nat -> 0 <= 2 * w i * Qmax (f i) 0.
Proof.
  intros [Hw _] i Hi. specialize (Hw i Hi). pose proof (Q.le_max_r (f i) 0). nra.
Qed.

Lemma no_excess n w f : distribution n w ->
  (sum n (fun i => 2 * w i * Qmax (f i) 0) == 0 <-> forall i, (i < n)%nat -> 0 < w i -> f i <= 0).
Proof.
  intros D. rewrite sum_zero_iff by now apply excess_nonneg. destruct D as [Hw _].
  split; intros H i Hi; specialize (H i Hi); specialize (Hw i Hi).
  - intros P. cases_abs; nra.
  - destruct (Qlt_le_dec 0 (w i)) as [P|P].
    + specialize (H P). cases_abs; nra.
    + assert (E : w i == 0) by lra. rewrite E. ring.
Qed.

(** For α ≥ β: optimal exactly if the rates agree, the higher group only falls, the lower only rises. *)
Definition all_optima (form : nat -> (nat -> Q) -> (nat -> Q) -> (nat -> Q) -> (nat -> Q) -> (nat -> Q) -> (nat -> Q) -> Prop) : Prop :=
  forall n w0 w1 b0 b1 a0 a1,
  distribution n w0 -> distribution n w1 ->
  classifier n b0 -> classifier n b1 -> classifier n a0 -> classifier n a1 ->
  rate n w1 b1 <= rate n w0 b0 ->
  (optimal n w0 w1 b0 b1 a0 a1 <-> form n w0 w1 b0 b1 a0 a1).

Theorem theorem_2_all_optima : all_optima structure.
Proof.
  intros n w0 w1 b0 b1 a0 a1 D0 D1 _ _ _ _ Hle. unfold optimal, structure.
  rewrite (excess_down n w0 b0 a0 D0), (excess_up n w1 b1 a1 D1), (Qabs_pos (_ - _)) by lra.
  pose proof (sum_nonneg n _ (excess_nonneg n w0 (fun i => a0 i - b0 i) D0)) as P0.
  pose proof (sum_nonneg n _ (excess_nonneg n w1 (fun i => b1 i - a1 i) D1)) as P1.
  pose proof (no_excess n w0 (fun i => a0 i - b0 i) D0) as N0.
  pose proof (no_excess n w1 (fun i => b1 i - a1 i) D1) as N1.
  cbv beta in *. unfold never_raised, never_lowered.
  set (s0 := sum n (fun i => 2 * w0 i * Qmax (a0 i - b0 i) 0)) in *.
  set (s1 := sum n (fun i => 2 * w1 i * Qmax (b1 i - a1 i) 0)) in *.
  split.
  - intros [E C]. splits; [exact E| |].
    + assert (Z : s0 == 0) by lra. intros i Hi W. pose proof (proj1 N0 Z i Hi W). lra.
    + assert (Z : s1 == 0) by lra. intros i Hi W. pose proof (proj1 N1 Z i Hi W). lra.
  - intros (E & R & L). split; [exact E|].
    assert (Z0 : s0 == 0). { apply (proj2 N0). intros i Hi W. specialize (R i Hi W). lra. }
    assert (Z1 : s1 == 0). { apply (proj2 N1). intros i Hi W. specialize (L i Hi W). lra. }
    lra.
Qed.

(** Their common rate lies between the two old ones. *)
Theorem theorem_2_common_rate : forall n w0 w1 b0 b1 a0 a1,
  distribution n w0 -> distribution n w1 -> structure n w0 w1 b0 b1 a0 a1 ->
  rate n w1 b1 <= rate n w0 a0 <= rate n w0 b0.
Proof.
  intros n w0 w1 b0 b1 a0 a1 [H0 _] [H1 _] (E & R & L). split.
  - rewrite E. apply sum_le. intros i Hi. specialize (H1 i Hi).
    destruct (Qlt_le_dec 0 (w1 i)) as [P|P]; [specialize (L i Hi P); nra|].
    assert (Z : w1 i == 0) by lra. rewrite Z. lra.
  - apply sum_le. intros i Hi. specialize (H0 i Hi).
    destruct (Qlt_le_dec 0 (w0 i)) as [P|P]; [specialize (R i Hi P); nra|].
    assert (Z : w0 i == 0) by lra. rewrite Z. lra.
Qed.

(** ** Planted faults *)

(** Twice the distance of the rates for the changes. *)
Theorem theorem_2_fault_1 :
  ~ algorithm_1_is_optimal (fun a b => b + (1#2) * (a - b)) (fun a b => 2 * Qabs (a - b)).
Proof.
  intros H. destruct (H 1%nat one_point one_point (fun _ => 1) (fun _ => 0)) as (_ & C & _);
    try one_point_facts; now compute in C.
Qed.

(** A common rate beyond both rates. *)
Theorem theorem_2_fault_2 :
  ~ algorithm_1_is_optimal (fun a b => a / (2#1)) (fun a b => Qabs (a - b)).
Proof.
  intros H. destruct (H 1%nat one_point one_point (fun _ => 1#2) (fun _ => 1#2)) as (_ & C & _);
    try one_point_facts; now compute in C.
Qed.

(** Only the common rate is asked for. *)
Theorem theorem_2_all_optima_fault_1 :
  ~ all_optima (fun n w0 w1 _ _ a0 a1 => rate n w0 a0 == rate n w1 a1).
Proof.
  intros H.
  destruct (H 1%nat one_point one_point (fun _ => 0) (fun _ => 0) (fun _ => 1) (fun _ => 1)) as [_ K];
    try one_point_facts.
  destruct K as [_ C]; [now compute | now compute in C].
Qed.

(** The lower group may only fall, too. *)
Theorem theorem_2_all_optima_fault_2 :
  ~ all_optima (fun n w0 w1 b0 b1 a0 a1 =>
      rate n w0 a0 == rate n w1 a1 /\ never_raised n w0 b0 a0 /\ never_raised n w1 b1 a1).
Proof.
  intros H.
  destruct (H 1%nat one_point one_point (fun _ => 1) (fun _ => 0) (fun _ => 1#2) (fun _ => 1#2)) as [K _];
    try one_point_facts.
  destruct K as (_ & _ & C); [split; now compute|].
  specialize (C 0%nat ltac:(lia) ltac:(now compute)). now compute in C.
Qed.
