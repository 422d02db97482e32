"""Whole-array code: expressions, views, creation, reductions."""

import math

import numpy as np

from tests.programs.harness import program


def grid(rows, columns, dtype=np.float64):
    return np.arange(rows * columns).reshape(rows, columns).astype(dtype)


@program(
    lambda: (np.arange(5.0), np.ones(5)),
    lambda: (np.arange(5), 2),
    lambda: (2.5, np.arange(3, dtype=np.float32)),
    lambda: (grid(2, 3), np.arange(3.0)),
)
def expression(x, y):
    return x * y + x, (x - y) / 2, -x * 3 + 1


@program(
    lambda: (np.arange(4, dtype=np.int8), 1),
    lambda: (np.arange(4, dtype=np.uint8), np.float32(1)),
    lambda: (np.arange(4, dtype=np.float32), 2.5),
    lambda: (np.arange(4, dtype=np.int32), np.arange(4, dtype=np.float32)),
    lambda: (np.array([True, False, True, True]), 1),
    lambda: (np.arange(4) + 1j, np.float32(2)),
)
def promotion_in_expressions(a, b):
    return a + b, a * b, a - a * b, a / 2


@program(
    lambda: (np.arange(1, 7) - 3, 2),
    lambda: (np.arange(6.0) - 3, 2.0),
    lambda: (np.arange(6) - 3, np.array([0, 1, 2, 3, -1, -2])),
)
def integer_division_of_arrays(a, b):
    return a // b, a % b, a**2, abs(a)


@program(
    lambda: (grid(3, 4), np.arange(4.0)),
    lambda: (grid(3, 1), np.arange(4.0)),
    lambda: (np.ones((2, 1, 3)), np.ones((4, 1))),
    lambda: (np.ones((0, 3)), np.ones(3)),
)
def broadcasting(a, b):
    c = a + b
    return c, c.shape, a * 2 - b[None, :] if b.ndim == 1 else c


@program(lambda: (grid(5, 3),), lambda: (grid(2, 3) + 1.0,), lambda: (grid(3, 1),))
def columns_of_one_element(x):
    largest = x.max(axis=-1, keepdims=True)
    return np.sqrt(largest + 1.0), x / (largest + 1.0) * 2.0


@program(
    lambda: (np.linspace(0.1, 5.0, 17),),
    lambda: (np.linspace(0.1, 5.0, 9, dtype=np.float32),),
    ulp=4,
)
def transcendentals(x):
    return np.exp(-x) * np.sin(x), np.log(x), np.sqrt(x), np.tanh(x), np.cos(x) * 2


@program(
    lambda: (np.array([-1.5, -0.0, 0.5, 2.5, np.nan]),),
    lambda: (np.array([1.5, 2.5], dtype=np.float32),),
)
def exact_functions(x):
    return (
        np.floor(x),
        np.ceil(x),
        np.abs(x),
        np.sqrt(np.abs(x)),
        np.sign(x),
        np.rint(x),
        np.isnan(x),
        np.square(x),
    )


@program(
    lambda: (np.array([1, 5, 3]), 3),
    lambda: (np.array([1.0, np.nan]), 1.0),
    lambda: (grid(2, 2), np.array([1.0, 2.0])),
)
def comparisons_and_masks(a, b):
    m = (a > b) & (a < 10) | (a == b)
    return m, ~m, np.where(m, a, b), np.where(a > b, 1, 0), np.maximum(a, b), np.minimum(a, 2)


@program(
    lambda: (np.arange(10.0),), lambda: (np.arange(10, dtype=np.int16),), lambda: (grid(5, 4),)
)
def slices_are_views(a):
    b = a[2:5]
    b[0] = 100
    c = a[::2]
    d = a[::-1]
    d[0] = -7
    return b, c, d, a[1:-1], a[3:1], a[-3:]


@program(lambda: (grid(4, 4),), lambda: (grid(5, 3, np.int64),))
def views_in_two_dimensions(a):
    a[1:3, 0] = 9
    a[:, -1] += 1
    inner = a[1:-1, 1:-1]
    inner *= 2
    t = a.T
    t[0, 0] = -1
    return inner, a[0], a[:, 1], a[..., 0], a[None, 0], a[::2, ::-1], t


@program(lambda: (np.arange(8.0),), lambda: (np.arange(8),))
def overlapping_slice_assignment(a):
    a[1:] = a[:-1]
    a[:-2] += a[2:]
    a[::2] = a[::-2] * 2
    return a


@program(
    lambda: (np.ones(4), np.arange(4.0)),
    lambda: (np.ones(4, dtype=np.float32), np.arange(4.0)),
    lambda: (np.ones(4), 3),
)
def in_place_operators(a, b):
    before = a
    a += b
    a *= 2
    a -= 1
    a /= 3
    return a is before, a


@program(lambda: (np.ones(3, dtype=np.int64), 0.5), lambda: (np.ones(3), 0.5))
def in_place_cast_error(a, x):
    a[0] = 5
    a += x
    return a


@program(lambda: (4,), lambda: (0,), lambda: (1,))
def creation(n):
    a = np.zeros(n)
    b = np.ones((n, 2), dtype=np.int32)
    c = np.full(n, 2.5)
    d = np.arange(n)
    e = np.zeros_like(b)
    f = np.empty(n)
    f[:] = 7.0
    g = np.ones_like(d, dtype=np.float32)
    h = np.arange(1, n + 2, 2.0)
    i = np.full_like(a, 3)
    j = np.eye(n)
    return a, b, c, d, e, f, g, h, i, j, np.linspace(0, 1, 5), np.array([n, 2.5])


@program(
    lambda: (grid(3, 4),),
    lambda: (grid(3, 4, np.int32),),
    lambda: (grid(2, 5, np.float32) - 3,),
    lambda: (np.array([[True, False]]),),
)
def exact_reductions(a):
    return (
        a.max(),
        a.min(),
        a.max(axis=0),
        np.min(a, axis=1),
        a.any(),
        a.all(),
        a.argmax(),
        np.argmin(a),
        a.size,
    )


@program(
    lambda: (grid(3, 4, np.int64),),
    lambda: (grid(3, 4, np.int8),),
    lambda: (np.array([[True, True]]),),
)
def integer_reductions(a):
    return a.sum(), np.sum(a, axis=0), a.sum(axis=1), a.prod(), np.cumsum(a), np.count_nonzero(a)


@program(
    lambda: (np.linspace(0.1, 1.7, 1000),),
    lambda: (grid(30, 7) / 7,),
    lambda: (np.linspace(0, 1, 5, dtype=np.float32),),
    ulp=8,
)
def float_reductions(a):
    return (
        a.sum(),
        a.mean(),
        np.mean(a, axis=0),
        np.sum(a * a),
        a.sum(axis=0, keepdims=True),
        a.std(),
        np.dot(a.ravel(), a.ravel()),
    )


@program(lambda: (np.zeros(0),), lambda: (np.ones(1),))
def reductions_of_nothing(a):
    s = a.sum()
    return s, a.max()


@program(
    lambda: (grid(3, 4), grid(4, 3)),
    lambda: (grid(2, 2, np.int64), grid(2, 2, np.int64)),
    lambda: (np.arange(3.0), np.arange(3.0)),
    lambda: (np.ones((2, 3)), np.ones((2, 3))),
)
def products(a, b):
    return a @ b, np.dot(a, b)


@program(lambda: (grid(2, 6),), lambda: (np.arange(12),))
def shapes(a):
    b = a.reshape(3, 4)
    c = b.ravel()
    d = a.astype(np.float32)
    e = b.transpose()
    b[0, 0] = 99
    return (
        b,
        c,
        d,
        e,
        a.copy(),
        a.reshape(-1),
        a.flatten(),
        np.concatenate([c, c]),
        np.stack([c, c]).shape,
    )


@program(lambda: (np.array([100.0, 110.0]), np.array([95.0, 120.0]), 0.5, 0.03, 0.2), ulp=64)
def black_scholes(s, k, t, r, sigma):
    d1 = (np.log(s / k) + (r + 0.5 * sigma**2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    p1 = 1.0 / (1.0 + np.exp(-1.702 * d1))
    p2 = 1.0 / (1.0 + np.exp(-1.702 * d2))
    return s * p1 - k * math.exp(-r * t) * p2


@program(lambda: (np.zeros((5, 5)), 3), lambda: (np.zeros((3, 4)), 2))
def stencil_by_slices(u, steps):
    u[0, :] = 1.0
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


@program(lambda: (np.array([3, 1, 2]),), lambda: (np.array([2.5, -1.0]),))
def numpy_functions_without_lowering(a):
    return (
        np.sort(a),
        np.argsort(a),
        np.unique(a),
        np.diff(a),
        np.outer(a, a),
        np.clip(a, 0, 2),
        a.tolist(),
        np.roll(a, 1),
    )


@program(lambda: (np.arange(6.0),), lambda: (np.arange(6),))
def aliases_of_one_array(a):
    b = a
    c = a[:]
    d = a.copy()
    b[0] = 10
    c[1] = 20
    d[2] = 30
    e = a + 0
    return b is a, c is a, b, c, d, e


@program(lambda: (np.arange(5.0), 1.0), lambda: (np.arange(5.0), 100.0))
def normalised_until_small(x, tolerance):
    n = 0
    while (x * x).sum() > tolerance:
        x = x * 0.5
        n += 1
    return n, x


@program(lambda: (np.array([1 + 2j, 3 - 1j]), 2), lambda: (np.array([1j], dtype=np.complex64), 1j))
def complex_arrays(z, w):
    return z * w, z + z.conjugate(), z.real, z.imag, abs(z) > 1, z * z - w, np.conj(z)


@program(
    lambda: (np.arange(3.0), np.arange(3)),
    lambda: (np.ones(2, dtype=np.float32), np.ones(2, dtype=np.int8)),
)
def output_argument(a, b):
    out = np.empty_like(a)
    np.add(a, b, out=out)
    np.multiply(out, 2, out)
    return out


@program(lambda: (np.arange(4.0), 3), lambda: (np.arange(4.0), 0))
def array_or_scalar(a, n):
    x = 0
    for i in range(n):
        x = x + a * i
    return x


@program(
    lambda: (grid(3, 4), 1),
    lambda: (grid(3, 4), -9),
    lambda: (grid(0, 4), 2),
    lambda: (grid(1, 1, np.int8), 5),
    lambda: (grid(4, 6)[:, ::2], 2),
    lambda: (grid(2, 3) * 1j, 0),
)
def rolled(a, shift):
    b = np.roll(a, shift, axis=0) - np.roll(a, -shift, axis=-1)
    return b, np.roll(a, shift), np.roll(a, shift, 1), np.roll(a.ravel(), 2**62)


@program(
    lambda: (np.array([1.0, 2.5, -3.0]), grid(5, 3)),
    lambda: (grid(5, 3), grid(5, 3) ** 2 + 1.0),
    lambda: (grid(7, 3)[::-1], grid(1, 3)),
    lambda: (grid(3, 3), grid(6, 3)[::2]),
    lambda: (grid(2, 3), grid(3, 3)),
    lambda: (grid(9, 3, np.float32), np.ones(3, np.float32)),
)
def cross_products(a, b):
    return np.cross(a, b), np.cross(b, a) * 2.0


@program(
    lambda: (grid(7, 7), 2),
    lambda: (grid(2, 9), 1),
    lambda: (np.asfortranarray(grid(9, 6)), 1),
    lambda: (grid(12, 9)[::2, ::-1], 1),
    lambda: (grid(3, 0), 1),
)
def stencils_that_write_what_they_read(u, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.5 * (u[2:, 1:-1] + u[:-2, 1:-1] - u[1:-1, 2:] * u[1:-1, :-2])
        u[1:, 1:] = u[:-1, :-1] + u[1:, :-1]
        u[:-1] = u[1:] * 2
        u[5:] = u[:-5] + 1
        u[:] = u[::-1] * 0.5
        u[:, 1:] -= u[:, :-1]
        turned = u.T
        turned[1:] = turned[:-1] + 1
    return u


@program(lambda: (np.arange(9.0),), lambda: (np.arange(4),), lambda: (np.arange(12.0)[::-2],))
def sequences_that_write_what_they_read(a):
    a[1:] = a[:-1] + a[1:]
    a[:-2] += a[2:] * 2
    a[:] = a[::-1] + 1
    return a


@program(lambda: (grid(3, 4).reshape(2, 2, 3),), lambda: (np.arange(60.0).reshape(5, 3, 4),))
def planes_that_write_what_they_read(c):
    c[1:] = c[:-1] - c[1:]
    c[:, 1:] += c[:, :-1]
    c[:, :, 1:] *= c[:, :, :-1]
    c[:-1, :-1] = c[1:, 1:] + c[:-1, 1:]
    return c


@program(lambda: (grid(5, 5), 3), lambda: (grid(2, 3), 1), lambda: (grid(3, 2, np.int32), 2))
def borders(p, steps):
    for _ in range(steps):
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
        p[1:] = p[:-1]
        p[...] = p[::-1]
    return p


@program(
    lambda: (grid(3, 3), grid(3, 3, np.int64)),
    lambda: (grid(3, 3, np.int64), grid(3, 3) / 2),
    lambda: (grid(3, 3), np.ones((1, 3))),
    lambda: (grid(3, 3), np.ones((2, 3))),
    lambda: (grid(3, 3, np.int8), grid(3, 3) * 1e300),
    lambda: (grid(0, 3, np.int64), np.ones(3)),
    lambda: (np.zeros(()), np.ones(())),
    lambda: (np.zeros(3, np.uint8), -1),
)
def assigned(target, value):
    target[...] = value
    target[...] = target.T
    return target


@program(
    lambda: (grid(3, 4),),
    lambda: (grid(0, 4),),
    lambda: (grid(4, 0),),
    lambda: (grid(3, 5, np.int8),),
    lambda: (grid(2, 3, np.float32) / 7,),
    lambda: (grid(4, 6)[:, ::2] > 2,),
    lambda: (grid(2, 3, np.uint16).T,),
)
def running_sums_and_products(a):
    rows = np.cumsum(a, axis=0) * 2
    return rows, np.cumsum(a), a.cumprod(axis=-1), np.cumsum(a[0] if len(a) else a), a.cumsum(1)


@program(
    *(lambda n=n: (np.arange(float(n)) % 7 - 2,) for n in (0, 1, 2, 4, 5, 6, 9, 23)),
    lambda: (np.array([1.0, np.inf, 2, np.nan, 3, -np.inf]),),
    lambda: (np.arange(14, dtype=np.float32)[::-2],),
    lambda: (np.arange(20) % 3,),
    lambda: (np.arange(12.0) % 5 > 2,),
)
def running_sums(a):
    return np.cumsum(a), a.cumsum(dtype=np.float64), np.cumsum(a[::-1])


@program(
    lambda: (np.random.default_rng(1).random((3, 50)) ** 9,),
    lambda: (np.random.default_rng(2).random((2, 1001)),),
)
def running_sums_never_fall(weights):
    sums = np.cumsum(weights, axis=1)
    return bool((sums[:, 1:] >= sums[:, :-1]).all())


@program(lambda: (np.arange(12.0) / 7, 3), lambda: (np.arange(5.0), 5), ulp=4)
def moving_average(prices, window):
    sums = np.cumsum(prices)
    sums[window:] = sums[window:] - sums[:-window]
    return sums[window - 1 :] / window


@program(
    lambda: (np.array([1.5 + 2j, -0.25j, 3e200 + 1j]),),
    lambda: (np.array([1.1 + 2j, -0.3j], np.complex64),),
    lambda: (np.array([3, -7, 100], np.int8),),
    lambda: (np.arange(7) - 3,),
)
def squares_of_complex_numbers_and_ints(z):
    return z**2, z**2 + z, z**2.0, np.power(z, 2)


@program(
    lambda: (np.array([1.5, -2.25, 300, 6e4], np.float16), np.array([0.1, 3, -7, 2], np.float16)),
    lambda: (np.array([np.nan, np.inf], np.float16), np.array([1e-7, 0], np.float16)),
    lambda: (np.ones((3, 4), np.float16), np.arange(4, dtype=np.float16)),
)
def arithmetic_on_halves(a, b):
    c = a * b + 0.1
    c += b.astype(np.float32)
    return c, np.where(a > b, a, c // 2), c.sum(), c.mean(), c.max(), a.ravel()[0] * 3


@program(
    lambda: (np.array([7.5, -7.5, 1e300, -0.0, 5.0]), np.array([2.0, 2.0, 1e-300, 3.0, -2.5])),
    lambda: (np.array([1.5, np.inf, np.nan], np.float32), np.array([0.0, 1, 2], np.float32)),
)
def remainders(a, b):
    quotients, rests = np.divmod(a, b)
    return a % b, a // b, np.fmod(a, b), quotients + rests, a % 1.0, a % 6


@program(
    lambda: (np.array([[1.0, np.nan, 3.0], [4.0, 5.0, np.nan]]),),
    lambda: (np.array([[1.0, np.nan], [4.0, np.nan]]),),
    lambda: (np.arange(6).reshape(2, 3),),
    ulp=4,
)
def averages_without_nans(a):
    return np.nanmean(a), a - np.nanmean(a, axis=0), np.nanstd(a, axis=1), np.nanvar(a)


@program(
    lambda: (np.array([0.5 + 1j, -2j, 3.0]), 0.25j),
    lambda: (np.array([0.5 + 1j, -2j], np.complex64), np.complex64(1 + 2j)),
    ulp=4,
)
def trigonometry_of_complex_numbers(z, w):
    return np.sin(z) * np.cosh(w), np.tanh(z + w), np.log1p(z), np.cos(w), 1 / np.tan(z)


@program(
    lambda: (np.linspace(-2, 2, 9), 0.5),
    lambda: (np.arange(12).reshape(3, 4), 2),
    lambda: (np.arange(12, dtype=np.uint8).reshape(3, 4).T, 2),
    lambda: (np.linspace(-2, 2, 9)[::2], 0.5),
    lambda: (np.zeros((0, 2)), 1.0),
)
def copies_that_nests_compute_with(x, s):
    y = x.copy()
    y[y < 0] = 0
    z = np.array(y, dtype=np.float64) * s
    w = np.asarray(x, dtype=np.float32) + np.copy(z)
    old = x.copy()
    x += x
    same = np.asarray(x)
    same[:1] = 3
    return y, z, w, old * 2, old - x, np.array(x) - y, same is x
