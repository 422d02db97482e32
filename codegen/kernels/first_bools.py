"""Where the first element of a vector of bools is that holds, or does not: ``argmax`` and ``argmin`` of bools.

The first one ends the search. Some elements without gaps are looked at together, many at first; those that do not fit
behind the others begin before the end of these: they were looked at before, and there was none. So are some with gaps.
"""

from __future__ import annotations

__all__ = ["LEAST_AT_ONCE", "first_bool"]

LEAST_AT_ONCE = 16  # elements that take no loop over each: those of the narrowest register
_WIDE, _PARTS = 64, 4  # elements of a register, and registers that are looked at at once
_GROUP = 8  # elements with gaps

_COUNT = LEAST_AT_ONCE


def first_bool(name: str, attributes: str, *, holds: bool) -> str:
    """The function that gives the place of the first element that holds, or does not; 0 if there is none."""
    is_it = "icmp ne" if holds else "icmp eq"
    return f"""define i64 @{name}(ptr %data, i64 %size, i64 %stride) {attributes} {{
entry:
  %last = sub i64 %size, {_COUNT}
  %is.unit = icmp eq i64 %stride, 1
  %is.long = icmp sge i64 %last, 0
  %at.once = and i1 %is.unit, %is.long
  br i1 %at.once, label %blocks, label %groups
{_registers("blocks", "entry", "registers", _PARTS, is_it)}
{_registers("registers", "blocks", "rest", 1, is_it)}
rest:
  %k = phi i64 [ %registers.k, %registers ], [ %registers.k, %look.registers ], [ %next, %look ]
  %more = icmp slt i64 %k, %size
  br i1 %more, label %look, label %nowhere
look:
  %is.in = icmp slt i64 %k, %last
  %at = select i1 %is.in, i64 %k, i64 %last
{_look("rest", "at", _COUNT, 1, is_it)}
  %next = add nuw nsw i64 %k, {_COUNT}
  br i1 %rest.none, label %rest, label %found
found:
  %lane = call i{_COUNT} @llvm.cttz.i{_COUNT}(i{_COUNT} %rest.bits, i1 true)
  %lane.wide = zext i{_COUNT} %lane to i64
  %place = add i64 %at, %lane.wide
  ret i64 %place
{_groups(holds=holds)}
one:
  %i = phi i64 [ %g, %groups ], [ %g, %look.group ], [ %i.next, %look.one ]
  %i.more = icmp slt i64 %i, %size
  br i1 %i.more, label %look.one, label %nowhere
look.one:
  %offset = mul i64 %i, %stride
  %one.place = getelementptr i8, ptr %data, i64 %offset
  %x = load i8, ptr %one.place
  %is.it = {is_it} i8 %x, 0
  %i.next = add nuw nsw i64 %i, 1
  br i1 %is.it, label %here, label %one
here:
  ret i64 %i
nowhere:
  ret i64 0
}}"""


def _registers(name: str, before: str, behind: str, parts: int, is_it: str) -> str:
    """A loop over registers of elements without gaps; it ends in front of those where one is, or of the last ones."""
    count = parts * _WIDE
    come = "[ 0, %entry ]"
    if before != "entry":
        come = ", ".join(f"[ %{before}.k, %{block} ]" for block in (before, f"look.{before}"))
    return f"""{name}:
  %{name}.k = phi i64 {come}, [ %{name}.next, %look.{name} ]
  %{name}.next = add nuw nsw i64 %{name}.k, {count}
  %{name}.in = icmp sle i64 %{name}.next, %size
  br i1 %{name}.in, label %look.{name}, label %{behind}
look.{name}:
{_look(name, f"{name}.k", _WIDE, parts, is_it)}
  br i1 %{name}.none, label %{name}, label %{behind}"""


def _look(name: str, at: str, count: int, parts: int, is_it: str) -> str:
    """Whether none of some elements is one that is looked for."""
    mask, lines = f"<{count} x i1>", list[str]()
    for i in range(parts):
        lines.append(f"""  %{name}.at{i} = add i64 %{at}, {i * count}
  %{name}.place{i} = getelementptr i8, ptr %data, i64 %{name}.at{i}
  %{name}.x{i} = load <{count} x i8>, ptr %{name}.place{i}, align 1
  %{name}.are{i} = {is_it} <{count} x i8> %{name}.x{i}, zeroinitializer
  %{name}.any{i} = or {mask} %{name}.are{i}, {f"%{name}.any{i - 1}" if i else "zeroinitializer"}""")
    return "\n".join(
        [
            *lines,
            f"  %{name}.bits = bitcast {mask} %{name}.any{parts - 1} to i{count}",
            f"  %{name}.none = icmp eq i{count} %{name}.bits, 0",
        ]
    )


def _groups(*, holds: bool) -> str:
    """A loop over groups of elements with gaps: numbers that are not 0, or negative ones, say that one is there."""
    taken, is_there = (0, "icmp ne") if holds else (1, "icmp slt")
    looks = "\n".join(
        f"""  %g{i} = add i64 %g, {i}
  %g{i}.offset = mul i64 %g{i}, %stride
  %g{i}.place = getelementptr i8, ptr %data, i64 %g{i}.offset
  %g{i}.x = load i8, ptr %g{i}.place
  %g{i}.wide = zext i8 %g{i}.x to i32
  %g{i}.number = sub i32 %g{i}.wide, {taken}
  %g{i}.all = or i32 %g{i}.number, {f"%g{i - 1}.all" if i else "0"}"""
        for i in range(_GROUP)
    )
    return f"""groups:
  %g = phi i64 [ 0, %entry ], [ %g.next, %look.group ]
  %g.next = add nuw nsw i64 %g, {_GROUP}
  %g.in = icmp sle i64 %g.next, %size
  br i1 %g.in, label %look.group, label %one
look.group:
{looks}
  %is.there = {is_there} i32 %g{_GROUP - 1}.all, 0
  br i1 %is.there, label %one, label %groups"""
