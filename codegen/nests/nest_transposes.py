"""Tiles of elements, turned around in registers: rows that lie the other way around are moved so."""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.nests.nest_packing import item_type

__all__ = ["transposed"]

_IN_HALVES = 8  # bytes of elements of which a row is 32: the machine takes turns in each half of such a vector


def transposed(name: str, size: int, rows: Sequence[str]) -> tuple[str, list[str]]:
    """Turn a square tile of elements of `size` bytes around: lines of IR, and the names of the new rows.

    Pairs of vectors take turns, as the machine has it for vectors of 16 bytes.
    """
    width, stage, lines, found = len(rows), 0, list[str](), [*rows]
    vector, swaps = (
        f"<{width} x {item_type(size)}>",
        _far_ones if size == _IN_HALVES else _near_ones,
    )
    while 1 << stage < width:
        new = [""] * width
        for pair, into, masks in swaps(width, 1 << stage):
            for row, mask in zip(into, masks, strict=True):
                places = ", ".join(f"i32 {place}" for place in mask)
                operands = ", ".join(f"{vector} {found[k]}" for k in pair)
                new[row] = f"%{name}.s{stage}.{len(lines)}"
                lines.append(
                    f"  {new[row]} = shufflevector {operands}, <{width} x i32> <{places}>\n"
                )
        found, stage = new, stage + 1
    return "".join(lines), found


_Pair = tuple[int, int]
#: rows, where the new ones stand, their elements
_Swap = tuple[_Pair, _Pair, tuple[list[int], list[int]]]


def _far_ones(width: int, step: int) -> list[_Swap]:
    """Rows `step` apart, which swap every other `step` elements."""

    def taken(start: int) -> list[int]:
        return [start + (width + k - step if k & step else k) for k in range(width)]

    firsts = [k for k in range(width) if not k & step]
    return [((k, k + step), (k, k + step), (taken(0), taken(step))) for k in firsts]


def _near_ones(width: int, _step: int) -> list[_Swap]:
    """A row of the upper half and one of the lower, which take turns element by element."""
    half = width // 2

    def taken(start: int) -> list[int]:
        return [k for j in range(start, start + half) for k in (j, width + j)]

    return [((i, i + half), (2 * i, 2 * i + 1), (taken(0), taken(half))) for i in range(half)]
