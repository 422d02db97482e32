"""Metaclasses that define what `==`, `hash` and attributes of their classes are: ljit asks none of that."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.cpython.classes import is_plain_class
from ljit.runtime.likely import is_being_imported

CALLS = 6
asked: list[str] = []  # what of objects and classes was asked, while a test runs


def _members() -> dict[str, Any]:
    """What the objects can do; each method notes that it was called."""
    given = {
        "__bool__": True,
        "__call__": 5,
        "__getitem__": 1.5,
        "__len__": 2,
        "__contains__": True,
        "__add__": 1,
        "__radd__": 2,
        "__lt__": True,
        "__float__": 2.5,
        "__int__": 4,
        "__abs__": 2,
        "__neg__": 1,
        "__str__": "text",
        "__exit__": None,
    }

    def noting(name: str, result: object) -> Callable[..., object]:
        def method(self: object, *_: object) -> object:
            asked.append(name)
            return result

        return method

    def lookup(self: object, name: str) -> object:
        asked.append(name)
        return object.__getattribute__(self, name)

    return {
        "__init__": lambda self: None,
        "__iter__": lambda self: iter((1.0, 2.0)),
        "__enter__": lambda self: self,
        "__getattribute__": lookup,
        "factor": 3,
        **{name: noting(name, result) for name, result in given.items()},
    }


def _raise(error: type[Exception]) -> Callable[..., Any]:
    def method(cls: type, *of: object) -> object:
        raise error(type.__getattribute__(cls, "__name__"), *of)

    return method


def _lookup(cls: type, name: str) -> object:
    if not name.startswith("__array"):  # NumPy asks for these
        asked.append(f"class: {name}")
    return type.__getattribute__(cls, name)


KINDS = {
    "== that raises": {"__eq__": _raise(ZeroDivisionError)},
    "== of the name": {"__eq__": lambda c, other: c.name == other.name, "name": "Odd"},
    "equal to all": {"__eq__": lambda c, other: True, "__hash__": lambda c: hash(int)},
    "without a hash": {"__hash__": None},
    "attributes from a dict": {"__getattr__": _raise(KeyError)},
    "attributes that are noted": {"__getattribute__": _lookup},
}
odd: Any = None  # an object of such a class, while a test runs


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def make(request: pytest.FixtureRequest) -> Iterator[Callable[[], Any]]:
    global odd
    metaclass = type("Meta", (type,), dict(request.param))
    cls = metaclass("Odd", (), _members())
    odd = cls()
    yield cls
    odd = None


def added(x: Any, n: int) -> Any:
    return x + n, n + x, [x] * 2 == [x] * 2, (x, n)[1]


def summed(x: Any, n: int) -> Any:
    total = 0.5
    for i in range(n):
        total += x[i]
        if x is None or x < i:
            total += i
    for y in x:
        total += y
    return total


def asked_for(x: Any, n: int) -> Any:
    return (
        x.factor,
        len(x),
        n in x,
        1 if x else 2,
        float(x) + int(x),
        abs(x) - -x,
        isinstance(x, int),
        isinstance(x, (float, np.ndarray)),
        type(x) is int,
        callable(x),
        f"{x!s:>8}",
    )


def called(x: Any, n: int) -> Any:
    total = 0
    for i in range(n):
        total += odd(i) + x()
    return total


def kept(x: Any, n: int) -> Any:
    found, named = [], {}
    for i in range(n):
        found.append(x)
        named[i] = x

    def inner(k: int) -> Any:
        return x if k else 0

    return len(found), named[n - 1] is x, [inner(k) is x for k in range(n)]


def entered(x: Any, n: int) -> Any:
    try:
        with x as y:
            for i in range(n):
                if i == 3:
                    raise ValueError(i, y is x)
    except ValueError as error:
        return error.args, min(n, x), sorted([n, 2], key=lambda k: k)


def taken_apart(x: Any, n: int) -> Any:
    first, second, third = (x, n, [x, x])
    return first is third[0], second, len([y for y in third if y is first])


FUNCTIONS = [added, summed, asked_for, called, kept, entered, taken_apart]


def _outcome(function: Callable[..., Any], *args: object) -> tuple[object, list[str]]:
    asked.clear()
    result = function(*args)
    return result, list(asked)


@pytest.mark.parametrize("is_cold", [False, True], ids=["eager", "cold"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_objects_do_what_they_do_in_cpython(
    make: Callable[[], Any], function: Callable[..., Any], is_cold: bool
) -> None:
    with config.overridden(cold_calls=is_cold):
        compiled = ljit.jit(function)
        for call in range(CALLS):
            x = make()
            assert _outcome(compiled, x, 5) == _outcome(function, x, 5), call


def test_numbers_are_native_beside_such_objects(make: Callable[[], Any]) -> None:
    compiled = ljit.jit(summed)
    for _ in range(CALLS):
        assert compiled(make(), 5) == summed(make(), 5)
    assert compiled.specializations


def test_classes_are_told_apart_though_they_are_equal() -> None:
    class Meta(type):
        def __eq__(cls, other: object) -> bool:
            return isinstance(other, Meta)

        def __hash__(cls) -> int:
            return 1

    class Two(metaclass=Meta):
        def value(self) -> float:
            return 2.0

    class Three(metaclass=Meta):
        def value(self) -> float:
            return 3.0

    @ljit.jit
    def total(x: Any, n: int) -> float:
        result = 0.0
        for _ in range(n):
            result += x.value()
        return result

    assert [total(cls(), 4) for cls in (Two, Two, Two, Three, Two, Three)] == [8, 8, 8, 12, 8, 12]


def test_metaclasses_of_abstract_classes_and_enumerations_are_usual() -> None:
    import abc
    import enum

    class Shape(abc.ABC):
        pass

    class Colour(enum.Enum):
        RED = 1

    assert all(map(is_plain_class, (int, np.ndarray, Shape, Colour)))


class Guarded:
    """An object that decides of which class it seems to be, as a proxy does."""

    @property
    def __class__(self) -> Any:
        asked.append("__class__")
        return Guarded

    def scaled(self, n: int) -> int:
        return n * 2

    def __call__(self, n: int) -> int:
        return n + 1

    def __add__(self, n: int) -> int:
        return n + 2


class Holder:
    held = Guarded()


guarded, others = Holder.held, types.SimpleNamespace(held=Holder.held)


def of_variables(n: int) -> int:
    total = guarded.scaled(n) + guarded(n) + (guarded + n)
    for i in range(n):
        total += guarded.scaled(i)
    return total


def of_attributes(n: int) -> int:
    return Holder.held.scaled(n) + Holder.held(n) + others.held(n)


def of_a_default(n: int, held: Any = guarded) -> Any:
    return held is guarded, held + n, [x(n) for x in (held, guarded)]


@pytest.mark.parametrize("function", [of_variables, of_attributes, of_a_default])
def test_objects_are_not_asked_of_which_class_they_are(function: Callable[..., Any]) -> None:
    compiled = ljit.jit(function)
    for _ in range(CALLS):
        assert _outcome(compiled, 5) == (function(5), [])


class Asked(types.ModuleType):
    def __getattr__(self, name: str) -> object:
        raise ZeroDivisionError(name)


class Proxy:
    """What programs put in the place of a module: it decides about attributes."""

    __getattr__ = Asked.__getattr__


@pytest.mark.parametrize("stand_in", [Asked("replaced"), Proxy()], ids=["module", "other object"])
def test_a_module_that_was_replaced_is_not_asked(
    stand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "replaced", stand_in)
    names: dict[str, Any] = {"__name__": "replaced.part"}
    exec("def double(x):\n    return [2 * y for y in x if y > 0]", names)
    assert not is_being_imported(names["double"])
    with config.overridden(cold_calls=True):
        compiled = ljit.jit(names["double"])
        assert [compiled([1, -1, 3]) for _ in range(CALLS)] == [[2, 6]] * CALLS
    eager = ljit.jit(names["double"])
    assert [eager([1, -1, 3]) for _ in range(CALLS)] == [[2, 6]] * CALLS
