(** The Laplace mechanism and the exponential mechanism, over the real numbers: here e^x is needed.

    So these theorems rest on the axioms of the standard library's real numbers. *)

From Coq Require Import Reals Lra Lia PeanoNat.
Open Scope R_scope.

(** The library proves this by derivatives, and with the excluded middle as an axiom; the series needs none. *)
Lemma exp_above_one h : 0 < h -> 1 < exp h.
Proof.
  intros H. pose proof (proj2_sig (exist_exp h)) as E. fold (exp h) in E.
  assert (S : sum_f_R0 (fun i => / INR (fact i) * h ^ i) 1 <= exp h).
  { apply sum_incr; [exact E|]. intros n. apply Rmult_le_pos; [|apply pow_le; lra].
    apply Rlt_le, Rinv_0_lt_compat, INR_fact_lt_0. }
  simpl in S. lra.
Qed.

Lemma exp_up x y : x < y -> exp x < exp y.
Proof.
  intros H. replace y with (x + (y - x)) by ring. rewrite exp_plus.
  pose proof (exp_above_one (y - x) ltac:(lra)). pose proof (exp_pos x). nra.
Qed.

Fixpoint total (n : nat) (f : nat -> R) : R := match n with O => 0 | S m => total m f + f m end.

Lemma total_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> total n f <= total n g.
Proof.
  induction n as [|n IH]; simpl; intros H; [lra|].
  assert (total n f <= total n g) by (apply IH; intros; apply H; lia).
  assert (f n <= g n) by (apply H; lia). lra.
Qed.

Lemma total_scale n c f : total n (fun i => c * f i) = c * total n f.
Proof. induction n as [|n IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma total_pos n f : (1 <= n)%nat -> (forall i, 0 < f i) -> 0 < total n f.
Proof.
  intros Hn H. induction n as [|n IH]; [lia|]. simpl. destruct n as [|n].
  - simpl. specialize (H 0%nat). lra.
  - assert (0 < total (S n) f) by (apply IH; lia). specialize (H (S n)). lra.
Qed.

(** ** Laplace noise of scale b in each of n coordinates: the density up to a constant, which cancels *)

Definition density (n : nat) (b : R) (f y : nat -> R) : R := exp (- (total n (fun i => Rabs (y i - f i)) / b)).

(** ‖f − f'‖₁. *)
Definition distance (n : nat) (f f' : nat -> R) : R := total n (fun i => Rabs (f i - f' i)).

(** The loss is at most [loss]; the printed sensitivity bounds the distance. *)
Definition laplace_loss_within (loss : R -> R -> R) : Prop :=
  forall n b f f' y, 0 < b -> density n b f y <= exp (loss (distance n f f') b) * density n b f' y.

Theorem laplace_private : laplace_loss_within (fun d b => d / b).
Proof.
  intros n b f f' y B. unfold density, distance. rewrite <- exp_plus.
  assert (H : total n (fun i => Rabs (y i - f' i)) <= total n (fun i => Rabs (f i - f' i)) + total n (fun i => Rabs (y i - f i))).
  { induction n as [|n IH]; simpl; [lra|]. pose proof (Rabs_triang (f n - f' n) (y n - f n)) as T.
    replace (f n - f' n + (y n - f n)) with (y n - f' n) in T by ring. lra. }
  assert (K : - (total n (fun i => Rabs (y i - f i)) / b) <=
              total n (fun i => Rabs (f i - f' i)) / b + - (total n (fun i => Rabs (y i - f' i)) / b)).
  { apply Rmult_le_reg_r with b; [assumption|]. field_simplify; lra. }
  destruct K as [K|K]; [left; now apply exp_up | right; now rewrite K].
Qed.

(** Attained at y = f: the largest loss is exactly the distance over b. *)
Theorem laplace_attained : forall n b f f', 0 < b ->
  density n b f f = exp (distance n f f' / b) * density n b f' f.
Proof.
  intros n b f f' B. unfold density, distance. rewrite <- exp_plus. f_equal.
  assert (Z : total n (fun i => Rabs (f i - f i)) = 0).
  { induction n as [|n IH]; simpl; [reflexivity|]. rewrite IH. replace (f n - f n) with 0 by ring. rewrite Rabs_R0. ring. }
  rewrite Z. field. lra.
Qed.

Definition unit (_ : nat) : R := 1.
Definition origin (_ : nat) : R := 0.

Lemma laplace_sharp loss : laplace_loss_within loss -> 1 <= loss 1 1.
Proof.
  intros H. specialize (H 1%nat 1 unit origin unit ltac:(lra)). rewrite (laplace_attained 1 1 unit origin ltac:(lra)) in H.
  assert (D : distance 1 unit origin = 1).
  { unfold distance, unit, origin. simpl. replace (1 - 0) with 1 by ring. rewrite Rabs_R1. ring. }
  rewrite D in H. apply Rmult_le_reg_r in H; [|apply exp_pos].
  destruct (Rle_or_lt 1 (loss 1 1)) as [L|L]; [assumption|]. exfalso.
  apply exp_up in L. replace (1 / 1) with 1 in H by field. lra.
Qed.

(** Half of the scale would do. *)
Theorem laplace_private_fault_1 : ~ laplace_loss_within (fun d b => d / (2 * b)).
Proof. intros H. apply laplace_sharp in H. lra. Qed.

(** The square of the distance. *)
Theorem laplace_private_fault_2 : ~ laplace_loss_within (fun d b => d * d / (b + 1)).
Proof. intros H. apply laplace_sharp in H. lra. Qed.

(** ** The exponential mechanism: choice [i] of [m] with chance in proportion to exp(−ε·u/(2Δ)) *)

Definition weight (e d : R) (u : nat -> R) (i : nat) : R := exp (- (e * u i / (2 * d))).
Definition chosen (m : nat) (e d : R) (u : nat -> R) (i : nat) : R := weight e d u i / total m (weight e d u).

(** The losses of neighbouring data differ by at most [d] for every choice. *)
Definition exponential_loss_within (loss : R -> R) : Prop :=
  forall m e d u u' i, (1 <= m)%nat -> 0 <= e -> 0 < d -> (forall j, Rabs (u j - u' j) <= d) ->
  chosen m e d u i <= exp (loss e) * chosen m e d u' i.

Lemma weight_moves e d u u' j : 0 <= e -> 0 < d -> Rabs (u j - u' j) <= d -> weight e d u j <= exp (e / 2) * weight e d u' j.
Proof.
  intros E D H. unfold weight. rewrite <- exp_plus.
  assert (K : - (e * u j / (2 * d)) <= e / 2 + - (e * u' j / (2 * d))).
  { apply Rmult_le_reg_r with (2 * d); [lra|].
    replace (- (e * u j / (2 * d)) * (2 * d)) with (- (e * u j)) by (field; lra).
    replace ((e / 2 + - (e * u' j / (2 * d))) * (2 * d)) with (e * d - e * u' j) by (field; lra).
    unfold Rabs in H. destruct (Rcase_abs (u j - u' j)); nra. }
  destruct K as [K|K]; [left; now apply exp_up | right; now rewrite K].
Qed.

Theorem exponential_private : exponential_loss_within (fun e => e).
Proof.
  intros m e d u u' i Hm E D H. unfold chosen.
  assert (P : forall v, 0 < total m (weight e d v)) by (intros v; apply total_pos; [assumption | intros; apply exp_pos]).
  pose proof (weight_moves e d u u' i E D (H i)) as A.
  assert (B : total m (weight e d u') <= exp (e / 2) * total m (weight e d u)).
  { rewrite <- total_scale. apply total_le. intros j _. apply weight_moves; try assumption.
    rewrite Rabs_minus_sym. apply H. }
  apply Rmult_le_reg_r with (total m (weight e d u)); [apply P|].
  replace (weight e d u i / total m (weight e d u) * total m (weight e d u)) with (weight e d u i)
    by (field; specialize (P u); lra).
  apply Rmult_le_reg_r with (total m (weight e d u')); [apply P|].
  replace (exp e * (weight e d u' i / total m (weight e d u')) * total m (weight e d u) * total m (weight e d u'))
    with (exp e * weight e d u' i * total m (weight e d u)) by (field; specialize (P u'); lra).
  replace (exp e) with (exp (e / 2) * exp (e / 2)) by (rewrite <- exp_plus; f_equal; field).
  pose proof (P u) as Pu. pose proof (P u') as Pu'. pose proof (exp_pos (e / 2)) as X.
  assert (Wu : 0 < weight e d u i) by apply exp_pos. assert (Wu' : 0 < weight e d u' i) by apply exp_pos.
  apply Rle_trans with (exp (e / 2) * weight e d u' i * total m (weight e d u')).
  - apply Rmult_le_compat_r; lra.
  - replace (exp (e / 2) * exp (e / 2) * weight e d u' i * total m (weight e d u))
      with (exp (e / 2) * weight e d u' i * (exp (e / 2) * total m (weight e d u))) by ring.
    apply Rmult_le_compat_l; [|assumption]. apply Rmult_le_pos; lra.
Qed.

(** Two choices whose losses move against each other: at ε = 1 the loss is above 1/4. *)
Definition up (i : nat) : R := match i with O => 0 | _ => 1 end.
Definition down (i : nat) : R := match i with O => 1 | _ => 0 end.

Lemma exponential_example loss : exponential_loss_within loss -> exp (1 / 2) <= exp (loss 1).
Proof.
  intros H. specialize (H 2%nat 1 1 up down 0%nat ltac:(lia) ltac:(lra) ltac:(lra)).
  assert (D : forall j, Rabs (up j - down j) <= 1).
  { intros [|j]; simpl; [rewrite Rabs_minus_sym|]; replace (1 - 0) with 1 by ring; rewrite Rabs_R1; lra. }
  specialize (H D). unfold chosen, weight, up, down in H. simpl in H.
  replace (- (1 * 0 / (2 * 1))) with 0 in H by field. replace (- (1 * 1 / (2 * 1))) with (- (1 / 2)) in H by field.
  rewrite exp_0 in H. set (x := exp (- (1 / 2))) in *. assert (X : 0 < x) by apply exp_pos.
  replace (0 + x + 1) with (0 + 1 + x) in H by ring.
  assert (K : 1 <= exp (loss 1) * x).
  { apply Rmult_le_reg_r with (/ (0 + 1 + x)); [apply Rinv_0_lt_compat; lra|]. unfold Rdiv in H. lra. }
  replace (exp (1 / 2)) with (/ x).
  - apply Rmult_le_reg_r with x; [assumption|]. rewrite Rinv_l by lra. exact K.
  - unfold x. rewrite exp_Ropp, Rinv_inv. reflexivity.
Qed.

(** A quarter of ε. *)
Theorem exponential_private_fault_1 : ~ exponential_loss_within (fun e => e / 4).
Proof.
  intros H. apply exponential_example in H. assert (L : 1 / 4 < 1 / 2) by lra. apply exp_up in L. lra.
Qed.

(** ε squared over 3. *)
Theorem exponential_private_fault_2 : ~ exponential_loss_within (fun e => e * e / 3).
Proof.
  intros H. apply exponential_example in H. assert (L : 1 * 1 / 3 < 1 / 2) by lra. apply exp_up in L. lra.
Qed.
