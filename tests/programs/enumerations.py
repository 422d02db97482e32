"""Members of enumerations and of other classes that have a class of their own: constants, as long as nobody changes them."""

import abc
import enum

import numpy as np

from tests.programs.harness import program


class Mode(enum.Enum):
    SUM = 1
    PRODUCT = 2
    LARGEST = 3


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


class Shape(abc.ABC):
    unit = 2.5

    @abc.abstractmethod
    def area(self): ...

    @staticmethod
    def scale(x):
        return x * 3

    @classmethod
    def made(cls, x):
        return cls.unit * x


class Square(Shape):
    def __init__(self, a):
        self.a = a

    def area(self):
        return self.a * self.a * self.unit


class Counting(type):
    def __getattribute__(cls, name):
        if name == "limit":
            seen = type.__getattribute__(cls, "seen")
            seen.append(name)
        return type.__getattribute__(cls, name)


class Hiding(type):
    limit = 5

    @property
    def size(cls):
        return 7


class Counted(metaclass=Counting):
    limit = 3
    seen = []


class Hidden(metaclass=Hiding):
    limit = 4
    size = 2


@program(
    lambda: (Mode.SUM, np.arange(5.0)),
    lambda: (Mode.PRODUCT, np.arange(5.0) + 1),
    lambda: (Mode.LARGEST, np.arange(5.0)),
    lambda: (None, np.arange(3.0)),
)
def by_mode(mode, xs):
    total = 0.5
    for x in xs:
        if mode is Mode.SUM:
            total += x
        elif mode == Mode.PRODUCT:
            total *= x
        elif mode in (Mode.LARGEST,):
            total = max(total, x)
    return total, mode is not Mode.SUM


@program(lambda: (5,), lambda: (20,), lambda: (0.5,))
def levels(n):
    found = []
    for level in (Level.LOW, Level.HIGH):
        found.append(n < level)
    return found, Level.HIGH + n, Level.LOW * 2, Mode.SUM.value, Mode.SUM.name, list(Level)


@program(lambda: (3, 2.0), lambda: (0, 1))
def abstract_bases(n, a):
    total = 0
    square = Square(a)
    for i in range(n):
        total += square.area() + Shape.scale(i) + Square.made(i) + Shape.unit
    return total


@program(lambda: (3,))
def classes_of_classes(n):
    total = 0
    Counted.seen.clear()
    for _ in range(n):
        total += Counted.limit + Hidden.limit + Hidden.size
    return total, len(Counted.seen)


@program(lambda: ("SUM",), lambda: ("no such name",))
def wrong_members(name):
    try:
        return Mode[name], Mode.NOTHING
    except (KeyError, AttributeError) as error:
        return type(error), str(error)
