"""Compiles and the garbage collector, in processes of their own: tests run with frozen objects."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PRELUDE = """
import gc, weakref
import numpy as np
import ljit
from ljit import config
from ljit.cpython import garbage

def total(a):
    s = 0.0
    for x in a:
        s += x * 1.5
    return s

def functions(n):
    for _ in range(n):
        yield ljit.jit(type(total)(total.__code__, globals(), "total"))

def compile_one(f):
    with config.overridden(cold_calls=False):
        for _ in range(3):
            f(np.arange(5.0))
    assert [s.state for s in f.specializations] == ["native"]

class Thing:
    pass

for f in functions(1):
    compile_one(f)  # loads the compiler
"""

OF_THE_MODULE = """
from ljit.runtime import baseline

class Sums:
    @staticmethod
    @ljit.jit
    def of(a):
        return total(a)

    @ljit.jit
    def mean(a):
        return total(a) / len(a)

def inner():
    @ljit.jit
    def f(a):
        return total(a)
    return f

def are_seen(*functions):
    for f in functions:
        compile_one(f)
    seen = {id(x) for x in gc.get_objects()}
    units = [plan.unit for f in functions for plan in f._executor.plans.values()]
    made = [f.inlined_graph.block for f in functions] + [u.specialization.graph.block for u in units]
    return [id(block) in seen for block in made]

total = ljit.jit(total)
print(are_seen(total, Sums.of, Sums.mean), are_seen(inner()))
baseline._LASTING_OBJECTS = 1
total = ljit.jit(total.__wrapped__)
print(are_seen(total))
"""

OLD = """
f, = functions(1)
compile_one(f)
print(any(x is f.inlined_graph.block for x in gc.get_objects(generation=2)), gc.isenabled())
"""

GARBAGE = """
thing = Thing()
thing.itself = thing
reference = weakref.ref(thing)
del thing
f, = functions(1)
f.graph
print(reference() is None)
"""

CYCLES = """
kept = [*functions(20)]
gc.collect()
for index, f in enumerate(kept):
    with config.overridden(cold_calls=False, quick_runs=index % 2 * 1000):
        for _ in range(3):
            f(np.arange(5.0))
print(gc.collect() < 1000)
"""

FROZEN = """
gc.freeze()
count = gc.get_freeze_count()
for f in functions(2):
    compile_one(f)
print(gc.get_freeze_count() == count > 0, gc.isenabled())
"""

DISABLED = """
gc.disable()
thing = Thing()
thing.itself = thing
reference = weakref.ref(thing)
del thing
for f in functions(2):
    compile_one(f)
print(reference() is not None, gc.isenabled())
"""

MANY = """
garbage._MANY = 10_000
seen = []
gc.callbacks.append(lambda phase, info: seen.append(info["generation"]) if phase == "stop" else None)
references = []
for f in functions(30):
    thing = Thing()
    thing.itself = thing
    compile_one(f)
    references.append(weakref.ref(thing))
    del thing
print(1 <= seen.count(2) <= 20, sum(r() is None for r in references) >= 10)
"""


FINALIZER = """
class Compiling(Thing):
    def __del__(self):
        for f in functions(2):
            compile_one(f)

things = [Compiling() for _ in range(3)]
for thing in things:
    thing.all = things
references = list(map(weakref.ref, things))
del thing, things
print(gc.collect() > 0, [r() for r in references], gc.isenabled())
"""

LASTING = """
from ljit.codegen.functions import work
from ljit.runtime import cold, plain_calls
seen = {id(x) for x in gc.get_objects()}
lasting = [plain_calls.run_watched, cold.__dict__, cold.ColdCalls, work.__dict__]
print(any(id(x) in seen for x in lasting), all(map(gc.is_tracked, lasting)))
"""

OF_THE_PROGRAM = """
from ljit.cpython.lasting import lasting

def cycle():
    thing = Thing()
    thing.itself = thing
    return thing

def kept_of(between, *, inside):
    outside = cycle()
    with lasting():
        things = [cycle() for _ in range(100)]
        between()
        with lasting():
            things += [cycle() for _ in range(100)]
    references = [*map(weakref.ref, [outside, *things])]
    del outside, things
    gc.collect()
    alive = [r() is not None for r in references]
    for reference in references:
        thing = reference()
        if thing is not None:
            del thing.itself
    del thing
    gc.collect()
    assert not any(r() for r in references) and gc.isenabled()
    return alive == [False] + [inside] * 200

def as_another_thread(run):
    enter, leave = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (enter.set(), leave.wait()))
    thread.start()
    enter.wait()
    try:
        return run()
    finally:
        leave.set()
        thread.join()

def traced(run):
    sys.settrace(lambda *_: None)
    try:
        return run()
    finally:
        sys.settrace(None)

def of_another_version(run):
    known, interpreters._NEXT = interpreters._NEXT, (3, 11)
    try:
        return run()
    finally:
        interpreters._NEXT = known

import sys, threading
from ljit.cpython import interpreters
nothing = lambda: None
print(
    kept_of(nothing, inside=True),
    kept_of(gc.collect, inside=False),
    kept_of(lambda: (gc.freeze(), gc.unfreeze()), inside=False),
    as_another_thread(lambda: kept_of(nothing, inside=False)),
    traced(lambda: kept_of(nothing, inside=False)),
    of_another_version(lambda: kept_of(nothing, inside=False)),
)
"""


@pytest.mark.parametrize(
    ("program", "shown"),
    [
        pytest.param(LASTING, "False True", id="what-lasts-is-out-of-sight"),
        pytest.param(OF_THE_PROGRAM, "True " * 5 + "True", id="what-is-the-programs-is-not"),
        pytest.param(
            OF_THE_MODULE,
            f"{[False] * 6} {[True] * 2}\n{[True] * 2}",
            id="compiles-of-a-modules-functions-are-out-of-sight",
        ),
        pytest.param(OLD, "True True", id="what-compiles-made-is-old"),
        pytest.param(GARBAGE, "True", id="what-the-program-dropped-does-not-get-old"),
        pytest.param(CYCLES, "True", id="compiles-leave-few-cycles"),
        pytest.param(FROZEN, "True True", id="what-is-frozen-stays-so"),
        pytest.param(DISABLED, "True False", id="none-where-the-program-has-none"),
        pytest.param(FINALIZER, "True [None, None, None] True", id="compiles-in-collections"),
        pytest.param(MANY, "True True", id="full-ones-from-time-to-time"),
    ],
)
def test_compiles_and_the_garbage_collector(program, shown, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PRELUDE + program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stderr == ""
    assert done.stdout.strip() == shown
