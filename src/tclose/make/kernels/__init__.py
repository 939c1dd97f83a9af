"""Kernels: compiled parts that more than one algorithm uses, on plain arrays."""
