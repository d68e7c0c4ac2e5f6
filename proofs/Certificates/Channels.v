(** Certificates of the fairest channel, program (5.5.8) of the thesis.

    A certificate names a channel and multipliers, all in whole numbers. [accepts] computes; what it accepts is proved:
    the channel is one of the program and has at most the value, and no channel of the program has less than the bound.
    Both hold for every x = e^(-ε) between two fractions, so that e^(-ε) itself need not be one. *)

From Checked Require Export Base.Numbers Privacy.Channels Thesis.Lemma13 Thesis.Program559 Certificates.LinearProgram.

Open Scope Q_scope.

(** ** The program, as [dpfair_lib.optimal_randomizer] states it *)

Definition truthful_rows (k : nat) (q : nat -> nat -> Q) : Prop :=
  forall i j, (i < k)%nat -> (j < k)%nat -> q i j <= q i i.

Definition fair_program (k : nat) (p : nat -> Q) (x zeta : Q) (q : nat -> nat -> Q) : Prop :=
  channel k k q /\ private_by_pairs k x q /\ truthful_rows k q /\ truthful_columns k q /\ 1 - truth_of k p q <= zeta.

(** Δ of the reports. *)
Definition left_unfair (k : nat) (p r : nat -> Q) (q : nat -> nat -> Q) : Q := unfairness (pred k) k p r q.

Definition optimum_between (k : nat) (p r : nat -> Q) (x zeta : Q) (q : nat -> nat -> Q) (lower value : Q) : Prop :=
  (fair_program k p x zeta q /\ left_unfair k p r q <= value) /\
  forall q', fair_program k p x zeta q' -> lower <= left_unfair k p r q'.

(** ** The certificate, in whole numbers *)

Record instance := {
  groups : nat;
  weights : list Z;    (* P(A = i) is weights[i] over their sum *)
  positives : list Z;  (* P(Y = 1 | A = i) is positives[i]/rate_unit *)
  rate_unit : Z;
  x_low : Z; x_high : Z; x_unit : Z;
  budget : Z; budget_unit : Z
}.

Record found := { entries : list (list Z); entry_unit : Z; reached : Z; reached_unit : Z }.

Record multipliers := {
  level : Z; level_unit : Z;
  above : list Z; below : list Z;        (* of N_j <= t D_j and of -N_j <= t D_j *)
  of_truth : Z;                          (* of the error budget *)
  of_rows : list Z;                      (* of the row sums; any sign *)
  of_diagonal : list Z;                  (* of k q_jj >= 1 *)
  column_caps : list (list Z); row_caps : list (list Z)
}.

Definition entry (m : list (list Z)) (i j : nat) : Z := nth j (nth i m nil) 0%Z.
Definition at_ (l : list Z) (i : nat) : Z := nth i l 0%Z.

Fixpoint zsum (n : nat) (f : nat -> Z) : Z := match n with O => 0%Z | S m => (zsum m f + f m)%Z end.

Lemma whole_zsum n f : whole (zsum n f) == sum n (fun i => whole (f i)).
Proof. induction n as [|n IH]; simpl; [reflexivity|]. now rewrite whole_add, IH. Qed.

Definition weight_total (d : instance) : Z := zsum (groups d) (at_ (weights d)).
Definition positive_total (d : instance) : Z := zsum (groups d) (fun i => at_ (weights d) i * at_ (positives d) i)%Z.

Definition share_of (d : instance) (i : nat) : Q := whole (at_ (weights d) i) / whole (weight_total d).
Definition rate_of (d : instance) (i : nat) : Q := whole (at_ (positives d) i) / whole (rate_unit d).
Definition budget_of (d : instance) : Q := whole (budget d) / whole (budget_unit d).
Definition entry_of (f : found) (i j : nat) : Q := whole (entry (entries f) i j) / whole (entry_unit f).
Definition value_reached (f : found) : Q := whole (reached f) / whole (reached_unit f).
Definition level_of (m : multipliers) : Q := whole (level m) / whole (level_unit m).

Definition everywhere (n : nat) (b : nat -> bool) : bool := forallb b (seq 0 n).

Lemma everywhere_at n b : everywhere n b = true -> forall i, (i < n)%nat -> b i = true.
Proof. unfold everywhere. rewrite forallb_forall. intros H i Hi. apply H, in_seq. lia. Qed.

(** What is wrong with the numbers of an instance: lengths, signs, denominators. *)
Definition instance_right (d : instance) : bool :=
  (1 <=? groups d)%nat && (length (weights d) =? groups d)%nat && (length (positives d) =? groups d)%nat
  && everywhere (groups d) (fun i => (0 <? at_ (weights d) i) && (0 <=? at_ (positives d) i) && (at_ (positives d) i <=? rate_unit d))%Z
  && ((0 <? rate_unit d) && (0 <? x_unit d) && (0 <? budget_unit d) && (0 <=? x_low d) && (x_low d <=? x_high d)
      && (x_high d <=? x_unit d) && (0 <? positive_total d))%Z.

Definition square (n : nat) (m : list (list Z)) : bool :=
  (length m =? n)%nat && forallb (fun row => (length row =? n)%nat) m.

(** N_j and D_j, up to a common factor. *)
Definition excess (d : instance) (w g : Z) (i : nat) : Z := (at_ (weights d) i * (at_ (positives d) i * w - g))%Z.
Definition mass (d : instance) (g : Z) (i : nat) : Z := (g * at_ (weights d) i)%Z.

Definition channel_right (d : instance) (f : found) : bool :=
  let k := groups d in let e := entry (entries f) in let u := entry_unit f in
  let w := weight_total d in let g := positive_total d in
  square k (entries f) && ((0 <? u) && (0 <? reached_unit f))%Z
  && everywhere k (fun i => (zsum k (e i) =? u)%Z && everywhere k (fun j =>
       ((0 <=? e i j) && (e i j <=? e i i) && (e i j <=? e j j) && (x_high d * e j j <=? x_unit d * e i j))%Z))
  && ((budget_unit d - budget d) * w * u <=? budget_unit d * zsum k (fun i => at_ (weights d) i * e i i))%Z
  && everywhere k (fun j =>
       (Z.abs (zsum k (fun i => excess d w g i * e i j)) * reached_unit f <=? reached f * zsum k (fun i => mass d g i * e i j))%Z).

Definition place (k i j : nat) : positive := Pos.of_succ_nat (i * k + j).

Definition cost (d : instance) (m : multipliers) (w g : Z) (i j : nat) : Z :=
  (level_unit m * (excess d w g i * (at_ (above m) j - at_ (below m) j))
   - level m * (mass d g i * (at_ (above m) j + at_ (below m) j)))%Z.

Definition at_least (l : form) (b : Z) : constraint := {| equation := false; left_side := l; least_side := b |}.
Definition equal_to (l : form) (b : Z) : constraint := {| equation := true; left_side := l; least_side := b |}.

(** The constraints of value i and report j, each with its multiplier; those of privacy are what is left of the costs. *)
Definition cell (d : instance) (m : multipliers) (w g u : Z) (i j : nat) : list (constraint * Z) :=
  let k := groups d in
  if Nat.eqb i j then [(at_least [(place k j j, Z.of_nat k)] 1, at_ (of_diagonal m) j * u)%Z]
  else
    let c := entry (column_caps m) i j in let r := entry (row_caps m) i j in
    let s := Z.max 0 ((cost d m w g i j + (c + r - at_ (of_rows m) i) * u) / x_unit d) in
    [(at_least [(place k i j, x_unit d); (place k j j, (- x_low d)%Z)] 0, s);
     (at_least [(place k j j, 1%Z); (place k i j, (-1)%Z)] 0, (c * u)%Z);
     (at_least [(place k i i, 1%Z); (place k i j, (-1)%Z)] 0, (r * u)%Z)].

Definition priced (d : instance) (m : multipliers) (w g u : Z) : list (constraint * Z) :=
  let k := groups d in
  (at_least (map (fun i => (place k i i, at_ (weights d) i * budget_unit d)%Z) (seq 0 k)) ((budget_unit d - budget d) * w), of_truth m)
  :: flat_map (fun i =>
       (equal_to (map (fun j => (place k i j, 1%Z)) (seq 0 k)) 1, (at_ (of_rows m) i * u)%Z)
       :: flat_map (cell d m w g u i) (seq 0 k)) (seq 0 k).

Definition costs (d : instance) (m : multipliers) (w g : Z) : form :=
  flat_map (fun i => map (fun j => (place (groups d) i j, cost d m w g i j)) (seq 0 (groups d))) (seq 0 (groups d)).

Definition multipliers_right (d : instance) (m : multipliers) : bool :=
  let k := groups d in let w := weight_total d in let g := positive_total d in
  let rows := priced d m w g (w * w * rate_unit d * level_unit m)%Z in
  (0 <? level_unit m)%Z && (length (above m) =? k)%nat && (length (below m) =? k)%nat && (length (of_rows m) =? k)%nat
  && (length (of_diagonal m) =? k)%nat && square k (column_caps m) && square k (row_caps m)
  && everywhere k (fun j => (0 <=? at_ (above m) j) && (0 <=? at_ (below m) j))%Z
  && proves {| objective := costs d m w g; constraints := map fst rows |} (map snd rows) 0.

Definition bound_right (d : instance) (m : multipliers) : bool :=
  existsb (fun j => 0 <? at_ (above m) j + at_ (below m) j)%Z (seq 0 (groups d)) && multipliers_right d m.

(** A level of at most 0 needs no proof. *)
Definition level_right (d : instance) (m : multipliers) : bool :=
  ((0 <? level_unit m) && (level m <=? 0))%Z || bound_right d m.

Definition accepts (d : instance) (f : found) (m : multipliers) : bool :=
  instance_right d && channel_right d f && level_right d m.

(** ** The checker is right *)

Definition certified (d : instance) (f : found) (m : multipliers) : Prop :=
  forall x, whole (x_low d) / whole (x_unit d) <= x <= whole (x_high d) / whole (x_unit d) ->
  optimum_between (groups d) (share_of d) (rate_of d) x (budget_of d) (entry_of f) (level_of m) (value_reached f).

Definition checker_of_channels_sound (checks : instance -> found -> multipliers -> bool) : Prop :=
  forall d f m, checks d f m = true -> certified d f m.

Lemma weighted_negative a b u v : 0 <= a -> 0 <= b -> 0 < a + b -> u < 0 -> v < 0 -> a * u + b * v < 0.
Proof. intros A B S U V. destruct (Qlt_le_dec 0 a); [|assert (0 < b) by lra]; nra. Qed.

Section Of_an_instance.
Context (d : instance) (right : instance_right d = true).
Let k := groups d.
Let w := weight_total d.
Let g := positive_total d.

Lemma parts : (1 <= k)%nat /\ (forall i, (i < k)%nat -> 0 < whole (at_ (weights d) i)) /\ 0 < whole (rate_unit d) /\
  0 < whole (x_unit d) /\ 0 < whole (budget_unit d) /\ 0 <= whole (x_low d) /\ whole (x_low d) <= whole (x_high d) /\
  whole (x_high d) <= whole (x_unit d) /\ 0 < whole g.
Proof.
  unfold instance_right in right. rewrite !Bool.andb_true_iff in right.
  destruct right as [[[[K _] _] W] [[[[[[U X] B] L] LH] H] G]].
  pose proof (everywhere_at _ _ W) as W'. cbv beta in W'.
  rewrite Z.ltb_lt, whole_lt in U, X, B, G. rewrite Z.leb_le, whole_le in L, LH, H.
  splits; try assumption; [now apply Nat.leb_le in K|].
  intros i Hi. specialize (W' i Hi). rewrite !Bool.andb_true_iff in W'. destruct W' as [[P _] _].
  now rewrite Z.ltb_lt, whole_lt in P.
Qed.

Lemma total_positive : 0 < whole w.
Proof.
  destruct parts as (K & W & _). unfold w, weight_total. rewrite whole_zsum. fold k.
  pose proof (sum_term k (fun i => whole (at_ (weights d) i)) 0 (fun i Hi => Qlt_le_weak _ _ (W i Hi)) ltac:(lia)) as T.
  specialize (W 0%nat ltac:(lia)). cbv beta in T. lra.
Qed.

Lemma overall_is : overall k (share_of d) (rate_of d) == whole g / (whole w * whole (rate_unit d)).
Proof.
  pose proof total_positive as W. destruct parts as (_ & _ & U & _).
  unfold overall, g, positive_total. rewrite whole_zsum. fold k.
  rewrite (sum_ext k _ (fun i => / (whole w * whole (rate_unit d)) * whole (at_ (weights d) i * at_ (positives d) i)%Z)).
  - rewrite sum_scale. field. lra.
  - intros i _. unfold share_of, rate_of. fold w. rewrite whole_mul. field. lra.
Qed.

Lemma overall_positive : 0 < overall k (share_of d) (rate_of d).
Proof.
  rewrite overall_is. pose proof total_positive as W. destruct parts as (_ & _ & U & _ & _ & _ & _ & _ & G).
  apply div_pos; [now apply mul_pos | assumption].
Qed.

(** N_j and D_j of a channel, in fractions. *)
Definition n_of (q : nat -> nat -> Q) (j : nat) : Q := sum k (fun i => whole (excess d w g i) * q i j).
Definition d_of (q : nat -> nat -> Q) (j : nat) : Q := sum k (fun i => whole (mass d g i) * q i j).

Lemma level_at q j t : 0 < share k (share_of d) q j ->
  (Qabs (reported k (share_of d) (rate_of d) q j / overall k (share_of d) (rate_of d) - 1) <= t
   <-> Qabs (n_of q j) <= t * d_of q j).
Proof.
  intros S. pose proof total_positive as W. pose proof overall_positive as Y.
  destruct parts as (_ & _ & U & _ & _ & _ & _ & _ & G).
  unfold reported. rewrite level_is_linear by assumption.
  set (c := / (whole w * whole w * whole (rate_unit d))).
  assert (C : 0 < c).
  { apply Qinv_lt_0_compat. apply mul_pos; [now apply mul_pos | assumption]. }
  assert (E : sum k (fun a => share_of d a * q a j * rate_of d a) - overall k (share_of d) (rate_of d) * share k (share_of d) q j
              == c * n_of q j).
  { rewrite overall_is. unfold share, n_of. rewrite <- !sum_scale, <- sum_minus. apply sum_ext. intros i _.
    unfold excess, share_of, rate_of, c. fold w. rewrite whole_mul, whole_sub, whole_mul. field. lra. }
  assert (F : overall k (share_of d) (rate_of d) * share k (share_of d) q j == c * d_of q j).
  { rewrite overall_is. unfold share, d_of. rewrite <- !sum_scale. apply sum_ext. intros i _.
    unfold mass, share_of, c. fold w. rewrite whole_mul. field. lra. }
  rewrite E, F, Qabs_Qmult, (Qabs_pos c) by lra.
  split; intros H; [|pose proof (scaled c _ _ (Qlt_le_weak _ _ C) H); lra].
  apply (Qmult_le_l _ _ c); [assumption|]. lra.
Qed.

(** A report of a truthful channel occurs. *)
Lemma diagonal_least q j : (j < k)%nat -> channel k k q -> truthful_rows k q -> 1 <= number k * q j j.
Proof.
  intros Hj C T. rewrite <- (proj2 (C j Hj)). unfold number. rewrite <- sum_const.
  apply sum_le. intros i Hi. now apply T.
Qed.

Lemma share_positive q j : (j < k)%nat -> channel k k q -> truthful_rows k q -> 0 < share k (share_of d) q j.
Proof.
  intros Hj C T. pose proof total_positive as W. destruct parts as (_ & P & _).
  assert (S : forall i, (i < k)%nat -> 0 < share_of d i) by (intros i Hi; apply div_pos; [assumption | now apply P]).
  assert (D : 0 < q j j).
  { pose proof (diagonal_least q j Hj C T) as D. pose proof (proj1 (C j Hj) j Hj) as Z. pose proof (number_nonneg k).
    destruct (Qlt_le_dec 0 (q j j)) as [|N]; [assumption|]. assert (E : q j j == 0) by lra. rewrite E in D. lra. }
  unfold share. pose proof (sum_term k (fun i => share_of d i * q i j) j) as M.
  assert (N : forall i, (i < k)%nat -> 0 <= share_of d i * q i j).
  { intros i Hi. apply mul_nonneg; [apply Qlt_le_weak; now apply S | now apply (C i Hi)]. }
  specialize (M N Hj). cbv beta in M. pose proof (mul_pos _ _ (S j Hj) D). lra.
Qed.

Lemma d_positive q j : 0 < share k (share_of d) q j -> 0 < d_of q j.
Proof.
  intros S. pose proof total_positive as W. destruct parts as (_ & _ & _ & _ & _ & _ & _ & _ & G).
  assert (E : d_of q j == whole g * whole w * share k (share_of d) q j).
  { unfold d_of, share. rewrite <- sum_scale. apply sum_ext. intros i _. unfold mass, share_of. fold w.
    rewrite whole_mul. field. lra. }
  rewrite E. apply mul_pos; [now apply mul_pos | assumption].
Qed.

(** ** The channel *)

Lemma channel_is_right f x : channel_right d f = true -> x <= whole (x_high d) / whole (x_unit d) ->
  0 <= x -> fair_program k (share_of d) x (budget_of d) (entry_of f) /\ left_unfair k (share_of d) (rate_of d) (entry_of f) <= value_reached f.
Proof.
  intros H X X0. pose proof total_positive as W.
  destruct parts as (K & P & U & Xu & B & _ & _ & Xh & G).
  unfold channel_right in H. cbv zeta in H. fold k w g in H. rewrite !Bool.andb_true_iff in H.
  destruct H as [[[[_ [Un Ru]] Rows] Bud] Lev].
  rewrite Z.ltb_lt, whole_lt in Un, Ru. rewrite Z.leb_le, whole_le in Bud.
  set (e := entry (entries f)) in *. set (u := entry_unit f) in *. change (whole 0) with 0 in *.
  assert (Row : forall i, (i < k)%nat -> sum k (fun j => whole (e i j)) == whole u).
  { intros i Hi. pose proof (everywhere_at _ _ Rows i Hi) as R. cbv beta in R. apply andb_prop in R. destruct R as [R _].
    apply Z.eqb_eq in R. rewrite <- R, whole_zsum. reflexivity. }
  assert (Cell : forall i j, (i < k)%nat -> (j < k)%nat -> 0 <= whole (e i j) /\ whole (e i j) <= whole (e i i) /\
    whole (e i j) <= whole (e j j) /\ whole (x_high d) * whole (e j j) <= whole (x_unit d) * whole (e i j)).
  { intros i j Hi Hj. pose proof (everywhere_at _ _ Rows i Hi) as R. cbv beta in R. apply andb_prop in R. destruct R as [_ R].
    pose proof (everywhere_at _ _ R j Hj) as C. cbv beta in C. rewrite !Bool.andb_true_iff, !Z.leb_le, !whole_le, !whole_mul in C.
    change (whole 0) with 0 in C. tauto. }
  assert (Q : forall i j, entry_of f i j == / whole u * whole (e i j)) by (intros; unfold entry_of; fold u e; field; lra).
  assert (Iu : 0 < / whole u) by now apply Qinv_lt_0_compat.
  assert (Ch : channel k k (entry_of f)).
  { intros i Hi. split.
    - intros j Hj. rewrite Q. apply mul_nonneg; [lra | now apply Cell].
    - rewrite (sum_ext k _ (fun j => / whole u * whole (e i j))) by (intros; apply Q).
      rewrite sum_scale, (Row i Hi). field. lra. }
  assert (Tr : truthful_rows k (entry_of f)).
  { intros i j Hi Hj. rewrite !Q. apply scaled; [lra | now apply Cell]. }
  assert (Tc : truthful_columns k (entry_of f)).
  { intros i j Hi Hj. rewrite !Q. apply scaled; [lra | now apply Cell]. }
  assert (Pr : private_by_truth k x (entry_of f)).
  { intros i j Hi Hj. destruct (Cell i j Hi Hj) as (_ & _ & _ & V). rewrite !Q.
    destruct (Cell j j Hj Hj) as (N & _).
    assert (L : x * whole (e j j) <= whole (e i j)).
    { apply (Qmult_le_l _ _ (whole (x_unit d))); [assumption|].
      assert (A : x * whole (x_unit d) <= whole (x_high d)).
      { apply (Qmult_le_r _ _ (whole (x_unit d))) in X; [|assumption]. rewrite div_mul in X; lra. }
      pose proof (scaled _ _ _ N A). lra. }
    pose proof (scaled (/ whole u) _ _ (Qlt_le_weak _ _ Iu) L). lra. }
  assert (X1 : 0 <= x <= 1).
  { split; [assumption|]. eapply Qle_trans; [exact X|]. apply div_le; lra. }
  split; [unfold fair_program; splits; try assumption|].
  - now apply (reduction_5_5_7 k x (entry_of f) X1 Ch Tc).
  - unfold truth_of. rewrite (sum_ext k _ (fun i => / (whole w * whole u) * whole (at_ (weights d) i * e i i)%Z)).
    + rewrite sum_scale, <- whole_zsum. rewrite !whole_mul, whole_sub in Bud. unfold budget_of.
      set (s := whole (zsum k _)) in *.
      assert (Wu : 0 < whole w * whole u) by now apply mul_pos.
      apply (Qmult_le_r _ _ (whole (budget_unit d) * (whole w * whole u))); [now apply mul_pos|].
      assert (E : whole (budget d) / whole (budget_unit d) * (whole (budget_unit d) * (whole w * whole u)) == whole (budget d) * (whole w * whole u)) by (field; lra).
      assert (F : (1 - / (whole w * whole u) * s) * (whole (budget_unit d) * (whole w * whole u)) == whole (budget_unit d) * (whole w * whole u) - whole (budget_unit d) * s) by (field; lra).
      rewrite E, F. lra.
    + intros i _. rewrite Q, whole_mul. unfold share_of. fold w. field. lra.
  - unfold left_unfair, unfairness. apply largest_le. intros j Hj. cbv beta.
    assert (Hj' : (j < k)%nat) by lia.
    apply level_at; [now apply share_positive|].
    pose proof (everywhere_at _ _ Lev j Hj') as L. cbv beta in L. rewrite Z.leb_le, whole_le, !whole_mul in L.
    assert (N : n_of (entry_of f) j == / whole u * whole (zsum k (fun i => excess d w g i * e i j)%Z)).
    { unfold n_of. rewrite whole_zsum, <- sum_scale. apply sum_ext. intros i _. rewrite Q, whole_mul. ring. }
    assert (D : d_of (entry_of f) j == / whole u * whole (zsum k (fun i => mass d g i * e i j)%Z)).
    { unfold d_of. rewrite whole_zsum, <- sum_scale. apply sum_ext. intros i _. rewrite Q, whole_mul. ring. }
    rewrite N, D, Qabs_Qmult, (Qabs_pos (/ whole u)) by lra.
    set (a := zsum k (fun i => excess d w g i * e i j)%Z) in *. set (b := whole (zsum k (fun i => mass d g i * e i j)%Z)) in *.
    assert (Ab : Qabs (whole a) == whole (Z.abs a)) by reflexivity.
    rewrite Ab. unfold value_reached.
    assert (R : whole (Z.abs a) <= whole (reached f) / whole (reached_unit f) * b).
    { apply (Qmult_le_r _ _ (whole (reached_unit f))); [assumption|].
      assert (E : whole (reached f) / whole (reached_unit f) * b * whole (reached_unit f) == whole (reached f) * b) by (field; lra).
      rewrite E. lra. }
    pose proof (scaled (/ whole u) _ _ (Qlt_le_weak _ _ Iu) R). lra.
Qed.

(** ** The bound *)

(** A channel as values of the variables. *)
Definition variables (q : nat -> nat -> Q) (n : positive) : Q :=
  let m := pred (Pos.to_nat n) in
  if (Nat.ltb (m / k) k)%nat then q (m / k)%nat (m mod k)%nat else 0.

Lemma variables_at q i j : (i < k)%nat -> (j < k)%nat -> variables q (place k i j) = q i j.
Proof.
  intros Hi Hj. unfold variables, place. rewrite SuccNat2Pos.id_succ. cbn [pred].
  assert (D : ((i * k + j) / k = i)%nat) by (rewrite Nat.div_add_l, Nat.div_small; lia).
  assert (M : ((i * k + j) mod k = j)%nat) by (rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small; lia).
  rewrite D, M. destruct (Nat.ltb_spec i k); [reflexivity|lia].
Qed.

Lemma variables_between q : channel k k q -> forall n, 0 <= variables q n <= 1.
Proof.
  intros C n. unfold variables. set (m := pred (Pos.to_nat n)).
  destruct parts as (K & _). destruct (Nat.ltb_spec (m / k) k) as [L|_]; [|lra].
  assert (M : (m mod k < k)%nat) by (apply Nat.mod_upper_bound; lia).
  destruct (C _ L) as [P S]. split; [now apply P|].
  pose proof (sum_term k (q (m / k)%nat) (m mod k)%nat P M). lra.
Qed.

Lemma value_of_row (c : nat -> positive * Z) n v :
  value_of (map c (seq 0 n)) v == sum n (fun j => whole (snd (c j)) * v (fst (c j))).
Proof.
  induction n as [|n IH]; [reflexivity|].
  rewrite seq_S, map_app, value_of_app, IH. cbn [map value_of sum plus]. destruct (c n). simpl. ring.
Qed.

Lemma value_of_rows (c : nat -> form) n v : value_of (flat_map c (seq 0 n)) v == sum n (fun i => value_of (c i) v).
Proof.
  induction n as [|n IH]; [reflexivity|].
  rewrite seq_S, flat_map_app, value_of_app, IH. cbn [flat_map plus sum]. rewrite app_nil_r. ring.
Qed.

Lemma constraints_hold m u q x : x <= 1 -> whole (x_low d) / whole (x_unit d) <= x ->
  fair_program k (share_of d) x (budget_of d) q ->
  Forall (holds (variables q)) (map fst (priced d m w g u)).
Proof.
  intros X1 X (C & Pv & Tr & Tc & Z). pose proof total_positive as W.
  destruct parts as (K & P & U & Xu & B & L0 & _ & _ & G).
  assert (Pt : private_by_truth k x q).
  { intros i j Hi Hj. destruct (Nat.eq_dec j i) as [->|N]; [|now apply Pv].
    pose proof (proj1 (C i Hi) i Hi). nra. }
  apply Forall_forall. intros c Hc. apply in_map_iff in Hc. destruct Hc as [[c' y] [<- Hc]]. cbn [fst].
  unfold priced in Hc. fold k in Hc. destruct Hc as [Hc|Hc].
  - injection Hc as <- _. unfold holds. cbn [equation left_side least_side at_least]. rewrite value_of_row. cbn [fst snd].
    rewrite (sum_ext k _ (fun i => whole (budget_unit d) * whole w * (share_of d i * q i i))).
    + rewrite sum_scale. fold (truth_of k (share_of d) q). rewrite whole_mul, whole_sub. unfold budget_of in Z.
      assert (E : whole (budget d) / whole (budget_unit d) * whole (budget_unit d) == whole (budget d)) by (apply div_mul; lra).
      set (z := whole (budget d) / whole (budget_unit d)) in *. rewrite <- E.
      assert (A : 0 <= whole (budget_unit d) * whole w) by (apply mul_nonneg; lra).
      pose proof (scaled _ _ _ A Z). lra.
    + intros i Hi. rewrite (variables_at q i i Hi Hi), whole_mul. unfold share_of. fold w. field. lra.
  - apply in_flat_map in Hc. destruct Hc as (i & Hi & Hc). apply in_seq in Hi. assert (I : (i < k)%nat) by lia. clear Hi.
    destruct Hc as [Hc|Hc].
    + injection Hc as <- _. unfold holds. cbn [equation left_side least_side equal_to]. rewrite value_of_row. cbn [fst snd].
      rewrite (sum_ext k _ (fun j => q i j)); [now apply (C i I)|].
      intros j Hj. rewrite (variables_at q i j I Hj). change (whole 1) with 1. ring.
    + apply in_flat_map in Hc. destruct Hc as (j & Hj & Hc). apply in_seq in Hj. assert (J : (j < k)%nat) by lia. clear Hj.
      unfold cell in Hc. fold k in Hc. destruct (Nat.eqb_spec i j) as [->|N].
      * destruct Hc as [Hc|[]]. injection Hc as <- _. unfold holds. cbn [equation left_side least_side at_least value_of].
        rewrite (variables_at q j j J J). pose proof (diagonal_least q j J C Tr) as D.
        unfold number in D. change (whole 1) with 1. unfold whole. lra.
      * cbv zeta in Hc. cbn [In] in Hc. destruct Hc as [Hc|[Hc|[Hc|[]]]]; injection Hc as <- _; unfold holds;
          cbn [equation left_side least_side at_least value_of];
          rewrite ?(variables_at q i j I J), ?(variables_at q j j J J), ?(variables_at q i i I I);
          change (whole 0) with 0; change (whole 1) with 1; change (whole (-1)) with (-1#1).
        -- rewrite whole_opp. specialize (Pt i j I J). pose proof (proj1 (C j J) j J) as D.
           assert (A : whole (x_low d) <= x * whole (x_unit d)).
           { apply (Qmult_le_r _ _ (whole (x_unit d))) in X; [|assumption]. rewrite div_mul in X; lra. }
           pose proof (scaled _ _ _ D A). pose proof (scaled _ _ _ (Qlt_le_weak _ _ Xu) Pt). lra.
        -- specialize (Tc i j I J). lra.
        -- specialize (Tr i j I J). lra.
Qed.

Lemma bound_is_right m x : bound_right d m = true -> x <= 1 -> whole (x_low d) / whole (x_unit d) <= x ->
  forall q, fair_program k (share_of d) x (budget_of d) q -> level_of m <= left_unfair k (share_of d) (rate_of d) q.
Proof.
  intros H X1 X q F. unfold bound_right, multipliers_right in H. cbv zeta in H. fold k w g in H.
  set (u := (w * w * rate_unit d * level_unit m)%Z) in *. rewrite !Bool.andb_true_iff in H.
  destruct H as [Ex [[[[[[[[Lu _] _] _] _] _] _] Sg] Pr]]. rewrite Z.ltb_lt, whole_lt in Lu. change (whole 0) with 0 in Lu.
  pose proof F as (C & _ & Tr & _).
  apply Qnot_lt_le. intros Less.
  (* every report is below the level *)
  assert (Below : forall j, (j < k)%nat -> whole (level_unit m) * Qabs (n_of q j) < whole (level m) * d_of q j).
  { intros j Hj. pose proof (share_positive q j Hj C Tr) as S. pose proof (d_positive q j S) as D.
    assert (T : Qabs (n_of q j) <= left_unfair k (share_of d) (rate_of d) q * d_of q j).
    { apply level_at; [assumption|]. unfold left_unfair, unfairness.
      exact (largest_ge (pred k) (fun a => Qabs (reported k (share_of d) (rate_of d) q a / overall k (share_of d) (rate_of d) - 1)) j ltac:(lia)). }
    set (v := left_unfair k (share_of d) (rate_of d) q) in *.
    assert (V : v * whole (level_unit m) < whole (level m)).
    { apply (Qmult_lt_r _ _ (whole (level_unit m)) Lu) in Less. unfold level_of in Less. rewrite div_mul in Less; lra. }
    apply (Qmult_lt_r _ _ (d_of q j) D) in V. pose proof (scaled _ _ _ (Qlt_le_weak _ _ Lu) T). lra. }
  (* so each report's part of the costs is at most 0, and below it where a multiplier is not 0 *)
  assert (Sum : value_of (costs d m w g) (variables q) ==
    sum k (fun j => whole (at_ (above m) j) * (whole (level_unit m) * n_of q j - whole (level m) * d_of q j)
                  + whole (at_ (below m) j) * (- whole (level_unit m) * n_of q j - whole (level m) * d_of q j))).
  { unfold costs. rewrite value_of_rows. fold k.
    rewrite (sum_ext k _ (fun i => sum k (fun j => whole (cost d m w g i j) * q i j))).
    - rewrite sum_swap. apply sum_ext. intros j _. unfold n_of, d_of.
      set (a := whole (at_ (above m) j)). set (b := whole (at_ (below m) j)).
      rewrite (sum_ext k _ (fun i => whole (level_unit m) * (a - b) * (whole (excess d w g i) * q i j)
                                     - whole (level m) * (a + b) * (whole (mass d g i) * q i j))).
      + rewrite sum_minus, !sum_scale. ring.
      + intros i _. unfold cost. rewrite whole_sub, !whole_mul, whole_sub, whole_add. fold a b. ring.
    - intros i Hi. rewrite value_of_row. apply sum_ext. intros j Hj. cbn [fst snd]. now rewrite (variables_at q i j Hi Hj). }
  assert (B : 0 <= value_of (costs d m w g) (variables q)).
  { change 0 with (whole 0). apply (linear_checker_sound _ _ _ Pr). split; [now apply variables_between|].
    now apply (constraints_hold m u q x). }
  rewrite Sum in B. clear Sum.
  apply existsb_exists in Ex. destruct Ex as (j & Hj & Pos). apply in_seq in Hj. assert (J : (j < k)%nat) by lia.
  rewrite Z.ltb_lt, whole_lt, whole_add in Pos. change (whole 0) with 0 in Pos.
  assert (Part : forall i, (i < k)%nat -> 0 <= whole (at_ (above m) i) /\ 0 <= whole (at_ (below m) i)).
  { intros i Hi. pose proof (everywhere_at _ _ Sg i Hi) as S. cbv beta in S.
    now rewrite Bool.andb_true_iff, !Z.leb_le, !whole_le in S. }
  set (part := fun j => whole (at_ (above m) j) * (whole (level_unit m) * n_of q j - whole (level m) * d_of q j)
                  + whole (at_ (below m) j) * (- whole (level_unit m) * n_of q j - whole (level m) * d_of q j)) in *.
  assert (Two : forall i, (i < k)%nat -> whole (level_unit m) * n_of q i - whole (level m) * d_of q i < 0 /\
                                         - whole (level_unit m) * n_of q i - whole (level m) * d_of q i < 0).
  { intros i Hi. specialize (Below i Hi). pose proof (abs_ge (n_of q i)) as A. pose proof (abs_ge_minus (n_of q i)) as A'.
    pose proof (scaled _ _ _ (Qlt_le_weak _ _ Lu) A). pose proof (scaled _ _ _ (Qlt_le_weak _ _ Lu) A'). lra. }
  assert (N : forall i, (i < k)%nat -> 0 <= - part i).
  { intros i Hi. destruct (Part i Hi), (Two i Hi). unfold part. nra. }
  pose proof (sum_term k (fun i => - part i) j N J) as T. cbv beta in T.
  assert (E : sum k (fun i => - part i) == - sum k part).
  { rewrite (sum_ext k _ (fun i => (-1#1) * part i)) by (intros; ring). rewrite sum_scale. ring. }
  rewrite E in T. destruct (Part j J), (Two j J).
  assert (L : part j < 0) by (unfold part; now apply weighted_negative). lra.
Qed.

Lemma no_less_than_nothing q : 0 <= left_unfair k (share_of d) (rate_of d) q.
Proof.
  unfold left_unfair, unfairness.
  eapply Qle_trans; [|apply (largest_ge (pred k) _ 0%nat ltac:(lia))]. cbv beta. apply Qabs_nonneg.
Qed.

End Of_an_instance.

Theorem channels_checker_sound : checker_of_channels_sound accepts.
Proof.
  intros d f m H x [X0 X1]. unfold accepts in H. rewrite !Bool.andb_true_iff in H. destruct H as [[I F] M].
  pose proof (parts d I) as (_ & _ & _ & Xu & _ & L0 & _ & Xh & _).
  assert (Z : 0 <= x) by (eapply Qle_trans; [|exact X0]; apply div_nonneg; assumption).
  assert (O : x <= 1) by (eapply Qle_trans; [exact X1|]; apply div_le; lra).
  split; [now apply channel_is_right|].
  unfold level_right in M. apply Bool.orb_prop in M. destruct M as [M|M].
  - rewrite Bool.andb_true_iff, Z.ltb_lt, Z.leb_le, whole_lt, whole_le in M. destruct M as [U L].
    intros q _. eapply Qle_trans; [|apply no_less_than_nothing]. unfold level_of. apply div_le; [exact U|].
    change (whole 0) with 0 in *. lra.
  - now apply bound_is_right.
Qed.

(** ** Planted faults *)

(** Two groups, e^ε = 2, any error. *)
Definition two_groups : instance := ({|
  groups := 2%nat; weights := [1; 1]; positives := [0; 1]; rate_unit := 1; x_low := 1; x_high := 1; x_unit := 2;
  budget := 1; budget_unit := 1 |})%Z.
Definition coins : found := ({| entries := [[1; 1]; [1; 1]]; entry_unit := 2; reached := 0; reached_unit := 1 |})%Z.
Definition nothing : found := ({| entries := [[0; 0]; [0; 0]]; entry_unit := 1; reached := 0; reached_unit := 1 |})%Z.
Definition no_multipliers (l : Z) : multipliers := ({|
  level := l; level_unit := 1; above := [0; 0]; below := [0; 0]; of_truth := 0; of_rows := [0; 0]; of_diagonal := [0; 0];
  column_caps := [[0; 0]; [0; 0]]; row_caps := [[0; 0]; [0; 0]] |})%Z.

Lemma half_in_range : whole (x_low two_groups) / whole (x_unit two_groups) <= 1#2 <= whole (x_high two_groups) / whole (x_unit two_groups).
Proof. split; now compute. Qed.

(** The channel is believed. *)
Theorem channels_checker_fault_1 : ~ checker_of_channels_sound (fun d _ m => instance_right d && level_right d m).
Proof.
  intros H. destruct (H two_groups nothing (no_multipliers 0) eq_refl _ half_in_range) as [[[C _] _] _].
  destruct (C 0%nat ltac:(cbn; lia)) as [_ S]. now vm_compute in S.
Qed.

(** Multipliers that are all 0 "prove" every level. *)
Theorem channels_checker_fault_2 : ~ checker_of_channels_sound
  (fun d f m => instance_right d && channel_right d f && multipliers_right d m).
Proof.
  intros H. assert (A : (instance_right two_groups && channel_right two_groups coins && multipliers_right two_groups (no_multipliers 9))%bool = true)
    by (vm_compute; reflexivity).
  destruct (H _ _ _ A _ half_in_range) as [[F V] L]. specialize (L _ F).
  pose proof (Qle_trans _ _ _ L V) as B. now vm_compute in B.
Qed.
