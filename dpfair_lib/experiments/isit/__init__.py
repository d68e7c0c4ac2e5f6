"""Experiments of ISIT, some of them in the thesis too: Algorithms 1 and 2, Tables II–XIII, scaling of features."""
