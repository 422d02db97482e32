"""Calls of functions that variables hold: native while it is the function that profiled runs have seen."""

from __future__ import annotations

import gc
import math
import sys
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.ops.control import CALL_NATIVE
from ljit.ops.members import CHECK_KIND, IS_KIND
from ljit.ops.objects import CALL
from ljit.runtime import callees


@pytest.fixture(autouse=True, params=["inlined", "linked"])
def at_once(request, monkeypatch):
    """Compile without waiting; small functions stand where they are called, or are called by links as large ones."""
    if request.param == "linked":
        monkeypatch.setattr(callees, "_function_to_inline", lambda _kind: None)
    with config.overridden(cold_calls=False):
        yield


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


@ljit.jit
def add_five(x):
    return x + 5


class Holder:
    def __init__(self, f):
        self.f = f


def sum_of_calls(f, n):
    total = 0
    for i in range(n):
        total += f(i)
    return total


def sum_of_held(holder, n):
    f = holder.f
    total = 0
    for i in range(n):
        total += f(i)
    return total


def spread(f, items):
    out = []
    for a in items:
        out.append(f(*a))
    return out


def spread_global(items):
    return [line(*a) for a in items]


def line(x, y=3, *, k=1):
    return k * x + y


def native(function, *args):
    made = ljit.jit(function)
    for _ in range(3):
        assert made(*args) == function(*args)
    return made


def native_made(make, *numbers):
    """Call with a new function each time."""
    made = ljit.jit(sum_of_calls)
    for _ in range(3):
        for number in numbers:
            assert made(make(number), 10) == sum_of_calls(make(number), 10)
    return made


def native_calls(made, *args):
    """How many callables are called natively, or stand in the place of the call."""
    ops = [node.op for node in made.graph_for(*args).walk()]
    return ops.count(CALL_NATIVE) or ops.count(CHECK_KIND) + ops.count(IS_KIND)


def bailouts(made):
    return sum(info.bailouts for info in made.specializations)


@pytest.mark.parametrize("f", [double, add_five])
def test_an_argument_is_called_natively(f):
    made = native(sum_of_calls, f, 10)
    assert native_calls(made, f, 10)
    assert not bailouts(made)


@pytest.mark.parametrize("f", [math.sqrt, abs, float, np.exp])
def test_an_argument_is_done_as_its_op(f):
    made = native(sum_of_calls, f, 10)
    assert any(node.op.name == "prim::check_kind" for node in made.graph_for(f, 10).walk())
    assert not any(node.op.name == "py::call" for node in made.graph_for(f, 10).walk())
    assert made(double, 10) == 2 * 45


def test_an_argument_without_an_op_is_called_as_an_object():
    made = native(sum_of_calls, hash, 10)
    assert not any(node.op.name == "prim::check_kind" for node in made.graph_for(hash, 10).walk())


def test_an_attribute_is_called_natively():
    holder = Holder(double)
    made = native(sum_of_held, holder, 10)
    assert native_calls(made, holder, 10)
    holder.f = triple
    assert made(holder, 10) == 3 * 45
    assert bailouts(made) == 1


def test_other_functions_have_code_made_that_knows_a_few_and_calls_any():
    made = native(sum_of_calls, double, 10)
    for _ in range(20):
        assert made(triple, 10) == 3 * 45
        assert made(double, 10) == 2 * 45
    assert native_calls(made, double, 10) == 2
    before = bailouts(made)
    assert made(triple, 10) + made(double, 10) == 5 * 45
    assert bailouts(made) == before
    others = [lambda x: x, lambda x: x + 1, lambda x: x + 2]
    for _ in range(20):
        assert [made(f, 10) for f in others] == [45, 55, 65]
    assert any(node.op is CALL for node in made.graph_for(double, 10).walk())
    before = bailouts(made)
    assert made(lambda x: -x, 10) == -45
    assert bailouts(made) == before


def test_code_that_is_replaced_is_run():
    def local(x):
        return x

    local.__qualname__ = "local"
    made = native(sum_of_calls, local, 10)
    assert native_calls(made, local, 10)
    local.__code__ = triple.__code__
    assert made(local, 10) == 3 * 45
    local.__code__ = (lambda x, y=0: y * x).__code__
    local.__defaults__ = (4,)
    assert made(local, 10) == 4 * 45


def test_what_a_call_raises_comes_from_the_line_of_the_callee():
    def fails(x):
        return 1 // (3 - x)

    fails.__qualname__ = "fails"
    made = native(sum_of_calls, fails, 3)
    assert native_calls(made, fails, 3)
    with pytest.raises(ZeroDivisionError) as caught:
        made(fails, 5)
    names = [entry.name for entry in caught.traceback]
    assert names[-2:] == ["sum_of_calls", "fails"]


# -- in attributes: ``x.f(y)`` whose `y` is evaluated first ---------------------------------------


@dataclass
class Pair:
    f: Callable
    k: float


@dataclass(slots=True)
class Slotted:
    f: Callable


class WithMethod(Holder):
    def f(self, x):
        return 7 * x


HOLDERS = [Holder, lambda f: Pair(f, 2.0), Slotted, WithMethod]
of_holders = pytest.mark.parametrize("hold", HOLDERS, ids=["plain", "data", "slots", "over"])


def sum_of_attribute(holder, n):
    total = 0
    for i in range(n):
        total += holder.f(i)
    return total


@of_holders
@pytest.mark.parametrize("f", [double, add_five], ids=["plain", "decorated"])
def test_an_attribute_in_the_place_of_a_method_is_called_natively(hold, f):
    holder = hold(f)
    made = native(sum_of_attribute, holder, 10)
    assert native_calls(made, holder, 10)
    assert "@own" in made.dump_llvm()  # it is found without a call of Python
    assert not bailouts(made)
    holder.f = triple
    assert made(holder, 10) == 3 * 45
    assert bailouts(made) == 1


@of_holders
def test_an_attribute_in_the_place_of_a_method_is_done_as_its_op(hold):
    holder = hold(math.sqrt)
    made = native(sum_of_attribute, holder, 10)
    assert not any(
        node.op.name.startswith("py::call") for node in made.graph_for(holder, 10).walk()
    )


@of_holders
def test_an_attribute_that_is_gone_is_missed(hold):
    holder = hold(double)
    made = native(sum_of_attribute, holder, 10)
    del holder.f
    for _ in range(2):
        try:
            expected = sum_of_attribute(holder, 10)
        except AttributeError as error:
            with pytest.raises(AttributeError) as caught:
                made(holder, 10)
            assert str(caught.value) == str(error)
        else:
            assert made(holder, 10) == expected


def test_an_attribute_that_is_bound_again_within_the_loop_counts_at_once():
    def change(holder, n):
        total = 0
        for i in range(n):
            total += holder.f(i)
            if i == n // 2:
                holder.f = triple
        return total

    made = ljit.jit(change)
    for _ in range(4):
        assert made(Holder(double), 40) == change(Holder(double), 40)


def test_a_property_in_the_place_of_an_attribute_runs():
    class Late:
        def __init__(self):
            self.f = double

    holder = Late()
    made = native(sum_of_attribute, holder, 10)
    assert native_calls(made, holder, 10)
    Late.f = property(lambda self: triple)
    for _ in range(2):
        assert made(holder, 10) == 3 * 45
    del Late.f
    assert made(holder, 10) == 2 * 45


def test_objects_that_hold_other_functions_have_code_made_that_calls_any():
    made = native(sum_of_attribute, Holder(double), 10)
    for _ in range(5):
        assert made(Holder(triple), 10) == 3 * 45
        assert made(Holder(double), 10) == 2 * 45
        assert made(Holder(lambda x: x), 10) == 45
    assert bailouts(made) < 5


# -- functions that functions make ----------------------------------------------------------------


def make_lambda(k):
    return lambda x: k * x


def make_def(k):
    more = k + 1

    def inner(x: float) -> float:
        """Its defaults and annotations belong to where it is made."""
        total: float = k
        for j in range(3):
            total += x * more - j
        return total

    return inner


def make_in_comprehension(k):
    return [lambda x, /: j * x + k for j in range(3)][1]


def make_recursive(k):
    def go(x):
        return k if x < 1 else 1 + go(x - 1)

    return go


def make_around(k):
    f = make_lambda(k)
    return lambda x: f(x) + k


def make_without_cells(_k):
    return lambda x: x + 1


def make_with_default(k):
    return lambda x, y=0, k=k: k * x + y


MAKERS = [
    make_lambda,
    make_def,
    make_in_comprehension,
    make_recursive,
    make_around,
    make_without_cells,
    make_with_default,
]


@pytest.mark.parametrize("make", MAKERS, ids=[make.__name__ for make in MAKERS])
@pytest.mark.parametrize("numbers", [(2, 3, 4), (2.5, 1.5, 3.5)], ids=["ints", "floats"])
def test_a_function_that_is_made_anew_for_each_call_is_called_natively(make, numbers):
    made = native_made(make, *numbers)
    assert native_calls(made, make(numbers[0]), 10)
    assert not bailouts(made)


@pytest.mark.parametrize(
    "value",
    [
        True,
        2,
        2**70,
        1.5,
        2j,
        "a",
        "abc",
        None,
        (1, 2.5),
        [1, 2],
        [],
        {1: 2},
        np.float32(2),
        math.pi,
        len,
    ],
    ids=lambda value: type(value).__name__ + str(value)[:9],
)
def test_cells_have_anything(value):
    def make(k):
        return lambda x: str(k) + str(x)

    def texts(f, n):
        return [f(i) for i in range(n)]

    made = ljit.jit(texts)
    for _ in range(4):
        assert made(make(value), 4) == texts(make(value), 4)


def test_an_array_in_a_cell_is_passed_natively_and_dies_with_the_function():
    def make(a):
        return lambda x: a[x] * 2

    made = ljit.jit(sum_of_calls)
    for _ in range(5):
        array = np.arange(10.0)
        alive = weakref.ref(array)
        assert made(make(array), 10) == 90
        del array
        gc.collect()
        assert alive() is None
    assert native_calls(made, make(np.arange(10.0)), 10)
    assert not bailouts(made)


def test_cells_of_other_types_have_code_made_that_calls_any():
    made = native_made(make_lambda, 2, 3)
    for k in (2.5, 4, 1j, np.int64(3), 2**80):
        assert made(make_lambda(k), 10) == sum_of_calls(make_lambda(k), 10)
    with pytest.raises(TypeError, match="unsupported operand"):
        made(make_lambda("ab"), 10)
    assert made(make_lambda(5), 10) == 5 * 45


def test_what_is_put_into_a_cell_counts_from_the_next_call():
    def make(k):
        def get(x):
            return k * x

        def put(value):
            nonlocal k
            k = value

        return get, put

    def through_cells(k):
        get = make_lambda(k)
        return get, lambda value: setattr(get.__closure__[0], "cell_contents", value)

    def change(f, put, n):
        total = 0
        for i in range(n):
            total += f(i)
            put(i)
        return total

    for make_both in (make, through_cells):
        made = ljit.jit(change)
        for _ in range(4):
            assert made(*make_both(3), 10) == change(*make_both(3), 10)


def test_variables_that_may_be_bound_again_during_a_call_are_read_where_they_stand():
    def make(k):
        def steps():
            nonlocal k
            while True:
                k = k + 1
                yield k

        going = steps()
        return lambda x: next(going) + x * k

    def make_in_generator(k):
        def steps():
            j = k
            while True:
                yield lambda x: (next(going), x * j)[1]
                j = j + 1

        going = steps()
        return next(going)

    def make_in_expression(k):
        going = ((lambda x: (next(going), x * j)[1]) for j in range(k, 10**6))
        return next(going)

    for maker in (make, make_in_generator, make_in_expression):
        native_made(maker, 3, 4)


def test_a_cell_that_is_empty_is_missed():
    def make(k):
        def inner(x):
            return x + late if x > 3 else x

        if k:
            late = k
        return inner

    made = native_made(make, 1, 2)
    assert native_calls(made, make(1), 10)
    for _ in range(3):
        assert made(make(0), 4) == 6
        with pytest.raises(NameError, match="cannot access free variable 'late'"):
            made(make(0), 10)
        assert made(make(2), 10) == sum_of_calls(make(2), 10)


def test_other_code_and_other_global_variables_are_noticed():
    made = native_made(make_lambda, 2, 3)
    changed = make_lambda(2)
    changed.__code__ = (lambda k: lambda x: x - k)(0).__code__
    assert made(changed, 10) == 45 - 20

    def make(k):
        return lambda x: k * double(x)

    made = native_made(make, 2, 3)
    assert native_calls(made, make(2), 10)
    f = make(2)
    other = types.FunctionType(f.__code__, {"double": triple}, closure=f.__closure__)
    assert made(other, 10) == 6 * 45
    assert made(make(2), 10) == 4 * 45


def test_what_a_made_function_raises_comes_from_its_line():
    def make(k):
        def fails(x):
            return 1 // (k - x)

        return fails

    made = native_made(make, 11, 12)
    assert native_calls(made, make(11), 10)
    found = []
    for function in (made, sum_of_calls):
        with pytest.raises(ZeroDivisionError) as caught:
            function(make(5), 10)
        entries = [(e.name, e.lineno) for e in caught.traceback][-2:]
        found.append((entries, str(caught.value)))
    assert found[0] == found[1]


def test_a_made_function_in_an_attribute_is_called_natively():
    made = ljit.jit(sum_of_attribute)
    for k in (2, 3, 4, 5):
        assert made(Holder(make_lambda(k)), 10) == k * 45
    assert native_calls(made, Holder(make_lambda(2)), 10)
    assert not bailouts(made)


def test_a_lambda_that_is_an_argument_where_it_stands_is_called_natively():
    def total(k, n):
        return sum_of_calls(lambda x: x * k, n)

    made = native(total, 3, 10)
    assert native_calls(made, 3, 10)
    assert made(4, 10) == 4 * 45
    assert not bailouts(made)


# -- bound methods, partial functions, objects that are called ------------------------------------


class Line:
    def __init__(self, k):
        self.k = k

    def at(self, x):
        return self.k * x

    def __call__(self, x):
        return self.k * x

    @classmethod
    def of_class(cls, x):
        return 2 * x


def times(k, x):
    return k * x


KINDS = [
    lambda k: Line(k).at,
    lambda k: types.MethodType(times, k),
    lambda k: partial(times, k),
    lambda k: partial(partial(times, k)),
    lambda _k: Line.of_class,
    Line,
]
of_kinds = pytest.mark.parametrize(
    "make", KINDS, ids=["method", "bound", "partial", "twice", "class", "object"]
)


@of_kinds
def test_what_gives_a_function_arguments_in_front_is_called_natively(make):
    made = native_made(make, 2, 3, 4)
    assert native_calls(made, make(2), 10)
    assert not bailouts(made)
    assert made(triple, 10) == 3 * 45
    assert made(make(2.5), 10) == sum_of_calls(make(2.5), 10)


@of_kinds
def test_what_gives_a_function_arguments_may_be_an_attribute(make):
    made = ljit.jit(sum_of_attribute)
    for k in (2, 3, 4):
        assert made(Holder(make(k)), 10) == sum_of_attribute(Holder(make(k)), 10)
    assert not bailouts(made)


def test_methods_with_the_same_function_of_other_objects_are_told_apart():
    class Other(Line):
        pass

    made = native_made(lambda k: Line(k).at, 2, 3)
    assert made(Other(4).at, 10) == 4 * 45
    assert made(Line(3).at, 10) == 3 * 45
    bound = Line(5).at
    Line.at, before = triple, Line.at  # what is bound already stays
    try:
        assert made(bound, 10) == 5 * 45
    finally:
        Line.at = before


def test_a_partial_function_that_gets_keywords_or_other_arguments_is_noticed():
    def with_more(k, x, y=0):
        return k * x + y

    with_more.__qualname__ = "with_more"
    made = native_made(lambda k: partial(with_more, k), 2, 3)
    for fixed in (partial(with_more, 2, y=1), partial(with_more, 2, 3), partial(times, 2)):
        for _ in range(3):
            assert made(fixed, 10) == sum_of_calls(fixed, 10)
    changed = partial(with_more, 2)
    changed.keywords["y"] = 1
    assert made(changed, 10) == 2 * 45 + 10


def test_an_object_that_is_called_is_asked_for_its_class():
    class Called(Line):
        def __call__(self, x):
            return self.k * x

    made = native_made(Called, 2, 3)
    one = Called(2)
    one.__call__ = triple  # which a call does not look at
    assert made(one, 10) == 2 * 45
    Called.__call__ = lambda self, x: self.k + x
    assert made(Called(2), 10) == 20 + 45
    del Called.__call__
    assert made(Called(2), 10) == 2 * 45


def test_a_method_that_is_taken_again_for_each_trip_is_called_natively():
    def total(line, n):
        result = 0
        for i in range(n):
            at = line.at
            if i == 7:
                line = Line(5)
            result += at(i)
        return result

    made = native(total, Line(2), 20)
    assert made(Line(3), 20) == total(Line(3), 20)


def test_defaults_of_made_functions_may_be_replaced():
    def change(f, n):
        total = 0
        for i in range(n):
            total += f(i)
            if i == n - 4:
                f.__defaults__ = (1, 5)
            if i == n - 3:
                f.__defaults__ = (7, 1, 2)
            if i == n - 2:
                f.__defaults__ = None
        return total

    made = ljit.jit(change)
    for n in (10, 10, 10, 12):
        for function in (made, change):
            with pytest.raises(
                TypeError, match="missing 2 required positional arguments: 'y' and 'k'"
            ):
                function(make_with_default(3), n)
    made = native_made(make_with_default, 2, 3)
    other = make_with_default(4)
    other.__defaults__ = (7, 1, 2)
    assert made(other, 10) == 2 * 45 + 10
    other.__defaults__ = (1, 2.5)
    assert made(other, 10) == 2.5 * 45 + 10
    other.__defaults__ = (2,)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        made(other, 10)
    assert made(make_with_default(4), 10) == 4 * 45


TUPLES = {
    "ints": [(1, 2), (3, 4)],
    "floats": [(1.5, 2.5), (3.0, -0.0)],
    "mixed": [(1, 0.5), (2, 1.5)],
    "one": [(1,), (2,)],
}


@pytest.mark.parametrize("items", TUPLES.values(), ids=TUPLES)
def test_the_items_of_a_tuple_are_arguments_of_a_native_call(items):
    assert CALL_NATIVE.name in str(native(spread, line, items).graph_for(line, items))
    assert CALL_NATIVE.name in str(native(spread_global, items).graph_for(items))


def test_builtins_are_given_the_items_of_a_tuple():
    made = native(spread, max, TUPLES["floats"])
    assert "py::max" in str(made.graph_for(max, TUPLES["floats"]))


@pytest.mark.parametrize(
    "f", [line, max, divmod, Holder, str.join, lambda *a: a, lambda x, *, k: x]
)
def test_what_is_called_with_the_items_of_a_tuple_may_be_another_one(f):
    made = native(spread, line, TUPLES["ints"])
    others = [[(1, 2), (3,), (4, 5, 6)], [[1, 2], [3, 4]], [()], [(",", "ab")]]
    for items in (*TUPLES.values(), *others):
        for _ in range(3):
            assert outcome(made, f, items) == outcome(spread, f, items)


def outcome(function, f, items):
    try:
        return [x.f if type(x) is Holder else (type(x), x) for x in function(f, items)]
    except (TypeError, ZeroDivisionError) as error:
        return str(error)


def test_tuples_of_any_length_are_given_as_they_are():
    items = [(1, 2), (3,), (4.5, 5), [6, 7]]
    made = native(spread, lambda *a: len(a), items)
    assert "@PyObject_Call(" in made.dump_llvm(double, items)
    kept = (object(),)
    counts = []
    for _ in range(4):
        given = made(lambda *a: a, [kept, list(kept), kept])
        assert given == [kept] * 3
        del given
        counts.append(sys.getrefcount(kept))
    assert counts[1:] == counts[1:2] * 3
