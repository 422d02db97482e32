"""Calls of NumPy's functions with odd operands do what they do under CPython, in whatever native code they have.

All functions are compiled, also those in which nothing gains by it. `FUZZ_SEEDS=FIRST:LAST pytest
tests/fuzz/test_numpy_calls.py` runs other seeds than CI does.
"""

from __future__ import annotations

import linecache
import os
from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.runtime import native
from ljit.testing.chaos import fail_each_guard, has_native_code
from tests.fuzz.numpy_calls import random_call
from tests.fuzz.outcomes import largest_number, numbers_of
from tests.programs.harness import HERE, Bound, Outcome, difference, make_args, run

FIRST, LAST = map(int, os.environ.get("FUZZ_SEEDS", "0:4").split(":"))
CALLS_OF_SEED = 160  # four times this is more than there are forms
SHORT = (
    "f2",
    "f4",
    "c8",
    "b1",
    "i1",
    "u1",
    "i2",
    "u2",
)  # NumPy computes some functions of them in float32
PRODUCTS = ("@", "dot", "matmul", "inner", "einsum")


def load(text: str, filename: str) -> Any:
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"np": np, "__name__": "calls"}
    exec(compile(text, filename, "exec"), names)
    return names["f"]


def bound(expected: Outcome) -> Bound:
    """What sums in another order and functions of another library may be off; whole numbers are compared exactly."""
    is_short = any(x.dtype.str[1:] in SHORT for x in numbers_of(expected))
    return Bound((3e-6 if is_short else 4e-15) * largest_number(expected))


def forget_infinities(outcome: Outcome) -> None:
    """Of complex numbers products of matrices may give an infinity or NaN."""
    for x in numbers_of(outcome):
        if isinstance(x, np.ndarray) and x.dtype.kind == "c" and x.ndim and x.flags.writeable:
            x[~np.isfinite(x)] = np.nan


def check(plain: Any, compiled: Any, factory: Any, where: str) -> None:
    expected, actual = run(plain, make_args(factory)), run(compiled, make_args(factory))
    if any(product in where for product in PRODUCTS):
        forget_infinities(expected)
        forget_infinities(actual)
    found = difference(expected, actual, bound(expected))
    assert found is None, f"{where}: {found}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_calls_of_numpy_with_odd_operands_agree_with_cpython(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "is_worthwhile", lambda *_args, **_settings: True)
    with config.overridden(cold_calls=False, quick_runs=0), np.errstate(all="ignore"):
        for number in range(seed * CALLS_OF_SEED, (seed + 1) * CALLS_OF_SEED):
            text, factory = random_call(number)
            plain = load(text, f"{HERE[0]}/call {number}")
            compiled = ljit.jit(plain)
            for call in range(1, 5):
                check(plain, compiled, factory, f"call {call} of {number}\n{text}")
            if number % 8 == 0 and has_native_code(compiled):
                for site in fail_each_guard(compiled):
                    check(plain, compiled, factory, f"{site} in {number}\n{text}")
