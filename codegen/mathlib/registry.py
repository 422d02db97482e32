"""Which functions there are: `elementary` declares the writer of one, `source` gives its text."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from ljit.codegen.builder import ModuleBuilder, integer
from ljit.codegen.mathlib.terms import Term, intrinsic, select, vector_of
from ljit.codegen.partition import QUICK
from ljit.records import Record

__all__ = ["SHARED", "Source", "Writer", "declared", "elementary", "source"]

Writer = Callable[..., Term]

SHARED = "shared."  # what the functions' names begin with, in modules that use them

_BEYOND = "beyond"
_PURE = "nounwind willreturn memory(none)"


class _Function(Record):
    writer: Writer
    limit: float
    beyond: Writer | None  # for larger operands


class Source(Record):
    """The module of a function as IR text, and the function's name."""

    name: str
    text: str


_functions: dict[tuple[str, str], _Function] = {}


def elementary(
    name: str, *types: str, limit: float = math.inf, beyond: Writer | None = None
) -> Callable[[Writer], Writer]:
    """Declare the writer of C's function `name` for operands of LLVM's ``double`` or ``float`` (or both).

    With a `limit`, a function of one operand, the writer need not care for larger operands: these rare ones go, one by
    one, to the double function that is written by `beyond`, behind a branch.
    """

    def register(writer: Writer) -> Writer:
        for type_ in types:
            assert (name, type_) not in _functions, f"{name} of {type_} is declared twice"
            _functions[name, type_] = _Function(writer, limit, beyond)
        return writer

    return register


def declared() -> list[tuple[str, str]]:
    """Names and types of all functions."""
    return sorted(_functions)


@cache
def source(name: str, type_: str, lanes: int = 1) -> Source:
    """The function for numbers, or for vectors."""
    function = _functions[name, type_]
    full = f"{SHARED}{name}.{type_}" + (f".x{lanes}" if lanes > 1 else "")
    module = ModuleBuilder(full)
    vector = vector_of(type_, lanes)
    arity = function.writer.__code__.co_argcount
    f = module.function(full, vector, [vector] * arity)
    f.attributes = _PURE
    operands = [Term(f, parameter, lanes) for parameter in f.params]
    result = function.writer(*operands)
    if function.beyond is not None:
        result = _beyond_limit(operands[0], result, function)
    f.ret(result.ref)
    return Source(full, module.render())


def _beyond_limit(x: Term, result: Term, function: _Function) -> Term:
    """Replace results of operands that are too large."""
    f = x.f
    is_beyond = intrinsic("fabs", x) > function.limit
    mask = f"i{x.lanes}"
    some = is_beyond.ref
    if x.lanes > 1:
        some = f.icmp("ne", f.emit(mask, f"bitcast {some.typed} to {mask}"), integer(mask, 0))
    cold, done = f.new_block("beyond"), f.new_block("done")
    before = f.condbr(some, cold, done, unlikely=True)
    f.start(cold)
    operands = select(is_beyond, x, 2 * function.limit).to("double")
    results = select(is_beyond, _one_by_one(operands).to(x.type), result)
    after = f.br(done)
    f.start(done)
    final = f.phi(x.ref.type)
    final.add(result.ref, before)
    final.add(results.ref, after)
    _define_beyond(f.module, function)
    return Term(f, final, x.lanes)


def _one_by_one(x: Term) -> Term:
    """Call the function for large operands with each lane."""
    f = x.f
    if x.lanes == 1:
        return Term(f, f.call("double", _BEYOND, [x.ref]))
    vector = x.ref
    for lane in range(x.lanes):
        operand = f.emit("double", f"extractelement {x.ref.typed}, i64 {lane}")
        found = f.call("double", _BEYOND, [operand])
        vector = f.emit(vector.type, f"insertelement {vector.typed}, {found.typed}, i64 {lane}")
    return Term(f, vector, x.lanes)


def _define_beyond(module: ModuleBuilder, function: _Function) -> None:
    f = module.function(_BEYOND, "double", ["double"], "internal")
    f.attributes = f"noinline {QUICK} {_PURE}"
    assert function.beyond is not None
    f.ret(function.beyond(Term(f, f.params[0])).ref)
