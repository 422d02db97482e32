"""Run eight numeric programs through CPython, the interpreter, the profiled run and native code.

Each is checked against CPython's result. Prints a table of times, shows what became of one function, and
writes ``mandelbrot.png`` and ``speedups.png``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ljit
from ljit.cli.chart import draw_speedups
from ljit.cli.png import write_png
from ljit.cli.programs import PROGRAMS, Program, mandelbrot, mandelbrot_view
from ljit.errors import InputError

__all__ = ["add_arguments", "run"]

PICTURE = (1200, 800, 1000)  # width, height, most steps a point
_SHOWN_LINES = 34


@dataclass(frozen=True, slots=True)
class Measurement:
    """Seconds of one program on each tier, and whether all results agreed."""

    program: Program
    plain: float
    interpreted: float
    first: float
    native: float
    agrees: bool

    @property
    def speedup(self) -> float:
        return self.plain / self.native


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.add_argument(
        "--output", type=Path, default=Path(), help="folder for the pictures (default: this one)"
    )
    parser.add_argument("--only", help="run only the programs that have this in their name")


def run(options: argparse.Namespace) -> int:
    """Run everything; fail if any result differs."""
    chosen = [p for p in PROGRAMS if (options.only or "") in p.name]
    if not chosen:
        names = ", ".join(p.name for p in PROGRAMS)
        raise InputError(f"no program has {options.only!r} in its name; there are {names}")
    _make_folder(options.output)
    print(
        f"{'program':15} {'baseline':8} {'plain':>9} {'interp.':>9} {'1st call':>9} {'native':>9} {'speed-up':>9}"
    )
    measurements = []
    for program in chosen:
        measurements.append(measure(program))
        print(_row(measurements[-1]), flush=True)
    print("\nTimes in milliseconds. The first call profiles and compiles hot loops on the way.")
    compiled = _draw_mandelbrot(options.output / "mandelbrot.png")
    speedups = [(m.program.name, m.speedup) for m in measurements]
    title = "Native code against CPython and NumPy (log scale)"
    draw_speedups(options.output / "speedups.png", title, speedups)
    _show_inside(compiled)
    wrong = [m.program.name for m in measurements if not m.agrees]
    print(f"\nresults that differ: {', '.join(wrong)}" if wrong else "\nAll results agree.")
    return 1 if wrong else 0


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write pictures to {path}: {error.strerror}") from error


def measure(program: Program) -> Measurement:
    """Run one program on each tier."""
    compiled: Any = ljit.jit(program.function)
    plain, expected = _timed(program.function, program)
    interpreted, by_interpreter = _timed(compiled.run_interpreted, program)
    first, by_profiled_run = _timed(compiled, program)
    results = [by_interpreter, by_profiled_run]
    _, compiled_result = _timed(compiled, program)  # compiles
    while any(info.is_quick for info in compiled.specializations):
        compiled(*program.arguments())
    native, by_native_code = _best_of(3, compiled, program)
    results += [compiled_result, by_native_code]
    agrees = all(agree(expected, result, program.tolerance) for result in results)
    return Measurement(program, plain, interpreted, first, native, agrees)


def agree(expected: Any, actual: Any, tolerance: float) -> bool:
    """Compare class, dtype, shape and bits (or, with a tolerance, relative error)."""
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, tuple):
        return len(expected) == len(actual) and all(
            agree(a, b, tolerance) for a, b in zip(expected, actual, strict=True)
        )
    if isinstance(expected, np.ndarray):
        same_form = expected.dtype == actual.dtype and expected.shape == actual.shape
        close = np.allclose(expected, actual, rtol=tolerance, atol=tolerance)
        return same_form and (close if tolerance else expected.tobytes() == actual.tobytes())
    return bool(expected == actual)


def _timed(function: Callable[..., Any], program: Program) -> tuple[float, Any]:
    arguments = program.arguments()
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def _best_of(times: int, function: Callable[..., Any], program: Program) -> tuple[float, Any]:
    return min((_timed(function, program) for _ in range(times)), key=lambda pair: pair[0])


def _row(m: Measurement) -> str:
    times = " ".join(f"{1e3 * t:9.2f}" for t in (m.plain, m.interpreted, m.first, m.native))
    verdict = "" if m.agrees else "  DIFFERS"
    return f"{m.program.name:15} {m.program.against:8} {times} {m.speedup:8.1f}x{verdict}"


def _draw_mandelbrot(path: Path) -> Any:
    """Draw the set natively; give the compiled function."""
    compiled = ljit.jit(mandelbrot)
    compiled(*mandelbrot_view(8, 8, 50))
    width, height, limit = PICTURE
    start = time.perf_counter()
    counts = compiled(*mandelbrot_view(width, height, limit))
    seconds = time.perf_counter() - start
    write_png(path, _colours(counts, limit))
    print(f"Drew {path}: {width} x {height} points, up to {limit} steps each, in {seconds:.2f} s.")
    return compiled


def _colours(counts: np.ndarray, limit: int) -> np.ndarray:
    """Map escape counts to a smooth palette; what never escaped is black."""
    phase = np.log(counts + 1.0)[..., None] * 1.3 + np.array([3.6, 4.1, 4.9])
    shade = (127.5 * (1.0 + np.cos(phase))).astype(np.uint8)
    return np.where(counts[..., None] >= limit, np.uint8(0), shade)


def _show_inside(compiled: Any) -> None:
    _show("The graph of mandelbrot, before profiling", str(compiled.graph))
    specialised = compiled.graph_for(*mandelbrot_view(8, 8, 50))
    _show("After profiling: types, guards, folded calls", str(specialised))
    _show("Some of its LLVM IR", _hot_part(str(compiled.dump_llvm(optimized=True))))


def _hot_part(llvm: str) -> str:
    """Skip to the first block that multiplies floats: the inner loop."""
    lines = llvm.splitlines()
    first = next((i for i, line in enumerate(lines) if " fmul " in line), 0)
    while first > 0 and not lines[first].endswith(":") and "preds" not in lines[first]:
        first -= 1
    return "\n".join(lines[first:])


def _show(title: str, text: str) -> None:
    lines = text.splitlines()
    print(f"\n== {title} ==")
    print("\n".join(line[:150] for line in lines[:_SHOWN_LINES]))
    if len(lines) > _SHOWN_LINES:
        print(f"... {len(lines) - _SHOWN_LINES} more lines")
