(** Several sensitive columns: fair in every cell is fair in every union of cells; fair in every column is not fair in the cells.

    Cell [i] below [k] has the weight [w i] of the people that the rate counts, and the rate [r i]; a union is a set. *)

From Checked Require Import Base.Numbers.
From Coq Require Import List.
Import ListNotations.

Definition mass (k : nat) (w : nat -> Q) (u : nat -> bool) : Q := sum k (fun i => w i * indicator (u i)).
Definition union_rate (k : nat) (w r : nat -> Q) (u : nat -> bool) : Q :=
  sum k (fun i => w i * indicator (u i) * r i) / mass k w u.

Definition cells_within (k : nat) (gamma : Q) (r : nat -> Q) : Prop :=
  forall i j, (i < k)%nat -> (j < k)%nat -> r i - r j <= gamma.

(** A mean lies between any bounds of what it is a mean of. *)
Lemma mean_between k w r u lo hi : (forall i, (i < k)%nat -> 0 <= w i) -> 0 < mass k w u ->
  (forall i, (i < k)%nat -> lo <= r i <= hi) -> lo <= union_rate k w r u <= hi.
Proof.
  intros W M B. unfold union_rate. split; [apply le_div; [assumption|] | apply div_le; [assumption|]].
  - unfold mass. rewrite <- sum_scale. apply sum_le. intros i Hi. destruct (B i Hi).
    assert (0 <= w i * indicator (u i)) by (apply mul_nonneg; [now apply W | destruct (u i); cbn; lra]). nra.
  - unfold mass. rewrite <- sum_scale. apply sum_le. intros i Hi. destruct (B i Hi).
    assert (0 <= w i * indicator (u i)) by (apply mul_nonneg; [now apply W | destruct (u i); cbn; lra]). nra.
Qed.

(** Any two unions of cells that have people. *)
Definition unions_within (bound : Q -> Q) : Prop :=
  forall k w r u v gamma, (forall i, (i < k)%nat -> 0 <= w i) -> 0 < mass k w u -> 0 < mass k w v ->
  cells_within k gamma r -> Qabs (union_rate k w r u - union_rate k w r v) <= bound gamma.

Theorem cells_give_unions : unions_within (fun gamma => gamma).
Proof.
  assert (H : forall k w r u v gamma, (forall i, (i < k)%nat -> 0 <= w i) -> 0 < mass k w u -> 0 < mass k w v ->
    cells_within k gamma r -> union_rate k w r u - union_rate k w r v <= gamma).
  { intros k w r u v gamma W U V C. destruct k as [|k]; [unfold mass in U; cbn in U; lra|].
    destruct (mean_between (S k) w r u (least k r) (largest k r) W U) as [_ A].
    { intros i Hi. split; [apply least_le | apply largest_ge]; lia. }
    destruct (mean_between (S k) w r v (least k r) (largest k r) W V) as [B _].
    { intros i Hi. split; [apply least_le | apply largest_ge]; lia. }
    destruct (largest_at k r) as (i & Hi & Ei), (least_at k r) as (j & Hj & Ej). specialize (C i j ltac:(lia) ltac:(lia)). lra. }
  intros k w r u v gamma W U V C. pose proof (H k w r u v gamma W U V C). pose proof (H k w r v u gamma W V U C).
  apply abs_le. lra.
Qed.

(** ** Two columns of two values: cells 0 to 3, of which 0, 1 share the first column's value, and 0, 2 the second's *)

Definition holds (cells : list nat) (i : nat) : bool := existsb (Nat.eqb i) cells.
Definition single_columns : list (list nat) := [[0; 1]; [2; 3]; [0; 2]; [1; 3]]%nat.

(** For every γ some population, all of whose cells have people, keeps γ in all these unions, and two cells differ. *)
Definition cells_can_differ (unions : list (list nat)) (by_how_much : Q) : Prop :=
  forall gamma, 0 <= gamma -> exists w r i j, (forall c, (c < 4)%nat -> 0 < w c /\ 0 <= r c <= 1) /\ (i < 4)%nat /\ (j < 4)%nat /\
  (forall u v, In u unions -> In v unions -> Qabs (union_rate 4 w r (holds u) - union_rate 4 w r (holds v)) <= gamma) /\
  by_how_much <= Qabs (r i - r j).

Definition crossed (i : nat) : Q := match i with 0%nat | 3%nat => 1 | _ => 0 end.

Theorem columns_do_not_give_cells : cells_can_differ single_columns 1.
Proof.
  intros gamma G. exists (fun _ => 1#4), crossed, 0%nat, 1%nat. splits; try lia.
  - intros c _. split; [lra|]. destruct c as [|[|[|[|c]]]]; cbn; lra.
  - intros u v U V. assert (H : forall z, In z single_columns -> union_rate 4 (fun _ => 1#4) crossed (holds z) == 1#2).
    { intros z Z. cbn in Z. destruct Z as [<-|[<-|[<-|[<-|[]]]]]; now vm_compute. }
    rewrite (H u U), (H v V). setoid_replace ((1#2) - (1#2)) with 0 by ring. exact G.
  - now vm_compute.
Qed.

(** ** Planted faults *)

(** Half of γ. *)
Lemma two_cells bound : unions_within bound -> 1 <= bound 1.
Proof.
  intros H. specialize (H 2%nat (fun _ => 1#2) (fun i => match i with 0%nat => 1 | _ => 0 end) (Nat.eqb 0) (Nat.eqb 1) 1
    ltac:(intros; cbv beta; lra) ltac:(now compute) ltac:(now compute)).
  assert (C : cells_within 2 1 (fun i => match i with 0%nat => 1 | _ => 0 end)) by (intros [|i] [|j] _ _; lra).
  specialize (H C). eapply Qle_trans; [|exact H]. now vm_compute.
Qed.

Theorem cells_give_unions_fault_1 : ~ unions_within (fun gamma => gamma / 2).
Proof. intros H. apply two_cells in H. now vm_compute in H. Qed.

(** Nine tenths. *)
Theorem cells_give_unions_fault_2 : ~ unions_within (fun gamma => (9#10) * gamma).
Proof. intros H. apply two_cells in H. now vm_compute in H. Qed.

(** The cells themselves among the unions. *)
Theorem columns_do_not_give_cells_fault_1 : ~ cells_can_differ ([0%nat] :: [1%nat] :: [2%nat] :: [3%nat] :: single_columns) 1.
Proof.
  intros H. destruct (H 0 ltac:(lra)) as (w & r & i & j & W & I & J & U & D).
  assert (One : forall c, (c < 4)%nat -> In [c] ([0%nat] :: [1%nat] :: [2%nat] :: [3%nat] :: single_columns))
    by (intros c Hc; destruct c as [|[|[|[|c]]]]; cbn; tauto || lia).
  assert (Rate : forall c, (c < 4)%nat -> union_rate 4 w r (holds [c]) == r c).
  { intros c Hc. destruct (W c Hc) as [P _].
    unfold union_rate, mass. destruct c as [|[|[|[|c]]]]; [..|lia]; cbn; field; lra. }
  specialize (U [i] [j] (One i I) (One j J)). rewrite (Rate i I), (Rate j J) in U. lra.
Qed.

(** A third column among them, which tells whether the first two agree. *)
Theorem columns_do_not_give_cells_fault_2 : ~ cells_can_differ ([0%nat; 3%nat] :: [1%nat; 2%nat] :: single_columns) 1.
Proof.
  intros H. destruct (H 0 ltac:(lra)) as (w & r & i & j & W & I & J & U & D).
  destruct (W 0%nat ltac:(lia)) as [W0 _], (W 1%nat ltac:(lia)) as [W1 _], (W 2%nat ltac:(lia)) as [W2 _], (W 3%nat ltac:(lia)) as [W3 _].
  (* all unions have one rate, [m]; so each cell's excess over it is that of another cell with the sign turned *)
  set (m := union_rate 4 w r (holds [0%nat; 1%nat])).
  assert (Pair : forall a b, (a < 4)%nat -> (b < 4)%nat -> a <> b ->
    In [a; b] ([0%nat; 3%nat] :: [1%nat; 2%nat] :: single_columns) -> w a * (r a - m) + w b * (r b - m) == 0).
  { intros a b Ha Hb Ne In_.
    assert (S : Qabs (union_rate 4 w r (holds [a; b]) - m) <= 0) by (apply U; [assumption | cbn; tauto]).
    apply abs_le in S. assert (V : union_rate 4 w r (holds [a; b]) == m) by lra. clearbody m.
    assert (M : 0 < w a + w b) by (pose proof (W a Ha); pose proof (W b Hb); lra).
    assert (X : union_rate 4 w r (holds [a; b]) == (w a * r a + w b * r b) / (w a + w b)).
    { unfold union_rate, mass. destruct a as [|[|[|[|a]]]]; [..|lia]; (destruct b as [|[|[|[|b]]]]; [..|lia]); try contradiction; cbn; field; lra. }
    assert (Y : w a * r a + w b * r b == m * (w a + w b)) by (rewrite <- V, X; field; lra). lra. }
  clearbody m. cbn in Pair.
  pose proof (Pair 0%nat 1%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(tauto)) as P01.
  pose proof (Pair 2%nat 3%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(tauto)) as P23.
  pose proof (Pair 0%nat 2%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(tauto)) as P02.
  pose proof (Pair 0%nat 3%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(tauto)) as P03.
  pose proof (Pair 1%nat 2%nat ltac:(lia) ltac:(lia) ltac:(lia) ltac:(tauto)) as P12.
  assert (Zero : forall c, (c < 4)%nat -> r c == m).
  { intros c Hc. assert (Z : w c * (r c - m) == 0) by (destruct c as [|[|[|[|c]]]]; [lra..|lia]).
    destruct (W c Hc) as [P _]. apply Qmult_integral in Z. destruct Z; lra. }
  rewrite (Zero i I), (Zero j J) in D. setoid_replace (m - m) with 0 in D by ring. now compute in D.
Qed.
