"""``np.searchsorted`` of many numbers: functions that are compiled once in a process.

Where there are very many numbers, and the array allows it, a table finds them (`grid_searches.py`); code that was made
for fewer leaves, once, and is made anew. Else a sorted array is searched for four numbers at once, with as many looks
for all of them and no branch on what is found: a processor guesses the branches of numbers in no order wrong half of
the time. To know that it is sorted takes a look at all of it. Where that is too much for so few numbers, or it is not
sorted, each search begins at what the number before left, as NumPy's do: so it gives the same for arrays in no order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.arrays.arrays import strides_of
from ljit.codegen.kernels.grid_searches import search_grid
from ljit.codegen.llvm.builder import integer
from ljit.codegen.llvm.forms import Native, array_parts
from ljit.codegen.llvm.refs import UNPREDICTABLE
from ljit.codegen.llvm.shared_code import shared_function
from ljit.ops.control import MANY_NUMBERS
from ljit.sizes import MANY
from ljit.types import BOOL, ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_positions"]

_FEW = 3  # an array of more than count << _FEW elements is not looked at
_LANES = 4
# how far behind a place the next may be, in arrays for which that is worth a look
_NEAR, _WIDE = 3, 8


def array_positions(e: Emitter, a: Native, keys: Native, into: Native, *, after: bool) -> Native:
    """Fill a vector of int64 like `keys`; whether `a` was seen to be sorted. All but `keys` are C-contiguous."""
    assert isinstance(a.type, ArrayType)
    assert isinstance(keys.type, ArrayType)
    array, numbers = array_parts(a), array_parts(keys)
    steps = strides_of(e.f, keys.type, numbers)
    type_ = "double" if a.type.dtype.kind == "f" else "i64"
    operands = [array.data, array.sizes[0], numbers.data, numbers.sizes[0], *steps]
    operands.append(array_parts(into).data)
    if e.context.options.has_many and not e.is_quick:  # then nothing is left
        is_done = search_grid(e, type_, operands, after=after)
        operands[3] = e.f.select(is_done, integer("i64", 0), operands[3])
    elif not e.is_quick:
        e.bailout.bail_if(e.f.icmp("sge", operands[3], MANY), MANY_NUMBERS)
    name = f"positions_{'after' if after else 'before'}.{type_}"
    source = _source(name, type_, after=after)
    function = shared_function(name, lambda module: module.define(name, source))
    found = e.f.call("i1", function, operands, "nounwind")
    return Native(BOOL, (found,))


def _item(name: str, type_: str, index: str) -> str:
    return f"""  %{name}.at = getelementptr {type_}, ptr %a, i64 {index}
  %{name} = load {type_}, ptr %{name}.at"""


def _key(name: str, type_: str, index: str) -> str:
    return f"""  %{name}.offset = mul i64 %keys.step, {index}
  %{name}.at = getelementptr i8, ptr %keys, i64 %{name}.offset
  %{name} = load {type_}, ptr %{name}.at"""


def _before(name: str, type_: str, item: str, key: str, *, after: bool) -> str:
    """Whether an item is before the key, or (`after`) not behind it. NaN is highest."""
    if type_ == "i64":
        return f"  %{name} = icmp {'sle' if after else 'slt'} i64 %{item}, %{key}"
    others = f"fcmp uno double %{key}, 0.0" if after else f"fcmp ord double %{item}, 0.0"
    return f"""  %{name}.plain = fcmp {"ole" if after else "olt"} double %{item}, %{key}
  %{name}.nan = fcmp uno double %{key}, 0.0
  %{name}.other = {others}
  %{name}.both = and i1 %{name}.nan, %{name}.other
  %{name} = or i1 %{name}.plain, %{name}.both"""


def _fits(is_before: str) -> str:
    """Whether all keys of a group belong between two items."""
    return "\n".join(
        f"""  %low.{i} = {is_before} %low.item, %key.{i}
  %over.{i} = {is_before} %high.item, %key.{i}
  %not.over.{i} = xor i1 %over.{i}, true
  %fits.{i} = and i1 %low.{i}, %not.over.{i}
  %fit.{i + 1} = and i1 %fit.{i}, %fits.{i}"""
        for i in range(_LANES)
    )


def _several(type_: str, *, after: bool) -> str:
    """Blocks that search for some keys, which are numbers, at once: near the place before, if all are there."""
    lanes, order = range(_LANES), "le" if after else "lt"
    is_before = f"icmp s{order} i64" if type_ == "i64" else f"fcmp o{order} double"
    bases = "\n".join(
        f"  %base.{i} = phi i64 [ %low, %guess ], [ 0, %anywhere ], [ %base.next.{i}, %halve ]"
        for i in lanes
    )
    looks = "\n".join(
        f"""  %middle.{i} = add i64 %base.{i}, %half
  %look.{i} = sub i64 %middle.{i}, 1
{_item(f"item.{i}", type_, f"%look.{i}")}
  %is.before.{i} = {is_before} %item.{i}, %key.{i}
  %base.next.{i} = select i1 %is.before.{i}, i64 %middle.{i}, i64 %base.{i}{UNPREDICTABLE}"""
        for i in lanes
    )
    places = "\n".join(
        f"""{_item(f"last.{i}", type_, f"%base.{i}")}
  %last.before.{i} = {is_before} %last.{i}, %key.{i}
  %more.{i} = zext i1 %last.before.{i} to i64
  %place.{i} = add i64 %base.{i}, %more.{i}
  %to.{i} = getelementptr i64, ptr %into, i64 %key.place.{i}
  store i64 %place.{i}, ptr %to.{i}"""
        for i in lanes
    )
    return f"""guess:
  %near.zero = icmp eq i64 %near, 0
  %near.before = sub i64 %near, 1
  %low = select i1 %near.zero, i64 0, i64 %near.before
  %near.far = add i64 %near, {_NEAR}
  %is.within = icmp slt i64 %near.far, %size
  %top = sub i64 %size, 1
  %high = select i1 %is.within, i64 %near.far, i64 %top
{_item("low.item", type_, "%low")}
{_item("high.item", type_, "%high")}
  %fit.0 = icmp slt i64 %low, %high
{_fits(is_before)}
  %width = sub i64 %high, %low
  br i1 %fit.{_LANES}, label %halves, label %anywhere
anywhere:
  br label %halves
halves:
{bases}
  %length = phi i64 [ %width, %guess ], [ %size, %anywhere ], [ %length.next, %halve ]
  %is.long = icmp sgt i64 %length, 1
  br i1 %is.long, label %halve, label %places
halve:
  %half = lshr i64 %length, 1
  %length.next = sub i64 %length, %half
{looks}
  br label %halves
places:
{places}
  br label %group"""


def _group(type_: str) -> str:
    """Blocks that load some keys; those with a NaN are searched for one by one."""
    lanes = range(_LANES)
    keys = "\n".join(
        f"  %key.place.{i} = add i64 %g, {i}\n{_key(f'key.{i}', type_, f'%key.place.{i}')}"
        for i in lanes
    )
    nans = "  %nan.all = icmp ne i64 0, 0"
    if type_ == "double":
        each = [f"  %nan.{i} = fcmp uno double %key.{i}, 0.0" for i in lanes]
        pairs = (("low", 0, 1), ("high", 2, 3), ("all", "low", "high"))
        both = [f"  %nan.{name} = or i1 %nan.{x}, %nan.{y}" for name, x, y in pairs]
        nans = "\n".join([*each, *both])
    return f"""group:
  %g = phi i64 [ 0, %ordered ], [ %g.next, %places ], [ %limit, %single.end ]
  %near = phi i64 [ 0, %ordered ], [ %place.{_LANES - 1}, %places ], [ 0, %single.end ]
  %g.next = add i64 %g, {_LANES}
  %g.in = icmp sle i64 %g.next, %count
  br i1 %g.in, label %group.keys, label %single
group.keys:
{keys}
{nans}
  br i1 %nan.all, label %single, label %numbers
numbers:
  %is.wide = icmp sgt i64 %size, {_WIDE}
  br i1 %is.wide, label %guess, label %anywhere"""


def _search(prefix: str, type_: str, low: str, high: str, *, after: bool) -> str:
    """Blocks that search for one key in a range, and go on at the head of their loop."""
    return f"""{prefix}.search:
  %{prefix}.low = phi i64 [ {low}, %{prefix}.key ], [ %{prefix}.next.low, %{prefix}.look ]
  %{prefix}.high = phi i64 [ {high}, %{prefix}.key ], [ %{prefix}.next.high, %{prefix}.look ]
  %{prefix}.is.open = icmp slt i64 %{prefix}.low, %{prefix}.high
  br i1 %{prefix}.is.open, label %{prefix}.look, label %{prefix}.found
{prefix}.look:
  %{prefix}.distance = sub i64 %{prefix}.high, %{prefix}.low
  %{prefix}.part = lshr i64 %{prefix}.distance, 1
  %{prefix}.mid = add i64 %{prefix}.low, %{prefix}.part
{_item(f"{prefix}.item", type_, f"%{prefix}.mid")}
{_before(f"{prefix}.before", type_, f"{prefix}.item", f"{prefix}.this", after=after)}
  %{prefix}.behind = add i64 %{prefix}.mid, 1
  %{prefix}.next.low = select i1 %{prefix}.before, i64 %{prefix}.behind, i64 %{prefix}.low
  %{prefix}.next.high = select i1 %{prefix}.before, i64 %{prefix}.high, i64 %{prefix}.mid
  br label %{prefix}.search
{prefix}.found:
  %{prefix}.to = getelementptr i64, ptr %into, i64 %{prefix}.k
  store i64 %{prefix}.low, ptr %{prefix}.to
  br label %{prefix}.head"""


def _one_by_one(type_: str, *, after: bool) -> str:
    """Blocks that search for each key from the range that the one before leaves, or from all of the array."""
    return f"""single:
  %limit = phi i64 [ %count, %group ], [ %g.next, %group.keys ]
  br label %free.head
free.head:
  %free.k = phi i64 [ %g, %single ], [ %free.k.next, %free.found ]
  %free.in = icmp slt i64 %free.k, %limit
  br i1 %free.in, label %free.key, label %single.end
free.key:
  %free.k.next = add i64 %free.k, 1
{_key("free.this", type_, "%free.k")}
  br label %free.search
{_search("free", type_, "0", "%size", after=after)}
single.end:
  %is.end = icmp sge i64 %limit, %count
  br i1 %is.end, label %done, label %group
carried:
  br label %carried.head
carried.head:
  %carried.k = phi i64 [ 0, %carried ], [ %carried.k.next, %carried.found ]
  %last.key = phi {type_} [ %start, %carried ], [ %carried.this, %carried.found ]
  %min = phi i64 [ 0, %carried ], [ %carried.low, %carried.found ]
  %max = phi i64 [ %size, %carried ], [ %carried.high, %carried.found ]
  %carried.in = icmp slt i64 %carried.k, %count
  br i1 %carried.in, label %carried.key, label %carried.done
carried.key:
  %carried.k.next = add i64 %carried.k, 1
{_key("carried.this", type_, "%carried.k")}
{_before("is.up", type_, "last.key", "carried.this", after=after)}
  %is.cut = icmp slt i64 %max, %size
  %max.more = add i64 %max, 1
  %max.down = select i1 %is.cut, i64 %max.more, i64 %size
  %first.low = select i1 %is.up, i64 %min, i64 0
  %first.high = select i1 %is.up, i64 %size, i64 %max.down
  br label %carried.search
{_search("carried", type_, "%first.low", "%first.high", after=after)}
carried.done:
  ret i1 false"""


def _source(name: str, type_: str, *, after: bool) -> str:
    return f"""define i1 @{name}(ptr %a, i64 %size, ptr %keys, i64 %count, i64 %keys.step, ptr %into) nounwind {{
entry:
  %is.empty = icmp sle i64 %count, 0
  br i1 %is.empty, label %done, label %some
some:
{_key("start", type_, "0")}
  %much = shl i64 %count, {_FEW}
  %is.large = icmp sgt i64 %size, %much
  %is.nothing = icmp eq i64 %size, 0
  %is.other = or i1 %is.large, %is.nothing
  br i1 %is.other, label %carried, label %ordered
ordered:
  %o = phi i64 [ 1, %some ], [ %o.next, %ordered.on ]
  %o.in = icmp slt i64 %o, %size
  br i1 %o.in, label %ordered.look, label %group
ordered.look:
  %o.before = sub i64 %o, 1
{_item("left", type_, "%o.before")}
{_item("right", type_, "%o")}
{_before("rises", type_, "left", "right", after=True)}
  br i1 %rises, label %ordered.on, label %carried
ordered.on:
  %o.next = add i64 %o, 1
  br label %ordered
{_group(type_)}
{_several(type_, after=after)}
{_one_by_one(type_, after=after)}
done:
  ret i1 true
}}"""
