"""The programs of tests/programs with random changes, and with changed arguments, give what CPython gives.

Each seed changes one of forty programs, by their names, and the arguments of one of eighty: other programs do not matter
to it. `FUZZ_SEEDS=FIRST:LAST pytest tests/fuzz/test_mutations.py` runs other seeds than CI does; eighty in a row change
all of them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import linecache
import os
import random
import re
import resource
import signal
import textwrap
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config
from tests.fuzz.changed_arguments import with_changes
from tests.fuzz.mutations import Mutator
from tests.fuzz.outcomes import largest_number, numbers_of
from tests.programs.harness import (
    HERE,
    PROGRAMS,
    Bound,
    Factory,
    Outcome,
    Program,
    Ulps,
    difference,
    make_args,
    run,
)

FIRST, LAST = map(int, os.environ.get("FUZZ_SEEDS", "0:2").split(":"))
PARTS = 40
SECONDS = 3  # that CPython has for a program
MEMORY = 8 << 30  # bytes of addresses, beyond which it has no more
#: ends that differ: by the line (CPython 3.11 names that of an earlier instruction), the depth, the room that there is
NOT_COMPARED = (UnboundLocalError, RecursionError, MemoryError)
#: what gives other last bits than NumPy, and how many units of them an ordinary program makes of that
INEXACT = re.compile(
    r"sin|cos|tan|exp|log|sqrt|pow|sum|mean|var|std|dot|@|prod|einsum|matmul|norm|\*\* [^\d]"
)
ULPS = 2**14
SEQUENCE = 6  # of arguments, changed and not, for one function
#: what an ordinary program makes of rounding, as a part of its largest number: by the shortest floats that it has
ROUNDING = {"e": 2e-2, "f": 1e-4, "F": 1e-4}

for _path in sorted(Path(HERE[0]).glob("*.py")):
    if _path.stem not in ("harness", "test_programs", "test_harness"):
        importlib.import_module(f"tests.programs.{_path.stem}")


def cases(parts: int = PARTS) -> list[Any]:
    return [
        pytest.param(program, seed, id=f"{program.name}-{seed}")
        for seed in range(FIRST, LAST)
        for program in PROGRAMS
        if zlib.crc32(program.name.encode()) % parts == seed % parts
    ]


def changed(program: Program, seed: int) -> Callable[..., Any] | None:
    """The function with some changes; None: it is no program any more."""
    chosen = random.Random(f"{program.name} {seed}")
    tree = ast.parse(textwrap.dedent(inspect.getsource(program.function)))
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.decorator_list = []
    for _ in range(chosen.choice((1, 1, 2, 2, 3, 5))):
        Mutator(function, chosen).change()
    text, file = ast.unparse(tree), f"{HERE[0]}/changed/{program.name}.{seed}.py"
    variables = {"np": np, **program.function.__globals__}
    try:
        exec(compile(text, file, "exec"), variables)
    except SyntaxError:  # a way out that is in no loop any more
        return None
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    made = variables[function.name]
    assert isinstance(made, FunctionType)
    return made


def is_comparable(function: Callable[..., Any], factories: Sequence[Factory]) -> bool:
    """Whether it ends, and does the same each time: a child process looks, which can be ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of 3.12: the test runner has threads
        child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            is_stable = does_the_same(function, factories)
        except BaseException:
            is_stable = False
        os._exit(0 if is_stable else 1)
    deadline = time.monotonic() + SECONDS
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
    return ended[1] == 0


def does_the_same(function: Callable[..., Any], factories: Sequence[Factory]) -> bool:
    outcomes = [run(function, make_args(f)) for f in factories for _ in range(2)]
    ends = [outcome.failure.cls for outcome in outcomes if outcome.failure is not None]
    if any(issubclass(end, NOT_COMPARED) for end in ends):
        return False
    return not any(map(difference, outcomes[::2], outcomes[1::2]))


@pytest.mark.parametrize(("program", "seed"), cases())
def test_a_changed_program_does_what_it_does_in_cpython(program: Program, seed: int) -> None:
    function = changed(program, seed)
    if function is None or not is_comparable(function, program.factories):
        pytest.skip("no program, or one that does other things each time")
    is_inexact = INEXACT.search("".join(linecache.getlines(function.__code__.co_filename)))
    ulp = ULPS if is_inexact and program.ulp in range(ULPS) else program.ulp
    with config.overridden(cold_calls=False, quick_runs=0 if seed % 2 else 200_000):
        compiled = ljit.jit(function)
        for factory in program.factories * 3:
            expected = run(function, make_args(factory))
            found = difference(expected, run(compiled, make_args(factory)), ulp)
            assert found is None, found


def bound(program: Program, text: str, expected: Outcome) -> Ulps:
    if program.ulp == 0 and INEXACT.search(text) is None:
        return 0
    shortest = max(ROUNDING.get(x.dtype.char, 1e-9) for x in (*numbers_of(expected), np.zeros(1)))
    return Bound(shortest * largest_number(expected))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("program", "seed"), cases(2 * PARTS))
def test_a_program_does_what_it_does_in_cpython_with_changed_arguments(
    program: Program, seed: int
) -> None:
    chosen = random.Random(f"arguments {program.name} {seed}")
    factories = [chosen.choice(program.factories) for _ in range(SEQUENCE)]
    factories[1:] = [with_changes(f, chosen.random()) for f in factories[1:]]
    factories = [f for f in factories if is_comparable(program.function, (f,))]
    text = inspect.getsource(program.function)
    with config.overridden(cold_calls=False, quick_runs=0 if seed % 2 else 200_000):
        compiled = ljit.jit(program.function)
        for factory in (*factories, *factories, *factories[::-1], *factories):
            expected, actual = (run(f, make_args(factory)) for f in (program.function, compiled))
            found = difference(expected, actual, bound(program, text, expected))
            assert found is None, f"{found} of {make_args(factory).positional!r}"
