"""NumPy scalars: they stay NumPy scalars, and promote by NEP 50."""

import math

import numpy as np

from tests.programs.harness import program


@program(
    lambda: (np.float32(1.5), 2),
    lambda: (np.float64(1.5), 2),
    lambda: (np.int8(100), 27),
    lambda: (np.uint8(200), 55),
    lambda: (np.int64(7), 2.5),
    lambda: (np.float16(1.5), np.int16(3)),
    lambda: (3, np.float32(0.1)),
)
def mixed_scalar_arithmetic(x, y):
    return x + y, x - y, x * y, x / y, -x


@program(
    lambda: (np.int32(7), np.int32(-2)),
    lambda: (np.float64(7.5), 2),
    lambda: (np.int64(-7), 2),
    lambda: (np.uint8(7), np.uint8(2)),
)
def numpy_floor_division(x, y):
    return x // y, x % y, divmod(x, y)


@program(
    lambda: (np.int8(127), np.int8(1)),
    lambda: (np.uint16(0), np.uint16(1)),
    lambda: (np.int64(2**63 - 1), np.int64(1)),
)
def numpy_integers_wrap(x, y):
    return x + y, x - y, x * x, y << 1, x >> 1, x & y, x | y, x ^ y, ~x


@program(
    lambda: (np.arange(5),),
    lambda: (np.arange(5, dtype=np.float32),),
    lambda: (np.array([True, False, True]),),
)
def int_accumulator_becomes_numpy(a):
    s = 0
    for i in range(a.size):
        s += a[i]
    return s, type(s).__name__


@program(lambda: (np.array([]),), lambda: (np.array([1.5, 2.5]),))
def accumulator_of_perhaps_no_trip(a):
    s = 0
    for x in a:
        s = s + x
    return s


@program(
    lambda: (np.float64(2.0),), lambda: (np.float32(2.0),), lambda: (2.0,), lambda: (np.int32(2),)
)
def functions_of_numpy_scalars(x):
    return np.sqrt(x), abs(x), x**2, x**0.5, np.abs(x), np.floor(x), float(x), int(x), bool(x)


@program(
    lambda: (np.float32(0.1), 0.1),
    lambda: (np.int64(3), 3),
    lambda: (np.uint8(3), -1),
    lambda: (np.float64("nan"), 1.0),
)
def comparisons_give_numpy_bools(x, y):
    a = x < y
    return a, x == y, x >= y, x != y, a and x, bool(a), not a


@program(lambda: (np.bool_(True), np.bool_(False)), lambda: (np.bool_(True), True))
def numpy_bools(p, q):
    return p & q, p | q, p ^ q, ~p, p + q, p * 2, p and q, p or q


@program(lambda: (3, 2.5), lambda: (-1, 0.1), lambda: (True, 7))
def made_by_constructors(i, x):
    return (
        np.float32(x) * i,
        np.float64(i) + x,
        np.int64(i) * 2,
        np.int16(i) + np.float32(x),
        np.complex128(x) * 1j,
        np.uint8(abs(i)) + 1,
        np.bool_(i),
    )


@program(
    lambda: (np.complex64(1 + 2j), 2),
    lambda: (np.complex128(1 + 2j), 1j),
    lambda: (np.complex128(3), np.float32(2)),
)
def complex_numpy_scalars(z, w):
    return z + w, z * w, abs(z), z.real, z.imag, z.conjugate(), z == w, -z


@program(lambda: (np.float32(3.0),), lambda: (np.int16(300),))
def attributes_of_scalars(x):
    return x.dtype, x.ndim, x.shape, x.size, x.item(), x.itemsize, x.astype(np.float64), x.T


@program(lambda: (np.float64(0.5), 1000), lambda: (np.float32(0.5), 1000), lambda: (0.5, 10))
def logistic_map(x, n):
    r = 3.7
    for _ in range(n):
        x = r * x * (1 - x)
    return x


@program(
    lambda: (np.int32(5), np.int64(3)),
    lambda: (np.int8(2), np.uint16(9)),
    lambda: (np.float16(1), np.float32(2)),
)
def promotion_of_dtypes(x, y):
    s = x + y
    return s, s.dtype.name, np.maximum(x, y), np.minimum(x, 3), max(x, y), min(x, y)


@program(
    lambda: (np.uint64(2**63), 1),
    lambda: (np.uint64(5), np.int64(-3)),
    lambda: (np.uint32(1), np.uint32(2)),
)
def unsigned_scalars(x, y):
    return x + y, x * 2, x > y, x - y


@program(lambda: ([np.float64(1.0), 2, 3.5],), lambda: ([np.int8(1), np.int8(2)],))
def list_of_numpy_scalars(xs):
    total = xs[0]
    for x in xs:
        total = total + x * 2
    return total, xs[-1], sum(xs)


@program(lambda: (np.array([3, 1, 2], dtype=np.int16),))
def scalars_as_indices_and_ranges(a):
    out = []
    for i in range(a[0]):
        out.append(a[a[1] - i])
    xs = [10, 20, 30, 40]
    return out, xs[a[2]], xs[a[1] : a[0]]


@program(
    lambda: (np.array([1.5, -2.5, 0.0, -0.0, np.nan]),),
    lambda: (np.array([3, -7, 2**40, -(2**63)]),),
    lambda: (np.array([2.5, -0.75], np.float32),),
    lambda: (np.array([0, 200, 255], np.uint8),),
    lambda: (np.array([2**63 + 5, 1], np.uint64),),
)
def builtins_on_elements(a):
    seen = []
    for x in a:
        seen.append((abs(x), abs(-x), divmod(x, 3), pow(x, 2), min(x, 2.5), max(3, x, 1.5)))
        seen.append((x in (1.5, 3, 0), x not in (200, 2.5), min(x, x), max((x, x))))
    return seen, abs(a), pow(a, 2)


@program(
    lambda: (np.array([1.5, -2.5, 0.5, -0.0, 1e18]),),
    lambda: (np.array([3, -7, 2**53 + 1]),),
    lambda: (np.array([2.5, -0.75], np.float32),),
    lambda: (np.array([2**63 + 5, 1], np.uint64),),
    lambda: (np.array([1.0, np.nan]),),
    lambda: (np.array([True, False]),),
)
def elements_are_rounded(a):
    total = 0
    for x in a:
        total += math.floor(x) + 2 * math.ceil(x)
        total += 4 * round(x)
    return total


@program(
    lambda: ([-9, -8, -1, 0, 1, 7, 8, 2**63 - 1, -(2**63)],),
    lambda: (np.array([-(2**63), -5, 3, 2**63 - 1]),),
    lambda: (np.array([-128, -127, -65, 127], np.int8),),
    lambda: (np.array([0, 255, 130], np.uint8),),
    lambda: (np.array([0, 2**64 - 1, 2**63], np.uint64),),
)
def division_by_powers_of_two(xs):
    seen = []
    for x in xs:
        seen.append((x // 1, x % 1, x // 2, x % 2, x // 64, x % 64, divmod(x, 16), x // np.int8(4)))
    return seen


@program(
    lambda: (np.arange(5.0), [0, 4, -1, -5]),
    lambda: (np.arange(5.0), [4, 5]),
    lambda: (np.arange(5.0), [-5, -6]),
    lambda: (np.arange(5.0), [2**63 - 1]),
    lambda: (np.arange(5.0), [-(2**63)]),
    lambda: (np.zeros(0), [0]),
    lambda: (np.zeros(0), [-1]),
)
def indices_from_either_end(a, places):
    total = 0.0
    for place in places:
        total = total * 10 + a[place]
        a[place] += 1
    return total


@program(
    lambda: (np.arange(12.0).reshape(3, 4), np.array([0, 0, 1, 2])),
    lambda: (np.zeros((3, 4), np.int8), np.array([0, 0, 1, 2])),
    lambda: (np.zeros((300, 300), np.int8), np.arange(-1, 299)),
    lambda: (np.zeros((300, 300), np.float32), np.arange(-1, 299)),
    lambda: (np.zeros((3, 4)), np.array([0, 0, 1, 7])),
    lambda: (np.zeros((3, 4)), np.array([0, 0, -9, 2])),
)
def indices_of_either_class(a, places):
    """An int stored in an int8 has to fit, an np.int64 is cut."""
    seen = []
    for i in range(1, len(places)):
        place = places[i] if i % 2 else i
        seen.append((a[place % 3, place], a[0, place], place))
        a[i % 3, place] = place
        a[place % 3, i % 3] += 1
    return seen


@program(
    lambda: (np.array([0.5, 1e-300, -2.0]), float),
    lambda: (np.array([0.5, 1e-30, 3], np.float32), np.float32),
    lambda: (np.array([1, 2], np.complex128), "f2"),
    lambda: (np.array([1, 2]), np.longdouble),
)
def limits_of_floats(a, dtype):
    info, total = np.finfo(dtype), 0
    for i in range(a.size):
        if abs(a[i]) > np.finfo(np.float64).eps:
            total += info.eps + np.finfo("f4").tiny
    return (
        total,
        info.max,
        info.bits,
        info.dtype,
        info.nmant,
        np.finfo(dtype=float).min,
        info is np.finfo(dtype),
    )


@program(
    lambda: (np.array([5, 700, -3]), np.int8),
    lambda: (np.array([5, 7], np.uint8), "u8"),
    lambda: (np.array([5.5, 7]), int),
)
def limits_of_ints(a, dtype):
    least, count = np.iinfo(np.int32).max, 0
    for i in range(a.size):
        least = min(least, a[i])
        if a[i] < np.iinfo(dtype).max:
            count += np.iinfo(np.int8).min
    info = np.iinfo(np.int16)
    return least, count, info.bits, info.kind, info.dtype, type(info), np.iinfo(np.uint64).max


@program(
    lambda: (np.array([1, 2]), 0), lambda: (np.array([1.5, 2]), 1), lambda: (np.array(["a"]), 2)
)
def limits_of_others(a, k):
    if k == 2:
        return np.iinfo(int, 3)
    return np.iinfo(a.dtype).max if k else np.finfo(a.dtype).eps


@program(lambda: (3,))
def limits_with_attributes(n):
    info = np.iinfo(np.int8)
    info.more = n
    return info.more, hasattr(np.iinfo(np.int8), "more"), info.max
