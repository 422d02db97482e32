"""Loops of which one trip stores the element that all trips read."""

import numpy as np

from tests.programs.harness import program


def matrix(n=37, dtype=np.float64):
    return (np.arange(n * n) * 7919 % 101 - 30).reshape(n, n).astype(dtype) / dtype(8)


def lengths(n=37):
    made = np.abs(matrix(n)) + 1.0
    made[3, 4:9] = np.inf
    return made


@program(
    lambda: (lengths(),),
    lambda: (matrix(),),
    lambda: (matrix(5),),
    lambda: (lengths()[:, ::-1],),
    lambda: (lengths()[:20, :15],),
    lambda: (np.full((20, 20), np.nan),),
)
def shortest_paths(path):
    n = min(path.shape)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])
    return path


@program(lambda: (lengths(),), lambda: (matrix(),), lambda: (np.abs(matrix(21, np.float32)),))
def shortest_paths_by_a_condition(dist):
    n = len(dist)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if dist[i, k] + dist[k, j] < dist[i, j]:
                    dist[i, j] = dist[i, k] + dist[k, j]
    return dist


@program(lambda: (matrix(24),), lambda: (matrix(24)[::-1],), lambda: (np.zeros((4, 4)),))
def eliminated(a):
    n = a.shape[0]
    with np.errstate(all="ignore"):
        for c in range(n):
            for r in range(n):
                if r != c:
                    for j in range(n):
                        a[r, j] -= a[r, c] / (a[c, c] + 1.5) * a[c, j]
    return a


@program(
    lambda: (np.arange(50.0), 7, 0, 50),
    lambda: (np.arange(50.0), 0, 0, 50),
    lambda: (np.arange(50.0), 49, 0, 50),
    lambda: (np.arange(50.0), 7, 8, 50),
    lambda: (np.arange(50.0), 7, 0, 7),
    lambda: (np.arange(50.0), 7, 20, 10),
    lambda: (np.arange(50.0), -3, 0, 50),
    lambda: (np.arange(50.0), 60, 0, 50),
    lambda: (np.arange(50.0), 60, 0, 0),
    lambda: (np.arange(50.0), 7, -5, 40),
    lambda: (np.arange(50.0), 7, 0, 60),
    lambda: (np.arange(100.0)[::2], 30, 1, 50),
)
def scaled_by_an_element(a, k, start, stop):
    s = 0.0
    try:
        for j in range(start, stop):
            a[j] = a[j] * 0.5 + a[k]
            s += a[j]
    except IndexError as error:
        return a, str(error)
    return a, s


@program(lambda: (np.arange(60), 9), lambda: (np.arange(60), 0), lambda: (np.arange(60), 59))
def shifted_store(a, k):
    for j in range(len(a) - 2):
        a[j + 1] = a[j + 2] + a[k]
    return a


@program(lambda: (np.arange(40.0), 5), lambda: (np.arange(3.0), 1))
def two_names(a, k):
    b = a[:]
    for j in range(len(a)):
        b[j] = a[k] + j
    return a
