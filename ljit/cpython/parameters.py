"""The parameters of a function's code object, in the order in which graphs have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import CodeType, FunctionType
from typing import TypeVar

__all__ = [
    "arrange",
    "defaults_of",
    "has_keywords",
    "has_rest",
    "is_by_position",
    "keyword_only",
    "named_parameters",
]

_T = TypeVar("_T")

_VARARGS, _VARKEYWORDS = 0x04, 0x08  # co_flags, see the documentation of `inspect`


def named_parameters(code: CodeType) -> tuple[str, ...]:
    """Give the names of the parameters that take one argument each: keyword-only ones last.

    A graph has ``*args`` and ``**kwargs`` behind these.
    """
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def keyword_only(code: CodeType) -> tuple[str, ...]:
    """Give the names of the parameters that a call can only give by name."""
    return named_parameters(code)[code.co_argcount :]


def has_rest(code: CodeType) -> bool:
    """Whether there is a parameter ``*args``, which takes the rest of the positional arguments as a tuple."""
    return bool(code.co_flags & _VARARGS)


def has_keywords(code: CodeType) -> bool:
    """Whether there is a parameter ``**kwargs``, which takes the rest of the keyword arguments as a dict."""
    return bool(code.co_flags & _VARKEYWORDS)


def is_by_position(code: CodeType) -> bool:
    """Whether a call can give each parameter its value by position."""
    return not (code.co_kwonlyargcount or has_rest(code) or has_keywords(code))


def arrange(
    code: CodeType, positional: Sequence[_T], keywords: Mapping[str, _T]
) -> dict[str, _T | None] | None:
    """Give what each named parameter gets, None if that is its default; None: they do not take these arguments."""
    names = named_parameters(code)
    given = dict(zip(names, positional, strict=False))
    if len(positional) > code.co_argcount or given.keys() & keywords.keys():
        return None
    if not keywords.keys() <= set(names[code.co_posonlyargcount :]):
        return None
    given.update(keywords)
    return {name: given.get(name) for name in names}


def defaults_of(function: FunctionType) -> dict[str, object]:
    """Give the defaults of a function's parameters.

    Decorators give wrappers the defaults of other functions: those without a parameter do not count.
    """
    code, by_name = function.__code__, function.__kwdefaults__ or {}
    positional = code.co_varnames[: code.co_argcount]
    found = dict(zip(reversed(positional), reversed(function.__defaults__ or ()), strict=False))
    return found | {name: by_name[name] for name in keyword_only(code) if name in by_name}
