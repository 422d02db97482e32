"""Steps in time of fields on grids, written with slices."""

from __future__ import annotations

import numpy as np

from array_programs.program import ArrayProgram


def heat_2d(u, factor, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += factor * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
    return u


def heat_2d_loops(u, factor, steps):
    u = u.copy()
    v = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                near = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1]
                v[i, j] = u[i, j] + factor * (near - 4.0 * u[i, j])
        u, v = v, u
    return u


def heat_2d_jax(jax):
    def heat_2d(u, factor, steps):
        def step(_, u):
            near = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
            return u.at[1:-1, 1:-1].add(factor * (near - 4.0 * u[1:-1, 1:-1]))

        return jax.lax.fori_loop(0, steps, step, u)

    return heat_2d


def square(n):
    side = max(int(n**0.5), 3)
    return np.random.default_rng(1).random((side, side)), 0.1, 10


def heat_3d(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
            + a[1:-1, 1:-1, 1:-1]
        )
        a, b = b, a
    return a


def heat_3d_loops(a, b, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                for k in range(1, a.shape[2] - 1):
                    c = 2.0 * a[i, j, k]
                    b[i, j, k] = (
                        0.125 * (a[i + 1, j, k] - c + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - c + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - c + a[i, j, k - 1])
                        + a[i, j, k]
                    )
        a, b = b, a
    return a


def heat_3d_jax(jax):
    def heat_3d(a, b, steps):
        def step(_, pair):
            a, b = pair
            c = 2.0 * a[1:-1, 1:-1, 1:-1]
            new = (
                0.125 * (a[2:, 1:-1, 1:-1] - c + a[:-2, 1:-1, 1:-1])
                + 0.125 * (a[1:-1, 2:, 1:-1] - c + a[1:-1, :-2, 1:-1])
                + 0.125 * (a[1:-1, 1:-1, 2:] - c + a[1:-1, 1:-1, :-2])
                + a[1:-1, 1:-1, 1:-1]
            )
            return b.at[1:-1, 1:-1, 1:-1].set(new), a

        return jax.lax.fori_loop(0, steps, step, (a, b))[0]

    return heat_3d


def cube(n):
    side = max(round(n ** (1 / 3)), 3)
    a = np.random.default_rng(2).random((side, side, side))
    return a, a.copy(), 6


def wave(u, before, speed, steps):
    for _ in range(steps):
        laplacian = np.zeros_like(u)
        laplacian[1:-1, 1:-1] = (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u, before = 2 * u - before + speed**2 * laplacian, u
    return u


def wave_loops(u, before, speed, steps):
    n, m = u.shape
    after = np.empty_like(u)
    u, before = u.copy(), before.copy()
    for _ in range(steps):
        for i in range(n):
            for j in range(m):
                laplacian = 0.0
                if 0 < i < n - 1 and 0 < j < m - 1:
                    near = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1]
                    laplacian = near - 4 * u[i, j]
                after[i, j] = 2 * u[i, j] - before[i, j] + speed**2 * laplacian
        before, u, after = u, after, before
    return u


def wave_jax(jax):
    jnp = jax.numpy

    def wave(u, before, speed, steps):
        def step(_, pair):
            u, before = pair
            near = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
            laplacian = jnp.zeros_like(u).at[1:-1, 1:-1].set(near - 4 * u[1:-1, 1:-1])
            return 2 * u - before + speed**2 * laplacian, u

        return jax.lax.fori_loop(0, steps, step, (u, before))[0]

    return wave


def two_squares(n):
    u, _, _ = square(n)
    return u, u * 0.99, 0.5, 10


def shallow_water(h, u, v, dt, dx, steps):
    """Heights and velocities on a periodic grid."""
    g = 9.81
    for _ in range(steps):
        hx = (np.roll(h, -1, axis=0) - np.roll(h, 1, axis=0)) / (2 * dx)
        hy = (np.roll(h, -1, axis=1) - np.roll(h, 1, axis=1)) / (2 * dx)
        u = u - dt * g * hx
        v = v - dt * g * hy
        hu, hv = h * u, h * v
        flow = (np.roll(hu, -1, axis=0) - np.roll(hu, 1, axis=0)) / (2 * dx)
        flow += (np.roll(hv, -1, axis=1) - np.roll(hv, 1, axis=1)) / (2 * dx)
        h = h - dt * flow
    return h, u, v


def shallow_water_loops(h, u, v, dt, dx, steps):
    g = 9.81
    n, m = h.shape
    h, u, v = h.copy(), u.copy(), v.copy()
    new = np.empty_like(h)
    for _ in range(steps):
        for i in range(n):
            up, down = (i + 1) % n, (i - 1) % n
            for j in range(m):
                right, left = (j + 1) % m, (j - 1) % m
                u[i, j] -= dt * g * ((h[up, j] - h[down, j]) / (2 * dx))
                v[i, j] -= dt * g * ((h[i, right] - h[i, left]) / (2 * dx))
        for i in range(n):
            up, down = (i + 1) % n, (i - 1) % n
            for j in range(m):
                right, left = (j + 1) % m, (j - 1) % m
                flow = (h[up, j] * u[up, j] - h[down, j] * u[down, j]) / (2 * dx)
                flow += (h[i, right] * v[i, right] - h[i, left] * v[i, left]) / (2 * dx)
                new[i, j] = h[i, j] - dt * flow
        h, new = new, h
    return h, u, v


def shallow_water_jax(jax):
    roll = jax.numpy.roll

    def shallow_water(h, u, v, dt, dx, steps):
        def step(_, state):
            h, u, v = state
            u = u - dt * 9.81 * ((roll(h, -1, 0) - roll(h, 1, 0)) / (2 * dx))
            v = v - dt * 9.81 * ((roll(h, -1, 1) - roll(h, 1, 1)) / (2 * dx))
            hu, hv = h * u, h * v
            flow = (roll(hu, -1, 0) - roll(hu, 1, 0)) / (2 * dx)
            flow += (roll(hv, -1, 1) - roll(hv, 1, 1)) / (2 * dx)
            return h - dt * flow, u, v

        return jax.lax.fori_loop(0, steps, step, (h, u, v))

    return shallow_water


def basin(n):
    h, _, _ = square(n)
    return 1.0 + 0.1 * h, np.zeros_like(h), np.zeros_like(h), 0.01, 1.0, 5


def lorenz_ensemble(state, dt, steps):
    """Many trajectories at once; a row of `state` is a coordinate."""
    x, y, z = state[0], state[1], state[2]
    for _ in range(steps):
        dx = 10.0 * (y - x)
        dy = x * (28.0 - z) - y
        dz = x * y - (8.0 / 3.0) * z
        x = x + dt * dx
        y = y + dt * dy
        z = z + dt * dz
    return np.stack((x, y, z))


def lorenz_ensemble_loops(state, dt, steps):
    result = np.empty_like(state)
    for i in range(state.shape[1]):
        x, y, z = state[0, i], state[1, i], state[2, i]
        for _ in range(steps):
            dx = 10.0 * (y - x)
            dy = x * (28.0 - z) - y
            dz = x * y - (8.0 / 3.0) * z
            x += dt * dx
            y += dt * dy
            z += dt * dz
        result[0, i], result[1, i], result[2, i] = x, y, z
    return result


def lorenz_ensemble_jax(jax):
    jnp = jax.numpy

    def lorenz_ensemble(state, dt, steps):
        def step(_, state):
            x, y, z = state
            dx = 10.0 * (y - x)
            dy = x * (28.0 - z) - y
            dz = x * y - (8.0 / 3.0) * z
            return x + dt * dx, y + dt * dy, z + dt * dz

        return jnp.stack(jax.lax.fori_loop(0, steps, step, (state[0], state[1], state[2])))

    return lorenz_ensemble


def ensemble(n):
    return np.random.default_rng(3).normal(1.0, 0.1, (3, max(n // 3, 1))), 0.001, 20


PROGRAMS = (
    ArrayProgram(heat_2d, square, 250_000, loops=heat_2d_loops, in_jax=heat_2d_jax),
    ArrayProgram(heat_3d, cube, 216_000, loops=heat_3d_loops, in_jax=heat_3d_jax, mutates=True),
    ArrayProgram(wave, two_squares, 160_000, loops=wave_loops, in_jax=wave_jax),
    ArrayProgram(shallow_water, basin, 90_000, loops=shallow_water_loops, in_jax=shallow_water_jax),
    ArrayProgram(
        lorenz_ensemble, ensemble, 60_000, loops=lorenz_ensemble_loops, in_jax=lorenz_ensemble_jax
    ),
)
