"""Numbers at the limits, in loops that are native: the operator meets them at trip k, not at the entry."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit
from tests.adversarial.harness import assert_native, attack
from tests.programs.harness import Factory, check_calls

LOW, TOP = -(2**63), 2**63 - 1
WHEN = 37


def add(x: Any, y: Any) -> Any:
    return x + y


def sub(x: Any, y: Any) -> Any:
    return x - y


def mul(x: Any, y: Any) -> Any:
    return x * y


def floordiv(x: Any, y: Any) -> Any:
    return x // y


def mod(x: Any, y: Any) -> Any:
    return x % y


def truediv(x: Any, y: Any) -> Any:
    return x / y


def div_mod(x: Any, y: Any) -> Any:
    return divmod(x, y)


def left(x: Any, y: Any) -> Any:
    return x << y


def right(x: Any, y: Any) -> Any:
    return x >> y


def power(x: Any, y: Any) -> Any:
    return x**y


def power3(x: Any, y: Any) -> Any:
    return pow(x, 3, y)


def bits(x: Any, y: Any) -> Any:
    return (x & y) - (x | y) + (x ^ ~y)


def signs(x: Any, y: Any) -> Any:
    return -x, abs(y), +x, ~y


def compare(x: Any, y: Any) -> Any:
    return x < y, x == y, x >= y, min(x, y), max(x, y)


OPERATORS = [
    add, sub, mul, floordiv, mod, truediv, div_mod, left, right, power, power3, bits, signs, compare,
]  # fmt: skip


def looped(operator: Callable[..., Any]) -> Callable[..., Any]:
    """A loop over two lists that keeps all results; the operator is inlined."""

    def loop(xs: Any, ys: Any) -> Any:
        found = []
        for i in range(len(xs)):
            found.append(operator(xs[i], ys[i]))
        return found

    return loop


def at_trip(x: Any, y: Any) -> Factory:
    """Ordinary numbers, and the hostile pair at trip WHEN and at the last one."""

    def make() -> tuple[Any, ...]:
        kind = float if isinstance(x, float) else type(x) if isinstance(x, np.generic) else int
        xs, ys = [kind(7)] * 60, [type(y)(3)] * 60
        xs[WHEN] = xs[-1] = x
        ys[WHEN] = ys[-1] = y
        return xs, ys

    return make


INTS = (LOW, LOW + 1, -65, -1, 0, 1, 63, 64, 65, 2**31, 2**32, TOP - 1, TOP, 2**63, -(2**64))
#: left operands beside which huge right ones would make CPython run out of memory
SMALL = (-65, -1, 0, 1, 2, 39, 40, 63, 64, 65, 200)


@pytest.mark.parametrize("operator", OPERATORS)
def test_integers_at_the_limits(operator: Callable[..., Any]) -> None:
    rights = SMALL if operator in (left, power) else INTS
    compiled: Any = ljit.jit(looped(operator))
    plain = looped(operator)
    check_calls(plain, compiled, [at_trip(7, 3)] * 4)
    assert_native(compiled)
    check_calls(plain, compiled, [at_trip(x, y) for x in INTS for y in rights])


FLOATS = (0.0, -0.0, 5e-324, -2.5, 1e300, 2.0**63, -(2.0**63), 1e19, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize(
    "operator", [add, mul, floordiv, mod, truediv, div_mod, power, signs, compare]
)
def test_floats_at_the_limits(operator: Callable[..., Any]) -> None:
    compiled: Any = ljit.jit(looped(operator))
    plain = looped(operator)
    check_calls(plain, compiled, [at_trip(7.0, 3.0)] * 4)
    assert_native(compiled)
    check_calls(plain, compiled, [at_trip(x, y) for x in FLOATS for y in FLOATS])


def conversions(xs: Any, ys: Any) -> Any:
    found = []
    for x in xs:
        found.append((int(x), round(x), math.floor(x), math.ceil(x), math.trunc(x)))
    return found


def test_floats_that_are_no_integers() -> None:
    edge = (*FLOATS, 9.3e18, -9.3e18, 9223372036854774784.0, -9223372036854777856.0, 0.5, 2.5, -0.5)
    attack(conversions, at_trip(1.25, 1), *(at_trip(x, 1) for x in edge), fresh=False)


DTYPES = ("i1", "u1", "i2", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", "?")


def array_operators(a: Any, b: Any) -> Any:
    c, d = a.copy(), a.copy()
    for i in range(len(a)):
        c[i] = a[i] + b[i] * a[i]
        d[i] = a[i] ** 2 if i % 2 else a[i] * a[i]
    return c, d, a * b, a + b


def array_divisions(a: Any, b: Any) -> Any:
    c, d = a.copy(), a.copy()
    for i in range(len(a)):
        c[i] = a[i] // b[i]
        d[i] = a[i] % b[i]
    return c, d, a // b, a % b, a / b


def array_bits(a: Any, b: Any) -> Any:
    c, d = a.copy(), a.copy()
    for i in range(len(a)):
        c[i] = a[i] << b[i]
        d[i] = a[i] >> b[i]
    return c, d, a << b, a >> b, a & b, a ^ b, ~a


def edges_of(dtype: str) -> np.ndarray:
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        values = [info.min, info.min + 1, 0, 1, 2, 7, info.max // 2, info.max - 1, info.max]
        if kind.kind == "i":
            values += [-1, -2, -7]
    elif kind.kind == "b":
        values = [False, True]
    else:
        low = np.finfo(kind)
        values = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, low.max, low.tiny, 0.1, 3.0]
    return np.array(values, kind)


def in_place(a: Any, b: Any) -> Any:
    found = []
    for i in range(len(a)):
        x = a[i]
        x += b[i]
        x *= b[i]
        found.append(x)
        x -= 1
        x //= b[i]
        found.append(x)
    return found


def all_pairs(dtype: str) -> Factory:
    values = edges_of(dtype)
    return lambda: (np.repeat(values, len(values)), np.tile(values, len(values)))


@pytest.mark.parametrize("function", [array_operators, array_divisions, in_place])
@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_at_the_limits(function: Callable[..., Any], dtype: str) -> None:
    check_calls(function, ljit.jit(function), [all_pairs(dtype)] * 5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_shifts_of_elements(dtype: str) -> None:
    values = edges_of(dtype)
    counts = np.arange(len(values)) * 13 - 20
    if values.dtype.kind in "iu":
        counts = counts.astype(dtype)
    call: Factory = lambda: (np.repeat(values, len(counts)), np.tile(counts, len(values)))  # noqa: E731
    check_calls(array_bits, ljit.jit(array_bits), [call] * 5)


def stored(a: Any, values: Any) -> Any:
    for i in range(len(values)):
        a[i % len(a)] = values[i]
    a[:] = values[0]
    return a


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_that_do_not_fit_the_array(dtype: str) -> None:
    numbers: list[Any] = [-1, 255, 256, TOP, 2**63, 2**64, LOW, LOW - 1, 2.5, math.nan, math.inf]
    numbers += [1e300, -1e300, 1j, True, None, "7", np.float32(1e10), np.int8(-3), [1], 2**200]

    def make(number: Any) -> Factory:
        return lambda: (np.zeros(5, dtype), [1] * 20 + [number] + [1])

    attack(stored, make(1), *map(make, numbers), fresh=False)
    for number in numbers:
        check_calls(stored, ljit.jit(stored), [lambda n=number: (np.zeros(5, dtype), [n] * 9)] * 4)


# -- ranges and indices in native loops ---------------------------------------------------------------


def counted(start: Any, stop: Any, step: Any, limit: Any) -> Any:
    trips = last = 0
    for i in range(start, stop, step):
        trips += 1
        last = i
        if trips == limit:
            break
    else:
        last += 1
    return trips, last


def test_ranges_at_the_limits() -> None:
    edges = (LOW, LOW + 1, -2, 0, 1, 5, TOP - 1, TOP, 2**63, -(2**70))
    steps = (1, -1, 0, 2, TOP, LOW, 2**64)
    attack(
        counted,
        lambda: (0, 50, 1, 60),
        *(lambda a=a, b=b, s=s: (a, b, s, 30) for a in edges for b in edges for s in steps),
        lambda: (0.0, 5, 1, 9),
        lambda: (True, 9, True, 99),
        lambda: (np.int8(0), np.uint64(9), np.int16(2), 99),
        fresh=False,
    )


def affine(a: Any, n: int, factor: int, offset: int) -> Any:
    total = 0
    for i in range(n):
        total = total + a[factor * i + offset]
        a[factor * i + offset] = i
    return total, a


def test_affine_indices_leave_the_array_at_either_end() -> None:
    def make(n: int, factor: int, offset: int, size: int = 100) -> Factory:
        return lambda: (np.arange(size), n, factor, offset)

    cases = [(100, 1, 0), (101, 1, 0), (100, 1, 1), (100, 1, -1), (101, 1, -100), (102, 1, -101)]
    cases += [(50, 2, 0), (51, 2, 0), (50, 2, 1), (100, -1, 99), (101, -1, 99), (200, -1, 99)]
    cases += [(201, -1, 99), (100, 0, 99), (9, 0, 100), (9, 0, -101), (3, TOP, 0), (3, LOW, 0)]
    cases += [(3, TOP, TOP), (3, 2**62, -5), (0, TOP, TOP), (2, 2**64, 0), (5, 7, LOW)]
    attack(
        affine,
        make(50, 1, 0),
        *(make(*case) for case in cases),
        make(1, 1, 0, 0),
        make(1, 1, 0, 1),
        make(2, 1, 0, 1),
        make(0, 1, 0, 0),
        make(1, 1, -1, 1),
        make(2, -1, 0, 1),
        fresh=False,
    )


def window(a: Any, before: int, after: int) -> Any:
    b = np.zeros(len(a))
    for i in range(before, len(a) - after):
        b[i] = a[i - before] + a[i + after] - a[i]
    return b


def test_windows_that_are_wider_than_the_array() -> None:
    def make(size: int, before: int, after: int) -> Factory:
        return lambda: (np.arange(float(size)), before, after)

    sizes, widths = (0, 1, 2, 3, 50), (-51, -3, -1, 0, 1, 2, 3, 60, TOP, LOW)
    attack(
        window,
        make(50, 1, 1),
        *(make(size, b, a) for size in sizes for b in widths for a in widths[:-2]),
        fresh=False,
    )


def triangle(m: Any, n: int, k: int) -> Any:
    total = 0.0
    for i in range(n):
        for j in range(i + k):
            total += m[i, j] + m[j, -i]
            m[i, j] = total
    return total, m


def test_triangles_that_leave_the_matrix() -> None:
    def make(n: int, k: int, rows: int = 8, columns: int = 8) -> Factory:
        return lambda: (np.arange(float(rows * columns)).reshape(rows, columns), n, k)

    attack(
        triangle,
        make(8, 0),
        *(make(n, k) for n in (0, 1, 7, 8, 9) for k in (-9, -1, 0, 1, 2, TOP)),
        make(5, 1, 5, 4),
        make(5, 1, 4, 5),
        make(3, 1, 0, 3),
        make(3, 1, 3, 0),
    )
