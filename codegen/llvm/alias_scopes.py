"""What LLVM is told of the arrays of a nest whose loops were reordered: they do not overlap, which was tested in front.

LLVM takes this for true of all trips of the loops around the nest at once, so it is not said of arrays that change
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ljit.codegen.llvm.forms import array_parts
from ljit.ir import Effect, Node, Value
from ljit.ops.control import LOOP
from ljit.types import ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter
    from ljit.codegen.llvm.builder import ModuleBuilder
    from ljit.codegen.llvm.forms import Native

__all__ = ["alias_scopes"]


@contextmanager
def alias_scopes(e: Emitter, loop: Node, env: Mapping[Value, Native]) -> Iterator[None]:
    """Let accesses to elements in a loop say of which array they are."""
    if e.scopes or not loop.attrs.get("reordered"):
        yield
        return
    arrays: dict[Value, bool] = {}  # whether they are stored to
    for node in loop.walk():
        effects = node.op.effects_of(node)
        if effects & (Effect.READ | Effect.WRITE) and isinstance(node.inputs[0].type, ArrayType):
            array = node.inputs[0]
            arrays[array] = arrays.get(array, False) or bool(effects & Effect.WRITE)
    around = [owner for owner in loop.owners() if owner.op is LOOP]
    if len(arrays) > 1 and not any(a.is_inside(owner) for a in arrays for owner in around):
        stored = {array_parts(env[a]).data.text: is_stored for a, is_stored in arrays.items()}
        e.scopes = _suffixes(e.f.module, stored)
    yield
    e.scopes = {}


def _suffixes(module: ModuleBuilder, stored: Mapping[str, bool]) -> dict[str, str]:
    """The metadata of accesses, by the addresses of their arrays."""
    domain = module.distinct_metadata("!{{self}}")
    scopes = {data: module.distinct_metadata(f"!{{{{self}}, {domain}}}") for data in stored}
    suffixes = {}
    for data, own in scopes.items():
        others = [s for d, s in scopes.items() if d != data and (stored[data] or stored[d])]
        suffixes[data] = f", !alias.scope {module.metadata(f'!{{{own}}}')}"
        listed = ", ".join(others)
        if others:
            suffixes[data] += f", !noalias {module.metadata(f'!{{{listed}}}')}"
    return suffixes
