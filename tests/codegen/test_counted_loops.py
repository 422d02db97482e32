"""Loops around others: LLVM leaves them as they are, unless their number of trips is known, or they ask it to."""

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
    outer_loop(emitter(f), trip, lambda _: f.call("void", "PyErr_Clear", ()))
    f.ret()
    return module.render()


def emitter(f):
    return SimpleNamespace(f=f, ownership=SimpleNamespace(in_loop=nullcontext), is_quick=False)


@pytest.mark.parametrize(("trips", "calls"), [(None, 1), (3, 3)], ids=["unknown", "known"])
def test_the_loops_of_a_few_rows_are_written_once(trips, calls):
    text = written(trips)
    assert (HINT in text) == (trips is None)
    optimized = compile_ir(text, "entry").optimized_ir()
    assert optimized.count("call void @PyErr_Clear") == calls


@pytest.mark.parametrize("is_one_copy", [True, False])
def test_rows_that_ask_again_what_is_the_same_are_one_loop(is_one_copy):
    module = ModuleBuilder("test")
    f = module.function("entry", "void", ["i64", "ptr", "i1"])
    count, place, is_first = f.params

    def row(k):
        then, behind = f.new_block("then"), f.new_block("behind")
        f.condbr(is_first, then, behind)
        f.start(then)
        f.store(k, place)
        f.br(behind)
        f.start(behind)
        f.store(f.add(f.load("i64", f.gep("i64", place, k)), k), f.gep("i64", place, k))

    outer_loop(emitter(f), count, row, is_one_copy=is_one_copy)
    f.ret()
    optimized = compile_ir(module.render(), "entry").optimized_ir()
    assert (optimized.count(", !llvm.loop ") == 1) is is_one_copy
