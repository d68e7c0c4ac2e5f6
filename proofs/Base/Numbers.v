(** Rational numbers and finite sums.

    Every probability below is a rational number, and every sum is finite, so that nothing needs an axiom.
    [e^ε] is a rational number [t >= 1]: the level itself is never computed. *)

From Coq Require Export QArith Qabs Qminmax Lqa Lia PeanoNat.
From Coq Require Export Setoid Morphisms.

#[global] Open Scope Q_scope.

(** ** Finite sums *)

Fixpoint sum (n : nat) (f : nat -> Q) : Q :=
  match n with
  | O => 0
  | S m => sum m f + f m
  end.

Lemma sum_ext n f g : (forall i, (i < n)%nat -> f i == g i) -> sum n f == sum n g.
Proof.
  induction n as [|n IH]; simpl; intros H; [reflexivity|].
  rewrite IH by (intros; apply H; lia). rewrite (H n) by lia. reflexivity.
Qed.

Lemma sum_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> sum n f <= sum n g.
Proof.
  induction n as [|n IH]; simpl; intros H; [lra|].
  assert (sum n f <= sum n g) by (apply IH; intros; apply H; lia).
  assert (f n <= g n) by (apply H; lia). lra.
Qed.

Lemma sum_zero n : sum n (fun _ => 0) == 0.
Proof. induction n as [|n IH]; simpl; lra. Qed.

Lemma sum_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= sum n f.
Proof. intros H. rewrite <- (sum_zero n). now apply sum_le. Qed.

Lemma sum_plus n f g : sum n (fun i => f i + g i) == sum n f + sum n g.
Proof. induction n as [|n IH]; simpl; [reflexivity|]. rewrite IH. ring. Qed.

Lemma sum_minus n f g : sum n (fun i => f i - g i) == sum n f - sum n g.
Proof. induction n as [|n IH]; simpl; [reflexivity|]. rewrite IH. ring. Qed.

Lemma sum_scale n c f : sum n (fun i => c * f i) == c * sum n f.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_scale_r n c f : sum n (fun i => f i * c) == sum n f * c.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_const n c : sum n (fun _ => c) == inject_Z (Z.of_nat n) * c.
Proof.
  induction n as [|n IH]; cbn [sum]; [ring|].
  rewrite IH, Nat2Z.inj_succ, <- Z.add_1_r, inject_Z_plus. ring.
Qed.

Lemma sum_swap n m (f : nat -> nat -> Q) :
  sum n (fun i => sum m (fun j => f i j)) == sum m (fun j => sum n (fun i => f i j)).
Proof.
  induction n as [|n IH]; simpl; [now rewrite sum_zero|].
  rewrite IH, <- sum_plus. now apply sum_ext.
Qed.

Lemma sum_product n m f g : sum n f * sum m g == sum n (fun i => sum m (fun j => f i * g j)).
Proof.
  rewrite <- sum_scale_r. apply sum_ext. intros i _. now rewrite sum_scale.
Qed.

Lemma sum_abs n f : Qabs (sum n f) <= sum n (fun i => Qabs (f i)).
Proof.
  induction n as [|n IH]; simpl; [now compute|].
  eapply Qle_trans; [apply Qabs_triangle|]. lra.
Qed.

(** One term of a sum that has no negative terms. *)
Lemma sum_term n f j : (forall i, (i < n)%nat -> 0 <= f i) -> (j < n)%nat -> f j <= sum n f.
Proof.
  induction n as [|n IH]; simpl; intros H Hj; [lia|].
  assert (0 <= f n) by (apply H; lia).
  destruct (Nat.eq_dec j n) as [->|Hne].
  - assert (0 <= sum n f) by (apply sum_nonneg; intros; apply H; lia). lra.
  - assert (f j <= sum n f) by (apply IH; [intros; apply H; lia | lia]). lra.
Qed.

Definition indicator (b : bool) : Q := if b then 1 else 0.

(** A sum in which one term differs. *)
Lemma sum_pick n j f : (j < n)%nat -> sum n (fun i => if Nat.eqb i j then f i else 0) == f j.
Proof.
  induction n as [|n IH]; simpl; intros Hj; [lia|].
  destruct (Nat.eqb_spec n j) as [->|Hne].
  - rewrite (sum_ext j _ (fun _ => 0)).
    + rewrite sum_zero. ring.
    + intros i Hi. destruct (Nat.eqb_spec i j); [lia|reflexivity].
  - rewrite IH by lia. ring.
Qed.

Lemma sum_split n f g j : (j < n)%nat ->
  sum n (fun i => if Nat.eqb i j then f i else g i) == sum n g + (f j - g j).
Proof.
  intros Hj.
  rewrite (sum_ext n _ (fun i => g i + (if Nat.eqb i j then f i - g i else 0))).
  - rewrite sum_plus, (sum_pick n j (fun i => f i - g i)) by assumption. ring.
  - intros i _. destruct (Nat.eqb i j); ring.
Qed.

(** A distribution on the values below [n]. *)
Definition distribution (n : nat) (w : nat -> Q) : Prop :=
  (forall i, (i < n)%nat -> 0 <= w i) /\ sum n w == 1.

(** ** Absolute values and order *)

Lemma abs_le x y : Qabs x <= y <-> - y <= x /\ x <= y.
Proof. apply Qabs_Qle_condition. Qed.

Lemma abs_ge x : x <= Qabs x.
Proof. apply Qle_Qabs. Qed.

Lemma abs_ge_minus x : - x <= Qabs x.
Proof. rewrite <- Qabs_opp. apply Qle_Qabs. Qed.

Lemma abs_cases x : (0 <= x /\ Qabs x == x) \/ (x <= 0 /\ Qabs x == - x).
Proof.
  destruct (Qlt_le_dec x 0).
  - right. split; [lra|]. apply Qabs_neg. lra.
  - left. split; [assumption|]. now apply Qabs_pos.
Qed.

Lemma max_cases x y : (x <= y /\ Qmax x y == y) \/ (y <= x /\ Qmax x y == x).
Proof.
  destruct (Qlt_le_dec x y).
  - left. split; [lra|]. apply Q.max_r. lra.
  - right. split; [assumption|]. now apply Q.max_l.
Qed.

Lemma min_cases x y : (x <= y /\ Qmin x y == x) \/ (y <= x /\ Qmin x y == y).
Proof.
  destruct (Qlt_le_dec x y).
  - left. split; [lra|]. apply Q.min_l. lra.
  - right. split; [assumption|]. now apply Q.min_r.
Qed.

(** Replace each absolute value, maximum and minimum by what it is, case by case. *)
Ltac cases_abs :=
  repeat match goal with
  | |- context [Qabs ?x] =>
      let H := fresh in let E := fresh in
      destruct (abs_cases x) as [[H E]|[H E]]; rewrite !E in *; clear E
  | K : context [Qabs ?x] |- _ =>
      let H := fresh in let E := fresh in
      destruct (abs_cases x) as [[H E]|[H E]]; rewrite !E in *; clear E
  | |- context [Qmax ?x ?y] =>
      let H := fresh in let E := fresh in
      destruct (max_cases x y) as [[H E]|[H E]]; rewrite !E in *; clear E
  | K : context [Qmax ?x ?y] |- _ =>
      let H := fresh in let E := fresh in
      destruct (max_cases x y) as [[H E]|[H E]]; rewrite !E in *; clear E
  | |- context [Qmin ?x ?y] =>
      let H := fresh in let E := fresh in
      destruct (min_cases x y) as [[H E]|[H E]]; rewrite !E in *; clear E
  | K : context [Qmin ?x ?y] |- _ =>
      let H := fresh in let E := fresh in
      destruct (min_cases x y) as [[H E]|[H E]]; rewrite !E in *; clear E
  end.

(** Split conjunctions that stand there, without unfolding a definition. *)
Ltac splits := repeat match goal with |- _ /\ _ => split end.

(** ** Products and quotients in inequalities *)

Lemma mul_nonneg x y : 0 <= x -> 0 <= y -> 0 <= x * y.
Proof. intros. nra. Qed.

Lemma square_nonneg x : 0 <= x * x.
Proof. nra. Qed.

Lemma scaled c x y : 0 <= c -> x <= y -> c * x <= c * y.
Proof. intros. nra. Qed.

Lemma mul_pos x y : 0 < x -> 0 < y -> 0 < x * y.
Proof. intros. nra. Qed.

Lemma div_le x y d : 0 < d -> x <= y * d -> x / d <= y.
Proof. intros. now apply Qle_shift_div_r. Qed.

Lemma le_div x y d : 0 < d -> y * d <= x -> y <= x / d.
Proof. intros. now apply Qle_shift_div_l. Qed.

Lemma div_lt x y d : 0 < d -> x < y * d -> x / d < y.
Proof. intros. now apply Qlt_shift_div_r. Qed.

Lemma lt_div x y d : 0 < d -> y * d < x -> y < x / d.
Proof. intros. now apply Qlt_shift_div_l. Qed.

Lemma div_mul x d : ~ d == 0 -> x / d * d == x.
Proof. intros. field. assumption. Qed.

Lemma div_nonneg x d : 0 < d -> 0 <= x -> 0 <= x / d.
Proof. intros. apply le_div; lra. Qed.

Lemma div_pos x d : 0 < d -> 0 < x -> 0 < x / d.
Proof. intros. apply lt_div; lra. Qed.

(** The largest and the least of [f 0, …, f n]. *)
Fixpoint largest (n : nat) (f : nat -> Q) : Q :=
  match n with O => f O | S m => Qmax (largest m f) (f (S m)) end.

Fixpoint least (n : nat) (f : nat -> Q) : Q :=
  match n with O => f O | S m => Qmin (least m f) (f (S m)) end.

Lemma largest_ge n f i : (i <= n)%nat -> f i <= largest n f.
Proof.
  induction n as [|n IH]; intros Hi; cbn [largest].
  - replace i with O by lia. lra.
  - destruct (Nat.eq_dec i (S n)) as [->|Hne].
    + apply Q.le_max_r.
    + eapply Qle_trans; [apply IH; lia | apply Q.le_max_l].
Qed.

Lemma largest_le n f c : (forall i, (i <= n)%nat -> f i <= c) -> largest n f <= c.
Proof.
  induction n as [|n IH]; intros H; cbn [largest].
  - apply H. lia.
  - apply Q.max_lub; [apply IH; intros; apply H; lia | apply H; lia].
Qed.

Lemma least_le n f i : (i <= n)%nat -> least n f <= f i.
Proof.
  induction n as [|n IH]; intros Hi; cbn [least].
  - replace i with O by lia. lra.
  - destruct (Nat.eq_dec i (S n)) as [->|Hne].
    + apply Q.le_min_r.
    + eapply Qle_trans; [apply Q.le_min_l | apply IH; lia].
Qed.

Lemma least_ge n f c : (forall i, (i <= n)%nat -> c <= f i) -> c <= least n f.
Proof.
  induction n as [|n IH]; intros H; cbn [least].
  - apply H. lia.
  - apply Q.min_glb; [apply IH; intros; apply H; lia | apply H; lia].
Qed.

Lemma largest_at n f : exists i, (i <= n)%nat /\ largest n f == f i.
Proof.
  induction n as [|n [i [Hi E]]]; cbn [largest].
  - exists O. split; [lia|reflexivity].
  - destruct (max_cases (largest n f) (f (S n))) as [[_ M]|[_ M]].
    + exists (S n). split; [lia|assumption].
    + exists i. split; [lia|]. now rewrite M.
Qed.

Lemma least_at n f : exists i, (i <= n)%nat /\ least n f == f i.
Proof.
  induction n as [|n [i [Hi E]]]; cbn [least].
  - exists O. split; [lia|reflexivity].
  - destruct (min_cases (least n f) (f (S n))) as [[_ M]|[_ M]].
    + exists i. split; [lia|]. now rewrite M.
    + exists (S n). split; [lia|assumption].
Qed.

(** ** Comparisons that compute *)

Definition below (x y : Q) : bool := negb (Qle_bool y x).

Lemma below_cases x y : (x < y /\ below x y = true) \/ (y <= x /\ below x y = false).
Proof.
  unfold below. destruct (Qlt_le_dec x y) as [H|H].
  - left. split; [assumption|]. destruct (Qle_bool y x) eqn:E; [|reflexivity].
    apply Qle_bool_iff in E. lra.
  - right. split; [assumption|]. apply Qle_bool_iff in H. now rewrite H.
Qed.
