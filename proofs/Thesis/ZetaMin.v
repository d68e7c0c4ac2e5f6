(** Thesis, § 5.7.3: the least error of program (5.5.9), and what attains it.

    [x] is e^(-ε); value [i] below [k] is reported as [j] with chance [q i j]. *)

From Checked Require Import Base.Numbers Privacy.Channels Thesis.Lemma13 Thesis.Program559.

(** ** The least error ζ_min

    If every share is at least 1/(e^ε + k - 1) = x/(1 + (k - 1)x), no channel is more truthful than randomised response;
    if every share is larger, no other one is as truthful. *)
Definition response_truth (k : nat) (x : Q) : Q := 1 / (1 + (number k - 1) * x).

Definition truth_bounded (least : nat -> Q -> Q) (bound : nat -> Q -> Q) : Prop :=
  forall k p x q, (2 <= k)%nat -> 0 < x < 1 -> distribution k p -> channel k k q -> private_by_truth k x q ->
  (forall i, (i < k)%nat -> least k x <= p i) ->
  truth_of k p q <= bound k x.

Definition least_share (k : nat) (x : Q) : Q := x / (1 + (number k - 1) * x).

Lemma row_slack k x q i : (i < k)%nat -> 0 <= x -> channel k k q -> private_by_truth k x q ->
  (1 - x) * q i i + x * sum k (fun j => q j j) <= 1.
Proof.
  intros Hi X C V. pose proof (proj2 (C i Hi)) as One.
  assert (L : sum k (fun j => if Nat.eqb j i then q i i else x * q j j) <= sum k (q i)).
  { apply sum_le. intros j Hj. cbv beta. destruct (Nat.eqb_spec j i) as [->|N]; [lra|]. now apply V. }
  rewrite (sum_split k (fun _ => q i i) (fun j => x * q j j) i Hi), sum_scale in L. lra.
Qed.

Lemma number_two k : (2 <= k)%nat -> 2 <= number k.
Proof. intros H. pose proof (number_le 2 k H) as N. change (number 2) with 2 in N. exact N. Qed.

Lemma lost_truth k p x q : (2 <= k)%nat -> 0 < x < 1 -> distribution k p ->
  (1 - x) * (response_truth k x - truth_of k p q) ==
  sum k (fun i => (p i - least_share k x) * (1 - ((1 - x) * q i i + x * sum k (fun j => q j j)))).
Proof.
  intros Hk X [_ P]. pose proof (number_two k Hk) as N. set (u := sum k (fun j => q j j)).
  assert (D : 0 < 1 + (number k - 1) * x) by nra.
  rewrite (sum_ext k _ (fun i => (1 - x * u) * p i - (1 - x) * (p i * q i i)
                                 - (least_share k x * (1 - x * u) - least_share k x * (1 - x) * q i i))) by (intros; ring).
  rewrite !sum_minus, !sum_scale, sum_const, P. fold (truth_of k p q) (number k) u.
  unfold response_truth, least_share. field. lra.
Qed.

Theorem zeta_min_of_response : truth_bounded least_share response_truth.
Proof.
  intros k p x q Hk X P C V L. pose proof (lost_truth k p x q Hk X P) as E.
  assert (N : 0 <= sum k (fun i => (p i - least_share k x) * (1 - ((1 - x) * q i i + x * sum k (fun j => q j j))))).
  { apply sum_nonneg. intros i Hi. apply mul_nonneg; [specialize (L i Hi); lra|].
    pose proof (row_slack k x q i Hi ltac:(lra) C V). lra. }
  rewrite <- E in N. destruct X. nra.
Qed.

Theorem zeta_min_only_response : forall k p x q, (2 <= k)%nat -> 0 < x < 1 -> distribution k p ->
  channel k k q -> private_by_truth k x q -> (forall i, (i < k)%nat -> least_share k x < p i) ->
  truth_of k p q == response_truth k x ->
  forall i j, (i < k)%nat -> (j < k)%nat ->
  q i j == (if Nat.eqb i j then response_truth k x else x * response_truth k x).
Proof.
  intros k p x q Hk X P C V L T. pose proof (lost_truth k p x q Hk X P) as E. rewrite T in E.
  set (u := sum k (fun j => q j j)) in *.
  assert (S : forall i, (i < k)%nat -> 0 <= 1 - ((1 - x) * q i i + x * u)).
  { intros i Hi. pose proof (row_slack k x q i Hi ltac:(lra) C V) as R. fold u in R. lra. }
  assert (Z : forall i, (i < k)%nat -> 1 - ((1 - x) * q i i + x * u) == 0).
  { intros i Hi.
    assert (W : forall a, (a < k)%nat -> 0 <= (p a - least_share k x) * (1 - ((1 - x) * q a a + x * u))).
    { intros a Ha. apply mul_nonneg; [specialize (L a Ha); lra | now apply S]. }
    pose proof (sum_term k _ i W Hi) as B. cbv beta in B. specialize (L i Hi). specialize (S i Hi).
    assert (Zr : sum k (fun i => (p i - least_share k x) * (1 - ((1 - x) * q i i + x * u))) == 0) by lra.
    nra. }
  pose proof (number_two k Hk) as N. assert (D : 0 < 1 + (number k - 1) * x) by nra.
  assert (G : forall i, (i < k)%nat -> q i i == (1 - x * u) / (1 - x)).
  { intros i Hi. specialize (Z i Hi). apply Qeq_sym, (Qmult_inj_r _ _ (1 - x)); [lra|]. rewrite div_mul by lra. lra. }
  assert (U : u == number k * ((1 - x * u) / (1 - x))).
  { unfold u at 1. rewrite (sum_ext k _ (fun _ => (1 - x * u) / (1 - x))) by exact G. now rewrite sum_const. }
  assert (Qd : forall i, (i < k)%nat -> q i i == response_truth k x).
  { intros i Hi. rewrite (G i Hi). set (v := (1 - x * u) / (1 - x)) in *.
    assert (Ev : v * (1 - x) == 1 - x * u) by (unfold v; apply div_mul; lra).
    rewrite U in Ev at 1. unfold response_truth.
    apply (Qmult_inj_r _ _ (1 + (number k - 1) * x)); [lra|]. rewrite div_mul by lra. lra. }
  intros i j Hi Hj. destruct (Nat.eqb_spec i j) as [->|Nij]; [now apply Qd|].
  (* row i adds up to 1, and every entry off the diagonal is at least x times the truth *)
  assert (Row : sum k (fun j' => q i j' - (if Nat.eqb j' i then q i i else x * response_truth k x)) == 0).
  { rewrite sum_minus, (proj2 (C i Hi)), (sum_split k (fun _ => q i i) (fun _ => x * response_truth k x) i Hi), sum_const.
    fold (number k). rewrite (Qd i Hi). unfold response_truth. field. lra. }
  assert (Pos : forall j', (j' < k)%nat -> 0 <= q i j' - (if Nat.eqb j' i then q i i else x * response_truth k x)).
  { intros j' Hj'. destruct (Nat.eqb_spec j' i) as [->|Nj]; [lra|]. rewrite <- (Qd j' Hj').
    pose proof (V i j' Hi Hj'). lra. }
  pose proof (sum_term k _ j Pos Hj) as B. specialize (Pos j Hj). cbv beta in B.
  destruct (Nat.eqb_spec j i) as [->|_]; [contradiction|]. lra.
Qed.

(** Randomised response is in the program, and its truth is the bound: it attains it. *)
Definition response_by (k : nat) (x : Q) (i j : nat) : Q :=
  if Nat.eqb i j then response_truth k x else x * response_truth k x.

Definition bound_reached (bound : nat -> Q -> Q) : Prop :=
  forall k p x, (2 <= k)%nat -> 0 < x < 1 -> distribution k p ->
  admitted k p x (1 - bound k x) (response_by k x) /\ truth_of k p (response_by k x) == bound k x.

Theorem zeta_min_attained : bound_reached response_truth.
Proof.
  intros k p x Hk X [P One]. pose proof (number_two k Hk) as N. assert (D : 0 < 1 + (number k - 1) * x) by nra.
  assert (T : 0 < response_truth k x) by (apply div_pos; lra).
  assert (XT : 0 <= x * response_truth k x <= response_truth k x) by (split; nra).
  assert (E : truth_of k p (response_by k x) == response_truth k x).
  { unfold truth_of, response_by. rewrite (sum_ext k _ (fun i => p i * response_truth k x)) by (intros; now rewrite Nat.eqb_refl).
    rewrite sum_scale_r, One. ring. }
  split; [|assumption]. unfold admitted. splits.
  - intros i Hi. split.
    + intros j _. unfold response_by. destruct (Nat.eqb i j); lra.
    + unfold response_by. rewrite (sum_ext k _ (fun j => if Nat.eqb j i then response_truth k x else x * response_truth k x))
        by (intros j _; now rewrite Nat.eqb_sym).
      rewrite (sum_split k (fun _ => response_truth k x) (fun _ => x * response_truth k x) i Hi), sum_const.
      fold (number k). unfold response_truth. field. lra.
  - intros i j _ _. unfold response_by. rewrite Nat.eqb_refl. destruct (Nat.eqb i j); lra.
  - intros i j _ _. unfold response_by. rewrite Nat.eqb_refl. destruct (Nat.eqb i j); lra.
  - intros i j _ _. unfold response_by. rewrite Nat.eqb_refl. destruct (Nat.eqb i j); lra.
  - rewrite E. lra.
Qed.

(** ** Any shares: the k² unknowns are k, since only the truths count

    Which truths [m i] a channel of the program can have. The largest Σ p·m over them is a linear program. *)
Definition can_be_completed (k : nat) (x : Q) (m : nat -> Q) : Prop :=
  exists q, channel k k q /\ truthful_columns k q /\ truthful_rows k q /\ private_by_truth k x q /\
  forall i, (i < k)%nat -> q i i == m i.

Definition truths_are (conditions : nat -> Q -> (nat -> Q) -> Prop) : Prop :=
  forall k x m, (1 <= k)%nat -> 0 < x <= 1 -> (can_be_completed k x m <-> conditions k x m).

Definition truth_conditions (k : nat) (x : Q) (m : nat -> Q) : Prop :=
  forall i, (i < k)%nat -> 1 <= number k * m i /\ (forall j, (j < k)%nat -> x * m j <= m i) /\ (1 - x) * m i + x * sum k m <= 1.

(** A row between two others of its entries, with the sum that is left. *)
Definition between (k : nat) (m : nat -> Q) (x : Q) (i j : nat) : Q :=
  let low := x * (sum k m - m i) in
  let high := sum k (fun j => if Nat.eqb j i then 0 else Qmin (m i) (m j)) in
  let part := if below low high then (1 - m i - low) / (high - low) else 0 in
  if Nat.eqb j i then m i else x * m j + part * (Qmin (m i) (m j) - x * m j).

Lemma off_diagonal k f i : (i < k)%nat -> sum k (fun j => if Nat.eqb j i then 0 else f j) == sum k f - f i.
Proof. intros H. rewrite (sum_split k (fun _ => 0) f i H). ring. Qed.

Theorem truths_of_the_program : truths_are truth_conditions.
Proof.
  intros k x m Hk X. assert (N : 1 <= number k) by (pose proof (number_le 1 k Hk) as N; change (number 1) with 1 in N; exact N). split.
  - intros (q & C & T & R & V & D) i Hi. splits.
    + assert (L : sum k (q i) <= sum k (fun _ => q i i)) by (apply sum_le; intros j Hj; now apply R).
      rewrite (proj2 (C i Hi)), sum_const in L. fold (number k) in L. rewrite (D i Hi) in L. exact L.
    + intros j Hj. rewrite <- (D i Hi), <- (D j Hj). exact (Qle_trans _ _ _ (V i j Hi Hj) (R i j Hi Hj)).
    + rewrite <- (D i Hi). rewrite (sum_ext k m (fun j => q j j)) by (intros j Hj; symmetry; now apply D).
      apply row_slack; try assumption; lra.
  - intros H. exists (between k m x).
    assert (M : forall i, (i < k)%nat -> 0 < m i).
    { intros i Hi. destruct (H i Hi) as (A & _). destruct (Qlt_le_dec 0 (m i)) as [?|L]; [assumption|]. nra. }
    assert (Order : forall i j, (i < k)%nat -> (j < k)%nat -> x * m j <= Qmin (m i) (m j) /\ Qmin (m i) (m j) <= m i /\ Qmin (m i) (m j) <= m j).
    { intros i j Hi Hj. destruct (H i Hi) as (_ & B & _). specialize (B j Hj). pose proof (M j Hj). splits.
      - apply Q.min_glb; [assumption | nra].
      - apply Q.le_min_l.
      - apply Q.le_min_r. }
    assert (Part : forall i, (i < k)%nat ->
      let low := x * (sum k m - m i) in let high := sum k (fun j => if Nat.eqb j i then 0 else Qmin (m i) (m j)) in
      let part := if below low high then (1 - m i - low) / (high - low) else 0 in
      0 <= part <= 1 /\ low + part * (high - low) == 1 - m i).
    { intros i Hi low high part. destruct (H i Hi) as (A & _ & S).
      assert (L : low <= 1 - m i) by (unfold low; lra).
      assert (U : 1 - m i <= high).
      { assert (G : sum k (fun j => if Nat.eqb j i then 0 else 1 / number k) <= high).
        { apply sum_le. intros j Hj. cbv beta. destruct (Nat.eqb j i); [lra|]. destruct (H j Hj) as (B & _).
          apply Q.min_glb; apply div_le; lra. }
        rewrite (off_diagonal k (fun _ => 1 / number k) i Hi), sum_const in G. fold (number k) in G.
        assert (E : number k * (1 / number k) == 1) by (field; lra). rewrite E in G.
        assert (1 / number k <= m i) by (apply div_le; lra). lra. }
      unfold part. destruct (below_cases low high) as [[Q ->]|[Q ->]].
      - split; [split; [apply div_nonneg | apply div_le]; lra | field; lra].
      - split; [lra | lra]. }
    splits.
    + intros i Hi. destruct (Part i Hi) as [P S]. cbv zeta in P, S. unfold between. cbv zeta.
      set (low := x * (sum k m - m i)) in *. set (high := sum k (fun j => if Nat.eqb j i then 0 else Qmin (m i) (m j))) in *.
      set (part := if below low high then _ else 0) in *. split.
      * intros j Hj. destruct (Nat.eqb j i); [apply Qlt_le_weak; now apply M|].
        destruct (Order i j Hi Hj) as (O & _). pose proof (M j Hj). assert (0 <= x * m j) by (apply mul_nonneg; lra).
        assert (0 <= part * (Qmin (m i) (m j) - x * m j)) by (apply mul_nonneg; lra). lra.
      * rewrite (sum_ext k _ (fun j => (if Nat.eqb j i then m i else x * m j) +
           part * ((if Nat.eqb j i then 0 else Qmin (m i) (m j)) - (if Nat.eqb j i then 0 else x * m j)))) by (intros j _; destruct (Nat.eqb j i); ring).
        rewrite sum_plus, sum_scale, sum_minus. fold high. rewrite (sum_split k (fun _ => m i) (fun j => x * m j) i Hi).
        rewrite (off_diagonal k (fun j => x * m j) i Hi), sum_scale.
        assert (E : low == x * sum k m - x * m i) by (unfold low; ring). rewrite <- E. lra.
    + intros i j Hi Hj. unfold between. cbv zeta. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec j i) as [->|Ne]; [lra|].
      destruct (Part i Hi) as [P _]. cbv zeta in P. set (part := if below _ _ then _ else 0) in *.
      destruct (Order i j Hi Hj) as (O & _ & O2). nra.
    + intros i j Hi Hj. unfold between. cbv zeta. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec j i) as [->|Ne]; [lra|].
      destruct (Part i Hi) as [P _]. cbv zeta in P. set (part := if below _ _ then _ else 0) in *.
      destruct (Order i j Hi Hj) as (O & O1 & _). nra.
    + intros i j Hi Hj. unfold between. cbv zeta. rewrite Nat.eqb_refl. destruct (Nat.eqb_spec j i) as [->|Ne].
      * pose proof (M i Hi). nra.
      * destruct (Part i Hi) as [P _]. cbv zeta in P. set (part := if below _ _ then _ else 0) in *.
        destruct (Order i j Hi Hj) as (O & _).
        assert (0 <= part * (Qmin (m i) (m j) - x * m j)) by (apply mul_nonneg; lra). lra.
    + intros i Hi. unfold between. cbv zeta. now rewrite Nat.eqb_refl.
Qed.

(** ** Two groups of any shares: the closed form

    [dpfair_lib.local.optimal.program.most_truthful], its first answer: response, or the larger group told truly with
    1 - x/2 and the smaller one by a coin. *)
Definition binary_truth (w x : Q) : Q := Qmax (1 / (1 + x)) ((1 + Qmax w (1 - w) * (1 - x)) / 2).

Definition truth_of_two (formula : Q -> Q -> Q) : Prop :=
  forall w x, 0 <= w <= 1 -> 0 < x < 1 ->
  (forall zeta q, admitted 2 (two w (1 - w)) x zeta q -> truth_of 2 (two w (1 - w)) q <= formula w x) /\
  exists q, admitted 2 (two w (1 - w)) x (1 - formula w x) q.

(** The larger share first: a linear program in the two truths, with its two multipliers. *)
Lemma two_truths w x a b : (1#2) <= w <= 1 -> 0 < x < 1 -> (1#2) <= b -> a + x * b <= 1 -> b + x * a <= 1 ->
  w * a + (1 - w) * b <= Qmax (1 / (1 + x)) ((1 + w * (1 - x)) / 2).
Proof.
  intros W X B H K. destruct (Qlt_le_dec (w * (1 + x)) 1) as [L|L].
  - eapply Qle_trans; [|apply Q.le_max_l]. apply le_div; [lra|].
    (* a and b lie on the side of response: multipliers w - (1 - w)x and (1 - w) - wx, over 1 - x² *)
    assert (U : 0 <= (w - (1 - w) * x) * (1 - (a + x * b))) by (apply mul_nonneg; nra).
    assert (V : 0 <= ((1 - w) - w * x) * (1 - (b + x * a))) by (apply mul_nonneg; lra).
    assert (E : (1 - x) * (1 - (w * a + (1 - w) * b) * (1 + x)) ==
                (w - (1 - w) * x) * (1 - (a + x * b)) + ((1 - w) - w * x) * (1 - (b + x * a))) by ring.
    destruct (Qlt_le_dec ((w * a + (1 - w) * b) * (1 + x)) 1) as [M|M]; [lra|]. nra.
  - eapply Qle_trans; [|apply Q.le_max_r]. apply le_div; [lra|].
    assert (U : 0 <= w * (1 - (a + x * b))) by (apply mul_nonneg; lra).
    assert (V : 0 <= (w * (1 + x) - 1) * (b - (1#2))) by (apply mul_nonneg; lra). lra.
Qed.

Theorem zeta_min_of_two : truth_of_two binary_truth.
Proof.
  intros w x W X. split.
  - intros zeta q (C & _ & R & V & _).
    destruct (C 0%nat ltac:(lia)) as [_ S0], (C 1%nat ltac:(lia)) as [_ S1]. cbn [sum] in S0, S1.
    pose proof (R 0%nat 1%nat ltac:(lia) ltac:(lia)). pose proof (R 1%nat 0%nat ltac:(lia) ltac:(lia)).
    pose proof (V 0%nat 1%nat ltac:(lia) ltac:(lia)). pose proof (V 1%nat 0%nat ltac:(lia) ltac:(lia)).
    assert (E : truth_of 2 (two w (1 - w)) q == w * q 0%nat 0%nat + (1 - w) * q 1%nat 1%nat) by (unfold truth_of; cbn; ring).
    rewrite E. unfold binary_truth. destruct (Qlt_le_dec w (1#2)) as [L|L].
    + rewrite (Q.max_r w) by lra.
      pose proof (two_truths (1 - w) x (q 1%nat 1%nat) (q 0%nat 0%nat) ltac:(lra) X ltac:(lra) ltac:(lra) ltac:(lra)). lra.
    + rewrite (Q.max_l w) by lra. apply two_truths; lra.
  - unfold binary_truth. destruct (max_cases (1 / (1 + x)) ((1 + Qmax w (1 - w) * (1 - x)) / 2)) as [[_ F]|[_ F]].
    + destruct (max_cases w (1 - w)) as [[L G]|[L G]].
      * exists (by_truths (1#2) (1 - x / 2)).
        pose proof (by_truths_admitted w x (1#2) (1 - x / 2)) as Ad. assert (Hx : x / 2 == (1#2) * x) by field.
        assert (x * x <= 1) by nra. pose proof (square_nonneg (1 - x)).
        specialize (Ad ltac:(lra) ltac:(lra) ltac:(rewrite Hx; lra) ltac:(rewrite Hx; lra) ltac:(rewrite Hx; lra)).
        destruct Ad as (A & B & R & V & Z). unfold admitted. splits; try assumption.
        rewrite F, G. eapply Qle_trans; [exact Z|]. apply Qle_lteq. right. field.
      * exists (by_truths (1 - x / 2) (1#2)).
        pose proof (by_truths_admitted w x (1 - x / 2) (1#2)) as Ad. assert (Hx : x / 2 == (1#2) * x) by field.
        assert (x * x <= 1) by nra. pose proof (square_nonneg (1 - x)).
        specialize (Ad ltac:(lra) ltac:(rewrite Hx; lra) ltac:(lra) ltac:(rewrite Hx; lra) ltac:(rewrite Hx; lra)).
        destruct Ad as (A & B & R & V & Z). unfold admitted. splits; try assumption.
        rewrite F, G. eapply Qle_trans; [exact Z|]. apply Qle_lteq. right. field.
    + exists (by_truths (1 / (1 + x)) (1 / (1 + x))).
      assert (H : (1#2) <= 1 / (1 + x) <= 1) by (split; [apply le_div | apply div_le]; lra).
      assert (E : x * (1 / (1 + x)) == 1 - 1 / (1 + x)) by (field; lra).
      destruct (by_truths_admitted w x (1 / (1 + x)) (1 / (1 + x))) as (A & B & R & V & Z); try lra.
      unfold admitted. splits; try assumption. rewrite F. lra.
Qed.

(** ** Planted faults *)

(** All shares are allowed. *)
Definition first_mostly (i : nat) : Q := match i with 0%nat => 3#4 | _ => 1#4 end.
Definition served_first (i j : nat) : Q :=
  match i, j with 0%nat, 0%nat => 3#4 | 0%nat, _ => 1#4 | _, _ => 1#2 end.

Lemma first_mostly_law : distribution 2 first_mostly.
Proof. split; [intros [|i] _; cbn; lra | now compute]. Qed.

Lemma served_first_channel : channel 2 2 served_first.
Proof.
  intros i Hi. destruct i as [|[|i]]; [| |lia]; (split; [|now compute]); intros [|j] _; cbn; lra.
Qed.

Lemma served_first_private : private_by_truth 2 (1#2) served_first.
Proof. intros i j Hi Hj. destruct i as [|[|i]], j as [|[|j]]; try lia; cbn; lra. Qed.

Theorem zeta_min_of_response_fault_1 : ~ truth_bounded (fun _ _ => 0) response_truth.
Proof.
  intros H. specialize (H 2%nat first_mostly (1#2) served_first ltac:(lia) ltac:(lra) first_mostly_law
    served_first_channel served_first_private).
  assert (G : forall i, (i < 2)%nat -> 0 <= first_mostly i) by (intros [|i] _; cbn; lra).
  specialize (H G). now vm_compute in H.
Qed.

(** One value more in the denominator. *)
Theorem zeta_min_of_response_fault_2 : ~ truth_bounded least_share (fun k x => 1 / (1 + number k * x)).
Proof.
  intros H. specialize (H 2%nat half (1#2) (response 2 2) ltac:(lia) ltac:(lra) half_law
    (response_channel 2 2 ltac:(lia) ltac:(lra))).
  assert (V : private_by_truth 2 (1#2) (response 2 2)).
  { intros i j Hi Hj. destruct i as [|[|i]], j as [|[|j]]; try lia; now compute. }
  assert (L : forall i, (i < 2)%nat -> least_share 2 (1#2) <= half i) by (intros; now compute).
  specialize (H V L). now vm_compute in H.
Qed.

(** One value more in the denominator. *)
Theorem zeta_min_attained_fault_1 : ~ bound_reached (fun k x => 1 / (1 + number k * x)).
Proof. intros H. destruct (H 2%nat half (1#2) ltac:(lia) ltac:(lra) half_law) as [_ E]. now vm_compute in E. Qed.

(** One value less. *)
Theorem zeta_min_attained_fault_2 : ~ bound_reached (fun k x => 1 / (1 + (number k - 2) * x)).
Proof. intros H. destruct (H 2%nat half (1#2) ltac:(lia) ltac:(lra) half_law) as [_ E]. now vm_compute in E. Qed.

(** Always randomised response. *)
Lemma larger_first : admitted 2 (two (3#4) (1 - (3#4))) (1#2) (5#16) (by_truths (3#4) (1#2)).
Proof.
  destruct (by_truths_admitted (3#4) (1#2) (3#4) (1#2)) as (A & B & R & V & Z); try lra. unfold admitted. splits; try assumption;
      (eapply Qle_trans; [exact Z | now compute]).
Qed.

Theorem zeta_min_of_two_fault_1 : ~ truth_of_two (fun _ x => 1 / (1 + x)).
Proof.
  intros H. destruct (H (3#4) (1#2) ltac:(lra) ltac:(lra)) as [K _]. specialize (K _ _ larger_first). now vm_compute in K.
Qed.

(** The smaller group told truly, as by Theorem 14's channel. *)
Theorem zeta_min_of_two_fault_2 : ~ truth_of_two (fun w x => Qmax (1 / (1 + x)) ((1 + Qmin w (1 - w) * (1 - x)) / 2)).
Proof.
  intros H. destruct (H (3#4) (1#2) ltac:(lra) ltac:(lra)) as [K _]. specialize (K _ _ larger_first). now vm_compute in K.
Qed.

(** Truths of any size. *)
Theorem truths_of_the_program_fault_1 : ~ truths_are (fun k x m =>
  forall i, (i < k)%nat -> (forall j, (j < k)%nat -> x * m j <= m i) /\ (1 - x) * m i + x * sum k m <= 1).
Proof.
  intros H. destruct (H 2%nat (1#2) (fun _ => 1#10) ltac:(lia) ltac:(lra)) as [_ K].
  destruct K as (q & C & _ & R & _ & D); [intros i _; split; [intros; lra | now compute]|].
  pose proof (proj2 (C 0%nat ltac:(lia))) as S. cbn [sum] in S. pose proof (R 0%nat 1%nat ltac:(lia) ltac:(lia)).
  pose proof (D 0%nat ltac:(lia)) as E. cbv beta in E. lra.
Qed.

(** Truths as far apart as the rows' sums allow. *)
Theorem truths_of_the_program_fault_2 : ~ truths_are (fun k x m =>
  forall i, (i < k)%nat -> 1 <= number k * m i /\ (1 - x) * m i + x * sum k m <= 1).
Proof.
  intros H. set (m := fun i : nat => match i with 1%nat => 2#5 | _ => 1#3 end).
  destruct (H 3%nat (9#10) m ltac:(lia) ltac:(lra)) as [_ K].
  destruct K as (q & _ & _ & R & V & D); [intros i _; destruct i as [|[|i]]; split; now compute|].
  pose proof (R 0%nat 1%nat ltac:(lia) ltac:(lia)). pose proof (V 0%nat 1%nat ltac:(lia) ltac:(lia)) as G.
  pose proof (D 0%nat ltac:(lia)) as E0. pose proof (D 1%nat ltac:(lia)) as E1. cbn in E0, E1. rewrite E1 in G. lra.
Qed.
