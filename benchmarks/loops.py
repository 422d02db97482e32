"""Loop programs in native code against the same loops in C, Numba and CPython.

    python benchmarks/loops.py                          # all programs, about two minutes
    python benchmarks/loops.py --only matmul --rounds 5
    python benchmarks/loops.py --calls                  # recursive functions instead, without targets
    python benchmarks/loops.py --report docs/benchmarks.md --json loops.json

Every result is compared with CPython's before anything is timed. C, ljit and Numba take turns within a round; times are
CPU time; a ratio is the median of the ratios of the rounds. CPython runs once on the same input. The time
to compile is all that happens in the first calls of a new function on a small input, until it is native.

Exits with status 1 if a target is missed or a result is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from loop_programs import CALLS, PROGRAMS, CLibrary, Program
from loops_report import Missed, markdown, targets_missed, text, write_region
from pairing import copies, settle

import ljit
from ljit import config

C_FLAGS = ("-O3", "-march=native", "-ffp-contract=off")
WARM_CALLS = 4
SHORTEST = 5e-3  # seconds of CPU time that one measurement should take at least


@dataclass
class Result:
    """What was measured of one program; times in seconds, None where there is nothing."""

    name: str
    times: dict[str, float] = field(default_factory=dict)  # "c", "ljit", "numba", "cpython"
    to_c: float | None = None  # ljit / C
    to_numba: float | None = None  # ljit / Numba
    compile_ljit: float | None = None  # until it is native
    optimised_ljit: float | None = None  # until it is optimised
    compile_numba: float | None = None
    notes: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@contextlib.contextmanager
def c_library() -> Iterator[CLibrary]:
    """Compile loops.c for this machine."""
    source = Path(__file__).with_name("loops.c")
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "loops.so")
        command = ["gcc", *C_FLAGS, "-shared", "-fPIC", "-o", target, str(source), "-lm"]
        subprocess.run(command, check=True)
        yield CLibrary(target)


def load_numba() -> Any:
    """Give the module, or None where it is not installed."""
    try:
        return importlib.import_module("numba")
    except ImportError:
        return None


def measure_program(program: Program, library: CLibrary, numba: Any, args: Any) -> Result:
    result = Result(program.name)
    peers: dict[str, Callable[..., Any]] = {
        "c": lambda *a: program.in_c(library, *a),
        "ljit": program.compiled(ljit.jit),
    }
    measure_compile_times(result, program, numba, args.compile_rounds)
    if result.compile_numba is not None:
        peers["numba"] = program.compiled(numba.njit)
    check_results(result, program, peers)
    settle(peers["ljit"], lambda: peers["ljit"](*program.large()))
    for info in peers["ljit"].specializations:
        if info.state != "native":
            result.notes.append(f"ljit: {info.state}")
        if info.compiles > 1 or info.bailouts:
            result.notes.append(f"ljit: {info.compiles} compiles, {info.bailouts} bailouts")
    if not result.wrong:
        measure_times(result, program, peers, args.rounds)
    return result


# -- compiling -------------------------------------------------------------------------------------


def compile_ljit(program: Program, **settings: int) -> float:
    taken = 0.0
    with config.overridden(cold_calls=False, **settings):  # no compile has to be earned
        function = program.compiled(ljit.jit)
        while not any(info.calls for info in function.specializations):
            taken += timed(function, program.small())
    return taken


def compile_numba(program: Program, numba: Any) -> float:
    return timed(program.compiled(numba.njit), program.small())


def measure_compile_times(result: Result, program: Program, numba: Any, rounds: int) -> None:
    ours, optimised, theirs = [], [], []
    for _ in range(rounds):
        ours.append(compile_ljit(program))
        optimised.append(compile_ljit(program, quick_runs=0))
        if numba is None:
            continue
        try:
            theirs.append(compile_numba(program, numba))
        except Exception as error:
            result.notes.append(f"Numba refuses it: {type(error).__name__}")
            break
    result.compile_ljit = min(ours)
    result.optimised_ljit = min(optimised)
    result.compile_numba = min(theirs) if theirs else None


# -- results ---------------------------------------------------------------------------------------


def check_results(result: Result, program: Program, peers: dict[str, Callable[..., Any]]) -> None:
    """Compare results and changed arguments with CPython's; ljit's types too, and in each of its first calls."""
    expected_args = program.large()
    start = time.process_time()
    expected = program.function(*expected_args)
    result.times["cpython"] = time.process_time() - start
    for name, peer in peers.items():
        for _ in range(WARM_CALLS):
            args = program.large()
            given = peer(*args)
            same_type = type(given) is type(expected) or name != "ljit"
            equal = all(map(same, (given, *args), (expected, *expected_args)))
            if not (same_type and equal):
                result.wrong.append(f"{name} gives another result than CPython")
                break


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b)
    return a == b


# -- times -----------------------------------------------------------------------------------------


def timed(function: Callable[..., Any], args: tuple[Any, ...]) -> float:
    start = time.process_time()  # not the time that other processes take
    function(*args)
    return time.process_time() - start


def measure_times(
    result: Result, program: Program, peers: dict[str, Callable[..., Any]], rounds: int
) -> None:
    original = program.large()
    calls = max(1, round(SHORTEST / max(timed(peers["c"], copies(original)), 1e-6)))
    taken: dict[str, list[float]] = {name: [] for name in peers}
    names = list(peers)
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            inputs = [copies(original) for _ in range(calls)]
            taken[name].append(sum(timed(peers[name], args) for args in inputs) / calls)
    result.times |= {name: statistics.median(times) for name, times in taken.items()}
    result.to_c = median_ratio(taken["ljit"], taken["c"])
    if "numba" in taken:
        result.to_numba = median_ratio(taken["ljit"], taken["numba"])


def median_ratio(first: list[float], second: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(first, second))


# -- the whole -------------------------------------------------------------------------------------


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", action="append", help="a part of a program's name; may be repeated"
    )
    parser.add_argument("--calls", action="store_true", help="time recursive functions instead")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--compile-rounds", type=int, default=2)
    parser.add_argument("--no-numba", action="store_true", help="do not measure Numba")
    parser.add_argument("--json", type=Path, help="write the figures into this file")
    parser.add_argument("--report", type=Path, help="write the table into this Markdown file")
    return parser.parse_args()


def main() -> int:
    args = parse_arguments()
    warnings.simplefilter("ignore")
    numba = None if args.no_numba else load_numba()
    if numba is None:
        print(
            "Numba: skipped, it is not installed (pip install 'ljit[bench]') or --no-numba was said"
        )
    programs = CALLS if args.calls else PROGRAMS
    chosen = [p for p in programs if not args.only or any(part in p.name for part in args.only)]
    results = []
    with c_library() as library:
        warm_up(numba)
        gc.disable()
        for program in chosen:
            results.append(measure_program(program, library, numba, args))
            gc.collect()
            print(f"{program.name} done", file=sys.stderr)
    missed: list[Missed] = targets_missed(results) if not args.calls else []
    print(text(results, missed))
    if args.json:
        args.json.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n")
    if args.report:
        versions = {"numba": numba.__version__} if numba is not None else {}
        write_region(args.report, markdown(results, missed, versions, C_FLAGS))
    return 1 if missed else 0


def warm_up(numba: Any) -> None:
    """Load both compilers, so that the first program does not pay for that."""
    compile_ljit(PROGRAMS[0])
    if numba is not None:
        compile_numba(PROGRAMS[0], numba)


if __name__ == "__main__":
    sys.exit(main())
