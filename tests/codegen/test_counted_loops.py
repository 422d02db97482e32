"""Loops around others: LLVM leaves them as they are, unless their number of trips is known, or they ask it to; inner ones become vectors."""

from __future__ import annotations

import re
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

import ljit
from ljit import config
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [8, 16])
def test_a_known_number_of_trips_becomes_vectors(n, dtype):
    """LLVM wrote all of them one by one, and found no vectors in that: up to 2.5 times as long."""

    def waves(a, b):
        return np.sin(a[:, None] - b[None, :]) * a[:, None] + b[None, :]

    with config.overridden(quick_runs=0):
        f = ljit.jit(waves)
        a, b = np.linspace(1, 2, 9, dtype=dtype), np.linspace(3, 4, n, dtype=dtype)
        for _ in range(3):
            result = f(a, b)
    assert result.dtype == dtype
    # NumPy's sine and ours differ in the last places, more so beside the zeros of the result
    np.testing.assert_allclose(result, waves(a, b), rtol=1e-5 if dtype is np.float32 else 1e-14)
    text = f.dump_llvm(a, b, optimized=True)
    name = "float" if dtype is np.float32 else "double"
    assert re.search(rf"call <\d+ x {name}> @shared.sin", text)
    assert text.count("@shared.sin") < 8
