"""Draw speed-ups as horizontal bars on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from ljit.cli.png import Canvas, Color

__all__ = ["draw_speedups"]

_BAR: Color = (52, 106, 179)
_AXIS: Color = (120, 120, 120)
_GRID: Color = (225, 225, 225)
_LEFT, _RIGHT, _TOP, _ROW, _WIDTH = 260, 110, 60, 40, 1000


def draw_speedups(path: Path, title: str, speedups: Sequence[tuple[str, float]]) -> None:
    """Write a bar chart; a bar starts at 1x, slower programs get a bar to the left of nothing."""
    height = _TOP + _ROW * len(speedups) + 50
    canvas = Canvas(_WIDTH, height)
    canvas.text(20, 18, title)
    decades = max(1, math.ceil(math.log10(max([10.0, *(s for _, s in speedups)]))))
    unit = (_WIDTH - _LEFT - _RIGHT) / decades
    bottom = _TOP + _ROW * len(speedups)
    for decade in range(decades + 1):
        x = _LEFT + round(decade * unit)
        canvas.rectangle(x, _TOP, 1, bottom - _TOP, _AXIS if decade == 0 else _GRID)
        canvas.text(x - 12, bottom + 12, f"{10**decade}x", _AXIS)
    for row, (name, speedup) in enumerate(speedups):
        y = _TOP + row * _ROW
        length = max(2, round(math.log10(max(speedup, 1.0)) * unit))
        canvas.rectangle(_LEFT, y + 8, length, _ROW - 16, _BAR)
        canvas.text_right(_LEFT - 12, y + 13, name)
        canvas.text(_LEFT + length + 10, y + 13, f"{speedup:.1f}x")
    canvas.save(path)
