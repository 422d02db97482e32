"""Destinations of a loop nest that overlap its operands: as in NumPy, all is computed as if nothing were stored yet.

Results go to temporary blocks first, of some steps along the outermost axis: one if that is 512 elements or more, else
so many as have about 512. A block is copied to its place once no block to come reads what it overwrites. For stencils
in place, ``a[1:-1] = a[:-2] + a[2:]``, that is the block behind: a ring of two blocks is enough, and the array is read
and written once. How far behind, the addresses say at run time; where they are not so regular one block has all. A
destination is safe if each element is read just before it is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.arrays.arrays import new_array
from ljit.codegen.llvm.builder import FALSE, TRUE, FunctionBuilder, Ref, integer
from ljit.codegen.llvm.forms import array_parts
from ljit.codegen.llvm.shared_code import HAZARD, shared_function
from ljit.codegen.nests.nest_space import ONE, ZERO, Operand, Space
from ljit.records import Record
from ljit.types import ArrayType

__all__ = ["Redirection", "block_shift", "hazard_of", "redirect_overlapping"]

_PURE = "nounwind willreturn memory(none)"
_RING = 4  # blocks at most; two are enough where results wait for one
_BLOCK = 9  # 1 << 9 elements are a block
_ZEROS = "llvm.ctlz.i64"
_ALL = 2**32


class Redirection(Record):
    """A target whose blocks go to `temporary` first if the condition `overlaps` holds.

    If `is_ring`, block k lies at ``k & mask`` there and can be copied behind block ``k + delay``; else it is copied
    behind all others. If nothing overlaps, `temporary` is the target itself.
    """

    target: Operand
    temporary: Operand
    overlaps: Ref
    is_ring: Ref
    delay: Ref
    mask: Ref


def redirect_overlapping(
    space: Space, into: Sequence[Operand], others: Sequence[object], *, may_leave: bool
) -> list[Redirection | None]:
    """Say for each target where its values go; None: there at once. `others` are what it may overlap.

    `may_leave`: the body can leave in the middle. All is done again then, from the last Snapshot on: what was computed
    of the target since, too. So it takes no value before all are there.
    """
    redirected: list[Redirection | None] = []
    if not space.ndim:  # one element: all is computed before anything is stored
        return [None for _ in into]
    for target in into:
        hazards = _Hazards(space, target)
        if may_leave:
            hazards.worst = integer("i64", _ALL)
        for x in () if may_leave else others:
            if isinstance(x, Operand) and x is not target and not x.is_range:
                hazards.add(x, is_strict=x in into)
        redirected.append(hazards.redirection())
    return redirected


class _Hazards:
    """What is known of the operands that a target overlaps."""

    def __init__(self, space: Space, target: Operand) -> None:
        self.space = space
        self.f = space.f
        self.target = target
        self.worst = ZERO  # of what `_hazard_function` says

    def add(self, x: Operand, *, is_strict: bool) -> None:
        if not is_strict and _is_same_view(self.target, x):
            return
        found = hazard_of(self.space, self.target, x, is_strict=is_strict)
        is_worse = self.f.icmp("sgt", found, self.worst)
        self.worst = self.f.select(is_worse, found, self.worst)

    def redirection(self) -> Redirection | None:
        f, space = self.f, self.space
        overlaps = f.icmp("ne", self.worst, 0)
        if overlaps is FALSE:
            return None
        is_ring = f.binary("and", overlaps, f.icmp("sle", self.worst, _RING))
        delay = f.binary("sub", self.worst, 1)
        ring = f.select(f.icmp("sle", delay, 1), integer("i64", 2), _RING)
        block = f.binary("shl", ring, block_shift(f, space.sizes))
        return Redirection(
            self.target,
            self._temporary(overlaps, f.select(is_ring, block, space.sizes[0])),
            overlaps,
            is_ring,
            delay,
            f.select(is_ring, f.binary("sub", ring, 1), -1),
        )

    def _temporary(self, overlaps: Ref, steps: Ref) -> Operand:
        """Memory for so many steps along the outermost axis if there is an overlap, else that of the target."""
        f, target, sizes = self.f, self.target, self.space.sizes
        own = [integer("i64", target.dtype.itemsize)]
        for size in reversed(sizes[1:]):
            own.insert(0, f.mul(own[0], size))
        count = f.mul(steps, _product(f, sizes[1:]))
        make, go_on = f.new_block("temporary"), f.new_block("target")
        direct = f.condbr(overlaps, make, go_on, unlikely=True)
        f.start(make)
        made = new_array(self.space.e, ArrayType(target.dtype, (None,)), [count])
        left = f.br(go_on)
        f.start(go_on)
        data = f.phi("ptr")
        if overlaps is not TRUE:
            data.add(target.data, direct)
        data.add(array_parts(made).data, left)
        strides = [f.select(overlaps, a, b) for a, b in zip(own, target.strides, strict=True)]
        return target.with_changes(strides=strides, data=data, is_plain=False, steps=strides)


def hazard_of(space: Space, target: Operand, x: Operand, *, is_strict: bool) -> Ref:
    """What the target's blocks have to wait for because of an operand; 0: for nothing.

    `is_strict`: an operand that is the same view of the same memory counts, too.
    """
    sizes = (integer("i64", a.dtype.itemsize) for a in (target, x))
    strict = TRUE if is_strict else FALSE
    axes = (*space.sizes, *target.strides, *x.strides)
    function = _hazard_function(space.ndim)
    return space.f.call("i64", function, (target.data, x.data, *sizes, strict, *axes), _PURE)


def block_shift(f: FunctionBuilder, sizes: Sequence[Ref]) -> Ref:
    """How many steps along the outermost axis are a block of a ring: 1 << shift."""
    inside = _product(f, sizes[1:])
    if inside.constant == 1:
        return integer("i64", _BLOCK)
    f.module.declare(_ZEROS, "i64", ("i64", "i1"))
    zeros = f.call("i64", _ZEROS, [f.binary("sub", inside, 1), FALSE], _PURE)
    shift = f.binary("sub", zeros, 64 - _BLOCK)
    return f.select(f.icmp("slt", shift, 0), ZERO, shift)


def _product(f: FunctionBuilder, sizes: Sequence[Ref]) -> Ref:
    result = ONE
    for size in sizes:
        result = f.mul(result, size)
    return result


def _is_same_view(a: Operand, b: Operand) -> bool:
    """Whether both surely are the same elements."""
    if a.dtype.itemsize != b.dtype.itemsize or a.data.text != b.data.text:
        return False
    return all(x.text == y.text for x, y in zip(a.strides, b.strides, strict=True))


def _hazard_function(ndim: int) -> str:
    """The function that says what a target's blocks have to wait for because of one operand.

    0: for nothing, as each element is read just before it is written. 1 + d: for the d blocks behind. `_ALL`: for all.
    It takes the addresses, the sizes of elements, whether being the same view is a hazard, too, and for each axis
    the size and both strides. Written out for each pair it takes LLVM longer than the loops.
    """
    name = f"{HAZARD}{ndim}"
    params = ("ptr", "ptr", "i64", "i64", "i1", *("i64",) * (3 * ndim))
    return shared_function(
        name,
        lambda module: _write_hazard(module.function(name, "i64", params), ndim),
        straight=True,
    )


def _write_hazard(f: FunctionBuilder, ndim: int) -> None:
    target, x, item, other_item, strict, *axes = f.params
    sizes, strides, others = axes[:ndim], axes[ndim : 2 * ndim], axes[2 * ndim :]
    start, other_start = (f.convert("ptrtoint", data, "i64") for data in (target, x))
    low, high = _extent(f, start, item, sizes, strides)
    x_low, x_high = _extent(f, other_start, other_item, sizes, others)
    same = TRUE
    for mine, other in zip(strides, others, strict=True):
        same = f.binary("and", same, f.icmp("eq", mine, other))
    is_safe = f.binary("and", f.icmp("eq", start, other_start), f.icmp("eq", item, other_item))
    is_safe = f.binary("and", f.binary("and", is_safe, same), f.bool_not(strict))
    meet = f.binary("and", f.icmp("ult", low, x_high), f.icmp("ult", x_low, high))
    wait = integer("i64", _ALL)
    block = f.binary("shl", ONE, block_shift(f, sizes))
    step = f.binary("mul", block, strides[0])
    behind, is_regular = _blocks_behind(
        f, start, other_start, item, step, ([block, *sizes[1:]], strides)
    )
    is_regular = f.binary("and", f.binary("and", is_regular, same), f.bool_not(strict))
    are_some = f.icmp("sgt", sizes[0], f.binary("mul", block, 2))  # little waits as a whole
    is_regular = f.binary("and", is_regular, are_some)
    wait = f.select(is_regular, f.binary("add", behind, 1), wait)
    is_hazard = f.binary("and", meet, f.bool_not(is_safe))
    look, done = f.new_block("look"), f.new_block("done")
    f.condbr(is_hazard, look, done)
    f.start(look)
    offset = f.binary("sub", other_start, start)
    is_apart = f.binary("and", same, _lies_between(f, offset, item, other_item, strides))
    f.ret(f.select(is_apart, ZERO, wait))
    f.start(done)
    f.ret(ZERO)


def _lies_between(
    f: FunctionBuilder, offset: Ref, item: Ref, other_item: Ref, strides: Sequence[Ref]
) -> Ref:
    """Whether elements so many bytes on lie between others of the same strides, as those of two columns do."""
    *outer, last = strides
    length = f.select(f.icmp("slt", last, 0), f.binary("sub", ZERO, last), last)
    length = f.select(f.icmp("eq", length, 0), ONE, length)
    rest = f.binary("srem", offset, length)
    rest = f.select(f.icmp("slt", rest, 0), f.binary("add", rest, length), rest)
    found = f.icmp("sle", f.binary("add", rest, other_item), length)
    found = f.binary("and", found, f.icmp("sge", rest, item))
    for stride in outer:
        is_multiple = f.icmp("eq", f.binary("srem", stride, length), 0)
        found = f.binary("and", found, is_multiple)
    return found


def _extent(
    f: FunctionBuilder, start: Ref, item: Ref, sizes: Sequence[Ref], strides: Sequence[Ref]
) -> tuple[Ref, Ref]:
    low, high = start, f.binary("add", start, item)
    for size, stride in zip(sizes, strides, strict=True):
        reach = f.binary("mul", f.binary("sub", size, 1), stride)
        is_negative = f.icmp("slt", reach, 0)
        low = f.binary("add", low, f.select(is_negative, reach, 0))
        high = f.binary("add", high, f.select(is_negative, ZERO, reach))
    return low, high


def _blocks_behind(
    f: FunctionBuilder,
    start: Ref,
    other_start: Ref,
    item: Ref,
    step: Ref,
    axes: tuple[Sequence[Ref], Sequence[Ref]],
) -> tuple[Ref, Ref]:
    """How many blocks back in the target a block of an operand with its strides reaches; whether it is so for each.

    `step`: from block to block; `axes`: the sizes and strides of one.
    """
    length, is_regular = item, f.icmp("sgt", step, 0)
    for size, stride in zip(*axes, strict=True):
        length = f.binary("add", length, f.binary("mul", f.binary("sub", size, 1), stride))
        is_regular = f.binary("and", is_regular, f.icmp("sge", stride, 0))
    is_regular = f.binary("and", is_regular, f.icmp("sle", length, step))
    distance = f.binary("add", f.binary("sub", start, other_start), f.binary("sub", length, 1))
    divisor = f.select(f.icmp("sgt", step, 0), step, 1)
    blocks = f.binary("sdiv", distance, divisor)
    blocks = f.select(f.icmp("slt", blocks, 0), ZERO, blocks)
    return blocks, f.binary("and", is_regular, f.icmp("slt", blocks, _RING))
