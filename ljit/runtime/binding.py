"""Bind call arguments to parameters as CPython does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType

from ljit.cpython.parameters import (
    defaults_of,
    has_keywords,
    has_rest,
    is_by_position,
    named_parameters,
)

__all__ = ["bind_arguments"]


def bind_arguments(
    fn: FunctionType, args: Sequence[object], kwargs: Mapping[str, object]
) -> Sequence[object] | None:
    """Give one value a parameter: positional ones, keyword-only ones, ``*args``, ``**kwargs``.

    None if the call is not right: calling `fn` itself then raises CPython's own TypeError.
    """
    code = fn.__code__
    count = code.co_argcount
    if len(args) == count and not kwargs and is_by_position(code):
        return args
    if len(args) > count and not has_rest(code):
        return None
    names = named_parameters(code)
    by_keyword = names[code.co_posonlyargcount :]
    rest: list[object] = [tuple(args[count:])] if has_rest(code) else []
    if has_keywords(code):
        rest.append({name: value for name, value in kwargs.items() if name not in by_keyword})
        kwargs = {name: value for name, value in kwargs.items() if name in by_keyword}
    args = args[:count]
    values: dict[str, object] = dict(zip(names, args, strict=False))
    taken = kwargs.keys() & values.keys()
    if taken or not kwargs.keys() <= set(by_keyword):
        return None
    values.update(kwargs)
    values = defaults_of(fn) | values
    if len(values) != len(names):
        return None
    return [values[name] for name in names] + rest
