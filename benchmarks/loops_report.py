"""The tables of loops.py, and its targets."""

from __future__ import annotations

import datetime
import platform
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pairing import seconds

MEAN_TO_C = 1.05
WORST_TO_C = 1.5
MEAN_TO_NUMBA = 0.9
COMPILE_TO_NUMBA = 0.2

BEGIN = "<!-- written by benchmarks/"
END = "<!-- end -->"

HEAD = (
    "program", "C", "ljit", "Numba", "CPython", "ljit/C", "ljit/Numba", "CPython/ljit", "compile",
    "optimised", "Numba's", "ratio", "ratio",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Missed:
    what: str

    def __str__(self) -> str:
        return f"MISSED: {self.what}"


def targets_missed(results: Sequence[Any]) -> list[Missed]:
    missed = [Missed(f"{r.name}: {what}") for r in results for what in r.wrong]
    to_c = [r.to_c for r in results if r.to_c]
    to_numba = [r.to_numba for r in results if r.to_numba]
    if to_c and statistics.geometric_mean(to_c) > MEAN_TO_C:
        mean = statistics.geometric_mean(to_c)
        missed.append(Missed(f"ljit/C is {mean:.2f} in the mean, above {MEAN_TO_C}"))
    for r in results:
        if r.to_c and r.to_c > WORST_TO_C:
            missed.append(Missed(f"{r.name}: ljit/C is {r.to_c:.2f}, above {WORST_TO_C}"))
    if to_numba and statistics.geometric_mean(to_numba) > MEAN_TO_NUMBA:
        mean = statistics.geometric_mean(to_numba)
        missed.append(Missed(f"ljit/Numba is {mean:.2f} in the mean, above {MEAN_TO_NUMBA}"))
    slow = {r.name: ratio for r in results if (ratio := compile_ratio(r)) > COMPILE_TO_NUMBA}
    if slow:
        worst = max(slow, key=slow.__getitem__)
        missed.append(
            Missed(
                f"{len(slow)} of {len(results)} programs compile in more than {COMPILE_TO_NUMBA} of Numba's "
                f"time, the worst is {worst} with {slow[worst]:.2f}"
            )
        )
    return missed


def compile_ratio(result: Any) -> float:
    """ljit / Numba; 0.0 where Numba was not measured."""
    if not result.compile_ljit or not result.compile_numba:
        return 0.0
    return result.compile_ljit / result.compile_numba


def optimised_ratio(result: Any) -> float:
    """The same for optimised code."""
    if not result.optimised_ljit or not result.compile_numba:
        return 0.0
    return result.optimised_ljit / result.compile_numba


def rows(results: Sequence[Any]) -> list[tuple[str, ...]]:
    """One row a program, the slowest against C first, and the means."""
    ordered = sorted(results, key=lambda r: -(r.to_c or 1e9))
    body = [row(r) for r in ordered]
    ratios = [
        [r.to_c for r in results],
        [r.to_numba for r in results],
        [r.times["cpython"] / r.times["ljit"] for r in results if "ljit" in r.times],
        [compile_ratio(r) for r in results],
        [optimised_ratio(r) for r in results],
    ]
    means = [mean_of(column) for column in ratios]
    body.append(("geometric mean", "", "", "", "", *means[:3], "", "", "", *means[3:]))
    return body


def row(r: Any) -> tuple[str, ...]:
    speed_up = r.times["cpython"] / r.times["ljit"] if "ljit" in r.times else None
    return (
        r.name,
        *(short(r.times.get(peer)) for peer in ("c", "ljit", "numba", "cpython")),
        number(r.to_c), number(r.to_numba), number(speed_up),
        short(r.compile_ljit), short(r.optimised_ljit), short(r.compile_numba),
        number(compile_ratio(r) or None), number(optimised_ratio(r) or None),
    )  # fmt: skip


def mean_of(column: Sequence[float | None]) -> str:
    known = [x for x in column if x]
    return number(statistics.geometric_mean(known)) if known else "-"


def number(x: float | None) -> str:
    return "-" if x is None else f"{x:.2f}" if x < 100 else f"{x:.0f}"


def short(t: float | None) -> str:
    return "-" if t is None else seconds(t).strip()


def text(results: Sequence[Any], missed: Sequence[Missed]) -> str:
    table = [HEAD, *rows(results)]
    widths = [max(len(line[k]) for line in table) for k in range(len(HEAD))]
    lines = [
        "  ".join(
            c.ljust(w) if k == 0 else c.rjust(w) for k, (c, w) in enumerate(zip(line, widths))
        )
        for line in table
    ]
    return "\n".join([*lines, *notes(results), *map(str, missed)])


def notes(results: Sequence[Any]) -> list[str]:
    return [f"{r.name}: {note}" for r in results for note in r.notes]


def markdown(
    results: Sequence[Any], missed: Sequence[Missed], versions: dict[str, str], flags: Sequence[str]
) -> str:
    lines = [
        f"{datetime.date.today()}, {machine()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, Numba {versions.get('numba', '(not measured)')}, {compiler()} "
        f"`{' '.join(flags)}`.",
        f"Command: `python {' '.join(sys.argv)}`.",
        "",
        "| " + " | ".join(HEAD) + " |",
        "|---|" + "---:|" * (len(HEAD) - 1),
        *("| " + " | ".join(line) + " |" for line in rows(results)),
        "",
        *(f"- {note}" for note in notes(results)),
        *(f"- {m}" for m in missed),
    ]
    return "\n".join(lines)


def machine() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def compiler() -> str:
    done = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True)
    return f"gcc {done.stdout.strip()}"


def write_region(path: Path, table: str) -> None:
    """Replace what is between the two marks of a Markdown file, or write a new file."""
    if not path.exists():
        path.write_text(f"{BEGIN}{Path(sys.argv[0]).name} -->\n{END}\n")
    before, rest = path.read_text().split(BEGIN)
    written_by = rest.partition("\n")[0]
    _, after = rest.split(END)
    path.write_text(f"{before}{BEGIN}{written_by}\n{table}\n{END}{after}")
