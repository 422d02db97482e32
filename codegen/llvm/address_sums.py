"""Sums in optimised code that LLVM wrote as ``or``, which addresses are not made of.

    %j.1 = or disjoint i64 %j, 1          %j.1 = add nuw nsw i64 %j, 1
    %p = getelementptr i64, ptr %a, i64 %j.1

Where several trips are written one behind the other, LLVM 22 knows that the last bits of the first one's number are 0.
As a sum, the 1 is part of the address that an instruction names; as an ``or`` it takes two more instructions, and the
processor does not see ahead that a trip loads what the one before has stored: the longest common subsequence of two
arrays takes 1.4 times as long.
"""

from __future__ import annotations

__all__ = ["with_address_sums"]

_OR, _ADD = " = or disjoint i64 ", " = add nuw nsw i64 "


def with_address_sums(text: str) -> str | None:
    """Write them as sums, which they are; None if there are none."""
    return text.replace(_OR, _ADD) if _OR in text else None
