"""Calls of functions that variables hold: native while it is the function that profiled runs have seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.ops.control import CALL_NATIVE


@pytest.fixture(autouse=True)
def at_once():
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


def native(function, *args):
    made = ljit.jit(function)
    for _ in range(3):
        assert made(*args) == function(*args)
    return made


def native_calls(made, *args):
    return sum(node.op is CALL_NATIVE for node in made.graph_for(*args).walk())


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
    assert any(node.op.name == "prim::check_function" for node in made.graph_for(f, 10).walk())
    assert not any(node.op.name == "py::call" for node in made.graph_for(f, 10).walk())
    assert made(double, 10) == 2 * 45


def test_an_argument_without_an_op_is_called_as_an_object():
    made = native(sum_of_calls, hash, 10)
    assert not any(
        node.op.name == "prim::check_function" for node in made.graph_for(hash, 10).walk()
    )


def test_an_attribute_is_called_natively():
    holder = Holder(double)
    made = native(sum_of_held, holder, 10)
    assert native_calls(made, holder, 10)
    holder.f = triple
    assert made(holder, 10) == 3 * 45
    assert bailouts(made) == 1


def test_other_functions_have_code_made_that_calls_any():
    made = native(sum_of_calls, double, 10)
    for _ in range(20):
        assert made(triple, 10) == 3 * 45
        assert made(double, 10) == 2 * 45
    assert not native_calls(made, double, 10)
    before = bailouts(made)
    assert made(lambda x: x, 10) == 45
    assert bailouts(made) == before


def test_functions_that_functions_make_are_called_as_objects():
    def make(k):
        return lambda x: k * x

    made = native(sum_of_calls, make(2), 10)
    assert not native_calls(made, make(2), 10)
    assert made(make(7), 10) == 7 * 45
    assert not bailouts(made)


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
