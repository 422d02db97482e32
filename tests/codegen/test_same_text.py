"""The IR of a function is the same in all processes but for addresses, whatever hashes and addresses are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import ljit
from tests.object_files import without_addresses

ROOT = Path(__file__).parents[2]
#: an address in the lower memory, where an interpreter that is not position-independent has some, or what stands for
#: another one: some of these are in the order of the addresses
_ADDRESS = re.compile(r"inttoptr (\(?i64) (\d{6,11}|\d{19}) to ptr")
_TYPE_VERSION = re.compile(r"(i32 %version), \d+")  # how many classes there were before

_scale = 1


class Slots:
    __slots__ = ("size", "width")

    def __init__(self) -> None:
        self.size = self.width = 2

    def area(self, k: int) -> int:
        return self.size * self.width + k

    def widest(self, *others: int) -> int:
        return max(self.width, *others)


class Values:
    def __init__(self) -> None:
        self.size = 3


def reads_and_writes(first: Any, second: Any, n: int) -> int:
    total = 0
    for k in range(n):
        first.size, first.width = second.size, k
        second.size = first.size + 1
        total += first.area(k) - first.widest(k, 1)
    return total


def changing_variables() -> Any:
    counted = 0

    def count() -> None:
        global _scale
        nonlocal counted
        _scale = counted = counted + 1

    def sum_of_counts(n: int) -> int:
        total = 0
        for _ in range(n):
            count()
            total += _scale + counted
        return total

    return sum_of_counts


@ljit.jit
def falls(n: int, x: float) -> float:
    return x if n < 1 else falls(n - 1, x * 0.5) + 1.0


def calls_another(n: int, x: float) -> float:
    total = 0.0
    for k in range(n):
        total += falls(k, x)
    return total


def looks_up(names: list[str], table: dict[str, int], n: int) -> tuple[int, set[str]]:
    total, seen = 0, {"a", "b", "c"}
    for name in names:
        seen.add(name)
        total += table.get(name, n) if name in table else len(name)
    return total, seen


def adds_rows(a: np.ndarray, n: int) -> Any:
    b = np.zeros(a.shape)
    for i in range(n):
        b += np.exp(a) * a[i] + np.cumsum(a[i])[::-1]
    return b.sum(axis=0), np.sort(b), a.T @ b


CALLS: list[tuple[Any, Any]] = [
    (reads_and_writes, lambda: (Slots(), Values(), 5)),
    (changing_variables(), lambda: (3,)),
    (falls, lambda: (3, 1.5)),
    (calls_another, lambda: (4, 1.5)),
    (looks_up, lambda: (["a", "bc", "d"], {"a": 1, "d": 2}, 3)),
    (adds_rows, lambda: (np.ones((3, 3)), 3)),
]


def texts() -> str:
    """What is written of the functions, with numbers for addresses."""
    found = []
    for function, make in CALLS:
        native = ljit.jit(function)
        for _ in range(4):
            native(*make())
        text, _ = without_addresses(native.dump_llvm(*make()))
        found.append(_TYPE_VERSION.sub(r"\1, 0", _numbered(text)))
    return "\n".join(found)


def _numbered(text: str) -> str:
    """Put numbers for addresses, in the order in which they come."""
    numbers = {x: i for i, x in enumerate(dict.fromkeys(x for _, x in _ADDRESS.findall(text)))}
    return _ADDRESS.sub(lambda found: f"inttoptr {found[1]} {numbers[found[2]]} to ptr", text)


def test_code_differs_in_addresses_alone() -> None:
    imported = "from tests.codegen.test_same_text import texts; print(texts())"
    written = []
    for seed, first in (("1", ""), ("2", "import fractions, decimal, asyncio; ")):
        command = [sys.executable, "-c", first + imported]
        variables = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            command, cwd=ROOT, env=variables, capture_output=True, text=True, check=True
        )
        written.append(done.stdout.splitlines())
    for kind in ("get", "set", "call", "is.method", "global", "cell", "boxed_call"):
        assert any(f"@{kind}." in line for line in written[0]), kind
    differing = [pair for pair in zip(*written, strict=True) if pair[0] != pair[1]]
    assert not differing, differing[:3]
