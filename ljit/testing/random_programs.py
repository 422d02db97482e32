"""Random numeric programs as source text: what the fuzzer runs through CPython and through ljit.

`random_program(seed)` gives the text of a function ``f(i, j, x, y, a, b, m, items)`` of two ints, two floats, a
float64 and an int64 vector, a float64 matrix and a list of numbers; `random_arguments(seed)` gives arguments for
it, ordinary and hostile ones. The same seed gives the same program everywhere.
"""

from __future__ import annotations

import linecache
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["PARAMETERS", "ProgramWriter", "make_function", "random_arguments", "random_program"]

PARAMETERS = ("i", "j", "x", "y", "a", "b", "m", "items")

_INTS = (0, 1, -1, 2, 3, 7, -5, 63, 2**31, 2**62, -(2**63), 2**63 - 1)
_FLOATS = (0.0, -0.0, 1.0, -1.5, 0.5, 3.25, 1e300, 5e-324, math.inf, -math.inf, math.nan)
_CAUGHT = ("IndexError", "ZeroDivisionError", "(ValueError, OverflowError)", "Exception")
#: the variable of an ``except`` clause, and how the clause ends
_HANDLERS = (
    ("", "s += 1"),
    ("", "raise"),
    (" as error", "s += len(error.args)"),
    (" as k", "pass"),
)


class ProgramWriter:
    """Writes one function out of random statements, those of `statement`; `depth` bounds the nesting."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.counters = 0

    def put(self, indent: int, text: str) -> None:
        """Add a line."""
        self.lines.append("    " * indent + text)

    def new_name(self, stem: str) -> str:
        """Give a name that was not used before."""
        self.counters += 1
        return f"{stem}{self.counters}"

    def block(self, indent: int, in_loop: bool, depth: int) -> None:
        """Add one to three statements."""
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, in_loop, depth)

    def statement(self, indent: int, in_loop: bool, depth: int) -> None:
        """Add a statement."""
        raise NotImplementedError


class _NumericWriter(ProgramWriter):
    """Arithmetic, arrays, lists and loops."""

    def pick(self, *choices: Callable[[], str]) -> str:
        return self.random.choice(choices)()

    # -- expressions -------------------------------------------------------------------------------

    def int_leaf(self) -> str:
        r = self.random
        small = r.randint(-3, 9)
        return r.choice(["i", "j", "n", "k", str(small), str(small), str(r.choice(_INTS))])

    def integer(self, depth: int = 0) -> str:
        r = self.random
        if depth > 2 or r.random() < 0.25:
            return self.int_leaf()

        def p() -> str:
            return self.integer(depth + 1)

        return self.pick(
            lambda: f"({p()} {r.choice('+ - * // % & | ^'.split())} {p()})",
            lambda: f"({p()} + {p()})",
            lambda: f"({p()} << ({p()} % 5))",
            lambda: f"({p()} >> ({p()} % 70))",
            lambda: f"-{p()}",
            lambda: f"~{p()}",
            lambda: f"abs({p()})",
            lambda: f"{r.choice(['min', 'max'])}({p()}, {p()})",
            lambda: f"({p()} if {self.condition(depth + 1)} else {p()})",
            lambda: f"len({r.choice(['a', 'b', 'items'])})",
            lambda: f"int({self.number(depth + 1)})",
            lambda: f"b[{self.index('b', depth + 1)}]",
            lambda: f"({p()} % 7) ** ({p()} % 4)",
            lambda: f"round({self.number(depth + 1)})",
        )

    def number(self, depth: int = 0) -> str:
        r = self.random
        if depth > 2 or r.random() < 0.25:
            return r.choice(["x", "y", "s", str(r.randint(-3, 9)), repr(r.choice(_FLOATS[:8]))])

        def p() -> str:
            return self.number(depth + 1)

        def i() -> str:
            return self.integer(depth + 1)

        return self.pick(
            lambda: f"({p()} {r.choice('+ - * /'.split())} {p()})",
            lambda: f"({p()} {r.choice('+ - *'.split())} {p()})",
            lambda: f"({p()} // {p()})",
            lambda: f"({p()} % {p()})",
            lambda: f"-{p()}",
            lambda: f"abs({p()})",
            lambda: f"{r.choice(['min', 'max'])}({p()}, {p()})",
            lambda: f"({p()} if {self.condition(depth + 1)} else {p()})",
            lambda: f"float({i()})",
            lambda: f"a[{self.index('a', depth + 1)}]",
            lambda: f"m[{i()} % m.shape[0], {i()} % m.shape[1]]",
            lambda: f"items[{self.index('items', depth + 1)}]",
            lambda: f"math.{r.choice(['sqrt', 'floor', 'fabs', 'exp', 'sin'])}({p()})",
            lambda: f"a[{i()}:].sum()",
        )

    def index(self, name: str, depth: int) -> str:
        """An index, mostly one that is in range."""
        inner = self.integer(depth)
        return inner if self.random.random() < 0.15 else f"{inner} % len({name})"

    def condition(self, depth: int = 0) -> str:
        r = self.random

        def p() -> str:
            return self.number(depth + 1)

        def i() -> str:
            return self.integer(depth + 1)

        return self.pick(
            lambda: f"{p()} {r.choice(['<', '<=', '==', '!=', '>', '>='])} {p()}",
            lambda: f"{i()} {r.choice(['<', '==', '>='])} {i()}",
            lambda: f"{p()} < {p()} <= {p()}",
            lambda: f"not {self.int_leaf()}",
            lambda: (
                f"({p()} > {p()} {r.choice(['and', 'or'])} {self.int_leaf()} < {self.int_leaf()})"
            ),
        )

    # -- statements --------------------------------------------------------------------------------

    def statement(self, indent: int, in_loop: bool, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.62 or depth > 2:
            self.put(indent, self.simple())
        elif kind < 0.68 and in_loop:
            self.put(indent, f"if {self.condition()}:")
            self.put(indent + 1, self.random.choice(["break", "continue"]))
        elif kind < 0.70:
            self.put(indent, f"if {self.condition()}:")
            self.put(indent + 1, f"return {self.number()}, n")
        else:
            self.compound(indent, in_loop, depth)

    def simple(self) -> str:
        r = self.random
        return self.pick(
            lambda: f"n {r.choice(['=', '+=', '-=', '*='])} {self.integer()}",
            lambda: f"s {r.choice(['=', '+=', '-=', '*='])} {self.number()}",
            lambda: f"k = {self.integer()}",
            lambda: f"s, x = {self.number()}, s",
            lambda: f"a[{self.index('a', 0)}] {r.choice(['=', '+=', '*='])} {self.number()}",
            lambda: f"b[{self.index('b', 0)}] {r.choice(['=', '+=', '-='])} {self.integer()}",
            lambda: f"items[{self.index('items', 0)}] = {self.number()}",
            lambda: f"items.append({self.pick(self.number, self.integer)})",
            lambda: f"a[{r.randint(0, 3)}:] = {self.number()}",
            lambda: f"a[1:] {r.choice(['=', '+=', '-='])} a[:-1]",
            lambda: "a = a * 2.0 - a[::-1]",
            lambda: f"m[{self.integer()} % m.shape[0]] += {self.number()}",
        )

    def compound(self, indent: int, in_loop: bool, depth: int) -> None:
        r = self.random
        head = r.choice(["if", "for", "for", "while"])
        if head == "if":
            self.put(indent, f"if {self.condition()}:")
        elif head == "for":
            self.put(indent, f"for {self.iteration()}:")
        else:
            fuel = self.new_name("fuel")
            self.put(indent, f"{fuel} = 0")
            self.put(indent, f"while {fuel} < {r.randint(1, 6)} and {self.condition()}:")
            self.put(indent + 1, f"{fuel} += 1")
        self.block(indent + 1, in_loop or head != "if", depth + 1)
        if r.random() < 0.3:
            self.put(indent, "else:")
            self.block(indent + 1, in_loop, depth + 1)

    def iteration(self) -> str:
        r = self.random
        return r.choice(
            [
                f"k in range({r.randint(0, 6)})",
                f"k in range({r.randint(-2, 3)}, {r.randint(2, 9)}, {r.choice([1, 2, -1])})",
                "k in range(len(a))",
                "s in a",
                "k in b",
                "k, s in enumerate(a)",
                "s, k in zip(a, b)",
                "s in reversed(a)",
                "s in items[:4]",
                "row in m",
            ]
        )

    def text(self) -> str:
        self.put(0, f"def f({', '.join(PARAMETERS)}):")
        self.put(1, "n = k = 0")
        self.put(1, "s = 0.0")
        for _ in range(3):
            self.block(1, in_loop=False, depth=0)
        self.put(1, "return n, s, k, x")
        return "\n".join(self.lines) + "\n"


class _HandlingWriter(_NumericWriter):
    """The same with ``try`` statements: what fails in them may be handled."""

    def compound(self, indent: int, in_loop: bool, depth: int) -> None:
        r = self.random
        if r.random() < 0.4:
            super().compound(indent, in_loop, depth)
            return
        self.put(indent, "try:")
        self.block(indent + 1, in_loop, depth + 1)
        if r.random() < 0.2:
            self.put(indent + 1, "items[len(items) * 2]")
        has_handler = r.random() < 0.7
        if has_handler:
            self.handler(indent, in_loop, depth)
        if not has_handler or r.random() < 0.3:
            self.put(indent, "finally:")
            self.block(indent + 1, in_loop, depth + 1)

    def handler(self, indent: int, in_loop: bool, depth: int) -> None:
        r = self.random
        classes = r.choice(_CAUGHT)
        name, end = r.choice(_HANDLERS)
        self.put(indent, f"except {classes}{name}:")
        self.block(indent + 1, in_loop, depth + 1)
        self.put(indent + 1, end)
        if r.random() < 0.3:
            self.put(indent, "else:")
            self.block(indent + 1, in_loop, depth + 1)


def random_program(seed: int, *, handles: bool = False) -> str:
    """Give the source of a random function ``f`` with `PARAMETERS`; `handles`: with ``try`` statements in it."""
    return (_HandlingWriter if handles else _NumericWriter)(seed).text()


def make_function(text: str, name: str) -> Callable[..., Any]:
    """Compile a program; its source can be read back under the file name ``<name>``."""
    filename = f"<{name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"math": math, "np": np, "__name__": name}
    exec(compile(text, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def random_arguments(seed: int) -> tuple[Any, ...]:
    """Give fresh arguments; the types depend on the seed too."""
    r = random.Random(seed)
    hostile = r.random() < 0.4
    i, j = (r.choice(_INTS) if hostile else r.randint(-4, 9) for _ in range(2))
    x, y = (r.choice(_FLOATS) if hostile else r.uniform(-3.0, 3.0) for _ in range(2))
    if r.random() < 0.2:
        x = np.float64(x)
    size = r.choice([1, 2, 5, 8])
    a = np.array([r.uniform(-3.0, 3.0) for _ in range(2 * size)])
    a = r.choice([a[:size].copy(), a[::2], a[::-1][:size]])
    b = np.array([r.choice(_INTS) if hostile else r.randint(-9, 9) for _ in range(size)], np.int64)
    m = np.arange(12.0).reshape(3, 4)
    m = r.choice([m, m.T, m[:, ::2]])
    items: list[Any] = [r.randint(-3, 5) for _ in range(r.randint(1, 4))]
    if r.random() < 0.5:
        items = [float(v) for v in items]
    return i, j, x, y, a, b, m, items
