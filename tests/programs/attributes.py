"""Programs that read and write attributes of objects, fill sets and dicts, and compute with large constants."""

from __future__ import annotations

from typing import Any

from tests.programs.harness import program


class Slots:
    __slots__ = ("also_x", "x", "y")

    def __init__(self, x: Any, y: Any = None) -> None:
        self.x = x
        if y is not None:
            self.y = y


class Plain:
    kind = "a plain one"

    def __init__(self, x: Any, y: Any = None) -> None:
        self.x = x
        if y is not None:
            self.y = y

    @property
    def twice(self) -> Any:
        return self.x * 2


class Child(Plain):
    y = 7  # until an object has its own


class Guarded:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value + 1)

    def __getattr__(self, name: str) -> Any:
        return len(name)


def with_dict(x: Any) -> Plain:
    made = Plain(x, 1)
    vars(made)["extra"] = x
    return made


def as_child(x: Any) -> Plain:
    made = Plain(x, 2)
    made.__class__ = Child
    return made


@program(
    lambda: (Slots(1, 2), 5),
    lambda: (Slots(1.5, 2.5), 3),
    lambda: (Plain(1, 2), 5),
    lambda: (Child(1, 2), 5),
    lambda: (with_dict(3), 4),
    lambda: (as_child(3), 4),
    lambda: (Slots(2**62, 2**62), 3),
    lambda: (Guarded(1), 2),
    lambda: (None, 2),
    lambda: (3, 2),
)
def sums_in_attributes(thing, n):
    for i in range(n):
        thing.x += i
        thing.y = thing.y + thing.x
    return thing.x, thing.y


@program(
    lambda: ([Slots(1, 2), Slots(3)],),
    lambda: ([Plain(1, 2), Plain(3)],),
    lambda: ([Child(1, 2), Child(3)],),
    lambda: ([Plain(1, 2), with_dict(2), as_child(1), Slots(1, 1)],),
    lambda: ([Slots(1, 2), Plain(3, 4), Guarded(1)],),
)
def attributes_that_may_be_missing(things):
    total = 0
    for thing in things:
        total += thing.x
        thing.x = total
        total += thing.y
    return total


@program(lambda: (Slots(1),), lambda: (Plain(1.5),), lambda: (Guarded(2),), lambda: (5,))
def attributes_that_are_new(thing):
    thing.y = thing.x
    thing.y = thing.y * 3
    thing.also_x = thing.y
    del thing.y
    thing.y = 1
    return thing.y, thing.also_x


@program(lambda: (Plain(1, 2),), lambda: (Child(1, 2),), lambda: (Slots(1, 2),))
def read_only_attributes(thing):
    before = thing.twice
    thing.x = 9
    thing.twice = before
    return before


@program(lambda: (Plain(1), 4), lambda: (Child(1), 4))
def classes_that_change(thing, n):
    seen = []
    for i in range(n):
        type(thing).kind = i
        seen.append(thing.kind)
        thing.x += thing.kind
        if i == 2:
            thing.kind = "its own"
    type(thing).kind = "a plain one"
    return seen, thing.x


@program(
    lambda: (1, 2.5, "a"),
    lambda: (1, 1.0, True),
    lambda: (1, [], 2),
    lambda: ([], 1, 2),
    lambda: (2**70, None, (1, 2)),
    lambda: (float("nan"), (1, []), 0),
)
def displays(a, b, c):
    empty = {}
    empty[a] = b
    first = {a: b, b: c, a: c}
    return empty, first, {a, b, c} == {c, b, a}, len({a, b, c}), {"k": {c: a}}


@program(lambda: ([2, 7, 11, 15], 22), lambda: ([1.5, 2.5], 4), lambda: ([], 1), lambda: ([[1]], 2))
def pair_with_sum(xs, wanted):
    seen = {}
    for i, x in enumerate(xs):
        if wanted - x in seen:
            return seen[wanted - x], i
        seen[x] = i
    return None


@program(lambda: (5,), lambda: (-1,), lambda: (2**64,), lambda: (2.5,), lambda: (True,))
def large_constants(x):
    mask = 2**64 - 1
    parts = (-(2**63), 2**63, -(2**63) - 1, mask % 7, 1 << 70, 2**64 >> 60, mask // 3, ~(2**64))
    powers = (2**200, 3**100 % 7, 2**64 == 2**64, 2**64 * 1.5, 10**18 * 100, 2**1000 * 0)
    return x * mask, x + 2**63, x % 2**64, parts, powers


@program(lambda: ("hello",), lambda: ("",), lambda: ("\u65e5\u672c",), lambda: (["a", "bc"],))
def hash_of_text(text):
    h = 0xCBF29CE484222325
    for c in text:
        h = ((h ^ ord(c)) * 0x100000001B3) % 2**64
    return h


def weighted(a, b=2, *, c=3):
    return a + b * c


@program(
    lambda: ([1, 2], (3, 4), {"k": 1}),
    lambda: ([], (), {}),
    lambda: ("ab", range(2), {1: 2}),
    lambda: ([1.5], {7: 8}, {"a": 1, "z": 5}),
    lambda: ([1], 5, {}),
    lambda: ([1], (2,), 3),
    lambda: ([1], (2,), [("k", 1)]),
)
def stars_in_displays(xs, ys, d):
    items = [*xs, 0, *ys]
    fixed = (*items, *xs)
    return items, fixed, {*xs, 1} == {1, *xs}, {**d, "z": 1, **d}, tuple(items), list(fixed)


@program(
    lambda: ([1], {}),
    lambda: ((1, 2), {"c": 5}),
    lambda: ([1], {"b": 2, "c": 1.5}),
    lambda: ("a", {}),
    lambda: ([1, 2, 3], {}),
    lambda: ([1], {"d": 1}),
    lambda: ([1], {1: 2}),
    lambda: ([1], 5),
    lambda: (5, {}),
    lambda: ([1], {"a": 2}),
)
def stars_in_calls(args, names):
    first = weighted(*args, **names)
    if len(names) == 0:
        return first, weighted(*args, c=1), max(*args, 7, 9), max([*args, 1])
    return first, dict(names, k=1), dict(**names, k=2), weighted(*args, **{**names, "b": 1})


def ints_and_floats(*pairs: Any) -> list[Plain]:
    return [Plain(x, y) for x, y in pairs]


@program(
    lambda: (ints_and_floats((1, 2.5), (0.5, 3), (2, 4)), {"a": 1, "b": 2.5}),
    lambda: (ints_and_floats((1.5, 2.5), (0.5, 3.0)), {"a": 1.5}),
    lambda: (ints_and_floats((1, 2), (-3, 4)), {"a": 1}),
    lambda: (ints_and_floats((2**62, 2.5), (0.5, 2**62), (2**62, 2**62)), {"a": 2**63, "b": 0.5}),
    lambda: (ints_and_floats((2**70, 2.5), (0.5, -(2**70)), (True, 4)), {"a": True, "b": 2**64}),
    lambda: (ints_and_floats((1, -0.0), (float("inf"), 0), (0, float("nan"))), {}),
    lambda: (ints_and_floats((1, 2.5), ("text", 3)), {}),
    lambda: (ints_and_floats((1, 0), (2.5, 0)), {"a": None}),
)
def attributes_that_are_ints_or_floats(points, more):
    total, least = 0, None
    for p in points:
        total = total + p.x * p.y - p.x
        p.x, p.y = p.y // 2, p.x
        if least is None or p.x < least:
            least = p.x
    for key in more:
        total += more[key] * 2
    return total, least, [(p.x, p.y, -p.x, p.x == p.y) for p in points], points[0].x / points[-1].y
