"""Characters: strs of at most one character, which native code holds as their codes.

They come from strs that are read and from constants. Where one is joined with another str, and for each op that does
not say that it takes them (`OpDef.takes_characters`), they are strs like all others.
"""

from __future__ import annotations

from functools import lru_cache

from ljit.types import ANY, CHARACTER, STR, ArrayType, ItemsType, Type
from ljit.unique import forgets_classes
from ljit.value_types import type_of

__all__ = [
    "EMPTY",
    "as_text",
    "code_of",
    "constant_type",
    "grows_by_character",
    "has_characters",
    "is_text",
]

EMPTY = -1  # in the place of a code


def code_of(text: str) -> int:
    """How native code holds a character."""
    return ord(text) if text else EMPTY


def is_text(t: Type) -> bool:
    """Whether it is the type of strs, or of characters."""
    return t in (STR, CHARACTER)


@forgets_classes
@lru_cache(maxsize=4096)
def has_characters(t: Type) -> bool:
    """Whether values of the type are characters, or tuples with such."""
    return t == CHARACTER or (isinstance(t, ItemsType) and any(map(has_characters, t.items)))


@forgets_classes
@lru_cache(maxsize=4096)
def as_text(t: Type) -> Type:
    """Give the type with strs in the place of characters.

    >>> from ljit.types import TupleType
    >>> str(as_text(TupleType((CHARACTER, STR))))
    '(str, str)'
    """
    if t == CHARACTER:
        return STR
    return t.with_items(map(as_text, t.items)) if has_characters(t) else t  # type: ignore[attr-defined]


def constant_type(value: object) -> Type:
    """Give the most precise type of a Python object that is known while compiling.

    Arrays are `Any`: shape, flags and memory of one may be others by the time the code runs, and no guard is there.

    >>> str(constant_type((",", "ab")))
    '(char, str)'
    """
    return _refined(type_of(value, is_constant=True), value)


def _refined(t: Type, value: object) -> Type:
    if t == STR:
        return CHARACTER if len(value) <= 1 else STR  # type: ignore[arg-type]
    if isinstance(t, ItemsType):
        return t.with_items(map(_refined, t.items, value))  # type: ignore[call-overload]
    return ANY if isinstance(t, ArrayType) else t


def grows_by_character(x: Type, y: Type) -> bool:
    """Whether a character is put behind a str."""
    return x == STR and y == CHARACTER
