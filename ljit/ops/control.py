"""Ops that make up the structure of a graph: constants, control flow, exits, guards and snapshots.

They have no `evaluate`: interpreter, specialiser and codegen each know these and only these ops by
identity (``node.op is IF``); all other ops are known through their declaration alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.characters import constant_type
from ljit.ir import UNKNOWN, Effect, OpDef, Schema, any_operands, declare
from ljit.types import ANY, BOOL, UNBOUND, Type, UnionType

__all__ = [
    "ASSUME",
    "BREAK",
    "BROADCAST",
    "BUILD",
    "CALLEE_LEFT",
    "CALL_NATIVE",
    "CATCH",
    "CHECKED_IN_FRONT",
    "CHECK_SETTINGS",
    "CONSTANT",
    "CONTINUE",
    "DEOPTIMIZE",
    "FAILS",
    "GUARD",
    "HOLDS",
    "HOT",
    "IF",
    "INTERRUPTED",
    "LOAD",
    "LONG_LOOP",
    "LOOP",
    "LOUD",
    "MANY_NUMBERS",
    "MAP",
    "NOT_ALL",
    "NOT_CAUGHT",
    "NOT_RUN",
    "NO_UINT",
    "OTHER_CALLABLE",
    "OTHER_ITEM",
    "OTHER_ORDER",
    "OTHER_SHAPES",
    "PLANNED_EXITS",
    "PROFILE",
    "RAISED",
    "RAISES",
    "REGION",
    "RERAISE",
    "RETURN",
    "SINGLE_ROWS",
    "SNAPSHOT",
    "STORE",
    "TRY",
    "TYPE_IS",
    "UNCOUNTED_TRIPS",
    "UNINITIALIZED",
    "UNREACHABLE",
    "YIELD",
]


def _control(name: str, schema: str, doc: str, **fields: object) -> OpDef:
    return declare(OpDef(f"prim::{name}", Schema(schema), doc, **fields))  # type: ignore[arg-type]


def _same(x: Type, **_attrs: object) -> Type:
    return x


def _fold_type_is(types: Sequence[Type], _constants: object, *, type: Type) -> object:
    """Decide it where a value that was a Union has become one of a single type."""
    (found,) = types
    return UNKNOWN if found == ANY or isinstance(found, UnionType) else found == type


CONSTANT = _control(
    "Constant",
    "(*, value)",
    "The Python object `value`.",
    infer=lambda *, value: constant_type(value),
    is_constant=True,
)
UNINITIALIZED = _control(
    "Uninitialized", "()", "The state of a local variable that is not bound.", infer=lambda: UNBOUND
)

LOAD = _control(
    "Load", "(*, name)", "Read a local variable; only before `convert_to_ssa`.", effects=Effect.READ
)
STORE = _control(
    "Store",
    "(value, *, name)",
    "Bind a local variable; only before `convert_to_ssa`.",
    effects=Effect.WRITE,
)

#: in `Node.proven` of an If: what its condition always is
HOLDS, FAILS = "holds", "fails"

IF = _control(
    "If",
    "(condition, *, is_erratic=False, usual=None)",
    """Run block 0 if the bool is true, else block 1. Yields of both give the outputs.

    `is_erratic`: it goes either way, and what it did before tells nothing of what it does next. `usual`: what the
    condition nearly always is, where it is better not to wait for it.""",
)
LOOP = _control(
    "Loop",
    "(start, stop, *carried, lanes=1, reordered=False, one_vector=False, most_trips=None, ends_after=None, "
    "checks='here', of_parts=False)",
    """Run block 0 with (k, carried...) for k = start, start + 1 ... while k < stop.

    Its Yield (or a Continue) gives the next carried values, a Break the outputs. When the trips are used up,
    the carried values are the outputs, or, if there is a block 1 (the `else` of a `for`), that block runs with
    the carried values as parameters and its Yield gives the outputs. There are as many outputs as carried
    values. A `while` loop has stop = 2**63 - 1 and leaves by Break. `lanes`: how many trips of the program's
    loop one trip does side by side; checks that may be late (`OpDef.is_speculatable`) are then tested together.
    `reordered`: loops of a nest in another order than the program's, whose trips have no state of the program;
    nothing in them can leave. `one_vector`: LLVM is to make one vector of trips at a time. `most_trips`: a
    `while` loop, one over a block of trips, or over those that groups of trips leave over, has no more.
    `ends_after`: the same of one in another loop, in which no polls are needed. `checks`: those of the loop
    (``"made"``; see `OpDef.may_be_checked_late`) are looked at behind it, where it can be done again, or does
    nothing but checks for another loop, which has none (``"in front"``), or asks whether a block of trips does
    anything (``"asked"``); LLVM is to make vectors of each. `of_parts`: each trip runs a part of the trips of one
    loop of the program; LLVM is to leave it at one loop.""",
    is_exit_target=True,
)
REGION = _control(
    "Region",
    "()",
    "Run block 0 once; its Yield or any Break that targets the node gives the outputs.",
    is_exit_target=True,
)
TRY = _control(
    "Try",
    "()",
    """Run block 0; what it raises goes to block 1, with the exception and the operands of the last Catch as parameters.

    Yields of both give the outputs. The exception is the one that is being handled as long as block 1 runs, whose
    exits lead anywhere around. In a specialised graph block 0 is one node, with no Catch, and nothing is being
    handled in block 1, which takes the exception alone; what else raises leaves for the interpreter.""",
    is_exit_target=True,
)
CATCH = _control(
    "Catch",
    "(*values)",
    """Say what the handler of the target Try gets from now on, up to the next Catch of it.

    A Try's block 0 starts with one. One stands behind each node that binds one of these variables anew, branches and
    loops among them, so the last one in textual order is the one that counts.""",
    effects=Effect.RAISE,  # kept although it does nothing by itself
)

YIELD = _control(
    "Yield",
    "(*values)",
    "Fall through to the owner.",
    effects=Effect.EXIT,
    is_terminator=True,
    keyword="->",
)
CONTINUE = _control(
    "Continue",
    "(*values)",
    "Start the next trip of the target Loop.",
    effects=Effect.EXIT,
    is_terminator=True,
)
BREAK = _control(
    "Break",
    "(*values)",
    "Leave the target Loop or Region with its outputs.",
    effects=Effect.EXIT,
    is_terminator=True,
)
RETURN = _control(
    "Return",
    "(value)",
    "Return from the function.",
    effects=Effect.EXIT,
    is_terminator=True,
    keyword="return",
)
RERAISE = _control(
    "Reraise",
    "()",
    "Raise the exception that is being handled once more, in the handler of a Try.",
    effects=Effect.EXIT,
    is_terminator=True,
)
UNREACHABLE = _control(
    "Unreachable",
    "()",
    "Follows an op that always raises.",
    effects=Effect.EXIT,
    is_terminator=True,
)

NOT_RUN = "not run before"  # reasons of Deoptimize
RAISES = "raises"
NOT_CAUGHT = "what no clause catches"
RAISED = "raised within try"  # by a call: the interpreter goes on in the handler
OUT_OF_RANGE = "a check could fail in some trip of the loop"  # of predicates
NOT_ALL = "a check of trips side by side failed"  # of any of them
CHECKED_IN_FRONT = "in front"  # of `Node.proven`: a loop in front has made all checks of the node
OTHER_SHAPES = "arrays that one loop nest makes have different shapes"
OTHER_ORDER = "a loop nest in another order: arrays overlap, or few trips are left inside"
LOUD = "NumPy is set to do more than warn"
OTHER_CALLABLE = "another callable"
OTHER_ITEM = "a list item of another type"
NO_UINT = "an int outside of [0, 2**64)"
BROADCAST = "an array of one element along an axis is broadcast"
SINGLE_ROWS = "many rows have one element"
MANY_NUMBERS = "more numbers are looked for than the code was made for"
INTERRUPTED = "interrupted"  # by a signal, or by another thread that needs the interpreter
LONG_LOOP = "a loop in another one is so long that it is compiled by itself"
HOT = "the code has run so much that it is worth optimising"

#: what Snapshots give for the number of trips that a ``while`` has had: counting them costs a register
UNCOUNTED_TRIPS = 2**32
#: of outlined loops, or of any code: nothing is wrong with the code that leaves for them
PLANNED_EXITS = frozenset(("loop done", "returns", "leaves the loop", INTERRUPTED, LONG_LOOP, HOT))

DEOPTIMIZE = _control(
    "Deoptimize",
    "(*, reason)",
    """Leave native code at the last Snapshot, unconditionally.

    Stands where the specialiser knows no types (never run so far), where an op always raises, and at the
    exits of an outlined loop.""",
    effects=Effect.EXIT,
    is_terminator=True,
)

CALLEE_LEFT = "the function called here left native code"  # says nothing about the call itself


def _effects_of_native_call(*_args: Type, is_clean: bool, **_attrs: object) -> Effect:
    known = Effect.READ | Effect.WRITE | Effect.RAISE | Effect.ALLOC
    return known if is_clean else known | Effect.CALL


CALL_NATIVE = _control(
    "call_native",
    "(*args, callee, result, is_clean, instead=None, check=None, is_negated=False)",
    """Call native code with unboxed arguments; `callee` None: the function that the graph belongs to.

    `instead` is called with the same arguments if the callee gives NotImplemented. `check` gives the result, of an
    object that comes back; `is_negated`: it is the opposite of the bool that native code gives.

    `result` is the type that native code gives; where the callee has left it, an object comes back, and the
    state after the call may be other than expected. So the node is followed by the Snapshot behind the call:
    there the caller leaves with an object of another type, and, if `is_clean` (no unknown code runs in the
    callee as long as it is native), with any object.""",
    infer=lambda *_args, result, **_attrs: result,
    effects=_effects_of_native_call,
)

PROFILE = _control(
    "profile",
    "(x)",
    "Record the type of `x` when the interpreter runs it; the slot is the node's id.",
    infer=_same,
    takes_characters=any_operands,
    takes_records=True,
    effects=Effect.RAISE,  # kept although pure: it watches
)
GUARD = _control(
    "guard",
    "(x, *, type, in_front=False)",
    "Leave native code at the last Snapshot unless `x` has the type; `in_front`: of a loop that may not ask for it.",
    infer=lambda x, *, type, in_front=False: type,
    effects=Effect.RAISE,
)
ASSUME = _control(
    "assume",
    "(*, assumption)",
    "Leave native code at the last Snapshot unless the assumption about a variable still holds.",
    effects=Effect.READ | Effect.RAISE,
)
CHECK_SETTINGS = _control(
    "check_settings",
    "()",
    "Leave native code at the last Snapshot if NumPy now does more than warn of what floats do.",
    infer=lambda: (),
    effects=Effect.READ | Effect.RAISE,
)
TYPE_IS = _control(
    "type_is",
    "(x, *, type)",
    "Whether the Union `x` holds a value of the member `type` now.",
    infer=lambda x, *, type: BOOL,
    fold=_fold_type_is,
)
SNAPSHOT = _control(
    "Snapshot",
    "(*live, at, names, catches=False, handles=0)",
    """The interpreter state that every bailout behind it (up to the next one) goes back to.

    `at` names a place in the baseline graph: ``before:ID``, ``after:ID`` (of a node), ``header:ID``
    (the start of a trip of a Loop, its block parameters set) or ``handler:ID`` (of a Try, its parameters set).
    `names` gives for each operand the `Value.key` of the baseline value that it stands for. So many more operands
    as it `handles` are the exceptions of the handlers that the place is in, inner ones last. `catches`: an exception
    raised behind it leaves for the interpreter too, which has a handler for it.""",
    effects=Effect.RAISE,
)

PREDICATE = _control(
    "predicate",
    "(*values, given, test)",
    """Leave native code at the last Snapshot if all sums of `given` are at least 0 and the sum `test` is not.

    A sum is a tuple of terms, a term a factor and the positions of the operands that it is multiplied with:
    ``((-1,), (2, 0), (1, 0, 1))`` is -1 + 2 * x0 + x0 * x1, of ints that do not wrap. It stands in front of a loop and
    is the worst case of a check in it; `given` says that the loop has any trips.""",
    infer=lambda *values, given, test: (),
    effects=Effect.RAISE,
)

MAP = _control(
    "Map",
    "(*inputs, into=0, covers=(), apart=False, turned=(), reduce=(), axes=(), keepdims=False)",
    """A loop nest over the broadcast shape of the inputs: block 0 maps their elements to elements.

    The first `into` inputs are arrays to write to (no parameter in the block): the first `into` yielded values
    are cast and stored there; they give the iteration space. Each further yield makes an output of the node. It is
    a fresh array of all elements, unless `reduce`, which has one entry an output, names an op (``np::add``) with an
    `OpDef.accumulation`: it combines them along `axes` (of the nest, counted from 0) to an array without these axes,
    or with size 1 there (`keepdims`), or to a NumPy scalar if none are left. Yielded values are cast to the dtype of
    the output first. Scalars among the other inputs are the same for each element;
    ``range(n)`` is an array of ints.
    `covers` lists positions of those inputs whose broadcast shape has to be that of the whole nest; native code
    leaves if it is not. `apart`: no element that is written to is one of another input, or is written to twice.
    `turned` lists pairs of positions of inputs, a column and a row, that stand for one in Fortran order when that of
    fresh arrays is found: what is taken at these places would be such an array.
    """,
    effects=lambda *types, into=0, **attrs: (
        Effect.ALLOC | Effect.READ | (Effect.WRITE if into else Effect.RAISE)
    ),
)


def _build_effects(*_elements: Type, **_attrs: object) -> Effect:
    return Effect.ALLOC


BUILD = _control(
    "Build",
    "(*elements, type, kept=False)",
    """A fresh array of a small, known shape, made of its elements in C order.

    Where only Snapshots use it, the array is made in the exits. With `kept`, the first two operands are an array
    and a bool: if that is true, the result is that array itself, which has these elements.""",
    infer=lambda *_elements, type, **_attrs: type,
    effects=_build_effects,
)
