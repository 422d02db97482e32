"""Random programs of hashes and random numbers: ints of 64 bits without a sign, and what leaves these.

`random_wide_program(seed)` gives the text of a function ``f(x, y, n, items)`` of two ints, a count and a list of ints,
`random_ints(seed, call)` its arguments. The same seed gives the same program everywhere.
"""

from __future__ import annotations

import random

from ljit.testing.random_programs import ProgramWriter

__all__ = ["random_ints", "random_wide_program"]

_EDGES = (0, 1, 2, 63, 64, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1)
_OUTSIDE = (-1, -(2**63), 2**64, 2**64 + 5, -(2**64), 2**130)
_MASKS = ("0xFFFFFFFFFFFFFFFF", "0xFFFFFFFF", "0x7FFFFFFFFFFFFFFF", "255", "0xFFFFFFFFFFFFFFF0")
_FACTORS = ("3", "0x9E3779B97F4A7C15", "0x100000001B3", "6364136223846793005", "-5", "2**63")
_VARIABLES = ("x", "y", "z")


class _WideWriter(ProgramWriter):
    """Statements on three variables, most of which keep them in [0, 2**64)."""

    def leaf(self) -> str:
        r = self.random
        return r.choice([*_VARIABLES, *_VARIABLES, "i", "items[i % 4]", str(r.choice(_EDGES))])

    def wrapping(self, depth: int = 0) -> str:
        """A number of any size, of which the low bits are kept."""
        r = self.random
        if depth > 2 or r.random() < 0.2:
            return self.leaf()
        a, b = self.wrapping(depth + 1), self.wrapping(depth + 1)
        return r.choice(
            [
                *(f"({a} + {b})", f"({a} - {b})", f"({a} * {r.choice(_FACTORS)})", f"({a} * {b})"),
                *(f"({a} ^ {b})", f"({a} | {b})", f"({a} & {b})", f"(~{a})", f"(-{a})"),
                *(f"({self.leaf()} >> {r.randint(0, 65)})", f"({a} << {r.randint(0, 65)})"),
                f"({a} << ({b} & 63))",
            ]
        )

    def kept(self) -> str:
        """A number in [0, 2**64)."""
        r = self.random
        whole = self.wrapping()
        return r.choice(
            [
                f"{whole} & {r.choice(_MASKS)}",
                f"{whole} & {_MASKS[0]}",
                f"{whole} % {r.choice(('2**64', '(1 << 63)', '1000', '2**32'))}",
                self.leaf(),
            ]
        )

    def condition(self) -> str:
        r = self.random
        sign = r.choice(("<", "<=", "==", "!=", ">", ">="))
        return r.choice([f"{self.leaf()} {sign} {self.leaf()}", self.leaf(), f"{self.leaf()} & 1"])

    def statement(self, indent: int, in_loop: bool, depth: int) -> None:
        r, v = self.random, self.random.choice(_VARIABLES)
        kind = r.randint(0, 12)
        if kind <= 4:
            self.put(indent, f"{v} = {self.kept()}")
        elif kind == 5:
            self.put(indent, f"{v} ^= {self.kept()}")
        elif kind == 6:
            sign = r.choice(("+=", "-=", "|=", "&=", "*=", ">>= 7 +"))
            self.put(indent, f"{v} {sign} {self.leaf() if sign[0] != '>' else '0'}")
        elif kind == 7:
            self.put(indent, f"{v} = {self.leaf()} {r.choice(('//', '%'))} ({self.leaf()} | 1)")
        elif kind == 8:
            self.put(indent, f"items[{r.randint(0, 3)}] = {self.kept()}")
        elif kind == 9:
            self.put(indent, f"s += ({v} >> 11) * (1.0 / (1 << 53)) + {v} % 7")
        elif kind == 10 and in_loop:
            self.put(indent, f"if {self.condition()}: {r.choice(('break', 'continue'))}")
        elif depth < 2:
            self.put(indent, f"if {self.condition()}:")
            self.block(indent + 1, in_loop, depth + 1)
            if r.random() < 0.5:
                self.put(indent, "else:")
                self.block(indent + 1, in_loop, depth + 1)
        else:
            self.put(indent, f"{v} = {self.kept()}")


def random_wide_program(seed: int) -> str:
    """Give the text of ``f(x, y, n, items)``."""
    w = _WideWriter(seed)
    w.put(0, "def f(x, y, n, items):")
    w.put(1, f"z, s, i = {w.random.choice(_EDGES)}, 0.0, 0")
    w.block(1, False, 0)
    w.put(1, "for i in range(n):")
    for _ in range(3):
        w.statement(2, True, 0)
    # what grows without end costs time
    w.put(2, "x, y, z = (v if -(2**70) < v < 2**70 else v & 0xFFFFFFFFFFFFFFFF for v in (x, y, z))")
    w.put(1, "return x, y, z, s, i")
    return "\n".join(w.lines) + "\n"


def random_ints(seed: int, call: int) -> tuple[int, int, int, list[int]]:
    """Give arguments; those of a `call` above 2 may be outside of [0, 2**64)."""
    r = random.Random(seed * 100 + call)

    def number() -> int:
        if call > 2 and r.random() < 0.4:
            return r.choice(_OUTSIDE)
        return r.choice(_EDGES) if r.random() < 0.5 else r.getrandbits(r.choice((8, 63, 64)))

    return number(), number(), r.choice((0, 1, 7, 30)), [number() for _ in range(4)]
