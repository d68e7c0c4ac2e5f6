(** A rule that sees the old label and not the group; and the sums of a column counted from its middle.

    The rule turns a 1 into 0 with chance [d] and a 0 into 1 with chance [u]. A rate [r] of 1s, in a group or among
    those of one label in it, becomes [u + r·(1 - d - u)]. *)

From Checked Require Import Base.Numbers Thesis.Lemma13.

Definition after (d u r : Q) : Q := r * (1 - d) + (1 - r) * u.

(** The weighted change of groups with selection rates [alpha] and weights [w]. *)
Definition cost (g : nat) (w alpha : nat -> Q) (d u : Q) : Q :=
  sum g (fun a => w a * (alpha a * d + (1 - alpha a) * u)).

(** [dpfair_lib.postprocessing.group_unknown.least_blind_change], for the gap before: [least_cost gap gamma ones zeros]. *)
Definition least_cost (gap gamma ones zeros : Q) : Q := Qmax (1 - gamma / gap) 0 * Qmin ones zeros.

Definition ones (g : nat) (w alpha : nat -> Q) : Q := sum g (fun a => w a * alpha a).
Definition zeros (g : nat) (w alpha : nat -> Q) : Q := sum g (fun a => w a * (1 - alpha a)).

Definition rule (d u : Q) : Prop := 0 <= d <= 1 /\ 0 <= u <= 1.

Lemma cost_is g w alpha d u : cost g w alpha d u == d * ones g w alpha + u * zeros g w alpha.
Proof. unfold cost, ones, zeros. rewrite <- !sum_scale, <- sum_plus. apply sum_ext. intros; ring. Qed.

(** Rates [r 0 … r n] that the notion wants equal. *)
Definition gap_after (n : nat) (r : nat -> Q) (d u : Q) : Q := difference n (fun i => after d u (r i)).

Lemma gap_scales n r d u : difference n r * Qabs (1 - d - u) <= gap_after n r d u.
Proof.
  unfold gap_after. destruct (largest_at n r) as (i & Hi & Ei), (least_at n r) as (j & Hj & Ej).
  assert (D : difference n r == r i - r j) by (unfold difference; now rewrite Ei, Ej). rewrite D.
  pose proof (largest_ge n (fun i => after d u (r i)) i Hi) as A. pose proof (least_le n (fun i => after d u (r i)) i Hi) as B.
  pose proof (largest_ge n (fun i => after d u (r i)) j Hj) as A'. pose proof (least_le n (fun i => after d u (r i)) j Hj) as B'.
  cbv beta in *. unfold difference, after in *.
  destruct (abs_cases (1 - d - u)) as [[S E]|[S E]]; rewrite E; lra.
Qed.

Lemma gap_scales_exactly n r d u : gap_after n r d u <= difference n r * Qabs (1 - d - u).
Proof.
  unfold gap_after, difference at 1.
  destruct (largest_at n (fun i => after d u (r i))) as (i & Hi & ->), (least_at n (fun i => after d u (r i))) as (j & Hj & ->).
  pose proof (largest_ge n r i Hi). pose proof (largest_ge n r j Hj).
  pose proof (least_le n r i Hi). pose proof (least_le n r j Hj). unfold after, difference.
  set (hi := largest n r) in *. set (lo := least n r) in *.
  setoid_replace (r i * (1 - d) + (1 - r i) * u - (r j * (1 - d) + (1 - r j) * u)) with ((r i - r j) * (1 - d - u)) by ring.
  destruct (abs_cases (1 - d - u)) as [[S E]|[S E]]; rewrite E; nra.
Qed.

Definition cost_at_least (bound : Q -> Q -> Q -> Q -> Q) : Prop :=
  forall g w alpha n r gamma d u, (forall a, (a < g)%nat -> 0 <= w a /\ 0 <= alpha a <= 1) ->
  0 < difference n r -> 0 <= gamma -> rule d u -> gap_after n r d u <= gamma ->
  bound (difference n r) gamma (ones g w alpha) (zeros g w alpha) <= cost g w alpha d u.

Lemma both_nonneg g w alpha : (forall a, (a < g)%nat -> 0 <= w a /\ 0 <= alpha a <= 1) ->
  0 <= ones g w alpha /\ 0 <= zeros g w alpha.
Proof. intros H. split; apply sum_nonneg; intros a Ha; destruct (H a Ha) as [? []]; apply mul_nonneg; lra. Qed.

Theorem blind_bound : cost_at_least least_cost.
Proof.
  intros g w alpha n r gamma d u H D G [[D0 D1] [U0 U1]] K. rewrite cost_is. destruct (both_nonneg g w alpha H) as [A B].
  set (one := ones g w alpha) in *. set (zero := zeros g w alpha) in *.
  pose proof (gap_scales n r d u) as S. set (delta := difference n r) in *.
  assert (T : 1 - gamma / delta <= d + u).
  { assert (L : Qabs (1 - d - u) <= gamma / delta) by (apply le_div; lra). apply abs_le in L. lra. }
  assert (M : 0 <= Qmin one zero /\ Qmin one zero <= one /\ Qmin one zero <= zero)
    by (splits; [now apply Q.min_glb | apply Q.le_min_l | apply Q.le_min_r]).
  unfold least_cost. set (m := Qmin one zero) in *. clearbody m.
  assert (F : Qmax (1 - gamma / delta) 0 <= d + u) by (apply Q.max_lub; lra).
  set (f := Qmax (1 - gamma / delta) 0) in *. clearbody f. nra.
Qed.

Definition cost_attained (bound : Q -> Q -> Q -> Q -> Q) : Prop :=
  forall g w alpha n r gamma, (forall a, (a < g)%nat -> 0 <= w a /\ 0 <= alpha a <= 1) ->
  0 < difference n r -> 0 <= gamma ->
  exists d u, rule d u /\ gap_after n r d u <= gamma /\
  cost g w alpha d u == bound (difference n r) gamma (ones g w alpha) (zeros g w alpha).

Theorem blind_attained : cost_attained least_cost.
Proof.
  intros g w alpha n r gamma H D G. set (delta := difference n r) in *.
  set (f := Qmax (1 - gamma / delta) 0).
  assert (P : 0 <= gamma / delta) by (apply div_nonneg; lra).
  assert (F : 0 <= f <= 1 /\ 1 - f <= gamma / delta) by (unfold f; cases_abs; lra). destruct F as [[F0 F1] F].
  assert (E : gamma == delta * (gamma / delta)) by (field; lra).
  destruct (min_cases (ones g w alpha) (zeros g w alpha)) as [[L M]|[L M]].
  - exists f, 0. splits; [unfold rule; lra| |].
    + eapply Qle_trans; [apply gap_scales_exactly|]. fold delta. rewrite Qabs_pos by lra. rewrite E. apply scaled; lra.
    + rewrite cost_is. unfold least_cost. rewrite M. fold f. ring.
  - exists 0, f. splits; [unfold rule; lra| |].
    + eapply Qle_trans; [apply gap_scales_exactly|]. fold delta. rewrite Qabs_pos by lra. rewrite E. apply scaled; lra.
    + rewrite cost_is. unfold least_cost. rewrite M. fold f. ring.
Qed.

(** ** Sums from the middle: c in [−½, ½], the sums of (c, c², ¼) over the rows with a value *)

Inductive cell := missing | value (c : Q).
Definition in_range (z : cell) : Prop := match z with value c => -(1#2) <= c <= 1#2 | missing => True end.
Definition first_sum (z : cell) : Q := match z with value c => c | missing => 0 end.
Definition second_sum (z : cell) : Q := match z with value c => c * c | missing => 0 end.
Definition count_sum (z : cell) : Q := match z with value _ => 1#4 | missing => 0 end.

(** A record that is added or removed is a replacement of a missing one, as far as the sums go. *)
Definition sums_move (bound : Q) : Prop :=
  forall z z', in_range z -> in_range z' ->
  Qabs (first_sum z - first_sum z') + Qabs (second_sum z - second_sum z') + Qabs (count_sum z - count_sum z') <= bound.

Theorem middle_sums : sums_move 1.
Proof.
  assert (Sq : forall c, -(1#2) <= c <= 1#2 -> 0 <= c * c <= 1#4) by (intros; nra).
  intros [|c] [|c'] H H'; cbn [first_sum second_sum count_sum in_range] in *.
  - now compute.
  - destruct (Sq c' H'). assert (A : Qabs (0 - c') <= 1#2) by (apply abs_le; lra).
    assert (B : Qabs (0 - c' * c') <= 1#4) by (apply abs_le; lra). assert (Z : Qabs (0 - (1#4)) == 1#4) by now compute. rewrite Z. lra.
  - destruct (Sq c H). assert (A : Qabs (c - 0) <= 1#2) by (apply abs_le; lra).
    assert (B : Qabs (c * c - 0) <= 1#4) by (apply abs_le; lra). assert (Z : Qabs ((1#4) - 0) == 1#4) by now compute. rewrite Z. lra.
  - assert (Z : Qabs ((1#4) - (1#4)) == 0) by now compute. rewrite Z.
    assert (P : 0 <= (c + (1#2)) * (c + (1#2)) /\ 0 <= (c' + (1#2)) * (c' + (1#2)) /\
                0 <= (c - (1#2)) * (c - (1#2)) /\ 0 <= (c' - (1#2)) * (c' - (1#2))) by (splits; apply square_nonneg).
    destruct P as (P1 & P2 & P3 & P4). destruct (Sq c H), (Sq c' H'). cases_abs; lra.
Qed.

Theorem middle_sums_attained : exists z z', in_range z /\ in_range z' /\
  Qabs (first_sum z - first_sum z') + Qabs (second_sum z - second_sum z') + Qabs (count_sum z - count_sum z') == 1.
Proof. exists (value (1#2)), (value (-(1#2))). splits; [cbn; lra | cbn; lra | now vm_compute]. Qed.

(** ** Planted faults *)

Definition one_group (_ : nat) : Q := 1.
Definition third (_ : nat) : Q := 1#3.
Definition apart (i : nat) : Q := match i with O => 0 | _ => 1 end.

Lemma one_group_fits a : (a < 1)%nat -> 0 <= one_group a /\ 0 <= third a <= 1.
Proof. intros _. unfold one_group, third. lra. Qed.

(** The larger of both shares. *)
Theorem blind_bound_fault_1 : ~ cost_at_least (fun gap gamma one zero => Qmax (1 - gamma / gap) 0 * Qmax one zero).
Proof.
  intros H. specialize (H 1%nat one_group third 1%nat apart 0 1 0 one_group_fits ltac:(now compute) ltac:(lra)
    ltac:(unfold rule; lra) ltac:(now vm_compute)). now vm_compute in H.
Qed.

(** γ not divided by the gap before. *)
Definition closer (i : nat) : Q := match i with O => 0 | _ => 1#2 end.

Theorem blind_bound_fault_2 : ~ cost_at_least (fun gap gamma one zero => Qmax (1 - gamma) 0 * Qmin one zero).
Proof.
  intros H. specialize (H 1%nat one_group third 1%nat closer (1#2) 0 0 one_group_fits ltac:(now compute) ltac:(lra)
    ltac:(unfold rule; lra) ltac:(now vm_compute)). now vm_compute in H.
Qed.

Lemma attained_nonneg bound : cost_attained bound -> 0 <= bound 1 (2) (1#3) (2#3).
Proof.
  intros H. destruct (H 1%nat one_group third 1%nat apart 2 one_group_fits ltac:(now compute) ltac:(lra)) as (d & u & R & _ & C).
  assert (A : ones 1 one_group third == 1#3) by now compute. assert (B : zeros 1 one_group third == 2#3) by now compute.
  assert (N : 0 <= cost 1 one_group third d u) by (rewrite cost_is, A, B; destruct R as [[] []]; lra).
  rewrite C in N. exact N.
Qed.

(** Without the limit 0. *)
Theorem blind_attained_fault_1 : ~ cost_attained (fun gap gamma one zero => (1 - gamma / gap) * Qmin one zero).
Proof. intros H. apply attained_nonneg in H. now vm_compute in H. Qed.

(** A cost of minus γ. *)
Theorem blind_attained_fault_2 : ~ cost_attained (fun gap gamma one zero => Qmin one zero - gamma * Qmin one zero).
Proof. intros H. apply attained_nonneg in H. now vm_compute in H. Qed.

(** Three quarters. *)
Theorem middle_sums_fault_1 : ~ sums_move (3#4).
Proof. intros H. specialize (H (value (1#2)) missing ltac:(cbn; lra) I). now vm_compute in H. Qed.

(** The sums from the lower end of the range would move by 2: here, 1 is not the bound of values in [−1, 1]. *)
Theorem middle_sums_fault_2 : ~ (forall z z' : cell,
  Qabs (first_sum z - first_sum z') + Qabs (second_sum z - second_sum z') + Qabs (count_sum z - count_sum z') <= 1).
Proof. intros H. specialize (H (value 1) missing). now vm_compute in H. Qed.
