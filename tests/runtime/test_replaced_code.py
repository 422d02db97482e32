"""Functions whose `__code__` is replaced do what their new code says, wherever native code calls them."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit
from ljit.config import overridden


def twice(x):
    return 2 * x


def halved(x):
    return x / 2


def with_default(x, y=1):
    return x * y


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def triangular(n):
    return 0 if n < 1 else n + triangular(n - 1)


def count_up(n):
    for i in range(n):
        yield i


def count_down(n):
    for i in range(n):
        yield n - i


def total(xs):
    result = 0.0
    for x in xs:
        result += twice(x)
    return result


def sum_of_factorials(n):
    result = 0
    for i in range(n):
        result += factorial(i)
    return result


def sum_of_steps(n):
    result = 0
    for i in count_up(n):
        result = 3 * result + i
    return result


def sum_by_default(n):
    result = 0
    for i in range(n):
        result += with_default(i)
    return result


_NUMBERS = np.arange(20.0)


@pytest.fixture
def replace() -> Any:
    """Give functions the code of others, for the time of a test."""
    before: list[tuple[Any, types.CodeType]] = []

    def change(function: Any, other: Any) -> None:
        before.append((function, function.__code__))
        function.__code__ = other.__code__

    yield change
    for function, code in reversed(before):
        function.__code__ = code


def check(function: Callable[..., Any], compiled: Any, *args: Any) -> None:
    for _ in range(4):
        found, expected = compiled(*args), function(*args)
        assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize("settings", [{}, {"quick_runs": 0}], ids=["quick", "optimised"])
@pytest.mark.parametrize(
    ("function", "callee", "other", "args"),
    [
        (total, twice, halved, (_NUMBERS,)),
        (sum_of_factorials, factorial, triangular, (8,)),  # called through its twin
        (sum_of_steps, count_up, count_down, (9,)),
        (sum_by_default, with_default, lambda x, y: x - y, (9,)),
    ],
)
def test_callees_are_inlined_anew(
    function: Callable[..., Any],
    callee: Any,
    other: Any,
    args: Any,
    settings: dict[str, int],
    replace: Any,
) -> None:
    compiled: Any = ljit.jit(function)
    with overridden(**settings):
        check(function, compiled, *args)
        before = function(*args)
        replace(callee, other)
        assert function(*args) != before
        check(function, compiled, *args)
    assert [info.state.startswith("native") for info in compiled.specializations] == [True]


def test_a_decorated_function_can_be_given_other_code(replace: Any) -> None:
    def loop(xs):
        result = 0.0
        for x in xs:
            result += x
        return result

    def other_loop(ys):
        result = 1.0
        for y in ys:
            result *= y + 1.0
        return result

    compiled: Any = ljit.jit(loop)
    check(loop, compiled, _NUMBERS)
    replace(compiled, other_loop)
    assert compiled.__code__ is other_loop.__code__
    check(other_loop, compiled, _NUMBERS)
    assert compiled(ys=_NUMBERS) == other_loop(_NUMBERS)
    assert compiled.specializations[0].calls > 0


def test_native_callers_see_that_a_decorated_callee_has_other_code(replace: Any) -> None:
    inner: Any = ljit.jit(factorial)

    def outer(n):
        result = 0
        for i in range(n):
            result += inner(i)
        return result

    compiled: Any = ljit.jit(outer)
    check(outer, compiled, 9)
    replace(factorial, triangular)
    expected = sum(triangular(i) for i in range(9))
    for _ in range(4):
        assert compiled(9) == inner(8) + sum(map(triangular, range(8))) == expected


def test_running_calls_go_on_with_what_they_began(replace: Any) -> None:
    """Native code of the old function is left and returned to after it was given up."""

    def loop(n, callback):
        result = 0
        for i in range(n):
            result += callback(i)
        return result

    def other_loop(n, callback):
        return -callback(n)

    compiled: Any = ljit.jit(loop)
    for _ in range(5):
        assert compiled(10, abs) == 45
    seen: list[int] = []

    def callback(i: int) -> int:
        if i == 4:
            replace(compiled, other_loop)
            seen.append(compiled(10, abs))
        return 2**70 if i == 6 else i

    assert compiled(10, callback) == 2**70 + 39
    assert seen == [-10]
    assert [compiled(3, abs) for _ in range(4)] == [-3] * 4
