"""While NumPy is set to do more than warn, calls do what it is set to; native code stays for when it is not."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit
from ljit.config import overridden
from ljit.ops.arrays.float_settings import is_loud


def reciprocals(a, first=1.0):
    return first / a


def sum_of_reciprocals(a, n):
    total = np.float64(0)
    for i in range(n):
        total += 1.0 / a[i % len(a)]
    return total


def without_arrays(n):
    total = 0.0
    for i in range(n):
        total += 1e308 * i
    return total


def sum_in_blocks(n):
    total = 0
    for i in range(n):
        total += i * i ^ (i >> 1)
    return total


def hash_of_low_bits(n):
    x = 1
    for i in range(n):
        x = (x * 25214903917 + i) & 0xFFFFFFFFFFFF
    return x


def quotient(x, y):
    return x // y


_QUIET = {"divide": "ignore", "over": "warn", "under": "ignore", "invalid": "warn"}
_ARRAY, _ZEROS = np.array([4.0, 2.0]), np.array([1.0, 0.0])


def native(function: Callable[..., Any], *args: Any, **settings: int) -> Any:
    compiled: Any = ljit.jit(function)
    with overridden(**settings):
        for _ in range(3):
            compiled(*args)
    return compiled


def native_calls(compiled: Any) -> int:
    return sum(info.calls for info in compiled.specializations)


@pytest.mark.parametrize("settings", [{}, {"quick_runs": 0}], ids=["quick", "optimised"])
@pytest.mark.parametrize(
    ("function", "ordinary", "failing"),
    [
        (reciprocals, (_ARRAY,), (_ZEROS,)),
        (sum_of_reciprocals, (_ARRAY, 5), (_ZEROS, 5)),
        (quotient, (np.int64(7), np.int64(2)), (np.int64(7), np.int64(0))),
        (quotient, (np.float32(7), np.float32(2)), (np.float32(7), np.float32(0))),
    ],
)
def test_native_code_raises_as_numpy_is_told_to(
    function: Callable[..., Any], ordinary: Any, failing: Any, settings: dict[str, int]
) -> None:
    compiled = native(function, *ordinary, **settings)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as expected:
        function(*failing)
    before = native_calls(compiled)
    for _ in range(70):  # more often than native code may be called with what it does not take
        with np.errstate(all="raise"), pytest.raises(FloatingPointError) as found:
            compiled(*failing)
        assert str(found.value) == str(expected.value)
    assert native_calls(compiled) == before
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(compiled(*failing), function(*failing))
    assert native_calls(compiled) == before + 1
    assert [info.compiles for info in compiled.specializations] == [1]


@pytest.mark.parametrize("kind", ["divide", "over", "under", "invalid"])
@pytest.mark.parametrize("what", ["raise", "call", "print", "log", "warn", "ignore"])
def test_each_setting_of_each_kind_counts(kind: str, what: str) -> None:
    compiled = native(reciprocals, _ARRAY)
    before = native_calls(compiled)
    settings: Any = {**_QUIET, kind: what}
    with np.errstate(**settings):
        compiled(_ARRAY)
        is_quiet = what in ("warn", "ignore")
        assert is_loud() is not is_quiet
    assert native_calls(compiled) == before + is_quiet


def test_functions_are_called_with_what_went_wrong() -> None:
    seen: list[tuple[str, int]] = []
    compiled = native(reciprocals, _ARRAY)
    with np.errstate(divide="call", call=lambda *what: seen.append(what)):
        assert compiled(_ZEROS)[1] == np.inf
    assert seen == [("divide by zero", 1)]


def test_keywords_callees_and_loops_look_at_the_settings() -> None:
    """The caller has nothing of NumPy's of its own; the first call enters an outlined loop."""
    inner: Any = ljit.jit(sum_of_reciprocals)

    def outer(n):
        return inner(np.array([1.0, 0.0]), n)

    with np.errstate(all="ignore"):
        compiled, by_keyword = native(outer, 5), native(reciprocals, _ARRAY)
        for _ in range(20):
            by_keyword(first=2.0, a=_ARRAY)
    looped: Any = ljit.jit(sum_of_reciprocals)
    for call in (
        lambda: compiled(5),
        lambda: by_keyword(first=2.0, a=_ZEROS),
        lambda: looped(_ZEROS, 100_000),
    ):
        with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
            call()


def test_a_loop_that_makes_the_settings_loud_is_not_entered() -> None:
    def loop(n, change):
        total = 0.0
        for i in range(n):
            if i == 3:
                change(over="raise")
            total = total + np.float64(1e300) * i
        return total

    def change(**settings: Any) -> None:
        np.seterr(**settings)

    compiled: Any = ljit.jit(loop)
    with np.errstate(over="ignore"), pytest.raises(FloatingPointError, match="overflow"):
        compiled(100_000, change)
    assert all(plan.unit is None for plan in compiled._executor.outlined.plans.values())


@pytest.mark.parametrize("function", [without_arrays, sum_in_blocks, hash_of_low_bits])
def test_numbers_of_python_s_own_are_none_of_numpy_s(function: Callable[..., Any]) -> None:
    """Nor are the integers of NumPy's that passes use for them."""
    compiled = native(function, 3, quick_runs=0)
    before = native_calls(compiled)
    with np.errstate(all="raise"):
        assert compiled(100) == function(100)
    assert native_calls(compiled) == before + 1


def test_settings_are_those_of_the_context() -> None:
    compiled = native(reciprocals, _ARRAY)
    elsewhere = contextvars.copy_context()
    elsewhere.run(lambda: np.seterr(divide="raise"))
    with pytest.raises(FloatingPointError):
        elsewhere.run(compiled, _ZEROS)
    with np.errstate(divide="ignore"):
        assert compiled(_ZEROS)[1] == np.inf


def test_functions_that_say_that_they_wrap_one_another_are_called():
    def halved(x):
        return x / 2

    def doubled(x):
        return x * 2

    halved.__wrapped__, doubled.__wrapped__ = doubled, halved

    @ljit.jit
    def both(x):
        return halved(x) + doubled(x)

    assert [both(1.0) for _ in range(4)] == [2.5] * 4


class Loud:
    """Sets what NumPy does; what it is called when native code is made says nothing of that."""

    what: Any = "raise"

    def __enter__(self) -> None:
        self.before = np.seterr(all=self.what)

    def __exit__(self, *raised: object) -> None:
        np.seterr(**self.before)


class Quiet(Loud):
    what = "ignore"


def within(a, state):
    with state:
        return 1.0 / a


def in_a_loop(a, state):
    total = np.float64(0.0)
    for i in range(40):
        total = total + 1.0 / a[i % 2]
        if i == 33:
            state.__enter__()
    return total


def behind_what_raised(a, state):
    total = np.float64(0.0)
    for i in range(3):
        try:
            state.__enter__()
            total = total + [1.0, 2.0][i + 1]
        except IndexError:
            total = total + 1.0 / a[1]
    return total


def by_a_callee(a, state):
    def inner():
        state.__enter__()

    inner()
    return a * a / a


@pytest.mark.parametrize("settings", [{}, {"quick_runs": 0}], ids=["quick", "optimised"])
@pytest.mark.parametrize("function", [within, in_a_loop, behind_what_raised, by_a_callee])
def test_settings_that_unknown_code_changes_count_from_there_on(
    function: Callable[..., Any], settings: dict[str, int]
) -> None:
    compiled, zeros = ljit.jit(function), np.array([1.0, 0.0])
    with overridden(cold_calls=0, **settings):
        for state in [Quiet] * 4 + [Loud] * 4 + [Quiet] * 2:
            outcomes = []
            for run in (function, compiled):
                with np.errstate(all="ignore"):
                    try:
                        outcomes.append(repr(run(zeros, state())))
                    except FloatingPointError as error:
                        outcomes.append(repr(error))
            assert outcomes[0] == outcomes[1]
            assert outcomes[0].startswith("Floating") is (state is Loud)


def test_code_that_most_calls_leave_for_settings_is_given_up() -> None:
    state = Loud()
    state.what = "warn"
    compiled = native(within, _ARRAY, state, quick_runs=0)
    state.what = "raise"
    for _ in range(70):
        assert compiled(_ARRAY, state)[0] == 0.25
    assert [info.compiles for info in compiled.specializations] == [1]
    reason = "most calls leave native code: NumPy is set to do more than warn"
    assert reason in compiled.explain()
