"""Layers of neural networks, and loops over time steps around them."""

from __future__ import annotations

import numpy as np

from array_programs.program import ArrayProgram

SINGLE = 2e-4  # the tolerance of programs in float32


def softmax(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def softmax_loops(x):
    result = np.empty_like(x)
    for i in range(x.shape[0]):
        largest = x[i, 0]
        for j in range(x.shape[1]):
            largest = max(largest, x[i, j])
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            e = np.exp(x[i, j] - largest)
            result[i, j] = e
            total += e
        for j in range(x.shape[1]):
            result[i, j] /= total
    return result


def rows(n):
    columns = min(512, max(n // 8, 4))
    x = np.random.default_rng(1).standard_normal((max(n // columns, 1), columns))
    return (x.astype(np.float32),)


def layer_norm(x, gain, bias):
    mean = x.mean(axis=-1, keepdims=True)
    centred = x - mean
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * gain + bias


def layer_norm_loops(x, gain, bias):
    n, m = x.shape
    result = np.empty_like(x)
    for i in range(n):
        total = x.dtype.type(0)
        for j in range(m):
            total += x[i, j]
        mean = total / np.float32(m)
        squares = x.dtype.type(0)
        for j in range(m):
            squares += (x[i, j] - mean) ** 2
        scale = np.float32(1) / np.sqrt(squares / np.float32(m) + np.float32(1e-5))
        for j in range(m):
            result[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]
    return result


def rows_and_weights(n):
    (x,) = rows(n)
    rng = np.random.default_rng(2)
    gain, bias = rng.standard_normal((2, x.shape[1])).astype(np.float32)
    return x, gain, bias


def gelu(x):
    return 0.5 * x * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def gelu_mlp(x, w1, b1, w2, b2):
    return gelu(x @ w1 + b1) @ w2 + b2


def gelu_loops(x):
    half = np.float32(0.5)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            v = x[i, j]
            cube = v + np.float32(0.044715) * v * v * v
            x[i, j] = half * v * (np.float32(1) + np.tanh(np.float32(0.7978845608028654) * cube))
    return x


def gelu_mlp_loops(x, w1, b1, w2, b2):
    return gelu_loops(x @ w1 + b1) @ w2 + b2


def mlp(n):
    width = max(int((n / 4) ** 0.5), 2)
    return arrays(3, (width, width), (width, 4 * width), (4 * width,), (4 * width, width), (width,))


def arrays(seed, *shapes):
    rng = np.random.default_rng(seed)
    return tuple((rng.standard_normal(s) / max(s[0], 1) ** 0.5).astype(np.float32) for s in shapes)


def attention(q, k, v):
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(np.float32(q.shape[-1]))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ v


def attention_jax(jax):
    jnp = jax.numpy

    def attention(q, k, v):
        scores = q @ k.swapaxes(-1, -2) / jnp.sqrt(jnp.float32(q.shape[-1]))
        weights = jnp.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return weights @ v

    return attention


def attention_loops(q, k, v):
    result = np.empty_like(q)
    for h in range(q.shape[0]):
        scores = q[h] @ k[h].T / np.sqrt(np.float32(q.shape[2]))
        result[h] = softmax_loops(scores) @ v[h]
    return result


def heads(n):
    length = max(int((n / 4) ** 0.5), 4)
    return arrays(4, *[(4, length, 32)] * 3)


def split_heads(x, count):
    length, width = x.shape
    return x.reshape(length, count, width // count).transpose(1, 0, 2)


def bert_layer(x, mask, wq, wk, wv, wo, w1, b1, w2, b2, g1, h1, g2, h2, count):
    """One encoder layer; mask is 1 for tokens and 0 for padding."""
    length, width = x.shape
    q = split_heads(x @ wq, count)
    k = split_heads(x @ wk, count)
    v = split_heads(x @ wv, count)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(width // count))
    scores = np.where(mask[None, None, :] > 0, scores, np.float32(-1e9))
    context = softmax(scores) @ v
    merged = context.transpose(1, 0, 2).reshape(length, width)
    x = layer_norm(x + merged @ wo, g1, h1)
    return layer_norm(x + gelu(x @ w1 + b1) @ w2 + b2, g2, h2)


def bert_layer_loops(x, mask, wq, wk, wv, wo, w1, b1, w2, b2, g1, h1, g2, h2, count):
    length, width = x.shape
    size = width // count
    q, k, v = x @ wq, x @ wk, x @ wv
    merged = np.empty_like(x)
    for h in range(count):
        part = slice(h * size, (h + 1) * size)
        qh = np.ascontiguousarray(q[:, part])
        kh = np.ascontiguousarray(k[:, part])
        scores = qh @ kh.T
        for i in range(length):
            for j in range(length):
                s = scores[i, j] / np.sqrt(np.float32(size))
                scores[i, j] = s if mask[j] > 0 else np.float32(-1e9)
        merged[:, part] = softmax_loops(scores) @ np.ascontiguousarray(v[:, part])
    x = layer_norm_loops(x + merged @ wo, g1, h1)
    return layer_norm_loops(x + gelu_loops(x @ w1 + b1) @ w2 + b2, g2, h2)


def encoder(n):
    width = max(int((n / 4) ** 0.5) // 8 * 8, 8)
    length = max(width // 2, 4)
    square = (width, width)
    x, wq, wk, wv, wo, w1, b1, w2, b2, g1, h1, g2, h2 = arrays(
        5, (length, width), square, square, square, square, (width, 4 * width), (4 * width,),
        (4 * width, width), *[(width,)] * 5,
    )  # fmt: skip
    mask = (np.arange(length) < length * 3 // 4).astype(np.float32)
    return x, mask, wq, wk, wv, wo, w1, b1, w2, b2, g1, h1, g2, h2, 4


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def gru_step(x, h, wz, wr, wh, uz, ur, uh):
    z = sigmoid(x @ wz + h @ uz)
    r = sigmoid(x @ wr + h @ ur)
    candidate = np.tanh(x @ wh + (r * h) @ uh)
    return (1.0 - z) * h + z * candidate


def gru(xs, h, wz, wr, wh, uz, ur, uh):
    for t in range(xs.shape[0]):
        h = gru_step(xs[t], h, wz, wr, wh, uz, ur, uh)
    return h


def gru_jax(jax):
    jnp = jax.numpy

    def gru(xs, h, wz, wr, wh, uz, ur, uh):
        def step(h, x):
            z = jax.nn.sigmoid(x @ wz + h @ uz)
            r = jax.nn.sigmoid(x @ wr + h @ ur)
            candidate = jnp.tanh(x @ wh + (r * h) @ uh)
            return (1.0 - z) * h + z * candidate, None

        return jax.lax.scan(step, h, xs)[0]

    return gru


def sigmoid_single(x):
    one = np.float32(1)
    return one / (one + np.exp(-x))


def gru_loops(xs, h, wz, wr, wh, uz, ur, uh):
    for t in range(xs.shape[0]):
        x = xs[t]
        z = sigmoid_single(x @ wz + h @ uz)
        r = sigmoid_single(x @ wr + h @ ur)
        candidate = np.tanh(x @ wh + (r * h) @ uh)
        h = (np.float32(1) - z) * h + z * candidate
    return h


def lstm_loops(xs, h, c, w, u, b):
    width = h.shape[1]
    c = c.copy()
    for t in range(xs.shape[0]):
        gates = xs[t] @ w + h @ u
        h = np.empty_like(c)
        for k in range(h.shape[0]):
            for j in range(width):
                i = sigmoid_single(gates[k, j] + b[j])
                f = sigmoid_single(gates[k, width + j] + b[width + j])
                g = np.tanh(gates[k, 2 * width + j] + b[2 * width + j])
                o = sigmoid_single(gates[k, 3 * width + j] + b[3 * width + j])
                c[k, j] = f * c[k, j] + i * g
                h[k, j] = o * np.tanh(c[k, j])
    return h, c


def recurrent(n, gates=3):
    width = max(int(n**0.5), 2)
    square = [(width, width)] * (2 * gates)
    batch = 4
    return arrays(6, (12, batch, width), (batch, width), *square)


def lstm(xs, h, c, w, u, b):
    width = h.shape[-1]
    for t in range(len(xs)):
        gates = xs[t] @ w + h @ u + b
        i = sigmoid(gates[:, :width])
        f = sigmoid(gates[:, width : 2 * width])
        g = np.tanh(gates[:, 2 * width : 3 * width])
        o = sigmoid(gates[:, 3 * width :])
        c = f * c + i * g
        h = o * np.tanh(c)
    return h, c


def lstm_jax(jax):
    jnp = jax.numpy

    def lstm(xs, h, c, w, u, b):
        def step(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ w + h @ u + b, 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), None

        return jax.lax.scan(step, (h, c), xs)[0]

    return lstm


def lstm_arguments(n):
    width = max(int(n**0.5), 2)
    return arrays(
        7,
        (12, 4, width),
        (4, width),
        (4, width),
        (width, 4 * width),
        (width, 4 * width),
        (4 * width,),
    )


def greedy_decode(state, encoded, embedding, wx, wh, wo, steps):
    """Decode tokens one by one, each time the likeliest, with attention over the encoded input."""
    tokens = np.zeros(steps, dtype=np.int64)
    token = 0
    for t in range(steps):
        scores = encoded @ state
        weights = np.exp(scores - scores.max())
        context = (weights / weights.sum()) @ encoded
        state = np.tanh(embedding[token] @ wx + context + state @ wh)
        token = np.argmax(state @ wo)
        tokens[t] = token
    return tokens, state


def greedy_decode_jax(jax):
    jnp = jax.numpy

    def greedy_decode(state, encoded, embedding, wx, wh, wo, steps):
        def step(carried, _):
            state, token = carried
            weights = jax.nn.softmax(encoded @ state)
            state = jnp.tanh(embedding[token] @ wx + weights @ encoded + state @ wh)
            token = jnp.argmax(state @ wo)
            return (state, token), token

        start = (state, jnp.int64(0))
        (state, _), tokens = jax.lax.scan(step, start, None, length=steps)
        return tokens, state

    return greedy_decode


def decoder(n):
    width = max(int((n / 4) ** 0.5), 4)
    square = (width, width)
    shapes = ((width,), (20, width), (4 * width, width), square, square, (width, 4 * width))
    return (*arrays(8, *shapes), 20)


def logistic_gradient(x, y, weights, penalty):
    p = sigmoid(x @ weights)
    return x.T @ (p - y) / len(y) + penalty * weights


def logistic_gradient_loops(x, y, weights, penalty):
    n, m = x.shape
    result = penalty * weights
    for i in range(n):
        z = 0.0
        for j in range(m):
            z += x[i, j] * weights[j]
        error = (1.0 / (1.0 + np.exp(-z)) - y[i]) / n
        for j in range(m):
            result[j] += error * x[i, j]
    return result


def samples(n):
    rng = np.random.default_rng(9)
    columns = 20
    x = rng.standard_normal((max(n // columns, 2), columns))
    y = (rng.random(x.shape[0]) < 0.5).astype(np.float64)
    return x, y, rng.standard_normal(columns), 0.01


PROGRAMS = (
    ArrayProgram(softmax, rows, 500_000, loops=softmax_loops, tolerance=SINGLE),
    ArrayProgram(layer_norm, rows_and_weights, 500_000, loops=layer_norm_loops, tolerance=SINGLE),
    ArrayProgram(gelu_mlp, mlp, 60_000, loops=gelu_mlp_loops, tolerance=SINGLE),
    ArrayProgram(
        attention, heads, 60_000, loops=attention_loops, in_jax=attention_jax, tolerance=SINGLE
    ),
    ArrayProgram(
        bert_layer, encoder, 60_000, loops=bert_layer_loops, static=(14,), tolerance=SINGLE
    ),
    ArrayProgram(gru, recurrent, 4_096, loops=gru_loops, in_jax=gru_jax, tolerance=SINGLE),
    ArrayProgram(lstm, lstm_arguments, 4_096, loops=lstm_loops, in_jax=lstm_jax, tolerance=SINGLE),
    ArrayProgram(
        greedy_decode, decoder, 16_000, in_jax=greedy_decode_jax, static=(6,), tolerance=SINGLE
    ),
    ArrayProgram(logistic_gradient, samples, 200_000, loops=logistic_gradient_loops),
)
