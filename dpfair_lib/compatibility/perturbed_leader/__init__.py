"""Algorithm 2 of CGKM, follow the perturbed leader: its exact distribution, its cost and its privacy."""
