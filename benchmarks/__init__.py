"""Side-by-side timings against peers, in one run: ``make bench``."""
