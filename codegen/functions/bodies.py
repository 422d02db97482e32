"""Functions with unboxed parameters and results, which native code calls without objects in between.

A body takes the *room* (how many frames CPython's recursion limit still allows, its own among them) and the
components of its arguments, which are borrowed. It gives the components of the result and a *status*: null; or, if
the interpreter has finished the call, its result as a new reference; or `FAILED`: a Python error is set. A result
that is an object comes alone, as the pointer that CPython's calls give.

How CPython's own count is kept right: [recursion.py](recursion.py).

What other units call (`emit_native_entry`) checks the unit's assumptions first, and may decline (`NOT_TAKEN`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ljit.analysis.signatures import Signature
from ljit.codegen.functions.recursion import check_stack
from ljit.codegen.llvm.basic_blocks import part
from ljit.codegen.llvm.builder import NULL, FunctionBuilder, ModuleBuilder, Ref, address, undef
from ljit.codegen.llvm.forms import Native, components
from ljit.codegen.llvm.partition import AGAIN, IN_PLACE, QUICK
from ljit.records import Record
from ljit.types import ArrayType, Type

__all__ = ["FAILED", "NOT_TAKEN", "Body", "flatten", "in_each_frame", "received", "unfold"]

FAILED = address(1)
NOT_TAKEN = address(2)  # nothing was done: a variable is not what the code takes it for
_CHECK_EVERY = 16  # frames between two looks at the machine's stack and at signals; a power of two
_SHORT = 250  # lines of a function in which calls are much of the time
_COPIES = 1000  # lines that copies of it may be together
_BRIEF = 75  # lines that usually run of one in which those behind the first copy are, too
_AT_CHECKPOINT = re.compile(r"^(br i1 \S+) label \S+,", re.MULTILINE)  # the first branch of a body
_IN_EACH_FRAME = "true ; but in copies"  # the comment tells it from what others write


class Body(Record, eq=True):
    """How one native function is called. `is_clean`: while it is native no unknown code runs in it."""

    name: str
    signature: Signature
    is_clean: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """LLVM types of the result's components; none if it is an object."""
        result = self.signature.result
        return () if result.is_boxed else components(result)

    @property
    def llvm_result(self) -> str:
        if self.signature.result.is_boxed:
            return "ptr"
        return f"{{{', '.join((*self.parts, 'ptr'))}}}"

    @property
    def llvm_params(self) -> list[str]:
        return ["i64", *(c for type_ in self.signature.params for c in _passed(type_))]

    def begin(self, module: ModuleBuilder) -> tuple[FunctionBuilder, list[Native]]:
        """Begin the function: check the depth; gives its arguments."""
        f = module.function(self.name, self.llvm_result, self.llvm_params, "internal")
        self._check_room(f)
        return f, self.arguments(f)

    def arguments(self, f: FunctionBuilder) -> list[Native]:
        """The arguments of a function with the body's parameters."""
        return received(self.signature.params, f.params[1:])

    def _check_room(self, f: FunctionBuilder) -> None:
        """Return if there is no room; every so many frames, also if the machine's stack is nearly full."""
        room = f.params[0]
        look, good, failed = f.new_block("look"), f.new_block("room"), f.new_block("deep")
        f.condbr(self.is_checkpoint(f), look, good, unlikely=True)
        f.start(look, cold=True)
        check_stack(f, failed, is_full=f.icmp("eq", f.convert("trunc", room, "i32"), 0))
        f.br(good)
        f.start(failed, cold=True)
        self.ret(f, [undef(part) for part in self.parts], FAILED)
        f.start(good)

    def is_checkpoint(self, f: FunctionBuilder) -> Ref:
        """Whether this frame is one that looks at more than its arguments."""
        low = f.binary("and", f.params[0], _CHECK_EVERY - 1)
        return f.icmp("eq", low, 0)

    def ret(self, f: FunctionBuilder, parts: Sequence[Ref], status: Ref) -> None:
        """Return; for a result that is an object `status` is that object, null or `FAILED`: an error."""
        if self.signature.result.is_boxed:
            none = f.icmp("eq", status, FAILED)
            f.ret(f.select(none, NULL, status))
            return
        type_, made = self.llvm_result, "undef"
        for index, ref in enumerate((*parts, status)):
            made = f.emit(type_, f"insertvalue {type_} {made}, {ref.typed}, {index}").text
        f.ret(Ref(type_, made))

    def call(
        self, f: FunctionBuilder, callee: str, room: Ref, args: Sequence[Ref]
    ) -> tuple[Native, Ref]:
        """Call `callee`, a function like this one; gives the result's value and the status."""
        made = f.call(self.llvm_result, callee, (room, *args))
        result = self.signature.result
        if result.is_boxed:
            return Native(result, (made,)), made
        parts = [f.extract(part, made, index) for index, part in enumerate(self.parts)]
        return Native(result, parts), f.extract("ptr", made, len(parts))


def unfold(f: FunctionBuilder) -> None:
    """Let a short function call itself by way of copies, each by the next one, that LLVM puts in the place of calls."""
    text, name = f.render(), f"@{f.name}("
    head, code = text.split("\n", 1)
    usual = sum(1 + len(block.lines) for block in f.blocks[: f.mark()[0]])
    levels = 0 if QUICK in head else _levels(code.count("\n"), usual, code.count(name))
    if not levels:
        return
    copies = [f"{f.name}{AGAIN}{level}" for level in range(levels)]
    f.module.functions.remove(f)
    f.module.scalar_sources.update([f.name] if f.is_scalar else ())
    part((f.entry, *f.blocks))
    f.module.define(f.name, f"{head}\n{code.replace(name, f'@{copies[0]}(')}")
    inside = _AT_CHECKPOINT.sub(r"\1 label %itself,", code, count=1).removesuffix("}")
    inside = inside.replace(_IN_EACH_FRAME, "false")
    for copy, following in pairwise([*copies, f.name]):
        copied = head.removesuffix("{").replace(name, f"@{copy}(") + f"{IN_PLACE} {{"
        again = inside.replace(name, f"@{following}(") + _call_itself(f)
        f.module.define(copy, f"{copied}\n{again}")


def in_each_frame(f: FunctionBuilder, asks: Ref) -> Ref:
    """A condition that holds in each frame of a function, and as `asks` does in copies of it."""
    return f.emit("i1", f"or i1 {asks}, {_IN_EACH_FRAME}")


def _call_itself(f: FunctionBuilder) -> str:
    """The end of a copy: what looks at the stack and at signals is in the function itself only."""
    passed = ", ".join(param.typed for param in f.params)
    made = f"%itself.made = call {f.result} @{f.name}({passed})"
    return f"itself:\n{made}\nret {f.result} %itself.made\n}}"


def _levels(lines: int, usual: int, calls: int) -> int:
    """How many calls deep a function of so many lines is unfolded that calls itself in so many places.

    `usual`: of these lines, those that are not cold.
    """
    most = 2 if usual <= _BRIEF else 1
    if lines > _SHORT or not calls:
        return 0
    total = copies = 1
    for level in range(most):
        copies *= calls
        total += copies
        if (total - 1) * lines > _COPIES:
            return level
    return most


def _passed(type_: Type) -> tuple[str, ...]:
    """LLVM types of an argument: its components, an array's object only once."""
    return components(type_)[1:] if isinstance(type_, ArrayType) else components(type_)


def received(types: Sequence[Type], refs: Sequence[Ref]) -> list[Native]:
    """The values of which `flatten` gave the parts."""
    rest = iter(refs)
    return [_received(type_, [next(rest) for _ in _passed(type_)]) for type_ in types]


def _received(type_: Type, refs: Sequence[Ref]) -> Native:
    return Native(type_, (refs[0], *refs) if isinstance(type_, ArrayType) else refs)


def flatten(value: Native, made: Ref | None = None) -> Sequence[Ref]:
    """What is passed for a value; `made` is an array's object."""
    if not isinstance(value.type, ArrayType):
        return value.parts
    return (made if made is not None else value.parts[0], *value.parts[2:])


def room_below(f: FunctionBuilder, room: Ref, frames: int) -> Ref:
    """The room of a callee so many frames below; it stops where the callee is to look at the stack."""
    less = f.binary("sub", room, frames)
    if frames == 1:
        return less
    above = f.binary("sub", room, 1)
    stop = f.binary("and", above, -_CHECK_EVERY)
    return f.select(f.icmp("slt", less, stop), stop, less)
