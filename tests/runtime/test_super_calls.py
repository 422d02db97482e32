"""``super().f()`` in methods: a native call of what the classes behind have, as long as they have it."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

import ljit
from ljit import config
from ljit.ops.control import CALL_NATIVE
from ljit.testing.chaos import fail_each_guard


@pytest.fixture(autouse=True, params=[200000, 0], ids=["quick", "optimised"])
def at_once(request):
    with config.overridden(cold_calls=False, quick_runs=request.param):
        yield request.param


def classes(jit: Any) -> tuple[Any, Any, Any]:
    """Three classes, each derived from the one before, that nobody else has."""

    class First:
        def __init__(self, v):
            self.v = v

        def shifted(self, k, by=1):
            return self.v + 100 // (k - 7000) * by

        @property
        def doubled(self):
            return 2 * self.v

        @classmethod
        def made(cls, v):
            return cls(v)

    class Second(First):
        @jit
        def __init__(self, v):
            super().__init__(v)
            self.w = v

        @jit
        def shifted(self, k, by=2):
            return super().shifted(k, by=by) + 100

        @jit
        def next(self, k):
            return k + 1

    class Third(Second):
        @jit
        def shifted(self, k, by=3):
            return super().shifted(self.next(k), by) * 2

        @jit
        def held(self, k):
            behind = super()
            return behind.shifted(k) + super().doubled

        @classmethod
        @jit
        def made(cls, v):
            return super().made(v + 1)

    return First, Second, Third


def pairs() -> list[tuple[Any, Any]]:
    """Objects of classes whose methods are plain, and of the same ones whose methods are decorated and in use."""
    plain, fast = classes(lambda f: f), classes(ljit.jit)
    found = [(plain[i](5), fast[i](5)) for i in (1, 2)]
    for _ in range(4):
        same(found)
    return found


def same(found: list[tuple[Any, Any]], ks: tuple[int, ...] = (1, 2)) -> None:
    for k in ks:
        assert [x.shifted(k) for x, _ in found] == [y.shifted(k) for _, y in found]
    x, y = found[1]
    assert x.held(3) == y.held(3)
    assert type(x).made(3).v == type(y).made(3).v


def native_calls(function: Any) -> list[Any]:
    """The native calls in all code of the function that there was."""
    units = [unit for plan in function._executor.plans.values() for unit in plan.units]
    return [node for unit in units for node in unit.graph.walk() if node.op is CALL_NATIVE]


def test_what_is_found_by_super_is_called_natively(at_once):
    for _, y in pairs():
        method = type(y).shifted
        assert "prim::bound_super" not in str(method.graph_for(y, 3, 3))
        assert native_calls(method)


def test_a_class_behind_may_get_another_method():
    found = pairs()
    for x, y in found:
        for z in (x, y):
            first = type(z).__mro__[-2]
            first.shifted = lambda self, k, by=1: k * 1000 + by
    for _ in range(4):
        same(found)
    for x, y in found:
        for z in (x, y):
            del type(z).__mro__[-2].shifted
            type(z).__mro__[-2].shifted = max
    x, y = found[0]
    for _ in range(4):
        assert_same_error(lambda: x.shifted(3), lambda: y.shifted(3))


def assert_same_error(plain: Any, fast: Any) -> None:
    errors = []
    for call in (plain, fast):
        with pytest.raises(Exception) as caught:  # noqa: PT011  # whatever CPython raises
            call()
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


def test_classes_between_and_attributes_of_objects_hide_nothing():
    found = pairs()
    x, y = found[1]
    x.__dict__["shifted"] = y.__dict__["shifted"] = None
    plain, fast = type(x), type(y)
    assert plain.shifted(x, 3) == fast.shifted(y, 3)
    between = [
        type("Between", (cls.__mro__[1],), {"shifted": lambda *_: 1}) for cls in (plain, fast)
    ]
    plain.__bases__, fast.__bases__ = (between[0],), (between[1],)
    for _ in range(4):
        assert plain.shifted(x, 3) == fast.shifted(y, 3) == 2


@pytest.mark.parametrize("k", [6999, "a", None])
def test_errors_of_the_method_are_those_of_cpython(k):
    x, y = pairs()[1]
    assert_same_error(lambda: x.shifted(k), lambda: y.shifted(k))


def test_each_check_may_fail():
    found = pairs()
    for x, y in found:
        for site in fail_each_guard(type(y).shifted):
            assert type(y).shifted(y, 3) == x.shifted(3), site


def test_a_method_that_gains_nothing_by_itself_is_called_natively_where_native_code_calls_it(
    at_once,
):
    class Pair:
        @ljit.jit
        def put(self, a, b):
            self.a = a
            self.b = b

    @ljit.jit
    def fill(pair, n):
        for k in range(n):
            pair.put(k, n)
        return pair.a

    pair = Pair()
    for k in range(20):
        pair.put(k, k)
    (plan,) = Pair.put._executor.plans.values()
    assert plan.refused is not None
    for _ in range(4):
        assert fill(pair, 300) == 299
    assert native_calls(fill)


def test_methods_of_object_are_those_of_the_object_not_of_what_super_gives():
    """`super` looks attributes up in its own way: its class has these methods, too."""

    class Sized:
        __slots__ = ("v",)

        def size(self):
            return super().__sizeof__()

        def parts(self):
            return super().__reduce_ex__(2)[1]

    x = Sized()
    for method in (Sized.size, Sized.parts):
        fast = ljit.jit(method)
        for _ in range(4):
            assert fast(x) == method(x)


def test_methods_of_object_are_those_of_what_a_proxy_stands_for():
    class Plain:
        pass

    def parts(x):
        return x.__reduce_ex__(2)[1]

    x, fast = Plain(), ljit.jit(parts)
    for _ in range(4):
        assert fast(weakref.proxy(x)) == parts(weakref.proxy(x))
