"""Places that callables of a few kinds come to: a branch for each kind, and native calls in them."""

from __future__ import annotations

import gc
import math
import sys
import weakref
from functools import partial

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.ops.control import CALL_NATIVE
from ljit.runtime import callees
from ljit.testing.chaos import fail_each_guard


@pytest.fixture(autouse=True, params=[200000, 0], ids=["quick", "optimised"])
def at_once(request, monkeypatch):
    """Compile without waiting, and call functions by links as if they were too large to be inlined."""
    monkeypatch.setattr(callees, "_function_to_inline", lambda _kind: None)
    with config.overridden(cold_calls=False, quick_runs=request.param):
        yield


def double(x):
    return 2 * x


def half(x):
    return x / 2


def text(x):
    return str(x)


def fails(x):
    return 1 // (3 - x)


@ljit.jit
def add_five(x, more=0):
    return x + 5 + more


class Line:
    def __init__(self, k):
        self.k = k

    def at(self, x):
        return self.k * x

    def over(self, x):
        return x / self.k


class Other(Line):
    pass


def make(k):
    return lambda x: k * x


def make_other(k):
    def inner(x, more=1):
        return x - k + more

    return inner


def each(functions, n):
    results = []
    for i in range(n):
        for f in functions:
            results.append(f(i))
    return results


def total(functions, n):
    result = 0
    for i in range(n):
        for f in functions:
            result += f(i)
    return result


def by_name(functions, names, n):
    result = 1
    for i in range(n):
        for name in names:
            result = functions[name](result, i) % 1000
    return result


def by_place(functions, n):
    result = 1
    for i in range(n):
        result = functions[i % len(functions)](result)
    return result


def chosen(f, n):
    result = 0
    for i in range(n):
        result += f(i)
    return result


def native_calls(made, *args):
    return sum(node.op is CALL_NATIVE for node in made.graph_for(*args).walk())


def bailouts(made):
    return sum(info.bailouts for info in made.specializations)


def outcome(function, *args):
    try:
        result = function(*args)
    except Exception as error:
        frames, at = [], error.__traceback__
        while at is not None:
            frames.append((at.tb_frame.f_code.co_name, at.tb_lineno))
            at = at.tb_next
        return type(error), str(error), frames[1:]
    return type(result), result, [*map(type, result)] if isinstance(result, list) else None


def same(made, plain, *args):
    assert outcome(made, *args) == outcome(plain, *args)


GROUPS = {
    "functions": lambda: (double, half),
    "decorated": lambda: [double, add_five, half],
    "ops": lambda: (math.sqrt, double, abs),
    "methods": lambda: [Line(2).at, Line(3).over],
    "of_classes": lambda: [Line(2).at, Other(3).at],
    "function_and_method": lambda: (double, Line(4).at),
    "made": lambda: (make(2), make_other(3)),
    "cells": lambda: (make(2), make(2.5)),
    "cells_of_many_types": lambda: (make(2), make(2.5), make(1j), make(True)),
    "objects": lambda: (double, Line),
    "partial": lambda: (partial(math.pow, 2), partial(add_five, 1), double),
    "texts": lambda: [text, double],
}
of_groups = pytest.mark.parametrize("get", GROUPS.values(), ids=GROUPS)


@of_groups
def test_each_kind_is_called(get):
    made = ljit.jit(each)
    for _ in range(5):
        found, expected = made(get(), 6), each(get(), 6)
        if Line not in get():
            assert [*map(repr, found)] == [*map(repr, expected)]
        else:
            assert [type(x) for x in found] == [type(x) for x in expected]
    before = bailouts(made)
    made(get(), 6)
    assert bailouts(made) == before


@of_groups
def test_each_kind_is_natively_called_as_a_guard_fails(get):
    if Line in get() or text in get():
        return
    made = ljit.jit(total)
    for _ in range(5):
        same(made, total, get(), 6)
    assert native_calls(made, get(), 6)
    for site in fail_each_guard(made):
        assert made(get(), 6) == total(get(), 6), site


@of_groups
def test_one_after_the_other_comes_in_other_calls(get):
    made = ljit.jit(chosen)
    for _ in range(6):
        for f in get():
            if f not in (Line, text):
                same(made, chosen, f, 6)


def test_functions_in_dicts_and_lists():
    operations = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": ljit.jit(lambda a, b: a * b),
    }
    made = ljit.jit(by_name)
    for names in (("add", "mul"), ("sub", "add"), ["mul", "add", "sub"]) * 3:
        same(made, by_name, operations, names, 10)
    made, functions = ljit.jit(by_place), [double, add_five, make_other(3)]
    for _ in range(5):
        same(made, by_place, functions, 10)
    assert native_calls(made, functions, 10) == 3


def test_too_many_kinds_are_called_as_any_object():
    functions = [eval(f"lambda x: x + {k}") for k in range(8)]
    made = ljit.jit(total)
    for _ in range(12):
        same(made, total, functions, 5)
    assert not native_calls(made, functions, 5)
    before = bailouts(made)
    same(made, total, functions, 5)
    assert bailouts(made) == before


def test_others_come_later():
    made = ljit.jit(total)
    for functions in ((double,), (double, half), (half, add_five), (make(2), double), (len,)) * 4:
        same(made, total, functions, 5)
    for functions in ((double, half), (half, add_five)):
        same(made, total, functions, 5)


def test_what_a_call_raises_comes_from_the_line_of_the_callee():
    made = ljit.jit(total)
    for n in (2, 2, 2, 2, 5, 5, 5):
        same(made, total, (double, fails, half), n)
    made = ljit.jit(total)
    for functions in ((double, fails), (fails, "no function"), (double, lambda: 0), (half, fails)):
        for _ in range(4):
            same(made, total, functions, 5)


def test_what_a_call_raises_finds_its_handler():
    def caught(functions, n):
        result = []
        for i in range(n):
            for f in functions:
                try:
                    result.append(f(i))
                except ZeroDivisionError as error:
                    result.append(str(error))
                    result.append(sum(g(i) for g in (double, half)))
        return result

    made = ljit.jit(caught)
    for _ in range(6):
        same(made, caught, (double, fails, half), 8)


def test_functions_may_change_while_they_are_called():
    def local(x):
        return x + 1

    def other(x):
        return x * 1.5

    def change(functions, n):
        results = []
        for i in range(n):
            for f in functions:
                results.append(f(i))
            if i == n // 2:
                functions[0].__code__ = double.__code__
                functions.append(half)
        return results

    made = ljit.jit(change)
    codes = local.__code__
    for _ in range(5):
        outcomes = []
        for caller in (made, change):
            local.__code__ = codes
            outcomes.append(outcome(caller, [local, other], 8))
        assert outcomes[0] == outcomes[1]


def test_cells_may_get_values_of_other_types():
    def pair(k):
        def get(x):
            return k * x

        return get, lambda value: setattr(get.__closure__[0], "cell_contents", value)

    def change(first, second, put, n):
        result = 0
        for i in range(n):
            for f in (first, second):
                result += f(i)
            put(i + 0.5 if i % 2 else i)
        return result

    made = ljit.jit(change)
    for _ in range(5):
        arguments = []
        for _ in range(2):
            get, put = pair(3)
            arguments.append((get, make(2), put, 8))
        assert outcome(made, *arguments[0]) == outcome(change, *arguments[1])


def test_variables_that_alternate_within_one_loop():
    def alternate(n):
        f, g = double, half
        result = 0.0
        for i in range(n):
            result += f(i)
            f, g = g, f
        return result

    made = ljit.jit(alternate)
    for _ in range(4):
        same(made, alternate, 9)
    assert native_calls(made, 9) or "double" not in str(made.graph_for(9))


def test_arrays_that_callables_give_and_take():
    def arrays(functions, a, n):
        for i in range(n):
            for f in functions:
                a = f(a)
        return a

    def shifted(k):
        return lambda a: a + k

    made = ljit.jit(arrays)
    groups = (
        (np.negative, double),
        (shifted(np.arange(3.0)), shifted(1.5), half),
        (lambda a: a[::-1], np.sqrt, abs),
    )
    for functions in groups * 4:
        found = made(functions, np.arange(3.0), 3)
        np.testing.assert_array_equal(found, arrays(functions, np.arange(3.0), 3))


def test_attributes_hold_one_or_the_other():
    class Holder:
        def __init__(self, f):
            self.f = f

    def attributes(holders, n):
        result = 0
        for i in range(n):
            for holder in holders:
                result += holder.f(i)
        return result

    made = ljit.jit(attributes)
    for _ in range(8):
        same(made, attributes, [Holder(double), Holder(half), Holder(make(3))], 6)
        same(made, attributes, [Holder(half)], 6)


def test_functions_that_came_do_not_live_on():
    made = ljit.jit(each)
    alive = []
    for k in range(6):
        functions = (make(k), make_other(k), Line(k).at)
        alive += map(weakref.ref, functions[:2])
        each(functions, 4)
        made(functions, 4)
        del functions
    gc.collect()
    assert not any(f() for f in alive)


def test_recursion_through_a_variable():
    def down(f, g, n):
        return n if n < 1 else f(g, f, n - 1) + 1

    def other(f, g, n):
        return 0.5 * n if n < 1 else f(g, f, n - 1) + 2

    made, second = ljit.jit(down), ljit.jit(other)
    for _ in range(6):
        assert made(second, made, 9) == down(other, down, 9)
    with pytest.raises(RecursionError):
        made(second, made, sys.getrecursionlimit() * 2)


# -- decorated functions that functions make -------------------------------------------------------


def make_decorated(k):
    @ljit.jit
    def inner(x, more=1):
        if x > 50:
            raise ValueError(x)
        return k * x + more

    return inner


def keep(function):
    return function


def make_with_decorators(k):
    @keep
    @keep
    def inner(x):
        return k - x

    return inner


def make_decorated_lambda(k):
    return ljit.jit(lambda x: x / k)


def make_decorated_recursive(k):
    @ljit.jit
    def inner(x):
        return k if x < 1 else 1 + inner(x - 1)

    return inner


DECORATED = [make_decorated, make_with_decorators, make_decorated_lambda, make_decorated_recursive]
of_decorated = pytest.mark.parametrize("make_one", DECORATED, ids=[f.__name__ for f in DECORATED])


@of_decorated
def test_decorated_functions_that_are_made_anew_are_called_natively(make_one):
    made = ljit.jit(chosen)
    for k in (2, 3, 4, 5):
        same(made, chosen, make_one(k), 8)
    assert native_calls(made, make_one(2), 8)
    assert not bailouts(made)
    for site in fail_each_guard(made):
        assert made(make_one(6), 8) == chosen(make_one(6), 8), site


@of_decorated
def test_decorated_functions_that_are_made_anew_come_beside_others(make_one):
    made = ljit.jit(each)
    for k in (2, 3, 2.5, 4, 1.5):
        same(made, each, [make_one(k), double, make_one(1), make(k)], 6)


def test_what_a_decorated_function_that_is_made_anew_raises():
    made = ljit.jit(chosen)
    for n in (5, 5, 5, 60, 5, 60):
        same(made, chosen, make_decorated(3), n)


def test_decorated_functions_that_are_made_anew_may_change():
    def change(f, n):
        result = 0
        for i in range(n):
            result += f(i)
            if i == n // 2:
                f.__defaults__ = (2.5,)
            if i == n // 2 + 2:
                f.__code__ = make_with_other_code(1).__code__
        return result

    def make_with_other_code(k):
        return lambda x, more=1: x - k - more

    made = ljit.jit(change)
    for k in (2, 3, 4, 5):
        assert outcome(made, make_decorated(k), 10) == outcome(change, make_decorated(k), 10)


def test_options_of_decorated_functions_that_are_made_count():
    def make_fast(k):
        @ljit.jit(fastmath=True)
        def inner(x):
            return k * x

        return inner

    made = ljit.jit(chosen)
    for k in (2.0, 3.0, 4.0):
        same(made, chosen, make_fast(k), 6)
    assert not native_calls(made, make_fast(2.0), 6)
