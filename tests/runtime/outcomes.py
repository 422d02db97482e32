"""Compare calls with CPython's, all frames of exceptions included."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.programs.harness import Args, compare


@dataclass(frozen=True)
class Outcome:
    value: Any
    args: Args
    failure: tuple[Any, ...] | None
    frames: list[tuple[str, int]]


def outcome(function: Callable[..., Any], args: Args) -> Outcome:
    try:
        value = function(*args.positional, **args.keywords)
    except Exception as error:
        # frame 0 is this function's
        frames = [(f.f_code.co_name, n) for f, n in traceback.walk_tb(error.__traceback__)][1:]
        cause = error.__cause__ and (type(error.__cause__), str(error.__cause__))
        return Outcome(None, args, (type(error), str(error), cause), frames)
    return Outcome(value, args, None, [])


def assert_same_calls(
    function: Callable[..., Any], compiled: Callable[..., Any], calls: Callable[[], Iterator[Args]]
) -> None:
    """Make the same calls on equal fresh arguments; everything must agree."""
    for number, (plain, mine) in enumerate(zip(calls(), calls(), strict=True), start=1):
        expected, actual = outcome(function, plain), outcome(compiled, mine)
        where = f"call {number} of {function.__name__}"
        assert actual.failure == expected.failure, where
        assert actual.frames == expected.frames, where
        assert compare(expected.value, actual.value) is None, where
        assert compare(expected.args.positional, actual.args.positional) is None, where


def asserts(x, y):  # not in a test module: pytest rewrites the assert statements of those
    z = x + y
    assert z < 10, f"{z} is too much"
    return z
