"""Products of a vector and a matrix of floats: a function that all units share, for the vectors of this processor.

Where the matrix steps from element to element along the sums, four of them go along four rows in registers, and their
lanes are added at the end. Where it does so from sum to sum, the lanes are sums. Either way even and odd terms have
registers of their own, as no sum can wait for the one before. The last lanes have a mask.
"""

from __future__ import annotations

from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.loop_texts import loop_text
from ljit.codegen.nests.product_texts import OPERANDS, ProductShape, mask_text, operands_text

__all__ = ["write_vector_product"]

_ROWS = 4  # whose sums go along together
_PARAMETERS = "ptr %x, i64 %x.step, ptr %m, i64 %m.row.step, i64 %m.column.step, ptr %c, i64 %depth, i64 %sums"


def write_vector_product(module: ModuleBuilder, name: str, item: str, other: str) -> None:
    """Write the function; its operands are those of the inner loop of ``np.matmul``, which is `other`."""
    shape = ProductShape(item)
    module.define(f"{name}.declarations", shape.declarations)
    for height in (_ROWS, 1):
        along = f"{name}.along.{height}"
        module.define(along, _along_rows(shape, along, height))
    for width in range(1, shape.vectors + 1):
        across = f"{name}.across.{width}"
        module.define(across, _across(shape, across, width))
    for way, body in (("along", _all_rows(shape, name)), ("across", _all_columns(shape, name))):
        module.define(f"{name}.{way}", _function(f"{name}.{way}", body))
    module.define(
        name, f"define void @{name}{OPERANDS} nounwind {{\n{_whole(shape, name, other)}}}"
    )


def _function(name: str, body: str) -> str:
    return f"""define internal void @{name}({_PARAMETERS}) noinline nounwind {{
entry:
{body}  ret void
}}"""


def _whole(shape: ProductShape, name: str, other: str) -> str:
    """Which of the operands is the vector `x`, and which way the other one, `m`, goes; NumPy does what goes no way."""
    chosen = {
        "x.times": ("%a.step", "%b.step"),
        "m.times": ("%b.step", "%a.step"),
        "x.step": ("%a.step.in", "%b.row.step"),
        "m.row.step": ("%b.row.step", "%a.step.in"),
        "m.column.step": ("%b.column.step", "%a.row.step"),
        "made.step": ("%c.column.step", "%c.row.step"),
        "sums": ("%columns", "%rows"),
    }
    selects = "".join(
        f"  %{x} = select i1 %is.row, i64 {row}, i64 {column}\n"
        for x, (row, column) in chosen.items()
    )
    nears = "".join(
        f"  %{x}.is.near = icmp eq i64 %{x}.step, {shape.size}\n"
        for x in ("x", "m.row", "m.column", "made")
    )
    walks = {x: (f"%{x}.begin", f"%{x}.times") for x in "xm"} | {"c": ("%c.first", "%c.step")}
    call = f"  call void %function({_PARAMETERS})\n"
    return f"""entry:
{operands_text()}  %is.row = icmp eq i64 %rows, 1
  %is.column = icmp eq i64 %columns, 1
  %has.vector = or i1 %is.row, %is.column
{selects}{nears}  %x.begin = select i1 %is.row, ptr %a.first, ptr %b.first
  %m.begin = select i1 %is.row, ptr %b.first, ptr %a.first
  %are.near = and i1 %x.is.near, %m.row.is.near
  %goes.some.way = or i1 %are.near, %m.column.is.near
  %is.known = and i1 %has.vector, %made.is.near
  %is.own = and i1 %is.known, %goes.some.way
  br i1 %is.own, label %own, label %other
other:
  tail call void {other}{OPERANDS}
  ret void
own:
  %function = select i1 %are.near, ptr @{name}.along, ptr @{name}.across
{loop_text("time", "%times", call, walks=walks)}  ret void
"""


# -- sums along rows -------------------------------------------------------------------------------


def _all_rows(shape: ProductShape, name: str) -> str:
    """Four after the other, then those that are left."""
    text, walks = f"  %tiles = udiv i64 %sums, {_ROWS}\n  %left = urem i64 %sums, {_ROWS}\n", {}
    m, c = "%m", "%c"
    for height, stop in ((_ROWS, "%tiles"), (1, "%left")):
        x = f"rows.{height}"
        text += f"  %{x}.step = mul i64 %m.column.step, {height}\n"
        walks = {f"{x}.m": (m, f"%{x}.step"), f"{x}.c": (c, str(height * shape.size))}
        call = (
            f"  call void @{name}.along.{height}(ptr %x, i64 %x.step, ptr %{x}.m, i64 %m.row.step, "
            f"i64 %m.column.step, ptr %{x}.c, i64 %depth, i64 {height})\n"
        )
        text += loop_text(x, stop, call, walks=walks)
        m, c = f"%{x}.m", f"%{x}.c"
    return text


def _along_rows(shape: ProductShape, name: str, height: int) -> str:
    vector, lanes, size = shape.vector, shape.lanes, shape.size
    pair = 2 * lanes
    begun = "".join(
        f"  %offset.{r} = mul i64 %m.column.step, {r}\n"
        f"  %row.{r} = getelementptr i8, ptr %m, i64 %offset.{r}\n"
        for r in range(height)
    )
    body = ""
    for part in range(2):
        body += _at(shape, f"x{part}", "%x.at", part) + shape.loaded(f"x{part}")
        for r in range(height):
            body += _at(shape, f"m{r}.{part}", f"%m{r}.at", part) + shape.loaded(f"m{r}.{part}")
            body += shape.added(f"s{r}.{part}.next", f"x{part}", f"m{r}.{part}", f"s{r}.{part}")
    places = {"x.at": "%x", **{f"m{r}.at": f"%row.{r}" for r in range(height)}}
    sums = {f"s{r}.{part}": (vector, "zeroinitializer") for r in range(height) for part in range(2)}
    walks = {x: (start, str(pair * size)) for x, start in places.items()}
    text = loop_text("pair", "%pairs", body, walks=walks, sums=sums)
    rest = f"  %remain = sub i64 %left, %rest\n{mask_text(shape, 'remain')}"
    rest += shape.loaded("xl", is_masked=True)
    for r in range(height):
        rest += shape.loaded(f"ml{r}", is_masked=True)
        rest += shape.added(f"l{r}.next", "xl", f"ml{r}", f"l{r}")
    walks = {f"{_last(x)}.at": (f"%{x}", str(lanes * size)) for x in places}
    sums = {f"l{r}": (vector, f"%s{r}.0") for r in range(height)}
    text += loop_text("rest", "%left", rest, step=lanes, walks=walks, sums=sums)
    for r in range(height):
        text += f"""  %all.{r} = fadd {vector} %l{r}, %s{r}.1
  %sum.{r} = call reassoc {shape.item} @llvm.vector.reduce.fadd.{shape.suffix}({shape.item} 0.0, {vector} %all.{r})
  %to.{r} = getelementptr {shape.item}, ptr %c, i64 {r}
  store {shape.item} %sum.{r}, ptr %to.{r}
"""
    counts = f"  %pairs = udiv i64 %depth, {pair}\n  %left = urem i64 %depth, {pair}\n"
    return _function(name, begun + counts + text)


def _last(place: str) -> str:
    """What the place is called for the last terms: `xl` of `x.at`."""
    return "xl" if place == "x.at" else f"ml{place[1:-3]}"


def _at(shape: ProductShape, name: str, base: str, v: int) -> str:
    return f"  %{name}.at = getelementptr {shape.vector}, ptr {base}, i64 {v}\n"


# -- sums beside one another -----------------------------------------------------------------------


def _all_columns(shape: ProductShape, name: str) -> str:
    """As many after the other as registers hold."""
    width = shape.columns * shape.size
    body = f"""  %columns.left = sub i64 %sums, %column
  %filled = call i64 @llvm.smin.i64(i64 %columns.left, i64 {shape.columns})
  %last.column = sub i64 %filled, 1
  %before = udiv i64 %last.column, {shape.lanes}
{shape.chosen(f"{name}.across", "tile")}  call void %tile.function(ptr %x, i64 %x.step, ptr %m.at, i64 %m.row.step, \
i64 %m.column.step, ptr %c.at, i64 %depth, i64 %filled)
"""
    walks = {"m.at": ("%m", str(width)), "c.at": ("%c", str(width))}
    return loop_text("column", "%sums", body, step=shape.columns, walks=walks)


def _across(shape: ProductShape, name: str, width: int) -> str:
    """A sum in each lane."""
    vector = shape.vector
    both = _terms(shape, width, "x0.at", "m0.at", "e")
    both += "  %x1.at = getelementptr i8, ptr %x0.at, i64 %x.step\n"
    both += "  %m1.at = getelementptr i8, ptr %m0.at, i64 %m.row.step\n"
    both += _terms(shape, width, "x1.at", "m1.at", "o")
    walks = {"x0.at": ("%x", "%x.two"), "m0.at": ("%m", "%m.two")}
    sums = {f"{x}{v}": (vector, "zeroinitializer") for x in "eo" for v in range(width)}
    text = loop_text("pair", "%pairs", both, walks=walks, sums=sums)
    walks = {"x2.at": ("%x0.at", "0"), "m2.at": ("%m0.at", "0")}
    sums = {f"l{v}": (vector, f"%e{v}") for v in range(width)}
    one = _terms(shape, width, "x2.at", "m2.at", "l")
    text += loop_text("odd", "%is.odd", one, walks=walks, sums=sums)
    for v in range(width):
        text += f"  %sum.{v} = fadd {vector} %l{v}, %o{v}\n" + _at(shape, f"to{v}", "%c", v)
        text += shape.stored(f"sum.{v}", f"to{v}", is_masked=v == width - 1)
    begun = f"""  %last = sub i64 %sums, {(width - 1) * shape.lanes}
{mask_text(shape, "last")}  %pairs = lshr i64 %depth, 1
  %is.odd = and i64 %depth, 1
  %x.two = shl i64 %x.step, 1
  %m.two = shl i64 %m.row.step, 1
"""
    return _function(name, begun + text)


def _terms(shape: ProductShape, width: int, x: str, m: str, sums: str) -> str:
    """A number of the vector meets a row of the matrix."""
    text = shape.spread(f"{sums}.x", f"%{x}")
    for v in range(width):
        text += _at(shape, f"{sums}.m{v}", f"%{m}", v)
        text += shape.loaded(f"{sums}.m{v}", is_masked=v == width - 1)
        text += shape.added(f"{sums}{v}.next", f"{sums}.x", f"{sums}.m{v}", f"{sums}{v}")
    return text
