"""Which functions there are: `elementary` declares the writer of one, `source` gives its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ljit.codegen.llvm.builder import ModuleBuilder
from ljit.codegen.llvm.partition import QUICK
from ljit.codegen.llvm.shared_code import ELEMENTARY
from ljit.codegen.mathlib.tables import has_tables
from ljit.codegen.mathlib.terms import Term, select, vector_of
from ljit.records import Record

__all__ = ["Beyond", "Source", "Writer", "declared", "elementary", "source"]

Writer = Callable[..., Term]

_BEYOND = "_beyond"
_PURE = "nounwind willreturn memory(none)"


class Beyond(Record):
    """Operands that the writer of a function need not care for: these rare ones go, one by one, to another function.

    It is of doubles, behind a branch, and compiled without optimising. Other lanes of a vector take the operands
    `instead`.
    """

    are_so: Callable[..., Term]
    instead: tuple[float, ...]
    writer: Writer


class _Function(Record):
    writer: Writer
    beyond: Beyond | None


class Source(Record):
    """The module of a function as IR text, and the function's name."""

    name: str
    text: str


_functions: dict[tuple[str, str], _Function] = {}
_with_tables: dict[tuple[str, str], _Function] = {}  # these take the place of some of them
_beyond: dict[str, Writer] = {}  # by name, with _BEYOND behind it


def elementary(
    name: str, *types: str, beyond: Beyond | None = None, with_tables: bool = False
) -> Callable[[Writer], Writer]:
    """Declare the writer of C's function `name` for operands of LLVM's ``double`` or ``float`` (or both).

    `with_tables`: the one for machines that have them (`tables.py`).
    """
    functions = _with_tables if with_tables else _functions

    def register(writer: Writer) -> Writer:
        for type_ in types:
            assert (name, type_) not in functions, f"{name} of {type_} is declared twice"
            functions[name, type_] = _Function(writer, beyond)
        if beyond is not None:
            _beyond[name + _BEYOND] = beyond.writer
        return writer

    return register


def declared(*, with_tables: bool = False) -> list[tuple[str, str]]:
    """Names and types of all functions; or of those that are others where there are tables."""
    return sorted(_with_tables if with_tables else _functions)


@cache
def source(name: str, type_: str, lanes: int = 1) -> Source:
    """The function for numbers, or for vectors."""
    is_rare = name in _beyond
    function = _Function(_beyond[name], None) if is_rare else _chosen(name, type_)
    full = f"{ELEMENTARY}{name}.{type_}" + (f".x{lanes}" if lanes > 1 else "")
    module = ModuleBuilder(full)
    vector = vector_of(type_, lanes)
    arity = function.writer.__code__.co_argcount
    f = module.function(full, vector, [vector] * arity)
    f.attributes = f"noinline {QUICK} {_PURE}" if is_rare else _PURE
    operands = [Term(f, parameter, lanes) for parameter in f.params]
    result = function.writer(*operands)
    if function.beyond is not None:
        result = _with_rare_ones(name, operands, result, function.beyond)
    f.ret(result.ref)
    return Source(full, module.render())


def _chosen(name: str, type_: str) -> _Function:
    """The function for this machine."""
    tabled = _with_tables.get((name, type_)) if has_tables() else None
    return tabled or _functions[name, type_]


def _with_rare_ones(name: str, xs: Sequence[Term], result: Term, beyond: Beyond) -> Term:
    """Replace results of rare operands."""
    f, lanes = result.f, result.lanes
    is_beyond = beyond.are_so(*xs)
    mask = f"i{lanes}"
    some = is_beyond.ref
    if lanes > 1:
        some = f.icmp("ne", f.emit(mask, f"bitcast {some.typed} to {mask}"), 0)
    cold, done = f.new_block("beyond"), f.new_block("done")
    before = f.condbr(some, cold, done, unlikely=True)
    f.start(cold)
    pairs = zip(xs, beyond.instead, strict=True)
    operands = [select(is_beyond, x, other).to("double") for x, other in pairs]
    results = select(is_beyond, _one_by_one(name, operands).to(result.type), result)
    after = f.br(done)
    f.start(done)
    final = f.phi(result.ref.type)
    final.add(result.ref, before)
    final.add(results.ref, after)
    return Term(f, final, lanes)


def _one_by_one(name: str, xs: Sequence[Term]) -> Term:
    """Call the function for rare operands with those of each lane."""
    f, lanes = xs[0].f, xs[0].lanes
    rare = f"{ELEMENTARY}{name}{_BEYOND}.double"
    if lanes == 1:
        return Term(f, f.call_external("double", rare, [x.ref for x in xs], _PURE))
    vector = xs[0].ref
    for lane in range(lanes):
        operands = [f.emit("double", f"extractelement {x.ref.typed}, i64 {lane}") for x in xs]
        found = f.call_external("double", rare, operands, _PURE)
        vector = f.emit(vector.type, f"insertelement {vector.typed}, {found.typed}, i64 {lane}")
    return Term(f, vector, lanes)
