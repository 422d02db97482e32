"""Statistics and linear algebra of tables: rows are samples."""

from __future__ import annotations

import numpy as np

from array_programs.program import ArrayProgram


def kmeans_step(points, centres):
    distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    labels = distances.argmin(axis=1)
    updated = np.empty_like(centres)
    for k in range(centres.shape[0]):
        chosen = labels == k
        updated[k] = (points * chosen[:, None]).sum(axis=0) / max(chosen.sum(), 1)
    return labels, updated


def kmeans_step_jax(jax):
    jnp = jax.numpy

    def kmeans_step(points, centres):
        distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        labels = distances.argmin(axis=1)
        chosen = (labels[:, None] == jnp.arange(centres.shape[0])).astype(points.dtype)
        return labels, chosen.T @ points / jnp.maximum(chosen.sum(axis=0), 1)[:, None]

    return kmeans_step


def kmeans_step_loops(points, centres):
    n, m = points.shape
    labels = np.empty(n, np.int64)
    updated = np.zeros_like(centres)
    counts = np.zeros(centres.shape[0])
    for i in range(n):
        least = np.inf
        for k in range(centres.shape[0]):
            d = 0.0
            for j in range(m):
                d += (points[i, j] - centres[k, j]) ** 2
            if d < least:
                least = d
                labels[i] = k
        counts[labels[i]] += 1
        for j in range(m):
            updated[labels[i], j] += points[i, j]
    for k in range(centres.shape[0]):
        updated[k] /= max(counts[k], 1)
    return labels, updated


def clusters(n):
    rng = np.random.default_rng(1)
    return rng.standard_normal((max(n // 32, 2), 4)), rng.standard_normal((8, 4))


def pairwise_distances(a, b):
    difference = a[:, None, :] - b[None, :, :]
    return np.sqrt((difference**2).sum(axis=-1))


def pairwise_distances_loops(a, b):
    result = np.empty((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            d = 0.0
            for k in range(a.shape[1]):
                d += (a[i, k] - b[j, k]) ** 2
            result[i, j] = np.sqrt(d)
    return result


def two_clouds(n):
    rng = np.random.default_rng(2)
    count = max(int((n / 3) ** 0.5), 1)
    return rng.standard_normal((count, 3)), rng.standard_normal((count, 3))


def normalise_columns(table):
    return (table - table.mean(axis=0)) / table.std(axis=0)


def normalise_columns_loops(table):
    n, m = table.shape
    mean = np.zeros(m)
    variance = np.zeros(m)
    for i in range(n):
        for j in range(m):
            mean[j] += table[i, j]
    mean /= n
    for i in range(n):
        for j in range(m):
            variance[j] += (table[i, j] - mean[j]) ** 2
    deviation = np.sqrt(variance / n)
    result = np.empty_like(table)
    for i in range(n):
        for j in range(m):
            result[i, j] = (table[i, j] - mean[j]) / deviation[j]
    return result


def table(n):
    return (np.random.default_rng(3).normal(5.0, 2.0, (max(n // 16, 2), 16)),)


def pca_step(table, vector):
    """One power iteration for the first principal component."""
    centred = table - table.mean(axis=0)
    product = centred.T @ (centred @ vector)
    return product / np.sqrt((product**2).sum())


def pca_step_loops(table, vector):
    n, m = table.shape
    mean = np.zeros(m)
    for i in range(n):
        for j in range(m):
            mean[j] += table[i, j]
    mean /= n
    product = np.zeros(m)
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += (table[i, j] - mean[j]) * vector[j]
        for j in range(m):
            product[j] += s * (table[i, j] - mean[j])
    return product / np.sqrt((product**2).sum())


def table_and_vector(n):
    (x,) = table(n)
    return x, np.ones(x.shape[1]) / x.shape[1]


def conjugate_gradient(matrix, b, steps):
    x = np.zeros_like(b)
    r = b - matrix @ x
    p = r.copy()
    rr = r @ r
    for _ in range(steps):
        q = matrix @ p
        alpha = rr / (p @ q)
        x += alpha * p
        r -= alpha * q
        new = r @ r
        p = r + (new / rr) * p
        rr = new
    return x


def conjugate_gradient_jax(jax):
    jnp = jax.numpy

    def conjugate_gradient(matrix, b, steps):
        def step(_, state):
            x, r, p, rr = state
            q = matrix @ p
            alpha = rr / (p @ q)
            x = x + alpha * p
            r = r - alpha * q
            new = r @ r
            return x, r, r + (new / rr) * p, new

        x = jnp.zeros_like(b)
        r = b - matrix @ x
        return jax.lax.fori_loop(0, steps, step, (x, r, r, r @ r))[0]

    return conjugate_gradient


def positive_definite(n):
    size = max(int(n**0.5), 2)
    rng = np.random.default_rng(4)
    a = rng.standard_normal((size, size)) / size
    return a @ a.T + np.eye(size), rng.standard_normal(size), 10


def standard_scores(x):
    """Values beyond three deviations clipped, the rest scaled to [0, 1]."""
    scores = (x - x.mean()) / x.std()
    clipped = np.clip(scores, -3.0, 3.0)
    low = clipped.min()
    return (clipped - low) / (clipped.max() - low)


def values(n):
    return (np.random.default_rng(5).standard_normal(n),)


def root_mean_square_error(predicted, actual, weights):
    return np.sqrt(np.sum(weights * (predicted - actual) ** 2) / np.sum(weights))


def root_mean_square_error_numexpr(numexpr):
    def root_mean_square_error(predicted, actual, weights):
        total = numexpr.evaluate("sum(weights * (predicted - actual) ** 2)")
        return np.sqrt(total / numexpr.evaluate("sum(weights)"))

    return root_mean_square_error


def three_series(n):
    return tuple(np.random.default_rng(6).uniform(1, 2, (3, n)))


PROGRAMS = (
    ArrayProgram(kmeans_step, clusters, 320_000, loops=kmeans_step_loops, in_jax=kmeans_step_jax),
    ArrayProgram(pairwise_distances, two_clouds, 750_000, loops=pairwise_distances_loops),
    ArrayProgram(normalise_columns, table, 320_000, loops=normalise_columns_loops),
    ArrayProgram(pca_step, table_and_vector, 320_000, loops=pca_step_loops),
    ArrayProgram(
        conjugate_gradient, positive_definite, 40_000, in_jax=conjugate_gradient_jax, static=(2,)
    ),
    ArrayProgram(standard_scores, values, 200_000),
    ArrayProgram(
        root_mean_square_error, three_series, 300_000, in_numexpr=root_mean_square_error_numexpr
    ),
)
