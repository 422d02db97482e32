"""Long native loops: what looking for signals costs, and whether two threads take two cores.

    python benchmarks/long_loops.py            # both parts, three minutes
    python benchmarks/long_loops.py --only matmul --rounds 50
    python benchmarks/long_loops.py --only sieve --instructions    # counted, too, with valgrind; takes some minutes

Polls: the programs of loops.py, compiled with and without polls, take turns. Code without polls lies elsewhere in
memory, which alone makes programs with branches up to a half slower or faster. So both are compiled for several places;
a ratio is that of the medians of the shortest times at each.

Threads: one call in each of two threads that start together, of ljit's function and of a NumPy function that gives up
the GIL. The figure is CPU time over elapsed time: how many cores the threads had. Rounds of both take turns, so that
other processes take as much from one as from the other.

Exits with status 1 if the mean ratio of polls is above 1.02 or threads have less than 0.9 of the cores that NumPy's
have.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from instructions import Counter, run_counted
from loop_programs import PROGRAMS, Program
from pairing import copies, seconds, time_calls

import ljit
from ljit import config
from ljit.codegen.llvm import engine
from ljit.codegen.loops.polling import Polling
from ljit.codegen.loops.watches import Watch

MOST_OF_POLLS = 1.02
PLACES = (0, 16, 32, 48, 80, 144, 400)  # bytes in front of functions
LEAST_OF_CORES = 0.9
THREADS = 2
KINDS = ("polls", "none")


# -- polls -----------------------------------------------------------------------------------------


@contextmanager
def without_polls() -> Iterator[None]:
    """Compile loops as if none were long."""
    with mock.patch.object(Polling, "watch_of", return_value=Watch.NONE):
        yield


@contextmanager
def placed(offset: int) -> Iterator[None]:
    """Compile functions so that they begin so many bytes later."""
    parsed = engine._Host.parsed
    data = f" prefix [{offset} x i8] zeroinitializer {{" if offset else " {"

    def parsed_at_offset(host: Any, text: str) -> Any:
        return parsed(host, re.sub(r"(?m)^(define (?!internal).*) \{$", rf"\1{data}", text))

    with mock.patch.object(engine._Host, "parsed", parsed_at_offset):
        yield


def compiled(program: Program, offset: int = 0) -> Callable[..., Any]:
    function = program.compiled(ljit.jit)
    with config.overridden(quick_runs=0), placed(offset):
        for _ in range(3):  # until nothing is compiled any more
            function(*program.small())
            function(*program.large())
    assert any(info.state == "native" for info in function.specializations), program.name
    result: Callable[..., Any] = function
    return result


def cost_of_polls(program: Program, rounds: int) -> tuple[float, float]:
    """The shortest times of calls with and without polls, each the median of several places."""
    functions = [compiled(program, place) for place in PLACES]
    with without_polls():
        functions += [compiled(program, place) for place in PLACES]
    original = program.large()
    best = [math.inf] * len(functions)
    for _ in range(rounds):
        for which, function in enumerate(functions):
            args = copies(original)
            taken = time_calls(lambda function=function, args=args: function(*args), 1)  # type: ignore[misc]
            best[which] = min(best[which], taken)
    return statistics.median(best[: len(PLACES)]), statistics.median(best[len(PLACES) :])


def count_instructions(programs: list[Program]) -> None:
    """Count a call of each program with polls and one without; under valgrind, see `instructions.py`."""
    counter = Counter()
    for program in programs:
        functions = [compiled(program)]
        with without_polls():
            functions.append(compiled(program))
        for function, kind in zip(functions, KINDS, strict=True):
            args = program.large()
            counter(f"{program.name}.{kind}", lambda function=function, args=args: function(*args))


def ratios_of_instructions(programs: list[Program]) -> dict[str, float]:
    """Instructions with polls over those without, by program; nothing where valgrind is missing."""
    if shutil.which("valgrind") is None:
        return {}
    chosen = [part for program in programs for part in ("--only", program.name)]
    counts = run_counted([__file__, "--count", *chosen])
    pairs = {p.name: [counts[f"{p.name}.{kind}"] for kind in KINDS] for p in programs}
    return {name: first / second for name, (first, second) in pairs.items()}


def measure_polls(programs: list[Program], rounds: int, *, count: bool) -> bool:
    """Print a line for each program; whether the target is met."""
    counted = ratios_of_instructions(programs) if count else {}
    print("program                   polls     without     ratio  of instructions")
    ratios = []
    for program in programs:
        first, second = cost_of_polls(program, rounds)
        ratios.append(first / second)
        last = f"{counted[program.name]:8.3f}" if counted else "       -"
        line = f"{program.name:20} {seconds(first)} {seconds(second)} {first / second:8.2f} {last}"
        print(line, flush=True)
    mean = statistics.geometric_mean(ratios)
    last = f"{statistics.geometric_mean(counted.values()):8.3f}" if counted else "       -"
    print(
        f"{'geometric mean':43} {mean:8.3f} {last}, target: at most {MOST_OF_POLLS}\n", flush=True
    )
    return mean <= MOST_OF_POLLS


# -- threads ---------------------------------------------------------------------------------------


def inside(n, seed):
    """Points of a linear congruential generator in the unit circle."""
    found = 0
    for _ in range(n):
        seed = (1103515245 * seed + 12345) % 2147483648
        x = seed / 2147483648
        seed = (1103515245 * seed + 12345) % 2147483648
        y = seed / 2147483648
        if x * x + y * y <= 1.0:
            found += 1
    return found


def relax(a, times):
    """Means of neighbours, from the left to the right."""
    for _ in range(times):
        for i in range(1, len(a) - 1):
            a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
    return a[1]


def longest(n):
    """Collatz."""
    best = 0
    for start in range(1, n):
        x = start
        steps = 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        best = max(best, steps)
    return best


LOOPS: tuple[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]], ...] = (
    (inside, lambda: (20_000_000, 1)),
    (relax, lambda: (np.linspace(0.0, 1.0, 10_000) ** 2, 3000)),
    (longest, lambda: (1_000_000,)),
)


def cores(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> float:
    """CPU time over elapsed time of calls in threads that start together."""
    start = threading.Barrier(THREADS + 1)

    def call(args: tuple[Any, ...]) -> None:
        start.wait()
        function(*args)

    threads = [threading.Thread(target=call, args=(make(),)) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    start.wait()
    elapsed, taken = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.join()
    return (time.process_time() - taken) / (time.perf_counter() - elapsed)


def measure_threads(rounds: int) -> bool:
    """Print a line for each function; whether the target is met."""
    print(f"{THREADS} threads            ljit     NumPy   CPython     ratio to NumPy")
    is_met = True
    big = np.linspace(0.0, 1.0, 2_000_000)
    for function, make in LOOPS:
        native = ljit.jit(function)
        for _ in range(3):
            native(*make())
        found: list[tuple[float, float]] = []
        for _ in range(rounds):
            found.append((cores(native, make), cores(np.arctan, lambda: (np.tile(big, 4),))))
        ratio = statistics.median(ours / theirs for ours, theirs in found)
        ours, theirs = (statistics.median(column) for column in zip(*found, strict=True))
        plain = cores(function, lambda make=make: (make()[0] // 50, *make()[1:]))  # type: ignore[misc]
        print(f"{function.__name__:18} {ours:8.2f}  {theirs:8.2f}  {plain:8.2f}  {ratio:8.2f}")
        is_met &= ratio >= LEAST_OF_CORES
    print(f"target: at least {LEAST_OF_CORES} of NumPy's cores")
    return is_met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", help="a part of a program's name")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--instructions", action="store_true", help="count them, too")
    parser.add_argument("--count", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    chosen = [p for p in PROGRAMS if not args.only or any(part in p.name for part in args.only)]
    if args.count:
        count_instructions(chosen)
        return 0
    is_met = measure_polls(chosen, args.rounds, count=args.instructions)
    is_met &= measure_threads(max(args.rounds // 4, 1))
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
