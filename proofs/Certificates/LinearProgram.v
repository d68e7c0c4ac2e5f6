(** A checker for lower bounds of linear programs, proved once.

    The variables lie between 0 and 1. Multipliers of the constraints prove a bound of the objective: what they leave of
    an objective is at least the sum of its negative coefficients. All numbers of program and proof are whole, so that
    the kernel computes with them; divide to get fractions. *)

From Coq Require Export ZArith List.
From Checked Require Export Base.Numbers.
Export ListNotations.

Definition whole (a : Z) : Q := inject_Z a.

Lemma whole_add a b : whole (a + b) == whole a + whole b.
Proof. unfold whole. now rewrite inject_Z_plus. Qed.

Lemma whole_mul a b : whole (a * b) == whole a * whole b.
Proof. unfold whole. now rewrite inject_Z_mult. Qed.

Lemma whole_opp a : whole (- a) == - whole a.
Proof. unfold whole. now rewrite inject_Z_opp. Qed.

Lemma whole_le a b : (a <= b)%Z <-> whole a <= whole b.
Proof. unfold whole. now rewrite <- Zle_Qle. Qed.

Lemma whole_lt a b : (a < b)%Z <-> whole a < whole b.
Proof. unfold whole. now rewrite <- Zlt_Qlt. Qed.

Lemma whole_sub a b : whole (a - b) == whole a - whole b.
Proof. unfold Z.sub. rewrite whole_add, whole_opp. ring. Qed.

(** ** Linear forms, as lists of (variable, coefficient) *)

Definition form := list (positive * Z).

Fixpoint value_of (f : form) (v : positive -> Q) : Q :=
  match f with nil => 0 | (i, a) :: rest => whole a * v i + value_of rest v end.

Definition times (c : Z) (f : form) : form := map (fun '(i, a) => (i, c * a)%Z) f.

Lemma value_of_app f g v : value_of (f ++ g) v == value_of f v + value_of g v.
Proof. induction f as [|[i a] f IH]; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma value_of_times c f v : value_of (times c f) v == whole c * value_of f v.
Proof. induction f as [|[i a] f IH]; simpl; [ring|]. rewrite IH, whole_mul. ring. Qed.

(** Coefficients collected by variable, in a tree along the binary digits of its number. *)
Inductive tree := leaf | node (left : tree) (a : Z) (right : tree).

Fixpoint add (i : positive) (a : Z) (t : tree) : tree :=
  match i, t with
  | xH, leaf => node leaf a leaf
  | xH, node l b r => node l (a + b) r
  | xO i, leaf => node (add i a leaf) 0 leaf
  | xO i, node l b r => node (add i a l) b r
  | xI i, leaf => node leaf 0 (add i a leaf)
  | xI i, node l b r => node l b (add i a r)
  end.

Fixpoint collect (f : form) (t : tree) : tree :=
  match f with nil => t | (i, a) :: rest => collect rest (add i a t) end.

Fixpoint value_at (t : tree) (v : positive -> Q) : Q :=
  match t with
  | leaf => 0
  | node l a r => whole a * v xH + value_at l (fun i => v (xO i)) + value_at r (fun i => v (xI i))
  end.

Lemma value_at_add i : forall a t v, value_at (add i a t) v == value_at t v + whole a * v i.
Proof.
  induction i as [i IH|i IH|]; intros a [|l b r] v; simpl; rewrite ?IH, ?whole_add; simpl;
    change (whole 0) with 0; ring.
Qed.

Lemma value_at_collect f : forall t v, value_at (collect f t) v == value_at t v + value_of f v.
Proof.
  induction f as [|[i a] f IH]; intros t v; simpl; [ring|]. rewrite IH, value_at_add. ring.
Qed.

(** The sum of the negative coefficients. *)
Fixpoint negatives (t : tree) : Z :=
  match t with leaf => 0%Z | node l a r => (Z.min a 0 + (negatives l + negatives r))%Z end.

Lemma negatives_below t : forall v, (forall i, 0 <= v i <= 1) -> whole (negatives t) <= value_at t v.
Proof.
  induction t as [|l IHl a r IHr]; intros v V; simpl; [apply Qle_refl|].
  specialize (IHl (fun i => v (xO i)) (fun i => V (xO i))).
  specialize (IHr (fun i => v (xI i)) (fun i => V (xI i))). rewrite !whole_add.
  assert (A : whole (Z.min a 0) <= whole a * v xH).
  { destruct (V xH) as [V0 V1]. destruct (Z.min_spec a 0) as [[L E]|[L E]]; rewrite E.
    - apply whole_lt in L. change (whole 0) with 0 in L. nra.
    - apply whole_le in L. change (whole 0) with 0 in *. nra. }
  lra.
Qed.

(** ** Programs and proofs *)

(** [form >= least], or an equation. *)
Record constraint := { equation : bool; left_side : form; least_side : Z }.

Definition holds (v : positive -> Q) (c : constraint) : Prop :=
  (if equation c then value_of (left_side c) v == whole (least_side c)
   else whole (least_side c) <= value_of (left_side c) v).

Record program := { objective : form; constraints : list constraint }.

Definition feasible (p : program) (v : positive -> Q) : Prop :=
  (forall i, 0 <= v i <= 1) /\ Forall (holds v) (constraints p).

(** A multiplier for each constraint; that of an inequality is at least 0. *)
Fixpoint signs_right (cs : list constraint) (ys : list Z) : bool :=
  match cs, ys with
  | nil, nil => true
  | c :: cs, y :: ys => (equation c || (0 <=? y)%Z) && signs_right cs ys
  | _, _ => false
  end.

Fixpoint combined (cs : list constraint) (ys : list Z) (t : tree) : tree :=
  match cs, ys with c :: cs, y :: ys => combined cs ys (collect (times (- y) (left_side c)) t) | _, _ => t end.

Fixpoint least_sides (cs : list constraint) (ys : list Z) : Z :=
  match cs, ys with c :: cs, y :: ys => (y * least_side c + least_sides cs ys)%Z | _, _ => 0%Z end.

(** The bound that multipliers prove. [dpfair_lib.local.optimal.exact_bound.linear_bound] *)
Definition linear_bound (p : program) (ys : list Z) : Z :=
  (least_sides (constraints p) ys + negatives (combined (constraints p) ys (collect (objective p) leaf)))%Z.

(** The checker: the right number of multipliers, the right signs, and a bound of at least [claimed]. *)
Definition proves (p : program) (ys : list Z) (claimed : Z) : bool :=
  signs_right (constraints p) ys && (claimed <=? linear_bound p ys)%Z.

Lemma combined_value cs v : forall ys t, Forall (holds v) cs -> signs_right cs ys = true ->
  whole (least_sides cs ys) + value_at (combined cs ys t) v <= value_at t v.
Proof.
  induction cs as [|c cs IH]; intros [|y ys] t F S; simpl in *; try discriminate.
  - change (whole 0) with 0. lra.
  - apply andb_prop in S. destruct S as [Sy S]. inversion F as [|? ? Hc Fc]; subst.
    specialize (IH ys (collect (times (- y) (left_side c)) t) Fc S).
    rewrite value_at_collect, value_of_times, whole_opp in IH. rewrite whole_add, whole_mul.
    unfold holds in Hc. set (e := value_of (left_side c) v) in *.
    assert (K : whole y * whole (least_side c) <= whole y * e).
    { destruct (equation c); [rewrite Hc; lra|]. simpl in Sy. apply Z.leb_le, whole_le in Sy.
      change (whole 0) with 0 in Sy. now apply scaled. }
    lra.
Qed.

(** The meaning of a checker: what it accepts is a bound of the objective on all that is feasible. *)
Definition checker_sound (checks : program -> list Z -> Z -> bool) : Prop :=
  forall p ys claimed, checks p ys claimed = true ->
  forall v, feasible p v -> whole claimed <= value_of (objective p) v.

Theorem linear_checker_sound : checker_sound proves.
Proof.
  intros p ys claimed H v [V F]. unfold proves in H. apply andb_prop in H. destruct H as [S B].
  apply Z.leb_le, whole_le in B. unfold linear_bound in B. rewrite whole_add in B.
  pose proof (combined_value _ v ys (collect (objective p) leaf) F S) as C.
  pose proof (negatives_below (combined (constraints p) ys (collect (objective p) leaf)) v V) as N.
  rewrite value_at_collect in C. simpl in C. lra.
Qed.

(** Any bound of at most [claimed] is accepted too; one above the proved bound is not. *)
Theorem linear_checker_sharp : forall p ys claimed, proves p ys claimed = true -> (claimed <= linear_bound p ys)%Z.
Proof. intros p ys claimed H. apply andb_prop in H. now apply Z.leb_le. Qed.

(** ** Planted faults *)

(** Minimise v under v >= 0: the multiplier -1 "proves" nothing that holds. *)
Definition one_variable : program :=
  {| objective := [(1%positive, 1%Z)]; constraints := [{| equation := false; left_side := [(1%positive, -1)%Z]; least_side := -1 |}] |}.

Lemma one_variable_feasible : feasible one_variable (fun _ => 0).
Proof. split; [intros; lra|]. repeat constructor. now compute. Qed.

(** Multipliers of any sign. *)
Theorem linear_checker_fault_1 : ~ checker_sound (fun p ys claimed => (claimed <=? linear_bound p ys)%Z).
Proof.
  intros H. assert (C : (1 <=? linear_bound one_variable [-1])%Z = true) by reflexivity.
  specialize (H _ _ _ C _ one_variable_feasible). now compute in H.
Qed.

(** What is left of the objective is forgotten. *)
Theorem linear_checker_fault_2 :
  ~ checker_sound (fun p ys claimed => signs_right (constraints p) ys && (claimed <=? least_sides (constraints p) ys)%Z).
Proof.
  intros H.
  set (p := {| objective := [(1%positive, -1)%Z]; constraints := nil |}).
  assert (C : (signs_right (constraints p) nil && (0 <=? least_sides (constraints p) nil)%Z)%bool = true) by reflexivity.
  assert (F : feasible p (fun _ => 1)) by (split; [intros; lra | constructor]).
  specialize (H _ _ _ C _ F). now compute in H.
Qed.

(** ** What is refused *)

Definition refused (b : bool) : Prop := b = false.

Example refuses_negative : refused (proves one_variable [-1]%Z 1).
Proof. reflexivity. Qed.

Example refuses_too_few : refused (proves one_variable [] 0).
Proof. reflexivity. Qed.

Example refuses_too_many : refused (proves one_variable [0; 0]%Z 0).
Proof. reflexivity. Qed.

Example refuses_too_much : refused (proves one_variable [0]%Z 1).
Proof. reflexivity. Qed.

Example accepts_zero : proves one_variable [0]%Z 0 = true.
Proof. reflexivity. Qed.
