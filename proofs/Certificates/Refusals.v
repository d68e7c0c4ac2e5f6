(** What the checker of channels refuses: a good certificate, spoiled in one place each. *)

From Checked Require Import Certificates.Channels Certificates.Optimum3 Certificates.Optimum5.

Definition with_multipliers (m : multipliers) (u t : Z) (a b r dg : list Z) (c : list (list Z)) : multipliers :=
  {| level := level m; level_unit := u; above := a; below := b; of_truth := t; of_rows := r; of_diagonal := dg;
     column_caps := c; row_caps := row_caps m |}.

Definition negated (l : list Z) : list Z := map Z.opp l.

Definition spoiled : list multipliers :=
  let m := proof_3 in let u := level_unit m in let t := of_truth m in let a := above m in let b := below m in
  let r := of_rows m in let g := of_diagonal m in let c := column_caps m in
  [ with_multipliers m u (- t) a b r g c;                   (* a negative multiplier of the budget *)
    with_multipliers m u t (negated a) b r g c;             (* of the level *)
    with_multipliers m u t a (negated b) r g c;
    with_multipliers m u t a b r g (map negated c);         (* of the caps *)
    with_multipliers m u t a b r [-1; 0; 0]%Z c;            (* of the diagonal *)
    with_multipliers m u t [] b r g c;                      (* too few *)
    with_multipliers m u t (a ++ a) b r g c;                (* too many *)
    with_multipliers m u t a b [] g c;
    with_multipliers m u t a b r [] c;
    with_multipliers m u t a b r g [];
    with_multipliers m 0 t a b r g c;                       (* a denominator 0 *)
    with_multipliers m (- u) t a b r g c;
    with_multipliers m (u - 2 ^ 40) t a b r g c;            (* a higher level *)
    proof_5 ]%Z.                                            (* of another program *)

Definition with_units (d : instance) (r x b : Z) (w p : list Z) : instance :=
  {| groups := groups d; weights := w; positives := p; rate_unit := r; x_low := x_low d; x_high := x_high d;
     x_unit := x; budget := budget d; budget_unit := b |}.

Definition spoiled_instances : list instance :=
  let d := instance_3 in let r := rate_unit d in let x := x_unit d in let b := budget_unit d in
  let w := weights d in let p := positives d in
  [ with_units d 0 x b w p; with_units d r 0 b w p; with_units d r x 0 w p;   (* denominators 0 *)
    with_units d r x b [3; 2]%Z p; with_units d r x b w [0; 1]%Z;             (* too few groups *)
    with_units d r x b [3; 2; 0]%Z p; with_units d r x b w [0; 1; 3]%Z;       (* no people, a rate above 1 *)
    with_units d r x b [3; 1; 2]%Z p; with_units d r x b w [0; 2; 1]%Z;       (* other people, other rates *)
    instance_5 ].

Definition with_entries (f : found) (e : list (list Z)) (u v w : Z) : found :=
  {| entries := e; entry_unit := u; reached := v; reached_unit := w |}.

Definition spoiled_channels : list found :=
  let f := channel_3 in let e := entries f in let u := entry_unit f in let v := reached f in let w := reached_unit f in
  [ with_entries f e 0 v w; with_entries f e u v 0; with_entries f e u (v - 2 ^ 40) w; with_entries f e (u + 1) v w;
    with_entries f (rev e) u v w; with_entries f [] u v w; with_entries f (e ++ e) u v w; channel_5 ]%Z.

(** The good one is accepted, and none of the others. *)
Theorem accepts_the_good : accepts instance_3 channel_3 proof_3 = true.
Proof. vm_compute. reflexivity. Qed.

Theorem refuses_spoiled :
  existsb (accepts instance_3 channel_3) spoiled || existsb (fun d => accepts d channel_3 proof_3) spoiled_instances
  || existsb (fun f => accepts instance_3 f proof_3) spoiled_channels = false.
Proof. vm_compute. reflexivity. Qed.
