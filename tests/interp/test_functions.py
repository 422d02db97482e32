"""Whole functions from source: the interpreter agrees with CPython, from any place that it is resumed at."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import traceback
import types
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pytest

from ljit.analysis.liveness import Liveness
from ljit.errors import InternalError, UserError
from ljit.frontend.emitting.emit import build_graph
from ljit.interp import LoopExit, NoHooks, Trace, compile_graph, observed, resume, run
from ljit.interp.code import Code
from ljit.ir import Graph
from ljit.ops.names import UNBOUND_VALUE
from ljit.passes import run_passes
from ljit.profile import Profile
from ljit.runtime.binding import bind_arguments
from ljit.types import join
from ljit.value_types import type_of
from tests.programs import harness
from tests.programs.harness import PROGRAMS, Program

HERE = Path(__file__).parent.parent / "programs"
for _path in sorted(HERE.glob("*.py")):
    if _path.stem not in ("__init__", "harness", "test_programs", "test_harness"):
        importlib.import_module(f"tests.programs.{_path.stem}")

RANDOM = {"scalars.random_numbers"}  # programs whose result is another one each time
MOST_STATES = 30


@dataclass(frozen=True)
class Compiled:
    graph: Graph
    code: Code
    fn: types.FunctionType

    def __call__(self, *args, **kwargs):
        values = bind_arguments(self.fn, args, kwargs)
        if values is None:
            return self.fn(*args, **kwargs)
        return run(self.code, values)


@lru_cache(maxsize=2)  # the tests of a program follow one another
def translate(program: Program, pipeline: str = "convert_to_ssa") -> Compiled:
    try:
        graph = build_graph(program.function)
    except UserError as error:
        pytest.skip(f"left to CPython: {str(error).splitlines()[0]}")
    run_passes(graph, pipeline)
    return Compiled(graph, compile_graph(graph), program.function)


EACH_PROGRAM = pytest.mark.parametrize(
    "program", PROGRAMS, ids=[p.name for p in PROGRAMS], scope="module"
)


def check_watched(program, code, hooks):
    """Run the bytecode of a program under hooks, and compare with CPython."""

    def watched(*args, **kwargs):
        values = bind_arguments(program.function, args, kwargs)
        if values is None:
            return program.function(*args, **kwargs)
        return run(code, values, hooks)

    for factory in program.factories:
        harness.check_calls(program.function, watched, [factory])


@EACH_PROGRAM
def test_profile_nodes_change_nothing_and_see_every_value(program):
    compiled = translate(program, "convert_to_ssa,insert_profile_nodes")
    profile = Profile()
    seen = {}

    class Hooks(NoHooks):
        def on_profile(self, node_id, value):
            profile.record(node_id, value)
            seen.setdefault(node_id, []).append(type_of(value))

    check_watched(program, compiled.code, Hooks())
    for node_id, types_ in seen.items():
        expected = types_[0]
        for type_ in types_:
            expected = join(expected, type_)
        assert profile.observed(node_id) == expected
        assert profile.observation(node_id).count == len(types_)


# -- resuming ------------------------------------------------------------------------------------


class Stop(InternalError):
    """Ends a run at a place, with its registers; no handler of a program takes it."""


class Steps(Trace):
    """Notes the steps of a run; ends it in front of the step number `last`."""

    def begin(self, last=-1):
        self.last = last
        self.pcs = []

    def observe(self, pc, registers):
        if len(self.pcs) == self.last:
            raise Stop(registers)
        self.pcs.append(pc)


def steps_to_stop_at(pcs):
    """Choose steps: of each instruction the first, second, fourth, eighth ... time that it runs."""
    visits: dict[int, int] = {}
    chosen = []
    for step, pc in enumerate(pcs):
        visits[pc] = visits.get(pc, 0) + 1
        if visits[pc] & (visits[pc] - 1) == 0:
            chosen.append(step)
    return chosen[:: -(-len(chosen) // MOST_STATES)]


def live_sets(graph):
    """The values that are live at each place, by the place's name."""
    liveness = Liveness(graph)
    live = {}
    for node in graph.walk():
        live[f"before:{node.id}"] = liveness.live_before(node)
        live[f"after:{node.id}"] = liveness.live_after(node)
        if node.op.is_exit_target and len(node.blocks[0].params):
            live[f"header:{node.id}"] = liveness.live_at_header(node)
    return live


def places_between(code, before, here):
    """The places that control is at when it has run `before` and is to run `here`.

    Several places may have one pc: the end of a branch and what is behind the If. Then it depends on
    where control came from.
    """
    places = []
    if any(t.handler <= here < t.end for t in code.tries):
        return places  # the exception that is being handled is no part of a state
    for place, pc in code.positions.items():
        kind, node = place.split(":")
        start, end = code.positions[f"before:{node}"], code.positions.get(f"after:{node}")
        if pc != here or end is None or start == end:
            continue
        if kind == "after" and not start <= before < end:
            continue
        places.append(place)
    return places


@EACH_PROGRAM
def test_resuming_anywhere_with_the_live_values_gives_the_same_outcome(program):
    if program.name in RANDOM:
        pytest.skip("random")
    compiled = translate(program)
    code, live = compiled.code, live_sets(compiled.graph)
    factory = program.factories[0]

    def arguments(args):
        values = bind_arguments(program.function, args.positional, args.keywords)
        if values is None:
            pytest.skip("the arguments do not fit")
        return values

    steps = Steps()
    watched = observed(code, steps)  # one for all runs: it is compiled as it runs
    steps.begin()
    expected = harness.run(
        lambda *a, **k: run(watched, arguments(harness.Args(a, k))), harness.make_args(factory)
    )
    resumed, pcs = 0, steps.pcs
    for step in steps_to_stop_at(pcs):
        before = pcs[step - 1] if step else -1
        for place in places_between(code, before, pcs[step]):

            def stop_and_resume(*a, **k):
                steps.begin(step)
                try:
                    run(watched, arguments(harness.Args(a, k)))
                except Stop as stop:
                    registers = stop.args[0]
                known = {v.key: registers[code.register_of[v.key]] for v in live[place]}
                return resume(code, place, known)

            actual = harness.run(stop_and_resume, harness.make_args(factory))
            found = harness.difference(expected, actual)
            assert found is None, f"{place}: {found}"
            resumed += 1
    assert resumed > 0


@EACH_PROGRAM
def test_hot_loops_that_are_left_and_entered_again_change_nothing(program):
    compiled = translate(program)
    liveness = Liveness(compiled.graph)
    nodes = {node.id: node for node in compiled.graph.walk()}

    class Hooks(NoHooks):
        def trips_until_hot(self, _loop):
            return 3

        def on_hot_loop(self, code, loop_id, trip, registers):
            names = [value.key for value in liveness.live_at_header(nodes[loop_id])]
            known = {name: registers[code.register_of[name]] for name in names}
            assert known[f"b{loop_id}.0.0"] == trip
            for name in code.register_of:  # all else is lost, but for what is constant
                register = code.register_of[name]
                if code.template[register] is UNBOUND_VALUE:
                    registers[register] = UNBOUND_VALUE
            return LoopExit(f"header:{loop_id}", known)

    check_watched(program, compiled.code, Hooks())


# -- tracebacks ----------------------------------------------------------------------------------


def shown(function, factory):
    """The whole traceback as text, without the entry of this function, or None."""
    args = harness.make_args(factory)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            function(*args.positional, **args.keywords)
        except Exception as error:
            error.__traceback__ = error.__traceback__.tb_next
            return "".join(traceback.format_exception(error))
    return None


MARKED_OTHERWISE = (
    "exceptions.attribute_error",
    "exceptions.assertion",
    "methods.apply",
    "modules_as_values.one_that_nobody_imports",
)
MARKED_OTHERWISE_LATER = (
    "methods.another_receiver",
    "methods.in_a_class_method",
    "generators.leaving_loops_over_generators",
)


@EACH_PROGRAM
def test_the_interpreter_marks_the_columns_that_cpython_marks(program):
    if program.name in MARKED_OTHERWISE:
        pytest.skip("CPython marks the attribute of a method call, the condition of an assert")
    if sys.version_info >= (3, 12) and program.name in MARKED_OTHERWISE_LATER:
        pytest.skip("CPython marks the attribute of `super()`, and what a loop goes over")
    compiled = translate(program)
    for factory in program.factories:
        expected, actual = shown(program.function, factory), shown(compiled, factory)
        if expected is not None and "comp>" not in expected and str(HERE) in expected:
            assert without_callers(actual) == without_callers(expected)


def without_callers(text):
    """From the first entry of a program on, if there is one: in the traceback of the error and in those of its causes."""
    tracebacks = text.split("Traceback (most recent call last):")[1:]
    return [part[max(part.find(f'File "{HERE}'), 0) :] for part in tracebacks]
