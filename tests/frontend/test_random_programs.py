"""Random programs: nested control flow, functions, comprehensions, names that may be unbound."""

from __future__ import annotations

import pytest

from ljit.errors import UnsupportedSyntaxError
from ljit.testing.random_programs import ProgramWriter
from tests.frontend.harness import check

NAMES = ["a", "b", "c", "d"]


class Writer(ProgramWriter):
    """What Python's statements can be nested into."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.functions: list[tuple[str, int]] = []

    def name(self) -> str:
        return self.random.choice(NAMES)

    def expression(self, depth: int = 0) -> str:
        r = self.random
        if depth > 2 or r.random() < 0.3:
            return r.choice([self.name(), self.name(), str(r.randint(-2, 4))])
        x, y, z = (self.expression(depth + 1) for _ in range(3))
        kinds = [
            f"({x} {r.choice('+ - * // %'.split())} {y})",
            f"({x} {r.choice('< <= == != >'.split())} {y})",
            f"({x} < {y} <= {z})",
            f"({x} {r.choice(['and', 'or'])} {y} {r.choice(['and', 'or'])} {z})",
            f"({x} if {y} else {z})",
            f"(not {x})",
            f"log({x}, {y})",
            f"({self.name()} := {x})",
            f"sum([{x} + e for e in range({r.randint(0, 4)}) if {y} or e])",
            f"len({{i: {x} for i in range(3) for j in range(i) if {y}}})",
        ]
        if self.functions:
            name, count = r.choice(self.functions)
            kinds.append(f"{name}({', '.join([x, y][:count])})")
        return r.choice(kinds)

    def statement(self, indent: int, in_loop: bool, depth: int) -> None:
        r = self.random
        kind = r.random()
        if kind < 0.35 or depth > 3:
            operator = r.choice(["=", "=", "+=", "-=", "*="])
            self.put(indent, f"{self.name()} {operator} {self.expression()}")
        elif kind < 0.4:
            self.put(indent, f"{self.name()}, *{self.name()} = [{self.expression()}]")
            self.put(indent, f"{self.name()} = 0")
        elif kind < 0.43:
            self.put(indent, f"del {self.name()}")
        elif kind < 0.46:
            self.put(indent, f"return {self.expression()}")
        elif kind < 0.5:
            self.put(indent, f"assert {self.expression()}, {self.expression()}")
        elif kind < 0.55 and in_loop:
            self.put(indent, r.choice(["break", "continue"]))
        elif kind < 0.6 and indent < 3:
            self.function(indent, depth)
        else:
            self.compound(indent, in_loop, depth)

    def compound(self, indent: int, in_loop: bool, depth: int) -> None:
        r = self.random
        head = r.choice(["if", "if", "for", "while"])
        if head == "if":
            self.put(indent, f"if {self.expression()}:")
        elif head == "for":
            self.put(indent, f"for {self.name()} in range({r.randint(0, 4)}):")
        else:
            fuel = self.new_name("fuel")
            self.put(indent, f"{fuel} = 0")
            self.put(indent, f"while ({fuel} := {fuel} + 1) < 5 and {self.expression()}:")
        known = list(self.functions)
        self.block(indent + 1, in_loop or head != "if", depth + 1)
        self.functions = list(known)
        if r.random() < 0.4:
            self.put(indent, "else:")
            self.block(indent + 1, in_loop, depth + 1)
            self.functions = known

    def function(self, indent: int, depth: int) -> None:
        name, count = self.new_name("g"), self.random.randint(0, 2)
        params = self.random.sample(NAMES, count)
        self.put(indent, f"def {name}({', '.join(params)}):")
        self.block(indent + 1, in_loop=False, depth=depth + 1)
        self.functions = [f for f in self.functions if f[0] != name]
        self.functions.append((name, count))

    def text(self) -> str:
        self.put(0, "def f(a, b):")
        self.block(1, in_loop=False, depth=0)
        self.block(1, in_loop=False, depth=0)
        self.put(1, f"return {self.expression()}, {self.expression()}")
        return "\n".join(self.lines) + "\n"


def log(*values):
    print(*values)
    return values[0]


def is_like_cpython(seed: int) -> bool:
    """Check one program; False if the frontend refuses it."""
    text = Writer(seed).text()
    try:
        check(text, (0, 1), (3, -2), (2, 2), log=log)
    except UnsupportedSyntaxError:
        return False
    return True


@pytest.mark.parametrize("seed", range(10))
def test_random_programs_do_what_they_do_in_cpython(seed):
    translated = [is_like_cpython(number) for number in range(seed * 10, seed * 10 + 10)]
    assert sum(translated) >= 5
