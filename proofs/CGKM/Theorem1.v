(** CGKM, Theorem 1: what exact fairness and privacy exclude, and what they do not. *)

From Checked Require Import Base.Numbers.

(** ** The four atoms of the printed proof: z₀ = (x₀,0,0), z₁ = (x₁,0,1), z₂ = (x₂,1,0), z₃ = (x₃,1,1) *)

Definition label (z : nat) : Q := match z with 1%nat | 3%nat => 1 | _ => 0 end.

(** All four atoms occur. *)
Definition occurring (d : nat -> Q) : Prop := (forall z, (z < 4)%nat -> 0 < d z) /\ sum 4 d == 1.

(** Group 0 has the positive z₁, group 1 the positive z₃: γ₁₀ and γ₁₁. *)
Definition rate_0 (d h : nat -> Q) : Q := d 1%nat * h 1%nat / d 1%nat.
Definition rate_1 (d h : nat -> Q) : Q := d 3%nat * h 3%nat / d 3%nat.
Definition fair (d h : nat -> Q) : Prop := rate_0 d h == rate_1 d h.
Definition error (d h : nat -> Q) : Q := sum 4 (fun z => d z * Qabs (h z - label z)).

(** Mass [c] moves from z₁ to z₃. *)
Definition shifted (c : Q) (d : nat -> Q) (z : nat) : Q :=
  match z with 1%nat => d 1%nat - c | 3%nat => d 3%nat + c | _ => d z end.

(** The printed proof: a fair h is unfair after the move. *)
Definition move_decides (after : Prop -> Prop) : Prop :=
  forall d h c, occurring d -> 0 < c -> c < d 1%nat -> fair d h -> after (fair (shifted c d) h).

Theorem proof_moves_nothing : move_decides (fun fair_after => fair_after).
Proof.
  intros d h c [P _] C0 C1 F. unfold fair, rate_0, rate_1, shifted in *.
  pose proof (P 1%nat ltac:(lia)) as P1. pose proof (P 3%nat ltac:(lia)) as P3.
  assert (A : h 1%nat == h 3%nat).
  { rewrite <- (Qdiv_mult_l (h 1%nat) (d 1%nat)), <- (Qdiv_mult_l (h 3%nat) (d 3%nat)) by lra.
    rewrite (Qmult_comm (h 1%nat)), (Qmult_comm (h 3%nat)). exact F. }
  rewrite A. field. lra.
Qed.

(** A law on [n] hypotheses for each distribution; private with e^ε = t if the mass moved is at most ζ. *)
Definition learner : Type := (nat -> Q) -> nat -> Q.

Definition private (n : nat) (t zeta : Q) (m : learner) : Prop :=
  forall d c i, (i < n)%nat -> occurring d -> occurring (shifted c d) -> Qabs c <= zeta -> m d i <= t * m (shifted c d) i.

(** Whatever is output is fair, and errs less than every constant. *)
Definition always_right (n : nat) (hypotheses : nat -> nat -> Q) (m : learner) : Prop :=
  forall d i, (i < n)%nat -> occurring d -> 0 < m d i ->
  fair d (hypotheses i) /\ forall c, c == 0 \/ c == 1 -> error d (hypotheses i) < error d (fun _ => c).

Definition outputs (n : nat) (m : learner) : Prop := forall d, occurring d -> distribution n (m d).

(** As printed, there is no such learner for any hypotheses; here for those of a class. *)
Definition excluded (class : (nat -> Q) -> Prop) (t : Q) : Prop :=
  forall n hypotheses m zeta, (forall i, (i < n)%nat -> class (hypotheses i)) -> 0 < zeta ->
  outputs n m -> always_right n hypotheses m -> ~ private n t zeta m.

Definition labels_only (_ : nat) : nat -> Q := label.
Definition always_first : learner := fun _ i => match i with 0%nat => 1 | _ => 0 end.

Lemma labels_are_right : always_right 1 labels_only always_first.
Proof.
  intros d i _ [P S] _. pose proof (P 0%nat ltac:(lia)). pose proof (P 1%nat ltac:(lia)).
  pose proof (P 2%nat ltac:(lia)). pose proof (P 3%nat ltac:(lia)). split.
  - unfold fair, rate_0, rate_1, labels_only, label. field. lra.
  - assert (E : error d label == 0) by (unfold error, label; cbn [sum]; change (Qabs (0 - 0)) with 0; change (Qabs (1 - 1)) with 0; ring).
    intros c C. unfold labels_only. rewrite E. unfold error, label. cbn [sum].
    destruct C as [C|C]; rewrite C; change (Qabs (0 - 0)) with 0; change (Qabs (0 - 1)) with 1;
      change (Qabs (1 - 0)) with 1; change (Qabs (1 - 1)) with 0; lra.
Qed.

Lemma labels_are_private t zeta : 1 <= t -> private 1 t zeta always_first.
Proof. intros T d c i _ _ _ _. unfold always_first. destruct i; lra. Qed.

(** The label itself is fair and better than the constants on all distributions: its learner needs no data. *)
Theorem theorem_1_fails : forall t, 1 <= t -> ~ excluded (fun _ => True) t.
Proof.
  intros t T H. apply (H 1%nat labels_only always_first 1 (fun _ _ => I) ltac:(lra)).
  - intros d _. split; [|reflexivity]. intros i _. unfold always_first. destruct i; lra.
  - exact labels_are_right.
  - now apply labels_are_private.
Qed.

(** ** Where all points, groups and labels occur: fair and private leave constants

    [d x a] is P(X = x, A = a, Y = 1) for points below [n]; the law of the negatives plays no part, and has the rest. *)

Definition positives (n : nat) (d : nat -> bool -> Q) : Prop :=
  (forall x a, (x < n)%nat -> 0 < d x a) /\ sum n (fun x => d x false) + sum n (fun x => d x true) <= 1.
Definition true_rate (n : nat) (d h : nat -> bool -> Q) (a : bool) : Q :=
  sum n (fun x => d x a * h x a) / sum n (fun x => d x a).
Definition equal_opportunity (n : nat) (d h : nat -> bool -> Q) : Prop :=
  true_rate n d h false == true_rate n d h true.

(** Mass [c] of the positives of group [g] moves from point [x] to point [x']. *)
Definition moved (g : bool) (x x' : nat) (c : Q) (d : nat -> bool -> Q) (y : nat) (a : bool) : Q :=
  if Bool.eqb a g then (if Nat.eqb y x then d y a - c else if Nat.eqb y x' then d y a + c else d y a) else d y a.

Definition classes : Type := nat -> nat -> bool -> Q.
Definition chooser : Type := (nat -> bool -> Q) -> nat -> Q.

Definition private_nearby (n : nat) (t zeta : Q) (m : chooser) : Prop :=
  forall d g x x' c i, (x < n)%nat -> (x' < n)%nat -> x <> x' -> positives n d -> positives n (moved g x x' c d) -> 0 <= c <= zeta ->
  m d i <= t * m (moved g x x' c d) i.

Definition always_fair (n : nat) (hypotheses : classes) (m : chooser) : Prop :=
  forall d i, positives n d -> 0 < m d i -> equal_opportunity n d (hypotheses i).

Definition only (property : nat -> (nat -> bool -> Q) -> Prop) : Prop :=
  forall n hypotheses m t zeta d i, 0 < zeta -> 0 < t -> private_nearby n t zeta m -> always_fair n hypotheses m ->
  positives n d -> 0 < m d i -> property n (hypotheses i).

Definition constant (n : nat) (h : nat -> bool -> Q) : Prop :=
  forall x x' a a', (x < n)%nat -> (x' < n)%nat -> h x a == h x' a'.

Lemma sum_positive n f x : (x < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < sum n f.
Proof.
  intros Hx H. pose proof (sum_term n f x (fun i Hi => Qlt_le_weak _ _ (H i Hi)) Hx). specialize (H x Hx). lra.
Qed.

Lemma sum_moved n f x x' c : (x < n)%nat -> (x' < n)%nat -> x <> x' ->
  sum n (fun y => if Nat.eqb y x then f y - c else if Nat.eqb y x' then f y + c else f y) == sum n f.
Proof.
  intros Hx Hx' N. rewrite (sum_split n (fun y => f y - c) (fun y => if Nat.eqb y x' then f y + c else f y) x Hx).
  rewrite (sum_split n (fun y => f y + c) f x' Hx'). destruct (Nat.eqb_spec x x'); [contradiction|]. ring.
Qed.

Lemma moved_rate n d h g x x' c : (x < n)%nat -> (x' < n)%nat -> x <> x' -> 0 < sum n (fun y => d y g) ->
  true_rate n (moved g x x' c d) h g == true_rate n d h g + c * (h x' g - h x g) / sum n (fun y => d y g).
Proof.
  intros Hx Hx' N D. unfold true_rate, moved. rewrite Bool.eqb_reflx.
  rewrite (sum_moved n (fun y => d y g) x x' c Hx Hx' N).
  rewrite (sum_ext n (fun y => (if Nat.eqb y x then d y g - c else if Nat.eqb y x' then d y g + c else d y g) * h y g)
    (fun y => if Nat.eqb y x then d y g * h y g - c * h x g else (if Nat.eqb y x' then d y g * h y g + c * h x' g else d y g * h y g))).
  - rewrite (sum_split n (fun y => d y g * h y g - c * h x g)
      (fun y => if Nat.eqb y x' then d y g * h y g + c * h x' g else d y g * h y g) x Hx).
    rewrite (sum_split n (fun y => d y g * h y g + c * h x' g) (fun y => d y g * h y g) x' Hx').
    destruct (Nat.eqb_spec x x'); [contradiction|]. field. lra.
  - intros y _. destruct (Nat.eqb_spec y x) as [->|]; [ring|]. destruct (Nat.eqb_spec y x') as [->|]; ring.
Qed.

Lemma other_rate n d h g a x x' c : a <> g -> true_rate n (moved g x x' c d) h a == true_rate n d h a.
Proof.
  intros N. unfold true_rate, moved. destruct (Bool.eqb a g) eqn:E; [apply Bool.eqb_prop in E; contradiction|]. reflexivity.
Qed.

Lemma moved_mass n d g a x x' c : (x < n)%nat -> (x' < n)%nat -> x <> x' ->
  sum n (fun y => moved g x x' c d y a) == sum n (fun y => d y a).
Proof.
  intros Hx Hx' N. unfold moved. destruct (Bool.eqb a g); [|reflexivity]. exact (sum_moved n (fun y => d y a) x x' c Hx Hx' N).
Qed.

Lemma moved_positive n d g x x' c : positives n d -> 0 <= c -> (x < n)%nat -> (x' < n)%nat -> x <> x' -> c < d x g ->
  positives n (moved g x x' c d).
Proof.
  intros [P One] C Hx Hx' N L. split; [|now rewrite !moved_mass].
  intros y a Hy. unfold moved. specialize (P y a Hy). destruct (Bool.eqb a g) eqn:E; [|assumption].
  apply Bool.eqb_prop in E. subst. destruct (Nat.eqb_spec y x) as [->|]; [lra|]. destruct (Nat.eqb y x'); lra.
Qed.

Theorem fair_and_private_leave_constants : only constant.
Proof.
  intros n hypotheses m t zeta d i Z T M F P O.
  assert (Same : forall g x x', (x < n)%nat -> (x' < n)%nat -> hypotheses i x g == hypotheses i x' g).
  { intros g x x' Hx Hx'. destruct (Nat.eq_dec x x') as [->|N]; [reflexivity|].
    set (c := Qmin zeta (d x g / 2)). pose proof (proj1 P x g Hx) as Px.
    assert (Half : 0 < d x g / 2 /\ d x g / 2 < d x g) by (split; [apply lt_div | apply div_lt]; lra).
    assert (C : 0 < c /\ c <= zeta /\ c < d x g).
    { unfold c. destruct (min_cases zeta (d x g / 2)) as [[? E]|[? E]]; rewrite E; lra. }
    assert (P' : positives n (moved g x x' c d)) by (apply moved_positive; try assumption; lra).
    pose proof (M d g x x' c i Hx Hx' N P P' ltac:(lra)) as Near.
    assert (O' : 0 < m (moved g x x' c d) i) by nra.
    pose proof (F d i P O) as E. pose proof (F _ i P' O') as E'. unfold equal_opportunity in *.
    assert (D : 0 < sum n (fun y => d y g)) by (apply (sum_positive n _ x Hx); intros; now apply (proj1 P)).
    pose proof (moved_rate n d (hypotheses i) g x x' c Hx Hx' N D) as R.
    assert (Zr : c * (hypotheses i x' g - hypotheses i x g) / sum n (fun y => d y g) == 0).
    { destruct g.
      - rewrite R, (other_rate n d (hypotheses i) true false) in E' by discriminate. lra.
      - rewrite R, (other_rate n d (hypotheses i) false true) in E' by discriminate. lra. }
    set (v := hypotheses i x' g - hypotheses i x g) in *.
    assert (V : c * v == 0).
    { rewrite <- (div_mul (c * v) (sum n (fun y => d y g))) by lra. rewrite Zr. ring. }
    assert (v == 0) by (destruct (Qmult_integral _ _ V); lra). unfold v in *. lra. }
  assert (Rate : forall g x, (x < n)%nat -> true_rate n d (hypotheses i) g == hypotheses i x g).
  { intros g x Hx. unfold true_rate.
    assert (D : 0 < sum n (fun y => d y g)) by (apply (sum_positive n _ x Hx); intros; now apply (proj1 P)).
    rewrite (sum_ext n (fun y => d y g * hypotheses i y g) (fun y => hypotheses i x g * d y g))
      by (intros y Hy; rewrite (Same g y x Hy Hx); ring).
    rewrite sum_scale. field. lra. }
  pose proof (F d i P O) as E. unfold equal_opportunity in E.
  assert (Groups : forall x, (x < n)%nat -> hypotheses i x false == hypotheses i x true).
  { intros x Hx. rewrite <- (Rate false x Hx), <- (Rate true x Hx). exact E. }
  intros x x' a a' Hx Hx'. destruct a, a'.
  - now apply Same.
  - rewrite (Same true x x' Hx Hx'). symmetry. now apply Groups.
  - rewrite (Same false x x' Hx Hx'). now apply Groups.
  - now apply Same.
Qed.

(** ** Planted faults *)

Definition uniform (_ : nat) : Q := 1#4.

Lemma uniform_occurs : occurring uniform.
Proof. split; [intros; unfold uniform; lra | now compute]. Qed.

(** As the proof says: after the move every fair h is unfair. *)
Theorem proof_moves_nothing_fault_1 : ~ move_decides (fun fair_after => ~ fair_after).
Proof.
  intros H. apply (H uniform (fun _ => 1) (1#8) uniform_occurs ltac:(lra) ltac:(unfold uniform; lra)); now compute.
Qed.

(** The move makes every h fair. *)
Theorem proof_moves_nothing_fault_2 :
  ~ (forall d h c, occurring d -> 0 < c -> c < d 1%nat -> fair (shifted c d) h).
Proof.
  intros H. pose proof (H uniform (fun z => match z with 1%nat => 1 | _ => 0 end) (1#8) uniform_occurs ltac:(lra)
    ltac:(unfold uniform; lra)) as F. now compute in F.
Qed.

Lemma some_positive n f : 0 < sum n f -> exists i, (i < n)%nat /\ 0 < f i.
Proof.
  induction n as [|n IH]; cbn [sum]; intros H; [lra|]. destruct (Qlt_le_dec 0 (f n)) as [L|L].
  - exists n. split; [lia | assumption].
  - destruct IH as (i & Hi & P); [lra|]. exists i. split; [lia | assumption].
Qed.

Lemma some_output n hypotheses m : outputs n m -> always_right n hypotheses m -> exists i, (i < n)%nat /\
  fair uniform (hypotheses i) /\ forall c, c == 0 \/ c == 1 -> error uniform (hypotheses i) < error uniform (fun _ => c).
Proof.
  intros O R. destruct (O uniform uniform_occurs) as [_ S]. destruct (some_positive n (m uniform)) as (i & Hi & P); [lra|].
  exists i. split; [assumption|]. exact (R uniform i Hi uniform_occurs P).
Qed.

(** Constants as the only hypotheses: there the printed statement holds. *)
Theorem theorem_1_fails_fault_1 :
  ~ forall t, 1 <= t -> ~ excluded (fun h => exists c, (c == 0 \/ c == 1) /\ forall z, (z < 4)%nat -> h z == c) t.
Proof.
  intros H. apply (H 1 ltac:(lra)). intros n hypotheses m zeta C _ O R _.
  destruct (some_output n hypotheses m O R) as (i & Hi & _ & E). destruct (C i Hi) as (c & D & K). specialize (E c D).
  assert (S : error uniform (hypotheses i) == error uniform (fun _ => c)).
  { unfold error. apply sum_ext. intros z Hz. now rewrite (K z Hz). }
  lra.
Qed.

(** Hypotheses that reject the positive of group 0: a fair one rejects both, and errs as much as a constant. *)
Theorem theorem_1_fails_fault_2 : ~ forall t, 1 <= t -> ~ excluded (fun h => h 1%nat == 0) t.
Proof.
  intros H. apply (H 1 ltac:(lra)). intros n hypotheses m zeta C _ O R _.
  destruct (some_output n hypotheses m O R) as (i & Hi & F & E). specialize (C i Hi). specialize (E 0 ltac:(left; reflexivity)).
  cbv beta in C. unfold fair, rate_0, rate_1, uniform in F. unfold error, label, uniform in E. cbn [sum] in E.
  set (h := hypotheses i) in *.
  assert (Z : h 3%nat == 0).
  { setoid_replace ((1#4) * h 1%nat / (1#4)) with (h 1%nat) in F by field.
    setoid_replace ((1#4) * h 3%nat / (1#4)) with (h 3%nat) in F by field. lra. }
  rewrite C, Z in E. change (Qabs (0 - 1)) with 1 in E. change (Qabs (0 - 0)) with 0 in E.
  pose proof (Qabs_nonneg (h 0%nat - 0)). pose proof (Qabs_nonneg (h 2%nat - 0)). lra.
Qed.

(** Constants: only 0, or only 1. *)
Definition told_one : classes := fun _ _ _ => 1.
Definition told_zero : classes := fun _ _ _ => 0.
Definition one_choice : chooser := fun _ i => match i with 0%nat => 1 | _ => 0 end.
Definition eighths (_ : nat) (_ : bool) : Q := 1#8.

Lemma eighths_positive : positives 2 eighths.
Proof. split; [intros x a _; unfold eighths; lra | now compute]. Qed.

Lemma one_choice_private : private_nearby 2 1 1 one_choice.
Proof. intros d g x x' c i _ _ _ _ _ _. unfold one_choice. destruct i; lra. Qed.

Lemma constants_fair v : always_fair 2 (fun _ _ _ => v) one_choice.
Proof.
  intros d i [P _] _. pose proof (P 0%nat false ltac:(lia)). pose proof (P 1%nat false ltac:(lia)).
  pose proof (P 0%nat true ltac:(lia)). pose proof (P 1%nat true ltac:(lia)).
  unfold equal_opportunity, true_rate. cbn [sum]. field. lra.
Qed.

Theorem fair_and_private_fault_1 : ~ only (fun n h => forall x a, (x < n)%nat -> h x a == 0).
Proof.
  intros H. specialize (H 2%nat told_one one_choice 1 1 eighths 0%nat ltac:(lra) ltac:(lra) one_choice_private
    (constants_fair 1) eighths_positive ltac:(cbn; lra) 0%nat false ltac:(lia)). now compute in H.
Qed.

Theorem fair_and_private_fault_2 : ~ only (fun n h => forall x a, (x < n)%nat -> h x a == 1).
Proof.
  intros H. specialize (H 2%nat told_zero one_choice 1 1 eighths 0%nat ltac:(lra) ltac:(lra) one_choice_private
    (constants_fair 0) eighths_positive ltac:(cbn; lra) 0%nat false ltac:(lia)). now compute in H.
Qed.
