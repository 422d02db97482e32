"""``match``: all patterns, with what they bind, what they ask, and what they raise."""

import enum
from collections import OrderedDict, namedtuple

import numpy as np

from tests.programs.harness import program


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __eq__(self, other):
        return type(other) is Point and (self.x, self.y) == (other.x, other.y)


class Odd:
    """Says in `log` what was asked of it."""

    def __init__(self, log):
        self.log = log

    def __eq__(self, other):
        self.log.append(("==", other))
        return other == "odd"

    def __len__(self):
        self.log.append("len")
        return 2


class Unasked:
    def __bool__(self):
        raise ValueError("no truth")


class BadlyDescribed:
    __match_args__ = ["x"]
    x = 1


class Numbered:
    __match_args__ = (1,)


class Meters(float):
    """Matches as a whole, as float does."""


class Named(float):
    __match_args__ = ("name",)
    name = "x"


Pair = namedtuple("Pair", "left right")


@program(
    lambda: (["+", 1, 2, "*", 3, "neg", "x", 4],),
    lambda: (["+", 0.5, 2, "-", 0.25],),
    lambda: ([],),
    lambda: (["*"],),
    lambda: (["+", "a"],),
)
def values(tokens):
    total, k = 0.0, 0
    while k < len(tokens):
        match tokens[k]:
            case "+":
                total += tokens[k + 1]
                k += 2
            case "-" | "neg":
                total = -total
                k += 1
            case "*":
                total *= tokens[k + 1]
                k += 2
                continue
            case "x":
                break
            case _:
                k += 1
    return total, k


@program(lambda: (50,), lambda: (0,))
def values_in_a_loop(n):
    total = 0
    for i in range(n):
        match i % 5:
            case 0:
                continue
            case 1 | 2 as small if total % 2 == 0:
                total += small * 10
            case 4:
                total -= i
            case other:
                total += other
    return total


@program(
    *(
        (lambda x: lambda: (x,))(x)
        for x in (0, 1, -2, 2.0, 3 - 4j, None, True, False, "a", b"a", Color.RED, Color.BLUE)
    ),
    lambda: (np.float64(2.0),),
    lambda: (np.arange(2.0),),
    lambda: ((),),
)
def literals(x):
    match x:
        case None:
            return "none"
        case True:
            return "true"
        case -2 | 2.0:
            return "two", x
        case 3 - 4j:
            return "complex"
        case Color.RED:
            return "red"
        case "a" | b"a":
            return "text"
        case False | 0:
            return "zero"
    return "nothing"


@program(
    *(
        (lambda x: lambda: (x,))(x)
        for x in ([], [1], (1, 2), [1, 2, 3], (1, (2, 3)), [[], 4, 5, 6], range(4), "ab", {1, 2})
    ),
    lambda: (np.arange(3.0),),
    lambda: (Pair(1, (5, 6)),),
    lambda: (5,),
)
def sequences(x):
    out = []
    match x:
        case []:
            out.append("empty")
        case [a]:
            out.append(a)
        case (a, [b, c]):
            out += [a, b, c]
        case [first, 2]:
            out.append(("second is two", first))
        case [[], *_, last]:
            out.append(last)
        case (_, _, *rest):
            out += rest
        case [*everything]:
            out.append(everything)
        case _:
            out.append("no sequence")
    match x:
        case [_, *_]:
            out.append("not empty")
    match x:
        case [*_, before, _]:
            out.append(before)
    return out


@program(
    *(
        (lambda x: lambda: (x,))(x)
        for x in (
            {},
            {"a": 1},
            {"a": 1, "b": 2, "c": 3},
            {"kind": "pair", "of": (1, 2)},
            {"kind": "pair", "of": (1, 2, 3)},
            OrderedDict(a=5, d=4),
            [("a", 1)],
            7,
        )
    )
)
def mappings(x):
    match x:
        case {"kind": "pair", "of": (left, right)}:
            return left, right
        case {"a": 1, "b": b, **rest}:
            rest["seen"] = b
            return rest, x
        case {"a": value}:
            return value
        case {**everything} if everything:
            return everything
        case {}:
            return "a mapping"
    return None


@program(
    *(
        (lambda x: lambda: (x,))(x)
        for x in (1, True, 2.5, "text", (1, 2), [3], None, 4j, Pair(1, 2), {"a": 1})
    ),
    lambda: (Point(0, 5),),
    lambda: (Point(3, 3),),
    lambda: (Point(1, Point(2, "z")),),
    lambda: (np.float64(1.5),),
    lambda: (np.int64(3),),
    lambda: (Meters(2.5),),
    lambda: (Named(2.5),),
)
def classes(x):
    match x:
        case bool():
            return "bool", x
        case Meters(m):
            return "meters", m
        case Named(name):
            return "named", name
        case int(n) | float(n):
            return "number", n * 2
        case str() as text:
            return "str", text
        case Point(0, y):
            return "on the axis", y
        case Point(x=a, y=Point(b, "z")):
            return a, b
        case Point(a, y=b) if a == b:
            return "diagonal", a
        case Pair(left=1):
            return "pair", x
        case tuple((a, b)):
            return a, b
        case list([single]):
            return single
        case dict(a):
            return a
        case np.integer():
            return "integer", x + 1
    return "something else"


@program(lambda: (30,), lambda: (3,))
def classes_in_a_loop(n):
    total, shapes = 0.0, [Point(1, 2.5), 3, Point(0, 1), 2.5, (1, 2)]
    for i in range(n):
        match shapes[i % 5]:
            case int() | float() as number:
                total += number
            case Point(x, y):
                total += x * y + i
            case (x, y):
                total -= x
    return total, x, y


@program(lambda: ([],), lambda: ([1],))
def what_is_asked_in_which_order(log):
    odd = Odd(log)
    match odd:
        case 1 | "b":
            log.append("wrong")
        case [_, _]:
            log.append("wrong")
        case "odd" if log.append("guard"):
            log.append("wrong")
        case "odd" as found if found.log is log:
            log.append("right")
    return log


@program(
    lambda: (0,), lambda: (1,), lambda: (2,), lambda: (3,), lambda: (4,), lambda: (5,), lambda: (6,)
)
def errors_of_patterns(kind):
    subject = [Point(1, 2), 5, BadlyDescribed(), Numbered(), {"a": 1}, Unasked(), 7][kind]
    key, other = Pair("a", "b"), Pair("a", "b")
    match subject:
        case Point(a, b, c):
            return a, b, c
        case key.left(a):
            return a
        case BadlyDescribed(a):
            return a
        case Numbered(a):
            return a
        case {key.left: 1, other.left: 2}:
            return 1
        case Unasked() if subject:
            return 2
    return kind


@program(lambda: (0,), lambda: ((1, 2),), lambda: ((1, 3),), lambda: (2,))
def names_that_stay_unbound(x):
    match x:
        case (a, 2):
            b = 1
        case (_, a) if a > 5:
            b = 2
        case 2:
            a = b = 3
    return [a], [b]


def tagged(n):
    for i in range(n):
        match i % 3:
            case 0:
                yield "zero", i
            case 1:
                yield i


@program(lambda: (7,), lambda: (0,))
def matches_in_generators(n):
    out = []
    for item in tagged(n):
        match item:
            case ("zero", i) if i > 5:
                break
            case (_, i) | i:
                out.append(i)
    return out


@program(lambda: (3, 4), lambda: (1, 2.5), lambda: ("a", 1))
def matches_in_nested_functions(x, y):
    def sign(value):
        match value:
            case int(n) | float(n) if n > 2:
                return 1
            case _:
                return -1

    return sign(x) + sign(y), [sign(v) for v in (x, y, 3)]
