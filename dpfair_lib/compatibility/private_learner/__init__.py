"""Algorithm 1 of CGKM, the exponential mechanism over hypotheses: exact distribution, privacy and accuracy."""
