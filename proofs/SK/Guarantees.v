(** SK, Claim A.1 and the sharp constants of Lemma A.2, on the event that no cell errs by more than η.

    [q a h y] is the mass of group [a] below [g] with prediction [h] and label [y], both 0 or 1; [r] is the noisy
    table. A rule answers 1 with chance [p a h]. *)

From Checked Require Import Base.Numbers Privacy.Channels.

Definition table : Type := nat -> nat -> nat -> Q.

Definition near (g : nat) (eta : Q) (q r : table) : Prop :=
  forall a h y, (a < g)%nat -> (h < 2)%nat -> (y < 2)%nat -> Qabs (r a h y - q a h y) <= eta.

Definition rule (g : nat) (p : nat -> nat -> Q) : Prop := forall a h, (a < g)%nat -> (h < 2)%nat -> 0 <= p a h <= 1.

(** Expected errors of a rule. *)
Definition errors (g : nat) (q : table) (p : nat -> nat -> Q) : Q :=
  sum g (fun a => sum 2 (fun h => q a h 0%nat * p a h + q a h 1%nat * (1 - p a h))).

(** [dpfair_lib.svm.guarantees.error_deviation] and [excess_errors]. *)
Definition error_deviation (g : nat) (eta : Q) : Q := 2 * number g * eta.
Definition excess_errors (g : nat) (eta : Q) : Q := 4 * number g * eta.

Definition errors_within (bound : nat -> Q -> Q) : Prop :=
  forall g eta q r p, near g eta q r -> rule g p -> Qabs (errors g r p - errors g q p) <= bound g eta.

Theorem lemma_a2_1 : errors_within error_deviation.
Proof.
  intros g eta q r p N P. unfold errors, error_deviation. rewrite <- sum_minus.
  eapply Qle_trans; [apply sum_abs|]. apply Qle_trans with (sum g (fun _ => 2 * eta)).
  - apply sum_le. intros a Ha. cbn [sum].
    pose proof (N a 0%nat 0%nat Ha ltac:(lia) ltac:(lia)) as A. pose proof (N a 0%nat 1%nat Ha ltac:(lia) ltac:(lia)) as B.
    pose proof (N a 1%nat 0%nat Ha ltac:(lia) ltac:(lia)) as C. pose proof (N a 1%nat 1%nat Ha ltac:(lia) ltac:(lia)) as D.
    destruct (P a 0%nat Ha ltac:(lia)), (P a 1%nat Ha ltac:(lia)). apply abs_le in A, B, C, D.
    destruct A, B, C, D. apply abs_le. split; nra.
  - rewrite sum_const. fold (number g). lra.
Qed.

(** Any rule that is best in the noisy table among rules that contain [p] exceeds it by at most 4|A|η. *)
Definition excess_within (bound : nat -> Q -> Q) : Prop :=
  forall g eta q r best p, near g eta q r -> rule g best -> rule g p -> errors g r best <= errors g r p ->
  errors g q best - errors g q p <= bound g eta.

Theorem guarantees_error : excess_within excess_errors.
Proof.
  intros g eta q r best p N B P H. pose proof (lemma_a2_1 g eta q r best N B) as X.
  pose proof (lemma_a2_1 g eta q r p N P) as Y. unfold error_deviation, excess_errors in *.
  apply abs_le in X, Y. lra.
Qed.

(** ** Rates: false positives of a group, or true positives, are means over two cells *)

Definition rate_of (u v p p' : Q) : Q := (u * p + v * p') / (u + v).

(** [dpfair_lib.svm.guarantees.rate_deviation]. *)
Definition rate_deviation (eta rows : Q) : Q := Qmin (eta / rows) 1.

Definition rate_within (bound : Q -> Q -> Q) : Prop :=
  forall eta u v u' v' p p', 0 <= u -> 0 <= v -> 0 <= u' -> 0 <= v' -> 0 < u + v -> 0 < u' + v' ->
  Qabs (u' - u) <= eta -> Qabs (v' - v) <= eta -> 0 <= p <= 1 -> 0 <= p' <= 1 ->
  Qabs (rate_of u' v' p p' - rate_of u v p p') <= bound eta (u + v).

Theorem lemma_a2_3 : rate_within rate_deviation.
Proof.
  intros eta u v u' v' p p' U V U' V' D D' Hu Hv P P'. unfold rate_of, rate_deviation.
  assert (E : (u' * p + v' * p') / (u' + v') - (u * p + v * p') / (u + v)
              == (p' - p) * ((v' * u - v * u') / ((u + v) * (u' + v')))) by (field; lra).
  rewrite E, Qabs_Qmult.
  assert (Pp : Qabs (p' - p) <= 1) by (apply abs_le; split; lra).
  assert (DD : 0 < (u + v) * (u' + v')) by now apply mul_pos.
  apply abs_le in Hu, Hv. destruct Hu as [Hu1 Hu2], Hv as [Hv1 Hv2].
  assert (F : Qabs ((v' * u - v * u') / ((u + v) * (u' + v'))) <= eta / (u + v)).
  { apply abs_le.
    assert (G : eta / (u + v) == eta * (u' + v') / ((u + v) * (u' + v'))) by (field; lra). rewrite G. split.
    - setoid_replace (- (eta * (u' + v') / ((u + v) * (u' + v')))) with ((- (eta * (u' + v'))) / ((u + v) * (u' + v'))) by (field; lra).
      apply Qmult_le_compat_r; [nra | apply Qlt_le_weak, Qinv_lt_0_compat, DD].
    - apply Qmult_le_compat_r; [nra | apply Qlt_le_weak, Qinv_lt_0_compat, DD]. }
  assert (K : Qabs ((v' * u - v * u') / ((u + v) * (u' + v'))) <= 1).
  { apply abs_le. split; [apply le_div | apply div_le]; nra. }
  set (w := Qabs ((v' * u - v * u') / ((u + v) * (u' + v')))) in *.
  assert (W : 0 <= w) by apply Qabs_nonneg. pose proof (Qabs_nonneg (p' - p)).
  apply Q.min_glb; nra.
Qed.

(** A difference of two groups' rates. *)
Definition difference_within (bound : Q -> Q -> Q -> Q) : Prop :=
  forall eta u v u' v' p p' s t s' t' o o',
  0 <= u -> 0 <= v -> 0 <= u' -> 0 <= v' -> 0 < u + v -> 0 < u' + v' ->
  Qabs (u' - u) <= eta -> Qabs (v' - v) <= eta -> 0 <= p <= 1 -> 0 <= p' <= 1 ->
  0 <= s -> 0 <= t -> 0 <= s' -> 0 <= t' -> 0 < s + t -> 0 < s' + t' ->
  Qabs (s' - s) <= eta -> Qabs (t' - t) <= eta -> 0 <= o <= 1 -> 0 <= o' <= 1 ->
  Qabs (Qabs (rate_of u' v' p p' - rate_of s' t' o o') - Qabs (rate_of u v p p' - rate_of s t o o'))
  <= bound eta (u + v) (s + t).

Theorem lemma_a2_4 : difference_within (fun eta n m => rate_deviation eta n + rate_deviation eta m).
Proof.
  intros eta u v u' v' p p' s t s' t' o o' U V U' V' D D' Hu Hv P P' S T S' T' C C' Hs Ht O O'.
  pose proof (lemma_a2_3 eta u v u' v' p p' U V U' V' D D' Hu Hv P P') as A.
  pose proof (lemma_a2_3 eta s t s' t' o o' S T S' T' C C' Hs Ht O O') as B.
  set (a := rate_of u v p p') in *. set (a' := rate_of u' v' p p') in *.
  set (b := rate_of s t o o') in *. set (b' := rate_of s' t' o o') in *.
  apply Qle_trans with (Qabs (a' - a) + Qabs (b' - b)); [|lra]. clear. cases_abs; lra.
Qed.

(** Attained for all rows [n], [m] and every η, as long as the sum is at most 1: no difference of rates is larger. *)
Definition difference_reaches (f : Q -> Q -> Q -> Q) : Prop :=
  forall eta n m, 0 < eta -> 0 < n -> 0 < m -> eta / n + eta / m <= 1 -> exists u v u' v' p p' s t s' t' o o',
  (u + v == n /\ s + t == m) /\ (0 <= u /\ 0 <= v /\ 0 <= u' /\ 0 <= v' /\ 0 < u' + v') /\
  (0 <= s /\ 0 <= t /\ 0 <= s' /\ 0 <= t' /\ 0 < s' + t') /\
  (Qabs (u' - u) <= eta /\ Qabs (v' - v) <= eta /\ Qabs (s' - s) <= eta /\ Qabs (t' - t) <= eta) /\
  (0 <= p <= 1 /\ 0 <= p' <= 1 /\ 0 <= o <= 1 /\ 0 <= o' <= 1) /\
  f eta n m <= Qabs (Qabs (rate_of u' v' p p' - rate_of s' t' o o') - Qabs (rate_of u v p p' - rate_of s t o o')).

Theorem lemma_a2_4_attained : difference_reaches (fun eta n m => rate_deviation eta n + rate_deviation eta m).
Proof.
  intros eta n m E N M S.
  pose proof (div_pos eta n N E) as A. pose proof (div_pos eta m M E) as B.
  assert (En : eta <= n) by (assert (H : eta / n * n == eta) by (apply div_mul; lra); nra).
  assert (Em : eta <= m) by (assert (H : eta / m * m == eta) by (apply div_mul; lra); nra).
  exists n, 0, (n - eta), eta, 0, 1, m, 0, (m - eta), eta, 1, 0.
  assert (Z : Qabs (n - eta - n) <= eta /\ Qabs (eta - 0) <= eta /\ Qabs (m - eta - m) <= eta)
    by (splits; apply abs_le; lra).
  splits; try lra; try tauto.
  assert (R0 : rate_of (n - eta) eta 0 1 == eta / n) by (unfold rate_of; field; lra).
  assert (R1 : rate_of (m - eta) eta 1 0 == 1 - eta / m) by (unfold rate_of; field; lra).
  assert (R2 : rate_of n 0 0 1 == 0) by (unfold rate_of; field; lra).
  assert (R3 : rate_of m 0 1 0 == 1) by (unfold rate_of; field; lra).
  rewrite R0, R1, R2, R3. unfold rate_deviation. rewrite !Q.min_l by lra.
  rewrite (Qabs_neg (eta / n - (1 - eta / m))) by lra. rewrite (Qabs_neg (0 - 1)) by lra. rewrite Qabs_neg by lra. lra.
Qed.

(** ** Claim A.1: one changed entry of A moves the joint distribution by at most 2/m *)

(** Record [i] of [m] lies in cell [c i] below [k]. *)
Definition frequency (m : nat) (c : nat -> nat) (j : nat) : Q := sum m (fun i => indicator (Nat.eqb (c i) j)) / number m.

Definition distribution_moves (bound : nat -> Q) : Prop :=
  forall k m c c' i, (1 <= m)%nat -> (i < m)%nat -> (forall i', i' <> i -> c i' = c' i') ->
  sum k (fun j => Qabs (frequency m c j - frequency m c' j)) <= bound m.

Lemma cells_at_most k z : sum k (fun j => indicator (Nat.eqb z j)) <= 1.
Proof.
  destruct (Nat.lt_ge_cases z k) as [H|H].
  - rewrite (sum_ext k _ (fun j => if Nat.eqb j z then 1 else 0)) by (intros j _; unfold indicator; now rewrite Nat.eqb_sym).
    rewrite (sum_pick k z (fun _ => 1) H). lra.
  - rewrite (sum_ext k _ (fun _ => 0)); [rewrite sum_zero; lra|]. intros j Hj. unfold indicator.
    destruct (Nat.eqb_spec z j); [lia|reflexivity].
Qed.

Theorem claim_a1 : distribution_moves (fun m => 2 / number m).
Proof.
  intros k m c c' i Hm Hi H.
  assert (N : 0 < number m) by (pose proof (number_le 1 m Hm); change (number 1) with 1 in *; lra).
  assert (One : forall j, frequency m c j - frequency m c' j ==
                (indicator (Nat.eqb (c i) j) - indicator (Nat.eqb (c' i) j)) * / number m).
  { intros j. unfold frequency, Qdiv. rewrite <- (sum_pick m i (fun i => indicator (Nat.eqb (c i) j) - indicator (Nat.eqb (c' i) j)) Hi).
    rewrite (sum_ext m (fun i0 => if Nat.eqb i0 i then _ else 0) (fun i' => indicator (Nat.eqb (c i') j) - indicator (Nat.eqb (c' i') j))).
    - rewrite sum_minus. ring.
    - intros i' _. cbv beta. destruct (Nat.eqb_spec i' i) as [->|E]; [reflexivity|]. rewrite (H i' E). ring. }
  rewrite (sum_ext k _ (fun j => Qabs (indicator (Nat.eqb (c i) j) - indicator (Nat.eqb (c' i) j)) * / number m)).
  - rewrite sum_scale_r. apply Qmult_le_compat_r; [|apply Qlt_le_weak, Qinv_lt_0_compat, N].
    apply Qle_trans with (sum k (fun j => indicator (Nat.eqb (c i) j) + indicator (Nat.eqb (c' i) j))).
    + apply sum_le. intros j _. unfold indicator. destruct (Nat.eqb (c i) j), (Nat.eqb (c' i) j); now compute.
    + rewrite sum_plus. pose proof (cells_at_most k (c i)). pose proof (cells_at_most k (c' i)). lra.
  - intros j _. rewrite (One j), Qabs_Qmult, (Qabs_pos (/ number m)) by (apply Qlt_le_weak, Qinv_lt_0_compat, N). reflexivity.
Qed.

(** Attained by each number of records, whatever the number of cells, if there are at least two. *)
Definition move_attained (cells : nat) (bound : nat -> Q) : Prop :=
  forall k m, (cells <= k)%nat -> (1 <= m)%nat -> exists c c' i, (i < m)%nat /\
  (forall i', (c i' < k)%nat /\ (c' i' < k)%nat) /\ (forall i', i' <> i -> c i' = c' i') /\
  sum k (fun j => Qabs (frequency m c j - frequency m c' j)) == bound m.

Definition in_first (_ : nat) : nat := 0%nat.
Definition last_moved (i : nat) : nat := match i with 0%nat => 1%nat | _ => 0%nat end.

Lemma one_entry i : i <> 0%nat -> in_first i = last_moved i.
Proof. destruct i; [contradiction | reflexivity]. Qed.

Theorem claim_a1_attained : move_attained 2 (fun m => 2 / number m).
Proof.
  intros k m K M. exists in_first, last_moved, 0%nat.
  assert (N : 0 < number m) by (pose proof (number_le 1 m M); change (number 1) with 1 in *; lra). splits.
  - lia.
  - intros [|i]; cbn; split; unfold in_first; lia.
  - apply one_entry.
  - set (f := fun j => if Nat.eqb j 0 then / number m else if Nat.eqb j 1 then / number m else 0).
    rewrite (sum_ext k _ f).
    + unfold f. rewrite (sum_split k (fun _ => / number m) (fun j => if Nat.eqb j 1 then / number m else 0) 0) by lia.
      rewrite (sum_pick k 1 (fun _ => / number m)) by lia. cbn [Nat.eqb]. field. lra.
    + intros j _. unfold frequency, in_first.
      assert (A : sum m (fun i => indicator (Nat.eqb 0 j)) - sum m (fun i => indicator (Nat.eqb (last_moved i) j)) ==
                  indicator (Nat.eqb 0 j) - indicator (Nat.eqb 1 j)).
      { rewrite <- sum_minus. rewrite <- (sum_pick m 0 (fun _ => indicator (Nat.eqb 0 j) - indicator (Nat.eqb 1 j))) by lia.
        apply sum_ext. intros [|i] _; cbn; [reflexivity | ring]. }
      setoid_replace (sum m (fun i => indicator (Nat.eqb 0 j)) / number m - sum m (fun i => indicator (Nat.eqb (last_moved i) j)) / number m)
        with ((indicator (Nat.eqb 0 j) - indicator (Nat.eqb 1 j)) * / number m) by (rewrite <- A; field; lra).
      assert (P : 0 <= / number m) by (apply Qlt_le_weak, Qinv_lt_0_compat, N).
      rewrite Qabs_Qmult, (Qabs_pos (/ number m)) by assumption. unfold f.
      destruct j as [|[|j]]; cbn [Nat.eqb indicator].
      * change (Qabs (1 - 0)) with 1. ring.
      * change (Qabs (0 - 1)) with 1. ring.
      * change (Qabs (0 - 0)) with 0. ring.
Qed.

(** ** Planted faults *)

(** A single cell. *)
Theorem claim_a1_attained_fault_1 : ~ move_attained 1 (fun m => 2 / number m).
Proof.
  intros H. destruct (H 1%nat 1%nat ltac:(lia) ltac:(lia)) as (c & c' & i & Hi & C & _ & E).
  destruct (C 0%nat) as [A B]. assert (c 0%nat = 0%nat /\ c' 0%nat = 0%nat) as [U V] by lia.
  unfold frequency in E. cbn [sum] in E. rewrite U, V in E. now vm_compute in E.
Qed.

(** Half as much again. *)
Theorem claim_a1_attained_fault_2 : ~ move_attained 2 (fun m => 3 / number m).
Proof.
  intros H. destruct (H 2%nat 1%nat ltac:(lia) ltac:(lia)) as (c & c' & i & Hi & _ & D & E).
  pose proof (claim_a1 2%nat 1%nat c c' i ltac:(lia) Hi D) as K. cbv beta in K. rewrite E in K. now vm_compute in K.
Qed.

Definition none : table := fun _ _ _ => 0.
Definition raised : table := fun _ _ _ => 1.
Definition always_yes (_ _ : nat) : Q := 1.

Lemma raised_near : near 1 1 none raised.
Proof. intros a h y _ _ _. now compute. Qed.
Lemma always_yes_rule : rule 1 always_yes.
Proof. intros a h _ _. unfold always_yes. lra. Qed.

(** The cells counted in half. *)
Theorem lemma_a2_1_fault_1 : ~ errors_within (fun g eta => number g * eta).
Proof. intros H. specialize (H 1%nat 1 none raised always_yes raised_near always_yes_rule). now vm_compute in H. Qed.

(** η once, whatever the number of groups. *)
Theorem lemma_a2_1_fault_2 : ~ errors_within (fun _ eta => eta).
Proof. intros H. specialize (H 1%nat 1 none raised always_yes raised_near always_yes_rule). now vm_compute in H. Qed.

(** Half of the excess: the deviation of one rule alone. *)
Definition exact : table := fun _ _ y => match y with 0%nat => 2 | _ => 0 end.
Definition noisy : table := fun _ _ _ => 1.
Definition always_no (_ _ : nat) : Q := 0.

Lemma noisy_near : near 1 1 exact noisy.
Proof. intros a h y _ _ Hy. destruct y as [|[|y]]; [now compute | now compute | lia]. Qed.
Lemma always_no_rule : rule 1 always_no.
Proof. intros a h _ _. unfold always_no. lra. Qed.

Theorem guarantees_error_fault_1 : ~ excess_within (fun g eta => 2 * number g * eta).
Proof.
  intros H. specialize (H 1%nat 1 exact noisy always_yes always_no noisy_near always_yes_rule always_no_rule ltac:(now vm_compute)).
  now vm_compute in H.
Qed.

(** Three quarters of it. *)
Theorem guarantees_error_fault_2 : ~ excess_within (fun g eta => 3 * number g * eta).
Proof.
  intros H. specialize (H 1%nat 1 exact noisy always_yes always_no noisy_near always_yes_rule always_no_rule ltac:(now vm_compute)).
  now vm_compute in H.
Qed.

(** Half of the rate's bound. *)
Theorem lemma_a2_3_fault_1 : ~ rate_within (fun eta n => eta / (2 * n)).
Proof. intros H. specialize (H 1 1 1 2 0 1 0). assert (K := H ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(now compute) ltac:(now compute) ltac:(lra) ltac:(lra)). now vm_compute in K. Qed.

(** A bound that is 1 half of the time. *)
Theorem lemma_a2_3_fault_2 : ~ rate_within (fun eta n => Qmin (eta / n) (1#4)).
Proof. intros H. specialize (H 1 1 1 2 0 1 0). assert (K := H ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(now compute) ltac:(now compute) ltac:(lra) ltac:(lra)). now vm_compute in K. Qed.

(** One group's deviation for that of both. *)
Theorem lemma_a2_4_fault_1 : ~ difference_within (fun eta n m => Qmax (rate_deviation eta n) (rate_deviation eta m)).
Proof.
  intros H. specialize (H 1 1 1 2 0 1 0 1 1 2 0 0 1).
  assert (K := H ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(now compute) ltac:(now compute) ltac:(lra) ltac:(lra)
    ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(now compute) ltac:(now compute) ltac:(lra) ltac:(lra)).
  now vm_compute in K.
Qed.

(** Three quarters of the sum. *)
Theorem lemma_a2_4_fault_2 : ~ difference_within (fun eta n m => (3#4) * (rate_deviation eta n + rate_deviation eta m)).
Proof.
  intros H. specialize (H 1 1 1 2 0 1 0 1 1 2 0 0 1).
  assert (K := H ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(now compute) ltac:(now compute) ltac:(lra) ltac:(lra)
    ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(now compute) ltac:(now compute) ltac:(lra) ltac:(lra)).
  now vm_compute in K.
Qed.

Lemma no_more_than_both f eta n m : difference_reaches f -> 0 < eta -> 0 < n -> 0 < m -> eta / n + eta / m <= 1 ->
  f eta n m <= rate_deviation eta n + rate_deviation eta m.
Proof.
  intros H E N M S. destruct (H eta n m E N M S) as (u & v & u' & v' & p & p' & s & t & s' & t' & o & o' & (En & Em) & C & D & Near & P & F).
  assert (K : Qabs (Qabs (rate_of u' v' p p' - rate_of s' t' o o') - Qabs (rate_of u v p p' - rate_of s t o o'))
              <= rate_deviation eta (u + v) + rate_deviation eta (s + t)) by (apply lemma_a2_4; try tauto; lra).
  unfold rate_deviation in *. rewrite En, Em in K. lra.
Qed.

(** Twice the larger deviation. *)
Theorem lemma_a2_4_attained_fault_1 : ~ difference_reaches (fun eta n m => 2 * Qmax (rate_deviation eta n) (rate_deviation eta m)).
Proof.
  intros H. pose proof (no_more_than_both _ (1#2) 1 4 H ltac:(lra) ltac:(lra) ltac:(lra) ltac:(now compute)) as K. now vm_compute in K.
Qed.

(** Four times the error over the smaller cell. *)
Theorem lemma_a2_4_attained_fault_2 : ~ difference_reaches (fun eta n m => 4 * eta / Qmin n m).
Proof.
  intros H. pose proof (no_more_than_both _ (1#2) 1 4 H ltac:(lra) ltac:(lra) ltac:(lra) ltac:(now compute)) as K. now vm_compute in K.
Qed.

(** A single cell's change. *)
Theorem claim_a1_fault_1 : ~ distribution_moves (fun m => 1 / number m).
Proof. intros H. specialize (H 2%nat 2%nat in_first last_moved 0%nat ltac:(lia) ltac:(lia) one_entry). now vm_compute in H. Qed.

(** One record more in the denominator. *)
Theorem claim_a1_fault_2 : ~ distribution_moves (fun m => 2 / (number m + 1)).
Proof. intros H. specialize (H 2%nat 2%nat in_first last_moved 0%nat ltac:(lia) ltac:(lia) one_entry). now vm_compute in H. Qed.
