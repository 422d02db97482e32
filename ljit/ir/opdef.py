"""OpDef: the one declaration of an op, and the Emitter protocol that its lowering speaks to.

Everything that ljit knows about an op is a field here; nothing branches on an op's name. Declaring an
op (``declare(OpDef(...))``, see `ljit.ir.registry`) puts it into the registry-wide tests and `docs/ops.md`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from ljit.ir.range_rules import RangeRules
from ljit.records import Record
from ljit.types import ANY, Type, is_number

if TYPE_CHECKING:
    from ljit.ir.graph import Node

__all__ = [
    "UNKNOWN",
    "Effect",
    "Emitter",
    "Neutral",
    "OpDef",
    "Scalar",
    "Schema",
]


class Effect(enum.Flag):
    """What running a node may do beside computing its outputs."""

    PURE = 0
    READ = enum.auto()  # reads memory that a WRITE may change (array elements, list items, globals)
    WRITE = enum.auto()  # writes memory that others can see
    RAISE = enum.auto()  # may raise: must not be removed, may be repeated
    CALL = enum.auto()  # runs unknown Python code: anything may happen
    ALLOC = enum.auto()  # makes a fresh mutable object: two equal nodes are not the same value
    EXIT = enum.auto()  # leaves the block (terminators)

    @property
    def is_removable(self) -> bool:
        """Whether a node whose outputs are unused can be dropped."""
        return not self._value_ & _KEPT

    @property
    def is_repeatable(self) -> bool:
        """Whether the interpreter may run the node a second time after a bailout."""
        return not self._value_ & _DONE_ONCE

    # Passes ask all the time: enum's own operators look for the member of a value in a slow way.

    def __or__(self, other: Effect) -> Effect:
        return _COMBINATIONS[self._value_ | other._value_]

    def __and__(self, other: Effect) -> Effect:
        return _COMBINATIONS[self._value_ & other._value_]


class _Combinations(dict[int, Effect]):
    """The members by their bits, made when asked for."""

    def __missing__(self, bits: int) -> Effect:
        found = self[bits] = Effect(bits)
        return found


_COMBINATIONS = _Combinations()
_KEPT = (Effect.WRITE | Effect.RAISE | Effect.CALL | Effect.EXIT).value
_DONE_ONCE = (Effect.WRITE | Effect.CALL).value


class Parameters(Record, eq=True):
    """What the text of a `Schema` says."""

    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    defaults: Mapping[str, object]
    variadic: str | None
    written: tuple[str, ...]
    positional_only: tuple[str, ...]


class Schema:
    """Parameter names as Python callers may use them: ``(x, axis=None, *, keepdims=False)``.

    Defaults are Python literals. Names behind ``*`` are keyword-only, names before ``/`` cannot be
    keywords. ``*xs`` takes any number of operands. A ``!`` behind a name marks an operand that the op
    writes into: ``(a!, index, value)``.

    The text is read when a pass first asks: few of the schemas matter to one program.
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def positional(self) -> tuple[str, ...]:
        return parsed(self.text).positional

    @property
    def keyword_only(self) -> tuple[str, ...]:
        return parsed(self.text).keyword_only

    @property
    def defaults(self) -> Mapping[str, object]:
        return parsed(self.text).defaults

    @property
    def variadic(self) -> str | None:
        return parsed(self.text).variadic

    @property
    def written(self) -> tuple[str, ...]:
        return parsed(self.text).written

    @property
    def positional_only(self) -> tuple[str, ...]:
        return parsed(self.text).positional_only


@cache
def parsed(text: str) -> Parameters:
    """Read the text of a schema. Many ops share one."""
    import ast  # only needed for the schemas that are asked about

    written = tuple(part.split("!")[0].split(",")[-1].strip(" (") for part in text.split("!")[:-1])
    arguments = ast.parse(f"def f{text.replace('!', '')}: pass").body[0].args  # type: ignore[attr-defined]
    positional = tuple(a.arg for a in arguments.posonlyargs + arguments.args)
    keyword_only = tuple(a.arg for a in arguments.kwonlyargs)
    defaults: dict[str, object] = {}
    for name, node in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        defaults[name] = ast.literal_eval(node)
    for name, node in zip(keyword_only, arguments.kw_defaults, strict=True):
        if node is not None:
            defaults[name] = ast.literal_eval(node)
    variadic = arguments.vararg.arg if arguments.vararg else None
    only = tuple(a.arg for a in arguments.posonlyargs)
    return Parameters(positional, keyword_only, defaults, variadic, written, only)


class Scalar(Protocol):
    """A value inside the emitter: `type` is its ljit type; the rest belongs to the emitter."""

    @property
    def type(self) -> Type: ...


V = Any  # a Scalar of whichever emitter runs; an alias, so that op files stay readable


class Emitter(Protocol):
    """What a lowering may do. Implemented by `ljit.codegen` (LLVM).

    The scalar part. Operands of one arithmetic call have the same type; bool, int, float, complex and
    the NumPy scalar types are scalars. Integer `add sub mul neg shl` wrap; a *condition* is a Scalar of
    type BOOL.
    """

    @property
    def result_types(self) -> tuple[Type, ...]:
        """The types of the node's outputs."""

    @property
    def fastmath(self) -> bool: ...

    def is_proven(self, check: str) -> bool:
        """Whether the check of this name (`RangeRules.checks`) cannot fail at this node."""

    def const(self, type_: Type, value: object) -> V: ...
    def cast(self, x: V, type_: Type) -> V:
        """Convert as C does between number types (NumPy's ``astype``); never undefined behaviour."""

    def retype(self, x: V, type_: Type) -> V:
        """Give the same bits another ljit type of the same machine type (int <-> np.int64)."""

    def add(self, x: V, y: V, *, fits: bool = False) -> V:
        """Add; ints wrap, unless it is known that the sum fits. Likewise the next two."""

    def sub(self, x: V, y: V, *, fits: bool = False) -> V: ...
    def mul(self, x: V, y: V, *, fits: bool = False) -> V: ...
    def div(self, x: V, y: V) -> V:
        """Divide floats; truncate towards zero for ints (divisor 0 and MIN // -1 are the caller's)."""

    def rem(self, x: V, y: V) -> V:
        """Remainder with the sign of the dividend: C's ``%`` and ``fmod``."""

    def neg(self, x: V) -> V: ...
    def add_overflow(self, x: V, y: V) -> tuple[V, V]:
        """Wrapped sum and the condition that it overflowed; likewise the next two."""

    def sub_overflow(self, x: V, y: V) -> tuple[V, V]: ...
    def mul_overflow(self, x: V, y: V) -> tuple[V, V]: ...
    def bit_and(self, x: V, y: V) -> V: ...
    def bit_or(self, x: V, y: V) -> V: ...
    def bit_xor(self, x: V, y: V) -> V: ...
    def bit_not(self, x: V) -> V: ...
    def shl(self, x: V, y: V) -> V:
        """Shift left; `y` must be in [0, bits)."""

    def shr(self, x: V, y: V) -> V:
        """Shift right, arithmetic for signed types; `y` must be in [0, bits)."""

    def compare(self, predicate: str, x: V, y: V) -> V:
        """Compare with ``eq ne lt le gt ge``; NaN is unequal and unordered (``ne`` holds)."""

    def widen(self, x: V, type_: Type) -> V:
        """Give `x` as a value of the Union `type_` that its type is a member of (or is)."""

    def select(self, condition: V, x: V, y: V) -> V:
        """Choose without a branch: both are computed."""

    def item_at(self, items: Sequence[V], index: V) -> V:
        """Choose from values of one type by an index within their number."""

    def branch(self, condition: V, then: Callable[[], V], otherwise: Callable[[], V]) -> V:
        """Choose with a branch: only one is computed. Both give values of one type."""

    def real(self, x: V) -> V: ...
    def imag(self, x: V) -> V: ...
    def complex(self, real: V, imag: V, type_: Type) -> V: ...
    def intrinsic(self, name: str, *xs: V) -> V:
        """LLVM's ``llvm.<name>.<type>``: sqrt fabs floor ceil trunc rint copysign minnum ctpop ..."""

    def math(self, name: str, *xs: V) -> V:
        """Call ``<name>`` of the C library (double; float via the ``f`` variant)."""

    def bail_if(self, condition: V, reason: str, *, also: Callable[[], V] | None = None) -> None:
        """Leave native code for the interpreter, which redoes the work since the last Snapshot.

        `also`: the rest of the condition, if it is rarely needed. May be left out.
        """

    def bail(self, reason: str) -> None:
        """Leave native code unconditionally; what follows is unreachable."""

    # -- aggregates ----------------------------------------------------------------------------------

    def tuple_make(self, items: Sequence[V]) -> V: ...
    def tuple_items(self, x: V) -> Sequence[V]: ...
    def range_make(self, start: V, stop: V, step: V) -> V: ...
    def range_parts(self, x: V) -> tuple[V, V, V]: ...
    def slice_make(self, start: V, stop: V, step: V) -> V: ...
    def slice_parts(self, x: V) -> tuple[V, V, V]: ...
    def view_make(self, type_: Type, parts: Sequence[V]) -> V: ...
    def view_parts(self, x: V) -> Sequence[V]: ...

    # -- arrays --------------------------------------------------------------------------------------

    def array_sizes(self, a: V) -> Sequence[V]:
        """Sizes as INT values, constants where the type knows them."""

    def array_strides(self, a: V) -> Sequence[V]:
        """Strides in bytes as INT values."""

    def array_load(self, a: V, indices: Sequence[V]) -> V:
        """Load one element; the indices must be in [0, size): checked by the caller."""

    def array_store(self, a: V, indices: Sequence[V], value: V) -> None:
        """Store one element of the array's dtype; indices as in `array_load`."""

    def array_new(self, type_: Type, sizes: Sequence[V], fill: V | None) -> V:
        """Allocate a C-contiguous array; `fill` None leaves it uninitialised. Negative sizes bail."""

    def array_view(
        self, a: V, type_: Type, offset: V, sizes: Sequence[V], strides: Sequence[V]
    ) -> V:
        """A view on the memory of `a`: offset and strides in bytes."""

    def array_overlap(self, a: V, b: V) -> V:
        """Whether the memory extents of two arrays meet, as a condition (may be true in vain)."""

    def array_same(self, a: V, b: V) -> V:
        """Whether two arrays of one dtype and rank are the same elements in the same places."""

    def array_check(self, x: V) -> None:
        """Bail if the object of an array (or of one within a tuple or view) is not what `x` says any more."""

    def loop(self, trip: V, body: Callable[[V], None]) -> None:
        """Run `body(k)` for k = 0 .. trip-1; for lowerings that need a loop of their own."""

    # -- random streams ------------------------------------------------------------------------------

    def draw(self, x: V, function: str, args: Sequence[V], type_: Type) -> V:
        """Draw from the stream of a NumPy Generator or RandomState, or of Python's `random.Random`.

        `function` is one of `numpy.random`'s for extensions, or of `ljit/codegen/random_streams.py`. Leaves if the
        stream is in use by another thread, or not of a kind that is known.
        """

    # -- objects -------------------------------------------------------------------------------------

    def object_const(self, value: object) -> V:
        """A constant Python object."""

    def list_size(self, x: V) -> V: ...
    def list_load(self, x: V, index: V) -> V:
        """Item of a list as `item` type of the result; bails when it has another type."""

    def list_store(self, x: V, index: V, value: V) -> None: ...
    def list_swap(self, x: V, i: V, j: V) -> None:
        """Let two items change places; the indices must be in [0, size)."""

    def list_append(self, x: V, value: V) -> None: ...
    def list_pop(self, x: V) -> V:
        """Take off the last item, as `list_load` would give it; bails if there is none."""

    def list_make(self, items: Sequence[V], type_: Type) -> V: ...
    def str_size(self, x: V) -> V:
        """Length of a str."""

    def str_code(self, x: V, index: V) -> V:
        """Code point of a character as an int; the index must be in [0, length)."""

    def str_char(self, code: V) -> V:
        """The str of one character; the code point must be in [0, 0x110000)."""

    def str_compare(self, x: V, y: V) -> V:
        """-1, 0 or 1 as an int: the order of two strs by code points."""

    def same_object(self, x: V, y: V) -> V:
        """Identity of two objects, as a condition."""

    def call_object(self, f: V, args: Sequence[V], kwnames: tuple[str, ...] = ()) -> V:
        """``f(*args)`` on boxed values; the last ``len(kwnames)`` arguments are keywords."""

    def call_method(
        self, name: str, x: V, args: Sequence[V], kwnames: tuple[str, ...] = ()
    ) -> V: ...
    def getattr(self, x: V, name: str) -> V: ...
    def check_no_attributes(self, x: V, names: Sequence[str]) -> None:
        """Bail if the object has an attribute of its own (not of its class) of one of the names."""

    def call_boxed(self, function: object, args: Sequence[V]) -> V:
        """Box the arguments and call a Python callable; the result is unboxed as `result_types[0]`."""


Samples = tuple[tuple[object, ...], ...]
InferRule = Callable[..., "Type | tuple[Type, ...]"]
EffectRule = Callable[..., Effect]


class Neutral(Record):
    """``op(x, value)`` is ``x``, if both have the same type: an int, and if `holds_for_floats` a float."""

    value: int
    holds_for_floats: bool = False


class OpDef(Record):
    """One op.

    - `infer(*operand_types, **attrs)` gives the output type(s): the only owner of dtype and shape facts.
      `None`: not inferred (control flow), the node's maker states the types.
    - `evaluate(*operands, **attrs)` is the Python or NumPy function itself: interpreter, constant folding
      and the tests' oracle. Ops with several outputs return a tuple.
    - `bind(**attrs)` gives `evaluate` with the attributes fixed, where there is a faster way than
      `functools.partial`: the interpreter does it once a node.
    - `lower(e, *operands, **attrs)` emits native code for one node; `None`: `evaluate` is called boxed.
      `can_lower(*operand_types, **attrs)` says for which types `lower` works (default: all).
    - `effects` is an Effect or a function like `infer` that gives one.
    - `callables` are the Python objects whose call is this op (``np.sqrt``, ``abs``); `methods` the
      methods, as ``"ndarray.sum"``; `attributes` the attributes, as ``"ndarray.shape"``. Those of NumPy
      scalars (any dtype) are ``"generic.item"``.
    - `library` names functions of Python's library that are this op, of modules that ljit does not import:
      ``"random.Random.uniform"``; `looks_up` the methods of the first argument that they call, and which functions
      these have to be: ``{"random": "_random.Random.random"}``; of an attribute that no class may have, ``""``.
    - `parameters` is the call order of the Python function where it differs from the schema's positional
      and then keyword-only names: ``("shape", "dtype", "order")``. A call argument that lands on a keyword-only
      name of the schema becomes an attribute and must be a constant.
    - `numpy` names the op that this one becomes once an operand is a NumPy array or scalar
      (``py::add`` -> ``np::add``).
    - `elementwise`: operands broadcast, `lower` is the scalar body, and an array operand or result makes it a
      loop nest. With `schema.written` the first operand is the array that takes the results.
    - `element_op` names the op that stands for this one in the body of a loop nest, where all operands are
      scalars (``np::iadd`` -> ``np::add``; default: the op itself).
    - `iter_callables` are the callables whose call in the head of a ``for`` (`prim::iter_call`) is
      this op: ``enumerate``. A call of anything else there is the ordinary call, then `prim::iter`.
    - `fold(types, constants, **attrs)` gives the result where types and known constants (else
      `UNKNOWN`) decide it although not all operands are constant, or gives `UNKNOWN`:
      ``isinstance(x, float)``, ``x is None``.
    - `reads_items`: of a list operand it only reads the items, at once, and a tuple does as well.
    - `samples` are operand tuples for the registry-wide tests, or a function that makes them.
    """

    name: str
    schema: Schema
    doc: str = ""
    infer: InferRule | None = None
    evaluate: Callable[..., Any] | None = None
    bind: Callable[..., Callable[..., Any]] | None = None
    lower: Callable[..., Any] | None = None
    can_lower: Callable[..., bool] | None = None
    effects: Effect | EffectRule = Effect.PURE
    callables: tuple[object, ...] = ()
    methods: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    library: tuple[str, ...] = ()
    looks_up: Mapping[str, str] = MappingProxyType({})
    numpy: str | None = None
    iter_callables: tuple[object, ...] = ()
    fold: Callable[..., object] | None = None
    elementwise: bool = False
    element_op: str | None = None
    parameters: tuple[str, ...] = ()
    is_commutative: bool = False
    is_terminator: bool = False
    is_constant: bool = False
    #: Loop and Region: `prim::Continue` and `prim::Break` can name a node of this op as their target
    is_exit_target: bool = False
    #: the op as a Python expression that means exactly the same: a format of its operands and attributes
    #: (``{0} + {1}``, ``{0}.{name}``), or a function of them. With `bind`, only how it is shown.
    syntax: str | Callable[..., str] = ""
    #: the op as a statement; a result is left in the place of operand 0: ``{0} += {1}``, ``{0}[{1}] = {2}``
    statement: str = ""
    #: the right operand that changes nothing
    neutral: Neutral | None = None
    #: the operand types for which ``op(x)`` is ``x``, and those for which ``op(op(x))`` is
    keeps: tuple[Type, ...] = ()
    undoes_itself: tuple[Type, ...] = ()
    #: how the text form writes the op instead of its name: ``->`` of Yield
    keyword: str = ""
    #: what the range analysis is told: `ljit/ir/range_rules.py`
    ranges: RangeRules | None = None
    #: the result type is not a function of the operand types: the profiling executor watches it
    is_profiled: bool = False
    #: a result of type `Any` is no sign that the op does not suit the operands: it may be any object
    gives_objects: bool = False
    reads_items: bool = False
    #: operands of Union type are taken as they are: the specialiser does not branch on their tags
    keeps_unions: bool = False
    #: on numbers, its checks fail for extreme operands only, and may be looked at after its result was used:
    #: it may run where the program would not
    is_speculatable: bool = False
    samples: Samples | Callable[[], Samples] = ()

    def operand_samples(self) -> Samples:
        """Give `samples`, made if need be."""
        return self.samples() if callable(self.samples) else self.samples

    def text_of(self, operands: Sequence[str], attrs: Mapping[str, object]) -> str:
        """Give `syntax` for the texts of the operands."""
        if callable(self.syntax):
            return self.syntax(*operands, **attrs)
        return self.syntax.format(*operands, **attrs)

    def effects_of(self, node: Node) -> Effect:
        """Give the op's own effects for the operand types of `node`."""
        if isinstance(self.effects, Effect):
            return self.effects
        return self.effects(*(v.type for v in node.inputs), **node.attrs)

    def can_be_speculated(self, node: Node) -> bool:
        """Whether `node` may run where the program would not run it."""
        effects = self.effects_of(node)
        is_late = self.is_speculatable and all(is_number(v.type) for v in node.inputs)
        return effects == Effect.PURE or (is_late and effects == Effect.RAISE)

    def result_types(self, node: Node) -> tuple[Type, ...]:
        """Apply `infer` to the operand types of `node`."""
        if self.infer is None:
            return ()
        return self.infer_types([v.type for v in node.inputs], node.attrs)

    def infer_types(self, types: Sequence[Type], attrs: Mapping[str, object]) -> tuple[Type, ...]:
        """Apply `infer`, as a tuple of output types."""
        assert self.infer is not None, f"{self.name} has no infer rule"
        result = self.infer(*types, **attrs)
        return result if isinstance(result, tuple) else (result,)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


class _Unknown:
    """The class of `UNKNOWN`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()  # in `OpDef.fold`: not a constant, not decided


def any_result(*_types: Type, **_attrs: object) -> Type:
    """Infer rule of ops whose result can be anything."""
    return ANY
