(** ISIT, Algorithm 1: the printed thresholds, and where they are 0/0. *)

From Checked Require Import Base.Numbers ISIT.Proposition1.

(** The printed chances: keep a 1 of the higher group, turn a 0 of the lower one into a 1; rates a >= b. *)
Definition keep (a b : Q) : Q := (a + b) / (2 * a).
Definition turn (a b : Q) : Q := (a - b) / (2 * (1 - b)).

(** They are chances, and the flips to the midpoint, where no denominator is 0. *)
Definition printed_flips (kept turned : Q -> Q -> Q) : Prop :=
  forall a b, 0 <= b -> b <= a -> a <= 1 -> 0 < a -> b < 1 ->
  0 <= kept a b <= 1 /\ 0 <= turned a b <= 1 /\
  kept a b == 1 - flip_down a ((a + b) / 2) /\ turned a b == flip_up b ((a + b) / 2) /\
  flip_up a ((a + b) / 2) == 0 /\ flip_down b ((a + b) / 2) == 0.

Theorem algorithm_1 : printed_flips keep turn.
Proof.
  intros a b B L A A0 B1. unfold keep, turn, flip_down, flip_up.
  assert (M : (a + b) / 2 == (1#2) * a + (1#2) * b) by field.
  assert (Z1 : below a ((a + b) / 2) = false) by (destruct (below_cases a ((a + b) / 2)) as [[? _]|[_ ?]]; [lra | assumption]).
  assert (Z2 : below ((a + b) / 2) b = false) by (destruct (below_cases ((a + b) / 2) b) as [[? _]|[_ ?]]; [lra | assumption]).
  rewrite Z1, Z2. splits; try reflexivity.
  - apply div_nonneg; lra.
  - apply div_le; lra.
  - apply div_nonneg; lra.
  - apply div_le; lra.
  - destruct (below_cases ((a + b) / 2) a) as [[H ->]|[H ->]]; [field; lra|].
    assert (E : a == b) by lra. rewrite E. field. lra.
  - destruct (below_cases b ((a + b) / 2)) as [[H ->]|[H ->]]; [field; lra|].
    assert (E : a == b) by lra. rewrite E. field. lra.
Qed.

(** Where a denominator is 0 both rates are equal, and nobody has to be flipped. *)
Theorem algorithm_1_nobody_to_flip : forall a b, 0 <= b -> b <= a -> a <= 1 -> (a == 0 \/ b == 1) ->
  a == b /\ flip_down a b == 0 /\ flip_up b a == 0.
Proof.
  intros a b B L A H. assert (E : a == b) by (destruct H; lra). unfold flip_down, flip_up.
  destruct (below_cases b a) as [[? _]|[_ ->]]; [lra|]. splits; [assumption | reflexivity | reflexivity].
Qed.

(** ** Planted faults *)

(** The 2 in the denominator left out. *)
Theorem algorithm_1_fault_1 : ~ printed_flips (fun a b => (a + b) / a) turn.
Proof. intros H. destruct (H 1 0 ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as (_ & _ & E & _). now vm_compute in E. Qed.

(** The lower group's rate for the share of its 0s. *)
Theorem algorithm_1_fault_2 : ~ printed_flips keep (fun a b => (a - b) / (2 * (1 - a))).
Proof. intros H. destruct (H (1#2) (1#4) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra) ltac:(lra)) as (_ & _ & _ & E & _). now vm_compute in E. Qed.
