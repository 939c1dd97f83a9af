"""Exact comparison of fractions in 64 bits."""

from __future__ import annotations

from tclose.make.kernels.compiling import lean


@lean
def at_most(a: int, b: int, c: int, d: int) -> bool:
    """Whether a/b <= c/d, for integers that are not negative, b and d above 0.

    The products a*d and c*b may not fit into 64 bits, so whole parts are compared first, then the remainders upside down:
    Euclid's algorithm on both sides at once.
    """
    while True:
        left, right = a // b, c // d
        if left != right:
            return left < right
        a, c = a - left * b, c - right * d
        if a == 0:
            return True
        if c == 0:
            return False
        a, b, c, d = d, c, b, a  # a/b <= c/d exactly where d/c <= b/a
