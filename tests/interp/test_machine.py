"""The machine on graphs written by hand: control flow, moves, hooks, resuming."""

from __future__ import annotations

import copy
import math
import textwrap

import numpy as np
import pytest

import ljit
import ljit.ops
from ljit.errors import InternalError
from ljit.interp import LoopExit, NoHooks, Trace, compile_graph, observed, resume, run
from ljit.ir import REGISTRY, parse, verify
from ljit.ops.containers.iteration_views import (
    enumerate_view,
    form_of,
    make_cursor,
    reversed_view,
    zip_view,
)
from ljit.ops.names import UNBOUND_VALUE
from ljit.profile import NativeInts


def code_of(text, objects=()):
    graph = parse(text, objects)
    verify(graph)
    return compile_graph(graph)


def result_of(text, *args, objects=()):
    return run(code_of(text, objects), args)


FIBONACCI = """
graph(%n : int):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %a : Any, %b : Any = prim::Loop(%0, %n, %0, %1)
    block0(%i : int, %x : Any, %y : Any):
      %s : Any = py::add(%x, %y)
      -> (%y, %s)
  return (%a)
"""

ROTATE = """
graph(%n : int, %p : Any, %q : Any, %r : Any):
  %0 : int = prim::Constant[value=0]()
  %a : Any, %b : Any, %c : Any = prim::Loop(%0, %n, %p, %q, %r)
    block0(%i : int, %x : Any, %y : Any, %z : Any):
      -> (%z, %x, %y)
  %t : (Any, Any, Any) = prim::TupleConstruct(%a, %b, %c)
  return (%t)
"""

EXITS = """
graph(%n : int, %stop : Any, %skip : Any):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=100]()
  %total : Any = prim::Loop(%0, %n, %0)
    block0(%i : int, %t : Any):
      %c : Any = py::eq(%i, %stop)
      %c.1 : bool = py::truth(%c)
      prim::If(%c.1)
        block0():
          prim::Break[depth=0](%t)
        block1():
          -> ()
      %d : Any = py::eq(%i, %skip)
      %d.1 : bool = py::truth(%d)
      prim::If(%d.1)
        block0():
          prim::Continue[depth=0](%t)
        block1():
          -> ()
      %u : Any = py::add(%t, %i)
      -> (%u)
    block1(%e : Any):
      %v : Any = py::add(%e, %1)
      -> (%v)
  return (%total)
"""


def exits(n, stop, skip):
    total = 0
    for i in range(n):
        if i == stop:
            break
        if i == skip:
            continue
        total += i
    else:
        total += 100
    return total


def test_carried_values_are_moved_all_at_once():
    assert [result_of(FIBONACCI, n) for n in range(8)] == [0, 1, 1, 2, 3, 5, 8, 13]
    for n in range(7):
        expected = tuple("pqr"[(k - n) % 3] for k in range(3))
        assert result_of(ROTATE, n, "p", "q", "r") == expected


def test_two_carried_values_swap():
    text = """
graph(%n : int, %p : Any, %q : Any):
  %0 : int = prim::Constant[value=0]()
  %a : Any, %b : Any = prim::Loop(%0, %n, %p, %q)
    block0(%i : int, %x : Any, %y : Any):
      -> (%y, %x)
  %t : (Any, Any) = prim::TupleConstruct(%a, %b)
  return (%t)
"""
    assert [result_of(text, n, 1, 2) for n in range(3)] == [(1, 2), (2, 1), (1, 2)]


def test_break_continue_and_else_of_a_loop():
    code = code_of(EXITS)
    for n in range(5):
        for stop in range(-1, 5):
            for skip in range(-1, 5):
                assert run(code, (n, stop, skip)) == exits(n, stop, skip)


def test_if_gives_the_values_of_the_branch_taken():
    text = """
graph(%c : bool, %x : Any, %y : Any):
  %a : Any, %b : Any = prim::If(%c)
    block0():
      -> (%y, %x)
    block1():
      %n : Any = py::neg(%x)
      -> (%n, %y)
  %t : (Any, Any) = prim::TupleConstruct(%a, %b)
  return (%t)
"""
    assert result_of(text, True, 1, 2) == (2, 1)
    assert result_of(text, False, 1, 2) == (-1, 2)


def test_return_leaves_through_nested_loops():
    text = """
graph(%n : int):
  %0 : int = prim::Constant[value=0]()
  %3 : int = prim::Constant[value=3]()
  prim::Loop(%0, %n)
    block0(%i : int):
      prim::Loop(%0, %i)
        block0(%j : int):
          %p : Any = py::mul(%i, %j)
          %g : Any = py::gt(%p, %3)
          %g.1 : bool = py::truth(%g)
          prim::If(%g.1)
            block0():
              %t : (int, int) = prim::TupleConstruct(%i, %j)
              return (%t)
            block1():
              -> ()
          -> ()
      -> ()
  return (%n)
"""
    assert result_of(text, 3) == 3
    assert result_of(text, 10) == (3, 2)


def test_break_of_an_outer_loop_and_of_a_region():
    text = """
graph(%n : int):
  %0 : int = prim::Constant[value=0]()
  %5 : int = prim::Constant[value=5]()
  %r : Any = prim::Region()
    block0():
      %s : Any = prim::Loop(%0, %n, %0)
        block0(%i : int, %x : Any):
          prim::Loop(%0, %n)
            block0(%j : int):
              %p : Any = py::add(%i, %j)
              %g : Any = py::gt(%p, %5)
              %g.1 : bool = py::truth(%g)
              prim::If(%g.1)
                block0():
                  prim::Break[depth=1](%p)
                block1():
                  -> ()
              %q : Any = py::eq(%p, %5)
              %q.1 : bool = py::truth(%q)
              prim::If(%q.1)
                block0():
                  %z : str = prim::Constant[value='region']()
                  prim::Break[depth=2](%z)
                block1():
                  -> ()
              -> ()
          -> (%i)
      -> (%s)
  return (%r)
"""
    assert result_of(text, 2) == 1
    assert result_of(text, 0) == 0
    assert result_of(text, 6) == "region"


def test_an_op_with_several_outputs_sets_them_all():
    text = """
graph(%x : Any):
  %a : Any, %b : Any, %c : Any = prim::Unpack[count=3, star=1](%x)
  %t : (Any, Any, Any) = prim::TupleConstruct(%c, %b, %a)
  return (%t)
"""
    assert result_of(text, "abcd") == ("d", ["b", "c"], "a")
    with pytest.raises(ValueError, match=r"not enough values to unpack \(expected at least 2"):
        result_of(text, "a")


def test_unbound_variables_are_the_sentinel():
    text = """
graph(%c : bool, %x : Any):
  %u : Unbound = prim::Uninitialized()
  %v : Any = prim::If(%c)
    block0():
      -> (%x)
    block1():
      -> (%u)
  %w : Any = prim::check_bound[name='v'](%v)
  return (%w)
"""
    assert result_of(text, True, 7) == 7
    with pytest.raises(UnboundLocalError, match="local variable 'v'"):
        result_of(text, False, 7)
    trace = Recorder()
    code = code_of(text)
    with pytest.raises(UnboundLocalError):
        run(observed(code, trace), (False, 7))
    assert any(value is UNBOUND_VALUE for value in trace.states[0][1])


def test_runs_share_no_registers():
    code = code_of(FIBONACCI)
    results = [run(code, (n,)) for n in (10, 3, 10)]
    assert results == [55, 2, 55]


def test_a_wrong_number_of_arguments_is_an_internal_error():
    with pytest.raises(InternalError, match="2 arguments for 1"):
        run(code_of(FIBONACCI), (1, 2))


def test_load_and_store_cannot_be_interpreted():
    text = """
graph(%x : Any):
  prim::Store[name='a'](%x)
  return (%x)
"""
    with pytest.raises(InternalError, match=r"prim::Store"):
        compile_graph(parse(text))


def test_paths_that_part_and_meet_again_and_again_are_not_written_for_each_way():
    def clip(x):
        if x < 0:
            return 0
        return x

    def program(n):
        s = 0
        for i in range(n):
            s = clip(s - 1)
            s = clip(s + i)
            s = clip(s - 2)
            s = clip(s + 3)
            s = clip(s - i)
            s = clip(s + 5)
            s = clip(s - 6)
            s = clip(s + i)
            s = clip(s - 8)
            s = clip(s + 9)
        return s

    code = ljit.jit(program)._executor.baseline.code
    assert run(code, (50,)) == program(50)
    lines = sum(step.text.count("\n") for step in code.steps.values())
    assert lines < 5 * len(code.instructions)


# -- hooks ---------------------------------------------------------------------------------------


class Recorder(Trace):
    """Keeps every state that is passed."""

    def __init__(self):
        self.states = []

    def observe(self, pc, registers):
        self.states.append((pc, list(registers)))


class HotLoops(NoHooks):
    """Records what it is told; `answers` maps trip indices to functions of the registers."""

    def __init__(self, threshold, answers=None, seconds=math.inf):
        self.threshold = threshold
        self.seconds = seconds
        self.trips = []
        self.profile = []
        self.answers = answers or {}

    def trips_until_hot(self, _loop):
        return self.threshold

    def seconds_until_hot(self, _loop):
        return self.seconds

    def on_profile(self, node_id, value):
        self.profile.append((node_id, value))

    def on_hot_loop(self, code, loop_id, trip, registers):
        self.trips.append((loop_id, trip))
        answer = self.answers.get(trip)
        return answer(code, loop_id, registers) if answer is not None else None


def test_profile_nodes_report_values_in_order():
    text = """
graph(%x : Any):
  %a : Any = py::neg(%x)
  %b : Any = prim::profile(%a)
  %c : Any = py::add(%b, %b)
  %d : Any = prim::profile(%c)
  return (%d)
"""
    hooks = HotLoops(99)
    assert run(code_of(text), (2.5,), hooks) == -5.0
    assert hooks.profile == [(1, -2.5), (3, -5.0)]


def test_a_loop_is_hot_after_each_threshold_of_back_edges():
    hooks = HotLoops(3)
    assert run(code_of(FIBONACCI), (10,), hooks) == 55
    assert hooks.trips == [(2, 3), (2, 6), (2, 9)]
    hooks = HotLoops(10)
    run(code_of(FIBONACCI), (10,), hooks)
    assert hooks.trips == []  # the loop is over when the tenth back-edge is taken


_SIXTY_NODES = "\n".join(f"      %x{k} : int = py::add(%i, %n)" for k in range(60))
NESTED = f"""
graph(%n : int, %m : int):
  %0 : int = prim::Constant[value=0]()
  prim::Loop(%0, %n)
    block0(%i : int):
{_SIXTY_NODES}
      prim::Loop(%0, %m)
        block0(%j : int):
          -> ()
      -> ()
  return (%n)
"""


def test_short_activations_make_the_loop_around_hot():
    code = code_of(NESTED)
    outer = min(info.id for info in code.loops)
    hooks = HotLoops(8, {2: lambda code, loop_id, registers: LoopExit(f"after:{loop_id}", {})})
    run(code, (100, 5), hooks)  # the second activation needs 3 trips
    assert hooks.trips == [(outer, 2)]


def test_what_inner_loops_take_counts_for_the_loop_around():
    code = code_of(NESTED)
    outer = min(info.id for info in code.loops)
    hooks = HotLoops(8, {5: lambda code, loop_id, registers: LoopExit(f"after:{loop_id}", {})})
    run(code, (100, 1), hooks)  # an activation counts as two thirds of a trip of the loop around
    assert hooks.trips == [(outer, 5)]


def test_a_loop_is_hot_when_it_took_long_however_few_its_trips_are():
    hooks = HotLoops(99, seconds=0.0)
    assert run(code_of(FIBONACCI), (10,), hooks) == 55
    assert hooks.trips[0] == (2, 2)
    hooks = HotLoops(99, seconds=1e9)
    run(code_of(FIBONACCI), (10,), hooks)
    assert hooks.trips == []


def test_short_activations_that_take_long_make_the_loop_around_hot():
    code = code_of(NESTED)
    outer = min(info.id for info in code.loops)
    hooks = HotLoops(99, {2: lambda code, loop_id, registers: LoopExit(f"after:{loop_id}", {})})
    hooks.seconds = 0.0
    run(code, (100, 1), hooks)
    assert hooks.trips == [(outer, 2)]


def test_what_happens_between_its_activations_makes_no_loop_hot(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("ljit.interp.hot_loops.seconds_here", lambda: clock[0])

    class SlowOutside(HotLoops):
        def on_profile(self, node_id, value):
            clock[0] += 10.0

    text = NESTED.replace("      %x0 : int", "      %p : int = prim::profile(%n)\n      %x0 : int")
    code = code_of(text)
    outer = min(info.id for info in code.loops)
    hooks = SlowOutside(10**6, seconds=30.0)
    run(code, (50, 40), hooks)
    assert {loop for loop, _trip in hooks.trips} == {outer}


def test_the_clock_is_looked_at_when_the_time_so_far_says_that_it_is_due(monkeypatch):
    seconds = iter(range(100))
    monkeypatch.setattr("ljit.interp.hot_loops.seconds_here", lambda: next(seconds))
    hooks = HotLoops(10_000, seconds=3.5)
    run(code_of(FIBONACCI), (16,), hooks)
    assert hooks.trips == [(2, 14)]  # looked at behind trips 2, 7, 12 and 14, a second apart


ONE_LOOP = f"""
graph(%v : Any):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value={2**63 - 1}]()
  prim::Loop(%0, %1)
    block0(%i : int):
      %h : bool = prim::has_next(%v, %i)
      prim::If(%h)
        block0():
          -> ()
        block1():
          prim::Break[depth=0]()
      -> ()
  return (%v)
"""
GO_THROUGH = f"""
graph(%x : Any, %y : Any):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value={2**63 - 1}]()
  %v : Any = prim::iter(%x)
  prim::Loop(%0, %1)
    block0(%i : int):
      %h : bool = prim::has_next(%v, %i)
      prim::If(%h)
        block0():
          -> ()
        block1():
          prim::Break[depth=0]()
      %w : Any = prim::iter(%y)
      prim::Loop(%0, %1)
        block0(%j : int):
          %g : bool = prim::has_next(%w, %j)
          prim::If(%g)
            block0():
              -> ()
            block1():
              prim::Break[depth=0]()
          -> ()
      -> ()
  return (%x)
"""


@pytest.mark.parametrize(
    ("items", "reported"),
    [
        (range(200), [8]),  # 2 of 30 seconds are over behind trip 8: all of them will take 50
        (range(100), []),
        (enumerate_view([None] * 200), [8]),
        (zip_view((None,) * 200, iter(range(300))), [8]),
        (zip_view([None] * 200, range(100)), []),
        (reversed_view([None] * 200), [8]),
        (range(2**70), [8]),
        (make_cursor(range(200)), []),  # nobody knows
    ],
    ids=["range", "few", "enumerate", "zip", "few of zip", "reversed", "huge", "cursor"],
)
def test_a_loop_is_hot_that_will_take_long_by_the_trips_that_are_left(items, reported, monkeypatch):
    seconds = iter(range(100))  # behind trips 2, 8, 32 and 128
    monkeypatch.setattr("ljit.interp.hot_loops.seconds_here", lambda: next(seconds))
    stop = {8: lambda code, loop_id, registers: LoopExit(f"after:{loop_id}", {})}
    hooks = HotLoops(10_000, stop, seconds=30.0)
    run(code_of(ONE_LOOP), (items,), hooks)
    assert [trip for _, trip in hooks.trips] == reported


def test_a_loop_in_its_last_trip_leaves_being_hot_to_the_loop_within():
    code = code_of(GO_THROUGH)
    inner, outer = sorted(info.id for info in code.loops)[::-1]
    hooks = HotLoops(8)
    run(code, ([1, 2, 3], range(5)), hooks)  # the second activation needs 3 trips
    assert hooks.trips[0] == (outer, 2)
    hooks = HotLoops(8)
    run(code, ([1, 2], range(5)), hooks)
    assert hooks.trips[0] == (inner, 3)


def _loop_through(views):
    """The text of loops in one another, each of which goes through one of the views."""
    if not views:
        return ""
    v, *inner = views
    return f"""
prim::Loop(%0, %1)
  block0(%{v}i : int):
    %{v}h : bool = prim::has_next(%{v}, %{v}i)
    prim::If(%{v}h)
      block0():
        -> ()
      block1():
        prim::Break[depth=0]()
{textwrap.indent(_loop_through(inner).strip(), "    ")}
    -> ()
"""


def test_a_loop_around_one_in_its_last_trip_is_hot_in_its_place():
    code = code_of(f"""
graph(%x : Any, %y : Any, %z : Any):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value={2**63 - 1}]()
{textwrap.indent(_loop_through("xyz").strip(), "  ")}
  return (%x)
""")
    outer = min(info.id for info in code.loops)
    hooks = HotLoops(8)
    run(
        code, ([1, 2, 3], [1], range(5)), hooks
    )  # the second activation of the inner one needs 3 trips
    assert hooks.trips[0] == (outer, 2)


def test_a_loop_that_ends_is_not_reported():
    hooks = HotLoops(5, seconds=0.0)
    run(code_of(ONE_LOOP), ([1, 2],), hooks)
    assert hooks.trips == []
    run(code_of(ONE_LOOP), ([1, 2, 3],), hooks)
    assert [trip for _, trip in hooks.trips] == [2]


def test_a_long_activation_makes_the_inner_loop_hot():
    code = code_of(NESTED)
    inner, _outer = sorted(info.id for info in code.loops)[::-1]
    hooks = HotLoops(4)
    run(code, (1, 6), hooks)
    assert hooks.trips == [(inner, 4)]


def test_an_inner_loop_is_reported_if_the_loop_around_is_declined():
    code = code_of(NESTED)
    inner, outer = sorted(info.id for info in code.loops)[::-1]
    hooks = HotLoops(8)
    run(code, (6, 5), hooks)
    assert hooks.trips[0][0] == outer
    assert inner in [loop for loop, _trip in hooks.trips[1:]]


def test_a_loop_that_ran_elsewhere_is_reported_as_soon_as_it_is_entered_again():
    code = code_of(NESTED)
    inner, _outer = sorted(info.id for info in code.loops)[::-1]

    def finish(code, loop_id, registers):
        return LoopExit(f"after:{loop_id}", {})

    hooks = HotLoops(4, {4: finish, 0: finish})
    run(code, (3, 6), hooks)
    assert hooks.trips == [(inner, 4), (inner, 0), (inner, 0)]


def test_trips_count_from_the_start_of_the_loop():
    text = """
graph(%a : int, %b : int):
  prim::Loop(%a, %b)
    block0(%j : int):
      -> ()
  return (%b)
"""
    hooks = HotLoops(5)
    run(code_of(text), (100, 112), hooks)
    assert [trip for _, trip in hooks.trips] == [105, 110]


def test_a_hot_loop_may_go_on_at_its_header_some_trips_later():
    def two_trips_further(code, loop_id, registers):
        k, x, y = (registers[code.register_of[f"b{loop_id}.0.{i}"]] for i in range(3))
        state = {f"b{loop_id}.0.0": k + 2, f"b{loop_id}.0.1": x + y, f"b{loop_id}.0.2": x + y + y}
        return LoopExit(f"header:{loop_id}", state)

    hooks = HotLoops(4, {4: two_trips_further})
    assert run(code_of(FIBONACCI), (12,), hooks) == 144
    assert [trip for _, trip in hooks.trips] == [4, 10]


def test_a_hot_loop_may_go_on_behind_itself_or_at_its_end():
    def behind(code, loop_id, registers):
        return LoopExit(f"after:{loop_id}", {f"n{loop_id}.0": "behind"})

    assert run(code_of(FIBONACCI), (12,), HotLoops(4, {4: behind})) == "behind"

    def at_the_end(code, loop_id, registers):
        state = {f"b{loop_id}.0.0": 12, f"b{loop_id}.0.1": "end", f"b{loop_id}.0.2": None}
        return LoopExit(f"header:{loop_id}", state)

    assert run(code_of(FIBONACCI), (12,), HotLoops(4, {4: at_the_end})) == "end"


# -- resuming ------------------------------------------------------------------------------------


def test_a_resumed_loop_goes_on_with_its_trip_index():
    code = code_of(FIBONACCI)
    state = {"p0": 10, "b2.0.0": 6, "b2.0.1": 8, "b2.0.2": 13}
    assert resume(code, "header:2", state) == 55
    assert resume(code, "after:2", {"n2.0": 4.5}) == 4.5
    assert resume(code, "before:0", {"p0": 9}) == 34


def test_a_resumed_loop_is_hot_after_the_threshold_again():
    hooks = HotLoops(3)
    state = {"p0": 10, "b2.0.0": 4, "b2.0.1": 3, "b2.0.2": 5}
    assert resume(code_of(FIBONACCI), "header:2", state, hooks) == 55
    assert [trip for _, trip in hooks.trips] == [7]


def test_every_node_has_its_positions():
    graph = parse(EXITS)
    code = compile_graph(graph)
    for node in graph.walk():
        assert 0 <= code.positions[f"before:{node.id}"] < len(code.instructions)
        if not node.op.is_terminator:
            before, after = code.positions[f"before:{node.id}"], code.positions[f"after:{node.id}"]
            assert before <= after < len(code.instructions)
    (loop,) = code.loops
    assert f"header:{loop.id}" in code.positions


def test_every_value_has_a_register():
    graph = parse(EXITS)
    code = compile_graph(graph)
    values = list(graph.params)
    for node in graph.walk():
        values += node.outputs
        for block in node.blocks:
            values += block.params
    assert {value.key for value in values} == set(code.register_of)
    assert len(set(code.register_of.values())) == len(values)


def test_unknown_places_and_values_are_refused():
    code = code_of(FIBONACCI)
    with pytest.raises(InternalError, match="no place 'after:77'"):
        resume(code, "after:77", {})
    with pytest.raises(InternalError, match=r"no value 'n77\.0'"):
        resume(code, "after:2", {"n77.0": 1})


# -- listing ---------------------------------------------------------------------------------------


def test_the_listing_shows_ops_registers_constants_and_jumps():
    listing = code_of(EXITS).dump()
    assert "3 parameters" in listing
    assert "= 100\n" in listing
    assert "py::eq(r" in listing
    assert "loop while less(" in listing
    assert "branch unless(" in listing
    assert "-> " in listing


def test_attributes_show_in_the_listing():
    text = """
graph(%x : Any):
  %a : Any = py::getattr[name='real'](%x)
  return (%a)
"""
    code = code_of(text)
    assert "r2 = py::getattr[name='real'](r0)" in code.dump()
    assert run(code, (3 + 4j,)) == 3.0
    assert math.isclose(run(code, (2.5,)), 2.5)


def test_bound_ops_do_what_their_evaluate_does():
    """`OpDef.bind` is the same function made faster."""

    def scope():
        return None

    cell = [1]
    cases = {
        "prim::Unpack": [
            ({"count": 2}, ((1, 2.5),)),
            ({"count": 2}, ("ab",)),
            ({"count": 2}, ([1],)),
            ({"count": 2}, (3,)),
            ({"count": 3, "star": 1}, ([1, 2, 3, 4],)),
        ],
        "prim::format_value": [
            ({}, (2.5, ".1f")),
            ({"conversion": ord("r")}, ("a", ">5")),
            ({"conversion": ord("s")}, (1, "")),
            ({"conversion": ord("a")}, ("\xe4", "")),
            ({}, (1, "?")),
        ],
        "prim::load_closure": [
            ({"name": "cell", "scope": lambda: cell}, ()),
            ({"name": "later", "scope": lambda: later}, ()),
        ],
        "prim::load_global": [
            ({"name": "Recorder", "scope": scope}, ()),
            ({"name": "print", "scope": scope}, ()),
            ({"name": "no_such_name", "scope": scope}, ()),
        ],
        "prim::match_class": [
            ({"count": 0, "names": ("real", "imag")}, (2.5, float)),
            ({"count": 1, "names": ()}, (3, int)),
            ({"count": 1, "names": ()}, (3, str)),
            ({"count": 0, "names": ("missing",)}, (3, int)),
            ({"count": 1, "names": ()}, (3, 5)),
        ],
    }
    bound = {name for name, op in REGISTRY.items() if op.bind is not None}
    assert bound == set(cases)

    for name, calls in cases.items():
        op = REGISTRY[name]
        for attrs, operands in calls:
            expected = outcome(lambda *xs: op.evaluate(*xs, **attrs), operands)
            assert outcome(op.bind(**attrs), operands) == expected
    later = 1  # noqa: F841 - not bound above


def outcome(f, operands):
    try:
        return f(*operands)
    except Exception as error:
        return type(error), str(error)


class Thing:
    def __init__(self):
        self.value = 1

    def method(self, x, *, y=0):
        return x, y


WITHOUT_RESULT = ("py::setitem", "py::delitem", "py::setattr", "py::delattr", "py::list_assign")
ATTRIBUTES = {
    "py::getattr": [({"name": "real"}, (3 + 4j,)), ({"name": "nothing"}, (3,))],
    "py::setattr": [({"name": "value"}, (Thing(), 2)), ({"name": "value"}, (3, 2))],
    "prim::set_form": [
        ({"name": "shape"}, (np.arange(6), (2, 3))),
        ({"name": "shape"}, (np.arange(6), (4,))),
    ],
    "py::delattr": [({"name": "value"}, (Thing(),)), ({"name": "nothing"}, (Thing(),))],
    "py::call": [({}, (max, 1, 2)), ({"kwnames": ("key",)}, (max, 1, -2, abs)), ({}, (len, 1))],
    "py::call_ex": [({}, (max, [1, -2], None)), ({}, (max, (1, -2), {"key": abs}))],
    "py::call_method": [
        ({"name": "method"}, (Thing(), 1)),
        ({"name": "method", "kwnames": ("y",)}, (Thing(), 1, 2)),
        ({"name": "missing"}, (Thing(), 1)),
    ],
}


@pytest.mark.parametrize("op", [op for op in REGISTRY.values() if op.statement or op.syntax])
def test_the_python_text_of_an_op_means_what_its_evaluate_does(op):
    if op.bind is not None:
        pytest.skip("the text is only shown")
    cases = ATTRIBUTES.get(op.name) or [({}, xs) for xs in op.operand_samples()]
    assert cases
    for attrs, operands in cases:
        names = [f"x{i}" for i in range(len(operands))]
        has_result = op.name not in WITHOUT_RESULT
        if op.statement:
            body = (
                f"{op.statement.format(*names, **attrs)}\n    return {'x0' if has_result else None}"
            )
        else:
            body = f"return {op.text_of(names, attrs)}"
        space = {}
        exec(f"def f({', '.join(names)}):\n    {body}", space)
        expected = outcome(lambda *xs: op.evaluate(*xs, **attrs), copy.deepcopy(operands))
        actual = outcome(space["f"], copy.deepcopy(operands))
        assert repr(actual) == repr(expected)


@pytest.mark.parametrize("op", [op for op in REGISTRY.values() if op.in_line is not None])
def test_the_texts_in_line_of_an_op_mean_what_its_evaluate_does(op):
    kind_of, texts = op.in_line
    kinds = set()
    for operands in op.operand_samples():
        kind = kind_of(operands[0])
        kinds.add(kind)
        if kind:
            text = texts[kind - 1].format(*(f"x[{i}]" for i in range(len(operands))))
            assert repr(eval(text, {"x": operands})) == repr(op.evaluate(*operands))
    assert kinds == set(range(len(texts) + 1))


def test_ranges_of_more_items_than_len_can_say_are_gone_through():
    assert form_of(range(10)) == form_of([]) == 1
    assert form_of(enumerate_view([1])) == 2
    assert (
        form_of(range(2**63)) == form_of(range(-(2**63), 2**63, 3)) == form_of(zip_view([1])) == 0
    )
    hooks = HotLoops(100, {100: lambda code, loop_id, registers: LoopExit(f"after:{loop_id}", {})})
    run(code_of(ONE_LOOP), (range(2**70),), hooks)
    assert [trip for _, trip in hooks.trips] == [100]


def test_a_settled_class_is_not_reported_again_in_a_run():
    text = """
graph(%n : int, %x : Any, %y : Any):
  %0 : int = prim::Constant[value=0]()
  %s : Any = prim::Loop(%0, %n, %x)
    block0(%i : int, %t : Any):
      %p : Any = prim::profile(%t)
      -> (%y)
  return (%s)
"""

    class Settling(HotLoops):
        def on_profile(self, node_id, value):
            super().on_profile(node_id, value)
            return float if type(value) is float else None

    code = code_of(text)
    hooks = Settling(99)
    run(code, (5, "a", 2.5), hooks)
    assert [value for _, value in hooks.profile] == ["a", 2.5]
    run(code, (3, 1.5, 7), hooks)
    assert [value for _, value in hooks.profile[2:]] == [1.5, 7, 7]


def test_ints_of_64_bits_are_not_reported_again_in_a_run_that_was_told_so():
    text = """
graph(%n : int, %x : Any, %y : Any):
  %0 : int = prim::Constant[value=0]()
  %s : Any = prim::Loop(%0, %n, %x)
    block0(%i : int, %t : Any):
      %p : Any = prim::profile(%t)
      %u : Any = py::mul(%p, %y)
      -> (%u)
  return (%s)
"""

    class OfInts(HotLoops):
        def on_profile(self, node_id, value):
            super().on_profile(node_id, value)
            return NativeInts()

    hooks = OfInts(99)
    run(code_of(text), (5, 3, -(2**31)), hooks)
    assert [value for _, value in hooks.profile] == [3, 3 * 2**62, -3 * 2**93, 3 * 2**124]
    hooks = OfInts(99)
    run(code_of(text), (4, -1, 2**63), hooks)
    assert [value for _, value in hooks.profile] == [-1, -(2**126), -(2**189)]
    hooks = OfInts(99)
    run(code_of(text), (3, True, 0.5), hooks)
    assert [value for _, value in hooks.profile] == [True, 0.5, 0.25]
