(** SK, Lemma A.2, the parts on cells and limits: when no noisy cell vanishes, what slack a rule needs, and that the
    constants are sharp. *)

From Checked Require Import Base.Numbers Privacy.Channels SK.Guarantees.

(** ** Part 2: how often a noisy cell is not positive *)

Fixpoint power (x : Q) (n : nat) : Q := match n with O => 1 | S m => x * power x m end.

(** [dpfair_lib.claims.sk.lemma_a2_2.noisy_cells_failure]: one of 2|A| cells, each lost with chance [tail]/2. *)
Definition cells_failure (tail : Q) (g : nat) : Q := 1 - power (1 - tail / 2) (2 * g).

Lemma power_range x n : 0 <= x <= 1 -> 0 <= power x n <= 1.
Proof. intros H. induction n as [|n IH]; cbn [power]; [lra|]. destruct IH. split; nra. Qed.

Lemma bernoulli x n : 0 <= x <= 1 -> 1 - number n * x <= power (1 - x) n.
Proof.
  intros H. induction n as [|n IH]; [change (number 0) with 0; cbn; lra|]. cbn [power]. rewrite number_S.
  pose proof (number_nonneg n). pose proof (power_range (1 - x) n ltac:(lra)).
  assert (A : (1 - x) * (1 - number n * x) <= (1 - x) * power (1 - x) n) by (apply scaled; lra).
  assert (B : 0 <= number n * (x * x)) by (apply mul_nonneg; [assumption | apply square_nonneg]). lra.
Qed.

(** At the condition's edge two tail lengths lie between a cell and 0: the tail is at most (β/(2|A|))². *)
Definition cells_fail_at_most (bound : nat -> Q -> Q) : Prop :=
  forall g beta tail, (1 <= g)%nat -> 0 <= beta <= 1 ->
  0 <= tail <= (beta / (2 * number g)) * (beta / (2 * number g)) -> cells_failure tail g <= bound g beta.

Lemma number_double g : number (2 * g) == 2 * number g.
Proof. unfold number. rewrite Nat2Z.inj_mul, inject_Z_mult. reflexivity. Qed.

Theorem lemma_a2_2 : cells_fail_at_most (fun g beta => beta * beta / (4 * number g)).
Proof.
  intros g beta tail G B [T0 T]. unfold cells_failure.
  assert (N : 1 <= number g) by (pose proof (number_le 1 g G); change (number 1) with 1 in *; lra).
  assert (S : (beta / (2 * number g)) * (beta / (2 * number g)) == beta * beta / (4 * number g) / number g) by (field; lra).
  rewrite S in T.
  assert (E : number g * tail <= beta * beta / (4 * number g)).
  { apply Qle_trans with (number g * (beta * beta / (4 * number g) / number g)); [apply scaled; lra|].
    apply Qle_lteq. right. field. lra. }
  assert (Small : tail <= 1).
  { apply Qle_trans with (beta * beta / (4 * number g) / number g); [assumption|]. apply div_le; [lra|].
    apply div_le; [lra|]. assert (beta * beta <= 1) by nra. nra. }
  pose proof (bernoulli (tail / 2) (2 * g) ltac:(split; [apply div_nonneg; lra | apply div_le; lra])) as P.
  rewrite number_double in P. setoid_replace (2 * number g * (tail / 2)) with (number g * tail) in P by field. lra.
Qed.

(** As printed: with chance at most β. *)
Theorem lemma_a2_2_as_printed : cells_fail_at_most (fun _ beta => beta).
Proof.
  intros g beta tail G B T. pose proof (lemma_a2_2 g beta tail G B T) as K. cbv beta in K.
  assert (N : 1 <= number g) by (pose proof (number_le 1 g G); change (number 1) with 1 in *; lra).
  eapply Qle_trans; [exact K|]. apply div_le; [lra|]. nra.
Qed.

(** ** Part 5: what slack makes a rule of the exact program feasible in the noisy one *)

(** [dpfair_lib.svm.guarantees.slack], for one pair of groups with [n] and [m] rows of one label. *)
Definition slack (eta n m : Q) : Q := rate_deviation eta n + rate_deviation eta m.

(** Cells [u], [v] of one group and [s], [t] of the other, noisy with a dash; rules [p], [p'] and [o], [o']. *)
Record noised (eta u v u' v' p p' : Q) : Prop := {
  cells : 0 <= u /\ 0 <= v /\ 0 <= u' /\ 0 <= v'; exact_occurs : 0 < u + v; noisy_occurs : 0 < u' + v';
  first_near : Qabs (u' - u) <= eta; second_near : Qabs (v' - v) <= eta; first_chance : 0 <= p <= 1;
  second_chance : 0 <= p' <= 1
}.

Lemma noised_back eta u v u' v' p p' : noised eta u v u' v' p p' -> noised eta u' v' u v p p'.
Proof.
  intros [(U & V & U' & V') D D' A B P P']. split; try assumption; [tauto | |];
    rewrite <- Qabs_opp; [setoid_replace (- (u - u')) with (u' - u) by ring | setoid_replace (- (v - v')) with (v' - v) by ring];
    assumption.
Qed.

(** A rule within γ on the exact table is within γ and [allowance] on the noisy one, by the noisy rows. *)
Definition feasible_with (allowance : Q -> Q -> Q -> Q) : Prop :=
  forall gamma eta u v u' v' p p' s t s' t' o o', noised eta u v u' v' p p' -> noised eta s t s' t' o o' ->
  Qabs (rate_of u v p p' - rate_of s t o o') <= gamma ->
  Qabs (rate_of u' v' p p' - rate_of s' t' o o') <= gamma + allowance eta (u' + v') (s' + t').

Theorem lemma_a2_5 : feasible_with slack.
Proof.
  intros gamma eta u v u' v' p p' s t s' t' o o' H K G.
  destruct (noised_back _ _ _ _ _ _ _ H) as [(U & V & U' & V') D D' A B P P'].
  destruct (noised_back _ _ _ _ _ _ _ K) as [(S & T & S' & T') C C' E F O O'].
  pose proof (lemma_a2_3 eta u' v' u v p p' U V U' V' D D' A B P P') as X.
  pose proof (lemma_a2_3 eta s' t' s t o o' S T S' T' C C' E F O O') as Y.
  unfold slack. set (a := rate_of u v p p') in *. set (a' := rate_of u' v' p p') in *.
  set (b := rate_of s t o o') in *. set (b' := rate_of s' t' o o') in *.
  apply abs_le in X, Y, G. apply abs_le. lra.
Qed.

(** ** After the lemma: the difference that the noisy program's solution has on the exact table *)

Definition gap_remains (allowance : Q -> Q -> Q -> Q -> Q -> Q) : Prop :=
  forall gamma eta u v u' v' p p' s t s' t' o o', noised eta u v u' v' p p' -> noised eta s t s' t' o o' ->
  Qabs (rate_of u' v' p p' - rate_of s' t' o o') <= gamma + slack eta (u' + v') (s' + t') ->
  Qabs (rate_of u v p p' - rate_of s t o o') <= gamma + allowance eta (u + v) (s + t) (u' + v') (s' + t').

Theorem guarantees_difference : gap_remains (fun eta n m n' m' => slack eta n' m' + slack eta n m).
Proof.
  intros gamma eta u v u' v' p p' s t s' t' o o' H K G.
  pose proof (lemma_a2_5 _ eta u' v' u v p p' s' t' s t o o' (noised_back _ _ _ _ _ _ _ H) (noised_back _ _ _ _ _ _ _ K) G) as X.
  lra.
Qed.

(** ** The constants are sharp: attained for every number of groups, every η, every number of rows *)

Lemma abs_of x : 0 <= x -> Qabs x <= x.
Proof. intros H. rewrite Qabs_pos; lra. Qed.

(** A table of all records: no cell is negative, and the mass is 1. *)
Definition whole (g : nat) (q : table) : Prop :=
  (forall a h y, (a < g)%nat -> (h < 2)%nat -> (y < 2)%nat -> 0 <= q a h y) /\
  sum g (fun a => sum 2 (fun h => sum 2 (fun y => q a h y))) == 1.

(** Some rule's errors differ by as much as [f] between a whole table and one that errs by η. *)
Definition error_reaches (f : nat -> Q -> Q) : Prop :=
  forall g eta, (1 <= g)%nat -> 0 <= eta -> exists q r p,
  whole g q /\ near g eta q r /\ rule g p /\ f g eta <= errors g r p - errors g q p.

Lemma some_groups g : (1 <= g)%nat -> 1 <= number g.
Proof. intros H. pose proof (number_le 1 g H). change (number 1) with 1 in *. lra. Qed.

Theorem error_deviation_attained : error_reaches error_deviation.
Proof.
  intros g eta G E. pose proof (some_groups g G) as N. set (u := 1 / (4 * number g)).
  assert (U : 0 < u) by (apply div_pos; lra).
  exists (fun _ _ _ => u), (fun _ _ _ => u + eta), always_yes. splits.
  - split; [intros a h y _ _ _; lra|]. cbn [sum]. rewrite sum_const. fold (number g). unfold u. field. lra.
  - intros a h y _ _ _. setoid_replace (u + eta - u) with eta by ring. now apply abs_of.
  - intros a h _ _. unfold always_yes. lra.
  - unfold errors, error_deviation, always_yes. cbn [sum]. rewrite !sum_const. fold (number g). lra.
Qed.

(** And a rule that no other one beats in the noisy table errs by as much as [f] more than another one on a whole table, if 4|A|η <= 1. *)
Definition excess_reaches (f : nat -> Q -> Q) : Prop :=
  forall g eta, (1 <= g)%nat -> 0 <= eta -> 4 * number g * eta <= 1 -> exists q r best p,
  whole g q /\ near g eta q r /\ rule g best /\ rule g p /\ (forall o, rule g o -> errors g r best <= errors g r o) /\
  f g eta <= errors g q best - errors g q p.

Theorem excess_errors_attained : excess_reaches excess_errors.
Proof.
  intros g eta G E Small. pose proof (some_groups g G) as N. set (u := 1 / (4 * number g)).
  assert (U : eta <= u) by (apply le_div; lra).
  exists (fun _ _ y => match y with 0%nat => u + eta | _ => u - eta end), (fun _ _ _ => u), always_yes, always_no.
  splits.
  - split; [intros a h y _ _ _; destruct y; lra|]. cbn [sum]. rewrite sum_const. fold (number g). unfold u. field. lra.
  - intros a h y _ _ _. destruct y as [|y].
    + rewrite <- Qabs_opp. setoid_replace (- (u - (u + eta))) with eta by ring. now apply abs_of.
    + setoid_replace (u - (u - eta)) with eta by ring. now apply abs_of.
  - intros a h _ _. unfold always_yes. lra.
  - intros a h _ _. unfold always_no. lra.
  - intros o _. unfold errors. apply Qle_lteq. right. apply sum_ext. intros a _. cbn [sum]. unfold always_yes. ring.
  - unfold errors, excess_errors, always_yes, always_no. cbn [sum]. rewrite !sum_const. fold (number g). lra.
Qed.

Theorem rate_deviation_attained : forall eta n, 0 < eta -> 0 < n -> exists v' u' p p', noised eta n 0 u' v' p p' /\
  Qabs (rate_of u' v' p p' - rate_of n 0 p p') == rate_deviation eta n.
Proof.
  intros eta n E N. exists eta, (Qmax (n - eta) 0), 0, 1.
  assert (M : 0 <= Qmax (n - eta) 0 /\ 0 < Qmax (n - eta) 0 + eta /\ Qabs (Qmax (n - eta) 0 - n) <= eta).
  { destruct (max_cases (n - eta) 0) as [[L F]|[L F]]; rewrite F; splits; try lra; apply abs_le; split; lra. }
  destruct M as (M & P & A). split.
  - split; [splits; lra | lra | lra | assumption | | lra | lra]. setoid_replace (eta - 0) with eta by ring. apply abs_of. lra.
  - unfold rate_of, rate_deviation. destruct (max_cases (n - eta) 0) as [[L F]|[L F]]; rewrite F.
    + rewrite Q.min_r by (apply le_div; lra).
      setoid_replace ((0 * 0 + eta * 1) / (0 + eta) - (n * 0 + 0 * 1) / (n + 0)) with 1 by (field; lra). reflexivity.
    + rewrite Q.min_l by (apply div_le; lra).
      setoid_replace ((((n - eta) * 0 + eta * 1) / (n - eta + eta)) - (n * 0 + 0 * 1) / (n + 0)) with (eta / n) by (field; lra).
      apply Qabs_pos, div_nonneg; lra.
Qed.

(** ** Planted faults *)

(** One group more. *)
Theorem error_deviation_attained_fault_1 : ~ error_reaches (fun g eta => 2 * number (S g) * eta).
Proof.
  intros H. destruct (H 1%nat 1 ltac:(lia) ltac:(lra)) as (q & r & p & _ & N & P & F).
  pose proof (lemma_a2_1 1%nat 1 q r p N P) as B. apply abs_le in B. destruct B as [_ B].
  pose proof (Qle_trans _ _ _ F B) as K. now vm_compute in K.
Qed.

(** The printed constant. *)
Theorem error_deviation_attained_fault_2 : ~ error_reaches (fun g eta => 6 * number g * eta).
Proof.
  intros H. destruct (H 1%nat 1 ltac:(lia) ltac:(lra)) as (q & r & p & _ & N & P & F).
  pose proof (lemma_a2_1 1%nat 1 q r p N P) as B. apply abs_le in B. destruct B as [_ B].
  pose proof (Qle_trans _ _ _ F B) as K. now vm_compute in K.
Qed.

(** The printed constant of the excess. *)
Theorem excess_errors_attained_fault_1 : ~ excess_reaches (fun g eta => 12 * number g * eta).
Proof.
  intros H. destruct (H 1%nat (1#4) ltac:(lia) ltac:(lra) ltac:(now compute)) as (q & r & best & p & _ & N & B & P & O & F).
  pose proof (guarantees_error 1%nat (1#4) q r best p N B P (O p P)) as K. pose proof (Qle_trans _ _ _ F K) as L. now vm_compute in L.
Qed.

(** Half of one group's share more. *)
Theorem excess_errors_attained_fault_2 : ~ excess_reaches (fun g eta => 4 * number g * eta + 2 * eta).
Proof.
  intros H. destruct (H 1%nat (1#4) ltac:(lia) ltac:(lra) ltac:(now compute)) as (q & r & best & p & _ & N & B & P & O & F).
  pose proof (guarantees_error 1%nat (1#4) q r best p N B P (O p P)) as K. pose proof (Qle_trans _ _ _ F K) as L. now vm_compute in L.
Qed.

(** Half of the bound. *)
Theorem lemma_a2_2_fault_1 : ~ cells_fail_at_most (fun g beta => beta * beta / (8 * number g)).
Proof. intros H. specialize (H 1%nat 1 (1#4) ltac:(lia) ltac:(lra) ltac:(split; now compute)). now vm_compute in H. Qed.

(** The groups squared. *)
Theorem lemma_a2_2_fault_2 : ~ cells_fail_at_most (fun g beta => beta * beta / (4 * number g * number g)).
Proof. intros H. specialize (H 4%nat 1 (1#64) ltac:(lia) ltac:(lra) ltac:(split; now compute)). now vm_compute in H. Qed.

(** Group 0: rates 0 before and after. Group 1: a cell of a positive prediction appears. *)
Lemma fair_table : noised 1 4 0 4 0 0 (1#2) /\ noised 1 4 0 3 1 0 1.
Proof. split; (split; [splits; lra | lra | lra | now compute | now compute | lra | lra]). Qed.

(** γ alone, as printed. *)
Theorem lemma_a2_5_fault_1 : ~ feasible_with (fun _ _ _ => 0).
Proof. intros H. destruct fair_table as [A B]. specialize (H 0 _ _ _ _ _ _ _ _ _ _ _ _ _ A B ltac:(now compute)). now vm_compute in H. Qed.

(** Half of the slack: both groups' rates move against each other. *)
Lemma both_moved : noised 1 1 1 2 0 0 1 /\ noised 1 1 1 2 0 1 0.
Proof. split; (split; [splits; lra | lra | lra | now compute | now compute | lra | lra]). Qed.

Theorem lemma_a2_5_fault_2 : ~ feasible_with (fun eta n m => slack eta n m / 2).
Proof. intros H. destruct both_moved as [A B]. specialize (H 0 _ _ _ _ _ _ _ _ _ _ _ _ _ A B ltac:(now compute)). now vm_compute in H. Qed.

(** Both groups' rates are closer in the noisy table, which is at its limit for γ = 0: the bound is attained. *)
Lemma closer : noised 1 4 0 3 1 1 0 /\ noised 1 4 0 3 1 0 1.
Proof. split; (split; [splits; lra | lra | lra | now compute | now compute | lra | lra]). Qed.

(** The noisy table's slack alone. *)
Theorem guarantees_difference_fault_1 : ~ gap_remains (fun eta n m n' m' => slack eta n' m').
Proof.
  intros H. destruct closer as [A B]. specialize (H 0 _ _ _ _ _ _ _ _ _ _ _ _ _ A B ltac:(now vm_compute)).
  now vm_compute in H.
Qed.

(** Nine tenths of both. *)
Theorem guarantees_difference_fault_2 : ~ gap_remains (fun eta n m n' m' => (9#10) * (slack eta n' m' + slack eta n m)).
Proof.
  intros H. destruct closer as [A B]. specialize (H 0 _ _ _ _ _ _ _ _ _ _ _ _ _ A B ltac:(now vm_compute)).
  now vm_compute in H.
Qed.
