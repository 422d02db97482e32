"""Hostile arguments: native code made for ordinary ones, and code made for these, does what CPython does."""

from __future__ import annotations

import contextlib
import gc
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ljit
from tests.programs.harness import Factory, check_calls

LOW, TOP = -(2**63), 2**63 - 1
EDGES = (LOW, LOW + 1, -(2**32), -64, -1, 0, 1, 63, 64, 2**32, TOP - 1, TOP, 2**64, True)
FLOATS = (0.0, -0.0, 1.5, -2.5, 1e300, -1e300, 5e-324, 2.0**63, -(2.0**63), math.inf, math.nan)


def check(
    function: Callable[..., Any], ordinary: Factory, *hostile: Factory, fresh: bool = True
) -> None:
    """Compare calls 1 to 4 on each factory: with code made for `ordinary`, and with code made for them."""
    trained = ljit.jit(function)
    check_calls(function, trained, [ordinary] * 3)
    check_calls(function, trained, [*hostile, *hostile, ordinary])
    for factory in hostile if fresh else ():
        check_calls(function, ljit.jit(function), [factory] * 4)


def values(*arguments: Any) -> Factory:
    """Give the same immutable arguments at each call."""
    return lambda: arguments


def pairs(of: tuple[Any, ...], and_of: tuple[Any, ...]) -> list[Factory]:
    return [values(x, y) for x in of for y in and_of]


BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "truediv": lambda x, y: x / y,
    "floordiv": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "lt": lambda x, y: x < y,
    "eq": lambda x, y: x == y,
    "divmod": lambda x, y: divmod(x, y),
    "min": lambda x, y: min(x, y),
    "max": lambda x, y: max(x, y),
}


@pytest.mark.parametrize("name", BINARY)
def test_integers_at_the_edge(name: str) -> None:
    check(BINARY[name], values(7, 3), *pairs(EDGES, EDGES), fresh=False)
    check(BINARY[name], values(7, 3), values(LOW, -1), values(1, 0), values(TOP, TOP))


@pytest.mark.parametrize(
    "name", ["add", "mul", "truediv", "floordiv", "mod", "lt", "divmod", "min"]
)
def test_floats_and_mixed_numbers_at_the_edge(name: str) -> None:
    check(BINARY[name], values(7.0, 3.0), *pairs(FLOATS, FLOATS), fresh=False)
    check(BINARY[name], values(7, 3.0), *pairs(EDGES, FLOATS), fresh=False)
    check(BINARY[name], values(7.0, 3), *pairs(FLOATS, EDGES), fresh=False)


COUNTS = (-(2**63), -65, -1, 0, 1, 62, 63, 64, 65, 200)


@pytest.mark.parametrize("shift", [lambda x, n: x << n, lambda x, n: x >> n])
def test_shifts_by_any_count_are_those_of_cpython(shift: Callable[..., Any]) -> None:
    check(shift, values(5, 3), *pairs((LOW, -1, 0, 1, TOP), COUNTS), fresh=False)
    check(shift, values(5, 3), values(1, 64), values(1, -1), values(-1, 63))


def test_powers_at_the_limits_are_those_of_cpython() -> None:
    bases = (LOW, -3, -1, 0, 1, 2, 3, 10, TOP, True)
    check(
        lambda x, n: x**n,
        values(3, 4),
        *pairs(bases, (-64, -1, 0, 1, 2, 39, 62, 63, 64, 300)),
        fresh=False,
    )
    check(
        lambda x, n: x**n,
        values(1.5, 2.0),
        *pairs(FLOATS, (0.0, -1.0, 0.5, 2.0, 1e10, math.inf, -math.inf, math.nan)),
        fresh=False,
    )
    check(
        lambda x, n: x**n,
        values(1.5, 2),
        *pairs(FLOATS, (LOW, -1, 0, 1, 3, 1000, TOP)),
        fresh=False,
    )


@pytest.mark.parametrize("convert", [int, round, math.floor, math.ceil, math.trunc], ids=str)
def test_floats_become_integers(convert: Callable[..., Any]) -> None:
    def call(x: float) -> Any:
        return convert(x)

    edge = (*FLOATS, -math.inf, 9.3e18, -9.3e18, 9223372036854774784.0, 0.5, 2.5, -0.5)
    check(call, values(1.25), *map(values, edge), fresh=False)
    check(call, values(1.25), values(math.nan), values(2.0**63), values(math.inf))


@pytest.mark.parametrize(
    "unary",
    [lambda x: -x, lambda x: ~x, lambda x: abs(x), lambda x: +x, lambda x: not x],
    ids=range(5),
)
def test_unary_operators_at_the_limits_are_those_of_cpython(unary: Callable[..., Any]) -> None:
    check(unary, values(3), *map(values, EDGES), fresh=False)


@pytest.mark.parametrize(
    "name",
    ["sqrt", "log", "log2", "log10", "exp", "sin", "acos", "atanh", "gamma", "lgamma", "cosh"],
)
def test_domains_of_math_functions(name: str) -> None:
    call = getattr(math, name)

    def apply(x: float) -> Any:
        return call(x)

    check(apply, values(0.5), *map(values, (*FLOATS, -1.0, 710.0, 1000, 2**70)), fresh=False)


def test_numpy_scalars_at_the_edge() -> None:
    small = [np.int8(-128), np.int8(-1), np.int8(0), np.int8(127)]
    wide = [np.int64(LOW), np.int64(-1), np.int64(0), np.int64(TOP), np.uint64(2**64 - 1)]
    for name in ("add", "mul", "floordiv", "mod", "truediv", "lt"):
        check(BINARY[name], values(np.int8(5), np.int8(3)), *pairs(small, small), fresh=False)
        check(BINARY[name], values(np.int64(5), np.int64(3)), *pairs(wide, wide), fresh=False)
        check(BINARY[name], values(np.int64(5), 3), *pairs(wide, (-1, 0, TOP, 2**64)), fresh=False)


# -- recursion, ranges, indices --------------------------------------------------------------------


def endless(n: int) -> int:
    return endless(n + 1) + 1


def test_endless_recursion_is_an_error_and_no_crash() -> None:
    @ljit.jit
    def compiled(n: int) -> int:
        return compiled(n + 1) + 1

    for _ in range(3):
        with pytest.raises(RecursionError):
            compiled(0)
    with pytest.raises(RecursionError):
        ljit.jit(endless)(0)


def test_recursion_that_has_become_native_still_ends_in_an_error() -> None:
    @ljit.jit
    def down(n: int) -> int:
        return 0 if n == 0 else down(n - 1) + 1

    for _ in range(4):
        assert down(50) == 50
    for _ in range(3):
        with pytest.raises(RecursionError):
            down(10**7)
        assert down(50) == 50


def sum_range(start: int, stop: int, step: int) -> tuple[int, int]:
    total = trips = 0
    for k in range(start, stop, step):
        total += k
        trips += 1
        if trips > 20:
            break
    return total, trips


def test_ranges_at_the_limits_have_the_trips_of_cpython() -> None:
    check(
        sum_range,
        values(0, 9, 2),
        values(9, 0, -2),
        values(0, 9, 0),
        values(0, 9, -1),
        values(LOW, TOP, 1),
        values(TOP, LOW, LOW),
        values(TOP - 3, TOP, 2),
        values(LOW, TOP, TOP),
        values(LOW + 3, LOW, -2),
        values(0, 2**70, 2**68),
        values(TOP, 2**63 + 5, 1),
        values(5, 5, 1),
        values(0.0, 1, 1),
    )


def test_lengths_and_items_of_ranges() -> None:
    check(
        lambda r, i: (r[i], len(r), i in r),
        values(range(10), 3),
        values(range(10), 10),
        values(range(10), -11),
        values(range(10), -10),
        values(range(0), 0),
        values(range(LOW, TOP), 1),
        values(range(9, 0, -4), 2),
        values(range(TOP - 2, TOP), -1),
        values(range(0, 2**70), 5),
    )


INDICES = (-6, -5, -4, -1, 0, 3, 4, 5, 6, LOW, TOP, 2**64, True, np.int8(-5), 1.0, None)


@pytest.mark.parametrize("make", [lambda: np.arange(5.0), lambda: [1.0] * 5, lambda: (1.0,) * 5])
def test_indices_off_by_one(make: Callable[[], Any]) -> None:
    def read(a: Any, i: int) -> Any:
        return a[i]

    def write(a: Any, i: int) -> Any:
        a[i] = 7.0
        a[i] += 1.0
        return a

    factories: list[Factory] = [lambda i=i: (make(), i) for i in INDICES]
    check(read, lambda: (make(), 2), *factories, fresh=False)
    check(write, lambda: (make(), 2), *factories, fresh=False)
    check(read, lambda: (make(), 2), lambda: (make(), 5), lambda: (make(), -6))


def test_indices_of_matrices() -> None:
    def both(m: np.ndarray, i: int, j: int) -> Any:
        m[i, j] += 1.0
        m[i] -= 2.0
        return m[i][j], m[i, j], m[:, j]

    def factory(i: int, j: int) -> Factory:
        return lambda: (np.arange(12.0).reshape(3, 4), i, j)

    check(
        both,
        factory(1, 1),
        *(factory(i, j) for i in (-4, -3, 2, 3) for j in (-5, -4, 3, 4, LOW)),
        fresh=False,
    )


def test_slices_with_any_ends_give_the_same_parts() -> None:
    def cut(a: np.ndarray, start: Any, stop: Any, step: Any) -> Any:
        part = a[start:stop:step]
        return part.sum(), part.shape, part

    edges = (LOW, -6, -5, 0, 2, 5, 6, TOP, None)
    for step in (1, -1, 2, -3, TOP, LOW, 0):
        check(
            cut,
            lambda: (np.arange(5.0), 1, 3, 1),
            *(lambda i=i, j=j, k=step: (np.arange(5.0), i, j, k) for i in edges for j in edges),
            fresh=False,
        )


# -- arrays ----------------------------------------------------------------------------------------


def reductions(a: np.ndarray) -> Any:
    total = 0.0
    for x in a:
        total += x
    return total, a.sum(), a.mean(), a * 2.0, a.prod(), np.sqrt(a + 1.0)


def extremes(a: np.ndarray) -> Any:
    return a.max(), a.min(), a.argmax()


def swapped(a: np.ndarray) -> np.ndarray:
    return a.astype(a.dtype.newbyteorder())


def unaligned() -> np.ndarray:
    raw = np.zeros(5 * 8 + 1, np.uint8)
    view = raw[1:].view(np.float64)
    view[:] = np.arange(5.0)
    return view


def readonly() -> np.ndarray:
    a = np.arange(5.0)
    a.setflags(write=False)
    return a


class Meters(np.ndarray):
    """A subclass with an operator of its own."""

    def __mul__(self, other: Any) -> Any:
        return np.asarray(self) * other + 100.0


def structured() -> np.ndarray:
    return np.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")])


STRANGE: list[Factory] = [
    lambda: (np.empty(0),),
    lambda: (np.empty((0, 3)),),
    lambda: (np.empty((3, 0)),),
    lambda: (np.array(3.0),),
    lambda: (swapped(np.arange(5.0)),),
    lambda: (unaligned(),),
    lambda: (readonly(),),
    lambda: (np.array([1, 2.5, None], dtype=object),),
    lambda: (np.array([1, 2, 3], dtype=object),),
    lambda: (structured(),),
    lambda: (structured()["b"],),
    lambda: (np.arange(5.0).view(Meters),),
    lambda: (np.ma.masked_array([1.0, 2.0], [True, False]),),
    lambda: (np.array(["a", "b"]),),
    lambda: (np.array(["2020-01-01"], dtype="M8[D]"),),
    lambda: (np.broadcast_to(np.array(2.0), (4,)),),
    lambda: (np.array([LOW, TOP]),),
    lambda: (np.array([255, 1], np.uint8),),
    lambda: (np.array([True, False]),),
    lambda: (np.array([np.nan, 1.0, np.inf]),),
    lambda: (np.arange(5, dtype=np.longdouble),),
    lambda: (np.arange(5, dtype=np.float16),),
    lambda: ([1.0, 2.0],),
    lambda: (None,),
    lambda: (np.float64(3.0),),
]


@pytest.mark.parametrize("function", [reductions, extremes])
def test_code_made_for_a_plain_array_meets_strange_ones(function: Callable[..., Any]) -> None:
    check(function, lambda: (np.arange(5.0),), *STRANGE, fresh=False)


@pytest.mark.parametrize("position", range(len(STRANGE)))
def test_code_made_for_strange_arrays(position: int) -> None:
    check_calls(reductions, ljit.jit(reductions), [STRANGE[position]] * 4)


def test_writes_to_strange_arrays() -> None:
    def write(a: np.ndarray) -> Any:
        a[0] = 5
        a[1:] += a[:-1]
        a[:] = a * 2
        return a

    check(write, lambda: (np.arange(5.0),), *STRANGE, fresh=False)
    check(write, lambda: (np.arange(5.0),), lambda: (readonly(),), lambda: (unaligned(),))


OVERLAPS = {
    "forward": lambda a: (a[1:], a[:-1]),
    "backward": lambda a: (a[:-1], a[1:]),
    "reversed": lambda a: (a, a[::-1]),
    "same": lambda a: (a, a),
    "interleaved": lambda a: (a[::2], a[: (len(a) + 1) // 2]),
    "all from one": lambda a: (a, np.broadcast_to(a[2:3], a.shape)),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_writes_through_overlapping_views_are_those_of_numpy(name: str) -> None:
    def work(out: np.ndarray, x: np.ndarray) -> Any:
        out[:] = x * 2.0 + out
        out += x
        out[:] = x
        np.add(out, x, out=out)
        out *= x[0]
        return out, x

    def loop(out: np.ndarray, x: np.ndarray) -> Any:
        for i in range(len(out)):
            out[i] = x[i] + out[i - 1]
        return out.sum(), x.sum()

    def apart() -> tuple[Any, ...]:
        return np.arange(9.0), np.arange(9.0) + 1

    for function in (work, loop):
        check(function, apart, lambda: OVERLAPS[name](np.arange(9.0)))


def test_shapes_that_do_not_fit() -> None:
    def work(x: np.ndarray, y: np.ndarray) -> Any:
        x[:] = y
        x += y
        return x + y, x @ y

    shapes = ((0,), (1,), (4,), (5,), (2, 4), (4, 1), (1, 1), ())
    check(
        work,
        lambda: (np.ones(4), np.ones(4)),
        *(lambda p=p, q=q: (np.ones(p), np.ones(q)) for p in shapes for q in shapes),
        fresh=False,
    )


# -- objects ---------------------------------------------------------------------------------------


def add_up(xs: Any) -> Any:
    total = 0
    for x in xs:
        total += x
    return total


class Odd:
    """Iterates by __getitem__, and adds as nobody does."""

    def __getitem__(self, i: int) -> int:
        if i > 3:
            raise IndexError(i)
        return i

    def __radd__(self, other: Any) -> Any:
        return other


class Whole(int):
    def __add__(self, other: Any) -> Any:
        return "added"

    __radd__ = __add__


def broken() -> Iterator[int]:
    yield 1
    raise ValueError("broken")


class Once:
    """Has an iterator; equal to another if as many items of it are left."""

    __slots__ = ("iterator",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, iterator: Iterator[Any]) -> None:
        self.iterator = iterator

    def __iter__(self) -> Iterator[Any]:
        return self.iterator

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Once) and list(self.iterator) == list(other.iterator)


ITERABLES: list[Factory] = [
    lambda: (Once((k for k in range(4))),),
    lambda: (Once(iter([1, 2, 3])),),
    lambda: (Once(broken()),),
    lambda: (Odd(),),
    lambda: ({1: 2, 3: 4},),
    lambda: ({5},),
    lambda: (b"abc",),
    lambda: ("abc",),
    lambda: (7,),
    lambda: ([1, 2.5, True, 2**70, None],),
    lambda: ([1] * 20 + ["x"],),
    lambda: ([1] * 20 + [2**62, 2**62, 2**62],),
    lambda: ([Whole(3), 1],),
    lambda: (np.arange(4),),
    lambda: (range(4),),
    lambda: (Once(map(operator.neg, [1, 2])),),
    lambda: (Once(zip([1], [2], strict=True)),),
    lambda: ((),),
]


def test_iterables_of_all_kinds() -> None:
    check(add_up, lambda: ([1, 2, 3],), *ITERABLES)


def test_iterators_that_are_left_halfway() -> None:
    def first_two(once: Once) -> Any:
        total = 0
        for k, x in enumerate(once.iterator):
            total += x
            if k:
                break
        return total

    iterators = [make for make in ITERABLES if isinstance(make()[0], Once)]
    check(first_two, lambda: (Once(iter([1, 2, 3])),), *iterators)


def test_lists_that_change_while_they_are_iterated() -> None:
    def grow(xs: list[Any], limit: int) -> Any:
        seen = 0
        for x in xs:
            seen += x
            if len(xs) < limit:
                xs.append(x + 1)
            elif x % 3 == 0:
                xs.pop()
        return seen

    check(grow, lambda: ([1, 2], 2), lambda: ([1, 2], 9), lambda: ([3, 3, 3, 3], 0))


def test_types_that_are_new_at_call_1000() -> None:
    def mix(x: Any, y: Any) -> Any:
        return x * 2 + y

    compiled = ljit.jit(mix)
    for k in range(1000):
        assert compiled(k, 1) == 2 * k + 1
    strange = (
        1.5,
        "ab",
        [1],
        (1,),
        None,
        True,
        2**80,
        1j,
        np.float32(2),
        np.ones(2),
        Whole(2),
        Odd(),
    )
    check_calls(mix, compiled, [values(x, y) for x in strange for y in strange])
    assert compiled(5, 1) == 11


def test_more_and_fewer_arguments() -> None:
    def three(a: int, b: int = 2, *rest: int, c: int = 3) -> Any:
        return a + b + c, rest

    compiled: Any = ljit.jit(three)
    for _ in range(4):
        assert compiled(1) == three(1)
        assert compiled(1, 2, 3, 4, c=5) == three(1, 2, 3, 4, c=5)
        for arguments, keywords in (((), {}), ((1,), {"a": 1}), ((1,), {"d": 1})):
            with pytest.raises(TypeError):
                compiled(*arguments, **keywords)


class Emptier:
    """Garbage that empties a list when it is collected."""

    def __init__(self, target: list[Any]) -> None:
        self.target, self.cycle = target, self

    def __del__(self) -> None:
        self.target.clear()


def ends_and_middle(x: Any) -> Any:
    a, *b, c = x
    return a, b, c


def test_a_list_that_a_collection_empties_while_it_is_unpacked():
    compiled = ljit.jit(ends_and_middle)
    for x in ([object(), 1, "a", None], (object(), "b")):
        for _ in range(3):
            assert compiled(x) == ends_and_middle(x)
    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(500):
            items = [object(), "a", None, object()]
            Emptier(items)
            with contextlib.suppress(ValueError):  # if it was empty before
                assert len(compiled(items)[1]) == 2
    finally:
        gc.set_threshold(*thresholds)
