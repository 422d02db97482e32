"""Comparisons, operators in place and stores of items on objects of users' classes: the methods that Python calls."""

import functools

from tests.programs.harness import program


class Money:
    def __init__(self, cents, currency="EUR"):
        self.cents = cents
        self.currency = currency

    def __eq__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return self.cents == other.cents and self.currency == other.currency

    def __lt__(self, other):
        if self.currency != other.currency:
            raise ValueError(f"{self.currency} and {other.currency}")
        return self.cents < other.cents

    def __ge__(self, other):
        return self.cents >= other

    def __iadd__(self, other):
        self.cents += other.cents
        return self

    def __sub__(self, other):
        return Money(self.cents - (other.cents if isinstance(other, Money) else other))

    def __rsub__(self, other):
        return Money(other - self.cents)

    def __imul__(self, other):
        if other > 4:
            return NotImplemented
        self.cents *= other
        return self


class Row:
    def __init__(self, *items):
        self.items = list(items)

    def __getitem__(self, i):
        return self.items[i]

    def __setitem__(self, i, value):
        if value is None:
            raise ValueError("no value")
        self.items[i] = value

    def __eq__(self, other):
        return [x == y for x, y in zip(self.items, other.items, strict=True)]

    def __ne__(self, other):
        return "different" if self.items != other.items else ""


class Undecided:
    """Of which methods say how often they were asked, and only some know the answer."""

    def __init__(self, value):
        self.value = value
        self.asked = []

    def __eq__(self, other):
        self.asked.append("==")
        return NotImplemented if self.value > 20 else self is other

    def __lt__(self, other):
        self.asked.append("<")
        return NotImplemented if self.value > 10 else self.value < 5

    def __gt__(self, other):
        self.asked.append(">")
        return NotImplemented if self.value > 20 else self.value

    def __iadd__(self, other):
        self.asked.append("+=")
        return NotImplemented if self.value > 5 else self

    def __add__(self, other):
        self.asked.append("+")
        return NotImplemented if self.value > 20 else self

    def __imul__(self, other):
        return NotImplemented


def _monies(n):
    return [Money(i * 7 % 11) for i in range(n)]


@program(
    lambda: (_monies(40), Money(5)),
    lambda: ([*_monies(40), Money(5, "USD")], Money(5)),
    lambda: ([*_monies(40), None], Money(5)),
    lambda: ([*_monies(40), Money(2.5)], Money(5)),
)
def counts(monies, limit):
    below = same = others = 0
    for m in monies:
        if m < limit:
            below += 1
        if m == limit:
            same += 1
        if m != limit:
            others += 1
        if m > limit:
            others += 100
    return below, same, others


@program(lambda: (_monies(40), 4), lambda: (_monies(40), 4.5), lambda: (_monies(40), None))
def against_numbers(monies, limit):
    s = 0
    for m in monies:
        s += m >= limit
        s += 10 * (limit <= m)
        s += 100 * (m == limit) + 100 * (limit != m)
    return s


@program(lambda: (_monies(40),), lambda: ([*_monies(40), Money(0, "USD")],))
def extrema(monies):
    least = monies[0]
    for m in monies:
        least = min(least, m)
        if not least < m and not least == m:
            return None
    return least.cents


@program(lambda: (range(30),), lambda: ([1] * 30 + [15, 25],))
def undecided(values):
    xs = [Undecided(value) for value in values]
    seen = []
    before = xs[-1]
    for x in xs:
        seen.append((x == before, x == x, x == 1, 1 == x))
        try:
            seen.append(x < before)
        except TypeError as error:
            seen.append(str(error))
        try:
            seen.append(2.5 > x)
        except TypeError as error:
            seen.append(str(error))
        before = x
    return seen, [x.asked for x in xs]


@program(lambda: (range(30),), lambda: ([1] * 30 + [15, 25],))
def undecided_in_place(values):
    xs = [Undecided(value) for value in values]
    seen = []
    for x in xs:
        y = x
        try:
            y += x
            y += 2
            y *= 2
        except TypeError as error:
            seen.append(str(error))
        seen.append(y is x)
    return seen, [x.asked for x in xs]


@program(lambda: (1, [25]), lambda: (25, [1] * 30), lambda: (12, [12] * 30))
def undecided_at_last(value, values):
    x, others = Undecided(value), [Undecided(v) for v in values]
    for _ in range(50):
        if x < x and x == others[0]:
            return x.asked
    for other in others:
        other += x
        if x < other:
            return x.asked, other.asked
    return x.asked


@program(
    lambda: (Money(1), _monies(40), 2),
    lambda: (Money(1), [*_monies(40), 1], 2),
    lambda: (Money(1), _monies(40), 5),
    lambda: (Money(2**61), _monies(40), 3),
)
def in_place(total, monies, k):
    first = total
    s = 1000
    for m in monies:
        total += m
        s -= m
        total *= k
        total -= m
        total -= 1
    return total.cents, first.cents, s.cents, total is first


@program(
    lambda: (Row(1.0, 2.0, 3.0), 60),
    lambda: (Row(1, 2, 3), 60),
    lambda: (Row(1, 2, 3), 60.5),
    lambda: (Row(1, 2**62, 3), 60),
)
def stores(row, n):
    i = 0
    while i < n:
        row[i % 3] = row[(i + 1) % 3] + 1
        row[-1] += i
        i += 1
    return row.items


@program(lambda: (Row(1.0, 2.0), [0.5] * 40 + [None]), lambda: (Row(1.0), [0.5] * 40))
def stores_that_fail(row, values):
    failed = 0
    for k, value in enumerate(values):
        try:
            row[k % 2] = value
        except (ValueError, IndexError) as error:
            failed += len(str(error))
    row[1] = None
    return failed


@program(lambda: ([Row(i % 3, 2) for i in range(40)],))
def comparisons_that_give_other_things(rows):
    seen = []
    for a in rows:
        for b in rows[:3]:
            seen += a == b
            seen.append(a != b)
    return seen


def _changing():
    class Changing:
        def __init__(self, x):
            self.x = x

        def __add__(self, other):
            return type(self)(self.x + other.x)

        def __lt__(self, other):
            return self.x < other.x

        def __setitem__(self, i, value):
            self.x = value

    return Changing


@program(lambda: (_changing(), 60))
def methods_in_place_that_come_later(cls, n):
    a, b = cls(1), cls(2)
    first = a
    for i in range(n):
        if i == n // 2:
            first = a
            cls.__iadd__ = lambda self, other: self
        a += b
    return a.x, first is a


@program(lambda: (_changing(), 60))
def methods_that_are_replaced(cls, n):
    a, b, s = cls(1), cls(2), 0
    for i in range(n):
        if i == n // 2:
            cls.__lt__ = lambda self, other: "yes"
            cls.__setitem__ = lambda self, i, value: None
        s += 1 if a < b else 0
        a[0] = i
        if (a < b) == "yes":
            s += 100
    return s, a.x


@program(lambda: (_changing(), 60))
def methods_that_are_taken_away(cls, n):
    a, b, s = cls(1), cls(2), 0
    for i in range(n):
        if i == n // 2:
            del cls.__lt__
        s += a < b
    return s


@functools.total_ordering
class Version:
    __slots__ = ("major", "minor")

    def __init__(self, major, minor):
        self.major, self.minor = major, minor

    def __eq__(self, other):
        return self.major == other.major and self.minor == other.minor

    def __lt__(self, other):
        return self.major < other.major or (self.major == other.major and self.minor < other.minor)


class Patched(Version):
    __slots__ = ()

    def __gt__(self, other):
        return "patched"


@program(
    lambda: ([Version(i % 4, i % 3) for i in range(50)],),
    lambda: ([Version(i % 4, i % 3) for i in range(50)] + [Patched(2, 2)] * 2,),
    lambda: ([Patched(i % 4, i % 3) for i in range(50)],),
)
def versions(xs):
    seen = []
    middle = Version(2, 1)
    for x in xs:
        seen.append((x < middle, x <= middle, x > middle, x >= middle, x == middle, middle < x))
    return seen


@program(lambda: ([Version(i * 7 % 5, 1) for i in range(30)],))
def sorted_by_hand(xs):
    for i in range(1, len(xs)):
        k = i
        while k > 0 and xs[k] < xs[k - 1]:
            xs[k], xs[k - 1] = xs[k - 1], xs[k]
            k -= 1
    return [x.major for x in xs]


class Stack:
    def __init__(self, items):
        self.items = list(items)

    def __bool__(self):
        return self.items != []

    def __contains__(self, x):
        return x in self.items

    def pop(self):
        return self.items.pop()


class Doubtful:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value > 3 if self.value < 30 else self.value

    def __contains__(self, x):
        return x > 3 if self.value < 30 else self.value

    def __eq__(self, other):
        return self.value == 3 if self.value < 30 else []


@program(lambda: (range(40),), lambda: ([0.5] * 40,), lambda: ([],))
def emptied(items):
    stack, s = Stack(items), 0
    while stack:
        s += stack.pop()
        if not stack:
            s += 1000
        if 3 in stack and stack:
            s += 10
        if 5.5 not in stack:
            s += 1
    return s, bool(stack), not stack


@program(
    lambda: ([*range(20)] * 2,), lambda: ([*range(20), 40],), lambda: ([*range(20), 40.0] * 2,)
)
def doubtful(values):
    seen = []
    for value in values:
        x = Doubtful(value)
        seen.append((4 in x, 4 not in x, x != 3, x == 3))
        try:
            if x:
                seen.append(1)
            seen.append(not x)
        except TypeError as error:
            seen.append(str(error))
    return seen


@program(lambda: ([*range(20), 40],))
def doubtful_at_last(values):
    s = 0
    for value in values:
        if not Doubtful(value):
            s += 1
    return s


@program(lambda: (_changing(), 60))
def inequality_that_comes_later(cls, n):
    cls.__eq__ = lambda self, other: self.x == other.x
    a, b, s = cls(1), cls(2), 0
    for i in range(n):
        if i == n // 2:
            cls.__ne__ = lambda self, other: False
        s += a != b
    return s


class Sphere:
    def __init__(self, radius):
        self._radius = radius
        self.sets = 0

    @property
    def radius(self):
        return self._radius

    @radius.setter
    def radius(self, value):
        if value < 0:
            raise ValueError(f"radius {value}")
        self._radius = value
        self.sets += 1

    @property
    def area(self):
        return 3.0 * self.radius * self.radius

    @property
    def fails(self):
        return self.nothing

    @property
    def scaled(self):
        return lambda k: k * self.radius

    def __eq__(self, other):
        return vars(self) == vars(other)


class Planet(Sphere):
    @property
    def area(self):
        return super().area * 2


@program(
    lambda: ([Sphere(float(i)) for i in range(40)],),
    lambda: ([Planet(float(i)) for i in range(40)],),
    lambda: ([Sphere(float(i)) for i in range(30)] + [Planet(i) for i in range(9)],),
    lambda: ([Sphere(2**i) for i in range(70)],),
)
def properties(spheres):
    s = 0
    for x in spheres:
        x.radius += 1
        x.radius = x.radius + 0.5
        vars(x)["area"] = 1
        s += x.area + x.scaled(2)
    return s, spheres


@program(
    lambda: ([Sphere(1.0) for _ in range(40)], 0.01), lambda: ([Sphere(1) for _ in range(40)], 1)
)
def properties_that_fail(spheres, step):
    s, failed = 5 * step, 0
    for x in spheres:
        try:
            x.radius = s
            s -= step
            x.fails
        except AttributeError as error:
            failed += len(str(error))
        except ValueError as error:
            return failed, str(error), spheres
    spheres[0].area = 3
    return failed


def _growing():
    class Growing:
        def __init__(self):
            self.x = 1

        @property
        def size(self):
            return self.x

        @size.setter
        def size(self, value):
            self.x = value

    return Growing


@program(lambda: (_growing(), 60))
def properties_that_are_replaced(cls, n):
    a, s = cls(), 0
    for i in range(n):
        if i == n // 3:
            cls.size = property(lambda self: 100)
        if i == 2 * n // 3:
            cls.size = 7
        s += a.size
        if i < n // 3:
            a.size = i
    return s, vars(a)


@program(lambda: (_growing(), 60))
def properties_that_get_a_getattr(cls, n):
    a, s = cls(), 0
    for i in range(n):
        if i == n // 2:
            cls.__getattribute__ = lambda self, name: 10
        s += a.size
    return s


class Noted(Sphere):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value if name == "sets" else value * 2)


@program(lambda: (Noted(1), 50), lambda: (Noted(1.5), 50))
def stores_that_the_class_sees(x, n):
    for i in range(n):
        x.radius = i
        x.radius += 1
    return x.radius, x.sets


@program(lambda: (_growing(), 60))
def stores_that_the_class_sees_later(cls, n):
    a = cls()
    for i in range(n):
        if i == n // 2:
            cls.__setattr__ = lambda self, name, value: None
        a.size = i
    return vars(a)
