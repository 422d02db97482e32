"""Operators on objects of users' classes: by native code, as the methods that Python calls, as long as they are these."""

import math

from tests.programs.harness import program


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, other):
        if isinstance(other, Vector):
            return self.x * other.x + self.y * other.y
        if isinstance(other, (int, float)):
            return Vector(self.x * other, self.y * other)
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, k):
        return Vector(self.x / k, self.y / k)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __invert__(self):
        return math.hypot(self.x, self.y)

    def __getitem__(self, i):
        if i > 1:
            raise IndexError(f"no {i}")
        return self.x if i == 0 else self.y

    def __setitem__(self, i, value):
        if i == 0:
            self.x = value
        else:
            self.y = value

    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)


class Shifted(Vector):
    __slots__ = ()

    def __radd__(self, other):
        return Vector(self.x + other.x + 100, self.y)


class Picky:
    """Of which operators are only implemented for small numbers."""

    def __init__(self, value):
        self.value = value
        self.asked = 0

    def __add__(self, other):
        self.asked += 1
        return NotImplemented if self.value > 20 else self.value + 1

    def __pow__(self, other):
        return NotImplemented if other > 20 else other

    def __rsub__(self, other):
        return NotImplemented if other > 20 else self.value - other

    def __eq__(self, other):
        return vars(self) == vars(other)


class Items(list):
    def __getitem__(self, i):
        return super().__getitem__(i) * 2

    def __add__(self, other):
        return NotImplemented


@program(
    lambda: (Vector(1.0, 2.0), Vector(0.5, -1.0), 40),
    lambda: (Vector(1, 2), Vector(3, 4), 40),
    lambda: (Vector(1.0, 2), Shifted(3, 4.5), 40),
    lambda: (Shifted(1.0, 2), Shifted(3, 4.5), 40),
    lambda: (Vector("a", 2), Vector(3, 4), 40),
)
def chains(a, b, n):
    total = 0.0
    for i in range(n):
        c = a + b * 0.5 - (-a)
        d = 2 * c / (i + 1)
        total += a * d + d[0] - ~d
        a = d
    return total, a, b


@program(
    lambda: (Vector(0.0, 0.0), [Vector(1.0, i) for i in range(40)]),
    lambda: (Vector(0, 0), [Vector(1, i) for i in range(20)] + [Shifted(1, 2)] * 20),
    lambda: (Vector(0, 0), [Vector(1, i) for i in range(30)] + [1]),
    lambda: (Vector(0, 0), [Vector(1, 2**61)] * 30),
)
def sums(total, vectors):
    for v in vectors:
        total = total + v
        total += v
    return total


@program(lambda: (Vector(1.0, 2.0), 40), lambda: (Vector(1.0, None), 40))
def items(v, n):
    s = 0
    for i in range(n):
        v[i % 2] = v[0] + 1
        s += v[1] * i
    return s, v


@program(lambda: (Vector(1.0, 2.0), [0, 1] * 20 + [2]), lambda: (Vector(1, 2), [1, 0] * 20))
def items_that_fail(v, indices):
    s = 0
    for i in indices:
        s += v[i]
    return s


@program(
    lambda: ([Picky(i) for i in range(30)], 3), lambda: ([Picky(i) for i in range(5)] * 8, 4.5)
)
def sums_that_are_not_implemented(xs, y):
    s = 0
    try:
        for x in xs:
            s += x + y
    except TypeError as error:
        return s, str(error), xs
    return s, xs


@program(lambda: ([Picky(i) for i in range(30)],), lambda: ([Picky(30)] * 3,))
def sums_of_two_that_are_not_implemented(xs):
    s = 0
    for x in xs:
        s += x + x
    return s


@program(lambda: (Picky(3), 40), lambda: (Picky(3), 20))
def other_operators_that_are_not_implemented(x, n):
    seen = []
    for i in range(n):
        try:
            seen.append(x**i)
        except TypeError as error:
            seen.append(str(error))
        try:
            seen.append(i - x)
        except TypeError as error:
            seen.append(str(error))
    return seen


@program(lambda: (Items([1, 2, 3]), 40))
def methods_of_lists(xs, n):
    s = 0
    for i in range(n):
        s += xs[i % 3]
    return s, xs + [1]


def _changing_class():
    class Changing(Vector):
        def __add__(self, other):
            return 1

    return Changing


@program(lambda: (_changing_class(), 60))
def methods_that_are_replaced(cls, n):
    a, s = cls(1, 2), 0
    for i in range(n):
        if i == n // 2:
            cls.__add__ = lambda self, other: 1000
        s += a + a
    return s


@program(lambda: (Picky(1), 60))
def objects_with_attributes_like_methods(x, n):
    s = 0
    for i in range(n):
        if i == n // 2:
            x.__add__ = None  # which operators do not look at
        s += x + 1
        x.value = 1
    return s, x.asked
