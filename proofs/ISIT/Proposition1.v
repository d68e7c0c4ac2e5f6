(** ISIT, Proposition 1: what γ-parity costs in changed predictions.

    A group has finitely many points with weights. At each point the old and the new answer have any joint law;
    so both classifiers may be randomised, with coins of their own or with common ones. *)

From Checked Require Import Base.Numbers.

(** The joint law of the old and the new answer at each point; (0, 0) has what is left of 1. *)
Record answers := { both : nat -> Q; lost : nat -> Q; won : nat -> Q }.

Definition valid (n : nat) (c : answers) : Prop :=
  forall i, (i < n)%nat -> 0 <= both c i /\ 0 <= lost c i /\ 0 <= won c i /\ both c i + lost c i + won c i <= 1.

Definition old_rate (n : nat) (w : nat -> Q) (c : answers) : Q := sum n (fun i => w i * (both c i + lost c i)).
Definition new_rate (n : nat) (w : nat -> Q) (c : answers) : Q := sum n (fun i => w i * (both c i + won c i)).
Definition changed (n : nat) (w : nat -> Q) (c : answers) : Q := sum n (fun i => w i * (lost c i + won c i)).

(** [dpfair_lib.change_lower_bound] and [dpfair_lib.optimal_change]. *)
Definition change_lower_bound (alpha beta gamma : Q) : Q := Qabs (alpha - beta) - gamma.
Definition optimal_change (alpha beta gamma : Q) : Q := Qmax (change_lower_bound alpha beta gamma) 0.

Lemma rate_moves n w c : distribution n w -> valid n c -> Qabs (old_rate n w c - new_rate n w c) <= changed n w c.
Proof.
  intros [Hw _] Hc. unfold old_rate, new_rate, changed. rewrite <- sum_minus.
  eapply Qle_trans; [apply sum_abs|]. apply sum_le. intros i Hi.
  specialize (Hw i Hi). destruct (Hc i Hi) as (Hb & Hl & Hn & _).
  rewrite abs_le. split; nra.
Qed.

(** The statement, for a formula [bound]. *)
Definition changes_at_least (bound : Q -> Q -> Q -> Q) : Prop :=
  forall n w0 w1 c0 c1 gamma,
  distribution n w0 -> distribution n w1 -> valid n c0 -> valid n c1 ->
  Qabs (new_rate n w0 c0 - new_rate n w1 c1) <= gamma ->
  bound (old_rate n w0 c0) (old_rate n w1 c1) gamma <= changed n w0 c0 + changed n w1 c1.

Theorem proposition_1 : changes_at_least change_lower_bound.
Proof.
  intros n w0 w1 c0 c1 gamma D0 D1 V0 V1 Hg. unfold change_lower_bound.
  pose proof (rate_moves n w0 c0 D0 V0) as A. pose proof (rate_moves n w1 c1 D1 V1) as B.
  apply abs_le in A, B, Hg. cases_abs; lra.
Qed.

(** ** Attained *)

(** [dpfair_lib.flip_probabilities]: of demoting a 1 and of promoting a 0. *)
Definition flip_down (rate target : Q) : Q := if below target rate then (rate - target) / rate else 0.
Definition flip_up (rate target : Q) : Q := if below rate target then (target - rate) / (1 - rate) else 0.

Lemma flips_are_chances rate target :
  0 <= rate <= 1 -> 0 <= target <= 1 ->
  0 <= flip_down rate target <= 1 /\ 0 <= flip_up rate target <= 1.
Proof.
  intros [R0 R1] [T0 T1]. unfold flip_down, flip_up.
  destruct (below_cases target rate) as [[H ->]|[H ->]];
    destruct (below_cases rate target) as [[K ->]|[K ->]]; repeat split; try lra;
    try (apply div_nonneg; lra); apply div_le; lra.
Qed.

Lemma flips_reach rate target :
  0 <= rate <= 1 -> 0 <= target <= 1 ->
  rate * (1 - flip_down rate target) + (1 - rate) * flip_up rate target == target.
Proof.
  intros [R0 R1] [T0 T1]. unfold flip_down, flip_up.
  destruct (below_cases target rate) as [[H ->]|[H ->]];
    destruct (below_cases rate target) as [[K ->]|[K ->]]; try lra; field; lra.
Qed.

Lemma flips_change rate target :
  0 <= rate <= 1 -> 0 <= target <= 1 ->
  rate * flip_down rate target + (1 - rate) * flip_up rate target == Qabs (rate - target).
Proof.
  intros [R0 R1] [T0 T1]. unfold flip_down, flip_up.
  destruct (below_cases target rate) as [[H ->]|[H ->]];
    destruct (below_cases rate target) as [[K ->]|[K ->]]; cases_abs; try lra;
    field_simplify; try lra.
Qed.

(** A classifier [h] with the flips of a group: each 1 is demoted, each 0 promoted with its chance. *)
Definition flipped (h : nat -> Q) (down up : Q) : answers :=
  {| both := fun i => h i * (1 - down); lost := fun i => h i * down; won := fun i => (1 - h i) * up |}.

Definition rate (n : nat) (w h : nat -> Q) : Q := sum n (fun i => w i * h i).

Definition classifier (n : nat) (h : nat -> Q) : Prop := forall i, (i < n)%nat -> 0 <= h i <= 1.

Lemma rate_in_range n w h : distribution n w -> classifier n h -> 0 <= rate n w h <= 1.
Proof.
  intros [Hw Hs] Hh. unfold rate. split.
  - apply sum_nonneg. intros i Hi. specialize (Hw i Hi). destruct (Hh i Hi). nra.
  - rewrite <- Hs. apply sum_le. intros i Hi. specialize (Hw i Hi). destruct (Hh i Hi). nra.
Qed.

Lemma flipped_valid n h down up :
  classifier n h -> 0 <= down <= 1 -> 0 <= up <= 1 -> valid n (flipped h down up).
Proof.
  intros Hh [] [] i Hi. destruct (Hh i Hi). cbn. repeat split; nra.
Qed.

Lemma flipped_old n w h down up : old_rate n w (flipped h down up) == rate n w h.
Proof. apply sum_ext. intros i _. cbn. ring. Qed.

Lemma rest n w h : distribution n w -> sum n (fun i => w i * (1 - h i)) == 1 - rate n w h.
Proof.
  intros [_ Hs]. rewrite <- Hs. unfold rate. rewrite <- sum_minus. apply sum_ext. intros. ring.
Qed.

Lemma flipped_new n w h down up : distribution n w ->
  new_rate n w (flipped h down up) == rate n w h * (1 - down) + (1 - rate n w h) * up.
Proof.
  intros D. rewrite <- (rest n w h D). unfold rate, new_rate. rewrite <- !sum_scale_r, <- sum_plus.
  apply sum_ext. intros i _. cbn. ring.
Qed.

Lemma flipped_changed n w h down up : distribution n w ->
  changed n w (flipped h down up) == rate n w h * down + (1 - rate n w h) * up.
Proof.
  intros D. rewrite <- (rest n w h D). unfold rate, changed. rewrite <- !sum_scale_r, <- sum_plus.
  apply sum_ext. intros i _. cbn. ring.
Qed.

Definition moved_to (n : nat) (w h : nat -> Q) (target : Q) : answers :=
  flipped h (flip_down (rate n w h) target) (flip_up (rate n w h) target).

Lemma moved_to_reaches n w h target : distribution n w -> classifier n h -> 0 <= target <= 1 ->
  valid n (moved_to n w h target) /\ old_rate n w (moved_to n w h target) == rate n w h /\
  new_rate n w (moved_to n w h target) == target /\
  changed n w (moved_to n w h target) == Qabs (rate n w h - target).
Proof.
  intros D Hh T. pose proof (rate_in_range n w h D Hh) as R.
  destruct (flips_are_chances _ _ R T). unfold moved_to. splits.
  - now apply flipped_valid.
  - apply flipped_old.
  - rewrite flipped_new by assumption. now apply flips_reach.
  - rewrite flipped_changed by assumption. now apply flips_change.
Qed.

(** The old answer of each point is that of the given classifier: 1 with chance [h i]. *)
Definition answers_of (n : nat) (h : nat -> Q) (c : answers) : Prop := forall i, (i < n)%nat -> both c i + lost c i == h i.

Lemma moved_to_answers n w h target : answers_of n h (moved_to n w h target).
Proof. intros i _. cbn. ring. Qed.

Lemma rate_of_answers n w h c : answers_of n h c -> old_rate n w c == rate n w h.
Proof. intros H. apply sum_ext. intros i Hi. rewrite (H i Hi). reflexivity. Qed.

(** For all given old classifiers, with their answers point by point: some new answers are within γ and change no more
    than [least] of both rates. *)
Definition attained (least : Q -> Q -> Q -> Q) : Prop :=
  forall n w0 w1 h0 h1 gamma,
  distribution n w0 -> distribution n w1 -> classifier n h0 -> classifier n h1 -> 0 <= gamma ->
  exists c0 c1, valid n c0 /\ valid n c1 /\
  answers_of n h0 c0 /\ answers_of n h1 c1 /\
  Qabs (new_rate n w0 c0 - new_rate n w1 c1) <= gamma /\
  changed n w0 c0 + changed n w1 c1 == least (rate n w0 h0) (rate n w1 h1) gamma.

Theorem proposition_1_attained : attained optimal_change.
Proof.
  intros n w0 w1 h0 h1 gamma D0 D1 H0 H1 Hg.
  pose proof (rate_in_range n w0 h0 D0 H0) as A. pose proof (rate_in_range n w1 h1 D1 H1) as B.
  set (a := rate n w0 h0) in *. set (b := rate n w1 h1) in *.
  set (r := Qmax (Qmin a (b + gamma)) (b - gamma)).
  assert (R : 0 <= r <= 1) by (unfold r; cases_abs; lra).
  destruct (moved_to_reaches n w0 h0 r D0 H0 R) as (V0 & _ & N0 & C0).
  destruct (moved_to_reaches n w1 h1 b D1 H1 B) as (V1 & _ & N1 & C1).
  exists (moved_to n w0 h0 r), (moved_to n w1 h1 b). splits; try assumption; try apply moved_to_answers.
  - rewrite N0, N1. apply abs_le. unfold r. cases_abs; lra.
  - rewrite C0, C1. fold a b. clear - A B Hg. setoid_replace (b - b) with 0 by ring. change (Qabs 0) with 0. unfold optimal_change, change_lower_bound, r. cases_abs; lra.
Qed.

(** No classifiers change less than [optimal_change]. *)
Theorem proposition_1_optimum : changes_at_least optimal_change.
Proof.
  intros n w0 w1 c0 c1 gamma D0 D1 V0 V1 Hg. unfold optimal_change.
  pose proof (proposition_1 n w0 w1 c0 c1 gamma D0 D1 V0 V1 Hg).
  pose proof (rate_moves n w0 c0 D0 V0) as A. pose proof (rate_moves n w1 c1 D1 V1) as B.
  cases_abs; lra.
Qed.

(** ** Planted faults: wrong statements, disproved *)

Definition one_point : nat -> Q := fun _ => 1.
Definition always (p q : Q) : answers := {| both := fun _ => p * q; lost := fun _ => p * (1 - q); won := fun _ => (1 - p) * q |}.

Ltac one_point_facts :=
  first [ split; [intros; unfold one_point; lra | reflexivity]
        | intros i Hi; cbn; repeat split; lra
        | now compute ].

(** γ counted half. *)
Theorem proposition_1_fault_1 : ~ changes_at_least (fun a b g => Qabs (a - b) - g / (2#1)).
Proof.
  intros H. specialize (H 1%nat one_point one_point (always 1 1) (always 0 0) 1).
  apply Qle_not_lt in H; try one_point_facts. apply H. now compute.
Qed.

(** The sum of the rates for their distance. *)
Theorem proposition_1_fault_2 : ~ changes_at_least (fun a b g => a + b - g).
Proof.
  intros H. specialize (H 1%nat one_point one_point (always 1 1) (always 1 1) 1).
  apply Qle_not_lt in H; try one_point_facts. apply H. now compute.
Qed.

(** The distance without its absolute value, as the least change. *)
Theorem proposition_1_attained_fault_1 : ~ attained (fun a b g => Qmax (a - b - g) 0).
Proof.
  intros H. destruct (H 1%nat one_point one_point (fun _ => 0) (fun _ => 1) 0) as
    (c0 & c1 & V0 & V1 & O0 & O1 & G & C); try one_point_facts.
  assert (D : distribution 1%nat one_point) by one_point_facts.
  apply (rate_of_answers _ one_point) in O0, O1.
  pose proof (proposition_1 1%nat one_point one_point c0 c1 0 D D V0 V1 G) as P.
  unfold change_lower_bound in P. rewrite C, O0, O1 in P. apply Qle_not_lt in P. apply P. now compute.
Qed.

(** A least change that may be negative. *)
Theorem proposition_1_attained_fault_2 : ~ attained change_lower_bound.
Proof.
  intros H. destruct (H 1%nat one_point one_point (fun _ => 1) (fun _ => 1) 1) as
    (c0 & c1 & V0 & V1 & O0 & O1 & G & C); try one_point_facts.
  assert (D : distribution 1%nat one_point) by one_point_facts.
  apply (rate_of_answers _ one_point) in O0, O1.
  pose proof (rate_moves 1%nat one_point c0 D V0) as A. pose proof (rate_moves 1 one_point c1 D V1) as B.
  pose proof (abs_ge (old_rate 1%nat one_point c0 - new_rate 1%nat one_point c0)).
  pose proof (abs_ge_minus (old_rate 1%nat one_point c0 - new_rate 1%nat one_point c0)).
  pose proof (abs_ge (old_rate 1%nat one_point c1 - new_rate 1%nat one_point c1)).
  pose proof (abs_ge_minus (old_rate 1%nat one_point c1 - new_rate 1%nat one_point c1)).
  assert (E : change_lower_bound (rate 1%nat one_point (fun _ => 1)) (rate 1%nat one_point (fun _ => 1)) 1 == -(1)) by now compute.
  rewrite E in C. lra.
Qed.
