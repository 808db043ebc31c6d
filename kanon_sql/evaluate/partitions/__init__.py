"""Partitions of ordered domains into intervals: what ``k_optimize`` searches instead of the lattice."""
