"""What exits hand over comes out as the values that it was made of: one call an exit, each number once."""

from __future__ import annotations

import pickle
import re
import struct

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.ops.containers.iteration_views import EnumerateView
from ljit.value_types import type_of
from tests.codegen.harness import Bailed, Compiled

BITS = struct.pack("<Q", 0x7FF0000000001234)  # of a NaN that signals
SIGNALLING = [
    np.frombuffer(struct.pack("<H", 0x7C12), np.float16)[0],
    np.frombuffer(struct.pack("<I", 0x7F801234), np.float32)[0],
    np.frombuffer(BITS, np.float64)[0],
    np.frombuffer(struct.pack("<II", 0x7F801234, 0x80000000), np.complex64)[0],
    np.frombuffer(BITS + struct.pack("<d", -0.0), np.complex128)[0],
    struct.unpack("<d", BITS)[0],
]
LIMITS = [
    limit
    for code in "bBhHiIqQ"
    for info in [np.iinfo(code)]
    for limit in (np.dtype(code).type(info.min), np.dtype(code).type(info.max))
]
NUMBERS = [True, False, np.True_, np.False_, -0.0, complex(-0.0, float("inf")), 2**63 - 1, -(2**63)]
MADE = [
    range(3, -5, -2),
    slice(None, 4, np.int32(-1)),
    (),
    (1,),
    (1, 2.5, None, "text", (True, np.float32(0.1), (1j, range(2)))),
    EnumerateView((range(1, 9, 2), 5)),
    (np.arange(3), 4),  # a view of it has no object
]


def leave(text, *args, **options):
    """Call with arguments for which the check behind the Snapshot fails; gives the values of the exit."""
    f = Compiled(text, **options)
    with pytest.raises(Bailed) as caught:
        f(*args)
    return f, caught.value.values


def graph_with(*values, names=None):
    """A graph that leaves with these values, by an int that overflows."""
    types = [type_of(value) for value in values]
    params = ", ".join(f"%x{i} : {type_}" for i, type_ in enumerate(types))
    shown = names or [f"%x{i}" for i in range(len(types))]
    quoted = ", ".join(f"'{i}'" for i in range(len(shown))) + ","
    return f"""
graph({params}, %n : int):
  prim::Snapshot[at='before:0', names=({quoted})]({", ".join(shown)})
  %sum : int = py::add(%n, %n)
  return (%sum)
"""


def same(a, b):
    if isinstance(a, np.ndarray):
        return type(a) is type(b) and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and pickle.dumps(a) == pickle.dumps(b)


@pytest.mark.parametrize("value", [*SIGNALLING, *LIMITS, *NUMBERS, *MADE], ids=repr)
def test_a_value_comes_out_as_it_went_in(value):
    _, values = leave(graph_with(value), value, 2**62)
    assert same(values["0"], value)


def test_values_keep_their_places():
    mixed = (np.float32(1.5), 7, range(4), (7, np.int16(-3)), "s", 2.0, 7)
    _, values = leave(graph_with(*mixed), *mixed, 2**62)
    assert same(tuple(values.values()), mixed)


def _calls_of_exits(f):
    """The operands of the calls in the blocks that leave."""
    blocks = re.findall(r"^exit\.\d+:\n(.*?)^\s*br ", f.code.ir, re.MULTILINE | re.DOTALL)
    calls = [re.findall(r"\bcall \w+ (?:\(.*?\) )?inttoptr \(.*?\)\((.*)\)", b) for b in blocks]
    assert all(len(in_block) == 1 for in_block in calls)
    return [operands for (operands,) in calls]


def test_an_exit_is_one_call_with_each_number_once():
    mixed = (np.float32(1.5), range(4), (7, np.int16(-3)))
    f, values = leave(graph_with(*mixed, names=["%x0", "%x1", "%x2", "%x1", "%x0"]), *mixed, 2**62)
    assert same(tuple(values.values()), (*mixed, mixed[1], mixed[0]))
    (call,) = _calls_of_exits(f)
    # helper, format, exit, site; one number of %x0, three of %x1 and two of %x2
    assert len(call.split(", ")) == 4 + 1 + 3 + 2
    assert "@box" not in f.code.ir


CONSTANTS = """
graph(%n : int):
  %zero : int = prim::Constant[value=0]()
  %one : int = prim::Constant[value=1]()
  %yes : bool = prim::Constant[value=True]()
  %none : None = prim::Constant[value=None]()
  %r : range = py::range(%zero, %n, %one)
  prim::Snapshot[at='before:0', names=('r', 'one', 'yes', 'none')](%r, %one, %yes, %none)
  %sum : int = py::add(%n, %n)
  return (%sum)
"""


def test_what_is_known_is_not_handed_over():
    f, values = leave(CONSTANTS, 2**62)
    expected = {"r": range(2**62), "one": 1, "yes": True, "none": None}
    assert values == expected
    assert all(type(values[name]) is type(expected[name]) for name in expected)
    (call,) = _calls_of_exits(f)
    assert len(call.split(", ")) == 4 + 1


TWO_EXITS = """
graph(%x : int, %n : int):
  prim::Snapshot[at='before:0', names=('x',)](%x)
  %sum : int = py::add(%n, %n)
  prim::Snapshot[at='before:1', names=('sum',)](%sum)
  %more : int = py::add(%sum, %x)
  return (%more)
"""


def test_all_exits_meet_where_the_function_ends():
    f = Compiled(TWO_EXITS, on_exit=lambda bailed: (bailed.at, bailed.values))
    assert f(1, 2**62) == ("before:0", {"x": 1})
    assert f(2**62, 2**61) == ("before:1", {"sum": 2**62})
    assert f(1, 2) == 5
    (left,) = re.findall(r"^left\.\d+:\n(.*)\n(.*)", f.code.ir, re.MULTILINE)
    assert left[0].count("exit.") == 2
    assert " call ptr " not in left[1]


def test_only_exits_of_loops_without_the_gil_take_it_back():
    @ljit.jit
    def total(xs, n):
        twice = n + n
        for x in xs:
            twice += x.item()
        return twice

    with config.overridden(cold_calls=False):
        assert total(np.arange(5), 1) == total(np.arange(5), 1) == 12
        assert total(np.arange(5), 2**62) == 2**63 + 10
        assert total(np.full(5, 2**61), 2**61) == 7 * 2**61
    exits = re.findall(r"^exit\.\d+:\n((?:.*\n)*?)  br ", total.dump_llvm(), re.MULTILINE)
    takes = [bool(re.search(r"call void inttoptr .*\(ptr ", lines)) for lines in exits]
    assert any(takes)
    assert not all(takes)
