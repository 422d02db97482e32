"""The Emitter that lowerings speak to (`ljit.ir.Emitter`), writing LLVM IR.

One Emitter serves one LLVM function. Its methods live in modules: arithmetic, arrays, and others that load when a
program needs them; here are constants, control flow and aggregates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ljit.analysis.uniformity import has_steady_operands
from ljit.codegen.arrays import arrays
from ljit.codegen.exits.bailout import Bailout
from ljit.codegen.exits.convert import convert, of_members
from ljit.codegen.functions.bodies import Body
from ljit.codegen.functions.context import Context
from ljit.codegen.functions.recursion import lower_depth
from ljit.codegen.functions.work import count_work
from ljit.codegen.joins import Join
from ljit.codegen.llvm.builder import TRUE, BlockRef, FunctionBuilder, Ref
from ljit.codegen.llvm.engine import vector_bytes
from ljit.codegen.llvm.forms import Native, Turn, aggregate, is_scalar, split
from ljit.codegen.llvm.partition import QUICK
from ljit.codegen.loops.counted_loops import PLAIN, add_edge, maybe_loop, outer_loop
from ljit.codegen.loops.nest_functions import leaves_work_to_nests, own_function
from ljit.codegen.loops.polling import Polling
from ljit.codegen.nests import fills
from ljit.codegen.on_demand import LateModule
from ljit.codegen.references.lifetimes import is_used_up_at_once
from ljit.codegen.references.ownership import Ownership
from ljit.codegen.scalars import arithmetic, overflows
from ljit.codegen.scalars.hypotenuses import Hypotenuse
from ljit.codegen.scalars.unions import member_of
from ljit.types import BOOL, INT, RANGE, SliceType, TupleType, Type

if TYPE_CHECKING:
    from ljit.codegen import handled
    from ljit.codegen.arrays import stretches
    from ljit.codegen.draws import random_streams
    from ljit.codegen.exits import unchanged
    from ljit.codegen.kernels import (
        bisection,
        correlations,
        extreme_places,
        index_loops,
        many_searches,
        mask_loops,
        order_statistics,
        segments,
        sorted_columns,
    )
    from ljit.codegen.lists import (
        key_orders,
        list_sorts,
        lists,
        private_lists,
        searches,
        shown_lists,
    )
    from ljit.codegen.nests import ufunc_loops
    from ljit.codegen.objects import (
        class_patterns,
        held_functions,
        managers,
        objects,
        packed_items,
        variables,
    )
    from ljit.codegen.references import characters
    from ljit.codegen.scalars import elementary
    from ljit.codegen.texts import text_building
else:
    bisection = LateModule("kernels.bisection")
    characters = LateModule("references.characters")
    correlations = LateModule("kernels.correlations")
    elementary = LateModule("scalars.elementary")
    extreme_places = LateModule("kernels.extreme_places")
    handled = LateModule("handled")
    held_functions = LateModule("objects.held_functions")
    index_loops = LateModule("kernels.index_loops")
    key_orders = LateModule("lists.key_orders")
    list_sorts = LateModule("lists.list_sorts")
    lists = LateModule("lists.lists")
    class_patterns = LateModule("objects.class_patterns")
    managers = LateModule("objects.managers")
    packed_items = LateModule("objects.packed_items")
    many_searches = LateModule("kernels.many_searches")
    mask_loops = LateModule("kernels.mask_loops")
    objects = LateModule("objects.objects")
    order_statistics = LateModule("kernels.order_statistics")
    private_lists = LateModule("lists.private_lists")
    random_streams = LateModule("draws.random_streams")
    searches = LateModule("lists.searches")
    segments = LateModule("kernels.segments")
    shown_lists = LateModule("lists.shown_lists")
    sorted_columns = LateModule("kernels.sorted_columns")
    stretches = LateModule("arrays.stretches")
    text_building = LateModule("texts.text_building")
    ufunc_loops = LateModule("nests.ufunc_loops")
    unchanged = LateModule("exits.unchanged")
    variables = LateModule("objects.variables")

__all__ = ["Emitter"]

#: what `fastmath=True` allows; NaNs and infinities keep their meaning
FAST_FLAGS = "reassoc nsz arcp contract afn"
_FEW = 4  # constants that are chosen from without a table
_FEW_TRIPS = 8  # of a loop that LLVM unrolls where it stands


class Emitter:
    """Writes native code for the lowering of one node after the other."""

    def __init__(self, context: Context, f: FunctionBuilder, body: Body | None = None) -> None:
        self.context = context
        self.f = f
        self.body = body  # None: `f` is a vectorcall entry
        self.ownership = Ownership(f, body)
        self.bailout = Bailout(context, f, self.ownership)
        self.polling = Polling(self)
        self._count_frame()
        self.result_types: tuple[Type, ...] = ()
        self.proven: tuple[str, ...] = ()  # of the node that is being lowered
        self.access = ""  # metadata of loads in the body of a nest
        self.spent: set[str] = set()  # objects of arrays that nothing needs behind the node
        self.ends_temporaries = False  # objects are given back before results are used
        self.scopes: dict[str, str] = {}  # what accesses say of their arrays, by address
        self.hypotenuses: dict[str, Hypotenuse] = {}  # by the name of the result
        self.is_in_loop = False  # of a lowering
        self.has_long_casts = vector_bytes() == 64
        self._stack_arrays: dict[tuple[str, int], Ref] = {}
        self._written: dict[tuple[object, ...], tuple[Any, BlockRef]] = {}  # by `once`
        if context.options.fastmath:
            f.float_flags = FAST_FLAGS

    @contextmanager
    def fast_floats(self) -> Iterator[None]:
        """Write floating-point operations as `fastmath` allows."""
        saved, self.f.float_flags = self.f.float_flags, FAST_FLAGS
        yield
        self.f.float_flags = saved

    def _count_frame(self) -> None:
        """Let CPython count a body's frame: always if it runs unknown code, else only where it is left."""
        if self.body is None:
            return
        self.bailout.is_counted = True
        if self.body.is_clean:
            self.bailout.room = self.room
        else:
            self.ownership.frames = lower_depth(self.f, self.room)

    @property
    def result_is_used_up(self) -> bool:
        """Whether the node's results are used before anything can free them: borrowed objects will do."""
        node = self.bailout.node
        return node is not None and not self.ends_temporaries and is_used_up_at_once(node)

    @property
    def is_of_steady_numbers(self) -> bool:
        """Whether the node is in loops, and works on nothing but numbers that are the same in all their trips."""
        node = self.bailout.node
        if node is None or self.is_quick or not has_steady_operands(node):
            return False
        return all(is_scalar(v.type) for v in node.inputs)

    @property
    def room(self) -> Ref:
        """How many frames the recursion limit allows a body, its own among them."""
        assert self.body is not None
        return self.f.params[0]

    @property
    def fastmath(self) -> bool:
        return self.context.options.fastmath

    @property
    def is_quick(self) -> bool:
        return self.context.work is not None

    @property
    def has_vectors(self) -> bool:
        return self.f.has_vectors

    def is_proven(self, check: str) -> bool:
        return check in self.proven

    def stack_array(self, type_: str, count: int) -> Ref:
        """Scratch memory for one call; the next user may overwrite it."""
        size = max(4, 1 << max(count - 1, 0).bit_length())
        key = type_, size
        if key not in self._stack_arrays:
            self._stack_arrays[key] = self.f.alloca(type_, size)
        return self._stack_arrays[key]

    def once(self, rule: Callable[..., Any], *values: Native) -> Any:
        """Give `rule(e, *values)`: what it wrote for the same values on all ways that lead here is there already."""
        key = (rule, *(v.type for v in values), *(part.text for v in values for part in v.parts))
        found, block = self._written.get(key), self.f.block
        if found is not None and block is not None and block.is_dominated_by(found[1]):
            return found[0]
        made = rule(self, *values)
        if self.f.block is not None:
            self._written[key] = made, self.f.block
        return made

    def finish(self) -> None:
        """Write the exits and the common way out; nothing is written through it afterwards."""
        self.bailout.finish()
        self.ownership.finish()
        if not self.is_quick and leaves_work_to_nests(self.f.blocks):
            self.f.attributes += f" noinline {QUICK}"
        vars(self).clear()  # its parts know it: nothing else would free them

    # -- scalars -----------------------------------------------------------------------------------

    const = arithmetic.const
    constant_of = arithmetic.constant_of
    float_constant_of = arithmetic.float_constant_of
    cast = arithmetic.cast
    retype = arithmetic.retype
    add = arithmetic.add
    sub = arithmetic.sub
    mul = arithmetic.mul
    div = arithmetic.div
    floored_quotient = arithmetic.floored_quotient
    rem = arithmetic.rem
    neg = arithmetic.neg
    add_overflow = overflows.add_overflow
    sub_overflow = overflows.sub_overflow
    mul_overflow = overflows.mul_overflow
    bit_and = arithmetic.bit_and
    bit_or = arithmetic.bit_or
    bit_xor = arithmetic.bit_xor
    bit_not = arithmetic.bit_not
    shl = arithmetic.shl
    shr = arithmetic.shr
    select = arithmetic.select
    compare = arithmetic.compare
    real = arithmetic.real
    imag = arithmetic.imag
    complex = arithmetic.make_complex
    intrinsic = arithmetic.intrinsic
    math = arithmetic.math
    elementary = elementary.elementary

    def widen(self, x: Native, type_: Type) -> Native:
        """Give `x` as a value of a type that holds more."""
        return convert(self, x, type_)

    def member(self, x: Native, type_: Type) -> Native:
        return member_of(self.f, x, type_)

    def of_members(self, x: Native, compute: Callable[[Native], Native]) -> Native:
        return of_members(self, x, compute)

    def item_at(self, items: Sequence[Native], index: Native) -> Native:
        """Choose by an index: from a table of constants, else one after the other."""
        if len(items) > _FEW and all(map(_is_fixed, items)):
            columns = zip(*(item.parts for item in items), strict=True)
            return Native(items[0].type, [self._from_table(column, index) for column in columns])
        result = items[0]
        for position, item in enumerate(items[1:], 1):
            is_it = self.f.icmp("eq", index.ref, position)
            result = self.select(Native(BOOL, (is_it,)), item, result)
        return result

    def _from_table(self, items: Sequence[Ref], index: Native) -> Ref:
        type_ = items[0].type
        initial = f"[{', '.join(item.typed for item in items)}]"
        table = self.f.module.constant_data(f"[{len(items)} x {type_}]", initial)
        return self.f.load(type_, self.f.gep(type_, table, index.ref))

    def branch(
        self,
        condition: Native,
        then: Callable[[], Native],
        otherwise: Callable[[], Native],
        *,
        unlikely: bool = False,
    ) -> Native:
        """Choose with a branch; both sides give values of one type. `unlikely`: `then` is the cold side."""
        f = self.f
        if condition.ref.constant is not None:
            return then() if condition.ref.constant else otherwise()
        yes, no = f.new_block("then"), f.new_block("else")
        f.condbr(condition.ref, yes, no, unlikely=unlikely)
        join: Join | None = None
        for block, emit in ((yes, then), (no, otherwise)):
            f.start(block)
            value = emit()
            if join is None:
                join = Join(self, (value.type,), "join", owned=False)
            join.jump((value,))
        assert join is not None
        return join.start()[0]

    def loop(self, trip: Native, body: Callable[[Native], None]) -> None:
        """Run `body(k)` for k = 0 .. trip-1; the outermost of such loops is a function of its own."""
        count = trip.ref.constant
        is_part = self.is_in_loop or (count is not None and count <= _FEW_TRIPS)
        with nullcontext() if is_part else own_function(self.f):
            count_work(self.context, self.f, trip.ref)
            outer, self.is_in_loop = self.is_in_loop, self.is_in_loop or count != 1
            outer_loop(self, trip.ref, lambda k: body(Native(INT, (k,))))
            self.is_in_loop = outer

    def fold(
        self, trip: Native, start: Native, body: Turn, length: int, *, has_vectors: bool = False
    ) -> Native:
        """Carry a value through a loop that LLVM leaves as it is, unless it may have vectors."""

        def turn(k: Ref, carried: list[Ref]) -> list[Ref]:
            return [*body(Native(INT, (k,)), Native(start.type, tuple(carried))).parts]

        hints = () if has_vectors else PLAIN
        parts = maybe_loop(self, trip.ref, [*start.parts], turn, length, hints)
        return Native(start.type, (*parts,))

    def repeat(
        self, start: Native, is_more: Callable[[Native], Native], body: Callable[[Native], Native]
    ) -> Native:
        """A loop that ends by what it carries, and is short."""
        f = self.f
        head, inside, done = (f.new_block(hint) for hint in ("head", "inside", "done"))
        before = f.br(head)
        f.start(head)
        carried = [f.phi(part.type) for part in start.parts]
        add_edge(carried, start.parts, before)
        x = Native(start.type, carried)
        with self.ownership.in_loop():
            f.condbr(is_more(x).ref, inside, done)
            f.start(inside)
            new = body(x).parts
            add_edge(carried, new, f.br(head))
        f.start(done)
        return x

    def bail_if(
        self,
        condition: Native,
        reason: str,
        *,
        also: Callable[[], Native] | None = None,
        may_wait: bool = False,
    ) -> None:
        """Leave for the interpreter if the condition holds, `also` too unless the check is a late one."""
        if also is not None and not self.bailout.is_late:
            never = self.const(BOOL, False)
            condition = self.branch(condition, also, lambda: never, unlikely=True)
        self.bailout.bail_if(condition.ref, reason, may_wait=may_wait)

    def bail(self, reason: str) -> None:
        """Leave for the interpreter."""
        self.bailout.bail_if(TRUE, reason)

    # -- aggregates --------------------------------------------------------------------------------

    def tuple_make(self, items: Sequence[Native]) -> Native:
        return aggregate(TupleType(tuple(item.type for item in items)), items)

    def tuple_items(self, x: Native) -> list[Native]:
        return split(x)

    def range_make(self, start: Native, stop: Native, step: Native) -> Native:
        return aggregate(RANGE, (start, stop, step))

    def range_parts(self, x: Native) -> tuple[Native, Native, Native]:
        start, stop, step = split(x)
        return start, stop, step

    def slice_make(self, start: Native, stop: Native, step: Native) -> Native:
        type_ = SliceType(start.type, stop.type, step.type)
        return aggregate(type_, (start, stop, step))

    def slice_parts(self, x: Native) -> tuple[Native, Native, Native]:
        start, stop, step = split(x)
        return start, stop, step

    def view_make(self, type_: Type, parts: Sequence[Native]) -> Native:
        return aggregate(type_, parts)

    def view_parts(self, x: Native) -> list[Native]:
        return split(x)

    # -- arrays and objects ------------------------------------------------------------------------

    def array_assign(
        self,
        target: Native,
        value: Native,
        convert: Callable[[Native], Native],
        *,
        may_bail: bool,
        is_apart: bool = False,
    ) -> None:
        from ljit.codegen.nests.mapnest import emit_map
        from ljit.codegen.nests.nest_elements import Kernel

        def body(elements: Sequence[Native]) -> list[Native]:
            return [convert(elements[0])]

        kernel, attrs = Kernel(body, may_leave=may_bail), {"apart": is_apart}
        emit_map(self, [target], [value], [], kernel, attrs=attrs, may_be_empty=True)

    array_sizes = arrays.array_sizes
    array_strides = arrays.array_strides
    array_load = arrays.array_load
    array_store = arrays.array_store
    array_move = stretches.array_move
    array_roll = stretches.array_roll
    array_new = fills.array_new
    array_fill = fills.array_fill
    array_view = arrays.array_view
    array_overlap = arrays.array_overlap
    array_same = arrays.array_same
    array_position = bisection.array_position
    array_interval = bisection.array_interval
    array_positions = many_searches.array_positions
    array_correlate = correlations.array_correlate
    array_combine = segments.array_combine
    array_order = order_statistics.array_order
    array_orders = sorted_columns.array_orders
    array_place = extreme_places.array_place
    array_places = extreme_places.array_places
    array_gather = index_loops.array_gather
    array_compress = mask_loops.array_compress
    array_expand = mask_loops.array_expand
    are_inside = index_loops.are_inside
    array_scatter = index_loops.array_scatter
    mask_count = mask_loops.mask_count
    mask_places = mask_loops.mask_places
    array_check = unchanged.array_check
    check_no_attributes = unchanged.check_no_attributes
    draw = random_streams.draw
    draw_all = random_streams.draw_all
    inner_loop = ufunc_loops.inner_loop
    products = ufunc_loops.products
    object_const = objects.object_const
    list_size = lists.list_size
    list_load = lists.list_load
    list_store = lists.list_store
    list_swap = lists.list_swap
    list_append = lists.list_append
    list_pop = lists.list_pop
    list_drop = lists.list_drop
    list_pop_at = lists.list_pop_at
    list_make = lists.list_make
    list_filled = private_lists.filled
    list_resize = private_lists.resize
    list_move = private_lists.move
    list_sort = list_sorts.sort
    list_order = key_orders.order
    list_find = searches.find_item
    list_same = searches.are_same_bytes
    list_shown = shown_lists.shown
    str_size = characters.str_size
    str_code = characters.str_code
    str_char = characters.str_char
    text_code = characters.text_code
    str_compare = characters.str_compare
    str_equal = characters.str_equal
    str_is_among = characters.str_is_among
    str_number = characters.str_number
    str_join = text_building.str_join
    packed_size = packed_items.packed_size
    packed_load = packed_items.packed_load
    packed_store = packed_items.packed_store
    same_object = objects.same_object
    call_object = objects.call_object
    call_method = objects.call_method
    load_global = variables.load_global
    load_cell = variables.load_cell
    load_shared = variables.load_shared
    getattr = objects.getattr_
    setattr = objects.setattr_
    new_object = objects.new_object
    made_of = objects.made_of
    own_attribute = held_functions.own_attribute
    check_in_class = held_functions.check_in_class
    check_members = held_functions.check_members
    check_method = held_functions.check_method
    check_super = held_functions.check_super
    check_kind = held_functions.check_kind
    is_kind = held_functions.is_kind
    given_value = held_functions.given_value
    call_boxed = objects.call_boxed
    is_caught_by = objects.is_caught_by
    context_methods = managers.context_methods
    match_class = class_patterns.match_class
    raise_ = handled.raise_
    call_function = objects.call_function
    owned_result = objects.owned_result


def _is_fixed(x: Native) -> bool:
    """Whether LLVM knows the value as it stands: no instruction or parameter gives it."""
    return not any(part.text.startswith("%") for part in x.parts)
