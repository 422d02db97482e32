"""Attributes of objects are read and written where they lie, and references are counted."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

import ljit
from ljit.codegen.layouts.instances import find_in_class, type_version, value_index
from ljit.codegen.layouts.layout import IS_IMMORTAL_AWARE


class Slots:
    __slots__ = ("x",)


class Values:
    x: Any


class Other:
    x: Any


class Lazy:
    def __getattribute__(self, name: str) -> Any:
        return name


def exchange(thing: Any, value: Any, trips: int = 1) -> Any:
    old = None
    for _ in range(trips):  # worth compiling
        old = thing.x
        thing.x = value
    return old


def made(cls: type, x: object) -> Any:
    thing = cls()
    thing.x = x
    return thing


def test_it_is_known_where_attributes_are():
    find_in_class(Slots, "x")
    assert type_version(Slots)


@pytest.mark.parametrize("cls", [Slots, Values])
def test_a_known_place_is_read_and_written_there(cls):
    f = ljit.jit(exchange)
    first, second = object(), object()
    thing = made(cls, first)
    for _ in range(3):
        assert f(thing, second) is first
        assert f(thing, first) is second
    text = f.dump_llvm()
    assert "@get." in text
    assert "@set." in text


def test_a_class_with_attributes_of_its_own_way_is_asked():
    f = ljit.jit(exchange)
    thing = Lazy()
    for _ in range(3):
        assert f(thing, 1) == "x"
    assert "@get." not in f.dump_llvm()


@pytest.mark.parametrize("cls", [Slots, Values])
def test_references_are_counted(cls):
    f = ljit.jit(exchange)
    first, second = object(), object()
    thing = made(cls, first)
    before = sys.getrefcount(first), sys.getrefcount(second)
    for _ in range(20):
        f(thing, second)
        f(thing, first)
    assert (sys.getrefcount(first), sys.getrefcount(second)) == before


def exchanged(xs: list[Any], trips: int) -> list[Any]:
    for k in range(trips):
        xs[k % 4], xs[k % 4 + 1] = xs[k % 4 + 1], xs[k % 4]
    return xs


def test_references_are_counted_in_line_but_for_immortal_objects():
    f = ljit.jit(exchanged)
    mortal = object()
    for trips in (200, 4, 8, 200):
        xs = [None, mortal, "text", True, mortal]
        counts = [sys.getrefcount(x) for x in (mortal, None)]
        assert sorted(map(id, f(xs, trips))) == sorted(map(id, xs))
        found = [sys.getrefcount(x) for x in (mortal, None)]
        assert found[0] == counts[0]
        if IS_IMMORTAL_AWARE:
            assert found[1] == counts[1]
    assert "call void @retain" in f.dump_llvm()


class Several:
    def __init__(self, names: str) -> None:
        for name in names:
            setattr(self, name, name)


def give(thing: Any, x: Any, trips: int = 1) -> None:
    for _ in range(trips):  # worth compiling
        thing.b = x
        thing.a = x


def test_first_values_are_noted_in_their_order():
    f = ljit.jit(give)
    Several("abcd")  # the order of the class's names
    for names in ("", "", "c", "ca", "dc", "b"):
        plain, thing = Several(names), Several(names)
        f(thing, 5)
        give(plain, 5)
        for x in (plain, thing):
            x.d = 6
            del x.a
            x.a = 7
        assert list(vars(thing).items()) == list(vars(plain).items())
    text = f.dump_llvm()
    assert "order.place" in text
    assert not f.specializations[0].bailouts


class Number(int):
    """Objects with items have their attributes in a dict."""


class Problem(ValueError):
    """So have those of C's classes that have fields."""


def with_dict(kind: int) -> Any:
    """An object that got its attributes in an odd way."""
    if kind < 3:
        return (Number, Problem, Several)[kind]("") if kind else Number(3)
    thing = Several("ab")
    if kind == 3:
        thing.__dict__ = {"b": 1}
    elif kind == 4:
        vars(thing)["a"] = 2
    elif kind == 5:
        del thing.__dict__
    else:
        for k in range(40):
            setattr(thing, f"x{k}", k)
    return thing


@pytest.mark.parametrize("kind", range(7))
def test_objects_whose_attributes_are_elsewhere_are_given_them_there(kind):
    f = ljit.jit(give)
    for x in range(5):
        plain, thing = with_dict(kind), with_dict(kind)
        f(thing, x, 2)
        give(plain, x, 2)
        assert list(vars(thing).items()) == list(vars(plain).items())
        assert (thing.a, thing.b) == (x, x)


def test_an_unknown_name_has_no_index():
    made(Other, 1)
    assert value_index(Other, "x") == 0
    assert value_index(Other, "y") is None
    assert value_index(int, "x") is None


def test_classes_may_change_between_calls():
    class Changing:
        def __init__(self) -> None:
            self.x: Any = 1

    f = ljit.jit(exchange)
    thing = Changing()
    for k in range(5):
        assert f(thing, k) == (k - 1 if k else 1)
    seen = []

    def assign(self: Changing, value: object) -> None:
        seen.append(value)

    Changing.x = property(lambda self: "asked", assign)  # type: ignore[attr-defined]
    assert f(thing, 9) == "asked"
    assert seen == [9]
    del Changing.x  # type: ignore[attr-defined]
    assert f(thing, 10) == 4
    Changing.__getattribute__ = lambda self, name: name  # type: ignore[method-assign,assignment]
    assert f(thing, 11) == "x"


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def add(self, n: int = 1) -> int:
        self.count += n
        return self.count

    def add_all(self, *numbers: int) -> int:
        self.count += sum(numbers)
        return self.count


class Slim:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def add(self, n: int = 1) -> int:
        self.count += n
        return self.count

    def add_all(self, *numbers: int) -> int:
        self.count += sum(numbers)
        return self.count


def adds(counter: Any, n: int) -> int:
    total = 0
    for _ in range(n):
        total += counter.add(2)
    return total + counter.add()


def adds_all(counter: Any, n: int) -> int:
    total = 0
    for _ in range(n):
        total += counter.add_all(1, 1)
    return total + counter.add_all(1)


class Closed(Counter):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


@pytest.mark.parametrize("cls", [Counter, Slim, Closed])
def test_a_method_of_a_known_class_is_called_without_looking_it_up(cls):
    f = ljit.jit(adds_all)
    for _ in range(4):
        assert f(cls(), 3) == adds_all(cls(), 3) == 19
    assert "@call." in f.dump_llvm()


@pytest.mark.parametrize("cls", [Counter, Slim])
def test_a_method_that_is_replaced_is_called_from_then_on(cls):
    copied = type("Copied", (cls,), {"__slots__": ()} if cls is Slim else {})
    copied.add = lambda self, n=1: n
    f = ljit.jit(adds)
    for _ in range(4):
        assert f(copied(), 3) == 7
    copied.add = lambda self, n=1: -n
    assert f(copied(), 3) == -7
    del copied.add
    assert f(copied(), 3) == 19


def test_a_method_that_an_object_has_of_its_own_is_called():
    class Own(Counter):
        pass

    f = ljit.jit(adds)
    for _ in range(4):
        assert f(Own(), 3) == 19
    thing = Own()
    thing.add = lambda n=1: 10 * n
    assert f(thing, 3) == 70
    thing = Own()
    vars(thing)["add"] = lambda n=1: 5 * n
    assert f(thing, 3) == 35
    assert f(Own(), 3) == 19


def squared_length(p):
    return p.x * p.x + p.y * p.y


def test_attributes_that_are_ints_and_floats_are_unboxed_as_either():
    compiled = ljit.jit(squared_length, strict=True)
    points = [types.SimpleNamespace(x=x, y=y) for x, y in ((1, 2), (0.5, 3), (2, 1.5), (2.5, 0.25))]
    for p in points * 3:
        given, expected = compiled(p), squared_length(p)
        assert (type(given), given) == (type(expected), expected)
    bailouts = [info.bailouts for info in compiled.specializations]
    for p in points:
        compiled(p)
    assert [info.bailouts for info in compiled.specializations] == bailouts
    assert "Union[float, int] = prim::guard" in str(compiled.graph_for(points[0]))
