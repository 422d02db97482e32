"""Run a program plainly and through ljit, and compare everything a user could see.

A program is a plain function with argument factories (`@program(...)`). An `Outcome` holds what one call
did: the value, the arguments after it, what it printed and the exception with its place. Two outcomes are
`difference`-free when values and exact classes, dtypes, shapes, bits of floats, aliasing between result
and arguments, output, exception class, message and traceback lines are all the same.
"""

from __future__ import annotations

import dataclasses
import contextlib
import io
import random
import struct
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

TESTS = Path(__file__).parent.parent
HERE = (str(TESTS / "programs"), str(TESTS / "adversarial"))  # where programs are
CALLS = 5


@dataclass(frozen=True, slots=True)
class Args:
    """Positional and keyword arguments of one call; factories may give a tuple instead."""

    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)


Factory = Callable[[], "tuple[Any, ...] | Args"]


@dataclass(frozen=True, slots=True)
class Bound:
    """How far floats may lie apart."""

    distance: float


Ulps = int | Bound


@dataclass(frozen=True, slots=True)
class Program:
    function: Callable[..., Any]
    factories: tuple[Factory, ...]
    ulp: Ulps
    is_translated: bool

    @property
    def name(self) -> str:
        return f"{self.function.__module__.rsplit('.', 1)[-1]}.{self.function.__name__}"


PROGRAMS: list[Program] = []


def program(
    *factories: Factory, ulp: Ulps = 0, is_translated: bool = True
) -> Callable[[Callable[..., Any]], Any]:
    """Enrol the decorated function with its argument factories.

    `ulp` bounds the error of float results; `is_translated`: the function is not left to CPython.
    """

    def enrol(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(function, factories, ulp, is_translated))
        return function

    return enrol


def make_args(factory: Factory) -> Args:
    made = factory()
    return made if isinstance(made, Args) else Args(made)


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception, as a user sees it."""

    cls: type
    message: str
    frames: tuple[tuple[str, int], ...]
    cause: type | None
    context: type | None
    hides_context: bool
    text: str = field(compare=False)  # what is printed if nobody takes the exception


@dataclass(frozen=True, slots=True)
class Outcome:
    value: Any
    args: Args
    output: str
    failure: Failure | None


def run(function: Callable[..., Any], args: Args) -> Outcome:
    """Call the function and record what it did. Floating-point warnings are not part of it."""
    value, failure = None, None
    output = io.StringIO()
    with contextlib.redirect_stdout(output), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = function(*args.positional, **args.keywords)
        except Exception as error:
            failure = describe_failure(error)
    return Outcome(value, args, output.getvalue(), failure)


def describe_failure(error: Exception) -> Failure:
    cause = type(error.__cause__) if error.__cause__ is not None else None
    context = type(error.__context__) if error.__context__ is not None else None
    frames = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        is_program = code.co_filename.startswith(HERE) and code.co_filename != __file__
        if is_program and not code.co_name.endswith("comp>"):
            frames.append((code.co_name, line))
    hides_context = error.__suppress_context__
    text = "".join(traceback.format_exception(error.with_traceback(error.__traceback__.tb_next)))
    return Failure(type(error), str(error), tuple(frames), cause, context, hides_context, text)


def entries_of(text: str) -> list[str]:
    """Files, lines, names, source lines and message of a printed traceback.

    Without the columns, since native code knows lines only; without comprehensions, which in CPython
    3.11 have a frame of their own, but not later and not here; without NumPy's own frames, since a
    method and the function of its name (``a.max()``, ``np.max(a)``) are one op.
    """
    kept, skipping = [], False
    for line in text.splitlines():
        if line.startswith("  File "):
            skipping = "comp>" in line or "/numpy/" in line
        is_mark = line.startswith("    ") and not line.strip("^~ ")
        if not is_mark and not (skipping and line.startswith("  ")):
            kept.append(line)
    return kept


def difference(
    expected: Outcome,
    actual: Outcome,
    ulp: Ulps = 0,
    shared: Callable[[Outcome], object] | None = None,
) -> str | None:
    """Say how two outcomes differ, None: not at all. `shared` is what must be alike of `aliasing`."""
    shared = shared or aliasing
    if expected.failure != actual.failure:
        return f"exceptions differ: expected {expected.failure}, got {actual.failure}"
    if expected.output != actual.output:
        return f"outputs differ: expected {expected.output!r}, got {actual.output!r}"
    for what, a, b in (
        ("values", expected.value, actual.value),
        ("arguments", expected.args.positional, actual.args.positional),
        ("keyword arguments", dict(expected.args.keywords), dict(actual.args.keywords)),
    ):
        found = compare(a, b, ulp)
        if found is not None:
            return f"{what} differ: {found}"
    if shared(expected) != shared(actual):
        return f"aliasing differs: expected {shared(expected)}, got {shared(actual)}"
    return None


def compare(a: Any, b: Any, ulp: Ulps = 0) -> str | None:
    """Compare deeply: exact classes, bits of floats (any NaN equals any NaN), dtypes and shapes."""
    if type(a) is not type(b):
        return f"{a!r} is {type(a).__name__}, {b!r} is {type(b).__name__}"
    if isinstance(a, np.ndarray | np.generic):
        return compare_arrays(a, b, ulp)
    if isinstance(a, np.flatiter):
        return compare((a.index, a.base), (b.index, b.base), ulp)
    if isinstance(a, np.random.Generator | np.random.RandomState | random.Random):
        return None if stream_state(a) == stream_state(b) else "streams are at other places"
    if isinstance(a, float | complex):
        return None if same_number(a, b, ulp) else f"{a!r} != {b!r}"
    if isinstance(a, list | tuple):
        return compare_sequences(a, b, ulp)
    if isinstance(a, dict):
        return compare_sequences(list(a.items()), list(b.items()), ulp)
    has_own_rule = "__eq__" in vars(type(a)) and not dataclasses.is_dataclass(a)
    if type(a).__module__.startswith("tests.") and not has_own_rule:
        return compare(attributes(a), attributes(b), ulp)
    if callable(a):
        return None
    return None if a == b else f"{a!r} != {b!r}"


def attributes(thing: Any) -> dict[str, Any]:
    """The attributes of an object, in the order in which they came, and what is in its slots."""
    slots = {
        name: getattr(thing, name, "nothing") for name in getattr(type(thing), "__slots__", ())
    }
    return {**getattr(thing, "__dict__", {}), **slots}


def stream_state(rng: Any) -> str:
    """Where a random stream is."""
    if isinstance(rng, random.Random):
        return str(rng.getstate())
    if isinstance(rng, np.random.RandomState):
        return str(rng.get_state(legacy=False))
    return str(rng.bit_generator.state)


def compare_sequences(a: Sequence[Any], b: Sequence[Any], ulp: Ulps) -> str | None:
    if len(a) != len(b):
        return f"{a!r} has {len(a)} items, {b!r} has {len(b)}"
    for index, (x, y) in enumerate(zip(a, b, strict=True)):
        found = compare(x, y, ulp)
        if found is not None:
            return f"item {index}: {found}"
    return None


def compare_arrays(a: Any, b: Any, ulp: Ulps) -> str | None:
    if a.dtype != b.dtype or a.dtype.num != b.dtype.num:
        return f"dtype {a.dtype!r} != {b.dtype!r}"
    if a.shape != b.shape:
        return f"shape {a.shape} != {b.shape}"
    if isinstance(a, np.ndarray) and a.flags.writeable != b.flags.writeable:
        return "one is read-only, the other is not"
    if isinstance(a, np.ndarray) and steps(a) != steps(b):
        return f"strides {a.strides} != {b.strides}"
    if a.dtype.kind in "OSUV":
        return compare(a.tolist(), b.tolist(), ulp)
    different = differing_elements(np.atleast_1d(np.asarray(a)), np.atleast_1d(np.asarray(b)), ulp)
    if not different.any():
        return None
    where = tuple(int(i[0]) for i in np.nonzero(different))
    return (
        f"{int(different.sum())} of {different.size} elements, first at {where}: "
        f"{np.atleast_1d(a)[where]!r} != {np.atleast_1d(b)[where]!r}"
    )


def steps(a: np.ndarray) -> list[int]:
    """The strides that matter: of axes with more than one element."""
    pairs = zip(a.shape, a.strides, strict=True)
    return [stride if size > 1 and a.size else 0 for size, stride in pairs]


def differing_elements(a: np.ndarray, b: np.ndarray, ulp: Ulps) -> np.ndarray:
    if a.dtype.kind == "c":
        parts = (
            differing_elements(np.ascontiguousarray(p), np.ascontiguousarray(q), ulp)
            for p, q in ((a.real, b.real), (a.imag, b.imag))
        )
        return np.logical_or(*parts)
    if a.dtype.kind in "mM":
        return a.astype(np.int64) != b.astype(np.int64)  # NaT is NaT
    if a.dtype.kind != "f":
        return a != b
    both_nan = np.isnan(a) & np.isnan(b)
    same = (a == b) & (np.signbit(a) == np.signbit(b))
    if ulp:
        with np.errstate(all="ignore"):
            same |= np.abs(a - b) <= limit(np.maximum(np.abs(a), np.abs(b)), ulp)
    return ~(same | both_nan)


def same_number(a: complex, b: complex, ulp: Ulps) -> bool:
    if isinstance(a, complex):
        return same_number(a.real, b.real, ulp) and same_number(a.imag, b.imag, ulp)
    assert isinstance(b, float)
    if a != a or b != b:
        return a != a and b != b
    if struct.pack("d", a) == struct.pack("d", b):
        return True
    return bool(ulp) and abs(a - b) <= float(limit(max(abs(a), abs(b)), ulp))


def limit(largest: Any, ulp: Ulps) -> Any:
    """Give the distance that is allowed between numbers of this size."""
    return ulp * np.spacing(largest) if isinstance(ulp, int) else ulp.distance


def aliasing(outcome: Outcome) -> tuple[object, ...]:
    """Give which mutable parts of result and arguments are one object or share memory."""
    parts = list(mutable_parts((outcome.value, outcome.args.positional)))
    pattern: list[object] = [[q is p for q in parts].index(True) for p in parts]
    arrays = [p for p in parts if isinstance(p, np.ndarray)]
    pattern.extend(np.may_share_memory(p, q) for p in arrays for q in arrays)
    return tuple(pattern)


def mutable_parts(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | dict | set):
        yield value
    if isinstance(value, list | tuple):
        for item in value:
            yield from mutable_parts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from mutable_parts(item)


def check_calls(
    function: Callable[..., Any],
    compiled: Callable[..., Any],
    calls: Sequence[Factory],
    ulp: Ulps = 0,
    *,
    texts: bool = False,
) -> None:
    """Make each call plainly and compiled, on fresh equal arguments, and compare the outcomes.

    `texts`: also what is printed of exceptions.
    """
    for number, factory in enumerate(calls, start=1):
        expected = run(function, make_args(factory))
        actual = run(compiled, make_args(factory))
        found = difference(expected, actual, ulp)
        assert found is None, f"call {number} of {function.__name__}: {found}"
        if texts and expected.failure is not None and actual.failure is not None:
            assert entries_of(actual.failure.text) == entries_of(expected.failure.text)
