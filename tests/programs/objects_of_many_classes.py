"""Attributes of objects whose class nobody knows beforehand, and what patterns and f-strings ask of them."""

from tests.programs.harness import program


class Link:
    def __init__(self, value, after=None):
        self.value = value
        self.after = after


class SlottedLink:
    __slots__ = ("after", "value")

    def __init__(self, value, after=None):
        self.value = value
        self.after = after


class Late(Link):
    """Has attributes in another order, and one that its class has, too."""

    extra = 7

    def __init__(self, value, after=None):
        self.after = after
        if value % 3:
            self.extra = value
        self.value = value


class Asked:
    """Gives attributes by code."""

    after = None

    def __init__(self, value):
        self.hidden = value

    @property
    def value(self):
        return self.hidden * 10


class Made:
    def __init__(self, value):
        self.data = {"value": value, "after": None}

    def __getattr__(self, name):
        if name in self.data:
            return self.data[name]
        raise AttributeError(name)


def chain(*classes, n=60):
    head = None
    for i in range(n):
        head = classes[i % len(classes)](i, head)
    return head


def values(head):
    return [head.value, *values(head.after)] if head is not None else []


@program(
    lambda: (chain(Link),),
    lambda: (chain(SlottedLink),),
    lambda: (chain(Link, SlottedLink),),
    lambda: (chain(Link, SlottedLink, Late),),
    lambda: (Link(1, Link(2, Asked(3))),),
    lambda: (Link(1, SlottedLink(2, Made(3))),),
    lambda: (Link(1, Link("a")),),
    lambda: (None,),
)
def total_of_chain(node):
    total = 0
    while node is not None:
        total += node.value
        node = node.after
    return total


@program(lambda: ([*values(chain(Link)), None],), lambda: ([1.5, "a", None],))
def attributes_that_are_missing(items):
    nodes = [(Link, SlottedLink, Late, Asked)[i % 4](item) for i, item in enumerate(items[:-1])]
    found = []
    for node in nodes:
        try:
            found.append(node.extra)
        except AttributeError as error:
            found.append(str(error))
    return found


@program(lambda: (60,), lambda: (10,))
def attributes_that_come_and_go(n):
    nodes = [(Link, SlottedLink)[i % 2](i) for i in range(n)]
    found = []
    for i, node in enumerate(nodes):
        if i % 5 == 0:
            del node.value
        if i % 7 == 0 and not isinstance(node, SlottedLink):
            vars(node)["value"] = -i
        found.append(getattr(node, "value", None) if i % 5 == 0 else node.value)
    return found


@program(lambda: (40,))
def classes_that_change(n):
    nodes = [(Link, Late)[i % 2](i + 1) for i in range(n)]
    total = 0
    for i, node in enumerate(nodes):
        if i == n // 2:
            Link.value = property(lambda self: 1000)
        total += node.value
        if i == n // 2 + 5:
            del Link.value
    return total


def class_number(i):
    def start(self, value):
        self.value = value
        setattr(self, f"other{i}", value)

    return type(f"Class{i}", (), {"__init__": start, "__slots__": ("value", f"other{i}")})


CLASSES = [class_number(i) for i in range(20)]


@program(lambda: (100,))
def classes_without_end(n):
    total = 0
    for node in [CLASSES[i % 20](i) for i in range(n)]:
        total += node.value
    return total


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Partial(Point):
    def __init__(self, x, y):
        self.x = x
        if y % 2:
            self.y = y


class Refusing:
    @property
    def x(self):
        raise AttributeError("no x")

    @property
    def y(self):
        raise ValueError("no y")


@program(lambda: (60,), lambda: (7,))
def points(n):
    found = []
    for i in range(n):
        subject = (Point(i, i + 1), Partial(i, i), Link(i), i)[i % 4]
        match subject:
            case Point(x, y):
                found.append((x, y))
            case Point(x=x):
                found.append(x)
            case Link(value=value, after=None):
                found.append([value])
            case int(x):
                found.append(x)
    return found


@program(lambda: (60,))
def pattern_of_a_class_that_changes(n):
    found = []
    for i in range(n):
        if i == n // 2:
            Point.__match_args__ = ("y", "x")
        match Point(i, -i):
            case Point(x, y=1):
                found.append(("y is 1", x))
            case Point(0, x):
                found.append(("0", x))
            case Point(first, second):
                found.append((first, second))
        if i == n - 2:
            Point.__match_args__ = ("x", "y")
    return found


@program(lambda: (3,))
def attributes_that_refuse(n):
    found = []
    for i in range(n):
        match Refusing():
            case Refusing(x=x):
                found.append(x)
            case _:
                found.append("none")
        try:
            match Refusing():
                case Refusing(y=y):
                    found.append(y)
        except ValueError as error:
            found.append(str(error))
        try:
            match Point(i, i):
                case Point(x, y, z):
                    found.append((x, y, z))
        except TypeError as error:
            found.append(str(error))
        try:
            match Point(i, i):
                case Point(x, x=y):
                    found.append((x, y))
        except TypeError as error:
            found.append(str(error))
    return found


class Text(str):
    __slots__ = ()

    def __format__(self, spec):
        return f"<{spec}>"


class Shown:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text

    def __str__(self):
        return Text(self.text)


@program(
    lambda: ([1, -20, 3] * 10,),
    lambda: ([1.5, 2e300] * 10,),
    lambda: (["é", "a'b"] * 10,),
    lambda: ([Shown("a"), Shown(Text("bcd"))] * 10,),
    lambda: ([None, 1, 2.5, "x"],),
    lambda: ([Shown(3)],),
)
def conversions(items):
    found = []
    for x in items:
        found.append(f"{x!r:>4}|{x!s}|{x!a:^9}|{x!r}|{x!s:5}")
    return found
