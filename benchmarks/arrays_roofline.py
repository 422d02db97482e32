"""How close streaming programs come to what memory gives: a triad loop in C, compiled here."""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ljit

LENGTH = 12_000_000  # elements of 8 bytes: an array is three times the last-level cache
ROUNDS = 7

TRIAD = """
void triad(double *restrict a, const double *restrict b, const double *restrict c, long n)
{ for (long i = 0; i < n; i++) a[i] = b[i] + 3.0 * c[i]; }
"""


def scaled_sum(a, b):
    return a + 3.0 * b


def blend(a, b, c):
    weight = c * 0.5 + 0.25
    return a * weight + b * (1.0 - weight)


def update(a, b, c):
    a += 0.1 * (b - c) * b


def stored(out, a, b):
    out[:] = np.sqrt(a * a + b * b)


def squared_difference(a, b):
    return ((a - b) ** 2).sum()


# Each with the number of arrays it reads and writes.
STREAMS: tuple[tuple[Any, int, int], ...] = (
    (scaled_sum, 2, 1),
    (blend, 3, 1),
    (update, 3, 1),
    (stored, 2, 1),
    (squared_difference, 2, 0),
)


def measure_roofline(modules: dict[str, Any], only: list[str] | None = None) -> dict[str, Any]:
    """Give bytes a second of the triad, and of each program the median of its ratios to it."""
    rng = np.random.default_rng(0)
    arrays = [rng.random(LENGTH) for _ in range(3)]
    found: dict[str, Any] = {"programs": {}}
    rates = []
    with tempfile.TemporaryDirectory() as folder:
        triad = compiled_triad(Path(folder))
        target = np.zeros(LENGTH)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (target, *arrays[:2])]
        for function, reads, writes in STREAMS:
            if only and not any(part in function.__name__ for part in only):
                continue
            native = ljit.jit(function)
            arguments = arguments_of(native, arrays)
            for _ in range(3):
                native(*arguments)
            ratios = []
            for _ in range(ROUNDS):
                base = 24 * LENGTH / seconds(lambda: triad(*pointers, LENGTH))
                rates.append(base)
                taken = seconds(lambda f=native, a=arguments: f(*a))
                ratios.append(8 * (reads + writes) * LENGTH / taken / base)
            found["programs"][function.__name__] = statistics.median(ratios)
    found["triad"] = statistics.median(rates) if rates else 0.0
    return found


def arguments_of(native: Any, arrays: list[Any]) -> list[Any]:
    return arrays[: native.__wrapped__.__code__.co_argcount]


def compiled_triad(folder: Path) -> Any:
    source, target = folder / "triad.c", folder / "triad.so"
    source.write_text(TRIAD)
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", str(target), str(source)], check=True)
    triad = ctypes.CDLL(str(target)).triad
    triad.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_long]
    triad.restype = None
    return triad


def seconds(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start
