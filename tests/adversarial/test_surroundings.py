"""What changes around native code while it runs: variables, callees, containers, collections, threads."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ljit
from tests.adversarial.harness import CALLS, assert_native, attack, native_calls
from tests.programs.harness import Factory, check_calls

# -- global variables and closures -------------------------------------------------------------------

FACTOR: Any = 2


def helper(x: Any) -> Any:
    return x + 1


def other_helper(x: Any) -> Any:
    return x * 10


def set_factor(value: Any) -> Factory:
    def make() -> tuple[Any, ...]:
        globals()["FACTOR"] = value
        return (9,)

    return make


def uses_factor(n: int) -> Any:
    total = 0
    for i in range(n):
        total = total + i * FACTOR
    return total


def test_a_global_changes_between_calls() -> None:
    values = (3, 2.5, True, 2**70, "ab", None, np.float32(2), np.arange(2.0), [1], -1)
    attack(uses_factor, set_factor(2), *map(set_factor, values))


def test_a_global_goes_away_between_calls() -> None:
    def without() -> tuple[Any, ...]:
        globals().pop("FACTOR", None)
        return (9,)

    attack(uses_factor, set_factor(2), without, set_factor(5))
    globals()["FACTOR"] = 2


def change_factor(i: int) -> int:
    if i == 500:
        globals()["FACTOR"] = 2.5
    if i == 700:
        globals()["FACTOR"] = "text"
    if i == 800:
        del globals()["FACTOR"]
    return i


def uses_factor_and_calls(n: int, change: Callable[[int], int]) -> Any:
    total = 0.0
    for i in range(n):
        total = total + i * FACTOR
        change(i)
        total = total + FACTOR
    return total


def set_two(n: int, change: Callable[[int], int]) -> Factory:
    def make() -> tuple[Any, ...]:
        globals()["FACTOR"] = 2
        return n, change

    return make


def test_a_global_changes_during_a_call() -> None:
    attack(
        uses_factor_and_calls,
        set_two(1000, abs),
        set_two(600, change_factor),
        set_two(750, change_factor),
        set_two(1000, change_factor),
    )
    globals()["FACTOR"] = 2


def test_a_closure_cell_changes_between_and_during_calls() -> None:
    factor: Any = 2

    def change(i: int) -> Any:
        nonlocal factor
        if i == 300:
            factor = 1.5
        if i == 600:
            factor = [1]

    def run(n: int, change: Any) -> Any:
        total = 0
        for i in range(n):
            change(i)
            total = total + i * factor
        return total

    def start(value: Any, n: int, change: Any) -> Factory:
        def make() -> tuple[Any, ...]:
            nonlocal factor
            factor = value
            return n, change

        return make

    attack(
        run,
        start(2, 900, abs),
        start(2.5, 900, abs),
        start(2, 400, change),
        start(2, 900, change),
        start("ab", 5, abs),
        start(3, 900, abs),
    )


def calls_helper(n: int) -> Any:
    total = 0
    for i in range(n):
        total = total + helper(i)
    return total


@pytest.fixture
def _helpers() -> Iterator[None]:
    saved = helper, other_helper
    yield
    globals()["helper"], globals()["other_helper"] = saved


def broken_helper(x: Any) -> Any:
    raise KeyError(x)


@pytest.mark.usefixtures("_helpers")
def test_a_callee_is_redefined_between_calls() -> None:
    original = helper

    def define(function: Any) -> Factory:
        def make() -> tuple[Any, ...]:
            globals()["helper"] = function
            return (50,)

        return make

    others = (other_helper, abs, ljit.jit(other_helper), float, broken_helper, 7, list, np.sqrt)
    attack(calls_helper, define(original), *map(define, others), define(original))


def redefine(i: int) -> None:
    if i == 400:
        globals()["helper"] = other_helper
    if i == 900:
        globals()["helper"] = broken_helper


def calls_helper_and(n: int, change: Callable[[int], Any]) -> Any:
    total = 0
    for i in range(n):
        change(i)
        total = total + helper(i)
    return total


@pytest.mark.usefixtures("_helpers")
def test_a_callee_is_redefined_during_a_call() -> None:
    original = helper

    def start(n: int, change: Any) -> Factory:
        def make() -> tuple[Any, ...]:
            globals()["helper"] = original
            return n, change

        return make

    attack(calls_helper_and, start(600, abs), start(600, redefine), start(1000, redefine))


def test_module_attributes_and_builtins_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    import math

    def run(n: int) -> Any:
        total = 0.0
        for i in range(n):
            total = total + math.sqrt(i) + abs(-i) + len([i])
        return total

    attack(run, lambda: (20,))
    compiled = ljit.jit(run)
    check_calls(run, compiled, [lambda: (20,)] * 3)
    monkeypatch.setattr(math, "sqrt", lambda x: x * 100)
    check_calls(run, compiled, [lambda: (20,)] * 3)
    monkeypatch.setitem(globals(), "abs", lambda x: "no number")
    check_calls(run, compiled, [lambda: (20,)] * 3)
    monkeypatch.undo()
    check_calls(run, compiled, [lambda: (20,)] * 3)


# -- containers that change under an iteration --------------------------------------------------------


def walk(xs: Any, change: Callable[[Any, Any], Any], limit: int) -> Any:
    seen = 0.0
    count = 0
    for x in xs:
        seen = seen + x
        count += 1
        change(xs, x)
        if count >= limit:
            break
    return seen, count


def nothing(xs: Any, x: Any) -> None:
    pass


def pop(xs: Any, x: Any) -> None:
    xs.pop()


def pop_first(xs: Any, x: Any) -> None:
    xs.pop(0)


def append(xs: Any, x: Any) -> None:
    xs.append(x + 1)


def clear(xs: Any, x: Any) -> None:
    if x > 20:
        xs.clear()


def put_text(xs: Any, x: Any) -> None:
    if x == 30:
        xs[35:40] = ["text"]


def put_floats(xs: Any, x: Any) -> None:
    if x == 20:
        xs[25] = 2.5
        xs[30] = 2**70


def insert_first(xs: Any, x: Any) -> None:
    xs.insert(0, 5)


def test_lists_that_change_while_they_are_iterated() -> None:
    changes = (pop, pop_first, append, clear, put_text, put_floats, insert_first)
    attack(
        walk,
        lambda: (list(range(100)), nothing, 200),
        *(lambda change=change: (list(range(100)), change, 200) for change in changes),
    )


def test_lists_that_change_while_they_are_indexed() -> None:
    def index(xs: Any, change: Any, n: int) -> Any:
        total = 0
        for i in range(n):
            total = total + xs[i] + xs[-1]
            change(xs, i)
            xs[i] = i
        return total, xs

    changes = (pop, append, clear, put_text, put_floats)
    attack(
        index,
        lambda: (list(range(100)), nothing, 100),
        *(lambda change=change: (list(range(100)), change, 100) for change in changes),
    )


def set_key(xs: Any, x: Any) -> None:
    xs[x + 1000] = 1


def delete_key(xs: Any, x: Any) -> None:
    del xs[x]


def same_size(xs: Any, x: Any) -> None:
    del xs[x]
    xs[x + 1000] = 1


def add(xs: Any, x: Any) -> None:
    xs.add(x + 1000)


def test_dicts_and_sets_that_change_size_while_they_are_iterated() -> None:
    def numbers() -> dict[int, int]:
        return dict.fromkeys(range(50), 1)

    attack(
        walk,
        lambda: (numbers(), nothing, 200),
        lambda: (numbers(), set_key, 200),
        lambda: (numbers(), delete_key, 200),
        lambda: (numbers(), same_size, 60),
        lambda: (set(range(50)), nothing, 200),
        lambda: (set(range(50)), add, 200),
    )

    def items(d: Any, change: Any) -> Any:
        total = 0
        for key, value in d.items():
            total += key * value
            change(d, key)
        for value in d.values():
            total += value
        return total

    attack(items, lambda: (numbers(), nothing), lambda: (numbers(), set_key))


class Generated:
    """Makes the same generator each time; a generator itself could not be compared."""

    def __init__(self, last: Any, size: int = 50) -> None:
        self.last, self.size = last, size

    def __iter__(self) -> Iterator[Any]:
        yield from range(self.size)
        if isinstance(self.last, Exception):
            raise type(self.last)(*self.last.args)  # one that has no traceback yet
        yield self.last


def test_generators_that_end_in_something_else() -> None:
    ends = (2.5, 2**70, "text", None, ValueError("end"), StopIteration(5), KeyError(1), True)
    attack(
        walk,
        lambda: (Generated(1), nothing, 200),
        *(lambda end=end: (Generated(end), nothing, 200) for end in ends),
        lambda: (Generated(1), nothing, 10),
    )


def test_a_generator_that_uses_the_function_itself() -> None:
    @ljit.jit
    def total(xs: Any) -> Any:
        s = 0
        for x in xs:
            s += x
        return s

    def nested(depth: int) -> Iterator[Any]:
        for k in range(30):
            yield k if depth == 0 or k % 10 else total(nested(depth - 1))

    for _ in range(CALLS):
        assert total(nested(2)) == sum(sum_of(2))
    assert_native(total)


def sum_of(depth: int) -> Iterator[int]:
    for k in range(30):
        yield k if depth == 0 or k % 10 else sum(sum_of(depth - 1))


# -- native code entered again, collected, from threads -------------------------------------------------


def with_callback(a: np.ndarray, n: int, callback: Callable[[int], Any]) -> Any:
    total = 0.0
    for i in range(n):
        total += a[i] * callback(i)
        a[i] = total
    return total


def test_functions_are_entered_again_by_a_callback() -> None:
    def make(function: Callable[..., Any], depth: int) -> Callable[[int], Any]:
        def again(i: int) -> Any:
            if i % 40 or depth == 0:
                return i
            inner = function(np.arange(50.0), 50, make(function, depth - 1))
            return inner % 7 if depth > 1 else inner % 3 > 1

        return again

    compiled: Any = ljit.jit(with_callback)
    for depth in (0, 1, 2, 3, 2, 1, 0):
        mine, plain = np.arange(100.0), np.arange(100.0)
        found = compiled(mine, 100, make(compiled, depth))
        expected = with_callback(plain, 100, make(with_callback, depth))
        assert found == expected and np.array_equal(mine, plain)
    assert_native(compiled)


def test_other_types_come_in_through_the_callback() -> None:
    compiled: Any = ljit.jit(with_callback)

    def once(function: Any, kinds: list[Any]) -> Callable[[int], Any]:
        def call(i: int) -> Any:
            if i == 30 and kinds:
                return function(kinds[0](), 40, once(function, kinds[1:]))
            return i

        return call

    kinds: list[Any] = [
        lambda: np.arange(50, dtype=np.float32),
        lambda: [1.0] * 40,
        lambda: np.arange(50),
        lambda: np.arange(100.0)[::2],
    ]
    for count in (0, 0, 0, 1, 2, 3, 4, 4, 0):
        with np.errstate(all="ignore"):
            found = compiled(np.ones(60), 60, once(compiled, kinds[:count]))
            expected = with_callback(np.ones(60), 60, once(with_callback, kinds[:count]))
        assert found == expected and type(found) is type(expected)
    assert_native(compiled)


def test_functions_raise_through_their_own_native_code() -> None:
    def nest(function: Any, depth: int) -> Callable[[int], Any]:
        def call(i: int) -> Any:
            if i == 45:
                if depth == 0:
                    raise OverflowError("deep")
                return function(np.ones(50), 50, nest(function, depth - 1))
            return i

        return call

    compiled: Any = ljit.jit(with_callback)
    for _ in range(3):
        compiled(np.ones(50), 50, abs)
    for depth in (0, 1, 5, 30):
        for function in (with_callback, compiled):
            with pytest.raises(OverflowError, match="deep"):
                function(np.ones(50), 50, nest(function, depth))
    assert compiled(np.ones(50), 50, abs) == with_callback(np.ones(50), 50, abs)


def test_garbage_is_collected_during_native_code() -> None:
    class Cell:
        pass

    dead = []

    def collect(i: int) -> int:
        first, second = Cell(), Cell()
        first.other, second.other = second, first  # type: ignore[attr-defined]
        weakref.finalize(first, dead.append, i)
        del first, second
        gc.collect(0)
        return i

    def run(n: int, collect: Callable[[int], int]) -> Any:
        parts = []
        a = np.zeros(n)
        for i in range(n):
            row = np.full(4, float(i))
            pair = (row[1:], [i, row])
            a[i] = collect(i) + pair[0].sum()
            parts.append(pair)
        return a, parts[n // 2], len(parts)

    attack(run, lambda: (30, abs), lambda: (30, collect))
    gc.collect()
    assert len(dead) == 30 * 2 * (2 + CALLS)


def test_objects_that_native_code_drops_run_finalizers_that_call_it() -> None:
    seen: list[Any] = []

    @ljit.jit
    def run(make: Any, n: int) -> int:
        count = 0
        x = make(0)
        for i in range(n):
            x = make(i)  # the one before goes away here
            count += x.number
        return count

    class Last:
        def __init__(self, number: int) -> None:
            self.number = number

        def __del__(self) -> None:
            if self.number == 7:
                seen.append(run(Last, 3))

    for _ in range(CALLS):
        assert run(Last, 20) == 190
    assert seen == [3] * CALLS
    assert_native(run)


def test_no_reference_is_lost_or_kept() -> None:
    class Thing:
        pass

    thing = Thing()

    @ljit.jit
    def run(x: Any, n: int, fail: bool) -> Any:
        kept = [x]
        for i in range(n):
            kept.append((x, i))
            if fail and i == n - 1:
                kept[i + 5]
        return len(kept)

    for _ in range(CALLS):
        run(thing, 50, False)
    before = sys.getrefcount(thing)
    for fail in (False, True, False, True):
        try:
            run(thing, 50, fail)
        except IndexError:
            assert fail
    gc.collect()
    assert sys.getrefcount(thing) == before
    assert_native(run)


def test_threads_call_one_function_with_different_types() -> None:
    def run(a: Any, n: int) -> Any:
        total = 0
        for i in range(n):
            total = total + a[i] * i
        return total

    compiled: Any = ljit.jit(run)
    makers: list[Callable[[], Any]] = [
        lambda: np.arange(500.0),
        lambda: np.arange(500),
        lambda: list(range(500)),
        lambda: [0.5] * 500,
        lambda: np.arange(1000, dtype=np.float32)[::2],
        lambda: tuple(range(500)),
        lambda: [2**62] * 500,
    ]
    failures: list[Any] = []
    start = threading.Barrier(len(makers))

    def work(make: Callable[[], Any]) -> None:
        expected = run(make(), 500)
        start.wait()
        for _ in range(20):
            found = compiled(make(), 500)
            if found != expected or type(found) is not type(expected):
                failures.append((found, expected))

    threads = [threading.Thread(target=work, args=(make,)) for make in makers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert native_calls(compiled) > 0


# -- recursion -----------------------------------------------------------------------------------------


@ljit.jit
def even(n: Any) -> Any:
    return True if n == 0 else odd(n - 1)


@ljit.jit
def odd(n: Any) -> Any:
    return False if n == 0 else even(n - 1)


@ljit.jit
def depth_of(tree: Any) -> Any:
    return 0 if tree is None else 1 + max(depth_of(tree[0]), depth_of(tree[1]))


@ljit.jit
def ackermann(m: Any, n: Any) -> Any:
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def test_deep_recursion_is_an_error_and_no_crash() -> None:
    for _ in range(CALLS):
        assert even(60) is True
        assert odd(60) is False
        assert ackermann(2, 3) == 9
    for _ in range(2):
        for call in (lambda: even(10**6), lambda: odd(10**6 + 0.5), lambda: ackermann(4, 4)):
            with pytest.raises(RecursionError):
                call()
    assert even(61) is False
    assert ackermann(2, 4) == 11


def test_a_recursion_over_data() -> None:
    tree: Any = None
    for k in range(100):
        tree = (tree, None) if k % 2 else (None, tree)
        if k % 10 == 9:
            assert depth_of(tree) == k + 1
    assert depth_of(None) == 0


def test_recursion_in_a_thread_with_a_small_stack() -> None:
    outcomes: list[Any] = []

    def work() -> None:
        try:
            outcomes.append(even(10**6))
        except RecursionError as error:
            outcomes.append(type(error))

    for _ in range(CALLS):
        even(40)
    saved = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(saved)
    assert outcomes == [RecursionError]


def texts(number: int, wide: int, text: str) -> tuple[str, str, str]:
    return f"{number} {wide:x}", text[::-1], "".join([text, text, "x"])


@pytest.mark.parametrize("allocation", range(24))
def test_memory_that_is_missing_once_is_a_memory_error_or_not_needed(allocation: int) -> None:
    memory = pytest.importorskip("_testcapi")
    compiled, args = ljit.jit(texts), (3, 2**63, "text" * 30)
    for _ in range(4):
        assert compiled(*args) == texts(*args)
    memory.set_nomemory(allocation, allocation + 1)
    try:
        found = compiled(*args)
    except MemoryError:
        found = None
    finally:
        memory.remove_mem_hooks()
    assert found in (None, texts(*args))
    assert compiled(*args) == texts(*args)


def lists_of_numbers(count: int) -> list[list[float]]:
    return [[k * 0.5, k * 1.5] for k in range(count)]


def test_lists_that_cannot_be_finished_give_back_their_items() -> None:
    memory = pytest.importorskip("_testcapi")
    compiled = ljit.jit(lists_of_numbers)
    for _ in range(4):
        assert compiled(5) == lists_of_numbers(5)

    def blocks_kept(allocation: int, times: int) -> int:
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(times):
            memory.set_nomemory(allocation, allocation + 1)
            try:
                compiled(5)
            except MemoryError:
                pass
            finally:
                memory.remove_mem_hooks()
        gc.collect()
        return sys.getallocatedblocks() - before

    for allocation in range(16):
        blocks_kept(allocation, 20)  # CPython's free lists fill
        assert blocks_kept(allocation, 100) < 50, allocation
    assert compiled(5) == lists_of_numbers(5)
