"""Private training of small networks."""
