"""Long functions: what a compile has to do grows with their length, not with its square, and what they do stays right."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Sequence
from types import FunctionType

import pytest

import ljit

_PHI = re.compile(r" = phi \S+ (.*)")


def function_of(name: str, lines: Sequence[str]) -> FunctionType:
    """Define the function `name` whose text is `lines`."""
    file = f"<{name} of {len(lines)} lines>"
    text = "\n".join(lines) + "\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, object] = {}
    exec(compile(text, file, "exec"), names)
    found = names[name]
    assert isinstance(found, FunctionType)
    return found


def calls_of_a_parameter(count: int) -> FunctionType:
    """Each call gives an object that the function holds to its end, and may leave it."""
    calls = [f" x{i + 1} = g(x{i})" for i in range(count)]
    results = ", ".join(f"x{i}" for i in range(count + 1))
    return function_of("calls", ["def calls(g, x0):", *calls, f" return [{results}]"])


def phi_operands(ir: str) -> int:
    return sum(found[1].count("[") for found in _PHI.finditer(ir))


def test_objects_that_are_held_to_the_end_are_no_operands_of_each_way_out():
    counts = []
    for length in (30, 60):
        f = ljit.jit(calls_of_a_parameter(length))
        for _ in range(3):
            f(str, 1)
        counts.append(phi_operands(f.dump_llvm(optimized=True)))
    assert counts[1] < 3 * counts[0]


class Wrapped:
    """Wraps a value, and refuses to when the `left`-th of its calls comes."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self, value: object) -> list[object]:
        self.left -= 1
        if self.left == 0:
            raise ValueError("no more")
        return [value]


@pytest.mark.parametrize("left", [1, 2, 17, 39, 40])
def test_a_long_function_that_raises_gives_all_references_back(left: int):
    f, kept = ljit.jit(calls_of_a_parameter(40)), object()
    for _ in range(3):
        f(Wrapped(0), kept)
    assert f.specializations
    before = sys.getrefcount(kept)
    with pytest.raises(ValueError, match="no more"):
        f(Wrapped(left), kept)
    assert sys.getrefcount(kept) == before


def test_a_long_function_owns_its_results_as_often_as_in_python():
    plain = calls_of_a_parameter(40)
    f, kept = ljit.jit(plain), object()
    for _ in range(3):
        f(Wrapped(0), kept)
    counts = [list(map(sys.getrefcount, call(Wrapped(0), kept))) for call in (plain, f)]
    assert counts[0] == counts[1]
