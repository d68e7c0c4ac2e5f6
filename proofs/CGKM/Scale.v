(** CGKM, Algorithm 1: the printed scale is no scale, and the repaired one is, for every value of the noisy count. *)

From Checked Require Import Base.Numbers Privacy.Channels CGKM.Sensitivity.
From Coq Require Import Qround.

(** The printed Δ, from the noisy count [M] and [n] records, and the repaired one. *)
Definition printed_scale (M n : Q) : Q := 2 / (M - 1) + 1 / n.
Definition repaired_scale (M n : Q) : Q := Qmax (2 / (Qmax M 1 + 1)) (1 / Qmax M 1 + 1 / n).

(** [dpfair_lib.compatibility.private_learner.sensitivity.utility_sensitivity], for counts of at least 1. *)
Definition utility_sensitivity (m m' n : Q) : Q := Qmax (sensitivity m m') (1 / Qmin m m' + 1 / n).

(** A choice by weights exp(−εu/(2Δ)) prefers smaller losses if Δ > 0, and is private if Δ is at least the
    sensitivity at every sample whose smaller count is at least the noisy one. *)
Definition scale_serves (scale : Q -> Q -> Q) : Prop :=
  forall M n, 1 <= n -> 0 < scale M n /\
  forall m m', 1 <= m -> 1 <= m' -> M <= m -> M <= m' -> utility_sensitivity m m' n <= scale M n.

Lemma sensitivity_falls M m m' : 1 <= M -> M <= m -> M <= m' -> sensitivity m m' <= 2 / (M + 1).
Proof.
  assert (W : forall a b, 1 <= M -> M <= a -> a <= b -> (a + b) / (a * (b + 1)) <= 2 / (M + 1)).
  { intros a b L A B. apply div_le; [apply mul_pos; lra|].
    setoid_replace (2 / (M + 1) * (a * (b + 1))) with (2 * (a * (b + 1)) / (M + 1)) by (field; lra).
    apply le_div; [lra|].
    assert (P : 0 <= (b - a) * (a - 1)) by nra. assert (R : 0 <= (a - M) * (a + b)) by nra. nra. }
  intros L A B. unfold sensitivity. destruct (Qlt_le_dec m' m) as [S|S].
  - rewrite Q.min_r, Q.max_l by lra. setoid_replace (m + m') with (m' + m) by ring. apply W; lra.
  - rewrite Q.min_l, Q.max_r by lra. now apply W.
Qed.

Theorem repaired_scale_serves : scale_serves repaired_scale.
Proof.
  intros M n N. unfold repaired_scale. set (K := Qmax M 1).
  assert (L : 1 <= K) by apply Q.le_max_r. split.
  - eapply Qlt_le_trans; [|apply Q.le_max_l]. apply div_pos; lra.
  - intros m m' A A' B B'. assert (C : K <= m) by (now apply Q.max_lub). assert (C' : K <= m') by (now apply Q.max_lub).
    unfold utility_sensitivity. apply Q.max_lub.
    + eapply Qle_trans; [now apply (sensitivity_falls K)|apply Q.le_max_l].
    + eapply Qle_trans; [|apply Q.le_max_r]. assert (D : K <= Qmin m m') by (now apply Q.min_glb).
      assert (1 / Qmin m m' <= 1 / K); [|lra]. apply div_le; [lra|].
      setoid_replace (1 / K * Qmin m m') with (Qmin m m' / K) by (field; lra). apply le_div; lra.
Qed.

(** No smaller scale serves: the repaired one is the sensitivity itself at two groups of M positives. *)
Theorem repaired_scale_is_least : forall scale, scale_serves scale ->
  forall M n, 1 <= M -> 1 <= n -> repaired_scale M n <= scale M n.
Proof.
  intros scale H M n L N. destruct (H M n N) as [_ K]. specialize (K M M L L ltac:(lra) ltac:(lra)).
  eapply Qle_trans; [|exact K]. unfold repaired_scale, utility_sensitivity, sensitivity.
  rewrite (Q.max_l M 1), (Q.min_id M), (Q.max_id M) by lra. apply Q.max_le_compat_r.
  apply Qle_lteq. right. field. lra.
Qed.

(** The printed scale is negative exactly between 1 − 2n and 1: there larger losses are likelier. *)
Definition negative_where (where_ : Q -> Q -> Prop) : Prop :=
  forall M n, 1 <= n -> ~ M == 1 -> (printed_scale M n < 0 <-> where_ M n).

Theorem printed_scale_negative : negative_where (fun M n => 1 - 2 * n < M /\ M < 1).
Proof.
  intros M n N E. unfold printed_scale.
  assert (F : 2 / (M - 1) + 1 / n == (2 * n + M - 1) / ((M - 1) * n)) by (field; split; lra). rewrite F.
  destruct (Q_dec M 1) as [[L|L]|L]; [| |contradiction].
  - assert (G : (2 * n + M - 1) / ((M - 1) * n) == - (2 * n + M - 1) / ((1 - M) * n)) by (field; split; lra). rewrite G.
    assert (P : 0 < (1 - M) * n) by (apply mul_pos; lra). split.
    + intros H. split; [|assumption]. destruct (Qlt_le_dec (1 - 2 * n) M) as [?|K]; [assumption|]. exfalso.
      assert (0 <= - (2 * n + M - 1) / ((1 - M) * n)) by (apply div_nonneg; lra). lra.
    + intros [H _]. apply div_lt; [assumption|]. lra.
  - assert (P : 0 < (M - 1) * n) by (apply mul_pos; lra). split; [|intros [_ ?]; lra].
    intros H. exfalso. assert (0 <= (2 * n + M - 1) / ((M - 1) * n)) by (apply div_nonneg; lra). lra.
Qed.

(** ** Planted faults *)

(** The printed scale. *)
Theorem repaired_scale_fault_1 : ~ scale_serves printed_scale.
Proof. intros H. destruct (H 0 2 ltac:(lra)) as [K _]. now vm_compute in K. Qed.

(** The error's part forgotten. *)
Theorem repaired_scale_fault_2 : ~ scale_serves (fun M n => 2 / (Qmax M 1 + 1)).
Proof. intros H. destruct (H 1 2 ltac:(lra)) as [_ K]. specialize (K 1 1 ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)). now vm_compute in K. Qed.

(** The scale of a count that is larger by one. *)
Theorem repaired_scale_fault_3 : ~ scale_serves (fun M n => repaired_scale (M + 1) n).
Proof. intros H. destruct (H 1 2 ltac:(lra)) as [_ K]. specialize (K 1 1 ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)). now vm_compute in K. Qed.

(** Below every count of 1. *)
Theorem printed_scale_fault_1 : ~ negative_where (fun M _ => M < 1).
Proof. intros H. pose proof (proj2 (H (-(9)) 2 ltac:(lra) ltac:(now compute))) as K. assert (L : -(9) < 1) by now compute. specialize (K L). now vm_compute in K. Qed.

(** For negative counts only. *)
Theorem printed_scale_fault_2 : ~ negative_where (fun M n => 1 - 2 * n < M /\ M < 0).
Proof.
  intros H. pose proof (proj1 (H (1#2) 2 ltac:(lra) ltac:(now compute))) as K. assert (L : printed_scale (1#2) 2 < 0) by now vm_compute.
  destruct (K L) as [_ Z]. now compute in Z.
Qed.

(** ** The choice itself, over the real numbers: here e^x is needed *)

From Coq Require Import Reals Qreals Lra.
From Checked Require Import Privacy.Noise.
Open Scope R_scope.

(** The exponential mechanism at any fixed scale of at least the sensitivity. *)
Theorem exponential_mechanism : exponential_loss_within (fun e => e).
Proof. exact exponential_private. Qed.

Theorem exponential_mechanism_fault_1 : ~ exponential_loss_within (fun e => e / 4).
Proof. exact exponential_private_fault_1. Qed.

Theorem exponential_mechanism_fault_2 : ~ exponential_loss_within (fun e => e * e / 3).
Proof. exact exponential_private_fault_2. Qed.

(** Two samples with the same noisy count [M], whose losses differ by at most the sensitivity at counts [m], [m'] of at
    least [M]; [c] choices. *)
Definition choice_private (scale : Q -> Q -> Q) : Prop :=
  forall M n m m' c e u u' i, (1 <= n)%Q -> (1 <= m)%Q -> (1 <= m')%Q -> (M <= m)%Q -> (M <= m')%Q ->
  (1 <= c)%nat -> 0 <= e -> (forall j, Rabs (u j - u' j) <= Q2R (utility_sensitivity m m' n)) ->
  chosen c e (Q2R (scale M n)) u i <= exp e * chosen c e (Q2R (scale M n)) u' i.

Theorem repaired_choice_private : choice_private repaired_scale.
Proof.
  intros M n m m' c e u u' i N Hm Hm' A A' C E H. destruct (repaired_scale_serves M n N) as [P S].
  specialize (S m m' Hm Hm' A A'). apply exponential_private; try assumption.
  - replace 0 with (Q2R 0) by (unfold Q2R; simpl; field). now apply Qlt_Rlt.
  - intros j. eapply Rle_trans; [apply H|]. now apply Qle_Rle.
Qed.

(** One record, and one positive in each group: losses 0 and 2 of two choices change places. *)
Definition rising (j : nat) : R := match j with O => 0 | _ => 2 end.
Definition falling (j : nat) : R := match j with O => 2 | _ => 0 end.

Lemma swapped scale s : choice_private scale -> Q2R (scale (-(1#2)) 1)%Q = s -> s <> 0 -> 1 / s <= 1 /\ - (1 / s) <= 1.
Proof.
  intros H E Z.
  assert (D : forall j, Rabs (rising j - falling j) <= Q2R (utility_sensitivity 1 1 1)).
  { assert (F : Q2R (utility_sensitivity 1 1 1) = 2) by (unfold Q2R; vm_compute; field). rewrite F.
    intros [|j]; simpl; [rewrite Rabs_minus_sym|]; replace (2 - 0) with 2 by ring; rewrite Rabs_pos_eq; lra. }
  assert (W : forall i, chosen 2 1 s rising i <= exp 1 * chosen 2 1 s falling i).
  { intros i. rewrite <- E. apply (H (-(1#2))%Q 1%Q 1%Q 1%Q 2%nat 1 rising falling i); try assumption; try (now compute); try lia; lra. }
  pose proof (W 0%nat) as A. pose proof (W 1%nat) as B. unfold chosen, weight, rising, falling in A, B. simpl in A, B.
  replace (- (1 * 0 / (2 * s))) with 0 in A, B by (field; assumption).
  replace (- (1 * 2 / (2 * s))) with (- (1 / s)) in A, B by (field; assumption).
  rewrite exp_0 in A, B. set (x := exp (- (1 / s))) in *. assert (X : 0 < x) by apply exp_pos.
  assert (R : forall p q, p / (0 + 1 + x) <= exp 1 * (q / (0 + x + 1)) -> p <= exp 1 * q).
  { intros p q K. replace (0 + x + 1) with (0 + 1 + x) in K by ring.
    apply Rmult_le_reg_r with (/ (0 + 1 + x)); [apply Rinv_0_lt_compat; lra|]. unfold Rdiv in K. lra. }
  apply R in A, B. split.
  - destruct (Rle_or_lt (1 / s) 1) as [L|L]; [assumption|]. exfalso. apply exp_up in L.
    assert (I : exp (1 / s) * x = 1) by (unfold x; rewrite <- exp_plus, Rplus_opp_r; apply exp_0). nra.
  - destruct (Rle_or_lt (- (1 / s)) 1) as [L|L]; [assumption|]. exfalso. apply exp_up in L. fold x in L. lra.
Qed.

(** The printed scale. *)
Theorem repaired_choice_fault_1 : ~ choice_private printed_scale.
Proof.
  intros H. destruct (swapped _ (- (1 / 3)) H) as [_ K]; [unfold Q2R; vm_compute; field | lra |].
  replace (- (1 / - (1 / 3))) with 3 in K by field. lra.
Qed.

(** A quarter of the repaired scale. *)
Theorem repaired_choice_fault_2 : ~ choice_private (fun M n => repaired_scale M n / 4)%Q.
Proof.
  intros H. destruct (swapped _ (1 / 2) H) as [K _]; [unfold Q2R; vm_compute; field | lra |].
  replace (1 / (1 / 2)) with 2 in K by field. lra.
Qed.
