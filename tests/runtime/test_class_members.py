"""What classes have under names, read by the class's own name: constants and methods, as long as they stay the same."""

from __future__ import annotations

from typing import Any

import pytest

import ljit
from ljit import config
from ljit.ir import get_op
from ljit.ops.control import CALL_NATIVE
from ljit.testing.chaos import fail_each_guard


@pytest.fixture(autouse=True, params=[200000, 0], ids=["quick", "optimised"])
def at_once(request):
    with config.overridden(cold_calls=False, quick_runs=request.param):
        yield request.param


class Meta(type):
    @property
    def limit(cls) -> int:
        return 11


class Base:
    limit: Any = 3
    calls = 0

    def __init__(self, k: int) -> None:
        self.k = k

    @classmethod
    def named(cls, k: int, more: int = 1) -> Any:
        return cls.__name__, k + more

    @staticmethod
    def sum(a: int, b: int) -> int:
        return a + b // (b - 5)

    def times(self, k: int) -> int:
        return self.k * k

    @property
    def shown(self) -> int:
        return self.k


class Derived(Base):
    pass


class Own(metaclass=Meta):
    pass


def constants(n: int) -> Any:
    total = 0
    for k in range(n):
        if k < Derived.limit:
            total += Base.limit
    return total, Own.limit, Derived.shown is Base.shown, Derived.__name__


def methods(x: Any, n: int) -> Any:
    total = 0
    for k in range(n):
        total += Derived.sum(k + x.k, b=9) + Derived.times(x, k)
    return total, Derived.named(n), Base.named(more=len(str(n)), k=n)


def counted(n: int) -> int:
    for _ in range(n):
        Base.calls += 1
    return Base.calls


def native(function: Any, *args: Any) -> Any:
    f = ljit.jit(function)
    for _ in range(5):
        assert f(*args) == function(*args)
    (plan,) = f._executor.plans.values()
    assert plan.native_calls
    return f


def same(f: Any, *args: Any) -> None:
    for _ in range(3):
        assert f(*args) == f.__wrapped__(*args)


def test_constants_of_classes_are_constants(monkeypatch):
    f = native(constants, 20)
    (plan,) = f._executor.plans.values()
    reads = [n for n in plan.units[-1].graph.walk() if n.op is get_op("py::getattr")]
    assert [n.inputs[0].constant for n in reads if n.attrs["name"] == "limit"] == [Own]
    monkeypatch.setattr(Base, "limit", 7)
    same(f, 20)
    monkeypatch.setattr(Derived, "limit", 5, raising=False)
    same(f, 20)
    monkeypatch.setattr(Base, "limit", 2.5)
    same(f, 20)
    monkeypatch.setattr(Meta, "limit", 12)
    same(f, 20)
    monkeypatch.delattr(Base, "limit")
    with pytest.raises(AttributeError, match="type object 'Base' has no attribute 'limit'"):
        f(20)
    monkeypatch.setattr(Base, "limit", property(lambda x: 3), raising=False)
    with pytest.raises(TypeError, match="unsupported operand"):
        f(20)


def test_methods_of_classes_are_called_natively(monkeypatch, at_once):
    f = native(methods, Base(3), 50)
    (plan,) = f._executor.plans.values()
    calls = [n for unit in plan.units for n in unit.graph.walk() if n.op is CALL_NATIVE]
    assert calls
    monkeypatch.setattr(Base, "sum", staticmethod(lambda a, b: a * b))
    same(f, Base(3), 50)
    monkeypatch.setattr(Base, "named", staticmethod(lambda k, more=2: (k, more)))
    same(f, Base(3), 50)
    monkeypatch.setattr(Derived, "times", classmethod(lambda cls, x, k: x.k - k), raising=False)
    same(f, Base(3), 50)
    Derived.__bases__ = (Other,)
    try:
        same(f, Base(3), 50)
    finally:
        Derived.__bases__ = (Base,)


class Other(Base):
    @classmethod
    def named(cls, k: int) -> int:
        return -k


def test_a_name_that_changes_is_read_each_time():
    f = ljit.jit(counted)
    Base.calls, wanted = 0, 0
    for n in range(30):
        wanted += n
        assert f(n) == wanted


def test_errors_are_those_of_cpython():
    f = native(methods, Base(3), 50)
    for x in (Base("a"), Base(None), None):
        errors = []
        for function in (methods, f):
            with pytest.raises((TypeError, AttributeError)) as caught:
                function(x, 3)
            errors.append((caught.type, str(caught.value)))
        assert errors[0] == errors[1]


def test_each_check_may_fail():
    for function, args in ((constants, (20,)), (methods, (Base(3), 20))):
        f = native(function, *args)
        for site in fail_each_guard(f):
            assert f(*args) == function(*args), site


def through_objects(x: Any, n: int, b: int = 9) -> Any:
    total = 0
    for k in range(n):
        total += x.sum(k + x.k, b=b) + len(x.named(k)[0])
    return total, x.named(n), x.named(more=1.5, k=n)


def test_static_and_class_methods_of_objects_are_called_natively(monkeypatch):
    f = native(through_objects, Base(3), 50)
    (plan,) = f._executor.plans.values()
    names = [
        n.attrs["name"] for n in plan.unit.graph.walk() if n.op is get_op("prim::check_method")
    ]
    assert {"sum", "named"} <= set(names)
    assert any(n.op is CALL_NATIVE for n in plan.unit.graph.walk())
    same(f, Derived(3), 50)
    for call in (f, through_objects):
        with pytest.raises(ZeroDivisionError, match="integer division or modulo by zero"):
            call(Base(3), 50, 5)
    shadowed = Base(3)
    shadowed.sum = lambda a, b: 1000 * a + b
    same(f, shadowed, 50)
    shadowed.sum = Base.sum
    same(f, shadowed, 50)
    shadowed.named = Base.named
    same(f, shadowed, 50)
    monkeypatch.setattr(Base, "sum", staticmethod(lambda a, b: a * b))
    same(f, Base(3), 50)
    monkeypatch.setattr(Base, "sum", lambda self, a, b: self.k * a * b)
    same(f, Base(3), 50)
    monkeypatch.setattr(
        Derived, "named", staticmethod(lambda k, more=2: ("x" * k, more)), raising=False
    )
    same(f, Derived(3), 50)
    same(f, Base(3), 50)
    monkeypatch.setattr(Base, "named", classmethod(lambda cls, k, more=2: (cls.__qualname__, more)))
    same(f, Derived(3), 50)
    same(f, Base(3), 50)


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k: int) -> None:
        self.k = k

    @classmethod
    def of(cls, k: int) -> Any:
        return cls(k)

    @staticmethod
    @ljit.jit
    def half(k: int) -> float:
        return k / 2


def made_through_objects(x: Any, n: int) -> Any:
    total = 0.0
    for k in range(n):
        x = x.of(k)
        total += x.half(x.k)
    return total, type(x)


def test_objects_make_others_through_class_methods():
    f = native(made_through_objects, Slotted(1), 40)

    class Narrow(Slotted):
        def __init__(self, k: int) -> None:
            super().__init__(k * 3)

    same(f, Narrow(1), 40)
    same(f, Slotted(1), 40)


def test_checks_of_class_methods_of_objects_may_fail():
    f = native(through_objects, Base(3), 12)
    sites = 0
    for _ in fail_each_guard(f):
        same(f, Base(3), 12)
        sites += 1
    assert sites


def angles() -> Any:
    class Angle:
        def __init__(self, turns: Any) -> None:
            self.turns = turns

        def __float__(self) -> Any:
            return self.turns * 6.25 if self.turns < 90 else self.turns // 2

        def __int__(self) -> Any:
            return self.turns * 2 if self.turns < 90 else str(self.turns)

        def __abs__(self) -> Any:
            if self.turns == 95:
                raise ValueError(self.turns)
            return self.turns if self.turns > 0 else Angle(-self.turns)

    return Angle


def converted(x: Any, n: int) -> Any:
    total = 0.0
    for k in range(n):
        total += float(x) + int(x) * k
        if abs(x):
            total += 1
    return total


def outcome(f: Any, *args: Any) -> Any:
    try:
        result = f(*args)
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error)
    return type(result), result


def test_functions_that_call_a_method_call_it_natively(monkeypatch):
    Angle = angles()
    f = native(converted, Angle(3), 40)
    (plan,) = f._executor.plans.values()
    nodes = [n for unit in plan.units for n in unit.graph.walk()]
    names = [n.attrs["name"] for n in nodes if n.op is get_op("prim::check_method")]
    assert {"__float__", "__int__", "__abs__"} <= set(names)
    for turns in (3, 95, 90, -2, 2.5, "a", 3, 2**63, True):
        for _ in range(3):
            assert outcome(f, Angle(turns), 5) == outcome(converted, Angle(turns), 5)

    class Wide(float):
        pass

    monkeypatch.setattr(Angle, "__float__", lambda self: self.turns + 0.5)
    same(f, Angle(3), 40)
    monkeypatch.setattr(Angle, "__float__", lambda self: Wide(7))
    with pytest.warns(DeprecationWarning, match="strict subclass of float"):
        same(f, Angle(3), 2)
    monkeypatch.setattr(Angle, "__float__", lambda self: None)
    message = "Angle.__float__ returned non-float .type NoneType."
    for call in (f, converted):
        with pytest.raises(TypeError, match=message):
            call(Angle(3), 2)
    monkeypatch.delattr(Angle, "__float__")
    monkeypatch.delattr(Angle, "__abs__")
    assert outcome(f, Angle(3), 5) == outcome(converted, Angle(3), 5)


@pytest.mark.parametrize(
    ("name", "value", "then"),
    [
        ("k", property(lambda cls: 100), 100),
        ("__getattribute__", lambda cls, name: 1000, 1000),
        ("__getattr__", lambda cls, name: 1000, 1),
        ("other", property(lambda cls: 100), 1),
    ],
)
def test_the_class_of_a_class_may_get_a_say(name, value, then):
    above = type("Above", (type,), {})
    thing = above("Thing", (), {"k": 1})

    @ljit.jit
    def f(n):
        total = 0
        for _ in range(n):
            total += thing.k
        return total

    assert [f(3) for _ in range(4)] == [3] * 4
    setattr(above, name, value)
    assert [f(3) for _ in range(4)] == [3 * then] * 4
    delattr(above, name)
    assert [f(3) for _ in range(4)] == [3] * 4
    thing.k = 2
    assert [f(3) for _ in range(4)] == [6] * 4
