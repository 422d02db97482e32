"""What the README promises about calls, compiles and memory, on small numbers; benchmarks/ has the large ones."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import ljit

ROOT = Path(__file__).resolve().parent.parent


def test_a_thousand_shapes_of_one_rank_make_one_compile():
    def weighted(a):
        total = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                total += a[i, j] * (i + 1)
        return total

    compiled = ljit.jit(weighted)
    for number in range(1000):
        a = np.ones((number % 37 + 1, number % 11))
        assert compiled(a) == weighted(a)
    (specialization,) = compiled.specializations
    assert specialization.compiles == 1
    assert specialization.state == "native"


def test_types_that_take_turns_live_side_by_side():
    def twice(x):
        return x * 2 + x

    compiled = ljit.jit(twice)
    arguments = (3, 2.5, np.float32(1.5), np.arange(3, dtype=np.float32), np.arange(3))
    for number in range(500):
        x = arguments[number % len(arguments)]
        result, expected = compiled(x), twice(x)
        assert type(result) is type(expected)
        assert np.array_equal(result, expected)
    assert len(compiled.specializations) == len(arguments)
    assert all(s.compiles == 1 for s in compiled.specializations)


def test_more_types_than_native_code_is_kept_for_are_still_right():
    def first(t):
        return t[0]

    compiled = ljit.jit(first)
    for _ in range(3):
        for length in range(1, 40):
            assert compiled((length,) * length) == length


def test_it_works_as_a_method_with_keywords_and_defaults():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @ljit.jit
        def apply(self, x, offset=1):
            return x * self.factor + offset

        @staticmethod
        @ljit.jit
        def double(x):
            return x * 2

    scale = Scale(3)
    for _ in range(4):
        assert scale.apply(2) == 7
        assert scale.apply(x=2.5, offset=0.5) == 8.0
        assert Scale.apply(scale, 1, 0) == 3
        assert Scale.double(4) == 8
    assert Scale.apply.__name__ == "apply"


@pytest.mark.parametrize("value", ["0", "1"])
def test_the_environment_switches_decoration_off(value: str):
    code = "import ljit; f = ljit.jit(lambda x: x); print(isinstance(f, ljit.Function))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "LJIT": value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(value == "1")


LIMIT = 10


FIRST_CALLS = """
import sys
import numpy as np
sys.path.insert(0, {folder!r})
import first_call_program, ljit
function = ljit.jit(first_call_program.escape_statistics)
for _ in range({calls}):
    function(np.linspace(-2, 1, 4), np.linspace(-1, 1, 3), 9)
print(*(name for name in {modules} if name in sys.modules))
"""


def loaded_after(calls, *modules):
    """Those of the modules that some calls load, in a process of their own."""
    program = FIRST_CALLS.format(folder=str(ROOT / "benchmarks"), calls=calls, modules=modules)
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_first_call_loads_neither_the_compiler_nor_the_ops_of_libraries():
    modules = ("ljit.ops.creation.create", "ljit.ops.index", "ljit.codegen", "llvmlite")
    assert loaded_after(1, *modules) == []


def test_a_compile_loads_those_ops_of_libraries_that_it_asks_for():
    asked = ["ljit.codegen", "ljit.ops.creation.create", "ljit.ops.stdlib.builtins_numbers"]
    others = (
        "ufuncs.arithmetic",
        "ufuncs.out",
        "reductions.reduce",
        "stdlib.random_numpy",
        "library",
    )
    assert loaded_after(2, *asked, *(f"ljit.ops.{name}" for name in others)) == asked


def test_a_compile_loads_what_it_needs_of_the_code_generator():
    others = ("lists.lists", "objects.objects", "draws.random_streams", "kernels.mask_loops")
    late = [f"ljit.codegen.{name}" for name in ("nests.mapnest", "mathlib", *others)]
    assert loaded_after(2, *late, "ljit.passes.fusion.fuse_blocks", "fractions") == []


def test_a_changed_global_is_seen(monkeypatch):
    def below(x):
        return x < LIMIT

    compiled = ljit.jit(below)
    for _ in range(3):
        assert compiled(5) is True
    monkeypatch.setattr(sys.modules[__name__], "LIMIT", 3)
    for _ in range(3):
        assert compiled(5) is False


def sums(xs, y):
    total = 0.0
    for x in xs:
        total += x * y
    return [total, xs]


def raises(a, i):
    b = a * 2.0
    return b[i] + a[i]


def arrays(a, b):
    c = a * b + a
    c[0] = b[1]
    return c, a[1:]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (sums, ([1.0, 2.5], 2.0)),
        (raises, (np.arange(4.0), 9)),
        (arrays, (np.arange(4.0), np.ones(4))),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_calls_leave_reference_counts_and_memory_flat(function, args):
    compiled = ljit.jit(function)

    def call(times):
        for _ in range(times):
            try:
                compiled(*args)
            except IndexError:
                pass

    call(3000)
    gc.collect()
    before = [sys.getrefcount(x) for x in args]
    tracemalloc.start()
    call(100)
    traced = tracemalloc.get_traced_memory()[0]
    call(3000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - traced
    tracemalloc.stop()
    # The test runner's threads hold small ints, too; a leak is one a call.
    assert all(abs(sys.getrefcount(x) - count) < 30 for x, count in zip(args, before, strict=True))
    assert grown < 20_000
