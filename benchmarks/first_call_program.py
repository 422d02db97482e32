"""The functions of first_call.py: one of 20 lines, and a simulation."""

import numpy as np


def escape_statistics(xs, ys, limit):
    counts = np.zeros((ys.size, xs.size), dtype=np.int64)
    inside = 0
    longest = 0
    total = 0.0
    for j in range(ys.size):
        for i in range(xs.size):
            z = c = complex(xs[i], ys[j])
            n = 0
            while n < limit and abs(z) <= 2.0:
                z = z * z + c
                n += 1
            counts[j, i] = n
            if n == limit:
                inside += 1
            elif n > longest:
                longest = n
            total += n * 0.5
    mean = total / counts.size
    return counts, inside, longest, mean


def conduct_heat(u, steps):
    for _step in range(steps):
        inner = u[1:-1, 1:-1]
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        inner += 0.1 * (around - 4 * inner)
    return u
