"""Schemas: the parameters of an op, as Python callers name them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ljit.records import Record

__all__ = ["Schema"]


class _Parameters(Record, eq=True):
    """What the text of a `Schema` says."""

    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    defaults: Mapping[str, object]
    variadic: str | None
    written: tuple[str, ...]
    positional_only: tuple[str, ...]


class Schema:
    """Parameter names as Python callers may use them: ``(x, axis=None, *, keepdims=False)``.

    Defaults are Python literals. Names behind ``*`` are keyword-only, names before ``/`` cannot be
    keywords. ``*xs`` takes any number of operands. A ``!`` behind a name marks an operand that the op
    writes into: ``(a!, index, value)``.

    The text is read when a pass first asks: few of the schemas matter to one program.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def positional(self) -> tuple[str, ...]:
        return _parsed(self.text).positional

    @property
    def keyword_only(self) -> tuple[str, ...]:
        return _parsed(self.text).keyword_only

    @property
    def defaults(self) -> Mapping[str, object]:
        return _parsed(self.text).defaults

    @property
    def variadic(self) -> str | None:
        return _parsed(self.text).variadic

    @property
    def written(self) -> tuple[str, ...]:
        return _parsed(self.text).written

    @property
    def positional_only(self) -> tuple[str, ...]:
        return _parsed(self.text).positional_only


@cache
def _parsed(text: str) -> _Parameters:
    """Read the text of a schema. Many ops share one."""
    import ast  # only needed for the schemas that are asked about

    written = tuple(part.split("!")[0].split(",")[-1].strip(" (") for part in text.split("!")[:-1])
    arguments = ast.parse(f"def f{text.replace('!', '')}: pass").body[0].args  # type: ignore[attr-defined]
    positional = tuple(a.arg for a in arguments.posonlyargs + arguments.args)
    keyword_only = tuple(a.arg for a in arguments.kwonlyargs)
    defaults: dict[str, object] = {}
    for name, node in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        defaults[name] = ast.literal_eval(node)
    for name, node in zip(keyword_only, arguments.kw_defaults, strict=True):
        if node is not None:
            defaults[name] = ast.literal_eval(node)
    variadic = arguments.vararg.arg if arguments.vararg else None
    only = tuple(a.arg for a in arguments.posonlyargs)
    return _Parameters(positional, keyword_only, defaults, variadic, written, only)
