"""Programs on buffers between protected pages; run as a script by test_guarded.py.

Each case says its name before it starts: the last name printed is the case that died.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

import ljit
from ljit.testing.guarded import guarded_array
from tests.adversarial.harness import assert_native
from tests.object_files import keep_object_files
from tests.programs.harness import Factory, check_calls

Place = Literal["end", "start"]
SIZES = (33, 0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 64, 65, 129, 513, 1000)
REALS = ("f8", "f4", "i8", "i4", "u1", "i2")


# -- loops -----------------------------------------------------------------------------------------


def total(a: Any) -> Any:
    s = a[:0].sum()
    for i in range(len(a)):
        s = s + a[i]
    return s


def total_backwards(a: Any) -> Any:
    s = 0
    for i in range(len(a) - 1, -1, -1):
        s = s * 3 + a[i] + a[-i - 1]
    return s


def total_of_every_third(a: Any) -> Any:
    s = 0
    for i in range(2, len(a), 3):
        s = s + a[i]
    return s


def largest(a: Any) -> Any:
    best = None
    for x in a:
        if best is None or x > best:
            best = x
    return best


def fill(a: Any) -> Any:
    for i in range(len(a)):
        a[i] = i % 100
    return a


def double(a: Any) -> Any:
    for i in range(a.shape[0]):
        a[i] = a[i] + a[i]
    return a


def swap_ends(a: Any) -> Any:
    n = len(a)
    for i in range(n // 2):
        a[i], a[n - 1 - i] = a[n - 1 - i], a[i]
    return a


def stencil(a: Any) -> Any:
    b = np.zeros_like(a)
    for i in range(1, len(a) - 1):
        b[i] = a[i - 1] // 4 + a[i] // 2 + a[i + 1] // 4
    return b


def stencil_into_itself(a: Any) -> Any:
    for i in range(1, len(a) - 1):
        a[i] = a[i - 1] // 2 + a[i + 1] // 2
    return a


def prefix(a: Any) -> Any:
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return a


def one_too_far(a: Any) -> Any:
    s = 0
    for i in range(len(a) + 1):
        s = s + a[i]
    return s


def one_too_low(a: Any) -> Any:
    s = 0
    for i in range(len(a) + 2):
        s = s + a[-i]
    return s


def store_one_too_far(a: Any) -> Any:
    for i in range(len(a)):
        a[i + 1] = a[i] + 1
    return a


def stencil_one_too_far(a: Any) -> Any:
    for i in range(len(a)):
        a[i] = a[i - 1] // 2 + a[i + 1] // 2
    return a


def by_index(a: Any) -> Any:
    s = 0
    n = len(a)
    order = np.arange(n) * 7 % (n + 1)  # now and then one too far
    for i in range(n):
        s = s + a[order[i]]
    return s


def while_loop(a: Any) -> Any:
    i = s = 0
    while i < len(a) and a[i] < 100:
        s = s + a[i] * 2
        i += 1
    return s, i


LOOPS = [
    total,
    total_backwards,
    total_of_every_third,
    largest,
    fill,
    double,
    swap_ends,
    stencil,
    stencil_into_itself,
    prefix,
    one_too_far,
    one_too_low,
    store_one_too_far,
    stencil_one_too_far,
    by_index,
    while_loop,
]


def matrix_sum(m: Any) -> Any:
    s = 0
    for j in range(m.shape[1]):
        for i in range(m.shape[0]):
            s = s + m[i, j]
    return s


def product(m: Any) -> Any:
    rows, columns = m.shape
    c = np.zeros((rows, rows))
    for i in range(rows):
        for j in range(rows):
            for k in range(columns):
                c[i, j] += m[i, k] * m[j, k]
    return c


def five_points(m: Any) -> Any:
    b = m.copy()
    for i in range(1, m.shape[0] - 1):
        for j in range(1, m.shape[1] - 1):
            b[i, j] = m[i - 1, j] + m[i + 1, j] + m[i, j - 1] + m[i, j + 1] - m[i, j]
    return b


def rows(m: Any) -> Any:
    s = 0
    for row in m:
        for x in row:
            s = s + x
        row[:] = s
    return m


def corner_too_far(m: Any) -> Any:
    s = 0
    for i in range(m.shape[0]):
        for j in range(m.shape[1] + 1):
            s = s + m[i, j]
    return s


MATRICES = [matrix_sum, product, five_points, rows, corner_too_far]


# -- whole arrays ----------------------------------------------------------------------------------


def fused(a: Any) -> Any:
    return (a + a) * 2 - a


def fused_in_place(a: Any) -> Any:
    a *= 2
    a += a[::-1]
    a[1:] -= a[:-1]
    a[:-1] = a[1:]
    return a


def chosen(a: Any) -> Any:
    return np.where(a > 2, a, -a), (a == a).all(), (a > 3).sum()


def reduced(a: Any) -> Any:
    return a.sum(), a.mean() if a.size else 0, a.max() if a.size else 0, a.any(), a.all()


def converted(a: Any) -> Any:
    return a.astype(np.float32), a.astype(np.int16), a.copy(), a > 0


def copied_between(a: Any) -> Any:
    half = a.shape[0] // 2
    a[:half] = a[half : 2 * half]
    a[a.shape[0] - half :] = a[:half] + 1
    return a


WHOLE = [fused, fused_in_place, chosen, reduced, converted, copied_between]


def stencil_nest(m: Any) -> Any:
    m[1:-1, 1:-1] += m[2:, 1:-1] + m[:-2, 1:-1] - m[1:-1, 2:] * m[1:-1, :-2]
    m[1:, 1:] = m[:-1, :-1] + m[1:, :-1]
    m[:, -1:] = m[:, :1]
    return m


def reduced_axes(m: Any) -> Any:
    rows, columns = m.sum(axis=1, keepdims=True), m.sum(axis=0)
    return m - rows, m * columns, (m * m).sum(), m.any(axis=0), (m > 2).sum(axis=1)


def row_by_row(m: Any) -> Any:
    if m.size == 0:
        return m
    shifted = m - m.max(axis=-1, keepdims=True)
    return shifted / (shifted.sum(axis=-1, keepdims=True) - 1.0)


def picked(m: Any) -> Any:
    return np.where(m > 3, m, -m), m[::2, 1:] * 2.0, np.sqrt(m.T), m[:, ::-1] + m[::-1]


NESTS = [stencil_nest, reduced_axes, row_by_row, picked]


# -- buffers ---------------------------------------------------------------------------------------


def plain(n: int, dtype: str, at: Place) -> np.ndarray:
    return guarded_array(n, dtype, at)


def every_second(n: int, dtype: str, at: Place) -> np.ndarray:
    return guarded_array(max(2 * n - 1, 0), dtype, at)[::2]


def reversed_(n: int, dtype: str, at: Place) -> np.ndarray:
    return guarded_array(n, dtype, at)[::-1]


def every_third_reversed(n: int, dtype: str, at: Place) -> np.ndarray:
    return guarded_array(max(3 * n - 2, 0), dtype, at)[::-3]


def unaligned(n: int, dtype: str, at: Place) -> np.ndarray:
    size = n * np.dtype(dtype).itemsize
    raw = guarded_array(size + 1, "u1", at)
    return (raw[1:] if at == "start" else raw[:-1]).view(dtype)


def swapped(n: int, dtype: str, at: Place) -> np.ndarray:
    return guarded_array(n, np.dtype(dtype).newbyteorder(), at)


def field(n: int, dtype: str, at: Place) -> np.ndarray:
    return guarded_array(n, [("before", "i4"), ("it", dtype)], at)["it"]


def readonly(n: int, dtype: str, at: Place) -> np.ndarray:
    a = guarded_array(n, dtype, at)
    return np.lib.stride_tricks.as_strided(a, writeable=False)


Buffer = Callable[[int, str, Place], np.ndarray]
BUFFERS: list[Buffer] = [
    plain, every_second, reversed_, every_third_reversed, unaligned, swapped, field, readonly,
]  # fmt: skip


#: with these, and arrays that are not aligned, NumPy may do all the work
BOXED: list[Buffer] = [swapped, readonly]


def filled(a: np.ndarray) -> np.ndarray:
    values = (np.arange(a.size) * 7 % 11).reshape(a.shape)
    if a.flags.writeable:
        a[...] = values
    return a


def of_sizes(buffer: Buffer, dtype: str) -> Iterator[Factory]:
    for n in SIZES:
        for at in ("end", "start"):
            yield lambda n=n, at=at: (filled(buffer(n, dtype, at)),)  # type: ignore[misc]


def matrix(n: int, m: int, at: Place, kind: str) -> np.ndarray:
    if kind == "rows":
        return filled(guarded_array((n, m), "f8", at))
    if kind == "columns":
        return filled(guarded_array((m, n), "f8", at).T)
    return filled(guarded_array((n, max(2 * m - 1, 0)), "f8", at)[::-1, ::2])


def matrices(kind: str) -> Iterator[Factory]:
    for n, m in ((5, 6), (0, 3), (3, 0), (1, 1), (1, 9), (9, 1), (2, 2), (8, 8), (17, 33)):
        for at in ("end", "start"):
            yield lambda n=n, m=m, at=at: (matrix(n, m, at, kind),)  # type: ignore[misc]


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    function: Callable[..., Any]
    calls: list[Factory]
    is_native: bool = True


def cases(group: str) -> Iterator[Case]:
    if group in ("matrices", "nests"):
        for function in MATRICES if group == "matrices" else NESTS:
            for kind in ("rows", "columns", "every second"):
                name = f"{function.__name__} of {kind}"
                yield Case(name, function, list(matrices(kind)))
        return
    functions, is_loop = (LOOPS, True) if group == "loops" else (WHOLE, False)
    for number, function in enumerate(functions):
        for buffer in BUFFERS:
            dtypes = REALS if buffer is plain else REALS[number % 3 :: 3]
            for dtype in dtypes if not is_loop else dtypes[number % 2 :: 2]:
                name = f"{function.__name__} of {dtype}, {buffer.__name__}"
                calls = list(of_sizes(buffer, dtype))
                is_aligned = all(make()[0].flags.aligned for make in calls)  # type: ignore[index]
                yield Case(name, function, calls, is_aligned and buffer not in BOXED)


def main(group: str) -> None:
    for case in cases(group):
        print(case.name, flush=True)
        compiled: Any = ljit.jit(case.function)
        check_calls(case.function, compiled, [*case.calls[:1] * 3, *case.calls])
        if case.is_native:
            assert_native(compiled)
    print("done", flush=True)


if __name__ == "__main__":
    keep_object_files()
    main(sys.argv[1])
