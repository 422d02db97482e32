"""Distances, rotations, bodies, sets of points and spectra."""

from __future__ import annotations

import math

import numpy as np

from array_programs.program import ArrayProgram


def haversine_matrix(latitude, longitude):
    phi = np.radians(latitude)
    theta = np.radians(longitude)
    dphi = phi[:, None] - phi[None, :]
    dtheta = theta[:, None] - theta[None, :]
    a = np.sin(dphi / 2) ** 2 + np.cos(phi)[:, None] * np.cos(phi) * np.sin(dtheta / 2) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(a))


def haversine_matrix_loops(latitude, longitude):
    n = latitude.size
    phi, theta = np.radians(latitude), np.radians(longitude)
    cosine = np.cos(phi)
    result = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            a = math.sin((phi[i] - phi[j]) / 2) ** 2
            a += cosine[i] * cosine[j] * math.sin((theta[i] - theta[j]) / 2) ** 2
            result[i, j] = 2 * 6371.0 * math.asin(math.sqrt(a))
    return result


def haversine_matrix_numexpr(numexpr):
    def haversine_matrix(latitude, longitude):
        phi, theta = np.radians(latitude), np.radians(longitude)
        p, q = phi[:, None], phi[None, :]
        s, t = theta[:, None], theta[None, :]
        return numexpr.evaluate(
            "2 * 6371.0 * arcsin(sqrt(sin((p - q) / 2)**2 + cos(p) * cos(q) * sin((s - t) / 2)**2))"
        )

    return haversine_matrix


def places(n):
    rng = np.random.default_rng(1)
    count = max(int(n**0.5), 1)
    return rng.uniform(-80, 80, count), rng.uniform(-180, 180, count)


def mandelbrot(c, iterations):
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=np.int64)
    for _ in range(iterations):
        inside = np.abs(z) <= 2.0
        z = np.where(inside, z * z + c, z)
        counts += inside
    return counts


def mandelbrot_loops(c, iterations):
    counts = np.empty(c.shape, np.int64)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z = 0j
            count = 0
            while count < iterations and abs(z) <= 2.0:
                z = z * z + c[i, j]
                count += 1
            counts[i, j] = count
    return counts


def mandelbrot_jax(jax):
    jnp = jax.numpy

    def mandelbrot(c, iterations):
        def step(_, state):
            z, counts = state
            inside = jnp.abs(z) <= 2.0
            return jnp.where(inside, z * z + c, z), counts + inside

        start = (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int64))
        return jax.lax.fori_loop(0, iterations, step, start)[1]

    return mandelbrot


def plane(n):
    side = max(int(n**0.5), 1)
    x = np.linspace(-2.0, 0.5, side)
    return x[None, :] + 1j * np.linspace(-1.2, 1.2, side)[:, None], 20


def nbody_step(positions, velocities, masses, dt):
    """All pairs at once, softened."""
    difference = positions[None, :, :] - positions[:, None, :]
    squares = (difference**2).sum(axis=-1) + 1e-3
    inverse = squares**-1.5
    acceleration = (difference * (masses[None, :] * inverse)[:, :, None]).sum(axis=1)
    velocities = velocities + dt * acceleration
    return positions + dt * velocities, velocities


def nbody_step_loops(positions, velocities, masses, dt):
    n = masses.size
    after = np.empty_like(velocities)
    for i in range(n):
        x, y, z = 0.0, 0.0, 0.0
        for j in range(n):
            dx = positions[j, 0] - positions[i, 0]
            dy = positions[j, 1] - positions[i, 1]
            dz = positions[j, 2] - positions[i, 2]
            squares = dx * dx + dy * dy + dz * dz + 1e-3
            factor = masses[j] / (squares * np.sqrt(squares))
            x += dx * factor
            y += dy * factor
            z += dz * factor
        after[i, 0] = velocities[i, 0] + dt * x
        after[i, 1] = velocities[i, 1] + dt * y
        after[i, 2] = velocities[i, 2] + dt * z
    return positions + dt * after, after


def bodies(n):
    rng = np.random.default_rng(2)
    count = max(int((n / 3) ** 0.5), 2)
    return rng.normal(size=(count, 3)), rng.normal(size=(count, 3)), rng.uniform(1, 2, count), 0.01


def orbits(positions, velocities, masses, dt, steps):
    """A few bodies, each a 3-vector, pair by pair."""
    positions = positions.copy()
    velocities = velocities.copy()
    n = len(masses)
    for _ in range(steps):
        for i in range(n):
            acceleration = np.zeros(3)
            for j in range(n):
                if i != j:
                    r = positions[j] - positions[i]
                    acceleration += masses[j] * r / (np.sqrt(np.dot(r, r)) ** 3 + 1e-3)
            velocities[i] += dt * acceleration
        positions += dt * velocities
    return positions, velocities


def few_bodies(n):
    rng = np.random.default_rng(3)
    return (
        rng.normal(size=(5, 3)),
        rng.normal(size=(5, 3)),
        rng.uniform(1, 2, 5),
        0.01,
        max(n // 75, 1),
    )


def orbits_jax(jax):
    jnp = jax.numpy

    def orbits(positions, velocities, masses, dt, steps):
        n = masses.shape[0]

        def step(_, state):
            positions, velocities = state
            for i in range(n):
                acceleration = jnp.zeros(3)
                for j in range(n):
                    if i != j:
                        r = positions[j] - positions[i]
                        acceleration += masses[j] * r / (jnp.sqrt(jnp.dot(r, r)) ** 3 + 1e-3)
                velocities = velocities.at[i].add(dt * acceleration)
            return positions + dt * velocities, velocities

        return jax.lax.fori_loop(0, steps, step, (positions, velocities))

    return orbits


def rotate(points, quaternion):
    """Rotate points by a unit quaternion (w, x, y, z)."""
    q = quaternion / np.sqrt((quaternion**2).sum())
    w, axis = q[0], q[1:]
    t = 2.0 * np.cross(axis, points)
    return points + w * t + np.cross(axis, t)


def rotate_loops(points, quaternion):
    w, x, y, z = quaternion / np.sqrt((quaternion**2).sum())
    result = np.empty_like(points)
    for i in range(points.shape[0]):
        a, b, c = points[i, 0], points[i, 1], points[i, 2]
        t0, t1, t2 = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
        result[i, 0] = a + w * t0 + y * t2 - z * t1
        result[i, 1] = b + w * t1 + z * t0 - x * t2
        result[i, 2] = c + w * t2 + x * t1 - y * t0
    return result


def cloud(n):
    rng = np.random.default_rng(4)
    return rng.normal(size=(max(n // 3, 1), 3)), np.array([0.5, 0.1, -0.7, 0.3])


def quaternion_product(p, q):
    """Products of quaternions, one in each row."""
    result = np.empty_like(p)
    a, b, c, d = p[:, 0], p[:, 1], p[:, 2], p[:, 3]
    e, f, g, h = q[:, 0], q[:, 1], q[:, 2], q[:, 3]
    result[:, 0] = a * e - b * f - c * g - d * h
    result[:, 1] = a * f + b * e + c * h - d * g
    result[:, 2] = a * g - b * h + c * e + d * f
    result[:, 3] = a * h + b * g - c * f + d * e
    return result


def quaternion_product_loops(p, q):
    result = np.empty_like(p)
    for i in range(p.shape[0]):
        a, b, c, d = p[i, 0], p[i, 1], p[i, 2], p[i, 3]
        e, f, g, h = q[i, 0], q[i, 1], q[i, 2], q[i, 3]
        result[i, 0] = a * e - b * f - c * g - d * h
        result[i, 1] = a * f + b * e + c * h - d * g
        result[i, 2] = a * g - b * h + c * e + d * f
        result[i, 3] = a * h + b * g - c * f + d * e
    return result


def quaternion_product_jax(jax):
    jnp = jax.numpy

    def quaternion_product(p, q):
        a, b, c, d = p[:, 0], p[:, 1], p[:, 2], p[:, 3]
        e, f, g, h = q[:, 0], q[:, 1], q[:, 2], q[:, 3]
        return jnp.stack(
            (
                a * e - b * f - c * g - d * h,
                a * f + b * e + c * h - d * g,
                a * g - b * h + c * e + d * f,
                a * h + b * g - c * f + d * e,
            ),
            axis=-1,
        )

    return quaternion_product


def quaternions(n):
    rng = np.random.default_rng(5)
    return rng.normal(size=(max(n // 4, 1), 4)), rng.normal(size=(max(n // 4, 1), 4))


def periodogram(times, values, frequencies):
    """Power at each frequency of a series sampled at any times: sums of sines instead of an FFT."""
    phase = 2.0 * np.pi * frequencies[:, None] * times[None, :]
    cosines = (values * np.cos(phase)).sum(axis=1)
    sines = (values * np.sin(phase)).sum(axis=1)
    return (cosines**2 + sines**2) / len(times)


def periodogram_loops(times, values, frequencies):
    result = np.empty(frequencies.size)
    for k in range(frequencies.size):
        c, s = 0.0, 0.0
        for i in range(times.size):
            phase = 2.0 * math.pi * frequencies[k] * times[i]
            c += values[i] * math.cos(phase)
            s += values[i] * math.sin(phase)
        result[k] = (c * c + s * s) / times.size
    return result


def periodogram_numexpr(numexpr):
    def periodogram(times, values, frequencies):
        phase = 2.0 * np.pi * frequencies[:, None] * times[None, :]
        cosines = numexpr.evaluate("sum(values * cos(phase), axis=1)")
        sines = numexpr.evaluate("sum(values * sin(phase), axis=1)")
        return (cosines**2 + sines**2) / len(times)

    return periodogram


def signal(n):
    rng = np.random.default_rng(6)
    count = max(int(n**0.5), 1)
    return np.sort(rng.uniform(0, 10, count)), rng.normal(size=count), np.linspace(0.1, 5, count)


PROGRAMS = (
    ArrayProgram(
        haversine_matrix,
        places,
        160_000,
        loops=haversine_matrix_loops,
        in_numexpr=haversine_matrix_numexpr,
    ),
    ArrayProgram(mandelbrot, plane, 40_000, loops=mandelbrot_loops, in_jax=mandelbrot_jax),
    ArrayProgram(nbody_step, bodies, 120_000, loops=nbody_step_loops),
    ArrayProgram(orbits, few_bodies, 3_000, in_jax=orbits_jax, small=150),
    ArrayProgram(rotate, cloud, 150_000, loops=rotate_loops),
    ArrayProgram(
        quaternion_product,
        quaternions,
        200_000,
        loops=quaternion_product_loops,
        in_jax=quaternion_product_jax,
    ),
    ArrayProgram(
        periodogram, signal, 160_000, loops=periodogram_loops, in_numexpr=periodogram_numexpr
    ),
)
