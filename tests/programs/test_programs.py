"""Every program gives what CPython gives: on calls 1 to 5, with changing types, and with failing guards."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import ljit
from ljit.testing.chaos import eager_loops, fail_each_guard, fail_each_loop_guard
from tests.programs import harness
from tests.programs.harness import CALLS, PROGRAMS, Factory, Program, check_calls

for _path in sorted(Path(__file__).parent.glob("*.py")):
    if _path.stem not in ("harness", "test_programs", "test_harness"):
        importlib.import_module(f"tests.programs.{_path.stem}")

TRANSLATED = [p for p in PROGRAMS if p.is_translated]
REFUSED = [p for p in PROGRAMS if not p.is_translated]
FOR_EVER = 10**9


def each(programs: list[Program]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", programs, ids=[p.name for p in programs])


def test_the_corpus_is_large_and_without_repeated_names() -> None:
    names = [p.name for p in PROGRAMS]
    assert len(names) >= 200
    assert len(set(names)) == len(names)


@each(TRANSLATED)
def test_program_is_translated(program: Program) -> None:
    ljit.jit(program.function, strict=True)


@each(REFUSED)
def test_strict_refuses_what_is_left_to_cpython(program: Program) -> None:
    with pytest.raises(ljit.UserError) as caught:
        ljit.jit(program.function, strict=True)
    assert caught.value.where is not None
    assert program.function.__name__ in ljit.jit(program.function).explain()


@each(TRANSLATED)
def test_interpreter_agrees_with_cpython(program: Program) -> None:
    compiled = ljit.jit(program.function)
    check_calls(program.function, compiled.run_interpreted, program.factories, program.ulp)


@each(PROGRAMS)
def test_calls_1_to_5_and_each_failing_guard_agree_with_cpython(program: Program) -> None:
    """After the second call, which is native, each guard is made to fail in turn: it must not matter."""
    for factory in program.factories:
        compiled = ljit.jit(program.function)
        check_calls(program.function, compiled, [factory] * 2, program.ulp)
        if program.is_translated:
            for _site in fail_each_guard(compiled):
                check_calls(program.function, compiled, [factory], program.ulp)
        check_calls(program.function, compiled, [factory] * (CALLS - 2), program.ulp)


@each(PROGRAMS)
def test_types_that_change_call_by_call_agree_with_cpython(program: Program) -> None:
    calls = list(program.factories) * 3
    check_calls(program.function, ljit.jit(program.function), calls, program.ulp)


@each(TRANSLATED)
def test_outlined_loops_agree_with_cpython(program: Program) -> None:
    """No call is compiled as a whole, every loop is as soon as it has run twice."""
    compiled = ljit.jit(program.function, num_profiled_runs=FOR_EVER)
    with eager_loops():
        check_calls(program.function, compiled, list(program.factories) * 2, program.ulp)


@each(TRANSLATED)
def test_any_failing_guard_of_outlined_loops_agrees_with_cpython(program: Program) -> None:
    for factory in program.factories[:2]:  # whole functions run them all
        compiled = ljit.jit(program.function, num_profiled_runs=FOR_EVER)
        with eager_loops():
            warm_up(compiled, factory)
            for _site in fail_each_loop_guard(compiled):
                check_calls(program.function, compiled, [factory], program.ulp)


def warm_up(compiled: object, factory: Factory) -> None:
    for _ in range(2):
        harness.run(compiled, harness.make_args(factory))
