"""What functions that multiply matrices begin with: the operands of the inner loop of ``np.matmul``."""

from __future__ import annotations

__all__ = ["operands_text"]

_NAMES = (
    *("times", "rows", "depth", "columns"),
    *("a.step", "b.step", "c.step"),
    *("a.row.step", "a.step.in", "b.row.step", "b.column.step", "c.row.step", "c.column.step"),
)
_CORE = 4  # how many of the names are sizes


def operands_text() -> str:
    """Load them: places of the matrices, sizes and strides."""
    lines = [
        f"  %{x}.at.first = getelementptr ptr, ptr %operands, i64 {i}\n"
        f"  %{x}.first = load ptr, ptr %{x}.at.first\n"
        for i, x in enumerate("abc")
    ]
    for i, name in enumerate(_NAMES):
        source, place = ("%sizes", i) if i < _CORE else ("%strides", i - _CORE)
        lines.append(
            f"  %{name}.at = getelementptr i64, ptr {source}, i64 {place}\n"
            f"  %{name} = load i64, ptr %{name}.at\n"
        )
    return "".join(lines)
