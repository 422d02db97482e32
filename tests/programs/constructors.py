"""Objects of users' classes, made by native code as long as their classes are what they were."""

import abc
from dataclasses import dataclass, field

from tests.programs.harness import program


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __eq__(self, other):
        return vars(self) == vars(other)


class Slotted:
    __slots__ = ("total", "name")

    def __init__(self, total):
        if total == 7:
            raise ValueError(f"no {total}")
        self.total = total + 1

    def __eq__(self, other):
        return self.total == other.total


class Derived(Point):
    def __init__(self, x):
        super().__init__(x, -x)
        self.z = 0


class Tree:
    def __init__(self, depth):
        self.left = Tree(depth - 1) if depth > 0 else None
        self.right = Tree(depth - 1) if depth > 1 else None

    def size(self):
        return 1 + sum(child.size() for child in (self.left, self.right) if child is not None)


class Defaults:
    def __init__(self, x, y=2, *, z=3):
        self.values = x, y, z


class Giving:
    def __init__(self, x):
        self.x = x
        return None if x < 20 else x


class Finished:
    def __init__(self, x):
        self.x = x

    def __del__(self):
        self.x = None


class Abstract(abc.ABC):
    def __init__(self, x):
        self.x = x

    @abc.abstractmethod
    def f(self):
        pass


class Counted(list):
    def __init__(self, n):
        super().__init__(range(n))


@program(lambda: (40, 1.5), lambda: (40, 2), lambda: (40, "a"), lambda: (3, 2**62))
def points(n, x):
    made, s = [], 0
    for i in range(n):
        p = Point(x, i)
        made.append(p)
        s += p.y
        made[i // 2].x = made[i - i % 3].x
    return made, s


@program(lambda: (6,), lambda: (40,), lambda: (8.5,))
def constructors_that_fail(n):
    s = 0
    for i in range(40):
        s += Slotted(i + n - 40).total
    return s


@program(lambda: (range(40),), lambda: ([*range(30), "x", 1],))
def handled_failures(xs):
    made = []
    for x in xs:
        try:
            made.append(Slotted(x))
        except (ValueError, TypeError) as error:
            made.append(str(error))
    return made


@program(lambda: (40,))
def derived_and_defaults(n):
    s = []
    for i in range(n):
        d = Derived(i)
        s.append(
            (d.x, d.y, d.z, Defaults(i).values, Defaults(i, i).values, Defaults(i, z=i).values)
        )
    return s


@program(lambda: (6,), lambda: (0,))
def trees(n):
    sizes = []
    for i in range(40):
        sizes.append(Tree(i % (n + 1)).size())
    return sizes


@program(lambda: (19,), lambda: (40,))
def constructors_that_give_something(n):
    s = 0
    for i in range(n):
        s += Giving(i).x
    return s


@program(lambda: (40,))
def constructors_that_give_something_now_and_then(n):
    seen = []
    for i in range(n):
        try:
            seen.append(Giving(i * 7 % 30).x)
        except TypeError as error:
            seen.append(str(error))
    return seen


@program(lambda: (40,))
def objects_with_finalizers(n):
    s = 0
    for i in range(1, n):
        s += Finished(i).x
    return s


@program(lambda: (40,))
def classes_that_make_other_objects(n):
    seen = []
    for i in range(n):
        try:
            seen.append(Abstract(i))
        except TypeError as error:
            seen.append("abstract" in str(error))
        seen.append(Counted(i % 3))
    return seen


def _changing_class():
    class Changing:
        def __init__(self, x):
            self.x = x

    return Changing


def _renewed():
    global Changing
    Changing = _changing_class()
    return (60,)


Changing = _changing_class()


@program(_renewed)
def constructors_that_are_replaced(n):
    s = []
    for i in range(n):
        if i == n // 2:
            Changing.__init__ = lambda self, x: setattr(self, "x", 1000 + x)
        s.append(Changing(i).x)
    return s


@program(_renewed)
def makers_that_are_replaced(n):
    s = []
    for i in range(n):
        if i == n // 2:
            Changing.__new__ = lambda cls, x: Point(x, 1000)
        s.append(Changing(i).x)
        if i == n - 5:
            Changing.__new__ = lambda cls, x: object.__new__(cls)
    return s


@program(lambda: (60,), lambda: (2,))
def lists_of_objects_that_die(n):
    last = None
    for i in range(n):
        last = Point(last if i % 4 else None, [i])
    depth = 0
    while last is not None:
        last = last.x
        depth += 1
    return depth


@dataclass
class Vector:
    x: float
    y: float = 0.0

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)


@dataclass(frozen=True)
class Fixed:
    x: float
    y: float = 1.0

    def __add__(self, other):
        return Fixed(self.x + other.x, self.y + other.y)


@dataclass(slots=True)
class Bucket:
    key: int
    items: list = field(default_factory=list)
    size: int = field(init=False, default=0)


@dataclass
class Checked:
    x: float

    def __post_init__(self):
        if self.x == 7:
            raise ValueError(f"no {self.x}")


@program(lambda: (40, 1.5), lambda: (40, 2), lambda: (40, "a"))
def sums_of_dataclasses(n, x):
    total, fixed = Vector(x), Fixed(x)
    for _ in range(n):
        total = total + Vector(x, x)
        fixed = fixed + Fixed(x)
    return total, fixed


@program(lambda: (40,))
def fields_with_factories(n):
    buckets = [Bucket(k) for k in range(4)]
    for i in range(n):
        bucket = buckets[i % 4]
        bucket.items.append(i)
        bucket.size += 1
    return buckets, Bucket(9, [n])


@program(lambda: (5,), lambda: (40,))
def dataclasses_that_fail(n):
    made = []
    for i in range(n):
        made.append(Checked(i).x)
    return made


@program(lambda: (40,))
def fields_that_are_fixed(n):
    made = Fixed(n)
    try:
        for i in range(n):
            if i > 20:
                made.x = i
    except AttributeError as error:
        return str(error), made


MISSING = object()


class Lazy:
    def __init__(self, x, y=MISSING):
        self.x = x
        self.y = [x] if y is MISSING else y


@program(lambda: (40,))
def defaults_that_are_objects(n):
    made = []
    for i in range(n):
        made += Lazy(i).y, Lazy(i, i).y, Lazy(i, MISSING).y, Lazy(i, y=None).y
    return made
