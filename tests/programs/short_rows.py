"""Arrays of points and colours: a short last axis is no loop, its elements are done side by side."""

import numpy as np

from tests.programs.harness import Bound, program


def points(n, m=3, dtype=float, start=0.3):
    return (np.linspace(start, 5.0, n * m).reshape(n, m) * 7 % 2.3).astype(dtype)


def image(h, w, colours=3):
    return np.linspace(0.0, 1.0, h * w * colours).reshape(h, w, colours) * 3.7 % 1.0


@program(
    lambda: (points(9), points(7, start=0.1)),
    lambda: (points(9, 2), points(7, 2)),
    lambda: (points(9, 4), points(1, 4)),
    lambda: (points(9, 3), points(8, 1)),
    lambda: (points(9, 5), points(8, 5)),
    lambda: (points(9, dtype=np.float32), points(7)),
    lambda: (points(9, dtype=np.int32), points(7, dtype=np.int64)),
    lambda: (points(18)[::2], points(14)[::-2]),
    lambda: (points(9)[:, ::-1], points(7)),
    lambda: (points(9), points(0)),
    lambda: (points(9), points(8, 2)),
    ulp=Bound(1e-11),
)
def squared_distances(a, b):
    difference = a[:, None, :] - b[None, :, :]
    over_all = difference.min(axis=(0, 2)), (difference * a[:, None]).sum(axis=(0, 1))
    over_points = (a[:, None] * b).max(axis=0), (difference * 0.5).min(axis=1)
    return (difference**2).sum(axis=-1), (difference * 2.0).max(axis=2), over_all, over_points


@program(
    lambda: (points(9), np.linspace(1.0, 2.0, 9)),
    lambda: (points(9, 4, np.float32), np.linspace(1.0, 2.0, 9, dtype=np.float32)),
    lambda: (points(9, 2, complex), np.linspace(1.0, 2.0, 9)),
    lambda: (points(2500, 3), np.linspace(1.0, 2.0, 2500)),
    ulp=16,
)
def sums_of_columns(a, weights):
    weighted = a * weights[:, None]
    return weighted.sum(axis=0), (weighted * weighted).sum(axis=1, keepdims=True), (a - 0.5).sum()


@program(
    lambda: (points(9), np.array([0.5, 2.0, 4.0])),
    lambda: (points(9, 4), np.array([0.5, 2.0, 4.0, 8.0])),
    lambda: (points(9), np.array([2.0])),
    lambda: (points(9), points(1)),
    lambda: (points(9), points(9)),
    lambda: (points(9), points(9, 1)),
    lambda: (points(9), np.array([0.5, 2.0])),
    lambda: (points(18)[::2], np.array([0.5, 2.0, 4.0])),
    lambda: (points(9, 6)[:, ::2], np.array([0.5, 2.0, 4.0])),
    ulp=2,
)
def scaled_and_moved(a, factors):
    moved = a * factors + 1.5
    a += factors
    return moved, a / factors, np.exp(a - factors), a == factors


@program(
    lambda: (points(9),),
    lambda: (points(9, 4, np.float32),),
    lambda: (points(9, 5),),
    lambda: (points(1),),
    lambda: (np.stack([points(4), points(4, start=0.1)]),),
    ulp=8,
)
def scaled_rows(a):
    lengths = np.sqrt((a * a).sum(axis=-1, keepdims=True))
    weights = np.exp(a - a.max(axis=-1, keepdims=True))
    return a / (lengths + 1.0), weights / weights.sum(axis=-1, keepdims=True)


@program(
    lambda: (points(9), 4), lambda: (points(9, 4), 2), lambda: (points(5, 3), 0), ulp=Bound(1e-13)
)
def sums_in_place(a, steps):
    center = np.array([0.25, 0.5, 0.75, 1.0])[: a.shape[1]]
    total = np.zeros((len(a), len(a)))
    for _ in range(steps):
        a[1:] -= a[:-1] * center
        a -= a[0] * 0.5
        total += (a[:, None, :] * a[None, :, :]).sum(axis=2)
    return total


@program(
    lambda: (image(4, 5),),
    lambda: (image(6, 3, 4),),
    lambda: (image(1, 7),),
    lambda: (image(7, 1),),
    lambda: (image(0, 3),),
    lambda: (image(4, 5).transpose(1, 0, 2),),
    lambda: (image(4, 5)[::-1, ::2],),
    lambda: (np.asfortranarray(image(4, 5)),),
    lambda: (image(4, 5, 2),),
    ulp=4,
)
def colours(picture):
    r, g, b = picture[..., 0], picture[..., 1], picture[..., 2]
    grey = 0.299 * r + 0.587 * g + 0.114 * b
    high = np.maximum(np.maximum(r, g), b)
    result = np.empty_like(picture)
    result[..., 0] = np.where(high == 0, 0.0, grey / np.where(high == 0, 1.0, high))
    result[..., 1] = picture[..., 1] % 0.3
    result[..., 2] = high
    return result[..., :3], grey, grey.flags.c_contiguous, picture.mean(axis=-1)


@program(
    lambda: (points(9, 4), points(9, 4, start=0.7)),
    lambda: (points(9, 4, np.float32), points(9, 4)),
    lambda: (points(9, 4), points(1, 4)),
    lambda: (points(9, 4)[::-1], points(9, 5)),
    lambda: (points(0, 4), points(0, 4)),
    lambda: (points(9, 3), points(9, 4)),
    lambda: (points(9, 4), points(8, 4)),
    lambda: (points(1, 4), points(9, 4)),
)
def quaternions(p, q):
    result = np.empty_like(p)
    a, b, c, d = p[:, 0], p[:, 1], p[:, 2], p[:, 3]
    e, f, g, h = q[:, 0], q[:, 1], q[:, 2], q[:, 3]
    result[:, 0] = a * e - b * f
    result[:, 1] = a * g + b * h
    scaled = c * 2.0
    result[:, 2] = scaled
    result[:, -1] = d - scaled
    return result


@program(
    lambda: (points(30, 4), points(30, 4, start=0.7)),
    lambda: (points(30, 4, np.float32), points(30, 4)),
    lambda: (points(30, 4), points(1, 4)),
    lambda: (points(30, 4)[::-1], points(30, 5)),
    lambda: (points(0, 4), points(0, 4)),
    lambda: (points(30, 4), points(29, 4)),
    lambda: (points(1, 4), points(30, 4)),
)
def columns_with_common_parts(p, q):
    result = np.empty((len(p), 3))
    x, y = p[:, 0], q[:, 1]
    length = np.sqrt(x * x + y * y)
    result[:, 0] = x / length
    less = y - length
    result[:, 1] = less * 2.0
    result[:, 2] = less + length
    pairs = np.zeros((len(p), 2, 2))
    total = x + y
    pairs[:, 0, 0] = total * 3.0
    pairs[:, 0, 1] = total
    pairs[:, 1, 0] = total - x
    seen = np.zeros((len(p), 2))
    total = x * y
    seen[:, 0] = total * 3.0
    seen[:, 1] = total - 1.0
    return result, pairs, seen, total.max(initial=0.0)


@program(lambda: (points(9, 4), 2), lambda: (points(9, 4), 0), lambda: (points(5, 4), -1))
def columns_that_meet(p, k):
    first = np.zeros((len(p), 5))
    first[:, 0] = p[:, 0] + 1.0
    first[:, k] = p[:, 1] + 2.0
    first[:, 0] = p[:, 2] + 3.0
    second = np.zeros((len(p) + 1, 3))
    second[1:, 0] = p[:, 0] * 2.0
    second[:-1, 0] = p[:, 1] * 3.0
    second[1:, 1] = second[1:, 0] + 1.0
    third = np.zeros((2, len(p)))
    view = third[1]
    third[0] = p[:, 0] * 2.0
    third[1] = p[:, 1] - view
    fourth = np.zeros((2, len(p)))
    fourth[0] = p[:, 0] * 2.0
    fourth[1] = fourth[0] + p[:, 1]
    fifth = np.zeros((len(p), 2))
    fifth[:, 0] = p[:, 0] * 2.0
    fifth[:, 1] = (p[:, 0] + fifth.max()) * 0.5
    return first, second, third, fourth, fifth


@program(lambda: (points(9, 4), 3), lambda: (points(9, 3), 3), lambda: (points(9, 1), 3))
def columns_in_loops_and_errors(p, steps):
    kept = []
    result = np.zeros((len(p), 2))
    for k in range(steps):
        made = np.empty((len(p), 2))
        made[:, 0] = p[:, 0] * k + result[:, 1]
        made[:, 1] = p[:, k] - k
        result[:, 0] = made[:, 0] + 1.0
        result[:, 1] = made[:, 1] * 2.0
        kept.append(made)
    return kept, result


def quaternions(n, k=4, dtype=float):
    return (np.arange(n * k).reshape(n, k) % 7 - 2.5).astype(dtype)


@program(
    lambda: (quaternions(40), quaternions(40, 3)),
    lambda: (quaternions(40, 4, np.float32), quaternions(40, 3)),
    lambda: (quaternions(3), quaternions(3, 3)),
    lambda: (quaternions(80)[::2], quaternions(40, 6)[:, ::-2]),
    lambda: (quaternions(4, 40).T, quaternions(40, 3)),
    lambda: (quaternions(40), quaternions(39, 3)),  # ValueError
    lambda: (quaternions(40, 3), quaternions(40, 3)),
    lambda: (quaternions(0), quaternions(0, 3)),
)
def points_turned_by_quaternions(q, v):
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    w, u = q[:, :1], q[:, 1:]
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)


@program(
    lambda: (quaternions(40), 1),
    lambda: (quaternions(40, 4, np.int64), -1),
    lambda: (quaternions(40, 3, np.float32), 2),
    lambda: (quaternions(2), 1),
    lambda: (quaternions(1), 0),
    lambda: (quaternions(80)[::2], 1),
    lambda: (quaternions(4, 40).T, 1),
    lambda: (quaternions(40, 1), 0),
    lambda: (quaternions(40), 50),  # IndexError
)
def slices_of_short_rows(q, k):
    tails, ends, turned = q[:, 1:] * 2, q[1:, -2:] + 1, q[:, ::-1] * q
    none, all_, some = q[:, 5:] + 1, q[:, :9] + q, q[:, k:] * 2
    planes, axes = q[:, None, 1:3] + q[:, 1:3], q[..., 1:] * 2
    row, column = q[k, 1:] * 2, q[:, 1:][:, 0] * q[:, :1][:, 0]
    return tails, ends, turned, none, all_, some, planes, axes, row, column, q[:, :1] - q


@program(lambda: (quaternions(40),), lambda: (quaternions(5000),), lambda: (quaternions(40, 5),))
def columns_of_slices_of_short_rows(a):
    u = a[:, 1:]
    v = u[:, 1:]
    return u[:, 1] * u[:, 0] + a[:, 0], v[:, 1] * u[:, 0] - a[:, 0] + v[:, 0]


@program(lambda: (quaternions(40),))
def slices_of_short_rows_that_raise(a):
    return a[:, 1:] + a[:, ::0]  # ValueError
