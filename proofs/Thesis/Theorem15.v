(** Thesis, Theorem 15: fairer data need not give a fairer classifier. Five people are a counterexample.

    Person 0 is alone in group 0; persons 1 to 4 are group 1. A data set is the list of their labels, a classifier the
    list of its answers; all five can be distinguished, so every list of answers is a classifier of features. *)

From Checked Require Import Base.Numbers.
From Coq Require Import List Bool.
Import ListNotations.

(** The people's groups: [true] is group 1. *)
Definition groups : list bool := [false; true; true; true; true].

Fixpoint count (f : bool -> bool -> bool) (xs ys : list bool) : nat :=
  match xs, ys with x :: xs, y :: ys => (if f x y then 1 else 0) + count f xs ys | _, _ => 0 end%nat.

Definition share_of (a b : nat) : Q := inject_Z (Z.of_nat a) / inject_Z (Z.of_nat b).

(** P(answer = 1 | group), P(answer = 1), accuracy, and the gap of the rates: Δ′ of labels, Δ_SP of answers. *)
Definition group_rate (g : bool) (answers : list bool) : Q :=
  share_of (count (fun a b => Bool.eqb a g && b) groups answers) (count (fun a _ => Bool.eqb a g) groups groups).
Definition gap (answers : list bool) : Q := Qabs (group_rate false answers - group_rate true answers).
Definition selected (answers : list bool) : nat := count (fun a _ => a) answers answers.
Definition accuracy (labels answers : list bool) : Q := share_of (count Bool.eqb labels answers) (length labels).

(** A classifier that keeps P(Y = 1) is DA-optimal if no other one is as accurate and as fair, and better in one. *)
Definition keeps (labels answers : list bool) : Prop :=
  length answers = length labels /\ selected answers = selected labels.
Definition dominates (labels better worse : list bool) : Prop :=
  accuracy labels worse <= accuracy labels better /\ gap better <= gap worse /\
  (accuracy labels worse < accuracy labels better \/ gap better < gap worse).
Definition da_optimal (labels answers : list bool) : Prop :=
  keeps labels answers /\ forall other, keeps labels other -> ~ dominates labels other answers.

(** The theorem for these five people, with a relation [order] of the two gaps of classifiers. *)
Definition theorem_15_for_five (order : Q -> Q -> Prop) : Prop :=
  forall p q h_p h_q, length p = 5%nat -> length q = 5%nat -> gap p <= gap q ->
  da_optimal p h_p -> da_optimal q h_q -> accuracy p h_p == accuracy q h_q -> order (gap h_p) (gap h_q).

(** *** All lists of five answers *)
Fixpoint all_lists (n : nat) : list (list bool) :=
  match n with
  | O => [[]]
  | S m => map (cons true) (all_lists m) ++ map (cons false) (all_lists m)
  end.

Lemma all_lists_all n l : length l = n -> In l (all_lists n).
Proof.
  revert l. induction n as [|n IH]; intros l H.
  - destruct l; [now left | discriminate].
  - destruct l as [|b l]; [discriminate|]. cbn. apply in_or_app. injection H as H.
    destruct b; [left|right]; apply in_map; now apply IH.
Qed.

Definition keeps_b (labels answers : list bool) : bool := Nat.eqb (selected answers) (selected labels).
Definition dominates_b (labels better worse : list bool) : bool :=
  Qle_bool (accuracy labels worse) (accuracy labels better) && Qle_bool (gap better) (gap worse) &&
  (below (accuracy labels worse) (accuracy labels better) || below (gap better) (gap worse)).

Definition optimal_b (labels answers : list bool) : bool :=
  keeps_b labels answers &&
  forallb (fun other => negb (keeps_b labels other && dominates_b labels other answers)) (all_lists 5).

Lemma below_iff x y : below x y = true <-> x < y.
Proof. destruct (below_cases x y) as [[H ->]|[H ->]]; split; intros; try lra; congruence. Qed.

Lemma dominates_iff l a b : dominates_b l a b = true <-> dominates l a b.
Proof.
  unfold dominates_b, dominates. rewrite !andb_true_iff, orb_true_iff, !Qle_bool_iff, !below_iff. tauto.
Qed.

Lemma optimal_iff labels answers : length labels = 5%nat -> length answers = 5%nat ->
  (optimal_b labels answers = true <-> da_optimal labels answers).
Proof.
  intros L A. unfold optimal_b, da_optimal, keeps. rewrite andb_true_iff, forallb_forall.
  unfold keeps_b. rewrite Nat.eqb_eq. split.
  - intros [K F]. split; [split; congruence|]. intros other [Ho Hs] D.
    specialize (F other (all_lists_all 5 other ltac:(congruence))).
    apply dominates_iff in D. rewrite D in F. apply Nat.eqb_eq in Hs. rewrite Hs in F. discriminate.
  - intros [[_ K] F]. split; [assumption|]. intros other In. destruct (Nat.eqb (selected other) (selected labels)) eqn:E; [|reflexivity].
    destruct (dominates_b labels other answers) eqn:D; [|reflexivity]. exfalso.
    apply Nat.eqb_eq in E. apply dominates_iff in D. apply (F other); [|assumption]. split; [|assumption].
    assert (G : forall n l, List.In l (all_lists n) -> length l = n).
    { induction n as [|n IH]; cbn; intros l H; [destruct H as [<-|[]]; reflexivity|].
      apply in_app_or in H. destruct H as [H|H]; apply in_map_iff in H; destruct H as (x & <- & Hx); cbn; f_equal; now apply IH. }
    rewrite (G 5%nat other In). congruence.
Qed.

Definition labels_p : list bool := [false; true; true; true; false].
Definition labels_q : list bool := [false; true; true; true; true].
Definition answers_p : list bool := [true; true; true; false; false].
Definition answers_q : list bool := [true; true; true; true; false].

(** The data P are fairer, both classifiers are optimal and equally accurate, and that of P has the larger gap. *)
Theorem theorem_15_counterexample :
  gap labels_p < gap labels_q /\ da_optimal labels_p answers_p /\ da_optimal labels_q answers_q /\
  accuracy labels_p answers_p == accuracy labels_q answers_q /\ gap answers_q < gap answers_p.
Proof.
  splits; try now vm_compute.
  - apply optimal_iff; now vm_compute.
  - apply optimal_iff; now vm_compute.
Qed.

Theorem theorem_15_fails : ~ theorem_15_for_five Qle.
Proof.
  intros H. destruct theorem_15_counterexample as (G & P & Q & A & W).
  specialize (H labels_p labels_q answers_p answers_q eq_refl eq_refl (Qlt_le_weak _ _ G) P Q A). lra.
Qed.

(** ** Planted faults: of the counterexample, not of the theorem, which is false *)

(** That the order is always turned. *)
Theorem theorem_15_fault_1 : ~ theorem_15_for_five (fun g_p g_q => g_q <= g_p).
Proof.
  intros H. specialize (H labels_p labels_q labels_p labels_q eq_refl eq_refl).
  assert (P : da_optimal labels_p labels_p) by (apply optimal_iff; now vm_compute).
  assert (Q : da_optimal labels_q labels_q) by (apply optimal_iff; now vm_compute).
  specialize (H ltac:(now vm_compute) P Q ltac:(now vm_compute)). now vm_compute in H.
Qed.

(** That the two gaps are always equal. *)
Theorem theorem_15_fault_2 : ~ theorem_15_for_five Qeq.
Proof.
  intros H. destruct theorem_15_counterexample as (G & P & Q & A & W).
  specialize (H labels_p labels_q answers_p answers_q eq_refl eq_refl (Qlt_le_weak _ _ G) P Q A). lra.
Qed.
