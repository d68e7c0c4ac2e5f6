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

(** Five people by whom the order of the gaps is turned, by at least [by_how_much], at the accuracy [at_accuracy]. *)
Definition turned_for_five (at_accuracy by_how_much : Q) : Prop :=
  exists p q h_p h_q, length p = 5%nat /\ length q = 5%nat /\ gap p < gap q /\
  da_optimal p h_p /\ da_optimal q h_q /\ accuracy p h_p == at_accuracy /\ accuracy q h_q == at_accuracy /\
  gap h_q + by_how_much <= gap h_p.

Theorem theorem_15_fails : turned_for_five (3#5) (1#4).
Proof.
  destruct theorem_15_counterexample as (G & P & Q & _). exists labels_p, labels_q, answers_p, answers_q.
  splits; try assumption; now vm_compute.
Qed.

(** So the theorem is false for these five people. *)
Theorem theorem_15_is_false : ~ theorem_15_for_five Qle.
Proof.
  intros H. destruct theorem_15_counterexample as (G & P & Q & A & W).
  specialize (H labels_p labels_q answers_p answers_q eq_refl eq_refl (Qlt_le_weak _ _ G) P Q A). lra.
Qed.

(** ** With one class for both, as printed: labels with noise

    Points [i] below [n] have weights, groups and chances of label 1; both populations share weights and groups. *)
Record population := { points : nat; weight : nat -> Q; in_group : nat -> bool }.

Definition mean_over (s : population) (f : nat -> Q) : Q := sum (points s) (fun i => weight s i * f i).
Definition rate_within (s : population) (g : bool) (f : nat -> Q) : Q :=
  mean_over s (fun i => indicator (Bool.eqb (in_group s i) g) * f i) / mean_over s (fun i => indicator (Bool.eqb (in_group s i) g)).
Definition gap_of (s : population) (f : nat -> Q) : Q := Qabs (rate_within s false f - rate_within s true f).
Definition chosen (h : nat -> bool) (i : nat) : Q := indicator (h i).
Definition right_share (s : population) (r : nat -> Q) (h : nat -> bool) : Q :=
  mean_over s (fun i => if h i then r i else 1 - r i).

(** DA-optimal among the classifiers with P(Ŷ = 1) = P(Y = 1). *)
Definition in_class (s : population) (r : nat -> Q) (h : nat -> bool) : Prop := mean_over s (chosen h) == mean_over s r.
Definition better (s : population) (r : nat -> Q) (o h : nat -> bool) : Prop :=
  right_share s r h <= right_share s r o /\ gap_of s (chosen o) <= gap_of s (chosen h) /\
  (right_share s r h < right_share s r o \/ gap_of s (chosen o) < gap_of s (chosen h)).
Definition optimal_in_class (s : population) (r : nat -> Q) (h : nat -> bool) : Prop :=
  in_class s r h /\ forall o, in_class s r o -> ~ better s r o h.

Definition proper (s : population) : Prop :=
  distribution (points s) (weight s) /\ forall g, 0 < mean_over s (fun i => indicator (Bool.eqb (in_group s i) g)).
Definition label_chances (s : population) (r : nat -> Q) : Prop := forall i, (i < points s)%nat -> 0 <= r i <= 1.

(** The first data are fairer, and their optimal classifier has the larger gap, by [by_how_much], at one accuracy. *)
Definition turned_in_one_class (at_accuracy by_how_much : Q) : Prop :=
  exists s p q h_p h_q, proper s /\ label_chances s p /\ label_chances s q /\ mean_over s p == mean_over s q /\
  gap_of s p < gap_of s q /\ optimal_in_class s p h_p /\ optimal_in_class s q h_q /\
  right_share s p h_p == at_accuracy /\ right_share s q h_q == at_accuracy /\
  gap_of s (chosen h_q) + by_how_much <= gap_of s (chosen h_p).

(** Six points of one weight, three in each group; in group 1 label 1 has the chance [a], in group 0 [1 - a]. *)
Definition six : population := {| points := 6; weight := fun _ => 1#6; in_group := fun i => Nat.leb 3 i |}.
Definition noisy_labels (a : Q) (i : nat) : Q := if Nat.leb 3 i then a else 1 - a.
Definition all_of_one (i : nat) : bool := Nat.leb 3 i.
Definition two_and_one (i : nat) : bool := Nat.leb 2 i && Nat.leb i 4.

(** In this class the gap decides the accuracy: so each classifier that favours group 1 is optimal. *)
Lemma six_values h : mean_over six (chosen h) == 1#2 ->
  (forall a, right_share six (noisy_labels a) h == (1#2) + (1#2) * (2 * a - 1) * (rate_within six true (chosen h) - rate_within six false (chosen h))).
Proof.
  intros K a.
  unfold right_share, rate_within, mean_over, chosen, six, noisy_labels in *. cbn in *.
  destruct (h 0%nat), (h 1%nat), (h 2%nat), (h 3%nat), (h 4%nat), (h 5%nat); cbn in *; try (now vm_compute in K); field.
Qed.

Lemma six_gap h : gap_of six (chosen h) == Qabs (rate_within six true (chosen h) - rate_within six false (chosen h)).
Proof. unfold gap_of. rewrite <- Qabs_opp. setoid_replace (- (rate_within six false (chosen h) - rate_within six true (chosen h)))
  with (rate_within six true (chosen h) - rate_within six false (chosen h)) by ring. reflexivity. Qed.

Lemma six_optimal a h : (1#2) < a -> mean_over six (noisy_labels a) == 1#2 -> mean_over six (chosen h) == 1#2 ->
  0 <= rate_within six true (chosen h) - rate_within six false (chosen h) -> optimal_in_class six (noisy_labels a) h.
Proof.
  intros A M K D. split; [unfold in_class; now rewrite K, M|]. intros o In. unfold in_class in In. rewrite M in In.
  unfold better. rewrite !six_gap, (six_values h K a), (six_values o In a), (Qabs_pos _ D).
  set (d := rate_within six true (chosen h) - _) in *. set (e := rate_within six true (chosen o) - _) in *. clearbody d e.
  intros (R & G & S). pose proof (abs_ge e).
  assert (T : 0 < (1#2) * (2 * a - 1)) by lra.
  assert (e == d) by nra. destruct S as [S|S]; [nra|]. rewrite Qabs_pos in S by lra. lra.
Qed.

Lemma noisy_mean a : mean_over six (noisy_labels a) == 1#2.
Proof. unfold mean_over, six, noisy_labels. cbn. field. Qed.

Theorem theorem_15_one_class : turned_in_one_class (2#3) (2#3).
Proof.
  exists six, (noisy_labels (2#3)), (noisy_labels 1), all_of_one, two_and_one. splits.
  - split; [split; [intros; cbn; lra | now vm_compute] | intros [|]; now vm_compute].
  - intros i _. unfold noisy_labels. destruct (Nat.leb 3 i); lra.
  - intros i _. unfold noisy_labels. destruct (Nat.leb 3 i); lra.
  - rewrite !noisy_mean. reflexivity.
  - now vm_compute.
  - apply six_optimal; [lra | apply noisy_mean | now vm_compute | now vm_compute].
  - apply six_optimal; [lra | apply noisy_mean | now vm_compute | now vm_compute].
  - now vm_compute.
  - now vm_compute.
  - now vm_compute.
Qed.

(** ** Planted faults *)

Lemma all_right labels answers : length labels = 5%nat -> length answers = 5%nat -> accuracy labels answers == 1 ->
  gap labels == gap answers.
Proof.
  intros L A E.
  assert (C : forallb (fun l => forallb (fun a => negb (Qeq_bool (accuracy l a) 1) || Qeq_bool (gap l) (gap a)) (all_lists 5)) (all_lists 5) = true)
    by now vm_compute.
  rewrite forallb_forall in C. specialize (C labels (all_lists_all 5 labels L)). rewrite forallb_forall in C.
  specialize (C answers (all_lists_all 5 answers A)). apply Qeq_bool_iff in E. rewrite E in C. now apply Qeq_bool_iff.
Qed.

(** All optimal classifiers of this accuracy for these people, with the gaps of the data and of the classifier. *)
Definition optimal_gaps : list (Q * Q) :=
  flat_map (fun l => map (fun a => (gap l, gap a))
    (filter (fun a => Qeq_bool (accuracy l a) (3#5) && optimal_b l a) (all_lists 5))) (all_lists 5).

Lemma optimal_gaps_all labels answers : length labels = 5%nat -> da_optimal labels answers -> accuracy labels answers == 3#5 ->
  In (gap labels, gap answers) optimal_gaps.
Proof.
  intros L O A. assert (K : length answers = 5%nat) by (destruct O as [[K _] _]; congruence).
  apply in_flat_map. exists labels. split; [now apply all_lists_all|]. apply in_map_iff. exists answers. split; [reflexivity|].
  apply filter_In. split; [now apply all_lists_all|]. apply andb_true_iff. split; [now apply Qeq_bool_iff|]. now apply optimal_iff.
Qed.

(** By a little more than a quarter: gaps of one size fit it, but none of classifiers that are optimal. *)
Theorem theorem_15_fails_fault_1 : ~ turned_for_five (3#5) (31#100).
Proof.
  intros (p & q & h & o & P & Q & G & H & O & A & B & T).
  assert (C : forallb (fun x => forallb (fun y => negb (below (fst x) (fst y) && Qle_bool (snd y + (31#100)) (snd x))) optimal_gaps)
                optimal_gaps = true) by now vm_compute.
  rewrite forallb_forall in C. specialize (C _ (optimal_gaps_all p h P H A)). rewrite forallb_forall in C.
  specialize (C _ (optimal_gaps_all q o Q O B)). cbn [fst snd] in C.
  apply below_iff in G. apply Qle_bool_iff in T. rewrite G, T in C. discriminate.
Qed.

(** By classifiers without an error. *)
Theorem theorem_15_fails_fault_2 : ~ turned_for_five 1 (1#4).
Proof.
  intros (p & q & h & o & P & Q & G & ((H & _) & _) & ((O & _) & _) & A & B & T).
  pose proof (all_right p h P ltac:(congruence) A). pose proof (all_right q o Q ltac:(congruence) B). lra.
Qed.

Lemma no_error s r h : proper s -> label_chances s r -> right_share s r h == 1 -> gap_of s r == gap_of s (chosen h).
Proof.
  intros [[W One] _] R E.
  assert (Z : forall i, (i < points s)%nat -> weight s i * r i == weight s i * chosen h i).
  { intros i Hi.
    assert (N : forall j, (j < points s)%nat -> 0 <= weight s j * (1 - (if h j then r j else 1 - r j))).
    { intros j Hj. apply mul_nonneg; [now apply W|]. destruct (R j Hj), (h j); lra. }
    pose proof (sum_term (points s) _ i N Hi) as T. cbv beta in T. specialize (N i Hi).
    assert (S : sum (points s) (fun j => weight s j * (1 - (if h j then r j else 1 - r j))) == 0).
    { rewrite (sum_ext _ _ (fun j => weight s j - weight s j * (if h j then r j else 1 - r j))) by (intros; ring).
      rewrite sum_minus, One. fold (right_share s r h) in *. unfold right_share, mean_over in E. rewrite E. ring. }
    unfold chosen. destruct (h i); cbn; lra. }
  unfold gap_of, rate_within.
  assert (Eq : forall g, mean_over s (fun i => indicator (Bool.eqb (in_group s i) g) * r i) ==
                         mean_over s (fun i => indicator (Bool.eqb (in_group s i) g) * chosen h i)).
  { intros g. apply sum_ext. intros i Hi. specialize (Z i Hi). destruct (Bool.eqb (in_group s i) g); cbn; lra. }
  rewrite !Eq. reflexivity.
Qed.

(** A classifier that is always wrong has the labels' gap, as their opposite has. *)
Lemma always_wrong s r h : proper s -> label_chances s r -> right_share s r h == 0 -> gap_of s r == gap_of s (chosen h).
Proof.
  intros S R E. destruct S as [[W One] G].
  assert (Z : forall i, (i < points s)%nat -> weight s i * r i == weight s i * (1 - chosen h i)).
  { intros i Hi.
    assert (N : forall j, (j < points s)%nat -> 0 <= weight s j * (if h j then r j else 1 - r j)).
    { intros j Hj. apply mul_nonneg; [now apply W|]. destruct (R j Hj), (h j); lra. }
    pose proof (sum_term (points s) _ i N Hi) as T. cbv beta in T. specialize (N i Hi).
    unfold right_share, mean_over in E. rewrite E in T. unfold chosen. destruct (h i); cbn; lra. }
  assert (Rate : forall g, rate_within s g r == 1 - rate_within s g (chosen h)).
  { intros g. unfold rate_within. specialize (G g). set (d := mean_over s (fun i => indicator (Bool.eqb (in_group s i) g))) in *.
    assert (Eq : mean_over s (fun i => indicator (Bool.eqb (in_group s i) g) * r i) ==
                 d - mean_over s (fun i => indicator (Bool.eqb (in_group s i) g) * chosen h i)).
    { unfold d, mean_over. rewrite <- sum_minus. apply sum_ext. intros i Hi. cbv beta. specialize (Z i Hi).
      destruct (Bool.eqb (in_group s i) g); cbn; lra. }
    rewrite Eq. field. lra. }
  unfold gap_of. rewrite !Rate, <- Qabs_opp.
  setoid_replace (- (1 - rate_within s false (chosen h) - (1 - rate_within s true (chosen h))))
    with (rate_within s false (chosen h) - rate_within s true (chosen h)) by ring. reflexivity.
Qed.

(** By classifiers that are always wrong. *)
Theorem theorem_15_one_class_fault_1 : ~ turned_in_one_class 0 (2#3).
Proof.
  intros (s & p & q & h & o & S & P & Q & _ & G & _ & _ & A & B & T).
  pose proof (always_wrong s p h S P A). pose proof (always_wrong s q o S Q B). lra.
Qed.

(** By classifiers without an error. *)
Theorem theorem_15_one_class_fault_2 : ~ turned_in_one_class 1 (2#3).
Proof.
  intros (s & p & q & h & o & S & P & Q & _ & G & _ & _ & A & B & T).
  pose proof (no_error s p h S P A). pose proof (no_error s q o S Q B). lra.
Qed.
