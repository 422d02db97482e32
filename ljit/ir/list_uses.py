"""What is declared of ops on lists: what they do with one that is no Python object (`ListType.is_private`)."""

from __future__ import annotations

from ljit.records import Record

__all__ = ["ListUse"]


class ListUse(Record):
    """What an op does with an operand, a list; that it is read is nothing to be declared.

    - `operand`: which one.
    - `gives_item`: the output is an item; `gives_list`: it is the list itself.
    - `copies`: the output is a new list of the items; this names the op that makes a private one of private ones.
    - `gives_view`: the output is a view whose items are tuples of one item of each operand, behind `leading` others.
    - `combines`: the output is computed of the items, and as a guess of their type.
    - `other`: an operand, a list as well, whose items are there behind those of the first.
    - `puts`: the operand that becomes an item.
    """

    operand: int = 0
    gives_item: bool = False
    gives_list: bool = False
    copies: str = ""
    gives_view: bool = False
    leading: int = 0
    combines: bool = False
    other: int | None = None
    puts: int | None = None
