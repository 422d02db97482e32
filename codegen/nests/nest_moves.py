"""Elements of some rows, moved to other places as they are: one function for each size of elements, for all strides.

Where rows lie the other way around, as those of ``a.T`` do, each element is in another line of the cache: tiles of
elements are turned around in registers, as many rows at once as a line has elements. Else each row is moved by itself,
or each column, if rows are short. The function is one that all units share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder, Ref
from ljit.codegen.llvm.loop_texts import loop_text
from ljit.codegen.llvm.shared_code import PACKING, shared_function
from ljit.codegen.loops.nest_functions import LIKE_A_NEST
from ljit.codegen.nests.nest_packing import copy_function, item_type
from ljit.codegen.nests.nest_transposes import transposed

__all__ = ["SHORT_ROW", "move_rows"]

_LINE = 64  # bytes
_WIDTHS = {1: 8, 2: 8, 4: 4, 8: 4}  # elements of a tile's rows and columns, by bytes of one
_GAPS = (1, 2)  # steps in elements from row to row that have tiles
SHORT_ROW = 8  # elements of a row that is shorter than others are
_FEW = 4  # elements of a trip
_FEW_ROWS, _MANY_ROWS = (
    8,
    1 << 16,
)  # rows of a tile for which there is room; bytes of the least cache with room for all
_SPREAD = 8  # rows that are read at once and written apart
_AHEAD = 64  # columns: their lines are asked for before a tile is turned around
_PREFETCH = "llvm.prefetch.p0"
_COPY = "llvm.memmove.p0.p0.i64"
_OPERANDS = "to", "to.step", "to.row", "from", "from.step", "from.row", "count", "rows"


def move_rows(f: FunctionBuilder, dtype: np.dtype, parts: Sequence[Ref]) -> None:
    """Move elements of rows; no place is written before what lies there is read, or has other elements.

    `parts`: the first place that is written, the bytes from element to element and from row to row, the same of what is
    read, how many elements a row has, how many rows.
    """
    f.call("void", _function(dtype), parts, LIKE_A_NEST)


def _function(dtype: np.dtype) -> str:
    name = f"{PACKING}move{dtype.itemsize}"
    return shared_function(name, lambda module: _write(module, name, dtype), straight=True)


def _write(module: ModuleBuilder, name: str, dtype: np.dtype) -> None:
    size = dtype.itemsize
    module.declare(_PREFETCH, "void", ("ptr", "i32", "i32", "i32"))
    module.declare(_COPY, "void", ("ptr", "ptr", "i64", "i1"))
    plain = f"{name}.plain"
    module.define(plain, _plain(plain, size))
    module.define(name, _chosen(name, plain, dtype))


# -- text --------------------------------------------------------------------------------------------


def _parameters() -> str:
    return ", ".join(f"{'ptr' if x in ('to', 'from') else 'i64'} %{x}" for x in _OPERANDS)


def _call(function: str, others: Mapping[str, str] = MappingProxyType({})) -> str:
    """A call with the operands, or others in their places."""
    values = {x: f"%{x}" for x in _OPERANDS} | {**others}
    listed = ", ".join(f"{'ptr' if k in ('to', 'from') else 'i64'} {v}" for k, v in values.items())
    return f"  call void @{function}({listed})\n"


def _element(name: str, size: int, source: str, target: str) -> str:
    item = item_type(size)
    return f"""  %{name} = load {item}, ptr {source}, align 1
  store {item} %{name}, ptr {target}, align 1
"""


# -- element by element ------------------------------------------------------------------------------


def _plain(name: str, size: int) -> str:
    """A few elements a trip, none of whose places waits for another's, along the longer axis if rows are short."""
    swapped = "".join(
        f"""  %a.{x} = select i1 %is.short, i64 %{row}, i64 %{step}
  %b.{x} = select i1 %is.short, i64 %{step}, i64 %{row}
"""
        for x, step, row in (
            ("to", "to.step", "to.row"),
            ("from", "from.step", "from.row"),
            ("count", "count", "rows"),
        )
    )
    places = "".join(
        f"""  %to.{i} = getelementptr i8, ptr %to.0, i64 %to.far{i}
  %from.{i} = getelementptr i8, ptr %from.0, i64 %from.far{i}
"""
        for i in range(1, _FEW)
    )
    far = "".join(
        f"  %{x}.far{i} = mul i64 %a.{x}, {i}\n" for x in ("to", "from") for i in range(1, _FEW + 1)
    )
    some = "".join(_element(f"x.{i}", size, f"%from.{i}", f"%to.{i}") for i in range(_FEW))
    few = {f"{x}.0": (f"%row.{x}", f"%{x}.far{_FEW}") for x in ("to", "from")}
    rest = {"to.last": ("%to.0", "%a.to"), "from.last": ("%from.0", "%a.from")}
    row = loop_text("few", "%most", places + some, step=_FEW, walks=few)
    row += loop_text("last", "%left", _element("x", size, "%from.last", "%to.last"), walks=rest)
    walks = {"row.to": ("%to", "%b.to"), "row.from": ("%from", "%b.from")}
    return f"""define internal void @{name}({_parameters()}) noinline nounwind {{
entry:
  %is.few = icmp slt i64 %count, {SHORT_ROW}
  %is.less = icmp slt i64 %count, %rows
  %is.short = and i1 %is.few, %is.less
{swapped}  %most = and i64 %a.count, -{_FEW}
  %left = and i64 %a.count, {_FEW - 1}
{far}{loop_text("row", "%b.count", row, walks=walks)}  ret void
}}"""


# -- which way ---------------------------------------------------------------------------------------


def _chosen(name: str, plain: str, dtype: np.dtype) -> str:
    """Go through the places that are written in the order of memory, in the way that suits those that are read."""
    size, steps = dtype.itemsize, _GAPS if dtype.itemsize in _WIDTHS else ()
    width = _WIDTHS.get(size, 0)
    loads, stores = ("gathered", "scattered") if steps else ("plain", "plain")
    gaps = "".join(f" i64 {gap * size}, label %tiles{gap}" for gap in steps)
    tiles = "".join(f"tiles{gap}:\n{_tiles(gap, size, plain)}  ret void\n" for gap in steps)
    if steps:
        tiles += f"spread:\n{_spread(size, plain)}  ret void\n"
        tiles += f"scattered:\n{_by_rows('scatter', _packing_call(dtype, 'scatter', 'from', 'to'), size)}"
        tiles += (
            f"gathered:\n{_by_rows('gather', _packing_call(dtype, 'gather', 'to', 'from'), size)}"
        )
    return f"""define void @{name}({", ".join(_given(x) for x in _OPERANDS)}) nounwind {{
entry:
{_in_order()}  %is.dense = icmp eq i64 %to.step, {size}
  %is.unit = icmp eq i64 %from.step, {size}
  %is.short = icmp slt i64 %count, {SHORT_ROW}
  br i1 %is.short, label %plain, label %long
long:
  br i1 %is.unit, label %stores, label %loads
stores:
  br i1 %is.dense, label %copies, label %{stores}
loads:
  br i1 %is.dense, label %look, label %{"spread" if steps else "plain"}
look:
  %has.columns = icmp sge i64 %count, {width}
  %has.rows = icmp sge i64 %rows, {width}
  %has.tiles = and i1 %has.columns, %has.rows
  br i1 %has.tiles, label %turned, label %{loads}
turned:
  switch i64 %from.row, label %{loads} [{gaps} ]
plain:
{_call(plain)}  ret void
copies:
{_by_rows("copy", f"  call void @{_COPY}(ptr %copy.to, ptr %copy.from, i64 %copy.size, i1 false)", size)}{tiles}}}"""


def _given(x: str) -> str:
    return f"{'ptr' if x in ('to', 'from') else 'i64'} %given.{x}"


def _in_order() -> str:
    """The nearer axis of what is written is the inner one; it goes forwards, what is read from row to row does, too."""
    steps = "".join(
        f"""  %{x}.step.any = select i1 %is.other, i64 %given.{x}.row, i64 %given.{x}.step
  %{x}.row.any = select i1 %is.other, i64 %given.{x}.step, i64 %given.{x}.row
"""
        for x in ("to", "from")
    )
    return f"""  %length.step = call i64 @llvm.abs.i64(i64 %given.to.step, i1 false)
  %length.row = call i64 @llvm.abs.i64(i64 %given.to.row, i1 false)
  %is.nearer = icmp ult i64 %length.row, %length.step
  %are.rows = icmp ne i64 %given.rows, 1
  %is.near = and i1 %is.nearer, %are.rows
  %is.one = icmp eq i64 %given.count, 1
  %is.other = or i1 %is.near, %is.one
  %count = select i1 %is.other, i64 %given.rows, i64 %given.count
  %rows = select i1 %is.other, i64 %given.count, i64 %given.rows
{steps}{_forwards("step", "to", "count")}{_forwards("row", "from", "rows")}"""


def _forwards(axis: str, which: str, count: str) -> str:
    """Begin at the other end of an axis if `which` goes backwards along it."""
    lines = [
        f"  %{axis}.back = icmp slt i64 %{which}.{axis}.any, 0",
        f"  %{axis}.last = sub i64 %{count}, 1",
    ]
    for x in ("to", "from"):
        start = f"%given.{x}" if axis == "step" else f"%{x}.at"
        result = f"%{x}.at" if axis == "step" else f"%{x}"
        lines += [
            f"  %{x}.{axis}.all = mul i64 %{x}.{axis}.any, %{axis}.last",
            f"  %{x}.{axis}.begin = select i1 %{axis}.back, i64 %{x}.{axis}.all, i64 0",
            f"  {result} = getelementptr i8, ptr {start}, i64 %{x}.{axis}.begin",
            f"  %{x}.{axis}.turned = sub i64 0, %{x}.{axis}.any",
            f"  %{x}.{axis} = select i1 %{axis}.back, i64 %{x}.{axis}.turned, i64 %{x}.{axis}.any",
        ]
    return "\n".join(lines) + "\n"


def _by_rows(name: str, body: str, size: int) -> str:
    walks = {f"{name}.to": ("%to", "%to.row"), f"{name}.from": ("%from", "%from.row")}
    loop = loop_text(name, "%rows", body + "\n", walks=walks)
    return f"  %{name}.size = mul i64 %count, {size}\n{loop}  ret void\n"


def _packing_call(dtype: np.dtype, kind: str, dense: str, strided: str) -> str:
    function = copy_function(dtype, kind)
    places = f"ptr %{kind}.{dense}, ptr %{kind}.{strided}, i64 %{strided}.step, i64 %count"
    return f"  %{kind}.done.at = call ptr {function}({places})"


# -- tiles -------------------------------------------------------------------------------------------


def _tiles(gap: int, size: int, plain: str) -> str:
    """As many rows at once as a line has elements; what is left over goes element by element.

    They are fewer where so many rows would take each other's place in a cache of twelve ways.
    Where there are gaps, there is one behind the last element of a row that is moved so: it is read, too.
    """
    n, width = f"t{gap}", _WIDTHS[size]
    height = max(width, _LINE // size)
    steps = f"""  %{n}.bits = and i64 %to.row, {_MANY_ROWS // height - 1}
  %{n}.is.same = icmp eq i64 %{n}.bits, 0
  %{n}.most = select i1 %{n}.is.same, i64 {min(height, _FEW_ROWS)}, i64 {height}
  %{n}.from.high = mul i64 %{n}.most, {gap * size}
"""
    steps += "".join(f"  %{n}.from{i} = mul i64 %from.step, {i}\n" for i in range(width))
    steps += "".join(f"  %{n}.to{i} = mul i64 %to.row, {i}\n" for i in range(width))
    steps += "".join(f"  %{n}.ahead{i} = mul i64 %from.step, {_AHEAD + i}\n" for i in range(width))
    groups = loop_text(
        f"{n}.group",
        f"%{n}.rows",
        _group(n, gap, size),
        step=f"%{n}.most",
        walks={
            f"{n}.group.to": ("%to", f"%{n}.to.high"),
            f"{n}.group.from": ("%from", f"%{n}.from.high"),
        },
    )
    return f"""  %{n}.near = sub i64 %rows, {gap - 1}
  %{n}.rows = and i64 %{n}.near, -{width}
  %{n}.columns = and i64 %count, -{width}
  %{n}.to.wide = mul i64 %to.row, {width}
{steps}  %{n}.to.high = mul i64 %to.row, %{n}.most
  %{n}.from.wide = mul i64 %from.step, {width}
{groups}{_rest(n, plain)}"""


def _group(n: str, gap: int, size: int) -> str:
    """The tiles of so many rows."""
    width = _WIDTHS[size]
    asked = "".join(
        f"""  %{n}.later{i} = getelementptr i8, ptr %{n}.from, i64 %{n}.ahead{i}
  call void @{_PREFETCH}(ptr %{n}.later{i}, i32 0, i32 3, i32 1)
"""
        for i in range(width)
    )
    inside = loop_text(
        f"{n}.tile",
        f"%{n}.height",
        _tile(f"{n}.x", gap, size),
        step=width,
        walks={
            f"{n}.x.to": (f"%{n}.to", f"%{n}.to.wide"),
            f"{n}.x.from": (f"%{n}.from", str(width * gap * size)),
        },
    )
    columns = loop_text(
        f"{n}.column",
        f"%{n}.columns",
        asked + inside,
        step=width,
        walks={
            f"{n}.to": (f"%{n}.group.to", str(width * size)),
            f"{n}.from": (f"%{n}.group.from", f"%{n}.from.wide"),
        },
    )
    return f"""  %{n}.left = sub i64 %{n}.rows, %{n}.group
  %{n}.is.part = icmp slt i64 %{n}.left, %{n}.most
  %{n}.height = select i1 %{n}.is.part, i64 %{n}.left, i64 %{n}.most
{columns}"""


def _rest(n: str, plain: str) -> str:
    """The columns, then the rows that are no tile."""
    behind = {"to": f"%{n}.rest.to", "from": f"%{n}.rest.from", "count": f"%{n}.rest.columns"}
    columns = _call(plain, behind | {"rows": f"%{n}.rows"})
    below = {"to": f"%{n}.low.to", "from": f"%{n}.low.from", "rows": f"%{n}.rest.rows"}
    rows = _call(plain, below)
    return f"""  %{n}.rest.columns = sub i64 %count, %{n}.columns
  %{n}.rest.rows = sub i64 %rows, %{n}.rows
  %{n}.rest.to.at = mul i64 %to.step, %{n}.columns
  %{n}.rest.from.at = mul i64 %from.step, %{n}.columns
  %{n}.rest.to = getelementptr i8, ptr %to, i64 %{n}.rest.to.at
  %{n}.rest.from = getelementptr i8, ptr %from, i64 %{n}.rest.from.at
{columns}  %{n}.low.to.at = mul i64 %to.row, %{n}.rows
  %{n}.low.from.at = mul i64 %from.row, %{n}.rows
  %{n}.low.to = getelementptr i8, ptr %to, i64 %{n}.low.to.at
  %{n}.low.from = getelementptr i8, ptr %from, i64 %{n}.low.from.at
{rows}"""


def _spread(size: int, plain: str) -> str:
    """Some rows at once, which are read side by side and written apart: each line of what is read is read once."""
    item, each = item_type(size), ""
    for i in range(_SPREAD):
        each += f"""  %s.x{i} = extractelement <{_SPREAD} x {item}> %s.v, i32 {i}
  %s.to{i} = getelementptr i8, ptr %s.to, i64 %s.far{i}
  store {item} %s.x{i}, ptr %s.to{i}, align 1
"""
    loaded = f"  %s.v = load <{_SPREAD} x {item}>, ptr %s.from, align 1\n"
    walks = {"s.to": ("%s.rows.to", "%to.step"), "s.from": ("%s.rows.from", "%from.step")}
    columns = loop_text("s.column", "%count", loaded + each, walks=walks)
    walks = {"s.rows.to": ("%to", "%s.high"), "s.rows.from": ("%from", str(_SPREAD * size))}
    groups = loop_text("s.group", "%s.rows", columns, step=_SPREAD, walks=walks)
    far = "".join(f"  %s.far{i} = mul i64 %to.row, {i}\n" for i in range(_SPREAD))
    rest = {"to": "%s.rest.to", "from": "%s.rest.from", "rows": "%s.rest"}
    return f"""  %s.is.near = icmp eq i64 %from.row, {size}
  %s.some = and i64 %rows, -{_SPREAD}
  %s.rows = select i1 %s.is.near, i64 %s.some, i64 0
  %s.rest = sub i64 %rows, %s.rows
  %s.high = mul i64 %to.row, {_SPREAD}
  %s.rest.to.at = mul i64 %to.row, %s.rows
  %s.rest.from.at = mul i64 %from.row, %s.rows
  %s.rest.to = getelementptr i8, ptr %to, i64 %s.rest.to.at
  %s.rest.from = getelementptr i8, ptr %from, i64 %s.rest.from.at
{far}{groups}{_call(plain, rest)}"""


def _tile(x: str, gap: int, size: int) -> str:
    """Load the columns of a tile as vectors, store its rows.

    So many rows are written at once that the machine does not see where they go on.
    """
    width, loads, stores = _WIDTHS[size], "", ""
    for i in range(width):
        n = x.split(".")[0]
        loads += f"  %{x}.from{i} = getelementptr i8, ptr %{x}.from, i64 %{n}.from{i}\n"
        stores += f"""  %{x}.to{i} = getelementptr i8, ptr %{x}.to, i64 %{n}.to{i}
  %{x}.later{i} = getelementptr i8, ptr %{x}.to{i}, i64 {_LINE}
  call void @{_PREFETCH}(ptr %{x}.later{i}, i32 1, i32 3, i32 1)
"""
    columns: list[str] = []
    for i in range(width):
        text, name = _loaded(f"{x}.v{i}", gap, size, f"%{x}.from{i}")
        loads, columns = loads + text, [*columns, name]
    turned, rows = transposed(x, size, columns)
    for i, row in enumerate(rows):
        stores += f"  store <{width} x {item_type(size)}> {row}, ptr %{x}.to{i}, align 1\n"
    return loads + turned + stores


def _loaded(name: str, gap: int, size: int, place: str) -> tuple[str, str]:
    """Load a vector of every `gap`-th element: the even ones of twice as many, the last of which is not needed."""
    width, item = _WIDTHS[size], item_type(size)
    vector = f"<{width} x {item}>"
    if gap == 1:
        return f"  %{name} = load {vector}, ptr {place}, align 1\n", f"%{name}"
    listed = ", ".join(f"i32 {gap * k}" for k in range(width))
    loaded = f"<{gap * width} x {item}>"
    return (
        f"""  %{name} = load {loaded}, ptr {place}, align 1
  %{name}.even = shufflevector {loaded} %{name}, {loaded} poison, <{width} x i32> <{listed}>
""",
        f"%{name}.even",
    )
