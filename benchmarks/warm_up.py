"""When quick code is to be left: the time of a function's first calls, by how much quick code may run before.

    python benchmarks/warm_up.py              # all programs, some minutes
    python benchmarks/warm_up.py --only lu

Programs of loops.py and arrays.py run on small arguments, calls of microseconds to a millisecond, until they are
optimised; once more with code that is optimised at once. What each call took gives the CPU time of the first calls
for any other rule: quick code that may run twice as much is left after twice as many calls. Printed are geometric
means of these times over those of the rule as it is, and for each program what it is made of.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_programs import PROGRAMS as ARRAY_PROGRAMS
from array_programs import rebound
from loop_programs import PROGRAMS as LOOP_PROGRAMS
from pairing import copies

import ljit
from ljit import config

CALLS = (3, 10, 30, 100, 300, 1000, 3000, 10_000)
RULES = (2.0, 1.0, 0.5, 0.25, 0.125, 0.0)  # times as much as now; 0: optimised at once
SIZES = (200, 3000)  # elements of array programs
_RANDOM = np.random.default_rng(0)
_DRAW = _RANDOM.random
_MATRIX = _DRAW((24, 24)) + 24 * np.eye(24)
LOOP_ARGUMENTS = {
    "matmul": (_MATRIX, _MATRIX),
    "jacobi_1d": (_DRAW(400), 20),
    "jacobi_2d": (_MATRIX, 10),
    "seidel": (_MATRIX, 10),
    "lu": (_MATRIX,),
    "cholesky": (_MATRIX + _MATRIX.T,),
    "floyd_warshall": (_MATRIX,),
    "conv2d": (_MATRIX, _DRAW((3, 3))),
    "prefix_sum": (_DRAW(10_000),),
    "horner": (_DRAW(8), _DRAW(1000)),
}
MOST_CALLS, MOST_SECONDS = 3000, 2.0
OPTIMISED_CALLS = 40

Make = Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """CPU seconds of one program."""

    name: str
    first: float  # until quick code is there
    calls_before: int
    quick: float  # a call
    quick_calls: int
    optimising: float
    optimised: float  # a call
    at_once: float  # until optimised code is there, if it is made at once

    def total(self, calls: int, rule: float) -> float:
        """The time of the first calls, if quick code may run `rule` times as much."""
        calls -= self.calls_before
        if not rule:
            return self.at_once + calls * self.optimised
        left = math.ceil(self.quick_calls * rule)
        if calls <= left:
            return self.first + calls * self.quick
        return self.first + left * self.quick + self.optimising + (calls - left) * self.optimised

    def __str__(self) -> str:
        return (
            f"{self.name:28} quick code in {1e3 * self.first:6.1f} ms, {self.quick_calls:5} calls of "
            f"{1e6 * self.quick:7.1f} us; optimising {1e3 * self.optimising:6.1f} ms, "
            f"then {1e6 * self.optimised:7.1f} us"
        )


def programs() -> Iterator[tuple[str, Make, tuple[Any, ...]]]:
    """Names, makers of fresh functions, arguments."""
    for program in LOOP_PROGRAMS:
        make = lambda program=program: program.compiled(ljit.jit)  # noqa: E731
        if program.name in LOOP_ARGUMENTS:
            yield program.name, make, LOOP_ARGUMENTS[program.name]
    for program in ARRAY_PROGRAMS:
        make = lambda program=program: rebound(program.function, ljit.jit, {})  # noqa: E731
        for size in SIZES:
            yield f"{program.name}, {size}", make, program.make(size)


def times_of_calls(make: Make, args: tuple[Any, ...]) -> tuple[list[float], str]:
    """CPU seconds of each call, and what the function was before it: not native, quick or optimised."""
    function = make()
    taken: list[float] = []
    states = ""
    end = time.process_time() + MOST_SECONDS
    while len(taken) < MOST_CALLS and time.process_time() < end:
        native = [info for info in function.specializations if info.state.startswith("native")]
        states += "-" if not native else "q" if any(info.is_quick for info in native) else "o"
        if states.count("o") > OPTIMISED_CALLS:
            break
        given = copies(args)
        start = time.process_time()
        function(*given)
        taken.append(time.process_time() - start)
    return taken, states[: len(taken)]


def measured(name: str, make: Make, args: tuple[Any, ...]) -> Measured | None:
    """Measure one program; None if it was not optimised in time."""
    taken, states = times_of_calls(make, args)
    with config.overridden(quick_runs=0):
        at_once, states_at_once = times_of_calls(make, args)
    first, last = states.find("q"), states.rfind("q")
    if first < 0 or "o" not in states or states_at_once.count("o") < 2:
        return None
    optimised = statistics.median(at_once[states_at_once.find("o") :])
    return Measured(
        name,
        sum(taken[:first]),
        first,
        statistics.median(taken[first:last] or taken[first : last + 1]),
        last - first,
        max(taken[last] - optimised, 0.0),
        optimised,
        sum(at_once[: states_at_once.find("o")]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="a part of a program's name")
    options = parser.parse_args()
    chosen = [p for p in programs() if options.only in p[0]]
    for _, make, args in chosen[:1]:
        times_of_calls(make, args)  # loads the compiler
    found = [m for m in (measured(*program) for program in chosen) if m is not None]
    print(*found, sep="\n")
    print(f"{'calls':>6}" + "".join(f"{rule:>8}" for rule in RULES))
    for calls in CALLS:
        logs = [
            [math.log(m.total(calls, rule) / m.total(calls, 1.0)) for m in found] for rule in RULES
        ]
        means = [math.exp(statistics.fmean(column)) for column in logs]
        print(f"{calls:6}" + "".join(f"{mean:8.2f}" for mean in means))


if __name__ == "__main__":
    main()
