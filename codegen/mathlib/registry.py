"""Which functions there are: `elementary` declares the writer of one, `source` gives its text."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from ljit.codegen.builder import ModuleBuilder, integer
from ljit.codegen.mathlib.terms import Term, intrinsic, select, vector_of
from ljit.codegen.partition import QUICK
from ljit.codegen.shared_code import ELEMENTARY
from ljit.records import Record

__all__ = ["Source", "Writer", "declared", "elementary", "source"]

Writer = Callable[..., Term]

_BEYOND = "_beyond"
_PURE = "nounwind willreturn memory(none)"


class _Function(Record):
    writer: Writer
    limit: float


class Source(Record):
    """The module of a function as IR text, and the function's name."""

    name: str
    text: str


_functions: dict[tuple[str, str], _Function] = {}
_beyond: dict[str, Writer] = {}  # by name, with _BEYOND behind it


def elementary(
    name: str, *types: str, limit: float = math.inf, beyond: Writer | None = None
) -> Callable[[Writer], Writer]:
    """Declare the writer of C's function `name` for operands of LLVM's ``double`` or ``float`` (or both).

    With a `limit`, a function of one operand, the writer need not care for larger operands: these rare ones go, one by
    one, to the function of doubles that `beyond` writes, behind a branch. It is compiled without optimising.
    """

    def register(writer: Writer) -> Writer:
        for type_ in types:
            assert (name, type_) not in _functions, f"{name} of {type_} is declared twice"
            _functions[name, type_] = _Function(writer, limit)
        if beyond is not None:
            _beyond[name + _BEYOND] = beyond
        return writer

    return register


def declared() -> list[tuple[str, str]]:
    """Names and types of all functions."""
    return sorted(_functions)


@cache
def source(name: str, type_: str, lanes: int = 1) -> Source:
    """The function for numbers, or for vectors."""
    is_rare = name in _beyond
    function = _Function(_beyond[name], math.inf) if is_rare else _functions[name, type_]
    full = f"{ELEMENTARY}{name}.{type_}" + (f".x{lanes}" if lanes > 1 else "")
    module = ModuleBuilder(full)
    vector = vector_of(type_, lanes)
    arity = function.writer.__code__.co_argcount
    f = module.function(full, vector, [vector] * arity)
    f.attributes = f"noinline {QUICK} {_PURE}" if is_rare else _PURE
    operands = [Term(f, parameter, lanes) for parameter in f.params]
    result = function.writer(*operands)
    if function.limit < math.inf:
        result = _beyond_limit(name, operands[0], result, function.limit)
    f.ret(result.ref)
    return Source(full, module.render())


def _beyond_limit(name: str, x: Term, result: Term, limit: float) -> Term:
    """Replace results of operands that are too large."""
    f = x.f
    is_beyond = intrinsic("fabs", x) > limit
    mask = f"i{x.lanes}"
    some = is_beyond.ref
    if x.lanes > 1:
        some = f.icmp("ne", f.emit(mask, f"bitcast {some.typed} to {mask}"), integer(mask, 0))
    cold, done = f.new_block("beyond"), f.new_block("done")
    before = f.condbr(some, cold, done, unlikely=True)
    f.start(cold)
    operands = select(is_beyond, x, 2 * limit).to("double")
    results = select(is_beyond, _one_by_one(name, operands).to(x.type), result)
    after = f.br(done)
    f.start(done)
    final = f.phi(x.ref.type)
    final.add(result.ref, before)
    final.add(results.ref, after)
    return Term(f, final, x.lanes)


def _one_by_one(name: str, x: Term) -> Term:
    """Call the function for large operands with each lane."""
    f = x.f
    rare = f"{ELEMENTARY}{name}{_BEYOND}.double"
    if x.lanes == 1:
        return Term(f, f.call_external("double", rare, [x.ref], _PURE))
    vector = x.ref
    for lane in range(x.lanes):
        operand = f.emit("double", f"extractelement {x.ref.typed}, i64 {lane}")
        found = f.call_external("double", rare, [operand], _PURE)
        vector = f.emit(vector.type, f"insertelement {vector.typed}, {found.typed}, i64 {lane}")
    return Term(f, vector, x.lanes)
