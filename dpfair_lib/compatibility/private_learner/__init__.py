"""Algorithm 1 of CGKM: the exponential mechanism over hypotheses, its exact law, its privacy and its accuracy."""
