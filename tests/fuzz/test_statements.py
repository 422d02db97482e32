"""Random programs of NumPy statements do what they do under CPython, also with other sizes and dtypes later on.

All functions are compiled, also those in which nothing gains by it. `FUZZ_SEEDS=FIRST:LAST pytest
tests/fuzz/test_statements.py` runs other seeds than CI does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.runtime import native
from ljit.testing.chaos import eager_loops, fail_each_guard, has_native_code
from ljit.testing.random_programs import make_function
from tests.fuzz.outcomes import largest_number, sharing
from tests.fuzz.statements import OTHER_DTYPES, VARIANTS, Program, random_program
from tests.programs.harness import Bound, Outcome, difference, make_args, run

FIRST, LAST = map(int, os.environ.get("FUZZ_SEEDS", "0:30").split(":"))


@pytest.fixture(autouse=True)
def all_is_compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(native, "is_worthwhile", lambda *_args, **_settings: True)
    with config.overridden(cold_calls=False), np.errstate(all="ignore"):
        yield


def made(seed: int) -> tuple[Program, Callable[..., Any]]:
    program = random_program(seed)
    return program, make_function(program.text, f"statements{seed}")


def bound(program: Program, expected: Outcome, variant: int) -> Bound:
    """What sums in another order and functions of another library may be off."""
    largest = largest_number(expected)
    if program.is_single or variant == OTHER_DTYPES:
        return Bound(1e-4 * largest)
    return Bound((1e-9 if program.is_rounded else 1e-12) * largest)


def check(program: Program, plain: Any, compiled: Any, variant: int, where: str = "") -> None:
    expected, actual = (
        run(f, make_args(lambda: program.arguments(variant))) for f in (plain, compiled)
    )
    found = difference(expected, actual, bound(program, expected, variant), sharing)
    assert found is None, f"arguments {variant}{where}: {found}\n{program.text}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_random_statements_do_what_they_do_in_numpy(seed: int) -> None:
    program, plain = made(seed)
    with config.overridden(quick_runs=0 if seed % 3 else 200_000):
        compiled = ljit.jit(plain)
        for variant in VARIANTS:
            check(program, plain, compiled, variant)
        if seed % 5 == 0 and has_native_code(compiled):
            for site in fail_each_guard(compiled):
                check(program, plain, compiled, 0, f", where this fails: {site}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(FIRST, LAST, 4))
def test_random_statements_do_so_in_loops_that_are_compiled_in_the_midst(seed: int) -> None:
    program, plain = made(seed)
    with eager_loops():
        check(program, plain, ljit.jit(plain), 0)
