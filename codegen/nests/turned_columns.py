"""Columns whose elements lie side by side, turned around in registers: so that rows of them do.

For products with `b.T` (`float_products.py`). As many columns as vectors have lanes are loaded, and lanes change places
in steps: those whose numbers differ in one bit.
"""

from __future__ import annotations

from ljit.codegen.llvm.loop_texts import loop_text
from ljit.codegen.nests.product_texts import ProductShape, mask_text

__all__ = ["TURNED_PARAMETERS", "turned_columns"]

TURNED_PARAMETERS = "ptr %b.panel, i64 %b.column.step, ptr %panel, i64 %count, i64 %filled"


def turned_columns(shape: ProductShape, name: str) -> str:
    """A function for `count` rows of `filled` columns.

    It writes rows of `columns` elements, as many as blocks of lanes are, and finds something in all lanes.
    """
    lanes, size = shape.lanes, shape.size
    places = "".join(
        f"""  %n.{i} = call i64 @llvm.smin.i64(i64 %last, i64 {i})
  %offset.{i} = mul i64 %n.{i}, %b.column.step
  %first.{i} = getelementptr i8, ptr %from, i64 %offset.{i}
"""
        for i in range(lanes)
    )
    body = f"  %rows.left = sub i64 %count, %row\n{mask_text(shape, 'rows.left')}"
    for i in range(lanes):
        body += shape.loaded(f"c{i}", is_masked=True)
    found = [f"c{i}" for i in range(lanes)]
    step = 1
    while step < lanes:
        text, found = _exchanged(shape, found, step)
        body += text
        step *= 2
    for i, x in enumerate(found):
        body += f"  %r{i}.at = getelementptr i8, ptr %to.row, i64 {i * shape.columns * size}\n"
        body += shape.stored(x, f"r{i}", is_masked=False)
    walks = {f"c{i}.at": (f"%first.{i}", str(lanes * size)) for i in range(lanes)}
    walks["to.row"] = ("%to", str(lanes * shape.columns * size))
    rows = loop_text("row", "%count", body, step=lanes, walks=walks)
    walks = {"from": ("%b.panel", "%group.step"), "to": ("%panel", str(lanes * size))}
    start = f"  %left = sub i64 %filled, %group\n  %last = sub i64 %left, 1\n{places}"
    return f"""define internal void @{name}({TURNED_PARAMETERS}) noinline nounwind {{
entry:
  %group.step = mul i64 %b.column.step, {lanes}
{loop_text("group", "%filled", start + rows, step=lanes, walks=walks)}  ret void
}}"""


def _exchanged(shape: ProductShape, found: list[str], step: int) -> tuple[str, list[str]]:
    """Of each two vectors whose numbers differ in this bit, the lanes that differ in it from the vector."""
    text, made = "", [f"{x}.{step}" for x in found]
    for i in range(shape.lanes):
        if i & step:
            continue
        pair = f"{shape.vector} %{found[i]}, {shape.vector} %{found[i + step]}"
        for place, is_high in ((i, False), (i + step, True)):
            lanes = ", ".join(f"i32 {_source(shape, n, step, is_high)}" for n in range(shape.lanes))
            text += f"  %{made[place]} = shufflevector {pair}, <{shape.lanes} x i32> <{lanes}>\n"
    return text, made


def _source(shape: ProductShape, lane: int, step: int, is_high: bool) -> int:
    """Which lane of a pair of vectors comes to this one."""
    if is_high:
        return lane + shape.lanes if lane & step else lane + step
    return lane - step + shape.lanes if lane & step else lane
