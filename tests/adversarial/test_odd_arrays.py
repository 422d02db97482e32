"""Arrays that are not quite arrays, and operations that NumPy refuses: what NumPy does, message for message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit
from tests.programs.harness import Factory, check_calls

pytestmark = pytest.mark.filterwarnings("ignore")


GROUP = 9
ULPS = {"power": 4, "powers_in_place": 4, "elementary": 4}


class Tagged(np.ndarray):
    """A subclass that hands a tag on and counts its views."""

    tag: Any

    def __array_finalize__(self, obj: Any) -> None:
        self.tag = getattr(obj, "tag", "none")


class Doubled(np.ndarray):
    """A subclass whose ufuncs double their results."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [np.asarray(x) for x in inputs]
        if kwargs.get("out"):
            kwargs["out"] = tuple(np.asarray(x) for x in kwargs["out"])
        return getattr(ufunc, method)(*plain, **kwargs) * 2


class Refusing:
    """An operand that wants no ufuncs but has operators of its own."""

    __array_ufunc__ = None

    def __add__(self, other: Any) -> str:
        return "added"

    __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __add__


class ArrayLike:
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.arange(6.0).reshape(2, 3)


def tagged() -> np.ndarray:
    made = np.arange(6.0).reshape(2, 3).view(Tagged)
    made.tag = "mine"
    return made


BASE = np.arange(6.0).reshape(2, 3)
ODD: dict[str, Callable[[], Any]] = {
    "matrix": lambda: np.matrix(BASE),
    "masked": lambda: np.ma.masked_greater(BASE, 3),
    "tagged": tagged,
    "doubled": lambda: BASE.copy().view(Doubled),
    "recarray": lambda: np.rec.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "structured": lambda: np.zeros((2, 3), [("a", "i4"), ("b", "f8")]),
    "objects": lambda: np.array([[1, 2.5, 2**70], [True, 1j, 3]], object),
    "lists": lambda: np.array([[1, 2], None], object),
    "dates": lambda: np.array(["2020-01-01", "NaT", "1999-12-31"], "datetime64[D]"),
    "spans": lambda: np.array([[1, -2, 3], [4, 5, "NaT"]], "timedelta64[s]"),
    "texts": lambda: np.array([["a", "bc", ""], ["x", "y", "z"]]),
    "bytes": lambda: np.array([[b"a", b"bc", b""]]),
    "longdouble": lambda: BASE.astype(np.longdouble),
    "clongdouble": lambda: BASE.astype(np.clongdouble),
    "longlong": lambda: BASE.astype(np.longlong),
    "half": lambda: BASE.astype(np.float16),
    "bool": lambda: BASE > 2,
    "uint64": lambda: BASE.astype(np.uint64),
    "int8": lambda: BASE.astype(np.int8),
    "big-endian": lambda: BASE.astype(">f8"),
    "zero-d": lambda: np.array(2.5),
    "scalar": lambda: np.float32(2.5),
    "empty": lambda: np.zeros((0, 3)),
    "none": lambda: None,
    "list": lambda: [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]],
    "refusing": Refusing,
    "array-like": ArrayLike,
    "complex": lambda: BASE + 1j,
    "five axes": lambda: np.ones((1, 2, 1, 2, 3)),
    "thirty axes": lambda: np.ones((1,) * 30),
    "forty axes": lambda: np.ones((1,) * 40),
}


def arithmetic(a: Any) -> Any:
    return a + 1, a * 2.5 - a, -a, a / 2, +a


def compared(a: Any) -> Any:
    return a > 2, a == a, np.where(a > 2, a, 0), np.maximum(a, 1.5)


def reduced(a: Any) -> Any:
    return a.sum(), a.max(), a.mean(axis=0), a.min(axis=-1), np.any(a), a.argmax()


def viewed(a: Any) -> Any:
    b = a[1:]
    return b, a.T, a[..., ::-1], a[None], a.reshape(-1), a.ravel()


def changed(a: Any) -> Any:
    a += 1
    a[0] = a[-1]
    a[1:] *= 2
    return a


def stored(a: Any) -> Any:
    a[:] = 7
    a[0] = 2.5
    return a


def masked(a: Any) -> Any:
    a[a > 2] = 0
    return a[a == 0], a


def walked(a: Any) -> Any:
    s = 0
    for row in a:
        s = s + row
    return s


def mixed(a: Any) -> Any:
    b = np.ones((2, 3))
    b += a
    return b + a, a + b, b


def into(a: Any) -> Any:
    b = np.zeros((2, 3))
    return np.add(a, 1, out=b), np.multiply(a, b, b), b


def shaped(a: Any) -> Any:
    return (
        np.concatenate((a, a)),
        np.stack((a, a)),
        a.copy(),
        a.astype(np.float32),
        a.shape,
        a.dtype,
    )


def elementary(a: Any) -> Any:
    return np.sqrt(a), np.exp(a * 0), np.floor(a), np.isnan(a), np.square(a), np.sign(a)


FUNCTIONS = [
    arithmetic,
    compared,
    reduced,
    viewed,
    changed,
    stored,
    masked,
    walked,
    mixed,
    into,
    shaped,
    elementary,
]


def check_in_groups(function: Callable[..., Any], factories: list[Factory]) -> None:
    """Three calls each, taking turns; few types at a time, so that all get native code."""
    for start in range(0, len(factories), GROUP):
        group = factories[start : start + GROUP]
        check_calls(function, ljit.jit(function), group * 3, ulp=ULPS.get(function.__name__, 0))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_code_made_for_plain_arrays_meets_odd_ones(function: Callable[..., Any]) -> None:
    hostile: list[Factory] = [lambda make=make: (make(),) for make in ODD.values()]  # type: ignore[misc]
    check_in_groups(function, hostile)


# -- what NumPy refuses, or gives with a warning ---------------------------------------------------


def power(a: Any, b: Any) -> Any:
    return a**b


def divided(a: Any, b: Any) -> Any:
    return a // b, a % b, np.fmod(a, b), np.divmod(a, b)


def shifts(a: Any, b: Any) -> Any:
    return a << b, a >> b


def wraps(a: Any, b: Any) -> Any:
    return a + b, a - b, a * b, -a, abs(a)


def extremes(a: Any, b: Any) -> Any:
    return (
        np.maximum(a, b),
        np.minimum(a, b),
        np.fmax(a, b),
        a.max(),
        a.argmin(),
        np.sort(a),
        a.clip(b, None),
    )


def in_place(a: Any, b: Any) -> Any:
    a += b
    return a


def divided_in_place(a: Any, b: Any) -> Any:
    a /= b
    return a


def floored_in_place(a: Any, b: Any) -> Any:
    a //= b
    a %= b
    return a


def powers_in_place(a: Any, b: Any) -> Any:
    a **= b
    return a


def logic(a: Any, b: Any) -> Any:
    return a & b, a | b, a ^ b, ~a


def negated(a: Any, b: Any) -> Any:
    return -a, a - b


def sliced(a: Any, b: Any) -> Any:
    a[1:] = b
    return a


def element(a: Any, b: Any) -> Any:
    a[0] = b
    return a


def chained(a: Any, b: Any) -> Any:
    return (a * 2 + b) * (a - b), np.where(a > b, a, b)


BINARY = [
    power, divided, shifts, wraps, extremes, in_place, divided_in_place, floored_in_place, powers_in_place, logic, negated, sliced,
    element, chained,
]  # fmt: skip


def locked(a: np.ndarray) -> np.ndarray:
    a.flags.writeable = False
    return a


def pairs(dtype: str) -> list[Factory]:
    """Operands of one dtype with odd values, and of others."""
    kind = np.dtype(dtype).kind
    if kind == "f":
        values: list[Any] = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.0, 1e-8]
    elif kind == "b":
        values = [True, False, True, True]
    else:
        info = np.iinfo(dtype)
        values = [0, 1, info.max, info.min, 5, info.max - 1, 3]

    def a() -> np.ndarray:
        return np.array(values, dtype)

    n = len(values)
    return [
        lambda: (a(), a()[::-1]),
        lambda: (a(), a()[::-1].copy()),
        lambda: (a(), a()[0]),
        lambda: (a(), 0),
        lambda: (a(), -1),
        lambda: (a(), 300),
        lambda: (a(), 2**63),
        lambda: (a(), 2**70),
        lambda: (a(), 1.5),
        lambda: (a(), np.nan),
        lambda: (a(), True),
        lambda: (a(), 1j),
        lambda: (a(), np.arange(n)),
        lambda: (a(), np.arange(n, dtype=np.uint64)),
        lambda: (a(), np.arange(n) - 3),
        lambda: (a(), np.linspace(-1, 1, n)),
        lambda: (a(), np.linspace(-1, 1, n).astype(np.float16)),
        lambda: (a(), np.arange(n + 1)),
        lambda: (a(), np.arange(2)),
        lambda: (a(), np.zeros((2, n), dtype)),
        lambda: (a(), np.zeros((n, 1), dtype)),
        lambda: (a(), np.array(2, dtype)),
        lambda: (a(), np.int8(-100)),
        lambda: (a(), np.uint64(70)),
        lambda: (a(), np.array([64] * n)),
        lambda: (locked(a()), a()),
        lambda: (a()[:0], a()[:0]),
        lambda: (a()[:1], a()),
        lambda: (a().reshape(1, -1), a().reshape(-1, 1)),
        lambda: (np.array(values[0], dtype), a()),
        lambda: (np.dtype(dtype).type(1), a()),
        lambda: (3, a()),
        lambda: (a(), None),
        lambda: (a(), "text"),
        lambda: (a(), [1] * n),
    ]


DTYPES = ("float64", "int64", "int8", "uint8", "uint64", "float32", "bool", "float16")
CASES = [(function, dtype) for k, function in enumerate(BINARY) for dtype in DTYPES[k % 4 :: 4]]


@pytest.mark.parametrize(("function", "dtype"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_operands_that_numpy_refuses_or_warns_of_are_refused_likewise(
    function: Callable[..., Any], dtype: str
) -> None:
    check_in_groups(function, pairs(dtype))


def shrunk(a, b):
    x, y = np.broadcast_arrays(a, b)
    return x[..., 1:] * y[..., :1]


@pytest.mark.filterwarnings("error")
def test_arrays_that_warn_when_they_are_written_to_are_read_in_silence():
    compiled = ljit.jit(shrunk)
    for _call in range(4):
        assert compiled(np.ones(5), np.ones((2, 1))).tolist() == [[1.0] * 4] * 2


class Shapeless(np.ndarray):
    """A subclass whose `shape` is no tuple."""

    shape = "none"  # type: ignore[assignment]


def test_a_subclass_with_a_shape_of_its_own():
    @ljit.jit
    def add(a, b):
        return np.asarray(a + b)

    for other in (BASE, BASE, BASE.view(Shapeless), BASE.view(Shapeless)):
        assert np.array_equal(add(BASE, other), BASE + BASE)
