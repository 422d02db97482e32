"""OpDef: the one declaration of an op.

Everything that ljit knows about an op is a field here; nothing branches on an op's name. Declaring an
op (``declare(OpDef(...))``, see `ljit.ir.registry`) puts it into the registry-wide tests and `docs/ops.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ljit.characters import as_text, has_characters
from ljit.ir.effects import Effect
from ljit.ir.list_uses import ListUse
from ljit.ir.odd_layouts import OddLayout
from ljit.ir.range_rules import RangeRules
from ljit.ir.reductions import Accumulation, Reduction, Scan
from ljit.ir.schema import Schema
from ljit.ir.special_methods import SpecialMethods
from ljit.ir.trials import with_known_sizes
from ljit.record_types import as_objects, has_records
from ljit.records import Record
from ljit.types import ANY, INT, UINT, ListType, ScalarType, Type, ViewType, is_number
from ljit.unique import forgets_classes

if TYPE_CHECKING:
    from ljit.ir.graph import Node

__all__ = ["UNKNOWN", "Neutral", "OpDef"]

T = TypeVar("T")

Samples = tuple[tuple[object, ...], ...]
InferRule = Callable[..., "Type | tuple[Type, ...]"]
EffectRule = Callable[..., Effect]
TakesCharacters = Callable[..., bool] | None


class Neutral(Record):
    """``op(x, value)`` is ``x``, if both have the same type: an int, and if `holds_for_floats` a float."""

    value: int
    holds_for_floats: bool = False


def _taken(takes: TakesCharacters, types: Sequence[Type], *, records: bool) -> Sequence[Type]:
    """The types as which an op takes operands of these; `records`: whether it takes records, and arrays of them."""
    if not records and any(map(has_records, types)):
        types = tuple(map(as_objects, types))
    if not any(map(has_characters, types)) or (takes is not None and takes(*types)):
        return types
    return tuple(map(as_text, types))


@forgets_classes
@lru_cache(maxsize=4096)
def _asked(
    effects: Callable[..., Effect], takes: TakesCharacters, types: tuple[Type, ...], records: bool
) -> Effect:
    """What an op says of its effects: asked all the time, of few types."""
    return effects(*_taken(takes, types, records=records))


@forgets_classes
@lru_cache(maxsize=4096)
def _inferred(
    infer: InferRule, takes: TakesCharacters, types: tuple[Type, ...], records: bool
) -> tuple[Type, ...]:
    """What an op without attributes gives, as a tuple."""
    result = infer(*_taken(takes, types, records=records))
    return result if isinstance(result, tuple) else (result,)


class OpDef(Record):
    """One op: its name, its schema, and what is declared of it. Rules (`infer`, `lower` ...) are functions.

    Most take the operands, or their types, and the attributes by name.
    """

    name: str
    schema: Schema
    doc: str = ""

    # -- what it computes --------------------------------------------------------------------------

    #: `infer(*operand_types, **attrs)` gives the output type(s): the only owner of dtype and shape facts.
    #: None: not inferred (control flow), the node's maker states the types.
    infer: InferRule | None = None
    #: `evaluate(*operands, **attrs)` is the Python or NumPy function itself: interpreter, constant folding and the
    #: tests' oracle. Ops with several outputs return a tuple.
    evaluate: Callable[..., Any] | None = None
    #: `bind(**attrs)` gives `evaluate` with the attributes fixed, where there is a faster way than `functools.partial`:
    #: the interpreter does it once a node.
    bind: Callable[..., Callable[..., Any]] | None = None
    #: an Effect, or a function like `infer` that gives one
    effects: Effect | EffectRule = Effect.PURE
    #: `fold(types, constants, **attrs)` gives the result where types and known constants (else `UNKNOWN`) decide it
    #: although not all operands are constant, or gives `UNKNOWN`: ``isinstance(x, float)``, ``x is None``
    fold: Callable[..., object] | None = None
    #: it looks at the frames above the function that it stands in
    looks_at_callers: bool = False
    #: operand tuples for the registry-wide tests, or a function that makes them
    samples: Samples | Callable[[], Samples] = ()

    # -- what of Python it stands for --------------------------------------------------------------

    #: the Python objects whose call is this op: ``np.sqrt``, ``abs``
    callables: tuple[object, ...] = ()
    #: those whose call in the head of a ``for`` (`prim::iter_call`) is this op: ``enumerate``. A call of anything else
    #: there is the ordinary call, then `prim::iter`.
    iter_callables: tuple[object, ...] = ()
    #: the objects whose item is this op on the key: ``np.mgrid``
    subscripted: tuple[object, ...] = ()
    #: ``"ndarray.sum"``; those of NumPy's scalars (any dtype) are ``"generic.item"``
    methods: tuple[str, ...] = ()
    #: the method of arrays that NumPy's function calls in the end, where that is another op's: ``"swapaxes"``
    calls_method: str | None = None
    #: ``"ndarray.shape"``
    attributes: tuple[str, ...] = ()
    #: of an attribute that is a view: whether ``a.name = x`` of these types stores to all of its elements
    stores_by_attribute: Callable[[Type, Type], bool] | None = None
    #: functions of Python's library that are this op, of modules that ljit does not import:
    #: ``"random.Random.uniform"``
    library: tuple[str, ...] = ()
    #: the methods of the first argument that `library` calls, and which functions these have to be:
    #: ``{"random": "_random.Random.random"}``; of an attribute that no class may have, ``""``
    looks_up: Mapping[str, str] = MappingProxyType({})
    #: the methods that Python calls for it if an operand is of a user's class
    special: SpecialMethods | None = None
    #: the call order of the Python function where it differs from the schema's positional and then keyword-only names:
    #: ``("shape", "/", "dtype", "*", "order")``; what is behind a ``*`` is given by name, what is in front of a ``/``
    #: by position. A call argument that lands on a keyword-only name of the schema becomes an attribute and must be a
    #: constant; one that lands on a name which the schema has not makes it a call of something else.
    parameters: tuple[str, ...] = ()
    #: the op that this one becomes once an operand is a NumPy array or scalar (``py::add`` -> ``np::add``)
    numpy: str | None = None
    #: the op that this one becomes on ints in [0, 2**64), once an operand may be beyond int64 (`wide_ints.py`)
    wide: str | None = None
    #: what this op for such ints does with products of 128 bits (`wide_products.py`): they are made of its
    #: factors or summands, it gives their high bits, or it is one
    in_products: Literal["factors", "summands", "high bits", "product"] | None = None

    # -- types that the specialiser gives to it ----------------------------------------------------

    #: the result type is not a function of the operand types: the profiling executor watches it
    is_profiled: bool = False
    #: a result of type `Any` is no sign that the op does not suit the operands: it may be any object
    gives_objects: bool = False
    #: operands of Union type are taken as they are: the specialiser does not branch on their tags
    keeps_unions: bool = False
    #: for operand types: whether it does so with these
    keeps_these_unions: Callable[..., bool] | None = None
    #: for operand types: a type of numbers, or None. A Union operand whose members all have its dtype is taken as one
    #: of the type, without a branch: what class such a number has makes no difference
    number_type: Callable[..., ScalarType | None] | None = None
    #: types of Python's numbers: of these it gives the number that it gives of NumPy's of the same dtype, in the class
    #: that follows from theirs, or leaves native code. A Union of both is taken as Python's then, without a branch
    ignores_class: tuple[Type, ...] = ()
    #: an int beside a float is made a float first, by Python and NumPy alike
    makes_floats: bool = False
    #: the result is one of several operands as it was; which one does not depend on the classes of numbers
    gives_operand: bool = False
    #: for operand types: whether it takes characters among them as such; else as strs
    takes_characters: TakesCharacters = None
    #: it takes records, and arrays of them, as such; else as objects
    takes_records: bool = False

    # -- native code of one node -------------------------------------------------------------------

    #: `lower(e, *operands, **attrs)` emits it; None: `evaluate` is called boxed
    lower: Callable[..., Any] | None = None
    #: `can_lower(*operand_types, **attrs)`: for which types `lower` works (default: those for which `infer` knows the
    #: result type)
    can_lower: Callable[..., bool] | None = None
    #: what the range analysis is told: `ljit/ir/range_rules.py`
    ranges: RangeRules | None = None
    #: on numbers it may be a call of the C library, of which LLVM makes no vectors
    is_called: bool = False
    #: on numbers, its checks fail for extreme operands only, and may be looked at after its result was used:
    #: it may run where the program would not
    is_speculatable: bool = False
    #: on numbers, its checks may be looked at after its result was used; see `may_be_checked_late`
    checks_can_wait: bool = False
    #: `checked_by(node)`: of an op that stores a number, its last operand: the op of that number, and its attributes,
    #: which makes all checks of the node that are not proven; None if there is no such op
    checked_by: Callable[[Node], tuple[str, Mapping[str, object]] | None] | None = None
    #: an instruction or two: on numbers it costs less to compute again than to keep
    is_cheap: bool = False
    #: about how many instructions it is on numbers, where it is not cheap; 0: many
    instructions: int = 0
    #: likewise on complex numbers; 0: a cheap op is as cheap, others are many
    complex_instructions: int = 0

    # -- other ops that mean the same --------------------------------------------------------------

    #: `decompose(parts, *operands, **attrs)` gives the same value as `parts.apply(op, *operands, **attrs)` of other ops
    #: gives it, if that is better for the operands' types; else None, and then nothing was applied
    decompose: Callable[..., Any] | None = None
    is_commutative: bool = False
    #: the right operand that changes nothing
    neutral: Neutral | None = None
    #: the operand types for which ``op(x)`` is ``x`` (or a function of them and the attributes), and those for which
    #: ``op(op(x))`` is
    keeps: tuple[Type, ...] | Callable[..., bool] = ()
    undoes_itself: tuple[Type, ...] = ()
    #: on ints, the low 64 bits of the result follow from those of the operands, as of its `numpy` on int64
    is_modular: bool = False
    #: of a constant operand: whether only the low 63 bits of the other int make a difference
    asks_low_bits: Callable[[int], bool] | None = None
    #: the op that gives, of the same operands, what an iteration over the result gives, where it has a lowering:
    #: ``a.ravel()`` for ``a.flat``
    iterated: str = ""

    # -- arrays ------------------------------------------------------------------------------------

    #: operands broadcast, `lower` is the scalar body, and an array operand or result makes it a loop nest. With
    #: `schema.written` the first operand is the array that takes the results.
    elementwise: bool = False
    #: the first operand only takes the results: the elements are computed of the other operands
    overwrites: bool = False
    #: the op that stands for this one in the body of a loop nest, where all operands are scalars
    #: (``np::iadd`` -> ``np::add``; default: the op itself)
    element_op: str | None = None
    #: the op that stands for this one, which writes, where what it would write to is a number (`element_op`, if it has
    #: no name here)
    plain_op: str | None = None
    #: `row_loop(*operand_types)` names NumPy's ufunc and the dtypes of its inner loop, or a function of rows of ljit's
    #: own, if that does such operands in less time than `lower` on this machine; else None
    row_loop: Callable[..., Any] | None = None
    #: `block_loop(*element_types)` names one, too, if it takes so much less that other work around it is best done in
    #: stages, block by block, with the limits between which the operands have to be for that (none: of any operands)
    block_loop: Callable[..., Any] | None = None
    #: `odd_layouts(*element_types)`: where arrays lie so that NumPy rounds the op otherwise than `lower`; nests leave
    #: native code there
    odd_layouts: Callable[..., OddLayout] = lambda *_: OddLayout.NONE
    #: how an elementwise op combines many elements
    accumulation: Accumulation | None = None
    #: of an op on one array with the attributes ``axis`` and ``keepdims``: which op combines the elements; then it is a
    #: `prim::Map`
    reduction: Reduction | None = None
    #: likewise, of an op that combines each element with those before it
    scan: Scan | None = None
    #: `columns(apply, *operands)` gives the three columns of the result's rows from those of the operands' rows;
    #: `apply(op, x, y)` is that op on columns. So rows are done by elementwise nests (`passes/fusion/fuse_columns.py`).
    columns: Callable[..., Any] | None = None
    #: all elements of the fresh array are this number, and operand 0 is a shape, or an array with its sizes
    fill: float | None = None
    #: two ops on its operands that make the vector which it gives: one gives the size, an elementwise one each element
    #: from its number (the first operand, ``range(size)``). Nests then need no such array.
    counted: tuple[str, str] | None = None
    #: `combined(apply, *operands)`, of an op that makes a view of all combinations, gives the sizes of what it combines
    #: and a function `item(apply, places)` that gives a combination by the places in each; `apply(op, *xs)` is that op
    combined: Callable[..., Any] | None = None
    #: a fresh array that it gives has the elements of operand 0, an array, cast to its dtype
    copies: bool = False
    #: the result has the sizes of operand 0, an array
    keeps_shape: bool = False
    #: of operand 0, if that is an array, it reads the sizes only
    reads_sizes: bool = False
    #: the elements of the array operand 0 at operand 1 (a view where nothing is allocated); or they become operand 2
    reads_part: bool = False
    writes_part: bool = False
    #: operand 0, a tuple of arrays, lies in the result array by array
    joins: Literal["", "along an axis", "along a new axis"] = ""
    #: `evaluate`, or the function given, gives the right result on object arrays of symbols
    #: (`passes/containers/symbols.py`): it moves elements about, adds and multiplies them, or asks a symbol for more.
    #: Small arrays of known sizes are taken apart through it.
    symbolic: bool | Callable[..., Any] = False

    # -- lists -------------------------------------------------------------------------------------

    #: of a list operand it only reads the items, at once, and a tuple does as well
    reads_items: bool = False
    #: beside an array it makes an array of an operand that is a list, as elementwise ops do
    takes_lists: bool = False
    #: what it does with an operand, if that is a list, in native code that knows private lists
    list_use: ListUse | None = None

    # -- the structure of graphs, and their text ---------------------------------------------------

    is_terminator: bool = False
    is_constant: bool = False
    #: Loop and Region: `prim::Continue` and `prim::Break` can name a node of this op as their target
    is_exit_target: bool = False
    #: how the text form writes the op instead of its name: ``->`` of Yield
    keyword: str = ""
    #: the op as a Python expression that means exactly the same: a format of its operands and attributes
    #: (``{0} + {1}``, ``{0}.{name}``), or a function of them. With `bind`, only how it is shown.
    syntax: str | Callable[..., str] = ""
    #: the same for some kinds of operand 0: a function tells the number of the expression, 0 if it is a call
    in_line: tuple[Callable[[Any], int], Sequence[str]] | None = None
    #: its results are the items of operand 0, if they are several and none has a `star`: ``a, b = {0}``
    is_unpacking: bool = False
    #: the op as a statement; a result is left in the place of operand 0: ``{0} += {1}``, ``{0}[{1}] = {2}``
    statement: str = ""

    def operand_samples(self) -> Samples:
        """Give `samples`, made if need be."""
        return self.samples() if callable(self.samples) else self.samples

    @property
    def array_method(self) -> str | None:
        """The name of the method of arrays that is this op, or that its function calls, if there is one."""
        names = [x.removeprefix("ndarray.") for x in self.methods if x.startswith("ndarray.")]
        return names[0] if names else self.calls_method

    def text_of(self, operands: Sequence[str], attrs: Mapping[str, object]) -> str:
        """Give `syntax` for the texts of the operands."""
        if callable(self.syntax):
            return self.syntax(*operands, **attrs)
        return self.syntax.format(*operands, **attrs)

    def operand_types(self, types: Sequence[Type]) -> Sequence[Type]:
        """Give the types as which the op takes operands of these: most take characters as strs, records as objects."""
        return _taken(self.takes_characters, types, records=self.takes_records)

    def is_identity(self, types: Sequence[Type], attrs: Mapping[str, object]) -> bool:
        """Whether the op gives its operand as it is."""
        if callable(self.keeps):
            return self.keeps(*types, **attrs)
        return bool(self.keeps) and types[0] in self.keeps

    def effects_of(self, node: Node) -> Effect:
        """Give the op's own effects for the operand types of `node` and what is proven of it."""
        effects = self.effects
        if not isinstance(effects, Effect):  # as `effects_on`, which takes half as long again
            types = tuple([v.type for v in node.inputs])
            takes = self.takes_characters, types, self.takes_records
            effects = self.effects_on(types, node.attrs) if node.attrs else _asked(effects, *takes)
        if node.proven and effects & Effect.RAISE and self._is_proven(node):
            effects = effects.without(Effect.RAISE)
        return effects

    def effects_on(self, types: Sequence[Type], attrs: Mapping[str, object]) -> Effect:
        """Give the op's own effects for operands of these types."""
        effects = self.effects
        if isinstance(effects, Effect):
            return effects
        if not attrs:
            return _asked(effects, self.takes_characters, tuple(types), self.takes_records)
        return effects(*self.operand_types(types), **attrs)

    def _is_proven(self, node: Node) -> bool:
        """Whether no check is left in the lowering of `node`."""
        is_complete = self.ranges.is_complete if self.ranges is not None else None
        return is_complete is not None and is_complete(node)

    def can_leave(self, node: Node) -> bool:
        """Whether native code of `node` can bail out: it says so, or it makes an int that may not fit."""
        if self.effects_of(node) & Effect.RAISE:
            return True
        makes_ints = self.lower is not None and any(v.type in (INT, UINT) for v in node.outputs)
        return makes_ints and not self._is_proven(node)

    @property
    def may_be_checked_late(self) -> bool:
        """Whether what it gives on numbers may be used, unseen, before its checks are looked at."""
        return self.checks_can_wait or self.is_speculatable

    def can_be_speculated(self, node: Node) -> bool:
        """Whether `node` may run where the program would not run it."""
        effects = self.effects_of(node)
        is_late = self.is_speculatable and all(is_number(v.type) for v in node.inputs)
        return effects == Effect.PURE or (is_late and effects == Effect.RAISE)

    def element_operands(self, operands: Sequence[T]) -> Sequence[T]:
        """What an elementwise op computes with: not the array that only takes its results."""
        return operands[1:] if self.overwrites else operands

    def has_lowering(
        self, types: Sequence[Type], attrs: Mapping[str, object] = MappingProxyType({})
    ) -> bool:
        """Whether native code computes the op for operands of these types."""
        if self.lower is None:
            return False
        if self.can_lower is not None:
            return self.can_lower(*self.operand_types(types), **attrs)
        return self.infer is None or ANY not in self.infer_types(types, attrs)

    def result_types(self, node: Node) -> tuple[Type, ...]:
        """Apply `infer` to the operand types of `node`."""
        if self.infer is None:
            return ()
        types = self.infer_types([v.type for v in node.inputs], node.attrs)
        if self.symbolic and len(types) == 1:
            return (with_known_sizes(self, node.inputs, node.attrs, types[0]),)
        return types

    def types_of_any_items(
        self, types: Sequence[Type], attrs: Mapping[str, object]
    ) -> tuple[tuple[Type, ...], tuple[Type, ...]] | None:
        """Types of operands and outputs where the lists among the operands hold anything.

        None: there are none, or the op may leave native code for another reason than what they hold.
        """
        loose = tuple(map(_with_any_items, types))
        if loose == tuple(types) or not self.has_lowering(loose, attrs):
            return None
        if self.effects_on(loose, attrs) & (Effect.RAISE | Effect.CALL):
            return None
        return loose, self.infer_types(loose, attrs)

    def infer_types(self, types: Sequence[Type], attrs: Mapping[str, object]) -> tuple[Type, ...]:
        """Apply `infer`, as a tuple of output types."""
        assert self.infer is not None, f"{self.name} has no infer rule"
        if not attrs:
            return _inferred(self.infer, self.takes_characters, tuple(types), self.takes_records)
        result = self.infer(*self.operand_types(types), **attrs)
        return result if isinstance(result, tuple) else (result,)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def _with_any_items(t: Type) -> Type:
    """The type of a list, or of a view of lists, whose items may be anything."""
    if isinstance(t, ViewType):
        return ViewType(t.kind, tuple(map(_with_any_items, t.parts)))
    return ListType(ANY) if isinstance(t, ListType) else t


class _Unknown:
    """The class of `UNKNOWN`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()  # in `OpDef.fold`: not a constant, not decided


def any_operands(*_types: Type, **_attrs: object) -> bool:
    """`can_lower` of ops whose result can be anything, too."""
    return True


def any_result(*_types: Type, **_attrs: object) -> Type:
    """Infer rule of ops whose result can be anything."""
    return ANY
