"""Objects that have a dict instead of values: attributes are found, stored and noted there as CPython does it."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import ljit
from ljit.codegen.layouts.layout import DICT_VERSION, word_at

_CLASS = """
class Late:
    def __init__(self, early):
        self.early = early

    def twice(self, k):
        return self.late * 2 + k
"""


def late_objects() -> list[Any]:
    """Objects that got an attribute when their class had had many objects."""
    namespace: dict[str, Any] = {}
    exec(_CLASS, namespace)
    things = [namespace["Late"](k) for k in range(100)]
    for k, thing in enumerate(things):
        for name in ("late", "more", "most"):
            setattr(thing, name, k)
    return things


def shift(things: list[Any], by: int) -> int:
    total = 0
    for thing in things:
        total += thing.late
        thing.late += by
        thing.early = by
    return total


def native_shift(things: list[Any]) -> Any:
    f = ljit.jit(shift)
    for _ in range(4):
        f(things, 1)
    assert any(found.native_calls for found in f._executor.plans.values())
    return f


def test_attributes_that_no_values_have_are_found_in_dicts():
    f = native_shift(late_objects())
    text = f.dump_llvm()
    assert "@get." in text and "@set." in text
    assert "@PyDict_GetItem(" not in text
    things = late_objects()
    before = [vars(thing)["late"] for thing in things]
    assert f(things, 300) == sum(before)
    assert [thing.late for thing in things] == [k + 300 for k in before]
    assert all(list(vars(thing)) == ["early", "late", "more", "most"] for thing in things)


def odd(thing: Any, kind: int) -> Any:
    """Give an object a dict that is like none of the others."""
    if kind == 0:
        vars(thing)[3] = 3  # keys that are no strs
    elif kind == 1:
        del thing.early
        del thing.late
        thing.late = 5
    elif kind == 2:
        thing.__dict__ = {"".join(("la", "te")): 7}
    elif kind == 3:
        for k in range(400):
            setattr(thing, f"x{k}", k)
    elif kind == 4:
        thing.__dict__ = dict.fromkeys(("late", "early"), 8)
    else:
        del thing.late
    return thing


@pytest.mark.parametrize("kind", range(5))
def test_odd_dicts_are_read_and_written(kind):
    f = native_shift(late_objects())
    plain, thing = (odd(late_objects()[-1], kind) for _ in range(2))
    assert f([thing], 2) == shift([plain], 2)
    assert list(vars(thing).items()) == list(vars(plain).items())


def test_a_missing_attribute_is_an_error():
    f = native_shift(late_objects())
    with pytest.raises(AttributeError, match="'Late' object has no attribute 'late'"):
        f([odd(late_objects()[-1], 5)], 2)


def test_the_collector_hears_of_what_a_dict_gets():
    @ljit.jit
    def tie(things: list[Any], values: list[Any]) -> None:
        for k in range(len(things)):
            things[k].late = values[k]

    for _ in range(4):
        things = late_objects()
        tie(things, things)
    assert all(gc.is_tracked(vars(thing)) for thing in things)


def test_versions_of_dicts_change_with_what_they_have():
    f = native_shift(late_objects())
    thing = late_objects()[-1]
    place = id(vars(thing)) + DICT_VERSION
    vars(thing)["early"] = []  # so that the collector knows of it
    seen = {word_at(place)}
    for by in range(5):
        f([thing], by)
        seen.add(word_at(place))
    assert len(seen) == 6


def test_a_method_that_an_object_has_of_its_own_is_called():
    @ljit.jit
    def ask(things: list[Any]) -> int:
        total = 0
        for thing in things:
            total += thing.twice(1)
        return total

    things = late_objects()
    for _ in range(4):
        assert ask(things) == sum(2 * k + 1 for k in range(100))
    things[7].twice = lambda k: 1000 * k
    for _ in range(4):
        assert ask(things) == sum(2 * k + 1 for k in range(100)) - 15 + 1000


limit = 5000


def below_limit(n: int) -> int:
    total = 0
    for _ in range(n):
        total += limit
    return total


def set_item(d: dict[str, Any], n: int, value: int) -> None:
    for _ in range(n):
        d["limit"] = value


def test_variables_of_a_module_that_are_stored_as_items_are_seen():
    f, store = ljit.jit(below_limit), ljit.jit(set_item)
    for k in range(6):
        store({"limit": 3000}, 3, 1000 * k)
    for _ in range(6):
        assert f(10) == 50000
    for value in (7000, 8000, 5000):
        store(globals(), 3, value)
        assert f(10) == 10 * value
