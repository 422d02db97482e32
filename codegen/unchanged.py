"""Whether an array's object still is what native code has read from it.

Unknown code may resize an array in place, reshape it, give it another dtype or make it read-only: then
data pointer, sizes and strides in registers are out of date, and the old memory may be gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.bailout import known_object
from ljit.codegen.builder import FALSE, NULL
from ljit.codegen.forms import Native, array_parts, split
from ljit.codegen.unboxing import unbox
from ljit.types import ArrayType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["array_check"]

_REASON = "an array was resized or reshaped"


def array_check(e: Emitter, x: Native) -> None:
    """Leave if the object of an array in `x` has other parts by now; views without an object have none."""
    if not isinstance(x.type, ArrayType):
        for item in split(x):
            array_check(e, item)
        return
    f, parts = e.f, known_object(e.f, x).parts
    made = array_parts(x).object if not x.memos else parts[0]
    if made.constant is not None or not f.is_reachable:
        return
    look, done = f.new_block("look"), f.new_block("unchanged")
    f.condbr(f.icmp("eq", made, NULL), done, look)
    f.start(look)
    found = unbox(f, made, x.type, e.bailout.fail_block(_REASON)).parts
    differs = FALSE
    for new, old in zip(found[2:], parts[2:], strict=True):
        differs = f.binary("or", differs, f.icmp("ne", new, old))
    e.bailout.bail_if(differs, _REASON)
    f.br(done)
    f.start(done)
