"""The harness itself sees every difference that it promises to see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.programs.harness import Args, check_calls, compare, difference, run


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (True, 1),
        (0.0, -0.0),
        (1.0, np.float64(1.0)),
        (1.0, 1.0000000000000002),
        (0j, complex(-0.0, 0.0)),
        (np.float32(1), np.float64(1)),
        (np.zeros(2), np.zeros(3)),
        (np.zeros(2), np.array([0.0, -0.0])),
        (np.zeros(2, dtype=">f8"), np.zeros(2)),
        (np.zeros((2, 1)), np.zeros((1, 2))),
        (np.array(1.0), np.float64(1.0)),
        ([1], (1,)),
        ([1, [2]], [1, [2.0]]),
        ({"a": 1}, {"a": 1.0}),
        (np.array(["a"], dtype=object), np.array([1], dtype=object)),
        ("a", b"a"),
        (None, 0),
    ],
)
def test_different_values_are_told_apart(a: Any, b: Any) -> None:
    assert compare(a, b) is not None
    assert compare(b, a) is not None
    assert compare(a, a) is None


@pytest.mark.parametrize(
    "x", [float("nan"), complex(float("nan"), 1), np.float32("nan"), np.array([np.nan, 1j])]
)
def test_nan_equals_nan(x: Any) -> None:
    assert compare(x, -x if isinstance(x, float) else x) is None


def test_ulp_tolerance_is_narrow() -> None:
    x = np.array([1.0, 1e300])
    assert compare(x, np.nextafter(x, np.inf), ulp=1) is None
    assert compare(x, x * (1 + 1e-15), ulp=1) is not None


def test_mutated_arguments_differ() -> None:
    def append(xs: list[int]) -> None:
        xs.append(1)

    expected, actual = run(append, Args(([],))), run(lambda xs: None, Args(([],)))
    assert "arguments differ" in str(difference(expected, actual))


def test_other_output_is_a_difference() -> None:
    assert "outputs differ" in str(difference(run(lambda: print(1), Args()), run(print, Args())))


def test_aliasing_of_result_and_argument_differs() -> None:
    a = np.zeros(2)
    expected, actual = run(lambda x: x[:], Args((a,))), run(lambda x: x.copy(), Args((a,)))
    assert "aliasing differs" in str(difference(expected, actual))


def test_line_of_an_exception_differs() -> None:
    def on_one_line(x: int) -> float:
        return 1 / x

    def on_another_line(x: int) -> float:
        return 1 / x

    expected, actual = run(on_one_line, Args((0,))), run(on_another_line, Args((0,)))
    assert "exceptions differ" in str(difference(expected, actual))


def test_printed_tracebacks_differ() -> None:
    def failing(*notes: str) -> Callable[[], None]:
        def fail() -> None:
            error = ValueError()
            for note in notes:
                error.add_note(note)
            raise error

        return fail

    check_calls(failing(), failing("odd"), [tuple])
    check_calls(failing("odd"), failing("odd"), [tuple], texts=True)
    with pytest.raises(AssertionError):
        check_calls(failing(), failing("odd"), [tuple], texts=True)
