"""Large arrays of native code: their memory is kept, bounded, and theirs like any array's."""

from __future__ import annotations

import ctypes
import gc
import pickle
import subprocess
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name

import ljit
from ljit.codegen.arrays import blocks

LARGE = 1 << 17  # floats: a megabyte


def scaled(x, y):
    return x * y + 1.0


def zeroed(n):
    return np.zeros(n)


def transposed_sum(x):
    return x.T + 1.0


def square(n):
    return np.empty((n, n))


@pytest.fixture
def limit():
    """Set how much is kept; the default comes back behind the test."""
    yield blocks.set_limit
    blocks.set_limit(256 << 20)


def sorted_product(x, y):
    return np.sort(x * y)


def inner(x, y):
    return np.dot(x * 2.0, y)


def joined(x, y):
    return np.concatenate((x * 2.0, y))


def joined_list(x, y):
    return np.concatenate([x * 2.0, y])


def rolled(x):
    return np.roll(x * 2.0, 1, axis=0)


def compiled(function, *args):
    made = ljit.jit(function)
    for _ in range(4):
        made(*args)
    return made


def is_block(array) -> bool:
    return get_handler_name(array) == "ljit"


def test_a_large_result_is_an_array_that_owns_its_memory():
    x = np.arange(float(LARGE))
    result = compiled(scaled, x, x)(x, x)
    assert is_block(result)
    assert type(result) is np.ndarray
    assert result.base is None
    assert result.flags.owndata and result.flags.writeable and result.flags.aligned
    assert result.flags.c_contiguous
    assert result.ctypes.data % 64 == 0
    assert np.array_equal(result, x * x + 1.0)


def test_a_small_result_is_made_by_numpy_alone():
    x = np.arange(100.0)
    assert not is_block(compiled(scaled, x, x)(x, x))


def test_results_in_fortran_order_have_blocks_too():
    x = np.arange(float(LARGE)).reshape(2, -1)
    result = compiled(transposed_sum, x)(x)
    assert is_block(result)
    assert result.flags.f_contiguous and not result.flags.c_contiguous
    assert np.array_equal(result, x.T + 1.0)


def test_the_memory_of_a_dead_result_is_the_next_ones():
    x = np.ones(LARGE)
    f = compiled(scaled, x, x)
    first = f(x, x).ctypes.data
    assert f(x, x).ctypes.data == first


def test_living_results_never_share_memory():
    x = np.ones(LARGE)
    f = compiled(scaled, x, x)
    results = [f(x, np.full(LARGE, float(k))) for k in range(12)]
    for k, result in enumerate(results):
        assert np.all(result == k + 1.0)
        assert not any(np.shares_memory(result, other) for other in results[:k])


def test_a_view_keeps_the_memory_of_a_result():
    x = np.ones(LARGE)
    f = compiled(scaled, x, x)
    view = f(x, x)[5:7]
    other = f(x, x * 9.0)
    assert view.tolist() == [2.0, 2.0]
    assert other[5] == 10.0


@pytest.mark.parametrize("count", [LARGE, 1 << 22])
def test_zeros_are_zero_in_used_memory_as_well(count):
    f = compiled(zeroed, count)
    for _ in range(5):
        result = f(count)
        assert not result.any()
        result[:] = 7.0
        del result


def test_what_is_kept_is_bounded_in_bytes(limit):
    limit(3 << 20)
    x = np.ones(LARGE)
    f = compiled(scaled, x, x)
    results = [f(x, x) for _ in range(10)]
    del results
    assert 2 << 20 <= blocks.kept_bytes() <= 3 << 20
    huge = np.ones(1 << 20)
    f(huge, huge)
    assert blocks.kept_bytes() <= 3 << 20


def test_what_is_kept_is_bounded_in_blocks():
    x = np.ones(LARGE)
    f = compiled(scaled, x, x)
    results = [f(x, x) for _ in range(60)]
    del results
    assert blocks.kept_bytes() < 33 * (x.nbytes + 4096)


def test_blocks_that_lie_unused_are_given_up():
    large, small = np.ones(LARGE * 4), np.ones(LARGE)
    f = compiled(scaled, small, small)
    f(large, large)
    kept = blocks.kept_bytes()
    for _ in range(100):
        f(small, small)
    assert blocks.kept_bytes() <= kept - large.nbytes


def test_memory_is_given_back_when_asked_for():
    x = np.ones(LARGE)
    compiled(scaled, x, x)(x, x)
    assert blocks.kept_bytes() > 0
    ljit.release_memory()
    assert blocks.kept_bytes() == 0


def test_nothing_is_kept_without_a_limit(limit):
    limit(0)
    x = np.ones(LARGE)
    f = compiled(scaled, x, x)
    assert is_block(f(x, x))
    assert blocks.kept_bytes() == 0


@pytest.mark.parametrize("size", [3, LARGE // 2, LARGE, LARGE + 100, LARGE * 3])
def test_resize_changes_the_memory_as_numpy_does(size):
    x = np.arange(float(LARGE))
    result = compiled(scaled, x, x)(x, x)
    expected = x * x + 1.0
    result.resize(size, refcheck=False)
    expected.resize(size, refcheck=False)
    assert result.flags.owndata
    assert np.array_equal(result, expected)


def test_results_are_pickled_copied_and_seen_as_subclasses():
    class Marked(np.ndarray):
        pass

    x = np.ones(LARGE)
    result = compiled(scaled, x, x)(x, x)
    assert np.array_equal(pickle.loads(pickle.dumps(result)), result)
    assert not is_block(result.copy())
    marked = result.view(Marked)
    del result
    gc.collect()
    assert type(marked) is Marked and np.all(marked == 2.0)
    assert memoryview(marked).nbytes == x.nbytes


@pytest.mark.parametrize("n", [1 << 25, 1 << 31, 1 << 40])
def test_sizes_that_no_memory_holds_are_numpys_errors(n):
    f = compiled(square, 300)
    with pytest.raises((MemoryError, ValueError)) as expected:
        square(n)
    with pytest.raises(type(expected.value)) as found:
        f(n)
    assert str(found.value) == str(expected.value)
    assert type(found.value) is type(expected.value)


def test_tracemalloc_counts_blocks():
    x = np.ones(LARGE)
    f = compiled(scaled, x, x)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = f(x, x)
        held = tracemalloc.get_traced_memory()[0] - before
        del result
        after = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held >= x.nbytes
    assert after < x.nbytes / 10  # threads of the test runner may have made something meanwhile


def test_threads_make_and_free_arrays_at_once():
    x = np.ones(LARGE)
    f = compiled(scaled, x, x)
    barrier = threading.Barrier(4)

    def work(number: int) -> bool:
        barrier.wait()
        y = np.full(LARGE, float(number))
        kept, good = [], True
        for k in range(60):
            kept.append(f(x, y))
            if k % 7 == 3:
                good &= all(np.all(a == number + 1.0) for a in kept)
                kept.clear()
        return good

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert blocks.kept_bytes() <= 32 * (x.nbytes + 4096)


def test_an_array_may_be_freed_in_another_thread():
    x = np.ones(LARGE)
    f = compiled(scaled, x, x)
    held = [f(x, x) for _ in range(20)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert np.all(f(x, x) == 2.0)


def test_numpys_functions_get_blocks_for_large_operands():
    x, y = np.random.rand(LARGE), np.random.rand(LARGE)
    f = compiled(sorted_product, x, y)
    result = f(x, y)
    assert is_block(result)
    assert np.array_equal(result, np.sort(x * y))
    assert not is_block(f(x[:50], y[:50]))
    assert not is_block(np.empty(LARGE))


@pytest.mark.parametrize("function", [joined, joined_list])
def test_operands_may_be_in_tuples_and_lists(function):
    x, y = np.random.rand(LARGE), np.random.rand(LARGE)
    f = compiled(function, x, y)
    assert is_block(f(x, y))
    assert np.array_equal(f(x, y), function(x, y))
    assert not is_block(f(x[:9], y[:9]))


def test_functions_without_an_op_get_blocks_too():
    x = np.random.rand(LARGE)
    f = compiled(rolled, x)
    assert is_block(f(x))
    assert np.array_equal(f(x), rolled(x))


def test_the_handler_serves_few_bytes_as_well():
    x = np.ones(LARGE)
    compiled(scaled, x, x)
    functions = (ctypes.c_uint64 * 5).from_address(blocks._module().symbol("handler") + 128)
    word = ctypes.c_uint64
    make = ctypes.CFUNCTYPE(word, word, word)(functions[1])
    clear = ctypes.CFUNCTYPE(word, word, word, word)(functions[2])
    change = ctypes.CFUNCTYPE(word, word, word, word)(functions[3])
    free = ctypes.CFUNCTYPE(None, word, word, word)(functions[4])
    data = make(0, 40)
    ctypes.memset(data, 7, 40)
    sizes = (100, 30, 1 << 20, 3 << 20, 1 << 18, 1 << 10, 25, 0)
    least = 40
    for size in sizes:
        data = change(0, data, size)
        assert data % 16 == 0
        least = min(least, size)
        assert ctypes.string_at(data, least) == b"\7" * least
    free(0, data, 0)
    for size in (1, 1000, 1 << 18, 1 << 22):
        for _ in range(3):
            data = clear(0, size, 1)
            assert ctypes.string_at(data, size) == bytes(size)
            ctypes.memset(data, 9, size)
            free(0, data, size)
    assert clear(0, 1 << 40, 1 << 40) == 0
    assert make(0, 1 << 60) == 0


def test_an_error_of_numpys_function_leaves_the_handler_as_it_was():
    x, y = np.random.rand(LARGE), np.random.rand(LARGE)
    f = compiled(inner, x, y)
    with pytest.raises(ValueError, match="not aligned"):
        f(x, y[1:])
    assert not is_block(np.empty(LARGE))


_OUTLIVING = """
import sys
import numpy as np
import ljit

class Late:
    def __init__(self, array):
        self.array = array
    def __del__(self):
        self.array[:] = 1.0
        self.array = None

@ljit.jit
def f(x):
    return x * 2.0 + x

x = np.ones(200_000)
for _ in range(3):
    result = f(x)
sys.late = Late(f(x))
np.late = Late(f(x))
sys.modules["late"] = Late(f(x))
import builtins
builtins.late = [Late(f(x)) for _ in range(20)]
from numpy._core.multiarray import get_handler_name
assert get_handler_name(np.late.array) == "ljit"
del ljit, f
sys.modules.pop("ljit")
print("done")
"""


def outcome(folder, text):
    """Run a program in a process of its own."""
    path = folder / "program.py"
    path.write_text(text)
    run = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-W", "ignore", path],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return run.returncode, run.stdout, run.stderr


_IN_A_LOOP = """
import os, threading
import numpy as np
import ljit
from numpy._core.multiarray import get_handler_name

@ljit.jit
def steps(x, n):
    total = 0.0
    for i in range(n):
        y = x * 2.0 + i
        total += y[0]
    return total, y

x = np.ones(100_000)
results = []
def work():
    for _ in range(4):
        results.append(steps(x, 300))
thread = threading.Thread(target=work)
thread.start()
work()
thread.join()
assert {total for total, _ in results} == {300 * 2.0 + 299 * 150.0}
assert all(np.all(y == 301.0) for _, y in results)
assert get_handler_name(steps(x, 3)[1]) == "ljit"
child = os.fork()
if not child:
    good = all(np.all(steps(x, k)[1] == k + 1.0) for k in range(1, 20))
    results.clear()
    os._exit(not good)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), np.all(results[0][1] == 301.0))
"""


def test_blocks_come_into_use_in_between_and_live_on_in_a_fork(tmp_path):
    assert outcome(tmp_path, _IN_A_LOOP) == (0, "0 True\n", "")


def test_arrays_outlive_everything_else(tmp_path):
    assert outcome(tmp_path, _OUTLIVING) == (0, "done\n", "")


def test_a_program_with_a_handler_of_its_own_keeps_it(monkeypatch):
    x = np.ones(LARGE)
    f = compiled(scaled, x, x)
    with other_handler():
        result = f(x, x)
    assert get_handler_name(result) == "other"
    assert np.all(result == 2.0)


class other_handler:
    """NumPy's own functions under another name, for the length of a ``with`` block."""

    def __enter__(self):
        from ljit.codegen.layouts.layout import _numpy_table, default_handler, word_at

        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.argtypes, pointer.restype = (ctypes.c_void_p, ctypes.c_char_p), ctypes.c_void_p
        name = self.name = ctypes.c_char_p(b"mem_handler")
        copy = bytearray(ctypes.string_at(pointer(default_handler(), name.value), 168))
        copy[:127] = b"other".ljust(127, b"\0")
        self.memory = ctypes.create_string_buffer(bytes(copy), 168)
        make = ctypes.pythonapi.PyCapsule_New
        make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        make.restype = ctypes.py_object
        capsule = make(ctypes.addressof(self.memory), name, None)
        KEPT.append((self.memory, name, capsule))
        set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)
        self.set = set_handler(word_at(_numpy_table() + 304 * 8))
        self.before = self.set(capsule)

    def __exit__(self, *_exc):
        self.set(self.before)


KEPT: list[object] = []


def test_numpy_may_free_nothing() -> None:
    """A sort of places frees buffers that it did not need, with the handler that it began with."""

    @ljit.jit
    def in_order(a):
        places = a.argsort()
        return a[places], a.argsort()[::-1], np.sort(a), np.partition(a, 5)[5]

    a = np.tile(np.random.default_rng(1).random(1000), 70)
    for _ in range(4):
        ordered, places, again, fifth = in_order(a)
        assert np.array_equal(ordered, np.sort(a))
        assert np.array_equal(again, ordered)
        assert np.array_equal(a[places[::-1]], ordered)
        assert fifth == ordered[5]
