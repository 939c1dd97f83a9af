"""Fragments: boxes of the matrix of sensitive values, from which classes take their share (Bagai et al. 2023)."""
