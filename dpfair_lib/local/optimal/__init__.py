"""The truthful locally private channel with the fairest reports: the program, five algorithms, and proofs."""
