"""Random programs of NumPy statements: what is computed of arrays of any layout, stored in parts of them, and looped over.

A program is written statement by statement while it runs: each expression is tried on what the variables hold, so that
hardly a statement raises. What is rounded is told apart: no comparison, floor or index is made of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.statement_forms import (
    DISCRETE,
    EXACT,
    HOLE,
    INEXACT,
    OPERANDS,
    SLICES,
    WORDS,
    is_number,
)

__all__ = ["OTHER_DTYPES", "VARIANTS", "Program", "random_program"]

#: of arguments: two of the sizes and dtypes that the program is written for, other sizes, other dtypes
VARIANTS = (0, 0, 0, 1, 1, 2, 2, 3, 3, 0)
_OTHER_SIZES, OTHER_DTYPES = 2, 3
_SIZES = ((5, 4), (2, 2), (2, 3), (3, 4), (6, 3), (3, 3), (8, 8), (1, 4), (4, 1), (2, 7))
_KINDS = ("matrix", "matrix", "vector", "vector", "stack", "square", "int", "float", "np", "list")
_DTYPES = ("f8", "f8", "f8", "f4", "i8", "i4", "u1", "?", "c16", "i2", "f8")
_OTHER = dict(
    zip("f8 f4 i8 i4 u1 ? c16 i2".split(), "f4 f8 f8 i8 i4 i8 f8 u1".split(), strict=True)
)
_LAYOUTS = ("C", "C", "C", "F", "reversed", "steps")
_TRIES = 8
_DEPTH = 3  # of expressions in one another
_MANY, _LARGE = 700, 1e8  # elements, and numbers, beyond which nothing is kept
_NUMBERS = ("0", "0.0", "1")


#: the names of what it changes, and its lines
_Statement = tuple[tuple[str, ...], list[str]]


class _NothingError(Exception):
    """There is no such value, or no way to write such a statement."""


@dataclass(frozen=True, slots=True)
class _Parameter:
    kind: str
    dtype: str
    layout: str
    seed: int
    sizes: tuple[int, int]

    def value(self, variant: int) -> Any:
        """An argument; the same each time."""
        drawn = np.random.default_rng((self.seed, variant))
        n, m = self.sizes
        if variant == _OTHER_SIZES:
            n, m = n + 1, m + 2
        if self.kind in ("int", "float", "np"):
            number = int(drawn.integers(-8, 9))
            return {"int": number, "float": number / 4, "np": np.float64(number / 4)}[self.kind]
        if self.kind == "list":
            return [float(x) / 2 for x in drawn.integers(-5, 6, n)]
        vector = (m,) if self.seed % 2 else (n,)
        shapes = {"matrix": (n, m), "vector": vector, "stack": (2, n, m), "square": (n, n)}
        dtype = _OTHER[self.dtype] if variant == OTHER_DTYPES else self.dtype
        return self._laid_out(drawn, shapes[self.kind], np.dtype(dtype))

    def _laid_out(
        self, drawn: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype
    ) -> np.ndarray:
        size = tuple(2 * x for x in shape) if self.layout == "steps" else shape
        numbers = drawn.integers(-9, 10, size)
        if dtype.kind in "fc":
            numbers = numbers / 4 + (1j * drawn.integers(-3, 4, size) if dtype.kind == "c" else 0)
        elif dtype.kind in "u?":
            numbers = abs(numbers) % (2 if dtype.kind == "?" else 256)
        array = numbers.astype(dtype)
        if self.layout == "F":
            return np.asfortranarray(array)
        if self.layout == "steps":
            return array[(slice(None, None, 2),) * len(shape)]
        return array[::-1] if self.layout == "reversed" else array


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a function ``f``. `is_rounded`: some of what it computes is not exact."""

    text: str
    parameters: tuple[_Parameter, ...]
    is_rounded: bool

    def arguments(self, variant: int) -> tuple[Any, ...]:
        return tuple(parameter.value(variant) for parameter in self.parameters)

    @property
    def is_single(self) -> bool:
        """Whether numbers of single precision may come up."""
        return "float32" in self.text or any(
            p.dtype in ("f4", "i2", "u1", "?") for p in self.parameters
        )


def random_program(seed: int) -> Program:
    return _Writer(random.Random(f"statements {seed}")).program()


def _is_kept(value: Any) -> bool:
    """Whether a value is small, and of a kind that others can be computed of."""
    if isinstance(value, np.ndarray | np.generic):
        if value.size > _MANY or value.ndim > 4 or value.dtype.kind not in "biufc":
            return False
        if value.dtype.itemsize > 16 or value.dtype.char in "egG":
            return False
        finite = np.abs(value[np.isfinite(value)])
        return bool(2 * finite.size >= value.size and finite.max(initial=0) < _LARGE)
    if isinstance(value, int | float | complex):
        return abs(value) < _LARGE
    return isinstance(value, list)


class _Writer:
    """Writes one program. `values`: what the variables hold behind it; `rounded`: those that may be a little off."""

    def __init__(self, chosen: random.Random) -> None:
        self.chosen, self.pick = chosen, chosen.choice
        sizes = self.pick(_SIZES)
        self.parameters = {
            name: _Parameter(
                self.pick(_KINDS),
                self.pick(_DTYPES),
                self.pick(_LAYOUTS),
                chosen.randrange(10**9),
                sizes,
            )
            for name in "abcd"[: self.pick((2, 3, 3, 4))]
        }
        self.lines: list[str] = []
        self.rounded: set[str] = set()
        self.is_rounded = False  # what is being written
        self.names = 0
        self.values = self.run([])

    def program(self) -> Program:
        wanted = self.pick((2, 3, 4, 5, 6, 8))
        for _ in range(_TRIES * wanted):
            if wanted:
                wanted -= self.add_statement()
        names = [name for name in self.values if name.startswith("v")]
        self.chosen.shuffle(names)
        shown = names[: self.pick((1, 2, 3))] or ["a"]
        head = f"def f({', '.join(self.parameters)}):"
        body = [f"    {line}" for line in (*self.lines, f"return {', '.join(shown)}")]
        text = "\n".join([head, *body, ""])
        return Program(text, tuple(self.parameters.values()), bool(self.rounded))

    def run(self, more: Sequence[str]) -> dict[str, Any]:
        """What the variables hold when the program has run, and `more`."""
        values = {name: parameter.value(0) for name, parameter in self.parameters.items()}
        exec("\n".join((*self.lines, *more)), {"np": np}, values)
        return values

    def add_statement(self) -> bool:
        """Write one more statement, if one comes up that runs."""
        self.is_rounded = False
        outer = self.values
        try:
            targets, lines = self.pick(_STATEMENTS)(self)
            values = self.run(lines)
        except Exception:  # whatever NumPy raises
            self.values = outer
            return False
        if not all(map(_is_kept, values.values())):
            self.values = outer
            return False
        self.lines += lines
        self.values = {k: v for k, v in values.items() if k in self.parameters or k[0] == "v"}
        if self.is_rounded:
            self.rounded |= {k for k in self.values for x in targets if self._may_share(k, x)}
        return True

    def _may_share(self, name: str, other: str) -> bool:
        if name == other:
            return True
        one, two = self.values[name], self.values[other]
        return (
            isinstance(one, np.ndarray)
            and isinstance(two, np.ndarray)
            and np.may_share_memory(one, two)
        )

    # -- expressions ---------------------------------------------------------------------------------------

    def name(self, is_wanted: Callable[[Any], bool]) -> str:
        """A variable, or an argument."""
        found = [name for name, value in self.values.items() if is_wanted(value)]
        if not found:
            raise _NothingError
        name = self.pick(found)
        self.is_rounded |= name in self.rounded
        return name

    def target(self, is_wanted: Callable[[np.ndarray], bool] = lambda a: True) -> str:
        """An array that can be written to. That it is rounded already does not make what is written rounded."""
        before = self.is_rounded
        name = self.name(lambda v: isinstance(v, np.ndarray) and v.flags.writeable and is_wanted(v))
        self.is_rounded = before
        return name

    def expression(self, letter: str, depth: int = 1) -> str:
        """What may stand for a letter of `OPERANDS`."""
        is_wanted, otherwise = OPERANDS[letter]
        before = self.is_rounded
        for _ in range(_TRIES if depth <= _DEPTH else 0):
            try:
                if self.chosen.random() < (0.35 if depth < _DEPTH else 1.0):
                    return self.name(is_wanted)
                text = self.filled(depth)
                value = eval(text, {"np": np}, dict(self.values))
                if is_wanted(value) and _is_kept(value):
                    return text
            except Exception:  # whatever NumPy raises
                pass
            self.is_rounded = before
        if otherwise:
            return self.pick(otherwise)
        return self.name(is_wanted)

    def filled(self, depth: int) -> str:
        """A form, with expressions for its letters."""
        forms = self.pick((EXACT, EXACT, EXACT, EXACT, INEXACT, DISCRETE))
        before, self.is_rounded = self.is_rounded, False

        def fill(hole: Any) -> str:
            if hole[1] == "#":
                return self.pick(WORDS[hole[2]])
            text = self.expression(hole[2], depth + 1)
            return text if text.isidentifier() else f"({text})"

        text = HOLE.sub(fill, self.pick(forms))
        if forms is DISCRETE and self.is_rounded:
            raise _NothingError
        self.is_rounded |= before or forms is INEXACT
        return text

    def new_name(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def slices(self, name: str) -> str:
        return ", ".join(self.pick(SLICES) for _ in range(self.values[name].ndim)) or "..."

    # -- statements ------------------------------------------------------------------------------------------

    def assignment(self) -> _Statement:
        text = self.expression(self.pick("AAAX"), 0)
        if text.isidentifier():
            raise _NothingError
        name = self.new_name()
        return (name,), [f"{name} = {text}"]

    def update(self) -> _Statement:
        name = self.target()
        return (name,), [f"{name} {self.pick(('+=', '-=', '*='))} {self.expression('X')}"]

    def store(self) -> _Statement:
        name = self.target()
        op = self.pick(("=", "=", "+=", "*="))
        return (name,), [f"{name}[{self.slices(name)}] {op} {self.expression('X')}"]

    def masked_store(self) -> _Statement:
        name = self.target()
        if name in self.rounded:
            raise _NothingError
        mask = f"{name} {self.pick(('>', '<', '=='))} {self.pick(('0', '1', '0.5'))}"
        return (name,), [f"{name}[{mask}] {self.pick(('=', '+=', '*='))} {self.expression('S')}"]

    def loop_over_rows(self) -> _Statement:
        name = self.target(lambda a: a.ndim > 0)
        bodies = [
            f"{name}[i] = {name}[i - 1] + {self.expression('X')}",
            f"{name}[i] += {self.expression('X')}",
            f"{name}[i] = {name}[-1 - i] * 2 - i",
            f"{name}[i:] -= {name}[i]",
            f"{name}[i, ...] = {self.expression('X')} * i",
        ]
        if name not in self.rounded:
            bodies.append(f"{name}[i] = np.where({name}[i] > i, {name}[i - 1], {name}[i])")
        return (name,), [self.head("i", name), f"    {self.pick(bodies)}"]

    def head(self, variable: str, name: str, axis: int = 0) -> str:
        size = f"{name}.shape[{axis}]"
        trips = (f"{size}", f"1, {size}", f"{size} - 1, -1, -1", f"0, {size}, 2", f"{size} - 1")
        return f"for {variable} in range({self.pick(trips)}):"

    def total_of_rows(self) -> _Statement:
        source = self.target(lambda a: a.ndim > 0)
        self.is_rounded |= source in self.rounded
        name, number = self.new_name(), self.expression("S")
        bodies = [
            f"{name} = {name} + x.sum() * {number}",
            f"{name} += x * {number}",
            f"{name} = x * 2 + {name}",
            f"{name} = {name} - np.abs(x).max()",
        ]
        if not self.is_rounded:
            bodies.append(f"{name} = max({name}, x.max())")
        start = f"{name} = {self.pick(_NUMBERS)}"
        return (name,), [start, f"for x in {source}:", f"    {self.pick(bodies)}"]

    def choice(self) -> _Statement:
        number = self.name(lambda v: is_number(v) and not isinstance(v, np.complexfloating))
        if self.is_rounded:
            raise _NothingError
        name = self.new_name()
        lines = [
            f"if {number} > {self.pick(('0', '1', '-1'))}:",
            f"    {name} = {self.expression('A')}",
            "else:",
            f"    {name} = {self.expression('A')}",
        ]
        return (name,), lines

    def nest(self) -> _Statement:
        name = self.target(lambda a: a.ndim == 2)
        number = self.expression("S")
        bodies = [
            f"{name}[i, j] = {name}[i - 1, j] + {name}[i, j - 1] * {number}",
            f"{name}[i, j] += i * {number} - j",
            f"{name}[i, j] = {name}[{name}.shape[0] - 1 - i, j]",
        ]
        if name not in self.rounded:
            bodies.append(f"{name}[i, j] = max({name}[i, j], {name}[i - 1, j - 1])")
        return (name,), [
            f"for i in range(1, {name}.shape[0]):",
            f"    for j in range({self.pick('01')}, {name}.shape[1]):",
            f"        {self.pick(bodies)}",
        ]

    def long_loop(self) -> _Statement:
        """A loop of several statements, in which the trip and what a row of the array is are operands, too."""
        name = self.target(lambda a: a.ndim > 0)
        total = self.new_name()
        start = self.pick((*_NUMBERS, "np.zeros(3)", f"{name}[0].copy()", "[]"))
        lines = [f"{total} = {start}"]
        if self.chosen.random() < 0.7:
            lines.append(self.head("i", name))
        else:
            lines.append(f"for i, x in enumerate({name}):")
            self.values = {**self.values, "x": self.values[name][0]}
            self.rounded |= {"x"} if name in self.rounded else set()
        self.values = {**self.values, "i": 1}
        bodies = (
            lambda: f"u = {self.expression('X', 0)}",
            lambda: f"{name}[i] {self.pick(('=', '+=', '-=', '*='))} {self.expression('X')}",
            lambda: (
                f"{name}[i] = {name}[{self.pick(('i - 1', '-1', '0', '-1 - i'))}] + {self.expression('S')}"
            ),
            lambda: f"{name}[..., i % {name}.shape[-1]] *= {self.expression('S')}",
            lambda: f"{name}[i] = np.cumsum({name}[i])",
            lambda: self.addition(total, start),
        )
        for _ in range(self.pick((1, 1, 2, 2, 3))):
            lines.append(f"    {self.pick(bodies)()}")
        return (total, name), lines

    def addition(self, total: str, start: str) -> str:
        """Put something to what a loop gathers."""
        if start == "[]":
            return f"{total}.append({self.expression('X')})"
        return f"{total} = {total} + {self.expression('X')}"


_STATEMENTS: tuple[Callable[[_Writer], _Statement], ...] = (
    *(_Writer.assignment,) * 7,
    _Writer.update,
    _Writer.store,
    _Writer.masked_store,
    _Writer.loop_over_rows,
    _Writer.total_of_rows,
    _Writer.choice,
    _Writer.nest,
    *(_Writer.long_loop,) * 2,
)
