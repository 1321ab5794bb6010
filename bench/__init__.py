"""Measures Lectern against its peers: every row is a ratio, taken in one run on one machine."""
