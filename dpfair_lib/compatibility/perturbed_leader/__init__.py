"""Algorithm 2 of CGKM: follow the perturbed leader, its exact law, its cost and its privacy."""
