"""Random array programs give what NumPy gives: interpreted, native, on odd arguments, and with each guard failing.

`FUZZ_SEEDS=FIRST:LAST pytest tests/fuzz/test_arrays.py` runs other seeds than CI does.
"""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from ljit.testing.random_array_programs import (
    is_exact,
    make_array_function,
    random_array_arguments,
    random_array_program,
)
from tests.fuzz.outcomes import sharing
from tests.programs.harness import Bound, Factory, Outcome, Ulps, difference, make_args, run

FIRST, LAST = map(int, os.environ.get("FUZZ_SEEDS", "0:14").split(":"))
POWER = re.compile(r"\*\*(=| (?!2\b|3\b))")  # rounded; NumPy's depend on the processor
EXTREME = re.compile(r"min|max|clip|ptp")  # of 0.0 and -0.0 any is right
CALLS = (0, 1, 2, 0, 3, 4, 5, 6, 7, 1)  # equal types at first, then odd ones


def arguments(seed: int, call: int) -> Factory:
    return lambda: random_array_arguments(seed, call)


def bound(seed: int, outcome: Outcome) -> Ulps:
    """Give what rounding may do: nothing, or so much of the largest number around."""
    program = random_array_program(seed)
    if is_exact(seed) and not POWER.search(program):
        return Bound(0.0) if EXTREME.search(program) else 0
    parts = (*(outcome.value or ()), *outcome.args.positional)
    numbers = [np.abs(np.asarray(x)) for x in parts if np.asarray(x).dtype.kind in "fiuc"]
    finite = [float(x[np.isfinite(x)].max(initial=1.0)) for x in numbers]
    is_narrow = "float32" in program or any(
        np.asarray(x).dtype in (np.float32, np.int16, np.uint16)
        for x in parts  # or becomes float32
    )
    return Bound((2e-3 if is_narrow else 1e-9) * max(finite))


def check(plain: Any, compiled: Any, seed: int, call: int, where: str = "") -> None:
    expected = run(plain, make_args(arguments(seed, call)))
    actual = run(compiled, make_args(arguments(seed, call)))
    found = difference(expected, actual, bound(seed, expected), sharing)
    assert found is None, f"seed {seed}, arguments {call}{where}: {found}"


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_a_random_array_program_does_what_it_does_in_numpy(seed: int) -> None:
    plain = make_array_function(seed)
    compiled = ljit.jit(plain)
    for call in CALLS:
        check(plain, compiled, seed, call)


@pytest.mark.parametrize("seed", range(FIRST, LAST, 3))
def test_a_random_array_program_survives_each_failing_guard(seed: int) -> None:
    plain = make_array_function(seed)
    compiled = ljit.jit(plain)
    for _ in range(2):
        check(plain, compiled, seed, 0)
    for site in fail_each_guard(compiled):
        check(plain, compiled, seed, 0, where=f", where this fails: {site}")
