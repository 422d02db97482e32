"""The programs as users of PyTorch write them; each has the name of its program.

torch.compile unrolls loops. Where it works on that for minutes, it gets one step, and Python loops over the steps.
`orbits` is missing: 800 interactions of vectors of three.
"""

from __future__ import annotations

import math

import torch
from torch.nn import functional

# -- finance ---------------------------------------------------------------------------------------


def normal_cdf(x):
    k = 1.0 / (1.0 + 0.2316419 * torch.abs(x))
    poly = k * (
        0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    tail = 0.3989422804014327 * torch.exp(-0.5 * x * x) * poly
    return torch.where(x > 0, 1.0 - tail, tail)


@torch.compile
def black_scholes(spot, strike, time, rate, volatility):
    root = volatility * torch.sqrt(time)
    d1 = (torch.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / root
    d2 = d1 - root
    discounted = strike * torch.exp(-rate * time)
    call = spot * normal_cdf(d1) - discounted * normal_cdf(d2)
    put = discounted * normal_cdf(-d2) - spot * normal_cdf(-d1)
    return call, put


@torch.compile
def asian_option(normals, spot, strike, rate, volatility, years):
    dt = years / normals.shape[0]
    drift = (rate - 0.5 * volatility**2) * dt
    moves = drift + volatility * math.sqrt(dt) * normals
    paths = spot * torch.exp(torch.cumsum(moves, dim=0))
    payoff = torch.clamp(paths.mean(dim=0) - strike, min=0.0)
    return math.exp(-rate * years) * payoff.mean()


@torch.compile
def moving_average(prices, window):
    sums = torch.cumsum(prices, dim=0)
    first = sums[window - 1 : window]
    return torch.cat((first, sums[window:] - sums[:-window])) / window


# -- networks --------------------------------------------------------------------------------------


@torch.compile
def softmax(x):
    return torch.softmax(x, dim=-1)


@torch.compile
def layer_norm(x, gain, bias):
    return functional.layer_norm(x, gain.shape, gain, bias, eps=1e-5)


@torch.compile
def gelu_mlp(x, w1, b1, w2, b2):
    return functional.gelu(x @ w1 + b1, approximate="tanh") @ w2 + b2


@torch.compile
def attention(q, k, v):
    return functional.scaled_dot_product_attention(q, k, v)


def split_heads(x, count):
    length, width = x.shape
    return x.reshape(length, count, width // count).transpose(0, 1)


@torch.compile
def bert_layer(x, mask, wq, wk, wv, wo, w1, b1, w2, b2, g1, h1, g2, h2, count):
    length, width = x.shape
    q, k, v = (split_heads(x @ w, count) for w in (wq, wk, wv))
    scores = q @ k.transpose(1, 2) / math.sqrt(width // count)
    scores = torch.where(mask > 0, scores, -1e9)
    context = torch.softmax(scores, dim=-1) @ v
    merged = context.transpose(0, 1).reshape(length, width)
    x = layer_norm(x + merged @ wo, g1, h1)
    return layer_norm(x + gelu_mlp(x, w1, b1, w2, b2), g2, h2)


@torch.compile
def gru(xs, h, wz, wr, wh, uz, ur, uh):
    for x in xs:
        z = torch.sigmoid(x @ wz + h @ uz)
        r = torch.sigmoid(x @ wr + h @ ur)
        candidate = torch.tanh(x @ wh + (r * h) @ uh)
        h = (1.0 - z) * h + z * candidate
    return h


@torch.compile
def lstm(xs, h, c, w, u, b):
    for x in xs:
        i, f, g, o = torch.chunk(x @ w + h @ u + b, 4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return h, c


@torch.compile
def greedy_step(state, token, encoded, embedding, wx, wh, wo):
    context = torch.softmax(encoded @ state, dim=0) @ encoded
    state = torch.tanh(functional.embedding(token, embedding) @ wx + context + state @ wh)
    return state, torch.argmax(state @ wo)


def greedy_decode(state, encoded, embedding, wx, wh, wo, steps):
    tokens = []
    token = torch.zeros((), dtype=torch.int64)
    for _ in range(steps):
        state, token = greedy_step(state, token, encoded, embedding, wx, wh, wo)
        tokens.append(token)
    return torch.stack(tokens), state


@torch.compile
def logistic_gradient(x, y, weights, penalty):
    return x.T @ (torch.sigmoid(x @ weights) - y) / len(y) + penalty * weights


# -- statistics ------------------------------------------------------------------------------------


@torch.compile
def kmeans_step(points, centres):
    distances = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(dim=2)
    labels = distances.argmin(dim=1)
    chosen = functional.one_hot(labels, centres.shape[0]).to(points.dtype)
    return labels, chosen.T @ points / torch.clamp(chosen.sum(dim=0), min=1)[:, None]


@torch.compile
def pairwise_distances(a, b):
    difference = a[:, None, :] - b[None, :, :]
    return torch.sqrt((difference**2).sum(dim=-1))


@torch.compile
def normalise_columns(table):
    return (table - table.mean(dim=0)) / table.std(dim=0, correction=0)


@torch.compile
def pca_step(table, vector):
    centred = table - table.mean(dim=0)
    product = centred.T @ (centred @ vector)
    return product / torch.sqrt((product**2).sum())


@torch.compile
def conjugate_gradient(matrix, b, steps):
    x = torch.zeros_like(b)
    r = b - matrix @ x
    p = r
    rr = r @ r
    for _ in range(steps):
        q = matrix @ p
        alpha = rr / (p @ q)
        x = x + alpha * p
        r = r - alpha * q
        new = r @ r
        p = r + (new / rr) * p
        rr = new
    return x


@torch.compile
def standard_scores(x):
    scores = (x - x.mean()) / x.std(correction=0)
    clipped = torch.clamp(scores, -3.0, 3.0)
    low = clipped.min()
    return (clipped - low) / (clipped.max() - low)


@torch.compile
def root_mean_square_error(predicted, actual, weights):
    return torch.sqrt(torch.sum(weights * (predicted - actual) ** 2) / torch.sum(weights))


# -- stencils --------------------------------------------------------------------------------------


@torch.compile
def heat_2d_step(u, factor):
    u[1:-1, 1:-1] += factor * (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
    )


def heat_2d(u, factor, steps):
    u = u.clone()
    for _ in range(steps):
        heat_2d_step(u, factor)
    return u


@torch.compile
def heat_3d_step(a, b):
    b[1:-1, 1:-1, 1:-1] = (
        0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
        + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
        + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
        + a[1:-1, 1:-1, 1:-1]
    )


def heat_3d(a, b, steps):
    for _ in range(steps):
        heat_3d_step(a, b)
        a, b = b, a
    return a


@torch.compile
def wave_step(u, before, speed):
    inner = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    return 2 * u - before + speed**2 * functional.pad(inner, (1, 1, 1, 1))


def wave(u, before, speed, steps):
    for _ in range(steps):
        u, before = wave_step(u, before, speed), u
    return u


@torch.compile
def shallow_water_step(h, u, v, dt, dx):
    roll = torch.roll
    u = u - dt * 9.81 * ((roll(h, -1, 0) - roll(h, 1, 0)) / (2 * dx))
    v = v - dt * 9.81 * ((roll(h, -1, 1) - roll(h, 1, 1)) / (2 * dx))
    hu, hv = h * u, h * v
    flow = (roll(hu, -1, 0) - roll(hu, 1, 0)) / (2 * dx)
    flow = flow + (roll(hv, -1, 1) - roll(hv, 1, 1)) / (2 * dx)
    return h - dt * flow, u, v


def shallow_water(h, u, v, dt, dx, steps):
    for _ in range(steps):
        h, u, v = shallow_water_step(h, u, v, dt, dx)
    return h, u, v


@torch.compile
def lorenz_step(x, y, z, dt):
    dx = 10.0 * (y - x)
    dy = x * (28.0 - z) - y
    dz = x * y - (8.0 / 3.0) * z
    return x + dt * dx, y + dt * dy, z + dt * dz


def lorenz_ensemble(state, dt, steps):
    x, y, z = state
    for _ in range(steps):
        x, y, z = lorenz_step(x, y, z, dt)
    return torch.stack((x, y, z))


# -- images ----------------------------------------------------------------------------------------


@torch.compile
def grey_scale(image):
    return 0.299 * image[..., 0] + 0.587 * image[..., 1] + 0.114 * image[..., 2]


@torch.compile
def box_blur(image):
    n, m = image.shape
    total = torch.zeros((n - 2, m - 2), dtype=image.dtype)
    for i in range(3):
        for j in range(3):
            total = total + image[i : i + n - 2, j : j + m - 2]
    return total / 9.0


@torch.compile
def sobel(image):
    gx = (
        image[:-2, 2:] + 2.0 * image[1:-1, 2:] + image[2:, 2:]
        - image[:-2, :-2] - 2.0 * image[1:-1, :-2] - image[2:, :-2]
    )  # fmt: skip
    gy = (
        image[2:, :-2] + 2.0 * image[2:, 1:-1] + image[2:, 2:]
        - image[:-2, :-2] - 2.0 * image[:-2, 1:-1] - image[:-2, 2:]
    )  # fmt: skip
    magnitude = torch.sqrt(gx**2 + gy**2)
    return magnitude / magnitude.max()


@torch.compile
def rgb_to_hsv(image):
    r, g, b = image.unbind(-1)
    high = torch.maximum(torch.maximum(r, g), b)
    delta = high - torch.minimum(torch.minimum(r, g), b)
    safe = torch.where(delta == 0, 1.0, delta)
    other = torch.where(high == g, (b - r) / safe + 2.0, (r - g) / safe + 4.0)
    hue = torch.where(high == r, ((g - b) / safe) % 6.0, other)
    hue = torch.where(delta == 0, 0.0, hue / 6.0)
    saturation = torch.where(high == 0, 0.0, delta / torch.where(high == 0, 1.0, high))
    return torch.stack((hue, saturation, high), dim=-1)


# -- geometry --------------------------------------------------------------------------------------


@torch.compile
def haversine_matrix(latitude, longitude):
    phi = torch.deg2rad(latitude)
    theta = torch.deg2rad(longitude)
    dphi = phi[:, None] - phi[None, :]
    dtheta = theta[:, None] - theta[None, :]
    cosine = torch.cos(phi)
    a = torch.sin(dphi / 2) ** 2 + cosine[:, None] * cosine * torch.sin(dtheta / 2) ** 2
    return 2 * 6371.0 * torch.asin(torch.sqrt(a))


@torch.compile
def mandelbrot_step(x, y, a, b, counts):
    """In real numbers: torch.compile makes no code for complex ones."""
    inside = x * x + y * y <= 4.0
    return (
        torch.where(inside, x * x - y * y + a, x),
        torch.where(inside, 2.0 * x * y + b, y),
        counts + inside,
    )


def mandelbrot(c, iterations):
    a, b = c.real.contiguous(), c.imag.contiguous()
    x, y = torch.zeros_like(a), torch.zeros_like(a)
    counts = torch.zeros(a.shape, dtype=torch.int64)
    for _ in range(iterations):
        x, y, counts = mandelbrot_step(x, y, a, b, counts)
    return counts


@torch.compile
def nbody_step(positions, velocities, masses, dt):
    difference = positions[None, :, :] - positions[:, None, :]
    squares = (difference**2).sum(dim=-1) + 1e-3
    inverse = squares**-1.5
    acceleration = (difference * (masses[None, :] * inverse)[:, :, None]).sum(dim=1)
    velocities = velocities + dt * acceleration
    return positions + dt * velocities, velocities


@torch.compile
def rotate(points, quaternion):
    q = quaternion / torch.sqrt((quaternion**2).sum())
    w, axis = q[0], q[1:].expand_as(points)
    t = 2.0 * torch.linalg.cross(axis, points)
    return points + w * t + torch.linalg.cross(axis, t)


@torch.compile
def quaternion_product(p, q):
    a, b, c, d = p.unbind(-1)
    e, f, g, h = q.unbind(-1)
    return torch.stack(
        (
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ),
        dim=-1,
    )


@torch.compile
def periodogram(times, values, frequencies):
    phase = 2.0 * math.pi * frequencies[:, None] * times[None, :]
    cosines = (values * torch.cos(phase)).sum(dim=1)
    sines = (values * torch.sin(phase)).sum(dim=1)
    return (cosines**2 + sines**2) / len(times)
