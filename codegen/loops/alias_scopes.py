"""What LLVM is told of the arrays of a loop: which of them do not overlap.

In a nest whose loops were reordered none do, which was tested in front. Else an array that the function has made, and
has not handed on yet, overlaps no other one:

    out = np.zeros(n)
    for i in range(n):
        out[i] = w[0] * x[i]        # a store to `out` changes neither w[0], which stays in a register, nor x[i + 1]

LLVM takes this for true of all trips of the loops around at once, so it is not said of arrays that change there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ljit.analysis.alias import is_own_in
from ljit.codegen.llvm.forms import array_parts
from ljit.codegen.loops.watches import inner_loops, is_jammed, is_unrolled
from ljit.ir import Effect, Node, Value
from ljit.ops.control import LOOP
from ljit.types import ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.forms import Native

__all__ = ["alias_scopes"]


@contextmanager
def alias_scopes(e: Emitter, loop: Node, env: Mapping[Value, Native]) -> Iterator[None]:
    """Let accesses to elements in a loop say of which array they are."""
    if is_jammed(loop) and not all(map(is_unrolled, inner_loops(loop))):
        saved, e.scopes = e.scopes, {}  # LLVM would store pairs of the trips, not all at once
        yield
        e.scopes = saved
        return
    around = [owner for owner in loop.owners() if owner.op is LOOP]
    is_tested = bool(loop.attrs.get("reordered"))
    if any(owner.attrs.get("reordered") for owner in around) if is_tested else around or e.is_quick:
        yield
        return
    arrays = _accessed(loop)
    apart = [a for a in arrays if is_tested or is_own_in(a, loop)]
    saved = e.scopes
    if apart and len(arrays) > 1 and not any(a.is_inside(o) for a in arrays for o in around):
        e.scopes = _suffixes(e, arrays, apart, env)
    yield
    e.scopes = saved


def _accessed(loop: Node) -> dict[Value, bool]:
    """The arrays of which elements are accessed in a loop, and whether they are stored to."""
    arrays: dict[Value, bool] = {}
    for node in loop.walk():
        array = node.inputs[0] if node.inputs else None
        effects = node.op.effects_of(node)
        if array is None or not isinstance(array.type, ArrayType):
            continue
        if effects & (Effect.READ | Effect.WRITE):
            arrays[array] = arrays.get(array, False) or bool(effects & Effect.WRITE)
    return {a: is_stored for a, is_stored in arrays.items() if not a.is_inside(loop)}


def _suffixes(
    e: Emitter, arrays: Mapping[Value, bool], apart: Sequence[Value], env: Mapping[Value, Native]
) -> dict[str, str]:
    """The metadata of accesses, by the addresses of their arrays; nothing overlaps with those `apart`."""
    module = e.f.module
    address = {a: array_parts(env[a]).data.text for a in arrays}
    domain = module.distinct_metadata("!{{self}}")
    scopes = {a: module.distinct_metadata(f"!{{{{self}}, {domain}}}") for a in arrays}
    suffixes = {}
    for a, own in scopes.items():
        others = [
            scope
            for b, scope in scopes.items()
            if (arrays[a] or arrays[b]) and (a in apart or b in apart) and address[a] != address[b]
        ]
        suffix = f", !alias.scope {module.metadata(f'!{{{own}}}')}"
        listed = ", ".join(others)
        if others:
            suffix += f", !noalias {module.metadata(f'!{{{listed}}}')}"
        suffixes[address[a]] = suffix
    return suffixes
