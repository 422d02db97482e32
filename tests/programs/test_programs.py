"""Every program gives what CPython gives: on calls 1 to 5, with changing types, and with failing guards."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import ljit
from ljit.testing.chaos import fail_each_guard
from tests.programs import harness
from tests.programs.harness import CALLS, PROGRAMS, Factory, Program, check_calls

for _path in sorted(Path(__file__).parent.glob("*.py")):
    if _path.stem not in ("harness", "test_programs"):
        importlib.import_module(f"tests.programs.{_path.stem}")

EACH_PROGRAM = pytest.mark.parametrize("program", PROGRAMS, ids=[p.name for p in PROGRAMS])


def test_the_corpus_is_large_and_without_repeated_names() -> None:
    names = [p.name for p in PROGRAMS]
    assert len(names) >= 75
    assert len(set(names)) == len(names)


@EACH_PROGRAM
def test_calls_1_to_5_agree_with_cpython(program: Program) -> None:
    for factory in program.factories:
        check_calls(program.function, ljit.jit(program.function), [factory] * CALLS, program.ulp)


@EACH_PROGRAM
def test_types_that_change_call_by_call_agree_with_cpython(program: Program) -> None:
    calls = list(program.factories) * 3
    check_calls(program.function, ljit.jit(program.function), calls, program.ulp)


@EACH_PROGRAM
def test_any_failing_guard_agrees_with_cpython(program: Program) -> None:
    """Each guard is made to fail in turn; the bailout must not change anything."""
    for factory in program.factories:
        check_with_failing_guards(program, factory)


def check_with_failing_guards(program: Program, factory: Factory) -> None:
    compiled = ljit.jit(program.function)
    for _ in range(2):
        harness.run(compiled, harness.make_args(factory))
    for _site in fail_each_guard(compiled):
        check_calls(program.function, compiled, [factory], program.ulp)
