"""Named tuples: how they are made, what is read of them, and classes that are no plain ones."""

import typing
from collections import namedtuple

import numpy as np

from tests.programs.harness import program

Point = namedtuple("Point", "x y")
Preset = namedtuple("Preset", "x y z", defaults=(2, 3.5))
Odd = namedtuple("Odd", "def 1 a", rename=True)
Empty = namedtuple("Empty", "")
One = namedtuple("One", "x")
Long = namedtuple("Long", [f"f{k}" for k in range(70)])


class Result(typing.NamedTuple):
    root: float
    iterations: int = 0
    converged: bool = False

    def doubled(self):
        return Result(self.root * 2, self.iterations, self.converged)

    def is_good(self, most):
        return self.converged and self.iterations < most

    @property
    def half(self):
        return self.root / 2

    @classmethod
    def of(cls, x):
        return cls(x, 1, True)

    @staticmethod
    def sum(a, b):
        return a + b


class Derived(Point):
    __slots__ = ()

    def norm(self):
        return self.x * self.x + self.y * self.y


class WithDict(Point):
    pass


class Checked(Point):
    __slots__ = ()

    def __new__(cls, x, y):
        if y == 3:
            raise ValueError(f"no {y}")
        return super().__new__(cls, x, -y)


class Started(Point):
    __slots__ = ()

    def __init__(self, x, y):
        if y == 3:
            raise ValueError(f"no {y}")


class Own(Point):
    """Does itself what a tuple does."""

    __slots__ = ()

    def __eq__(self, other):
        return self.x == other

    __hash__ = None

    def __iter__(self):
        return iter((9, 8))

    def __getitem__(self, index):
        return 7

    def __len__(self):
        return 1

    def __getattribute__(self, name):
        return 100 if name == "y" else super().__getattribute__(name)


class Hidden(Point):
    __slots__ = ()
    x = 5

    @property
    def y(self):
        return tuple.__getitem__(self, 1) + 1


@program(lambda: (4, 2.5), lambda: (0, 1), lambda: (3, np.float64(0.5)), lambda: (2, 10**30))
def read(n, step):
    s = 0
    for i in range(n):
        p = Point(i, y=step)
        s += p.x * p.y + p[0] - p[-1]
        x, y = p
        s += x + y
        first, *rest = p
        s += first + rest[0]
    return s


@program(lambda: (3, True), lambda: (5, False))
def give(n, flag):
    made = Point(n, [n])
    other = Result(1.5 * n, converged=flag)
    return made, other, other.doubled(), Result(0.5), Empty(), One(n), Odd(1, n, 2.5)


@program(lambda: (3,), lambda: (2.5,))
def with_defaults(x):
    return Preset(x), Preset(x, 5), Preset(x, z=7), Preset(z=x, x=1, y=2)


@program(lambda: (3,), lambda: (0,))
def too_few(n):
    if n:
        return Point(n)
    return Point(n, n)


@program(lambda: (3,), lambda: (0,))
def wrong_name(n):
    if n:
        return Point(n, z=1)
    return Point(n, y=1)


def _solve(x, most):
    k = 0
    while x > 1.5 and k < most:
        x, k = x / 2, k + 1
    return Result(x, k, k < most)


@program(lambda: (np.arange(20.0), 3), lambda: (np.arange(3.0), 1))
def from_callees(a, most):
    total = 0.0
    for i in range(a.size):
        r = _solve(a[i], most)
        if r.converged:
            total += r.root * r.iterations
        elif not r.is_good(2):
            total -= r.half
    return total, r


@program(lambda: (7,), lambda: (1,))
def carried(n):
    best = Point(0, 0.0)
    for i in range(n):
        p = Point(i, (i * 5 % 7) * 1.0)
        if p.y > best.y:
            best = p
    return best, best.x


@program(lambda: (7,), lambda: (0,))
def either(n):
    p = Point(n, 1) if n else Point(1.5, None)
    q = Point(n, 1) if n else Derived(1, 2)
    r = Point(n, 1) if n else (n, 1)
    return p, q, r, p.x, q.y, r[0], type(q) is Point, type(r) is tuple


@program(lambda: (3, 4), lambda: (3, 4.0))
def compare(a, b):
    p, q = Point(a, b), Derived(a, b)
    return (
        p == q, p != q, p == (a, b), (a, b) == p, p < (a, 5), p <= q, p == Point(a, b + 1), p != p,
        p == [a, b], hash(p) == hash((a, b)), a in p, 4 in p, 7 not in q, bool(p), bool(Empty()), not q, len(p),
    )  # fmt: skip


@program(lambda: (3, 4))
def as_plain(a, b):
    p = Point(a, b)
    return (
        p + (1,),
        (1,) + p,
        p * 2,
        p[:],
        p[::-1],
        tuple(p),
        list(p),
        sum(p),
        max(p),
        sorted(p),
        [*p, 1],
        (*p,),
    )


@program(lambda: (3, 4), lambda: (2.5, "text"))
def as_object(a, b):
    p, r = Point(a, b), Result(2.0)
    return (
        repr(p), str(p), f"{p}", "%s %s" % p, p._asdict(), p._fields, type(p), type(p).__name__, p.__class__,
        isinstance(p, tuple), isinstance(p, Point), isinstance(p, Derived), p.count(3), p.index(a), r.sum(1, 2), r.of(4.0),
        Result.of(1.0), p.__doc__, Point._make([a, b]), getattr(p, "x"), hasattr(p, "z"), [p, p], {p: 1}, {"k": p},
    )  # fmt: skip


@program(lambda: (3, 4), lambda: (2.5, "text"))
def replaced(a, b):
    p, q = Point(a, b), Derived(1, 2)
    return (
        p._replace(x=b),
        p._replace(),
        p._replace(y=1, x=2.5),
        q._replace(y=5),
        q._replace(y=5).norm(),
        p,
    )


@program(lambda: (3,), lambda: (0,))
def replaced_wrongly(n):
    p = Point(n, 1)
    return p._replace(z=n) if n else p._replace(x=2)


def _spread(x, y=1):
    return x * 10 + y


@program(lambda: (3, 4), lambda: (2.5, 1))
def spread(a, b):
    p = Point(a, b)
    total = 0
    for v in p:
        total += v
    for k, v in enumerate(p):
        total += k * v
    for v, w in zip(p, Derived(b, a)):
        total += v * w
    return _spread(*p), _spread(*One(a)), total, max(*p), np.array(p), np.zeros(Point(2, 3)).shape


@program(lambda: (np.arange(6.0).reshape(2, 3), 1), lambda: (np.arange(6).reshape(3, 2), 0))
def of_arrays(a, i):
    p = Point(a, a[i])
    p.y[0] += 5
    q = p._replace(y=p.x.T)
    q.y[0, 0] = -1
    return p, q, a[Point(i, 1)], p.x.sum() + q.y.max()


@program(
    lambda: (Point(3, 4.5), 5),
    lambda: (Derived(1, 2), 3),
    lambda: (Point("a", None), 1),
    lambda: (WithDict(1, 2), 1),
)
def given(p, n):
    total = 0
    for i in range(n):
        if p.y is not None:
            total += p.x * i + p.y
    x, y = p
    return total, p, x, p[1], p.y


@program(lambda: (3,), lambda: (2,))
def others(n):
    made = []
    for cls in (WithDict, Checked, Started, Own, Hidden):
        try:
            p = cls(1, n)
            made.append((p.x, p.y, p[0], p == 1, [*p], type(p).__name__, tuple.__getitem__(p, 1)))
        except ValueError as e:
            made.append(str(e))
    return made


@program(lambda: (4,), lambda: (0,))
def own_methods(n):
    p = Own(n, 2)
    x, y = p
    q = Hidden(n, n)
    return p == n, n == p, x, y, p[0], p.x, p.y, len(p), q.x, q.y, q == (n, n), q[0]


@program(lambda: (4,))
def checked(n):
    total = 0
    for i in range(n):
        total += Started(i, 1).x + Checked(i, 1).y
    return total, Checked(n, 1), Started(1, n - 1)


@program(lambda: (3,))
def with_attributes(n):
    p = WithDict(n, 1)
    p.z = 5
    return p, p.z, p.x, vars(p)


@program(lambda: (3,))
def cannot_be_set(n):
    p = Point(n, 1)
    p.x = 5
    return p


@program(lambda: (3,))
def long_ones(n):
    p = Long(*range(69), n)
    return p, p.f69, p.f0, p[5]


@program(lambda: (5,), lambda: (0,))
def deep(n):
    p = Point(Point(Point(n, 1), Result(2.5)), (Point(n, n), [Point(1, n)]))
    p.y[1].append(Point(n, 2))
    return p, p.x.x.x, p.x.y.root, p.y[0] == Point(n, n), p.y[1]


class Node(typing.NamedTuple):
    value: int
    left: "Node | None" = None
    right: "Node | None" = None


def _grown(depth, value):
    if depth == 0:
        return Node(value)
    return Node(
        value, _grown(depth - 1, 2 * value), _grown(depth - 2, value + 1) if depth > 1 else None
    )


def _total(node):
    return 0 if node is None else node.value + _total(node.left) * 2 + _total(node.right)


@program(lambda: (7,), lambda: (0,))
def trees(depth):
    tree = _grown(depth, 1)
    return tree, _total(tree), tree.left == tree.right


@program(lambda: (6,))
def in_lists(n):
    points = [Point(i % 3, 0.5 * i) for i in range(n)]
    points.append(Point(9, 1.0))
    points[0] = points[1]._replace(y=7.0)
    points.sort()
    total = 0
    for p in points:
        total += p.x * p.y
    for x, y in points:
        total -= x + y
    return points, total, min(points), points[0] is points[0]


@program(lambda: (2.0, 0), lambda: (2.0, 3))
def fails_behind(x, k):
    p = Point(x, k)
    q = Result(x / k, k)
    return p, q, p[k]


@program(lambda: (3, "root"), lambda: (3, "nothing"))
def by_name(n, name):
    return getattr(Result(n * 1.0), name)


@program(lambda: (4,))
def matched(n):
    found = []
    for p in (Point(1, n), Point(n, 2), Result(1.5)):
        match p:
            case Point(x=1, y=y):
                found.append(y)
            case Point(a, b):
                found.append((b, a))
            case (a, *_):
                found.append(a)
    return found
