"""Tuples and lists of numbers that are stored into rows and slices of arrays."""

import numpy as np

from tests.programs.harness import program


@program(lambda: (20,), lambda: (0,))
def epidemic(n):
    well, ill, immune = 990.0, 10.0, 0.0
    history = np.zeros((n, 3))
    for t in range(n):
        infected, healed = 0.3 * well * ill / 1000, 0.1 * ill
        well -= infected
        ill += infected - healed
        immune += healed
        history[t] = well, ill, immune
    return history


@program(
    lambda: (np.zeros((9, 2)), 9),
    lambda: (np.zeros((9, 2), dtype=np.int16), 9),
    lambda: (np.zeros((9, 2), dtype=complex), 9),
    lambda: (np.zeros((2, 9)).T, 9),
    lambda: (np.zeros((9, 2)), 11),  # IndexError behind nine stores
    lambda: (np.zeros((9, 3)), 9),
    lambda: (np.zeros((9, 1)), 9),
    lambda: (np.zeros((9, 2), dtype=object), 9),
    lambda: (np.zeros((9, 2, 2)), 9),
)
def lists_in_rows(a, n):
    for t in range(n):
        a[t] = [t, t * 0.5]
    return a


@program(
    lambda: (np.zeros((2, 3), dtype=np.uint8), 255),
    lambda: (np.zeros((2, 3), dtype=np.uint8), 256),
    lambda: (np.zeros((2, 3), dtype=np.uint8), -1),
    lambda: (np.zeros((2, 3), dtype=np.uint8), 7.9),
    lambda: (np.zeros((2, 3), dtype=np.uint8), np.int64(300)),
    lambda: (np.zeros((2, 3), dtype=np.uint8), np.nan),
    lambda: (np.zeros((2, 3)), 2**70),
    lambda: (np.zeros((2, 3)), 1j),
    lambda: (np.zeros((2, 3)), None),
    lambda: (np.zeros((2, 3)), np.array(4.0)),
    lambda: (np.broadcast_to(np.zeros(3), (2, 3)), 1),
)
def one_of_three(a, x):
    a[-1] = (1, x, True)
    return a


@program(lambda: (np.arange(6.0).reshape(2, 3), 2.5), lambda: (np.arange(4).reshape(2, 2), 2))
def slices_and_places(a, x):
    a[0] = [a[1, 1], a[1, 0], x][: a.shape[1]]
    a[0, :2] = a[0, 1], a[0, 0]
    a[:2, 0] = [x, x * 2]
    a[[0, 1]] = [x] * a.shape[1]  # no tuple: a list of places
    a[1] = (x,)
    return a
