(** SK, Algorithm 1 is not private: one replaced record changes the number of support vectors, and it goes out.

    A record on a line is a position and a label. The machine has a hard margin; noise on the vectors is left open,
    since no noise on them hides how many they are. *)

From Checked Require Import Base.Numbers Privacy.Parallel.
From Coq Require Import List.
Import ListNotations.

Definition record : Type := (Q * bool)%type.
Definition side (r : record) : Q := if snd r then 1 else -(1).
Definition margin (w b : Q) (r : record) : Q := side r * (w * fst r + b).

(** The hard margin: no smaller weight has every margin at least 1. Support vectors are the records at margin 1. *)
Definition separates (x : list record) (w b : Q) : Prop := forall r, In r x -> 1 <= margin w b r.
Definition hard_margin (x : list record) (w b : Q) : Prop :=
  separates x w b /\ forall w' b', separates x w' b' -> w * w <= w' * w'.
Definition support (x : list record) (w b : Q) : list record := filter (fun r => Qeq_bool (margin w b r) 1) x.

(** A release of any kind, with a chance for each event, from which the number of vectors can be read. *)
Definition law_of {report} (P : (report -> bool) -> Q) : Prop :=
  P (fun _ => true) == 1 /\ P (fun _ => false) == 0 /\ (forall e, 0 <= P e <= 1) /\
  (forall e f, (forall y, e y = f y) -> P e == P f).
Definition shows_number {report} (size : report -> nat) (n : nat) (P : (report -> bool) -> Q) : Prop :=
  law_of P /\ forall e, P (fun y => Nat.eqb (size y) n && e y)%bool == P e.

(** Some pair of neighbours costs δ ≥ [bound t] at every [t], whatever is released besides the number. *)
Definition number_costs (bound : Q -> Q) : Prop :=
  exists x x' w b w' b', replaced x x' /\ hard_margin x w b /\ hard_margin x' w' b' /\
  forall report (size : report -> nat) P P' t delta, 0 <= t ->
  shows_number size (length (support x w b)) P -> shows_number size (length (support x' w' b')) P' ->
  (forall e, P e <= t * P' e + delta) -> bound t <= delta.

Definition three_near : list record := [(0, false); (1, true); (0, false)].
Definition two_near : list record := [(0, false); (1, true); (2, true)].

Lemma three_near_margin : hard_margin three_near 2 (-(1)).
Proof.
  split.
  - intros r H. cbn in H. destruct H as [<-|[<-|[<-|[]]]]; now compute.
  - intros w b S. pose proof (S (0, false) ltac:(cbn; auto)) as A. pose proof (S (1, true) ltac:(cbn; auto)) as B.
    unfold margin, side in A, B. cbn in A, B. assert (2 <= w) by lra. nra.
Qed.

Lemma two_near_margin : hard_margin two_near 2 (-(1)).
Proof.
  split.
  - intros r H. cbn in H. destruct H as [<-|[<-|[<-|[]]]]; now compute.
  - intros w b S. pose proof (S (0, false) ltac:(cbn; auto)) as A. pose proof (S (1, true) ltac:(cbn; auto)) as B.
    unfold margin, side in A, B. cbn in A, B. assert (2 <= w) by lra. nra.
Qed.

Theorem algorithm_1_is_not_private : number_costs (fun _ => 1).
Proof.
  exists three_near, two_near, 2, (-(1)), 2, (-(1)). splits.
  - exists [(0, false); (1, true)], [], (0, false), (2, true). now split.
  - apply three_near_margin.
  - apply two_near_margin.
  - change (length (support three_near 2 (-(1)))) with 3%nat. change (length (support two_near 2 (-(1)))) with 2%nat.
    intros report size P P' t delta T [(One & _ & _ & E) N] [(_ & Zero & _ & E') N'] H.
    specialize (H (fun y => Nat.eqb (size y) 3)).
    assert (A : P (fun y => Nat.eqb (size y) 3) == 1).
    { rewrite <- One, <- (N (fun _ => true)). apply E. intros y. now rewrite Bool.andb_true_r. }
    assert (B : P' (fun y => Nat.eqb (size y) 3) == 0).
    { rewrite <- (N' (fun y => Nat.eqb (size y) 3)), <- Zero. apply E'. intros y.
      destruct (Nat.eqb_spec (size y) 2) as [S|S], (Nat.eqb_spec (size y) 3); [congruence | reflexivity..]. }
    rewrite A, B in H. lra.
Qed.

(** Hence no level at all, for whatever else is released: the printed claim, for every finite odds. *)
Theorem algorithm_1_has_no_level : exists x x' w b w' b',
  replaced x x' /\ hard_margin x w b /\ hard_margin x' w' b' /\
  forall report (size : report -> nat) P P' t, 0 <= t ->
  shows_number size (length (support x w b)) P -> shows_number size (length (support x' w' b')) P' ->
  ~ forall e, P e <= t * P' e.
Proof.
  destruct algorithm_1_is_not_private as (x & x' & w & b & w' & b' & R & M & M' & H).
  exists x, x', w, b, w', b'. splits; try assumption.
  intros report size P P' t T N N' K. specialize (H report size P P' t 0 T N N').
  assert (L : 1 <= 0) by (apply H; intros e; specialize (K e); lra). now compute in L.
Qed.

(** ** Planted faults *)

(** The number alone, without noise. *)
Definition told (n : nat) (e : nat -> bool) : Q := indicator (e n).

Lemma told_shows n : shows_number (fun y => y) n (told n).
Proof.
  unfold shows_number, law_of, told. splits.
  - reflexivity.
  - reflexivity.
  - intros e. destruct (e n); cbn; lra.
  - intros e f H. now rewrite H.
  - intros e. rewrite Nat.eqb_refl. reflexivity.
Qed.

Lemma costs_at_most_one bound t : number_costs bound -> 0 <= t -> bound t <= 1.
Proof.
  intros (x & x' & w & b & w' & b' & _ & _ & _ & H) T.
  apply (H nat (fun y => y) (told (length (support x w b))) (told (length (support x' w' b'))) t 1 T); try apply told_shows.
  intros e. unfold told. destruct (e (length (support x w b))), (e (length (support x' w' b'))); cbn; lra.
Qed.

(** More than δ = 1. *)
Theorem algorithm_1_is_not_private_fault_1 : ~ number_costs (fun _ => 1 + (1#10)).
Proof. intros H. pose proof (costs_at_most_one _ 1 H ltac:(lra)) as K. now compute in K. Qed.

(** A cost that grows with e^ε. *)
Theorem algorithm_1_is_not_private_fault_2 : ~ number_costs (fun t => t).
Proof. intros H. pose proof (costs_at_most_one _ 2 H ltac:(lra)) as K. now compute in K. Qed.

(** Every pair of neighbours with a hard margin. *)
Theorem algorithm_1_is_not_private_fault_3 : ~ forall x x' w b w' b', replaced x x' -> hard_margin x w b -> hard_margin x' w' b' ->
  forall report (size : report -> nat) P P' t delta, 0 <= t ->
  shows_number size (length (support x w b)) P -> shows_number size (length (support x' w' b')) P' ->
  (forall e, P e <= t * P' e + delta) -> 1 <= delta.
Proof.
  intros H. assert (R : replaced two_near two_near) by (exists [(0, false); (1, true)], [], (2, true), (2, true); now split).
  specialize (H two_near two_near 2 (-(1)) 2 (-(1)) R two_near_margin two_near_margin nat (fun y => y) (told 2) (told 2) 1 0
    ltac:(lra) (told_shows 2) (told_shows 2)).
  assert (K : 1 <= 0) by (apply H; intros e; lra). now compute in K.
Qed.

(** ** Where the number is the same: the real level, over the real numbers

    The vectors are [n] coordinates in all, [k] of them vectors; the printed noise has the scale 2/(kε). *)

From Coq Require Import Reals Lra.
From Checked Require Import Privacy.Noise.
Open Scope R_scope.

(** The vectors' level is [factor k ‖change‖₁] times the ε that the noise is made for, and no smaller. *)
Definition level_is (factor : R -> R -> R) : Prop :=
  forall n k e f f' real, 0 < k -> 0 < e ->
  ((forall y, density n (2 / (k * e)) f y <= exp real * density n (2 / (k * e)) f' y) <->
   factor k (distance n f f') * e <= real).

Lemma exp_reflects x y : exp x <= exp y -> x <= y.
Proof. intros H. destruct (Rle_or_lt x y) as [L|L]; [assumption|]. apply exp_up in L. lra. Qed.

Theorem vectors_level : level_is (fun k change => k / 2 * change).
Proof.
  intros n k e f f' real K E. set (b := 2 / (k * e)).
  assert (KE : 0 < k * e) by (apply Rmult_lt_0_compat; assumption).
  assert (B : 0 < b) by (apply Rdiv_lt_0_compat; lra).
  assert (D : distance n f f' / b = k / 2 * distance n f f' * e) by (unfold b; field; lra). split.
  - intros H. specialize (H f). rewrite (laplace_attained n b f f' B) in H.
    apply Rmult_le_reg_r in H; [|apply exp_pos]. apply exp_reflects in H. lra.
  - intros H y. eapply Rle_trans; [exact (laplace_private n b f f' y B)|].
    apply Rmult_le_compat_r; [apply Rlt_le, exp_pos|]. cbv beta. rewrite D.
    destruct H as [H|H]; [left; now apply exp_up | right; now rewrite H].
Qed.

Lemma unit_distance : distance 1 unit origin = 1.
Proof. unfold distance, unit, origin. simpl. replace (1 - 0) with 1 by ring. rewrite Rabs_R1. ring. Qed.

Lemma level_at_four factor : level_is factor -> factor 4 1 = 2.
Proof.
  intros H. pose proof (fun real => H 1%nat 4 1 unit origin real ltac:(lra) ltac:(lra)) as A.
  pose proof (fun real => vectors_level 1%nat 4 1 unit origin real ltac:(lra) ltac:(lra)) as B. rewrite unit_distance in *.
  apply Rle_antisym.
  - apply Rmult_le_reg_r with 1; [lra|]. rewrite (Rmult_1_r 2). apply A, B. lra.
  - pose proof (proj1 (B (factor 4 1 * 1)) (proj2 (A (factor 4 1 * 1)) (Rle_refl _))). lra.
Qed.

(** As printed: ε itself, whatever changes. *)
Theorem vectors_level_fault_1 : ~ level_is (fun _ _ => 1).
Proof. intros H. apply level_at_four in H. lra. Qed.

(** The noise of a single vector. *)
Theorem vectors_level_fault_2 : ~ level_is (fun _ change => change).
Proof. intros H. apply level_at_four in H. lra. Qed.
