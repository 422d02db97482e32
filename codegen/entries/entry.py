"""The vectorcall entry of a compile unit.

An entry takes CPython's vectorcall arguments. When the call has no keywords, the right number of
arguments, arguments of the unit's types, its assumptions about global variables hold, and NumPy is
not set to raise where floats overflow, the body runs. Else it jumps, with the same arguments, to the
function that its `NextCell` names: the entry of another specialisation, the one that leaves calls to CPython
(`ljit/runtime/passing.py`), or the slow path (`ljit/codegen/functions/slow_path.py`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

from ljit.analysis.signatures import Signature
from ljit.codegen.functions.assumptions import emit_assumptions
from ljit.codegen.functions.bodies import FAILED, NOT_TAKEN, Body, flatten, received, unfold
from ljit.codegen.functions.choice import emit_choice
from ljit.codegen.functions.context import Context
from ljit.codegen.functions.recursion import EntryFrame
from ljit.codegen.functions.support import slow_entry, support
from ljit.codegen.functions.work import count_work, is_used_up, work_left
from ljit.codegen.layouts import layout
from ljit.codegen.llvm.builder import (
    NULL,
    BlockRef,
    FunctionBuilder,
    ModuleBuilder,
    Ref,
    address,
    integer,
    undef,
)
from ljit.codegen.llvm.forms import Native
from ljit.codegen.llvm.partition import QUICK
from ljit.codegen.references.boxing import Keep, box
from ljit.codegen.references.unboxing import unbox, unbox_int_by_call
from ljit.ir import Effect, Graph
from ljit.ops.control import CALL_NATIVE, LOOP
from ljit.types import INT, ArrayType, Type

__all__ = [
    "NATIVE_ENTRY",
    "VECTORCALL",
    "NextCell",
    "begin_entry",
    "emit_entry",
    "may_recurse",
    "slow_entry",
]

#: so many parameters are read in line
_FEW = 4
_WORD = 8

#: writes the body of a unit, from its arguments to the returns
EmitBody = Callable[[FunctionBuilder, Sequence[Native], Body | None], None]

#: the function that native code of other units calls
NATIVE_ENTRY = "ljit_native_entry"

VECTORCALL = ("ptr", "ptr", "i64", "ptr")  # self, args, nargsf, kwnames


class NextCell:
    """Words: where an entry goes with calls that it does not take, and how many it has taken.

    The third says where the calls are counted that may still be left to CPython behind it: there will be none behind a
    call of the right types that the entry does not take. (At first it is another word here.)
    """

    __slots__ = ("_words",)

    def __init__(self, target: int = 0) -> None:
        self._words = (ctypes.c_uint64 * 4)(target, 0)
        self.count_of_passed = self.address + 3 * _WORD

    @property
    def address(self) -> int:
        """Where the words are: they must stay alive as long as code that reads them."""
        return ctypes.addressof(self._words)

    @property
    def names(self) -> dict[int, str]:
        """What each word is, by its address."""
        return {self.address: "next entry", self.address + 8: "calls taken"}

    @property
    def target(self) -> int:
        return self._words[0]

    @target.setter
    def target(self, value: int) -> None:
        self._words[0] = value

    @property
    def count_of_passed(self) -> int:
        return self._words[2]

    @count_of_passed.setter
    def count_of_passed(self, value: int) -> None:
        self._words[2] = value

    @property
    def calls(self) -> int:
        """How many calls the entry has taken."""
        return self._words[1]


def emit_entry(
    module: ModuleBuilder, graph: Graph, context: Context, emit_body: EmitBody, name: str
) -> NextCell:
    """Write the entry function of a graph; `emit_body` writes what it does with the arguments.

    The arguments are borrowed from the caller. The body returns a new reference, or null with an
    error set. Gives the cell that says where other calls go; it must be set before the first call.
    """
    following, options = NextCell(), context.options
    context.keep(following)
    params = [param.type for param in graph.params]
    is_quick = context.work is not None
    f, arguments, reject = begin_entry(module, name, params, following, is_quick=is_quick)
    if not options.takes_all_layouts:
        _reject_contiguous(f, arguments, reject)
    due = f.new_block("due")
    if context.choice is not None:
        emit_choice(f, arguments, context.choice, context.keep(options.rival), due)
    emit_assumptions(f, options.assumptions, due, context.keep)
    if options.is_under_settings:
        _require_quiet_settings(f, due)
    _count_run(context, f, graph, due)
    _pass_no_more(f, due, following, reject)
    _count_call(f, following)
    has_loop = any(node.op is LOOP for node in graph.walk())
    if has_loop:
        f.attributes = f"nounwind noinline {QUICK}"
    if not (may_recurse(graph) or options.is_called):
        if has_loop:
            f, arguments = _begin_apart(module, f, arguments)
        emit_body(f, arguments, None)
        return following
    is_clean = not any(node.op.effects_of(node) & Effect.CALL for node in graph.walk())
    body = Body(f"{name}.body", Signature(tuple(params), options.result), is_clean)
    inner, passed = body.begin(module)
    emit_body(inner, passed, body)
    if not options.chaos and context.work is None:
        unfold(inner)
    if options.is_called:
        _emit_native_entry(module, body, context, graph)
    frame = EntryFrame.enter(f)
    refs = [part for a in arguments for part in flatten(a)]
    value, status = body.call(f, body.name, frame.room, refs)
    frame.leave(f)
    _return_object(f, value, status, context.keep)
    return following


def _begin_apart(
    module: ModuleBuilder, entry: FunctionBuilder, arguments: Sequence[Native]
) -> tuple[FunctionBuilder, list[Native]]:
    """Begin a function of its own for what the entry has found the arguments of.

    LLVM then optimises the loops without the entry, whose speed matters less than its compile time.
    """
    refs = [part for a in arguments for part in flatten(a)]
    inner = module.function(f"{entry.name}.body", "ptr", [ref.type for ref in refs], "internal")
    entry.ret(entry.call("ptr", inner.name, refs))
    return inner, received([a.type for a in arguments], inner.params)


def _reject_contiguous(f: FunctionBuilder, arguments: Sequence[Native], reject: BlockRef) -> None:
    """Hand a call on if each array that may have gaps has none: code for contiguous arrays is faster."""
    types = [(a, a.type) for a in arguments if isinstance(a.type, ArrayType)]
    arrays = [flatten(a)[0] for a, type_ in types if type_.layout != "C" and type_.ndim]
    if not arrays:
        return
    flags = integer("i32", layout.FLAG_C_CONTIGUOUS)
    for array in arrays:
        place = f.gep("i8", array, layout.ARRAY_FLAGS)
        flags = f.binary("and", flags, f.load("i32", place))
    following = f.new_block("gaps")
    f.condbr(f.icmp("ne", flags, 0), reject, following, unlikely=True)
    f.start(following)


def _pass_no_more(f: FunctionBuilder, due: BlockRef, following: NextCell, reject: BlockRef) -> None:
    """Hand on what comes to `due`, calls of the right types: the executor has something to do for these."""
    body, f.block = f.block, None
    if f.start(due, cold=True):
        f.store(integer("i64", 0), f.load("ptr", address(following.address + 2 * _WORD)))
        f.br(reject)
    f.block = body


def _require_quiet_settings(f: FunctionBuilder, reject: BlockRef) -> None:
    """Hand a call on while NumPy is set to do more than warn. Native callers have looked."""
    following = f.new_block("quiet")
    f.condbr(f.call("i1", support("are_settings_quiet"), ()), following, reject)
    f.start(following)


def _count_run(context: Context, f: FunctionBuilder, graph: Graph, reject: BlockRef) -> None:
    """Count a run of quick code, which is not for calls when its work is used up."""
    if context.work is not None:
        following = f.new_block("worth")
        left = work_left(context, f)
        f.condbr(is_used_up(context, f, left), reject, following, unlikely=True)
        f.start(following)
        count_work(context, f, sum(1 for _ in graph.block), left)


def _emit_native_entry(module: ModuleBuilder, body: Body, context: Context, graph: Graph) -> None:
    """Write the function that native code of other units calls."""
    f = module.function(NATIVE_ENTRY, body.llvm_result, body.llvm_params)
    start, f.block = f.block, None
    changed = f.new_block("changed")
    f.start(changed, reachable=True, cold=True)
    body.ret(f, [undef(part) for part in body.parts], NOT_TAKEN)
    f.block = start
    emit_assumptions(f, context.options.assumptions, changed, context.keep)
    _count_run(context, f, graph, changed)
    f.ret(f.call(body.llvm_result, body.name, f.params))


def _return_object(f: FunctionBuilder, value: Native, status: Ref, keep: Keep) -> None:
    """Return what a body gave as CPython's calls do."""
    if value.type.is_boxed:
        f.ret(status)
        return
    native, left = f.new_block("native"), f.new_block("left")
    f.condbr(f.icmp("ne", status, NULL), left, native, unlikely=True)
    f.start(left, cold=True)
    f.ret(f.select(f.icmp("eq", status, FAILED), NULL, status))
    f.start(native)
    f.ret(box(f, value, keep))


def _count_call(f: FunctionBuilder, following: NextCell) -> None:
    """Add one to the count of calls taken."""
    place = address(following.address + _WORD)
    f.store(f.binary("add", f.load("i64", place), 1), place)


def may_recurse(graph: Graph) -> bool:
    """Whether anything in the graph can come back to the unit through a call."""
    return any(
        node.op is CALL_NATIVE or node.op.effects_of(node) & Effect.CALL for node in graph.walk()
    )


def begin_entry(
    module: ModuleBuilder,
    name: str,
    params: Sequence[Type],
    following: NextCell,
    *,
    is_quick: bool = False,
) -> tuple[FunctionBuilder, list[Native], BlockRef]:
    """Begin an entry function: check the call and unbox its arguments, arrays by a call if it `is_quick`.

    Gives the builder, the arguments (borrowed), and the block that hands the call on to
    `following`, as long as nothing has been done yet.
    """
    f = module.function(name, "ptr", VECTORCALL)
    body, f.block = f.block, None
    reject = _reject_block(f, following, is_quick=is_quick)
    f.block = body
    _check_shape(f, len(params), reject)
    arguments = []
    for index, type_ in enumerate(params):
        pointer = f.load("ptr", f.gep("ptr", f.params[1], index))
        if type_ == INT and len(params) > _FEW:  # the live values of a loop rather than arguments
            arguments.append(unbox_int_by_call(f, pointer, reject))
        else:
            arguments.append(unbox(f, pointer, type_, reject, by_call=is_quick))
    return f, arguments, reject


def _reject_block(f: FunctionBuilder, following: NextCell, *, is_quick: bool) -> BlockRef:
    """The cold block that hands the call on: by a jump, if it is not `is_quick`.

    LLVM's fast instruction selection knows no such jumps: the slow one takes a fifth of the time to emit quick code.
    """
    reject = f.new_block("reject")
    f.start(reject, reachable=True, cold=True)
    target = f.load("ptr", address(following.address))
    arguments = ", ".join(p.typed for p in f.params)
    f.ret(f.emit("ptr", f"{'' if is_quick else 'musttail '}call ptr {target}({arguments})"))
    return reject


def _check_shape(f: FunctionBuilder, count: int, reject: BlockRef) -> None:
    """Exactly `count` positional arguments and no keywords, in one branch.

    Shifting drops PY_VECTORCALL_ARGUMENTS_OFFSET, the highest bit.
    """
    _, _, nargsf, kwnames = f.params
    twice = f.binary("shl", nargsf, 1)
    wrong = f.binary("xor", twice, 2 * count)
    wrong = f.binary("or", wrong, f.convert("ptrtoint", kwnames, "i64"))
    following = f.new_block("args")
    f.condbr(f.icmp("ne", wrong, 0), reject, following, unlikely=True)
    f.start(following)
