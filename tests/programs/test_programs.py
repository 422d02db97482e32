"""Every program gives what CPython gives: on calls 1 to 5, with changing types, and with failing guards."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType

import pytest

import ljit
from ljit import config
from ljit.analysis.held_callees import HeldCallees
from ljit.runtime.baseline import Baseline
from ljit.testing.chaos import (
    eager_loops,
    fail_each_guard,
    fail_each_loop_guard,
    has_native_code,
    native_graphs,
)
from ljit.value_types import type_of
from tests.programs.harness import CALLS, PROGRAMS, Factory, Program, check_calls, make_args

for _path in sorted(Path(__file__).parent.glob("*.py")):
    if _path.stem not in ("harness", "test_programs", "test_harness"):
        importlib.import_module(f"tests.programs.{_path.stem}")

TRANSLATED = [p for p in PROGRAMS if p.is_translated]
REFUSED = [p for p in PROGRAMS if not p.is_translated]
FOR_EVER = 10**9
MAKE_BASELINE = Baseline.of
BASELINES: dict[tuple[FunctionType, bool], Baseline] = {}


def each(programs: list[Program]) -> pytest.MarkDecorator:
    """One case each; all tests of a program run one after the other, since they share what they compile."""
    ids = [p.name for p in programs]
    return pytest.mark.parametrize("program", programs, ids=ids, scope="module")


def test_the_corpus_is_large_and_without_repeated_names() -> None:
    names = [p.name for p in PROGRAMS]
    assert len(names) >= 200
    assert len(set(names)) == len(names)


def test_most_programs_are_translated() -> None:
    assert len(TRANSLATED) > 0.85 * len(PROGRAMS)


@each(REFUSED)
def test_strict_refuses_what_is_left_to_cpython(program: Program) -> None:
    with pytest.raises(ljit.UserError) as caught:
        ljit.jit(program.function, strict=True)
    assert caught.value.where is not None
    assert program.function.__name__ in ljit.jit(program.function).explain()


@each(TRANSLATED)
def test_program_is_translated_and_the_interpreter_agrees_with_cpython(program: Program) -> None:
    compiled = ljit.jit(program.function, strict=True)
    check_calls(program.function, compiled.run_interpreted, program.factories, program.ulp)


@pytest.fixture(autouse=True)
def equal_baselines_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Baseline, "of", baseline_of)


def baseline_of(
    fn: FunctionType,
    twin_of: Callable[[FunctionType], object],
    held: HeldCallees,
    *,
    profiles_operators: bool = False,
) -> Baseline:
    """The baseline of a program that an earlier test made, if no other function is called through it."""
    key = fn, profiles_operators
    if held.by_place or key not in BASELINES:
        twins: list[FunctionType] = []

        def noted_twin(called: FunctionType) -> object:
            twins.append(called)
            return twin_of(called)

        made = MAKE_BASELINE(fn, noted_twin, held, profiles_operators=profiles_operators)
        if twins or held.by_place:
            return made
        BASELINES[key] = made
    return BASELINES[key]


def groups_of(program: Program) -> list[list[Factory]]:
    """The factories by the types that they give: those of one group run the same native code."""
    groups: dict[object, list[Factory]] = {}
    for factory in program.factories:
        args = make_args(factory)
        keywords = [(name, type_of(x)) for name, x in args.keywords.items()]
        groups.setdefault((*map(type_of, args.positional), *keywords), []).append(factory)
    return list(groups.values())


@each(PROGRAMS)
def test_types_that_change_call_by_call_agree_with_cpython(program: Program) -> None:
    """The code is quick until all arguments of its types were given, and optimised then: at a call, or in the midst of one."""
    calls = list(program.factories) * 3
    with config.overridden(quick_runs=max(map(len, groups_of(program)))):
        check_calls(program.function, ljit.jit(program.function), calls, program.ulp, texts=True)


@each(PROGRAMS)
def test_calls_1_to_5_and_each_failing_guard_agree_with_cpython(program: Program) -> None:
    """After the second call, which is native, each guard is made to fail in turn: it must not matter.

    Here each pass is checked; the other tests check what comes out of the last one.
    """
    with config.overridden(check=config.CHECK_PASSES):
        for compiled, factories in native_codes(program):
            for _site in fail_each_guard(compiled):
                check_calls(program.function, compiled, factories, program.ulp, texts=True)
            check_calls(program.function, compiled, factories * (CALLS - 2), program.ulp)


def native_codes(program: Program) -> Iterator[tuple[ljit.Function, list[Factory]]]:
    """Compile the program for the first calls of each factory; give one of those whose code is alike, and their factories."""
    codes: dict[object, tuple[ljit.Function, list[Factory]]] = {}
    for factory in program.factories:
        compiled = ljit.jit(program.function)
        check_calls(program.function, compiled, [factory] * 2, program.ulp)
        if has_native_code(compiled):
            codes.setdefault(native_graphs(compiled), (compiled, []))[1].append(factory)
        else:  # it may have been seen that CPython is as fast
            check_calls(program.function, compiled, [factory] * (CALLS - 2), program.ulp)
    for compiled, factories in codes.values():
        for _ in range(CALLS):
            if not has_native_code(compiled):  # calls of others have changed a callee
                check_calls(program.function, compiled, factories[:1], program.ulp)
        yield compiled, factories


@each(TRANSLATED)
def test_outlined_loops_and_each_of_their_failing_guards_agree_with_cpython(
    program: Program,
) -> None:
    """No call is compiled as a whole, every loop is as soon as it has run twice: optimised, or quick for other types."""
    with eager_loops():
        functions = []
        for factory, runs in zip((group[0] for group in groups_of(program)), (0, FOR_EVER)):
            with config.overridden(quick_runs=runs):
                compiled = ljit.jit(program.function, num_profiled_runs=FOR_EVER)
                check_calls(program.function, compiled, [factory] * 2, program.ulp)
                for _site in fail_each_loop_guard(compiled):
                    check_calls(program.function, compiled, [factory], program.ulp)
                functions.append(compiled)
        with config.overridden(quick_runs=FOR_EVER):
            check_calls(program.function, functions[0], program.factories[1:] * 2, program.ulp)
