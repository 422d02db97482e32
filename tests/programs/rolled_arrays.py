"""Arrays that are rolled along several axes: cellular automata, stencils and streams with periodic ends."""

import numpy as np

from tests.programs.harness import program


def cells(h, w, dtype=np.int64):
    return (np.arange(h * w) * 7 % 5 % 2).reshape(h, w).astype(dtype)


def field(*sizes):
    return np.sin(np.arange(np.prod(sizes), dtype=float) * 0.7).reshape(sizes)


@program(
    lambda: (cells(7, 9), 3),
    lambda: (cells(8, 8, np.uint8), 2),
    lambda: (cells(2, 2), 2),
    lambda: (cells(1, 5), 2),
    lambda: (cells(5, 1), 2),
    lambda: (cells(0, 4), 1),
    lambda: (cells(6, 5).T, 2),
    lambda: (cells(6, 10)[:, ::2], 2),
    lambda: (cells(6, 6, bool), 1),
)
def game_of_life(g, steps):
    for _ in range(steps):
        up, down = np.roll(g, 1, axis=0), np.roll(g, -1, axis=0)
        beside = np.roll(g, 1, axis=1) + np.roll(g, -1, axis=1) + up + down
        across = np.roll(up, 1, 1) + np.roll(up, -1, 1) + np.roll(down, 1, 1) + np.roll(down, -1, 1)
        n = beside + across
        g = np.where((n == 3) | ((g == 1) & (n == 2)), 1, 0)
    return g


@program(
    lambda: (cells(7, 9),),
    lambda: (cells(3, 4, np.int8),),
    lambda: (cells(4, 1),),
    lambda: (cells(4, 6).T,),
    lambda: (np.arange(24.0).reshape(2, 3, 4),),
    lambda: (np.arange(5),),  # AxisError
)
def rolled_both_ways(g):
    shifted = np.roll(g, (1, 0), axis=(0, 1)) + np.roll(g, (-1, 1), (0, 1)) + np.roll(g, 1, (0, 1))
    still = np.roll(g, (0, 0), axis=(0, 1))
    again = np.roll(g, (1, 2), axis=(1, 1))
    still += 1
    return shifted, still, again, g


@program(
    lambda: (cells(5, 6), (1, -2)), lambda: (cells(5, 6), (0, 7)), lambda: (cells(5, 6), (1, 2, 3))
)
def rolled_by_a_tuple(g, shift):
    return np.roll(g, shift, axis=(0, 1)) * 2


@program(
    lambda: (field(6, 8), field(6, 8) * 0.5, 2),
    lambda: (field(3, 4), field(3, 4) * 0.5, 2),
    lambda: (field(1, 1), field(1, 1) * 0.5, 2),
    lambda: (field(6, 8).astype(np.float32), field(6, 8) * 0.5, 2),
    lambda: (field(6, 8), field(1, 8), 1),
)
def reaction(u, v, steps):
    for _ in range(steps):
        near_u = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u
        near_v = np.roll(v, 1, 0) + np.roll(v, -1, 0) + np.roll(v, 1, 1) + np.roll(v, -1, 1) - 4 * v
        both = u * v * v
        u = u + 0.16 * near_u - both + 0.035 * (1 - u)
        v = v + 0.08 * near_v + both - 0.1 * v
    return u, v


@program(lambda: (field(3, 4, 5),), lambda: (field(2, 1, 3),), lambda: (field(5, 4, 3).T,))
def laplacian_of_three_axes(a):
    total = -6 * a
    for axis in range(3):
        total = total + np.roll(a, 1, axis=axis) + np.roll(a, -1, axis=axis)
    straight = np.roll(a, 1, 2) + np.roll(a, -1, 2) + np.roll(a, 1, 1) + np.roll(a, -1, 0) - 4 * a
    return total, straight


@program(
    lambda: (np.linspace(0.0, 1.0, 11),),
    lambda: (np.ones(3),),
    lambda: (np.ones(1),),
    lambda: (np.ones(0),),
    lambda: (np.linspace(0.0, 1.0, 22)[::-2],),
)
def third_derivative(u):
    far = np.roll(u, -2) - np.roll(u, 2)
    return (
        far - 2 * np.roll(u, -1) + 2 * np.roll(u, 1),
        far.max(initial=0.0),
        (np.roll(u, 3) * np.roll(u, -3)).max(initial=0.0),
    )


@program(lambda: (cells(6, 6), cells(6, 6) * 3), lambda: (cells(2, 5), cells(2, 5)))
def rolled_again_and_returned(a, b):
    far = np.roll(a, 2, axis=0)
    near = np.roll(far, -1, axis=0)
    mixed = np.roll(a, 2, axis=1) - np.roll(near, 1, axis=0) * far
    return far, mixed, np.roll(b, 2, axis=0), np.roll(np.roll(b, 1, axis=1), 1, axis=0) + b


@program(lambda: (field(5, 6),), lambda: (field(1, 2),), lambda: (field(5, 6).astype(np.float32),))
def changed_behind_rolls(a):
    left, right, up = np.roll(a, 1, axis=1), np.roll(a, -1, axis=1), np.roll(a, 1, axis=0)
    left += right
    up[0] = 5.0
    first = left * 2 + right + up
    a -= np.roll(a, 1, axis=1) + np.roll(a, -1, axis=1)
    kept = np.roll(a, 2, axis=1)
    second = np.roll(a, -2, axis=1) + kept
    a[0, 0] = 7.0
    return first, second, kept, right, left, np.roll(a, 1, 1) * np.roll(a, 2, 1)


@program(lambda: (np.array(3.0), 2), lambda: (np.arange(4.0), 2), lambda: (np.ones((2, 3)), 2))
def numbers_in_arrays(a, k):
    b = a * k
    return np.roll(b, 1) + np.roll(b, -1) * np.roll(a, 2)


@program(lambda: (np.arange(4.0), 2), lambda: (np.ones((2, 3)), 2))
def along_an_axis_that_is_not_there(a, k):
    b = a * k
    return np.roll(b, 1, axis=2) + np.roll(b, -1, axis=2) * np.roll(a, 2)
