"""Random streams that are shared, copied, locked, replaced, or not NumPy's own."""

import copy
import ctypes
import pickle
import random
import sys
import threading

import numpy as np
import pytest

import ljit
from ljit.codegen.draws import random_streams
from ljit.errors import InternalError


def total(rng, n):
    result = 0.0
    for _ in range(n):
        result += rng.random()
    return result


def warm(function, *args):
    compiled = ljit.jit(function, strict=True)
    for _ in range(3):
        compiled(*args)
    return compiled


def bailouts(compiled):
    return sum(info.bailouts for info in compiled.specializations)


def new(seed=4):
    return np.random.default_rng(seed)


def test_draws_while_another_thread_holds_the_lock_are_left_to_numpy():
    compiled = warm(total, new(), 5)
    first, second = new(), new()
    is_held, is_over = threading.Event(), threading.Event()

    def hold():
        with first.bit_generator.lock:
            is_held.set()
            while not bailouts(compiled) and not is_over.is_set():
                pass

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait()
    found = compiled(first, 6)
    is_over.set()
    holder.join()
    assert (found, bailouts(compiled)) == (total(second, 6), 1)
    assert compiled(first, 7) == total(second, 7)
    assert bailouts(compiled) == 1
    assert first.bit_generator.state == second.bit_generator.state


def test_threads_that_draw_from_one_stream_lose_and_repeat_nothing():
    rng, expected = new(), new()
    compiled = warm(total, new(), 5)
    counts, size, trips = 40, 20_000, 30_000

    def fill():
        for _ in range(counts):
            rng.random(size)

    def draw():
        for _ in range(counts):
            compiled(rng, trips)

    threads = [threading.Thread(target=work) for work in (fill, draw, draw)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    expected.bit_generator.advance(counts * (size + 2 * trips))
    assert rng.bit_generator.state["state"] == expected.bit_generator.state["state"]


@pytest.mark.parametrize(
    "change",
    [
        copy.deepcopy,
        lambda rng: pickle.loads(pickle.dumps(rng)),
        lambda rng: rng.spawn(1)[0],
        lambda rng: np.random.Generator(rng.bit_generator.jumped()),
        lambda rng: np.random.Generator(rng.bit_generator),
    ],
    ids=["deepcopy", "pickle", "spawn", "jumped", "shared"],
)
def test_copies_draw_from_their_own_streams(change):
    compiled = warm(total, new(), 5)
    pairs = []
    for function in (compiled, total):
        rng = new()
        other = change(rng)
        values = [function(rng, 3), function(other, 4), function(rng, 5), function(other, 6)]
        pairs.append((values, rng.bit_generator.state, other.bit_generator.state))
    assert pairs[0] == pairs[1]
    assert bailouts(compiled) == 0


class Subclass(np.random.Generator):
    def random(self):
        return 0.25


class Source(np.random.PCG64):
    pass


def test_subclasses_are_what_they_are():
    compiled = warm(total, new(), 5)
    for make in (
        lambda: Subclass(np.random.PCG64(1)),
        lambda: np.random.Generator(Source(1)),
        lambda: np.random.RandomState(5),
        lambda: np.random.Generator(np.random.SFC64(2)),
    ):
        for _ in range(4):
            assert compiled(make(), 9) == total(make(), 9)


class ForeignSource:
    """A bit generator of somebody else, whose functions run Python code."""

    def __init__(self):
        self.drawn = 0
        self.lock = threading.Lock()
        whole = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)
        double = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)
        self.functions = [
            whole(self.next),
            whole(self.next),
            double(self.next_double),
            whole(self.next),
        ]
        words = [0, *(ctypes.cast(f, ctypes.c_void_p).value for f in self.functions)]
        self.words = (ctypes.c_void_p * 5)(*words)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.name = b"BitGenerator"
        self.capsule = make(ctypes.addressof(self.words), self.name, None)

    def next(self, _state):
        self.drawn += 1
        return self.drawn

    def next_double(self, _state):
        self.drawn += 1
        return self.drawn / 1024


def test_a_foreign_bit_generator_is_left_to_numpy():
    compiled = warm(total, new(), 5)
    results = []
    for function in (compiled, total):
        source = ForeignSource()
        rng = np.random.Generator(source)
        results.append(([function(rng, 4) for _ in range(4)], source.drawn))
    assert results[0] == results[1]
    assert bailouts(compiled) > 0


def test_a_stream_that_is_not_made_yet_is_an_error_as_in_numpy():
    compiled = warm(total, new(), 5)
    empty = np.random.Generator.__new__(np.random.Generator)
    with pytest.raises(Exception) as plain:
        total(empty, 3)
    with pytest.raises(type(plain.value)):
        compiled(empty, 3)


def redirected(rng, other, n):
    result = 0.0
    for i in range(n):
        result += rng.random()
        if i == 3:
            rng.__init__(other)
        if i == 5:
            rng.bit_generator.state = np.random.PCG64(77).state
    return result


def test_a_generator_that_is_given_another_source_draws_from_that():
    compiled = ljit.jit(redirected, strict=True)
    for seed in (9, 9, 9, 8):
        plain = redirected(new(), np.random.PCG64(seed), 9)
        assert compiled(new(), np.random.PCG64(seed), 9) == plain


GLOBAL = np.random.default_rng(1)


def from_global(n):
    result = 0.0
    for _ in range(n):
        result += GLOBAL.random() + np.random.rand()
    return result


def test_a_global_stream_that_is_replaced_is_seen(monkeypatch):
    compiled = ljit.jit(from_global, strict=True)
    for seed in (1, 1, 1, 2, 3, 3):
        values = []
        for function in (compiled, from_global):
            monkeypatch.setitem(globals(), "GLOBAL", new(seed))
            np.random.seed(seed)
            values.append(function(10))
        assert values[0] == values[1]


def test_the_legacy_functions_draw_from_a_bit_generator_that_is_set():
    compiled = ljit.jit(from_global, strict=True)
    before = np.random.get_bit_generator()
    try:
        for seed in (1, 1, 1, 2, 3):
            values = []
            for function in (compiled, from_global):
                GLOBAL.bit_generator.state = np.random.PCG64(seed).state
                np.random.set_bit_generator(np.random.MT19937(seed))
                values.append(function(10))
            assert values[0] == values[1]
    finally:
        np.random.set_bit_generator(before)


def normals(rng, n):
    return [(rng.normal(1.0, 2.0), rng.integers(9), random.random()) for _ in range(n)]


@pytest.mark.parametrize("name", ["stream_of", "random_function", "lock_layout", "known_sources"])
def test_streams_of_an_unknown_layout_are_left_to_numpy(monkeypatch, name):
    def unknown(*_args):
        raise InternalError("unknown layout")

    monkeypatch.setattr(random_streams, name, unknown)
    compiled = ljit.jit(normals, strict=True)
    for _ in range(6):
        first, second = new(), new()
        random.seed(1)
        expected = normals(first, 5)
        random.seed(1)
        assert compiled(second, 5) == expected
        assert first.bit_generator.state == second.bit_generator.state
    (info,) = compiled.specializations
    assert info.state == "native"
    assert info.bailouts <= 4
