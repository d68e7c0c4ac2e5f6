"""The private post-processing of any number of groups: where they move, how far apart that leaves them."""
