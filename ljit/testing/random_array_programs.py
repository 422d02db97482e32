"""Random array programs as source text: what the fuzzer runs through NumPy and through ljit.

`random_array_program(seed)` gives the text of a function ``f`` with `PARAMETERS`;
`random_array_arguments(seed, call)` gives arguments for it: the first calls have the sizes that the
program was written with, later ones odd sizes, layouts and values. The writer runs what it has written
on sample arguments as it goes, so that most statements are valid; some raise.

Even seeds are exact: only ops whose results NumPy defines to the bit. Odd seeds have sums of floats and
transcendental functions, and nothing that makes much of a rounding error (no floors, no comparisons).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from ljit.testing.random_array_expressions import ExpressionWriter, InvalidError
from ljit.testing.random_arrays import PARAMETERS, is_exact, random_array_arguments
from ljit.testing.random_programs import make_function

__all__ = [
    "PARAMETERS",
    "is_exact",
    "make_array_function",
    "random_array_arguments",
    "random_array_program",
]

_HELPERS = """
def blend(p, r, k=0.5):
    return p * k + r * (1 - k)

def shifted(p):
    return p[1:] - p[:-1]

def bump(p, r):
    p += r
    return p
"""

# templates of statements; {0} and {1} are arrays, {2} is a new name
_PUTS = """
np.put({0}, u % {0}.size, x) | {0}.put(u % {0}.size, u) | {0}[..., u % {0}.shape[-1]] = x |
{0}[..., u % {0}.shape[-1]] = {0}[..., :len(u)] * 2 | {0}[..., u % {0}.shape[-1]] += u |
np.putmask({0}, {0} > 0, x) | np.putmask({0}, {0} > 0, {0} * 2) | np.copyto({0}, {1}, where={0} != 0)
"""
_OTHER = """
{0}, {1} = {1}, {0} | {2} = {0} | {2} = bump({0}, 1) | {2} = bump({0}, {1}) | {2} = {0}.T | {2} =
{0}[None] | {0}.fill(0) | {0}.fill(x) | {2} = {0}.reshape(-1) | {0}[...] = {1} | {2} = {0}[:, :, None]
"""


class _ProgramWriter:
    """Writes a function of random statements."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.parts = ExpressionWriter(self.random, exact=is_exact(seed))
        self.lines: list[str] = []
        self.names = 0
        self.start()

    def start(self) -> None:
        """Run what is written so far."""
        arguments = zip(PARAMETERS, random_array_arguments(self.seed), strict=True)
        self.parts.env = {"np": np, **dict(arguments)}
        exec(_HELPERS, self.parts.env)
        self.parts.run("\n".join(self.lines))

    def assignment(self) -> str:
        text = self.parts.expression()
        if self.random.random() < 0.3:
            name = self.parts.array_name()
            if name in PARAMETERS and self.random.random() < 0.5:
                name = self.new_name()
            return f"{name} = {text}"
        return f"{self.new_name()} = {text}"

    def new_name(self) -> str:
        self.names += 1
        return f"w{self.names}"

    def update(self) -> str:
        target = self.parts.array_name(lambda v: v.flags.writeable)
        ops = "+= -= *= += -= *= /= //= %= &= |= **=" if self.parts.exact else "+= -= *="
        if self.random.random() < 0.4:
            target += f"[{self.parts.index(self.parts.env[target])}]"
        op, value = self.random.choice(ops.split()), self.parts.expression(1)
        if op == "**=":  # NumPy stores anything where an exponent of ints is negative, and raises
            value = f"2 + ({value} != 0)"
        return f"{target} {op} {value}"

    def store(self) -> str:
        r = self.random
        target = self.parts.array_name(lambda v: v.flags.writeable)
        value = self.parts.env[target]
        if self.parts.exact and r.random() < 0.15:
            return self.parts.fill(_PUTS, target, self.parts.expression(1))
        if r.random() < 0.3 and self.parts.exact:
            mask = r.choice(
                [f"{target} > {r.choice(['0', '0.5', 'x', 'q'])}", "m", f"{target} != {target}"]
            )
            return f"{target}[{mask}] {r.choice(['=', '=', '+=', '*='])} {r.choice(['0', '1', 'x', 'q', '-1.5'])}"
        if r.random() < 0.15 and self.parts.exact:
            return f"{target}[[0, -1]] {r.choice(['=', '+='])} {r.choice(['1', 'q', f'{target}[[-1, 0]]'])}"
        source = (
            f"{target}[{self.parts.index(value)}]"
            if r.random() < 0.35
            else self.parts.expression(1)
        )
        op = r.choice(["+", "-", "*"])
        source = r.choice(
            [
                source,
                f"{source} {op} {self.parts.leaf()}",
                f"{source} {op} {target}[{self.parts.index(value)}]",
            ]
        )
        return f"{target}[{self.parts.index(value)}] = {source}"

    def into(self) -> str:
        target = self.parts.array_name(lambda v: v.flags.writeable)
        p, q = self.parts.expression(1), self.parts.expression(1)
        name = self.random.choice(["add", "subtract", "multiply", "maximum"])
        where = self.random.choice([f"out={target}", f"out={target}", target])
        return self.random.choice(
            [
                f"np.{name}({p}, {q}, {where})",
                f"{self.new_name()} = np.{name}({p}, {q}, {where})",
                f"np.copyto({target}, {p})",
            ]
        )

    def other(self) -> str:
        first = self.parts.array_name()
        if self.random.random() < 0.3:
            return f"{self.new_name()} = {first}[{self.parts.index(self.parts.env[first])}]"
        return self.parts.fill(_OTHER, first, self.parts.array_name(), self.new_name())

    def simple(self) -> list[str]:
        """A statement that runs on the sample arguments, and its effects on `env`."""
        for _ in range(8):
            writers = (
                self.assignment,
                self.assignment,
                self.update,
                self.update,
                self.store,
                self.store,
                self.into,
                self.other,
            )
            try:
                text = self.random.choice(writers)()
                self.parts.run(text)
            except InvalidError:
                continue
            return [text]
        return ["pass"]

    def block(self, depth: int) -> list[str]:
        return [line for _ in range(self.random.randint(1, 3)) for line in self.statement(depth)]

    def statement(self, depth: int = 0) -> list[str]:
        kind = self.random.random()
        if kind < 0.75 or depth > 1:
            return self.simple()
        if kind < 0.9:
            return self.loop(depth)
        return self.condition(depth)

    def loop(self, depth: int) -> list[str]:
        r = self.random
        heads = [
            f"for k in range({r.randint(0, 4)}):",
            "for k in range(a.shape[0]):",
            "for row in a:",
            "for k in range(1, len(u) - 1):",
        ]
        self.parts.env["k"] = 1
        self.parts.env["row"] = (
            self.parts.env["a"][0]
            if getattr(self.parts.env["a"], "ndim", 0) > 1 and len(self.parts.env["a"])
            else self.parts.env["b"]
        )
        body = self.block(depth + 1)
        if r.random() < 0.3 and depth == 0:
            body.append(
                r.choice(
                    [
                        "a[k] = a[k] * 2",
                        "u[k] += k",
                        "b[:k] = k",
                        "x = a[k, 0] + x",
                        "q = q + u[k]",
                        "a[k] += b",
                    ]
                )
            )
        return [r.choice(heads), *("    " + line for line in body)]

    def condition(self, depth: int) -> list[str]:
        heads = [
            "i > 0",
            "x < 1.0",
            "a.shape[0] > 3",
            "len(b) % 2 == 0",
            "a.size",
            "m.any()",
            "i",
            "u[0] > 0",
            "a is not b",
        ]
        head = f"if {self.random.choice(heads)}:"
        lines = [head, *("    " + line for line in self.block(depth + 1))]
        if self.random.random() < 0.5:
            lines += ["else:", *("    " + line for line in self.block(depth + 1))]
        return lines

    def text(self) -> str:
        """Write the whole function; one program in ten may end with a statement that raises."""
        for _ in range(self.random.randint(2, 7)):
            written = self.lines
            self.lines = [*written, *self.statement()]
            if not self.is_valid():
                self.lines = written
                self.start()
        if self.random.random() < 0.1:
            self.lines.append(
                self.random.choice(
                    [
                        "a[:, 0] = t",
                        "a += t",
                        "u += x",
                        "a[99]",
                        "a + b[:-1]",
                        "a.shape = 3",
                        "m += 1.5",
                    ]
                )
            )
        names = [
            n
            for n in (*PARAMETERS, *(f"w{k + 1}" for k in range(self.names)))
            if n in self.parts.env
        ]
        body = [f"    {line}" for line in (*self.lines, f"return {', '.join(names)}")]
        return "\n".join([_HELPERS, f"def f({', '.join(PARAMETERS)}):", *body, ""])

    def is_valid(self) -> bool:
        try:
            self.start()
        except InvalidError:
            return False
        return True


def random_array_program(seed: int) -> str:
    """Give the source of a random function ``f`` with `PARAMETERS`."""
    return _ProgramWriter(seed).text()


def make_array_function(seed: int) -> Callable[..., Any]:
    """Compile the program of this seed."""
    return make_function(random_array_program(seed), f"arrays{seed}")
