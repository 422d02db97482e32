"""Programs replace builtins: before a function is translated, before it is compiled, and while it runs."""

from __future__ import annotations

import builtins
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ljit
from ljit.cpython import isolation

REPLACEMENTS: dict[str, Any] = {
    "len": lambda _: 2,
    "isinstance": lambda *_: True,
    "tuple": lambda *_: "tuple",
    "int": lambda *_: 99,
    "str": lambda *_: "text",
    "next": lambda *_: 5,
    "super": lambda *_: None,
    "range": lambda *_: (0, 1),
    "KeyError": IndexError,
    "all": lambda *_: True,
    "map": lambda *_: (),
}
ORIGINALS = {name: getattr(builtins, name) for name in REPLACEMENTS}
DURING = "during the call"


def replace(name: str) -> None:
    setattr(builtins, name, REPLACEMENTS[name])


def run(fn: Callable[..., Any], name: str, when: object) -> list[Any]:
    """Call four times; builtins are as always when this returns."""
    results = []
    for k in ORIGINALS["range"](4):
        xs, array = [1, 2, 3, 4, 5, 6], np.arange(6.0)
        try:
            if k == when:
                replace(name)
            result = fn(xs, array, 6, name if when == DURING and k == 2 else None)
        except Exception as error:
            result = error
        finally:
            for original in ORIGINALS:
                setattr(builtins, original, ORIGINALS[original])
        results.append((type(result), str(result), xs))
    return results


def make() -> Callable[..., Any]:
    def mixed(xs: list[int], array: Any, n: int, name: str | None) -> Any:
        total = 0
        for i in range(n):
            total += xs[i] * len(xs)
            if i == 2 and name:
                replace(name)
            total += int(array[i]) if isinstance(total, int) else 1
        return total, (array * 2 + n).max(), [x for x in xs if x < len(xs)]

    return mixed


@pytest.mark.parametrize("when", [0, 1, 2, DURING])
@pytest.mark.parametrize("name", REPLACEMENTS)
def test_builtins_are_replaced_for_the_program_and_not_for_ljit(name: str, when: object) -> None:
    assert run(ljit.jit(make()), name, when) == run(make(), name, when)


def test_functions_are_compiled_when_builtins_are_back() -> None:
    mixed: Any = ljit.jit(make())
    run(mixed, "len", 0)
    assert mixed.specializations


def test_functions_that_print_or_import_in_other_ways_are_no_reason_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("print", "open", "input"):
        monkeypatch.setattr(builtins, name, lambda *_: None)
    monkeypatch.setattr(builtins, "a_name_of_its_own", 1, raising=False)
    for name in ("exit", "quit"):  # IPython's shells have none
        monkeypatch.delattr(builtins, name, raising=False)
    assert not isolation.are_builtins_replaced()
    monkeypatch.delattr(builtins, "callable")
    assert isolation.are_builtins_replaced()


FIRST_CALL = """
import builtins
import ljit

@ljit.jit
def total(xs):
    result = 0
    for x in xs:
        result += x * 2
    return result

original = builtins.isinstance
for k in range(4):
    if k == 0:
        builtins.isinstance = lambda *_: True
    try:
        result = total([1, 2, 3])
    finally:
        builtins.isinstance = original
    print(result)
"""

OWN_KEY = """
import builtins
import ljit

@ljit.jit
def note(log, name):
    log.append(name)

class Name:
    def __hash__(self):
        return hash("iter")
    def __eq__(self, other):
        note(asked, other)
        return other == "iter"

asked, name = [], Name()
vars(builtins)[name] = vars(builtins).pop("iter")
note([], 1)
print(asked)
original = vars(builtins).pop(name)
builtins.iter = original
"""


@pytest.mark.parametrize(
    ("program", "output"), [(FIRST_CALL, "12\n" * 4), (OWN_KEY, "[]\n")], ids=["first", "own key"]
)
def test_calls_of_a_process_may_come_while_builtins_are_others(program: str, output: str) -> None:
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, output, "")
