"""Numbers in containers: which objects they are, and that nobody else's changes."""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict

import pytest

import ljit


def native(function, *factories):
    """The function, called until it is native."""
    jitted = ljit.jit(function)
    for make in factories:
        for _ in range(4):
            jitted(*make())
    assert any(found.calls for found in jitted.specializations)
    return jitted


def add_to_items(d, ks):
    for k in ks:
        d[k] += 1


def add_to_items_or_zero(d, ks):
    for k in ks:
        d[k] = d.get(k, 0) + 1


@pytest.mark.parametrize("function", [add_to_items, add_to_items_or_zero])
def test_a_number_that_only_the_dict_has_is_written_over(function):
    f = native(function, lambda: ({1: 1000, 2: 2000}, [1, 2, 1]))
    d = {1: int("1000"), 2: int("2000")}
    before = [id(value) for value in d.values()]
    f(d, [1, 2, 1])
    assert d == {1: 1002, 2: 2001}
    assert [id(value) for value in d.values()] == before


@pytest.mark.parametrize("function", [add_to_items, add_to_items_or_zero])
def test_a_number_that_others_have_stays(function):
    f = native(function, lambda: ({1: 1000, 2: 2000}, [1, 2, 1]))
    value = int("1000")
    d = {1: value, 2: value}
    f(d, [1, 2, 1])
    assert (value, d) == (1000, {1: 1002, 2: 1001})


def put_twice(xs):
    seen = set()
    out = []
    for x in xs:
        if x not in seen:
            seen.add(x)
            out.append(x)
    return seen, out


def put_numbered(xs):
    seen = set()
    out = []
    for i, x in enumerate(xs):
        seen.add(x)
        out.append(x)
    return seen, out


def put_popped(xs):
    stack = list(xs)
    seen = set()
    out = []
    while stack:
        x = stack.pop()
        seen.add(x)
        out.append(x)
    return seen, out


@pytest.mark.parametrize("function", [put_twice, put_numbered, put_popped])
@pytest.mark.parametrize("numbers", [["1000", "2000"], ["0.5", "2.5"]])
def test_items_of_lists_are_put_elsewhere_as_the_objects_that_they_are(function, numbers):
    make = [float, int]["." not in numbers[0]]
    f = native(function, lambda: (list(map(make, numbers)),))
    xs = list(map(make, numbers))
    counts = [sys.getrefcount(x) for x in xs]
    seen, out = f(xs)
    assert sorted(map(id, xs)) == sorted(map(id, seen)) == sorted(map(id, out))
    del seen, out
    assert [sys.getrefcount(x) for x in xs] == counts


def use_table(table, ks):
    found = []
    for k in ks:
        if k in table:
            table[k] += 1
        found.append((table[k], table.get(k, -1), table.setdefault(k, 5)))
    return found, dict(table)


def table_class(base):
    class Table(base):
        def __missing__(self, key):
            return -key

    return Table


def changed_contains(self, key):
    return True


def changed_item(self, key):
    return 100


def changed_store(self, key, value):
    dict.__setitem__(self, key, value * 10)


def changed_get(self, key, default):
    return default


CHANGES = {
    "__contains__": changed_contains,
    "__getitem__": changed_item,
    "__setitem__": changed_store,
    "get": changed_get,
    "setdefault": changed_get,
}


@pytest.mark.parametrize("base", [dict, Counter, OrderedDict])
def test_a_class_of_dicts_has_native_lookups(base):
    cls = table_class(base)
    f = native(use_table, lambda: (cls({1: 1000, 2: 2000}), [1, 2, 3, 1]))
    assert "find.dict" in f.dump_llvm()
    ks = [1, 3, 2, 4, 3]
    assert f(cls({1: 7, 2: 8}), ks) == use_table(cls({1: 7, 2: 8}), ks)


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("base", [dict, Counter])
def test_what_a_class_of_dicts_gets_later_is_called(base, name):
    cls = table_class(base)
    f = native(use_table, lambda: (cls({1: 1000, 2: 2000}), [1, 2, 3, 1]))
    setattr(cls, name, CHANGES[name])
    ks = [1, 3, 2, 4, 3]
    for _ in range(4):
        assert f(cls({1: 7, 2: 8}), ks) == use_table(cls({1: 7, 2: 8}), ks)
