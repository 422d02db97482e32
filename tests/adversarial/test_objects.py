"""Objects that do what nobody expects: operators, protocols, subclasses, descriptors, metaclasses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit
from ljit import config
from tests.adversarial.harness import attack
from tests.programs.harness import Args, Factory, check_calls

# -- numbers of other classes ----------------------------------------------------------------------


class Whole(int):
    def __add__(self, other: Any) -> Any:
        return "added"

    __radd__ = __mul__ = __rmul__ = __add__

    def __lt__(self, other: object) -> Any:
        return "smaller"

    def __bool__(self) -> bool:
        return int(self) > 100

    def __index__(self) -> int:
        return 1


class Plain(int):
    pass


class Real(float):
    def __mul__(self, other: Any) -> Any:
        return Real(float(self) * other + 0.5)

    def __radd__(self, other: Any) -> Any:
        return ("radd", other)


class Pair(complex):
    def __abs__(self) -> Any:
        return "abs"


class Text(str):
    def __add__(self, other: Any) -> Any:
        return "joined"


class Left:
    """Takes any operator, from the left only."""

    def __add__(self, other: Any) -> Any:
        return [other]

    __mul__ = __lt__ = __getitem__ = __add__


class Right:
    """Takes operators from the right only; has priority over arrays."""

    __array_ufunc__ = None

    def __radd__(self, other: Any) -> Any:
        return {"other": other}

    __rmul__ = __gt__ = __radd__


def arithmetic(x: Any, y: Any) -> Any:
    z = x + y
    for _ in range(3):
        z = z + x * y
    return z, x < y


NUMBERS = [3, 2.5, True, Whole(3), Plain(3), Real(2.5), Pair(1 + 2j), Text("ab"), Left(), Right()]
NUMBERS += [np.float64(2.5), np.int8(100), np.True_, np.arange(3.0), None, "ab", [1], (1,), 1j]


@pytest.mark.parametrize("x", NUMBERS, ids=lambda x: type(x).__name__)
def test_operators_of_subclasses_and_strangers(x: Any) -> None:
    compiled = ljit.jit(arithmetic)
    check_calls(arithmetic, compiled, [lambda: (4, 5)] * 4)
    check_calls(arithmetic, compiled, [lambda y=y: (x, y) for y in NUMBERS])
    check_calls(arithmetic, compiled, [lambda y=y: (y, x) for y in NUMBERS])
    for y in (x, 3, 2.5):
        check_calls(arithmetic, ljit.jit(arithmetic), [lambda y=y: (x, y)] * 5)


def sums(xs: Any) -> Any:
    total = 0
    for x in xs:
        total = total + x
        if x:
            total = total + 1
    return total, [x * 2 for x in xs], abs(xs[-1]), -xs[0], max(xs[:5]), xs[-1] == xs[0]


def test_lists_with_a_stranger_far_behind() -> None:
    strangers = (Whole(3), Plain(3), Real(2.5), Pair(1j), True, 2**70, np.int64(3), None, "x")
    attack(sums, lambda: ([1] * 40,), *(lambda x=x: ([1] * 30 + [x],) for x in strangers))
    attack(sums, lambda: ([1.5] * 40,), *(lambda x=x: ([1.5] * 30 + [x],) for x in strangers))


def test_bools_are_not_ints() -> None:
    def mixed(a: Any, b: Any) -> Any:
        c = a
        for _ in range(2):
            c = c & b
        return c, a | b, a ^ b, a + b, -a, a == b, a is b, not a, int(a), [10, 20][a], ~int(a)

    attack(
        mixed,
        lambda: (True, False),
        lambda: (1, 0),
        lambda: (True, 1),
        lambda: (1, True),
        lambda: (np.True_, True),
        lambda: (np.True_, np.False_),
        lambda: (0, np.int8(1)),
    )


# -- protocols that raise ---------------------------------------------------------------------------


class Broken:
    """Each protocol raises, after `good` uses."""

    def __init__(self, good: int = 0) -> None:
        self.good = good

    def use(self, name: str) -> None:
        self.good -= 1
        if self.good < 0:
            raise LookupError(f"broken {name}")

    def __index__(self) -> int:
        self.use("index")
        return 2

    def __bool__(self) -> bool:
        self.use("bool")
        return True

    def __eq__(self, other: object) -> bool:
        self.use("eq")
        return True

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        self.use("len")
        return 3

    def __iter__(self) -> Any:
        self.use("iter")
        return iter((1, 2))

    def __float__(self) -> float:
        self.use("float")
        return 1.5

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.use(name)
        return 5

    def __call__(self, *args: Any) -> Any:
        self.use("call")
        return 7

    def __enter__(self) -> Any:
        return self


def index_with(x: Any, n: int) -> Any:
    a = np.arange(5.0)
    xs = [1, 2, 3, 4]
    total = 0.0
    for i in range(n):
        total += a[i % 5] + a[x] + xs[x]
    return total


def test_with(x: Any, n: int) -> Any:
    seen = 0
    for _ in range(n):
        if x:
            seen += 1
        seen += 1 if not x else 2
        while x and seen < 3:
            seen += 1
    return seen


def compare_with(x: Any, n: int) -> Any:
    seen = []
    for i in range(n):
        seen.append(x == i)
        seen.append(i in [8, x])
        if i != x:
            seen.append(i)
    return seen


def use_all(x: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        total += len(x)
        for y in x:
            total += y
        total += float(x) + x.field + x(i)
    return total


test_with.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("function", [index_with, test_with, compare_with, use_all])
def test_exceptions_from_protocols(function: Callable[..., Any]) -> None:
    attack(
        function,
        lambda: (Broken(10**9), 20),
        *(lambda good=good: (Broken(good), 20) for good in (0, 1, 2, 3, 5, 20, 41)),
    )


def test_protocols_of_the_wrong_type() -> None:
    class Strange(Broken):
        def __index__(self) -> Any:
            return 1.5

        def __bool__(self) -> Any:
            return 1

        def __len__(self) -> Any:
            return -1

        def __float__(self) -> Any:
            return 3

    class Far(Broken):
        def __index__(self) -> Any:
            return 2**80

        def __len__(self) -> Any:
            return 2**80

    for function in (index_with, test_with, use_all):
        attack(
            function, lambda: (Broken(10**9), 20), lambda: (Strange(99), 9), lambda: (Far(99), 9)
        )


# -- subclasses of containers and arrays -------------------------------------------------------------


class Counted(np.ndarray):
    """Reads differently, and counts how often it was made."""

    made = 0

    def __array_finalize__(self, source: Any) -> None:
        Counted.made += 1

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return found + 1000 if isinstance(index, int) else found


class Guarded(np.ndarray):
    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, -abs(np.asarray(value)))

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Any:
        return iter((5.0, 6.0))

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        return "sum"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return ufunc.__name__, method


class List(list):  # type: ignore[type-arg]
    def __getitem__(self, index: Any) -> Any:
        return 3

    def __len__(self) -> int:
        return 4


class Dict(dict):  # type: ignore[type-arg]
    def __missing__(self, key: Any) -> Any:
        return 9.0

    def sum(self) -> int:
        return 1


class Tuple(tuple):  # type: ignore[type-arg]
    def __getitem__(self, index: Any) -> Any:
        return 3


def work(a: Any) -> Any:
    total = 0.0
    n = len(a)
    for i in range(n):
        total = total + a[i]
    for x in a:
        total = total + x
    a[0] = 17.0
    return total, a, a.sum(), a * 2


def memmap() -> np.ndarray:
    import tempfile

    with tempfile.TemporaryFile() as file:
        a = np.memmap(file, np.float64, "w+", shape=(5,))  # type: ignore[call-overload]
    a[:] = np.arange(5.0)
    return a


ARRAYS: list[Callable[[], Any]] = [
    lambda: np.arange(5.0).view(Counted),
    lambda: np.arange(5.0).view(Guarded),
    lambda: np.ma.masked_array(np.arange(5.0), [0, 1, 0, 0, 1]),
    lambda: np.arange(5.0).view(np.matrix),
    memmap,
    lambda: np.rec.array([(1, 2.0), (2, 3.0)], dtype=[("a", "i4"), ("b", "f8")]),
    lambda: np.char.array(["a", "b"]),
    lambda: np.array([1, "x", None], dtype=object),
    lambda: np.array([Whole(3), Real(2.0)], dtype=object),
    lambda: np.array(["a", "bc"]),
    lambda: np.array([b"a", b"bc"]),
    lambda: np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
    lambda: np.zeros(3, dtype=[("a", "i4"), ("b", "f8", (2,))]),
    lambda: np.array(3.0),
    lambda: np.array([3 + 2j]),
    lambda: List([1.0, 2.0]),
    lambda: Tuple((1.0, 2.0)),
    lambda: Dict({0: 1.0, 1: 2.0}),
    lambda: bytearray(b"abc"),
    lambda: memoryview(np.arange(3.0)),
    lambda: range(4),
    lambda: np.float64(2.0),
    lambda: np.arange(5.0)[None],
    lambda: np.lib.stride_tricks.as_strided(np.arange(5.0), (3,), (4,)),
]


@pytest.mark.filterwarnings("ignore:.*chararray")  # NumPy 2.5's
def test_code_made_for_arrays_meets_other_containers() -> None:
    factories: list[Factory] = [lambda make=make: (make(),) for make in ARRAYS]
    attack(work, lambda: (np.arange(5.0),), *factories, fresh=False)


@pytest.mark.filterwarnings("ignore:.*chararray", "ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("make", ARRAYS)
def test_code_made_for_other_containers(make: Callable[[], Any]) -> None:
    check_calls(work, ljit.jit(work), [lambda: (make(),)] * 5)


def test_array_subclasses_are_finalized_as_often() -> None:
    def halves(a: np.ndarray, n: int) -> int:
        for i in range(n):
            a[i:] * 2
        return n

    counts = []
    for function in (halves, ljit.jit(halves)):
        for _ in range(5):
            Counted.made = 0
            function(np.arange(9.0).view(Counted), 9)
            counts.append(Counted.made)
    assert len(set(counts)) == 1


# -- attributes --------------------------------------------------------------------------------------


class Meta(type):
    def __call__(cls, *args: Any) -> Any:
        return ("made by the metaclass", args)

    def __len__(cls) -> int:
        return 11

    @property
    def size(cls) -> int:
        return 12


class Made(metaclass=Meta):
    factor = 2


class Descriptor:
    def __get__(self, owner: Any, cls: Any) -> Any:
        owner.reads += 1
        return owner.reads * 1.5

    def __set__(self, owner: Any, value: Any) -> None:
        if value > 20:
            raise AttributeError("too large")
        owner.reads = int(value)


class Slots:
    __slots__ = ("field", "reads")
    value = Descriptor()

    def __init__(self) -> None:
        self.reads = 0

    @property
    def twice(self) -> int:
        return self.reads * 2

    @staticmethod
    def fixed(x: float) -> float:
        return x + 1.0

    @classmethod
    def named(cls, x: float) -> Any:
        return cls.__name__, x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slots) and self.reads == other.reads

    __hash__ = None  # type: ignore[assignment]


def descriptors(x: Any, n: int, field: bool) -> Any:
    total = 0.0
    for i in range(n):
        total += x.value + x.twice + x.fixed(1.0) + len(x.named(i))
        if i == n - 2 and not field:
            del x.field
        if i == 3:
            x.field = 5.0
        if i > 3:
            total += x.field
        if i == 9:
            x.value = i * n
    return total


def test_descriptors_and_slots_are_read_as_in_cpython() -> None:
    attack(
        descriptors,
        lambda: (Slots(), 2, True),
        lambda: (Slots(), 8, True),
        lambda: (Slots(), 8, False),
        lambda: (Slots(), 10, True),
        lambda: (Slots(), 3, False),
    )


def test_classes_with_metaclasses_are_asked_as_in_cpython() -> None:
    def make(cls: Any, n: int) -> Any:
        seen = []
        for i in range(n):
            seen.append(cls(i))
            seen.append((len(cls), cls.size, cls.factor))
        return seen

    class Other(Made):
        size = 3

    attack(make, lambda: (Made, 4), lambda: (Other, 4), lambda: (int, 2), lambda: (Slots, 2))


def test_objects_are_asked_for_no_attribute_but_those_that_cpython_asks_for() -> None:
    """Not for `__class__` either, as `isinstance` does: a decorated `__getattribute__` would have no end."""

    class Asked:
        names: list[str] = []
        size = 3

        @ljit.jit
        def __getattribute__(self, name: str) -> Any:
            Asked.names.append(name)
            return object.__getattribute__(self, name)

    def read(asked: Any, n: int) -> int:
        total = 0
        for _ in range(n):
            total += asked.size
        return total

    with config.overridden(cold_calls=False):
        compiled = ljit.jit(read)
        for _ in range(4):
            Asked.names.clear()
            assert compiled(Asked(), 4) == 12
            assert Asked.names == ["size"] * 4


# -- arguments -----------------------------------------------------------------------------------------


def test_keywords_in_any_order() -> None:
    def scaled(a: Any, n: Any = 3, *, factor: Any = 2.0, offset: Any = None) -> Any:
        total = 0.0
        for i in range(n):
            total += a[i] * factor
        return total if offset is None else total + offset

    a = np.arange(9.0)
    calls = [
        Args((a,)),
        Args((), {"n": 2, "a": a}),
        Args((a,), {"offset": 1, "factor": 3}),
        Args((a, 2), {"n": 3}),
        Args((a, 2, 3)),
        Args((), {"factor": 3}),
        Args((a,), {"other": 3}),
        Args((a,), {"n": True, "factor": np.float32(0.5)}),
        Args((a,), {"n": 10}),
        Args((), {"offset": 2**70, "factor": Real(1.0), "n": 1, "a": [5]}),
        Args((a,), {Text("n"): 4}),
    ]
    attack(scaled, lambda: (a, 4), *(lambda call=call: call for call in calls))
