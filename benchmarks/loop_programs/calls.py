"""Programs that consist of calls: recursive functions. They have no targets; `loops.py --calls` times them.

gcc inlines a recursive function into itself several levels deep, which native code here does not: each call
is one, counted against the recursion limit.
"""

from __future__ import annotations

import numpy as np

from loop_programs.program import CLibrary, Program

__all__ = ["CALLS"]


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def fib_c(lib: CLibrary, n):
    return lib.integer("fib", n)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def ackermann_c(lib: CLibrary, m, n):
    return lib.integer("ackermann", m, n)


def tak(x, y, z):
    if y >= x:
        return z
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))


def tak_c(lib: CLibrary, x, y, z):
    return lib.integer("tak", x, y, z)


def tree_depth(left, right, node):
    if node < 0:
        return 0
    a = tree_depth(left, right, left[node])
    b = tree_depth(left, right, right[node])
    return 1 + (a if a > b else b)


def tree_depth_c(lib: CLibrary, left, right, node):
    return lib.integer("tree_depth", left, right, node)


def _tree(n: int):
    i = np.arange(n)
    left, right = 2 * i + 1, 2 * i + 2
    left[left >= n], right[right >= n] = -1, -1
    return left, right, 0


CALLS = (
    Program(fib, lambda: (24,), lambda: (4,), fib_c),
    Program(ackermann, lambda: (3, 6), lambda: (2, 2), ackermann_c),
    Program(tak, lambda: (18, 12, 6), lambda: (3, 2, 1), tak_c),
    Program(tree_depth, lambda: _tree(100_000), lambda: _tree(5), tree_depth_c),
)
