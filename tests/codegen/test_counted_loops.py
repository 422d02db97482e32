"""Loops around others: LLVM leaves them as they are, unless their number of trips is known."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from ljit.codegen.llvm.builder import ModuleBuilder, integer
from ljit.codegen.llvm.engine import compile_ir
from ljit.codegen.loops.counted_loops import outer_loop

HINT = '!{!"llvm.loop.unroll.disable"}'


def written(trips):
    """A module whose function calls a function of CPython in each trip of a loop around it."""
    module = ModuleBuilder("test")
    f = module.function("entry", "void", ["i64"])
    module.declare("PyErr_Clear", "void", ())
    trip = integer("i64", trips) if trips else f.binary("and", f.params[0], integer("i64", 3))
    e = SimpleNamespace(f=f, ownership=SimpleNamespace(in_loop=nullcontext))
    outer_loop(e, trip, lambda _: f.call("void", "PyErr_Clear", ()))
    f.ret()
    return module.render()


@pytest.mark.parametrize(("trips", "calls"), [(None, 1), (3, 3)], ids=["unknown", "known"])
def test_the_loops_of_a_few_rows_are_written_once(trips, calls):
    text = written(trips)
    assert (HINT in text) == (trips is None)
    optimized = compile_ir(text, "entry").optimized_ir()
    assert optimized.count("call void @PyErr_Clear") == calls
