"""Post-processing for any number of groups: which rules are cheapest among those with nearly equal rates."""
