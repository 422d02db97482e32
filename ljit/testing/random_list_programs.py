"""Random programs of lists as source text: made there or given, nested, under two names, changed while one loops.

`random_list_program(seed)` gives the text of a function ``f`` with `PARAMETERS`: an int, a list of numbers and a list
of such lists; `random_lists(seed, call)` gives arguments for it: ints at first, later items of other kinds, lists that
are empty, or one for two.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from ljit.testing.random_programs import ProgramWriter

__all__ = ["PARAMETERS", "random_list_program", "random_lists"]

PARAMETERS = ("n", "given", "rows")

_MOST_ITEMS = 20
_MOST_TRIPS = 60
_NUMBERS: tuple[Callable[[random.Random], object], ...] = (
    lambda r: r.randint(-3, 9),
    lambda r: r.randint(-8, 20) * 0.25,
    lambda r: r.choice((1, 2.5, True, 0, -1, 3)),
    lambda r: r.choice((2**62, -(2**63), 2**70, 3, 1)),
    lambda r: r.choice((float("nan"), -0.0, 0.0, 1.5)),
)
_KEYS = ("-v", "v * v % 7", "(v, s)", "v + t", "abs(v - k)")
_CAUGHT = ("IndexError", "ValueError", "(IndexError, TypeError, ZeroDivisionError)", "Exception")


class _ListWriter(ProgramWriter):
    """What lists can do, between loops and handlers."""

    def number(self, depth: int = 0) -> str:
        r = self.random
        if depth > 1 or r.random() < 0.3:
            return r.choice(["s", "t", "n", "k", "1", "2", "0.5", "-1"])
        p, xs = self.number(depth + 1), self.name()
        return r.choice(
            [
                f"({p} {r.choice('+ - *'.split())} {self.number(depth + 1)})",
                f"({p} {r.choice(['//', '%', '/'])} {r.choice(['3', '7', p])})",
                *[f"{xs}[{self.index(xs)}]"] * 3,
                f"rows[{self.index('rows')}][{self.index()}]",
                f"len({xs})",
                f"{r.choice(['sum', 'len', 'max', 'min'])}({self.list(depth + 1)})",
                f"{xs}.{r.choice(['count', 'index'])}({p})",
                f"{xs}.pop({r.choice(['', '0', 'k'])})",
                f"({p} in {xs})",
                f"({xs} {r.choice(['==', '<', 'is'])} {self.name()})",
                f"sum(v * v for v in {xs})",
                f"{r.choice(['min', 'max'])}({xs}, key=lambda v: {r.choice(_KEYS)})",
                f"table.get({self.index()}, {p})",
            ]
        )

    def index(self, name: str = "ys") -> str:
        r = self.random
        return r.choice(["0", "-1", "1", "k", "k - 1", f"k % max(len({name}), 1)", "k % 3"])

    def slice(self) -> str:
        return self.random.choice(
            ["1:2", "k:", ":-1", "1:", "k:k", ":", "::2", "::-1", "k::-1", ":k + 1"]
        )

    def name(self) -> str:
        """A variable that is a list of numbers."""
        return self.random.choice(["xs", "xs", "ys", "ys", "given"])

    def list(self, depth: int = 0) -> str:
        r, xs = self.random, self.name()
        if depth > 1 or r.random() < 0.2:
            return xs
        return r.choice(
            [
                f"[{self.number(1)} for v in {xs}]",
                f"[v for v in {xs} if v > {self.number(1)}]",
                f"[v + w for v, w in zip({xs}, {self.name()})]",
                f"{xs}[{r.choice([':', '1:', ':-1', '::2', '::-1', 'k:'])}]",
                f"({xs} + {self.name()})",
                f"sorted({xs}, reverse={r.choice(['True', 'False'])})",
                f"sorted({xs}, key=lambda v: {r.choice(_KEYS)})",
                f"[{self.number(1)}, {self.number(1)}]",
                f"[{r.choice(['0', '0.0', 'n', 'True'])}] * {r.choice(['3', 'n', f'len({xs})'])}",
                f"list({r.choice(['range(4)', f'reversed({xs})', 'table', 'map(abs, ys)'])})",
                f"rows[{self.index('rows')}]",
                f"[len(row) for row in {self.rows()}]",
                "[]",
            ]
        )

    def rows(self) -> str:
        return self.random.choice(
            [
                "rows",
                f"[{self.name()}, {self.name()}]",
                "[row[:] for row in rows]",
                "[[0] * 4 for _ in range(3)]",
                f"[{self.name()}[:] for _ in range(3)]",
                "[list(row) for row in zip(*rows)]",
            ]
        )

    def statement(self, indent: int, in_loop: bool, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.3:
            self.put(indent, f"{self.random.choice('st')} = {self.number()}")
            if in_loop:  # products of products take long
                self.put(indent, "if not -(2**90) < s * t < 2**90: s = t = 3")
        elif kind < 0.7 or depth > 2:
            self.change(indent)
        elif kind < 0.75 and in_loop:
            self.put(indent, f"if {self.number()} > 3: {self.random.choice(['break', 'continue'])}")
        else:
            self.compound(indent, in_loop, depth)

    def change(self, indent: int) -> None:
        r, xs = self.random, self.name()
        grows = [
            f"{xs}.append({self.number()})",
            f"{xs}.insert({self.index()}, {self.number()})",
            f"{xs}.extend({self.list()})",
            f"{xs}[{self.slice()}] = {self.list()}",
            f"{xs}[{self.slice()}] = {xs}[{self.slice()}]",
            f"{xs} += [{self.number()}]",
            f"rows.append({self.name()})",
            f"rows[{self.index('rows')}].append({self.number()})",
        ]
        others = [
            f"{xs}[{self.index(xs)}] {r.choice(['=', '=', '+=', '-='])} {self.number()}",
            f"{xs}[{self.index()}], {xs}[0] = {xs}[0], {xs}[{self.index()}]",
            f"rows[{self.index('rows')}][{self.index()}] = {self.number()}",
            f"rows[{self.index('rows')}] = {self.list()}",
            f"del {xs}[{r.choice(['0', 'k', 'k:', '1:3'])}]",
            f"{xs}.{r.choice(['sort()', 'reverse()', 'clear()', f'remove({self.number()})'])}",
            f"{r.choice(['xs', 'ys'])} = ({self.list()})[:{_MOST_ITEMS}]",
            f"rows = ({self.rows()})[:4]",
            "xs, ys = ys, xs",
            "ys = xs",
            f"table[{self.index()}] = {self.number()}",
        ]
        if r.random() < 0.3:
            self.put(indent, f"if len(rows) + len({xs}) < {_MOST_ITEMS}:")
            self.put(indent + 1, r.choice(grows))
        else:
            self.put(indent, r.choice(others))

    def compound(self, indent: int, in_loop: bool, depth: int) -> None:
        r, xs = self.random, self.name()
        if r.random() < 0.25:
            self.put(indent, "try:")
            self.block(indent + 1, in_loop, depth + 1)
            self.put(indent, f"except {r.choice(_CAUGHT)} as error:")
            self.put(indent + 1, "errors.append(str(error))")
        elif r.random() < 0.35:
            self.put(indent, f"if {self.number()} > {self.number()}:")
            self.block(indent + 1, in_loop, depth + 1)
        else:
            loops = ["k in range(n)", f"k in range(len({xs}))", f"s in {xs}", "xs in rows"]
            pairs = [f"k, t in enumerate({xs})", f"s, t in zip({xs}, {self.name()})"]
            self.put(indent, f"for {r.choice([*loops, *pairs])}:")
            self.put(indent + 1, "trips += 1")
            self.put(indent + 1, f"if trips > {_MOST_TRIPS}: break")
            self.block(indent + 1, True, depth + 1)

    def text(self) -> str:
        r = self.random
        self.put(0, f"def f({', '.join(PARAMETERS)}):")
        self.put(1, "k = trips = 0")
        self.put(1, "s, t, table, errors = 1, n, {0: 1, 2: 3}, []")
        first, second = r.choices(
            ["[3, 1, 2]", "[]", "[0] * n", "given", "[0.5 for _ in rows]"], k=2
        )
        self.put(1, f"xs, ys = {first}, {second}")
        self.block(1, in_loop=False, depth=0)
        self.put(1, "try:")
        self.block(2, in_loop=False, depth=0)
        self.put(1, "except Exception as error:")
        self.put(2, "errors.append(str(error))")
        self.block(1, in_loop=False, depth=0)
        self.put(1, "return xs, ys, rows, s, t, k, table, errors")
        return "\n".join(self.lines) + "\n"


def random_list_program(seed: int) -> str:
    """Give the source of a random function ``f`` with `PARAMETERS`."""
    return _ListWriter(seed).text()


def random_lists(seed: int, call: int) -> tuple[int, list[object], list[list[object]]]:
    """Give fresh arguments: the same kind of items for the first calls."""
    r = random.Random(1000 * seed + call)
    is_ordinary = call < 2
    number = _NUMBERS[0 if is_ordinary else call % len(_NUMBERS)]
    size = 5 if is_ordinary else r.choice([0, 1, 3, 9])
    given = [number(r) for _ in range(size)]
    rows = [[number(r) for _ in range(r.choice([3, size]))] for _ in range(r.randint(2, 4))]
    if not is_ordinary and r.random() < 0.4:
        rows[-1] = r.choice([rows[0], given])
    return 5 if is_ordinary else r.choice([0, 1, 3, 8]), given, rows
