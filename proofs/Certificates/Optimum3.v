(** Written by tools/proof_certificates.py: a nearly optimal channel, checked by the kernel. *)

From Checked Require Import Certificates.Channels.

Definition instance_3 : instance := ({|
  groups := 3%nat;
  weights := [3; 2; 1];
  positives := [0; 1; 2];
  rate_unit := 2;
  x_low := 562949953421311;
  x_high := 562949953421313;
  x_unit := 1125899906842624;
  budget := 1;
  budget_unit := 2
|})%Z.

Definition channel_3 : found := ({|
  entries := [[117709452881427110609; 57221132447770070387; 46430343555317438396];
    [65883714879844753108; 114442264895457535526; 41034949109212330758];
    [82069898218364324266; 57221132447762186208; 82069898218388108918]];
  entry_unit := 221360928884514619392;
  reached := 4005328129143002249;
  reached_unit := 18446744073709551616
|})%Z.

Definition proof_3 : multipliers := ({|
  level := 4005328128599560704;
  level_unit := 18446744073709551616;
  above := [250368; 3377613; 421352945033672576];
  below := [787305179337547136; 251991; 228160];
  of_truth := 41660096629343742990836467226143358976;
  of_rows := [-85473500608572464; -62733287874566880; -39993075150684176];
  of_diagonal := [3327899; 0; 670355];
  column_caps := [[0; 33575; 53681];
    [38722; 0; 46228];
    [53083; 34356; 0]];
  row_caps := [[0; 29341; 26868];
    [30685; 0; 25989];
    [56982333731352504; 133518; 0]]
|})%Z.

Theorem optimum_3 : certified instance_3 channel_3 proof_3.
Proof. apply channels_checker_sound. vm_compute. reflexivity. Qed.

Theorem optimum_3_close : value_reached channel_3 - level_of proof_3 <= (1 # 1000000000).
Proof. apply Qle_bool_iff. vm_compute. reflexivity. Qed.
