"""Loops of functions that are written as text: what moves elements of memory, whatever the program."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["loop_text"]


def loop_text(
    name: str,
    stop: str,
    body: str,
    *,
    step: int | str = 1,
    walks: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    sums: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    properties: str = "",
) -> str:
    """A loop `name` from 0 on; `walks` are the places that it carries, with where they begin and their bytes a trip.

    `sums` are numbers that it carries, with their types and firsts: `body` makes the next, `%name.next`. `properties`:
    what LLVM is told of the loop, a node of metadata.
    """
    hint = properties and f", !llvm.loop {properties}"
    begun: dict[str, tuple[str, str]] = {x: ("ptr", start) for x, (start, _) in walks.items()}
    begun |= sums
    carried = "".join(
        f"\n  %{x} = phi {type_} [ {start}, %{name}.before ], [ %{x}.next, %{name}.latch ]"
        for x, (type_, start) in begun.items()
    )
    moved = "".join(
        f"\n  %{x}.next = getelementptr i8, ptr %{x}, i64 {far}" for x, (_, far) in walks.items()
    )
    return f"""  br label %{name}.before
{name}.before:
  br label %{name}.head
{name}.head:
  %{name} = phi i64 [ 0, %{name}.before ], [ %{name}.next, %{name}.latch ]{carried}
  %{name}.more = icmp slt i64 %{name}, {stop}
  br i1 %{name}.more, label %{name}.body, label %{name}.done
{name}.body:
{body}  br label %{name}.latch
{name}.latch:
  %{name}.next = add nuw nsw i64 %{name}, {step}{moved}
  br label %{name}.head{hint}
{name}.done:
"""
