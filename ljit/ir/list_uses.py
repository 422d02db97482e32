"""What is declared of ops on lists: what they do with one that is no Python object (`ListType.is_private`)."""

from __future__ import annotations

from ljit.records import Record

__all__ = ["ListUse"]


class ListUse(Record):
    """What an op does with operand 0, a list; that it is read is nothing to be declared.

    - `gives_item`: the output is an item; `gives_list`: it is the list itself.
    - `puts`: the operand that becomes an item.
    """

    gives_item: bool = False
    gives_list: bool = False
    puts: int | None = None
