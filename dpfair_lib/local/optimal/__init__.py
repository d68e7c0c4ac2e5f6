"""The fairest truthful ε-LDP channel for k values: the program, five methods, proofs, and the least fair error."""
