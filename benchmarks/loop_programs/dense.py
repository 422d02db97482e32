"""Dense loop nests over arrays, written in the naive order."""

from __future__ import annotations

import math

import numpy as np

from loop_programs.program import CLibrary, Program


def matmul(a, b):
    n, m = a.shape
    p = b.shape[1]
    c = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            s = 0.0
            for k in range(m):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c


def matmul_c(lib: CLibrary, a, b):
    n, m = a.shape
    c = np.zeros((n, b.shape[1]))
    lib.call("matmul", a, b, c, n, m, b.shape[1])
    return c


def jacobi_1d(u, steps):
    n = len(u)
    v = u.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            v[i] = 0.33333 * (u[i - 1] + u[i] + u[i + 1])
        u, v = v, u
    return u


def jacobi_1d_c(lib: CLibrary, u, steps):
    v = u.copy()
    lib.call("jacobi_1d", u, v, len(u), steps)
    return v if steps % 2 else u


def jacobi_2d(u, steps):
    n, m = u.shape
    v = u.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                v[i, j] = 0.2 * (u[i, j] + u[i, j - 1] + u[i, j + 1] + u[i + 1, j] + u[i - 1, j])
        u, v = v, u
    return u


def jacobi_2d_c(lib: CLibrary, u, steps):
    v = u.copy()
    lib.call("jacobi_2d", u, v, *u.shape, steps)
    return v if steps % 2 else u


def seidel(u, steps):
    n, m = u.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                u[i, j] = 0.2 * (u[i, j] + u[i, j - 1] + u[i, j + 1] + u[i + 1, j] + u[i - 1, j])
    return u


def seidel_c(lib: CLibrary, u, steps):
    lib.call("seidel", u, *u.shape, steps)
    return u


def lu(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def lu_c(lib: CLibrary, a):
    lib.call("lu", a, len(a))
    return a


def cholesky(a):
    n = len(a)
    for i in range(n):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s / a[j, j]
        s = a[i, i]
        for k in range(i):
            s -= a[i, k] * a[i, k]
        a[i, i] = math.sqrt(s)
    return a


def cholesky_c(lib: CLibrary, a):
    lib.call("cholesky", a, len(a))
    return a


def floyd_warshall(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = d[i, k] + d[k, j]
                if through < d[i, j]:
                    d[i, j] = through
    return d


def floyd_warshall_c(lib: CLibrary, d):
    lib.call("floyd_warshall", d, len(d))
    return d


def conv2d(a, kernel):
    n, m = a.shape
    p, q = kernel.shape
    out = np.zeros((n - p + 1, m - q + 1))
    for i in range(n - p + 1):
        for j in range(m - q + 1):
            s = 0.0
            for x in range(p):
                for y in range(q):
                    s += a[i + x, j + y] * kernel[x, y]
            out[i, j] = s
    return out


def conv2d_c(lib: CLibrary, a, kernel):
    (n, m), (p, q) = a.shape, kernel.shape
    out = np.zeros((n - p + 1, m - q + 1))
    lib.call("conv2d", a, kernel, out, n, m, p, q)
    return out


def prefix_sum(a):
    out = np.empty_like(a)
    s = 0.0
    for i in range(len(a)):
        s += a[i]
        out[i] = s
    return out


def prefix_sum_c(lib: CLibrary, a):
    out = np.empty_like(a)
    lib.call("prefix_sum", a, out, len(a))
    return out


def horner(coefficients, xs):
    out = np.empty_like(xs)
    for i in range(len(xs)):
        r = 0.0
        for c in coefficients:
            r = r * xs[i] + c
        out[i] = r
    return out


def horner_c(lib: CLibrary, coefficients, xs):
    out = np.empty_like(xs)
    lib.call("horner", coefficients, xs, out, len(coefficients), len(xs))
    return out


def n_body(position, velocity, mass, steps, dt):
    n = len(mass)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = position[i, 0] - position[j, 0]
                dy = position[i, 1] - position[j, 1]
                dz = position[i, 2] - position[j, 2]
                square = dx * dx + dy * dy + dz * dz
                factor = dt / (square * math.sqrt(square))
                velocity[i, 0] -= dx * mass[j] * factor
                velocity[i, 1] -= dy * mass[j] * factor
                velocity[i, 2] -= dz * mass[j] * factor
                velocity[j, 0] += dx * mass[i] * factor
                velocity[j, 1] += dy * mass[i] * factor
                velocity[j, 2] += dz * mass[i] * factor
        for i in range(n):
            for k in range(3):
                position[i, k] += dt * velocity[i, k]
    return position


def n_body_c(lib: CLibrary, position, velocity, mass, steps, dt):
    lib.call("n_body", position, velocity, mass, len(mass), steps, dt)
    return position


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).random(shape)


def _positive_definite(n: int) -> np.ndarray:
    m = _random(n, n)
    return m @ m.T + n * np.eye(n)


def _bodies(n: int, steps: int):
    return _random(n, 3) * 10, _random(n, 3), _random(n) * 0.01, steps, 0.01


PROGRAMS = (
    Program(matmul, lambda: (_random(128, 128), _random(128, 128)),
            lambda: (_random(5, 4), _random(4, 6)), matmul_c),
    Program(jacobi_1d, lambda: (_random(4000), 500), lambda: (_random(9), 3), jacobi_1d_c),
    Program(jacobi_2d, lambda: (_random(200, 200), 50), lambda: (_random(6, 7), 3), jacobi_2d_c),
    Program(seidel, lambda: (_random(120, 120), 40), lambda: (_random(6, 7), 3), seidel_c),
    Program(lu, lambda: (_positive_definite(180),), lambda: (_positive_definite(6),), lu_c),
    Program(cholesky, lambda: (_positive_definite(180),), lambda: (_positive_definite(6),), cholesky_c),
    Program(floyd_warshall, lambda: (_random(120, 120),), lambda: (_random(6, 6),), floyd_warshall_c),
    Program(conv2d, lambda: (_random(200, 200), _random(5, 5)),
            lambda: (_random(7, 8), _random(3, 3)), conv2d_c),
    Program(prefix_sum, lambda: (_random(1_000_000),), lambda: (_random(9),), prefix_sum_c),
    Program(horner, lambda: (_random(16), _random(100_000)), lambda: (_random(5), _random(9)), horner_c),
    Program(n_body, lambda: _bodies(5, 10_000), lambda: _bodies(4, 3), n_body_c),
)  # fmt: skip
