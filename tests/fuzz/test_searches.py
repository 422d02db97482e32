"""Loops that look for something, and loops that load what the trip before has stored, on hostile arrays.

Native code leaves blocks of trips out (`passes/skip_trips`), or carries elements from trip to trip
(`passes/forward_stores`). The arrays end at a protected page, are one another's memory, have gaps or go backwards;
they have numbers that are none, and the ends of their ints. `FUZZ_SEEDS=FIRST:LAST pytest tests/fuzz/test_searches.py`
runs other seeds than CI does.
"""

from __future__ import annotations

import os
import random
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.testing.chaos import fail_each_guard, has_native_code
from ljit.testing.guarded import guarded_array
from tests.programs.harness import check_calls

FIRST, LAST = map(int, os.environ.get("FUZZ_SEEDS", "0:10").split(":"))
SIZES = (90, 90, 90, 0, 1, 2, 3, 31, 32, 33, 34, 63, 64, 65, 66, 70, 97, 128)
_TERMS = (
    *(
        "a[i]",
        "a[i]",
        "b[i]",
        "m[r, i]",
        "a[i] - b[i]",
        "abs(a[i] - x)",
        "a[n - 1 - i]",
        "a[i + 1]",
    ),
    *("(a[i] if b[i] > x else b[i])", "(a[i] - x) * (a[i] - x) + b[i]", "-a[i]", "a[i] * k"),
)
_CONDITIONS = (
    *("b[i] > x", "i != place", "b[i] != 0 and a[i] / b[i] > x", "i < len(b)", "not a[i] == x"),
    *("i + k < len(a) and a[i + k] < x", "x < a[i] < x + 50", "b[i] >= 0 or a[i] > b[i]"),
)
_DEEDS = (
    *("place = i", "place = i", "count += 1", "a[i] = x", "b[place] = 3", "b[i + 1] = best"),
    *("high = best", "a[(i + 40) % n] = best", "if count > 2: break", "best, high = high, best"),
)
_ENDS = ("break", "return i, best, place", "raise ValueError(i)", "count += 1; break")
_TRIPS = (
    *("range(n)", "range(n)", "range(len(a))", "range(1, n)", "range(n - 2, -1, -1)"),
    *("range(n - 1)", "range(k, n)", "range(n + 9)"),
)


def indented(lines: list[str], by: int) -> str:
    return textwrap.indent("\n".join(lines), " " * by)


def search(chosen: random.Random) -> str:
    """A function that looks for records, or for where it ends."""
    pick = chosen.choice
    if chosen.random() < 0.75:
        term = pick(_TERMS)
        condition = f"{term} {pick(('<', '>', '<=', '>='))} best"
        if chosen.random() < 0.3:
            condition = pick((f"{pick(_CONDITIONS)} and {condition}", f"not ({condition})"))
        lines = [f"if {condition}:", f"    best = {term}"]
        lines += [f"    {pick(_DEEDS)}" for _ in range(pick((0, 1, 1, 2)))]
    else:
        lines = [f"if {pick(_TERMS)} {pick(('<', '>', '=='))} x:", f"    {pick(_ENDS)}"]
    if chosen.random() < 0.25:
        lines += [f"{pick(('if', 'elif'))} a[i] > high:", "    high = a[i]"]
    if chosen.random() < 0.25:
        lines = [f"if {pick(_CONDITIONS)}:", *("    " + line for line in lines)]
    if chosen.random() < 0.25:
        left = pick((*_CONDITIONS, "i >= len(b)"))
        lines.insert(0, f"if {left}: {pick(('continue', 'break'))}")
    text = f"for i in {pick(_TRIPS)}:\n{indented(lines, 4)}\n"
    if chosen.random() < 0.3:
        text = f"for r in range(2):\n{textwrap.indent(text, '    ')}"
    if chosen.random() < 0.2:
        text = f"try:\n{textwrap.indent(text, '    ')}except IndexError:\n    count += 1000\n"
    return (
        "def f(a, b, m, n, k, x):\n    best, high, place, count, r = a[0], b[0], 0, 0, 0\n"
        f"{textwrap.indent(text, '    ')}    return best, high, place, count\n"
    )


def recurrence(chosen: random.Random) -> str:
    """A function that stores elements of a matrix, and loads them in the next trip.

    In every second one that is so in some trips only, as with ``m[x, k + 2]`` and ``m[x - 1, y]``.
    """
    pick, step = chosen.choice, chosen.choice((1, -1))
    line, loaded = pick((("y", "y"), ("y", "k + 2"), ("y", "y"), ("k + 2", "y")))
    is_row = line == loaded and chosen.random() < 0.7

    def element(array: str, ahead: int, line: str = line) -> str:
        place = (line, f"x + {ahead}") if is_row else (f"x + {ahead}", line)
        return f"{array}[{', '.join(place)}]"

    def other(arrays: str = "mmooq") -> str:
        other_line = pick(("y", "y", "y + 1", "y - 1", "x", "k + 2"))
        return element(pick(arrays), chosen.randrange(-2, 3), other_line)

    def operand() -> str:
        return pick((other(), other(), element("m", 0), "k", "t"))

    ahead = pick((0, 0, 1, -1))
    lines = [
        f"t = {element('m', ahead - step, loaded)}",
        f"{element('m', ahead)} {pick(('=', '=', '+='))} t * 0.5 + {operand()}",
    ]
    for _ in range(pick((0, 1, 1, 2)) if line == loaded else 0):
        store = f"{other('mmo')} {pick(('=', '+='))} {operand()}"
        if chosen.random() < 0.2:
            store = f"if t > {operand()}: {store}"
        lines.insert(pick((len(lines), len(lines), 1)), store)
    if chosen.random() < 0.3:
        lines.append(f"s = {operand()}")
    trips = "range(2, n - 2)" if step > 0 else "range(n - 3, 1, -1)"
    second = pick(("np.zeros((n, n))",) * 4 + ("q",))
    return (
        f"import numpy as np\n\ndef f(m, q, k):\n    n, s, t = len(m), 0.0, 0.0\n    o = {second}\n"
        f"    for y in range(2, n - 2):\n        for x in {trips}:\n"
        f"{indented(lines, 12)}\n    return s, o\n"
    )


class Arguments:
    """Makes the arguments of each call of a function; those of the first ones are alike."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.dtype = random.Random(seed).choice(("f8",) * 6 + ("f4", "i8", "i4", "u1", "f2"))

    def array(self, chosen: random.Random, shape: tuple[int, ...], *, is_hostile: bool) -> Any:
        values = np.random.default_rng(chosen.randrange(2**32)).permutation(int(np.prod(shape)))
        array = guarded_array(shape, self.dtype, chosen.choice(("end", "start")))
        array[...] = (values % 120).reshape(shape)
        if not is_hostile or not array.size:
            return array
        limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
        odd = (np.nan, np.inf, -np.inf, -0.0) if limits is None else (limits.min, limits.max)
        for _ in range(chosen.choice((0, 1, 5))):
            array[tuple(map(chosen.randrange, shape))] = chosen.choice(odd)
        kind = chosen.randrange(5)
        if kind == 0:
            return np.repeat(array, 2, axis=-1)[..., ::2]
        return array[::-1] if kind == 1 else array

    def of_search(self, call: int) -> tuple[Any, ...]:
        chosen, n, is_hostile = self._begin(call)
        a, b, m = (
            self.array(chosen, shape, is_hostile=is_hostile) for shape in ((n,), (n,), (2, n))
        )
        if is_hostile:
            b = chosen.choice((b, b, a, a[::-1], b[:-3], m[0]))
        x = chosen.choice((31.0, 3.0, float("nan"), -0.0, 64)) if is_hostile else 7.0
        return a, b, m, n, chosen.choice((1, 2, 40)) if is_hostile else 1, x

    def of_recurrence(self, call: int) -> tuple[Any, ...]:
        chosen, n, is_hostile = self._begin(call)
        n = n % 17 if is_hostile else 14
        big = self.array(chosen, (n + 1, n), is_hostile=is_hostile)
        m, q = big[:n], self.array(chosen, (n, n), is_hostile=is_hostile)
        if is_hostile:
            q = chosen.choice((q, m, m.T, big[1:], q[:-1], np.asfortranarray(q)))
        return m, q, 1

    def _begin(self, call: int) -> tuple[random.Random, int, bool]:
        return random.Random(self.seed * 100 + call), SIZES[call % len(SIZES)], call > 2


@pytest.mark.parametrize("kind", [search, recurrence])
@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_loops_on_hostile_arrays_agree_with_cpython(kind: Any, seed: int, tmp_path: Path) -> None:
    text, path = kind(random.Random(seed)), tmp_path / "made.py"
    path.write_text(text, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)
    made, f = Arguments(seed), ljit.jit(names["f"])
    given = made.of_search if kind is search else made.of_recurrence
    with config.overridden(quick_runs=0, cold_calls=False), np.errstate(all="ignore"):
        check_calls(names["f"], f, [partial(given, call) for call in range(2 * len(SIZES))])
        if has_native_code(f):
            for _ in fail_each_guard(f):
                check_calls(names["f"], f, [partial(given, call) for call in (0, 12)])
