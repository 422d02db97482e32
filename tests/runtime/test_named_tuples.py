"""Named tuples in native code: no calls to make them, none to read them, and classes that change in the meantime."""

from __future__ import annotations

import typing
from collections import namedtuple
from typing import Any

import pytest

import ljit
from ljit import config
from ljit.cpython.named_tuples import count_of_fields
from ljit.ir import Effect
from ljit.testing.chaos import fail_each_guard
from ljit.types import ANY, FLOAT, INT, NamedTupleType, ObjectType, join
from ljit.value_types import type_of


@pytest.fixture(autouse=True, params=[200000, 0], ids=["quick", "optimised"])
def at_once(request):
    with config.overridden(cold_calls=False, quick_runs=request.param):
        yield request.param


def make_classes() -> tuple[Any, Any]:
    class Result(typing.NamedTuple):
        root: float
        steps: int = 0

        def twice(self) -> float:
            return self.root * 2

    return namedtuple("Point", "x y", defaults=(1.5,)), Result


def ways(Point: Any, Result: Any) -> list[Any]:
    def make(n: int) -> Any:
        return Point(n, 2.5 * n), Point(n), Result(n * 0.5)

    def read(n: int) -> Any:
        total = 0.0
        for i in range(n):
            p = Point(i, 2.5)
            total += p.x * p.y
        return total

    def unpack(n: int) -> Any:
        x, y = Point(n, 3)
        return x - y

    def index(n: int) -> Any:
        return Point(n, 3)[0]

    def iterate(n: int) -> Any:
        total = 0
        p = Point(n, 3)
        for v in p:
            total += v
        return total

    def equal(n: int) -> Any:
        return Point(n, 3) == Point(4, n), Point(n, 2) < Point(n, 3)

    def replace(n: int) -> Any:
        return Point(n, 3)._replace(x=7)

    def call(n: int) -> Any:
        return Result(n + 0.25).twice()

    return [make, read, unpack, index, iterate, equal, replace, call]


COUNT = len(ways(None, None))


@pytest.mark.parametrize("index", range(COUNT))
def test_no_python_code_runs_for_named_tuples(index):
    function = ways(*make_classes())[index]
    compiled = ljit.jit(function, num_profiled_runs=1)
    for n in (4, 5, 3):
        assert compiled(n) == function(n)
    graph = compiled.graph_for(4)
    calls = [n for n in graph.walk() if n.effects & Effect.CALL]
    assert calls == []


def otherwise(self: Any, *_: Any) -> Any:
    return "another"


def made_otherwise(cls: Any, *_: Any) -> Any:
    return "another"


def outcome(function: Any, n: int) -> Any:
    try:
        found = function(n)
    except Exception as e:
        return type(e), str(e)
    return type(found), repr(found)


CHANGES = [
    ("__new__", made_otherwise),
    ("__init__", lambda self, *_: None),
    ("x", 11),
    ("y", property(lambda self: -1)),
    ("__getattribute__", lambda self, name: 3 if name in ("x", "y", "root") else tuple.__getattribute__(self, name)),
    ("__iter__", lambda self: iter((5, 6))),
    ("__getitem__", lambda self, k: 77),
    ("__eq__", otherwise),
    ("__lt__", otherwise),
    ("_replace", lambda self, **_: "replaced"),
    ("_make", classmethod(lambda cls, items: ("made", *items))),
    ("twice", lambda self: "twice"),
    ("other", 5),
]  # fmt: skip


@pytest.mark.parametrize("name, value", CHANGES, ids=[name for name, _ in CHANGES])
@pytest.mark.parametrize("index", range(COUNT))
def test_a_class_that_changes_is_seen(index, name, value):
    for changed in (0, 1):
        classes = make_classes()
        function = ways(*classes)[index]
        compiled = ljit.jit(function, num_profiled_runs=1)
        for n in (4, 5):
            assert compiled(n) == function(n)
        if hasattr(classes[changed], name) or name == "other":
            setattr(classes[changed], name, value)
        for n in (4, 5, 6, 3):
            assert outcome(compiled, n) == outcome(function, n)


def test_other_defaults_are_seen():
    Point, _ = make_classes()

    def make(n: int) -> Any:
        return Point(n)

    compiled = ljit.jit(make, num_profiled_runs=1)
    assert [compiled(k).y for k in range(4)] == [1.5] * 4
    Point.__new__.__defaults__ = (2.5,)
    assert compiled(1) == make(1) == (1, 2.5)


def test_a_class_that_is_bound_again_is_seen():
    Point, Result = make_classes()

    def make(n: int) -> Any:
        return Point(n, 2.5)

    compiled = ljit.jit(make, num_profiled_runs=1)
    assert [type(compiled(k)) for k in range(3)] == [Point] * 3
    Point = Result
    assert type(compiled(1)) is Result


@pytest.mark.parametrize("index", range(COUNT))
def test_each_check_can_fail(index):
    function = ways(*make_classes())[index]
    compiled = ljit.jit(function, num_profiled_runs=1)
    for n in (4, 5, 4):
        compiled(n)
    sites = 0
    for site in fail_each_guard(compiled):
        assert outcome(compiled, 4) == outcome(function, 4), site
        sites += 1
    assert sites


def test_named_tuples_are_given_natively():
    _, Result = make_classes()

    @ljit.jit(num_profiled_runs=1)
    def solve(x: float) -> Any:
        return Result(x / 2, 3)

    @ljit.jit(num_profiled_runs=1)
    def total(n: int) -> float:
        s = 0.0
        for i in range(n):
            r = solve(i * 1.0)
            s += r.root + r.steps
        return s

    assert [total(k) for k in range(4)] == [0, 3, 6.5, 10.5]
    assert not any(n.effects & Effect.CALL for n in total.graph_for(3).walk())


def test_objects_die_with_their_last_reference():
    import weakref

    Point, _ = make_classes()

    class Thing:
        pass

    @ljit.jit(num_profiled_runs=1)
    def pair(x: Any, n: int) -> Any:
        p = Point(x, n)
        return p, p._replace(y=n + 1)

    for _ in range(4):
        thing = Thing()
        found = pair(thing, 1)
        assert found[0].x is thing and found[1] == (thing, 2)
        known = weakref.ref(thing)
        del thing, found
        assert known() is None


def test_which_classes_are_known():
    Point, Result = make_classes()

    class Plain(Point):
        __slots__ = ()

    class WithDict(Point):
        pass

    class Making(Point):
        __slots__ = ()

        def __new__(cls, x: Any) -> Any:
            return tuple.__new__(cls, (x, x))

    class Meta(type):
        pass

    class OfMeta(Point, metaclass=Meta):
        __slots__ = ()

    found = [count_of_fields(c) for c in (Point, Result, Plain, WithDict, Making, OfMeta, tuple)]
    assert found == [2, 2, 2, None, None, None, None]
    assert type_of(tuple.__new__(Point, (1, 2, 3))) != type_of(Point(1, 2))


def test_fields_of_many_types_are_seen_before_a_compile():
    Point, _ = make_classes()
    points = [Point(k if k % 3 else None, 0.5 if k % 2 else 1) for k in range(30)]

    @ljit.jit(num_profiled_runs=1)
    def total(points: Any) -> Any:
        s = 0
        for k in range(len(points)):
            p = points[k]
            if p.x is not None:
                s += p.x * p.y
        return s

    assert [total(points) for _ in range(4)] == [total._plain(points)] * 4
    assert "0 bailouts" in total.explain()


def test_types_that_meet():
    Point, Result = make_classes()
    ints, mixed, other = (type_of(x) for x in (Point(1, 2), Point(1.5, 2), Result(1, 2)))
    assert join(ints, mixed) == type(ints)(ObjectType(Point), (join(INT, FLOAT), INT))
    assert join(ints, ObjectType(Point)) == join(ObjectType(Point), ints) == ObjectType(Point)
    assert join(ints, other) == join(ints, type_of((1, 2))) == join(ObjectType(Point), other) == ANY


def test_named_tuples_that_hold_themselves_have_a_type():
    Point, _ = make_classes()
    inner: list[Any] = []
    point = Point(1, inner)
    inner.append(point)
    assert type_of(point) == ObjectType(Point)


def test_the_nodes_of_trees_are_objects():
    def in_tuple(leaf: Any) -> Any:
        return (leaf,)

    for put in (lambda leaf: leaf, in_tuple, lambda leaf: [leaf], make_classes()[1]):
        Point, _ = make_classes()
        leaf = Point(None, None)
        assert isinstance(type_of(leaf), NamedTupleType)
        assert type_of(Point(1, put(leaf))) == ObjectType(Point)
        assert type_of(leaf) == ObjectType(Point)


def test_the_length_that_a_subclass_of_tuple_has_by_itself_is_not_asked():
    """It is users' code: a decorated one was called for the type of its own argument, without end."""

    class Word(tuple):
        @ljit.jit
        def __len__(self):
            total = 0
            for _, power in self:
                total += abs(power)
            return total

    @ljit.jit
    def words(n):
        return [Word((("x", 1), ("y", -k))) for k in range(n)]

    for _ in range(4):
        assert [len(word) for word in words(4)] == [1, 2, 3, 4]
