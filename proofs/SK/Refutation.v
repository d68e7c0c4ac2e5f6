(** SK, Algorithm 1 is not private: one replaced record changes the number of support vectors, and it goes out.

    A record on a line is a position and a label. The machine has a hard margin; noise on the vectors is left open,
    since no noise on them hides how many they are. *)

From Checked Require Import Base.Numbers Privacy.Channels Privacy.Parallel.
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

(** ** A alone: predictions and support vectors do not depend on A, and still the program shows whose A was changed

    A person has a group, a prediction and a label. The program's rates are those of the people, its cells have any
    noise, and the limit is γ = 0. *)
Definition person : Type := (bool * bool * bool)%type.
Definition tally (f : person -> bool) (x : list person) : Q := number (length (filter f x)).

(** P(prediction = 1 | group, label), and the rate of answers 1 under a rule. *)
Definition hits (x : list person) (a y : bool) : Q :=
  tally (fun r => Bool.eqb (fst (fst r)) a && Bool.eqb (snd r) y && snd (fst r)) x /
  tally (fun r => Bool.eqb (fst (fst r)) a && Bool.eqb (snd r) y) x.
Definition answer_rate (x : list person) (p : bool -> bool -> Q) (a y : bool) : Q :=
  hits x a y * p a true + (1 - hits x a y) * p a false.

Definition allowed (x : list person) (p : bool -> bool -> Q) : Prop :=
  (forall a h, 0 <= p a h <= 1) /\ forall y, answer_rate x p false y == answer_rate x p true y.
Definition errors_of (x : list person) (c p : bool -> bool -> Q) : Q :=
  c false false * answer_rate x p false false + c false true * (1 - answer_rate x p false true) +
  (c true false * answer_rate x p true false + c true true * (1 - answer_rate x p true true)).
Definition optimum_of (x : list person) (c p : bool -> bool -> Q) : Prop :=
  allowed x p /\ forall o, allowed x o -> errors_of x c p <= errors_of x c o.

(** Each outcome [i] of the noise has noisy cells [c i], and one of their optima goes out. *)
Definition releases (x : list person) (n : nat) (w : nat -> Q) (c p : nat -> bool -> bool -> Q) : Prop :=
  distribution n w /\ forall i, (i < n)%nat -> optimum_of x (c i) (p i).
Definition near_quarters (c : bool -> bool -> Q) : bool :=
  Qle_bool (Qabs (c false false - (1#4))) (1#8) && Qle_bool (Qabs (c false true - (1#4))) (1#8) &&
  Qle_bool (Qabs (c true false - (1#4))) (1#8) && Qle_bool (Qabs (c true true - (1#4))) (1#8).

(** One person's group is another one. *)
Definition regrouped (x x' : list person) : Prop :=
  exists l r a h y, x = l ++ (a, h, y) :: r /\ x' = l ++ (negb a, h, y) :: r.

(** Forty people: all predictions are right but one, and that person changes the group. *)
Definition thirty_nine : list person :=
  repeat (false, false, false) 10 ++ repeat (false, true, true) 10 ++ repeat (true, false, false) 9 ++ repeat (true, true, true) 10.
Definition forty : list person := thirty_nine ++ [(true, true, false)].
Definition forty_regrouped : list person := thirty_nine ++ [(false, true, false)].

(** δ is at least [bound] of the chance that all noisy cells are within 1/8 of a quarter, for every ε and any noise. *)
Definition group_costs (bound : Q -> Q) : Prop :=
  regrouped forty forty_regrouped /\ forall n w c p n' w' c' p' t delta, 0 <= t ->
  releases forty n w c p -> releases forty_regrouped n' w' c' p' ->
  (forall event : (bool -> bool -> Q) -> bool,
     sum n (fun i => w i * indicator (event (p i))) <= t * sum n' (fun i => w' i * indicator (event (p' i))) + delta) ->
  bound (sum n (fun i => w i * indicator (near_quarters (c i)))) <= delta.

Definition reveals (p : bool -> bool -> Q) : bool :=
  Qeq_bool (answer_rate forty p false false) (answer_rate forty p true false) &&
  Qeq_bool (answer_rate forty p false true) (answer_rate forty p true true) &&
  negb (Qeq_bool (p false false) (p false true) && Qeq_bool (p true false) (p true true) && Qeq_bool (p false false) (p true true)).

Lemma rates_of_forty p : answer_rate forty p false false == p false false /\ answer_rate forty p false true == p false true /\
  answer_rate forty p true false == (1#10) * p true true + (9#10) * p true false /\ answer_rate forty p true true == p true true.
Proof.
  assert (A : hits forty false false == 0) by now vm_compute. assert (B : hits forty false true == 1) by now vm_compute.
  assert (C : hits forty true false == 1#10) by now vm_compute. assert (D : hits forty true true == 1) by now vm_compute.
  unfold answer_rate. rewrite A, B, C, D. splits; ring.
Qed.

Lemma rates_of_forty_regrouped p :
  answer_rate forty_regrouped p false false == (1#11) * p false true + (10#11) * p false false /\
  answer_rate forty_regrouped p false true == p false true /\
  answer_rate forty_regrouped p true false == p true false /\ answer_rate forty_regrouped p true true == p true true.
Proof.
  assert (A : hits forty_regrouped false false == 1#11) by now vm_compute.
  assert (B : hits forty_regrouped false true == 1) by now vm_compute.
  assert (C : hits forty_regrouped true false == 0) by now vm_compute.
  assert (D : hits forty_regrouped true true == 1) by now vm_compute.
  unfold answer_rate. rewrite A, B, C, D. splits; ring.
Qed.

Lemma never_on_the_neighbour p : allowed forty_regrouped p -> reveals p = false.
Proof.
  intros [_ E]. destruct (reveals p) eqn:R; [exfalso|reflexivity]. unfold reveals in R.
  apply Bool.andb_true_iff in R. destruct R as [R N]. apply Bool.andb_true_iff in R. destruct R as [R0 R1].
  apply Qeq_bool_iff in R0, R1. pose proof (E false) as E0. pose proof (E true) as E1.
  destruct (rates_of_forty p) as (F0 & F1 & F2 & F3), (rates_of_forty_regrouped p) as (G0 & G1 & G2 & G3).
  rewrite F0, F2 in R0. rewrite F1, F3 in R1. rewrite G0, G2 in E0. rewrite G1, G3 in E1. clear F0 F1 F2 F3 G0 G1 G2 G3.
  apply Bool.negb_true_iff in N. apply Bool.not_true_iff_false in N. apply N.
  rewrite !Bool.andb_true_iff, !Qeq_bool_iff. splits; lra.
Qed.

Definition corrected (a h : bool) : Q := match a, h with false, false => 1#10 | true, false => 0 | _, true => 1 end.

Lemma corrected_allowed : allowed forty corrected.
Proof.
  split; [intros [|] [|]; cbn; lra|]. destruct (rates_of_forty corrected) as (F0 & F1 & F2 & F3).
  intros [|]; [rewrite F1, F3 | rewrite F0, F2]; cbn; lra.
Qed.

Lemma always_on_the_data c p : optimum_of forty c p -> near_quarters c = true -> reveals p = true.
Proof.
  intros [[R E] O] N. specialize (O corrected corrected_allowed).
  unfold near_quarters in N. rewrite !Bool.andb_true_iff, !Qle_bool_iff in N. destruct N as (((A & B) & C) & D).
  apply abs_le in A, B, C, D. unfold reveals. pose proof (E false) as E0. pose proof (E true) as E1.
  rewrite !Bool.andb_true_iff, !Qeq_bool_iff. splits; try assumption.
  apply Bool.negb_true_iff, Bool.not_true_iff_false. rewrite !Bool.andb_true_iff, !Qeq_bool_iff. intros ((K0 & K1) & K2).
  destruct (rates_of_forty p) as (F0 & F1 & F2 & F3), (rates_of_forty corrected) as (G0 & G1 & G2 & G3).
  unfold errors_of in O. rewrite F0, F1, F2, F3, G0, G1, G2, G3 in O. cbn in O.
  destruct (R false false) as [V0 V1]. set (v := p false false) in *. rewrite <- K0, <- K2 in O.
  assert (K3 : p true false == v) by lra. rewrite K3 in O.
  assert (S : (1#4) <= (c false false + c true false) * v + (c false true + c true true) * (1 - v)).
  { assert (0 <= (c false false + c true false - (1#4)) * v) by (apply mul_nonneg; lra).
    assert (0 <= (c false true + c true true - (1#4)) * (1 - v)) by (apply mul_nonneg; lra). lra. }
  lra.
Qed.

Theorem group_alone_is_shown : group_costs (fun chance => chance).
Proof.
  split; [exists thirty_nine, [], true, true, false; now split|].
  intros n w c p n' w' c' p' t delta T [[W _] O] [_ O'] H. specialize (H reveals).
  assert (Z : sum n' (fun i => w' i * indicator (reveals (p' i))) == 0).
  { rewrite (sum_ext n' _ (fun _ => 0)); [apply sum_zero|]. intros i Hi. destruct (O' i Hi) as [A _].
    rewrite (never_on_the_neighbour _ A). cbn. ring. }
  rewrite Z in H. apply Qle_trans with (sum n (fun i => w i * indicator (reveals (p i)))); [|lra].
  apply sum_le. intros i Hi. specialize (W i Hi). destruct (near_quarters (c i)) eqn:N.
  - rewrite (always_on_the_data _ _ (O i Hi) N). lra.
  - destruct (reveals (p i)); cbn; lra.
Qed.

(** It happens: noisy cells of a quarter each have an optimum on both data sets. *)
Definition quarters (_ _ : bool) : Q := 1#4.
Definition corrected_too (a h : bool) : Q := match a, h with true, false => 1#11 | false, false => 0 | _, true => 1 end.

Theorem shown_not_empty : releases forty 1 (fun _ => 1) (fun _ => quarters) (fun _ => corrected) /\
  releases forty_regrouped 1 (fun _ => 1) (fun _ => quarters) (fun _ => corrected_too) /\ near_quarters quarters = true.
Proof.
  splits; [| |now vm_compute].
  - split; [split; [intros; lra | reflexivity]|]. intros i _. split; [apply corrected_allowed|]. intros o [R E].
    pose proof (E false) as E0. pose proof (E true) as E1. destruct (R true true), (R true false). clear E R.
    unfold errors_of, quarters.
    destruct (rates_of_forty o) as (F0 & F1 & F2 & F3). rewrite F0, F2 in E0. rewrite F1, F3 in E1. rewrite F0, F1, F2, F3.
    destruct (rates_of_forty corrected) as (G0 & G1 & G2 & G3). rewrite G0, G1, G2, G3. cbn [corrected].
    lra.
  - split; [split; [intros; lra | reflexivity]|]. intros i _. split.
    + split; [intros [|] [|]; cbn; lra|]. destruct (rates_of_forty_regrouped corrected_too) as (F0 & F1 & F2 & F3).
      intros [|]; [rewrite F1, F3 | rewrite F0, F2]; cbn; lra.
    + intros o [R E]. pose proof (E false) as E0. pose proof (E true) as E1. destruct (R true true), (R false false). clear E R.
      unfold errors_of, quarters.
      destruct (rates_of_forty_regrouped o) as (F0 & F1 & F2 & F3). rewrite F0, F2 in E0. rewrite F1, F3 in E1. rewrite F0, F1, F2, F3.
      destruct (rates_of_forty_regrouped corrected_too) as (G0 & G1 & G2 & G3). rewrite G0, G1, G2, G3. cbn [corrected_too]. lra.
Qed.

(** Without cells there are no errors, and an optimum says nothing. *)
Lemma nothing_shown x : releases x 1 (fun _ => 1) (fun _ _ _ => 0) (fun _ _ _ => 0).
Proof.
  split; [split; [intros; lra | reflexivity]|]. intros i _. split.
  - split; [intros; lra|]. intros y. unfold answer_rate. ring.
  - intros o _. unfold errors_of. apply Qle_lteq. right. ring.
Qed.

Lemma costs_no_more bound : group_costs bound -> bound 0 <= 0.
Proof.
  intros [_ H]. specialize (H _ _ _ _ _ _ _ _ 1 0 ltac:(lra) (nothing_shown forty) (nothing_shown forty_regrouped)).
  assert (E : sum 1 (fun _ => 1 * indicator (near_quarters (fun _ _ => 0))) = 0) by reflexivity.
  cbv beta in H. rewrite E in H. apply H. intros event. lra.
Qed.

(** At a chance of 1, δ = 1 is enough. *)
Lemma costs_at_most_all bound : group_costs bound -> bound 1 <= 1.
Proof.
  intros [_ H]. destruct shown_not_empty as (A & B & _). specialize (H _ _ _ _ _ _ _ _ 0 1 ltac:(lra) A B).
  assert (E : sum 1 (fun _ => 1 * indicator (near_quarters quarters)) = 1) by reflexivity.
  cbv beta in H. rewrite E in H. apply H. intros event. cbn [sum]. destruct (event corrected); cbn [indicator]; lra.
Qed.

(** δ = 1 whatever the noise. *)
Theorem group_alone_is_shown_fault_1 : ~ group_costs (fun _ => 1).
Proof. intros H. apply costs_no_more in H. now compute in H. Qed.

(** A tenth more than the chance. *)
Theorem group_alone_is_shown_fault_2 : ~ group_costs (fun chance => chance + (1#10)).
Proof. intros H. apply costs_no_more in H. now compute in H. Qed.

(** Twice the chance. *)
Theorem group_alone_is_shown_fault_3 : ~ group_costs (fun chance => 2 * chance).
Proof. intros H. apply costs_at_most_all in H. now compute in H. Qed.

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
