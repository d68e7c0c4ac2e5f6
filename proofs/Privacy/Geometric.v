(** Geometric noise on a whole number: private without any δ.

    The noise [z] has a chance in proportion to t^(-|z|), where [t = e^(ε/Δ)]. *)

From Checked Require Import Base.Numbers Privacy.Channels ISIT.Proposition1 ISIT.Theorem3.

Fixpoint pow (x : Q) (n : nat) : Q := match n with O => 1 | S n => x * pow x n end.

Lemma pow_pos x n : 0 < x -> 0 < pow x n.
Proof. intros H. induction n as [|n IH]; cbn; [lra|]. now apply mul_pos. Qed.

Lemma pow_add x m n : pow x (m + n) == pow x m * pow x n.
Proof. induction m as [|m IH]; cbn; [ring|]. rewrite IH. ring. Qed.

Lemma pow_one_le x n : 1 <= x -> 1 <= pow x n.
Proof. intros H. induction n as [|n IH]; cbn [pow]; [lra|]. nra. Qed.

Lemma pow_inverse t n : 0 < t -> pow t n * pow (/ t) n == 1.
Proof.
  intros T. induction n as [|n IH]; cbn [pow]; [ring|].
  setoid_replace (t * pow t n * (/ t * pow (/ t) n)) with (t * / t * (pow t n * pow (/ t) n)) by ring.
  rewrite IH, Qmult_inv_r by lra. ring.
Qed.

(** The chance of the noise [z], with x = 1/t. *)
Definition geometric (x : Q) (z : Z) : Q := (1 - x) / (1 + x) * pow x (Z.abs_nat z).

(** A count [f] with noise is reported as [y]; [f'] is the neighbour's count. *)
Definition loss_within (odds : Q -> nat -> Q) : Prop :=
  forall t y f f', 1 < t ->
  geometric (/ t) (y - f)%Z <= odds t (Z.abs_nat (f - f')) * geometric (/ t) (y - f')%Z.

Theorem geometric_private : loss_within pow.
Proof.
  intros t y f f' T. unfold geometric. set (x := / t).
  assert (X : 0 < x) by (apply Qinv_lt_0_compat; lra).
  assert (X1 : x < 1) by (unfold x; apply Qlt_shift_inv_r; lra).
  assert (C : 0 < (1 - x) / (1 + x)) by (apply div_pos; lra).
  set (m := Z.abs_nat (f - f')). set (n := Z.abs_nat (y - f)). set (n' := Z.abs_nat (y - f')).
  assert (L : (n' <= n + m)%nat) by (unfold n', n, m; lia).
  assert (H : pow x n <= pow t m * pow x n').
  { replace (n + m)%nat with (n' + (n + m - n'))%nat in * by lia. set (r := (n + m - n')%nat) in *.
    assert (E : pow x n * pow x m == pow x n' * pow x r).
    { rewrite <- !pow_add. replace (n + m)%nat with (n' + r)%nat by (unfold r; lia). reflexivity. }
    assert (R : pow x r <= 1).
    { pose proof (pow_inverse t r ltac:(lra)) as I. fold x in I. pose proof (pow_one_le t r ltac:(lra)).
      pose proof (pow_pos x r X). nra. }
    pose proof (pow_pos x n' X) as P'. pose proof (pow_pos t m ltac:(lra)) as Pt.
    pose proof (pow_inverse t m ltac:(lra)) as I. fold x in I.
    assert (K : pow x n * pow x m <= pow x n') by (rewrite E; nra).
    pose proof (scaled (pow t m) _ _ (Qlt_le_weak _ _ Pt) K) as S.
    setoid_replace (pow t m * (pow x n * pow x m)) with (pow t m * pow x m * pow x n) in S by ring. rewrite I in S. lra. }
  pose proof (scaled _ _ _ (Qlt_le_weak _ _ C) H). lra.
Qed.

(** Attained at y = f, so that no smaller level does. *)
Theorem geometric_attained : forall t f f', 1 < t ->
  geometric (/ t) (f - f)%Z == pow t (Z.abs_nat (f - f')) * geometric (/ t) (f - f')%Z.
Proof.
  intros t f f' T. unfold geometric. rewrite Z.sub_diag. cbn [Z.abs_nat pow].
  pose proof (pow_inverse t (Z.abs_nat (f - f')) ltac:(lra)) as I.
  setoid_replace (pow t (Z.abs_nat (f - f')) * ((1 - / t) / (1 + / t) * pow (/ t) (Z.abs_nat (f - f'))))
    with ((1 - / t) / (1 + / t) * (pow t (Z.abs_nat (f - f')) * pow (/ t) (Z.abs_nat (f - f')))) by ring.
  rewrite I. reflexivity.
Qed.

(** The chances of the noise from −n to n miss 1 by 2x^(n+1)/(1 + x), which vanishes: they add up to 1. *)
Definition central_chance (x : Q) (n : nat) : Q :=
  geometric x 0 + sum n (fun i => geometric x (Z.of_nat (S i)) + geometric x (- Z.of_nat (S i))).

Definition misses (rest : Q -> nat -> Q) : Prop :=
  forall x n, 0 < x < 1 -> central_chance x n == 1 - rest x n.

Theorem geometric_adds_up : misses (fun x n => 2 * pow x (S n) / (1 + x)).
Proof.
  intros x n X. unfold central_chance. induction n as [|n IH]; cbn [sum].
  - unfold geometric. cbn [Z.abs_nat pow]. field. lra.
  - rewrite Qplus_assoc, IH. unfold geometric. replace (Z.abs_nat (- Z.of_nat (S n))) with (S n) by lia.
    replace (Z.abs_nat (Z.of_nat (S n))) with (S n) by lia. cbn [pow]. field. lra.
Qed.

(** ** Algorithm 2 without any δ is fair and useful: the printed sentence fails

    Two groups of [n] people each, of whom [a] and [b] have the answer 1. Both counts are released with geometric noise,
    and Algorithm 2 believes the noisy rates, cut off at 0 and 1. *)
Definition noisy_rate (n count : nat) (z : Z) : Q :=
  Qmax 0 (Qmin 1 (inject_Z (Z.of_nat count + z) / number n)).

(** The gap that is left is at most [gap], and the changes exceed |α − β| by at most [excess]. *)
Definition kept (gap excess : Q) (n a b : nat) (z0 z1 : Z) : bool :=
  let alpha := number a / number n in let beta := number b / number n in
  Qle_bool (Qabs (signed_gap alpha beta (noisy_rate n a z0) (noisy_rate n b z1))) gap &&
  Qle_bool (summed_changes alpha beta (noisy_rate n a z0) (noisy_rate n b z1)) (Qabs (alpha - beta) + excess).

(** Sums over the noise from −m to m; the chance of an event while both noises lie there, which grows with m to the event's. *)
Definition central_sum (m : nat) (f : Z -> Q) : Q :=
  f 0%Z + sum m (fun i => f (Z.of_nat (S i)) + f (- Z.of_nat (S i))%Z).

Definition chance_of (x : Q) (m : nat) (event : Z -> Z -> bool) : Q :=
  central_sum m (fun z0 => central_sum m (fun z1 => geometric x z0 * geometric x z1 * indicator (event z0 z1))).

Lemma central_sum_ext m f g : (forall z, (Z.abs z <= Z.of_nat m)%Z -> f z == g z) -> central_sum m f == central_sum m g.
Proof.
  intros H. unfold central_sum. rewrite (H 0%Z) by lia. rewrite (sum_ext m _ (fun i => g (Z.of_nat (S i)) + g (- Z.of_nat (S i))%Z)).
  - reflexivity.
  - intros i Hi. rewrite (H (Z.of_nat (S i))), (H (- Z.of_nat (S i))%Z) by lia. reflexivity.
Qed.

Lemma central_sum_scale m f c : central_sum m (fun z => c * f z) == c * central_sum m f.
Proof.
  unfold central_sum. rewrite (sum_ext m _ (fun i => c * (f (Z.of_nat (S i)) + f (- Z.of_nat (S i))%Z))) by (intros; ring).
  rewrite sum_scale. ring.
Qed.

Lemma chance_of_all x m event : (forall z0 z1, (Z.abs z0 <= Z.of_nat m)%Z -> (Z.abs z1 <= Z.of_nat m)%Z -> event z0 z1 = true) ->
  chance_of x m event == central_chance x m * central_chance x m.
Proof.
  intros H. unfold chance_of. change (central_chance x m) with (central_sum m (geometric x)).
  rewrite <- central_sum_scale. apply central_sum_ext. intros z0 Z0.
  rewrite (central_sum_ext m _ (fun z1 => geometric x z0 * geometric x z1)).
  - rewrite central_sum_scale. ring.
  - intros z1 Z1. rewrite (H z0 z1 Z0 Z1). cbn [indicator]. ring.
Qed.

Lemma noisy_rate_near n count z m : (1 <= n)%nat -> (count <= n)%nat -> (Z.abs z <= Z.of_nat m)%Z ->
  Qabs (number count / number n - noisy_rate n count z) <= number m / number n /\ 0 <= noisy_rate n count z <= 1.
Proof.
  intros N C Z. assert (Np : 0 < number n) by (pose proof (number_le 1 n N); change (number 1) with 1 in *; lra).
  assert (R : 0 <= number count / number n <= 1).
  { split; [apply div_nonneg; [assumption | apply number_nonneg] | apply div_le; [assumption|]].
    pose proof (number_le count n C). lra. }
  assert (E : inject_Z (Z.of_nat count + z) / number n == number count / number n + inject_Z z / number n)
    by (unfold number; rewrite inject_Z_plus; field; unfold number in Np; lra).
  assert (B : - (number m / number n) <= inject_Z z / number n /\ inject_Z z / number n <= number m / number n).
  { assert (L : - number m <= inject_Z z /\ inject_Z z <= number m).
    { unfold number. rewrite <- inject_Z_opp. split; rewrite <- Zle_Qle; lia. }
    split.
    - apply le_div; [assumption|]. setoid_replace (- (number m / number n) * number n) with (- number m) by (field; lra). tauto.
    - apply div_le; [assumption|]. rewrite div_mul by lra. tauto. }
  unfold noisy_rate. rewrite E. set (u := number count / number n) in *. set (v := inject_Z z / number n) in *.
  set (w := number m / number n) in *. clearbody u v w. split; [apply abs_le; cases_abs; lra | cases_abs; lra].
Qed.

Lemma always_kept n m a b z0 z1 : (1 <= n)%nat -> (a <= n)%nat -> (b <= n)%nat ->
  (Z.abs z0 <= Z.of_nat m)%Z -> (Z.abs z1 <= Z.of_nat m)%Z ->
  kept (2 * (number m / number n)) (2 * (2 * (number m / number n))) n a b z0 z1 = true.
Proof.
  intros N A B Z0 Z1. destruct (noisy_rate_near n a z0 m N A Z0) as [E0 R0], (noisy_rate_near n b z1 m N B Z1) as [E1 R1].
  assert (Np : 0 < number n) by (pose proof (number_le 1 n N); change (number 1) with 1 in *; lra).
  assert (Ra : 0 <= number a / number n <= 1).
  { split; [apply div_nonneg; [assumption | apply number_nonneg] | apply div_le; [assumption|]]. pose proof (number_le a n A). lra. }
  assert (Rb : 0 <= number b / number n <= 1).
  { split; [apply div_nonneg; [assumption | apply number_nonneg] | apply div_le; [assumption|]]. pose proof (number_le b n B). lra. }
  assert (V : Theorem3.rates (number a / number n) (number b / number n) (noisy_rate n a z0) (noisy_rate n b z1)).
  { unfold Theorem3.rates. tauto. }
  pose proof (theorem_3_fairness _ _ _ _ V) as F. pose proof (theorem_3_utility _ _ _ _ V) as U. cbv beta in F, U.
  unfold kept. apply Bool.andb_true_iff. rewrite !Qle_bool_iff.
  set (d := signed_gap _ _ _ _) in *. set (c := summed_changes _ _ _ _) in *. split; [lra|].
  assert (O : optimal_change (number a / number n) (number b / number n) (Qabs d) <= Qabs (number a / number n - number b / number n)).
  { unfold optimal_change, change_lower_bound. pose proof (Qabs_nonneg d). pose proof (Qabs_nonneg (number a / number n - number b / number n)).
    apply Q.max_lub; lra. }
  lra.
Qed.

(** Gap and excess are at most [gap] and twice it, with a chance of at least [chance], whatever the counts: noises of at
    most some M have that chance already. *)
Definition fair_and_useful (gap : nat -> nat -> Q) (chance : Q -> nat -> Q) : Prop :=
  forall n m a b x, (1 <= n)%nat -> (a <= n)%nat -> (b <= n)%nat -> 0 < x < 1 ->
  exists M, chance x m <= chance_of x M (kept (gap n m) (2 * gap n m) n a b).

Definition both_central (x : Q) (m : nat) : Q := (1 - 2 * pow x (S m) / (1 + x)) * (1 - 2 * pow x (S m) / (1 + x)).

Theorem pure_release_is_useful : fair_and_useful (fun n m => 2 * (number m / number n)) both_central.
Proof.
  intros n m a b x N A B X. exists m. rewrite chance_of_all.
  - unfold both_central. rewrite (geometric_adds_up x m X). apply Qle_refl.
  - intros z0 z1 Z0 Z1. now apply always_kept.
Qed.

Lemma kept_same g e g' e' n a b z0 z1 : g == g' -> e == e' -> kept g e n a b z0 z1 = true -> kept g' e' n a b z0 z1 = true.
Proof. intros G E. unfold kept. rewrite !Bool.andb_true_iff, !Qle_bool_iff, G, E. tauto. Qed.

(** 100 people in each group, e^ε = 2: with chance 0.99 the gap is at most 0.2, and where both groups' rates are equal at most 0.4 change. *)
Theorem pure_release_example : forall a b, (a <= 100)%nat -> (b <= 100)%nat ->
  99#100 <= chance_of (1#2) 10 (kept (1#5) (2#5) 100 a b).
Proof.
  intros a b A B. rewrite chance_of_all.
  - rewrite (geometric_adds_up (1#2) 10%nat ltac:(lra)). now vm_compute.
  - intros z0 z1 Z0 Z1. eapply kept_same; [| |exact (always_kept 100%nat 10%nat a b z0 z1 ltac:(lia) A B Z0 Z1)]; now vm_compute.
Qed.

(** ** Planted faults *)

Lemma loss_sharp odds : loss_within odds -> 2 <= odds 2 1%nat.
Proof.
  intros H. specialize (H 2 0%Z 0%Z 1%Z ltac:(lra)). rewrite (geometric_attained 2 0%Z 1%Z ltac:(lra)) in H.
  change (Z.abs_nat (0 - 1)) with 1%nat in H. change (pow 2 1) with (2 * 1) in H.
  assert (G : geometric (/ 2) (0 - 1)%Z == 1#6) by now compute. rewrite G in H. lra.
Qed.

(** No loss for a neighbour. *)
Theorem geometric_private_fault_1 : ~ loss_within (fun t m => pow t (m - 1)).
Proof. intros H. apply loss_sharp in H. now compute in H. Qed.

(** The mean of 1 and the loss. *)
Theorem geometric_private_fault_2 : ~ loss_within (fun t m => (1 + pow t m) / 2).
Proof. intros H. apply loss_sharp in H. now compute in H. Qed.

(** One tail only. *)
Theorem geometric_adds_up_fault_1 : ~ misses (fun x n => pow x (S n) / (1 + x)).
Proof. intros H. specialize (H (1#2) 1%nat ltac:(lra)). now vm_compute in H. Qed.

(** Both tails without their normalisation. *)
Theorem geometric_adds_up_fault_2 : ~ misses (fun x n => 2 * pow x (S n)).
Proof. intros H. specialize (H (1#2) 1%nat ltac:(lra)). now vm_compute in H. Qed.

(** No noises, however large, make up for the chance of the complement. *)
Lemma geometric_nonneg x z : 0 < x < 1 -> 0 <= geometric x z.
Proof.
  intros X. unfold geometric. apply mul_nonneg; [apply div_nonneg; lra|]. apply Qlt_le_weak, pow_pos. lra.
Qed.

Lemma central_sum_le m f g : (forall z, f z <= g z) -> central_sum m f <= central_sum m g.
Proof.
  intros H. unfold central_sum. apply Qplus_le_compat; [apply H|]. apply sum_le. intros i _. cbv beta.
  apply Qplus_le_compat; apply H.
Qed.

Lemma central_sum_nonneg m f : (forall z, 0 <= f z) -> 0 <= central_sum m f.
Proof.
  intros H. unfold central_sum. pose proof (H 0%Z).
  assert (0 <= sum m (fun i => f (Z.of_nat (S i)) + f (- Z.of_nat (S i))%Z)); [|lra].
  apply sum_nonneg. intros i _. pose proof (H (Z.of_nat (S i))). pose proof (H (- Z.of_nat (S i))%Z). lra.
Qed.

Lemma central_sum_more m k f : (forall z, 0 <= f z) -> central_sum m f <= central_sum (m + k) f.
Proof.
  intros H. induction k as [|k IH]; [rewrite Nat.add_0_r; lra|]. rewrite Nat.add_succ_r. eapply Qle_trans; [exact IH|].
  unfold central_sum. cbn [sum]. pose proof (H (Z.of_nat (S (m + k)))). pose proof (H (- Z.of_nat (S (m + k)))%Z). lra.
Qed.

Lemma central_sum_plus m f g : central_sum m (fun z => f z + g z) == central_sum m f + central_sum m g.
Proof.
  unfold central_sum. rewrite (sum_ext m _ (fun i => (f (Z.of_nat (S i)) + f (- Z.of_nat (S i))%Z) +
    (g (Z.of_nat (S i)) + g (- Z.of_nat (S i))%Z))) by (intros; ring).
  rewrite sum_plus. ring.
Qed.

Lemma event_nonneg x event : 0 < x < 1 -> forall z0 z1, 0 <= geometric x z0 * geometric x z1 * indicator (event z0 z1 : bool).
Proof.
  intros X z0 z1. pose proof (mul_nonneg _ _ (geometric_nonneg x z0 X) (geometric_nonneg x z1 X)).
  destruct (event z0 z1); cbn [indicator]; lra.
Qed.

Lemma chance_of_more x m k event : 0 < x < 1 -> chance_of x m event <= chance_of x (m + k) event.
Proof.
  intros X. unfold chance_of. pose proof (event_nonneg x event X) as P.
  eapply Qle_trans; [apply central_sum_more with (k := k); intros z0; apply central_sum_nonneg, P|].
  apply central_sum_le. intros z0. apply central_sum_more, P.
Qed.

Lemma chance_of_both x m event : 0 < x < 1 ->
  chance_of x m event + chance_of x m (fun z0 z1 => negb (event z0 z1)) <= 1.
Proof.
  intros X. unfold chance_of. rewrite <- central_sum_plus.
  rewrite (central_sum_ext m _ (fun z0 => central_chance x m * geometric x z0)).
  - rewrite central_sum_scale. change (central_sum m (geometric x)) with (central_chance x m).
    pose proof (geometric_adds_up x m X) as G. cbv beta in G. rewrite G. set (r := 2 * pow x (S m) / (1 + x)) in *.
    assert (R : 0 <= r <= 1).
    { assert (P : 0 < pow x (S m)) by (apply pow_pos; lra). split; [unfold r; apply div_nonneg; lra|].
      pose proof (central_sum_nonneg m (geometric x) (fun z => geometric_nonneg x z X)) as N.
      change (central_sum m (geometric x)) with (central_chance x m) in N. lra. }
    assert (0 <= r * (1 - r)) by (apply mul_nonneg; lra). lra.
  - intros z0 _. rewrite <- central_sum_plus.
    rewrite (central_sum_ext m _ (fun z1 => geometric x z0 * geometric x z1)).
    + rewrite central_sum_scale. change (central_sum m (geometric x)) with (central_chance x m). ring.
    + intros z1 _. destruct (event z0 z1); cbn [negb indicator]; ring.
Qed.

Lemma chance_of_at_most x M m event : 0 < x < 1 ->
  chance_of x M event <= 1 - chance_of x m (fun z0 z1 => negb (event z0 z1)).
Proof.
  intros X. pose proof (chance_of_more x M m event X) as A.
  pose proof (chance_of_more x m M (fun z0 z1 => negb (event z0 z1)) X) as B. rewrite Nat.add_comm in B.
  pose proof (chance_of_both x (M + m) event X). lra.
Qed.

(** Half of the gap: both noises may push apart. With chance 0.953 at e^ε = 10, for a claimed 0.964. *)
Theorem pure_release_is_useful_fault_1 : ~ fair_and_useful (fun n m => number m / number n) both_central.
Proof.
  intros H. destruct (H 100%nat 1%nat 50%nat 50%nat (1#10) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lra)) as [M K].
  pose proof (Qle_trans _ _ _ K (chance_of_at_most (1#10) M 2 _ ltac:(lra))) as C. now vm_compute in C.
Qed.

(** One tail only. At m = 0 the gap is 0 with chance 0.185 at e^ε = 2, for a claimed 0.444. *)
Theorem pure_release_is_useful_fault_2 :
  ~ fair_and_useful (fun n m => 2 * (number m / number n)) (fun x m => (1 - pow x (S m) / (1 + x)) * (1 - pow x (S m) / (1 + x))).
Proof.
  intros H. destruct (H 100%nat 0%nat 50%nat 50%nat (1#2) ltac:(lia) ltac:(lia) ltac:(lia) ltac:(lra)) as [M K].
  pose proof (Qle_trans _ _ _ K (chance_of_at_most (1#2) M 3 _ ltac:(lra))) as C. now vm_compute in C.
Qed.
