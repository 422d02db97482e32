"""The tables and the chart of arrays.py, and its targets."""

from __future__ import annotations

import datetime
import math
import platform
import sys
from collections.abc import Sequence
from statistics import geometric_mean
from typing import Any

from loops_report import Missed, machine, number, short

MEAN_TO_NUMPY = 3.0
MEAN_TO_PEER = 1.3
WORST_TO_NUMPY = 0.95
ROOFLINE = 0.9
COMPILE_TO_NUMBA = 0.2
COMPILE_TO_JAX = 1.0

OPTIMISED = "ljit, optimised"  # the time until its code is
TIMED = ("numpy", "ljit", "ljit types only", "numba", "jax", "numexpr", "torch")


def to_peer(r: Any) -> float | None:
    """How much faster ljit is than the best peer."""
    return r.ratios[r.best_peer] if r.best_peer and "ljit" in r.times else None


def targets_missed(results: Sequence[Any], roofline: Any) -> list[Missed]:
    missed = [Missed(f"{r.name}: {what}") for r in results for what in r.wrong]
    numpy = [r.ratios["numpy"] for r in results if "numpy" in r.ratios]
    peer = [ratio for r in results if (ratio := to_peer(r))]
    for what, ratios, target in (
        ("NumPy", numpy, MEAN_TO_NUMPY),
        ("the best peer", peer, MEAN_TO_PEER),
    ):
        if ratios and geometric_mean(ratios) < target:
            missed.append(
                Missed(f"{geometric_mean(ratios):.2f}x {what} in the mean, below {target}")
            )
    for r in results:
        if r.ratios.get("numpy", 1.0) < WORST_TO_NUMPY:
            missed.append(Missed(f"{r.name}: {r.ratios['numpy']:.2f}x NumPy"))
    for other, target in (("numba", COMPILE_TO_NUMBA), ("jax", COMPILE_TO_JAX)):
        slow = {r.name: x for r in results if (x := compile_ratio(r, other) or 0) > target}
        if slow:
            worst = max(slow, key=slow.__getitem__)
            missed.append(
                Missed(
                    f"{len(slow)} programs compile in more than {target} of the time of {other}, "
                    f"the worst is {worst} with {slow[worst]:.2f}"
                )
            )
    for name, share in (roofline or {"programs": {}})["programs"].items():
        if share < ROOFLINE:
            missed.append(Missed(f"{name}: {share:.2f} of the memory's rate, below {ROOFLINE}"))
    return missed


def compile_ratio(r: Any, other: str, ours: str = "ljit") -> float | None:
    if ours not in r.compile or other not in r.compile:
        return None
    return r.compile[ours] / r.compile[other]


def head(results: Sequence[Any]) -> tuple[str, ...]:
    timed = [p for p in TIMED if any(p in r.times for r in results)]
    return (
        "program", *timed, "NumPy/ljit", "best peer", "peer/ljit", "compile", "/ Numba's", "/ JAX's",
        "optimised", "/ Numba's", "/ JAX's",
    )  # fmt: skip


def rows(results: Sequence[Any]) -> list[tuple[str, ...]]:
    """One row a program, the least gain over its best peer first, and the means."""
    timed = [p for p in TIMED if any(p in r.times for r in results)]
    body = []
    for r in sorted(results, key=lambda r: to_peer(r) or 1e9):
        body.append(
            (
                r.name, *(short(r.times.get(p)) for p in timed),
                number(r.ratios.get("numpy")), r.best_peer or "-", number(to_peer(r)),
                *compile_columns(r),
            )
        )  # fmt: skip
    means = [
        mean([r.ratios.get("numpy") for r in results]),
        "",
        mean([to_peer(r) for r in results]),
        "",
        mean([compile_ratio(r, "numba") for r in results]),
        mean([compile_ratio(r, "jax") for r in results]),
        "",
        mean([compile_ratio(r, "numba", OPTIMISED) for r in results]),
        mean([compile_ratio(r, "jax", OPTIMISED) for r in results]),
    ]
    return [*body, ("geometric mean", *("" for _ in timed), *means)]


def compile_columns(r: Any) -> list[str]:
    """Times until code is native, and until it is optimised, with their ratios."""
    columns = []
    for ours in ("ljit", OPTIMISED):
        columns.append(short(r.compile.get(ours)))
        columns += [number(compile_ratio(r, other, ours)) for other in ("numba", "jax")]
    return columns


def mean(column: Sequence[float | None]) -> str:
    known = [x for x in column if x]
    return number(geometric_mean(known)) if known else "-"


def roofline_lines(roofline: Any) -> list[str]:
    if not roofline or not roofline["programs"]:
        return []
    shares = ", ".join(f"{name} {share:.2f}" for name, share in roofline["programs"].items())
    return [f"Triad in C: {roofline['triad'] / 1e9:.1f} GB/s; shares of it: {shares}."]


def notes(results: Sequence[Any]) -> list[str]:
    return [f"{r.name}: {note}" for r in results for note in r.notes]


def text(results: Sequence[Any], roofline: Any, missed: Sequence[Missed]) -> str:
    table = [head(results), *rows(results)]
    widths = [max(len(line[k]) for line in table) for k in range(len(table[0]))]
    lines = ["  ".join(c.rjust(w) for c, w in zip(line, widths)) for line in table]
    return "\n".join([*lines, *roofline_lines(roofline), *notes(results), *map(str, missed)])


def progress(r: Any) -> str:
    """Say in one line what was measured of a program."""
    ratios = ", ".join(f"{name} {ratio:.2f}" for name, ratio in r.ratios.items())
    compiles = ", ".join(f"{name} {short(t)}" for name, t in r.compile.items())
    return f"{r.name}: ljit {short(r.times.get('ljit'))}; {ratios}; {compiles}{'; '.join(r.wrong)}"


def sweep_text(name: str, ratios: dict[int, float]) -> str:
    parts = [
        f"10^{math.log10(n):.0f} {r:7.2f}{'!' if r < 0.95 else ' '}" for n, r in ratios.items()
    ]
    return f"{name:24}" + "  ".join(parts)


def markdown(
    results: Sequence[Any], roofline: Any, missed: Sequence[Missed], modules: dict[str, Any]
) -> str:
    versions = ", ".join(
        f"{name} {module.__version__}" for name, module in modules.items() if "ljit" not in name
    )
    columns = head(results)
    return "\n".join(
        [
            f"{datetime.date.today()}, {machine()}, Python {platform.python_version()}, {versions}; one core.",
            f"Command: `python {' '.join(sys.argv)}`.",
            "",
            "| " + " | ".join(columns) + " |",
            "|---|" + "---:|" * (len(columns) - 1),
            *("| " + " | ".join(line) + " |" for line in rows(results)),
            "",
            *roofline_lines(roofline),
            "",
            *(f"- {note}" for note in notes(results)),
            *(f"- {m}" for m in missed),
        ]
    )


# -- the chart -------------------------------------------------------------------------------------

ROW, LEFT, WIDTH, LEAST, MOST = 22, 170, 520, 0.5, 64.0
COLOURS = (("ljit", "#2a6f97"), ("best peer", "#e9a03b"))


def chart(results: Sequence[Any]) -> str:
    """Bars on a logarithmic scale: how many times as fast as NumPy ljit and the best peer are."""
    known = [r for r in results if "numpy" in r.ratios]
    known.sort(key=lambda r: -r.ratios["numpy"])
    height = ROW * len(known) + 50
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 60}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for k in range(7):
        value = 2.0**k
        parts.append(
            f'<line x1="{x_of(value):.0f}" x2="{x_of(value):.0f}" y1="24" y2="{height - 20}" '
            f'stroke="{"#555" if value == 1 else "#ddd"}"/>'
            f'<text x="{x_of(value):.0f}" y="{height - 6}" text-anchor="middle">{value:.0f}x</text>'
        )
    for k, (name, colour) in enumerate(COLOURS):
        x = LEFT + 110 * k
        parts.append(f'<rect x="{x}" y="6" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 16}" y="16">{name}</text>')
    for k, r in enumerate(known):
        y = 28 + ROW * k
        parts.append(f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{r.name}</text>')
        parts.append(bar(y, 9, r.ratios["numpy"], COLOURS[0][1]))
        if r.best_peer:
            speed = r.times["numpy"] / r.times[r.best_peer]
            parts.append(bar(y + 9, 7, speed, COLOURS[1][1]))
    return "\n".join([*parts, "</svg>", ""])


def x_of(value: float) -> float:
    span = math.log(MOST / LEAST)
    return LEFT + WIDTH * math.log(min(max(value, LEAST), MOST) / LEAST) / span


def bar(y: int, height: int, value: float, colour: str) -> str:
    start, end = sorted((x_of(1.0), x_of(value)))
    return (
        f'<rect x="{start:.1f}" y="{y}" width="{max(end - start, 1):.1f}" height="{height}" '
        f'fill="{colour}"><title>{value:.2f}x</title></rect>'
    )
