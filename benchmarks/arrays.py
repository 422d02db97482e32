"""Array programs in native code against NumPy, Numba, JAX, NumExpr and PyTorch, on one core.

    python benchmarks/arrays.py                          # all programs, some minutes
    python benchmarks/arrays.py --only softmax --rounds 5 --no-compile
    python benchmarks/arrays.py --sweep                  # ljit against NumPy at sizes from 10 to 10^7
    python benchmarks/arrays.py --report docs/array-benchmarks.md --json arrays.json

Every result is compared with NumPy's before anything is timed. All take turns within a round; times are CPU time; a
ratio is the median of the ratios of the rounds. The time to compile is what the first calls of a new function take on
a small input, less what such calls take later; the compilers themselves are loaded.

Exits with status 1 if a target is missed or a result is wrong.
"""

from __future__ import annotations

import os

CORE = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
for variable in ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "NUMBA"):
    os.environ.setdefault(f"{variable}_NUM_THREADS", "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")  # else it compiles once a machine
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")

import argparse  # noqa: E402
import copy  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import resource  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from dataclasses import asdict, dataclass, field  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from array_programs import PROGRAMS, ArrayProgram  # noqa: E402
from arrays_peers import Peer, load_modules, peer_of  # noqa: E402
from arrays_report import OPTIMISED, chart, markdown, progress, sweep_text, targets_missed, text  # noqa: E402
from arrays_roofline import measure_roofline  # noqa: E402
from loops_report import write_region  # noqa: E402
from pairing import settle  # noqa: E402

from ljit import config  # noqa: E402

WARM_CALLS = 4
SHORTEST = 3e-3  # seconds of CPU time that one measurement should take at least
COMPILED = ("ljit", "numba", "jax", "torch")
SWEEP = (10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)


@dataclass
class Result:
    """What was measured of one program; times in seconds."""

    name: str
    times: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)  # peer / ljit
    compile: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def best_peer(self) -> str | None:
        """The fastest but NumPy and ljit itself."""
        others = [p for p in self.times if not p.startswith("ljit") and p != "numpy"]
        return min(others, key=self.times.__getitem__, default=None)


def measure_program(
    program: ArrayProgram, modules: dict[str, Any], n: int, rounds: int, only: tuple[str, ...] = ()
) -> Result:
    result = Result(program.name)
    args = program.make(n)
    peers = {}
    for name in only or modules:
        try:
            peer = peer_of(name, program, modules)
            if peer is not None:
                check_peer(result, program, name, peer, args)
                if hasattr(peer.function, "specializations"):
                    settle(
                        peer.function,
                        lambda peer=peer: peer.call(*peer.arguments(copy.deepcopy(args))),
                    )
                peers[name] = peer
        except Exception as error:
            result.notes.append(f"{name} refuses it: {first_line(error)}")
    if "ljit" in peers:
        for info in peers["ljit"].function.specializations:
            if info.compiles > 1 or info.bailouts or info.state != "native":
                result.notes.append(
                    f"ljit: {info.state}, {info.compiles} compiles, {info.bailouts} bailouts"
                )
    if not result.wrong:
        measure_times(result, program, peers, args, rounds)
    return result


def first_line(error: Exception) -> str:
    words = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {words[0][:80]}"


# -- results ---------------------------------------------------------------------------------------


def check_peer(
    result: Result, program: ArrayProgram, name: str, peer: Peer, original: tuple[Any, ...]
) -> None:
    """Compare results and changed arguments with NumPy's; ljit's types too, in each of its first calls."""
    expected_args = copy.deepcopy(original)
    expected = program.function(*expected_args)
    exact = name.startswith("ljit")
    for _ in range(WARM_CALLS):
        args = peer.arguments(copy.deepcopy(original))
        given = peer.call(*args)
        if not same(given, expected, program.tolerance, exact) or (
            exact and not same(args, expected_args, program.tolerance, exact)
        ):
            result.wrong.append(f"{name} gives another result than NumPy")
            return


def same(a: Any, b: Any, tolerance: float, exact: bool) -> bool:
    """Compare values; `exact`: types, dtypes and shapes too."""
    if isinstance(b, tuple | list):
        return len(a) == len(b) and all(same(x, y, tolerance, exact) for x, y in zip(a, b))
    if exact and (type(a) is not type(b) or getattr(a, "dtype", None) != getattr(b, "dtype", None)):
        return False
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    if a.size == 0:
        return True
    if b.dtype.kind not in "fc":
        return np.mean(a != b) <= (0 if exact else 1e-3)  # a tie that rounding decides
    return np.allclose(
        a, b, rtol=0, atol=tolerance * max(np.max(np.abs(b)), 1e-300), equal_nan=True
    )


# -- times -----------------------------------------------------------------------------------------


def timed(peer: Peer, inputs: list[tuple[Any, ...]]) -> float:
    start = time.process_time()  # not the time that other processes take
    for args in inputs:
        peer.call(*args)
    return (time.process_time() - start) / len(inputs)


def measure_times(
    result: Result, program: ArrayProgram, peers: dict[str, Peer], original: Any, rounds: int
) -> None:
    ready = {name: peer.arguments(copy.deepcopy(original)) for name, peer in peers.items()}
    taken: dict[str, list[float]] = {name: [] for name in peers}
    calls = {}
    for name, peer in peers.items():
        one = max(timed(peer, [copy.deepcopy(ready[name])] * 2), 1e-7)
        calls[name] = min(max(1, round(SHORTEST / one)), 100 if program.mutates else 30_000)
    names = list(peers)
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            if program.mutates and name != "jax":
                inputs = [copy.deepcopy(ready[name]) for _ in range(calls[name])]
            else:
                inputs = [ready[name]] * calls[name]
            taken[name].append(timed(peers[name], inputs))
    result.times = {name: statistics.median(times) for name, times in taken.items()}
    for name in names:
        if name != "ljit" and "ljit" in taken:
            pairs = zip(taken[name], taken["ljit"])
            result.ratios[name] = statistics.median(theirs / ours for theirs, ours in pairs)


# -- compiling -------------------------------------------------------------------------------------


def measure_compile_times(
    result: Result, program: ArrayProgram, modules: dict[str, Any], rounds: int
) -> None:
    with config.overridden(cold_calls=False):  # no compile has to be earned
        for name in COMPILED:
            if name in modules and name in result.times:
                again = 1 if name == "torch" else rounds  # it takes many seconds
                seconds = [compile_time(program, name, modules) for _ in range(again)]
                result.compile[name] = min(seconds)
    with config.overridden(cold_calls=False, quick_runs=0):
        if "ljit" in result.compile:
            seconds = [compile_time(program, "ljit", modules) for _ in range(rounds)]
            result.compile[OPTIMISED] = min(seconds)


def compile_time(program: ArrayProgram, name: str, modules: dict[str, Any]) -> float:
    """CPU seconds until a new function is native, less those of running it."""
    peer = peer_of(name, program, modules)
    assert peer is not None
    peer.forget()
    taken = first_calls(peer, program)
    args = peer.arguments(program.make(program.small))
    later = 0.0 if program.mutates else min(timed(peer, [args]) for _ in range(5))
    return max(taken - later, 1e-9)


def first_calls(peer: Peer, program: ArrayProgram) -> float:
    calls = 2 if hasattr(peer.function, "specializations") else 1  # one of ljit's is profiled
    inputs = [peer.arguments(program.make(program.small)) for _ in range(calls)]
    start = children_seconds()
    return timed(peer, inputs) * calls + children_seconds() - start


def children_seconds() -> float:
    """CPU time of finished child processes: torch.compile runs a C++ compiler."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# -- the whole -------------------------------------------------------------------------------------


def sweep(programs: list[ArrayProgram], modules: dict[str, Any], args: Any) -> int:
    """Compare ljit with NumPy at many sizes, to find where the cost model is wrong."""
    slow = 0
    for program in programs:
        ratios: dict[int, float] = {}
        for n in args.sizes or SWEEP:
            result = measure_program(program, modules, n, args.rounds, ("numpy", "ljit"))
            gc.collect()
            if result.wrong or "numpy" not in result.ratios:
                print(f"{program.name} at {n}: {'; '.join(result.wrong + result.notes)}")
                slow += 1
            else:
                ratios[n] = result.ratios["numpy"]
                slow += ratios[n] < 0.95
        print(sweep_text(program.name, ratios), flush=True)
    return slow


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", action="append", help="a part of a program's name; may be repeated"
    )
    parser.add_argument("--peer", action="append", help="measure these peers only; may be repeated")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--compile-rounds", type=int, default=2)
    parser.add_argument("--no-compile", action="store_true", help="no times to compile")
    parser.add_argument("--no-roofline", action="store_true")
    parser.add_argument("--sweep", action="store_true", help="ljit against NumPy at many sizes")
    parser.add_argument("--sizes", type=int, action="append", help="of the sweep; may be repeated")
    parser.add_argument("--json", type=Path, help="write the figures into this file")
    parser.add_argument("--report", type=Path, help="write table and chart into this Markdown file")
    parser.add_argument("--core", type=int, help="the core to run on")
    return parser.parse_args()


def main() -> int:
    args = parse_arguments()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    if CORE is not None:
        os.sched_setaffinity(0, {CORE if args.core is None else args.core})
    modules = load_modules(set(args.peer) | {"numpy", "ljit"} if args.peer else None)
    chosen = [p for p in PROGRAMS if not args.only or any(part in p.name for part in args.only)]
    gc.disable()
    if args.sweep:
        return 1 if sweep(chosen, modules, args) else 0
    results = []
    for program in chosen:
        result = measure_program(program, modules, program.size, args.rounds)
        if not args.no_compile:
            measure_compile_times(result, program, modules, args.compile_rounds)
        results.append(result)
        gc.collect()
        print(progress(result), file=sys.stderr, flush=True)
    roofline = None if args.no_roofline else measure_roofline(modules, args.only)
    missed = targets_missed(results, roofline)
    print(text(results, roofline, missed))
    if args.json:
        figures = {"programs": [asdict(r) for r in results], "roofline": roofline}
        args.json.write_text(json.dumps(figures, indent=1, default=float) + "\n")
    if args.report:
        write_region(args.report, markdown(results, roofline, missed, modules))
        args.report.with_suffix(".svg").write_text(chart(results))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
