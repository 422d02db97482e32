"""Which functions there are: `elementary` declares the writer of one, `source` gives its text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from ljit.codegen.builder import FunctionBuilder, ModuleBuilder
from ljit.codegen.mathlib.terms import Term
from ljit.records import Record

__all__ = ["INLINE", "SHARED", "Source", "Writer", "declared", "elementary", "source"]

Writer = Callable[..., Term]

INLINE, SHARED = (
    "inline.",
    "shared.",
)  # what the names of functions begin with, in modules that use them

_PURE = "nounwind willreturn memory(none)"
_writers: dict[tuple[str, str], Writer] = {}


class Source(Record):
    """A function as IR text, and the declarations that it needs, by name."""

    name: str
    text: str
    declared: dict[str, str]


def elementary(name: str, *types: str) -> Callable[[Writer], Writer]:
    """Declare the writer of C's function `name` for operands of LLVM's ``double`` or ``float`` (or both)."""

    def register(writer: Writer) -> Writer:
        for type_ in types:
            assert (name, type_) not in _writers, f"{name} of {type_} is declared twice"
            _writers[name, type_] = writer
        return writer

    return register


def declared() -> list[tuple[str, str]]:
    """Names and types of all functions."""
    return sorted(_writers)


@cache
def source(name: str, type_: str, *, is_shared: bool = False) -> Source | None:
    """The function as text: to be inlined, or for the module that is `shared`; None if there is none."""
    writer = _writers.get((name, type_))
    if writer is None:
        return None
    arity = writer.__code__.co_argcount
    full = f"{SHARED if is_shared else INLINE}{name}.{type_}"
    module = ModuleBuilder(full)
    linkage = "" if is_shared else "internal"
    f = FunctionBuilder(module, full, type_, [type_] * arity, linkage)
    f.attributes = _PURE if is_shared else f"alwaysinline {_PURE}"
    f.ret(writer(*(Term(f, parameter) for parameter in f.params)).ref)
    return Source(full, f.render(), module.declared)
