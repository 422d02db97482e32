"""Bind call arguments to parameters as CPython does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType

from ljit.parameters import has_rest, is_by_position, named_parameters

__all__ = ["bind_arguments"]


def bind_arguments(
    fn: FunctionType, args: Sequence[object], kwargs: Mapping[str, object]
) -> Sequence[object] | None:
    """Give one value a parameter: positional ones, keyword-only ones, ``*args``.

    None if the call is not right: calling `fn` itself then raises CPython's own TypeError.
    `fn` takes no ``**kwargs``.
    """
    code = fn.__code__
    count = code.co_argcount
    if len(args) == count and not kwargs and is_by_position(code):
        return args
    if len(args) > count and not has_rest(code):
        return None
    names = named_parameters(code)
    rest = [tuple(args[count:])] if has_rest(code) else []
    args = args[:count]
    values: dict[str, object] = dict(zip(names, args, strict=False))
    taken = kwargs.keys() & values.keys()
    if taken or not kwargs.keys() <= set(names[code.co_posonlyargcount :]):
        return None
    values.update(kwargs)
    defaults = fn.__defaults__ or ()
    for name, value in zip(names[count - len(defaults) : count], defaults, strict=True):
        values.setdefault(name, value)
    for name, value in (fn.__kwdefaults__ or {}).items():
        values.setdefault(name, value)
    if len(values) != len(names):
        return None
    return [values[name] for name in names] + rest
