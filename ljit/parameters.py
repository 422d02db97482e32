"""The parameters of a function's code object, in the order in which graphs have them."""

from __future__ import annotations

from types import CodeType

__all__ = ["has_keywords", "has_rest", "is_by_position", "named_parameters"]

_VARARGS, _VARKEYWORDS = 0x04, 0x08  # co_flags, see the documentation of `inspect`


def named_parameters(code: CodeType) -> tuple[str, ...]:
    """Give the names of the parameters that take one argument each: keyword-only ones last.

    A graph has ``*args`` and ``**kwargs`` behind these.
    """
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def has_rest(code: CodeType) -> bool:
    """Whether there is a parameter ``*args``, which takes the rest of the positional arguments as a tuple."""
    return bool(code.co_flags & _VARARGS)


def has_keywords(code: CodeType) -> bool:
    """Whether there is a parameter ``**kwargs``, which takes the rest of the keyword arguments as a dict."""
    return bool(code.co_flags & _VARKEYWORDS)


def is_by_position(code: CodeType) -> bool:
    """Whether a call can give each parameter its value by position."""
    return not (code.co_kwonlyargcount or has_rest(code) or has_keywords(code))
