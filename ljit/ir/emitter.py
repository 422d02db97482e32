"""The Emitter protocol: what the lowering of an op may do to write native code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CellType
from typing import Protocol

import numpy as np

from ljit.held import HeldKind
from ljit.ir.number_emitter import NumberEmitter, Scalar, V
from ljit.ir.reductions import Scan
from ljit.types import Type

__all__ = ["MOST_SORTED", "SORTED_BYTES", "Emitter", "Scalar", "V"]

MOST_SORTED = 64  # rows whose columns `array_orders` sorts
SORTED_BYTES = 256  # of columns that it sorts at once


class Emitter(NumberEmitter, Protocol):
    """What a lowering may do. Implemented by `ljit.codegen` (LLVM)."""

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

    def array_load(self, a: V, indices: Sequence[V], *, is_aligned: bool = True) -> V:
        """Load one element; the indices must be in [0, size): checked by the caller."""

    def array_store(self, a: V, indices: Sequence[V], value: V, *, is_aligned: bool = True) -> None:
        """Store one element of the array's dtype; indices as in `array_load`."""

    def array_move(self, target: V, to: V, source: V, at: V, count: V) -> None:
        """Copy elements side by side from one vector in C order, from `at` on, to places of another one from `to` on.

        Source and target do not overlap.
        """

    def array_roll(self, target: V, source: V, block: V, head: V, times: V) -> None:
        """Copy so many blocks of one vector in C order to another one; of each the last `head` elements come first."""

    def array_new(self, type_: Type, sizes: Sequence[V], fill: V | None) -> V:
        """Allocate a C-contiguous array; `fill` None leaves it uninitialised. Negative sizes bail."""

    def array_fill(self, a: V, value: Callable[[V], V]) -> None:
        """Store to each element of a fresh vector what is given for its index."""

    def array_view(
        self,
        a: V,
        type_: Type,
        offset: V,
        sizes: Sequence[V],
        strides: Sequence[V],
        *,
        is_read_only: bool = False,
    ) -> V:
        """A view on the memory of `a`: offset and strides in bytes. Writeable as `a` is, unless `is_read_only`."""

    def array_assign(
        self,
        target: V,
        value: V,
        convert: Callable[[V], V],
        *,
        may_bail: bool,
        is_apart: bool = False,
    ) -> None:
        """Fill an array with a number or with the elements of an array that broadcasts to it.

        As if all were read before the first is stored. `convert` makes elements of the target's dtype; `may_bail`
        says whether it may bail, `is_apart` that the arrays share no memory.
        """

    def array_overlap(self, a: V, b: V) -> V:
        """Whether the memory extents of two arrays meet, as a condition (may be true in vain)."""

    def array_same(self, a: V, b: V) -> V:
        """Whether two arrays of one dtype and rank are the same elements in the same places."""

    def array_position(self, a: V, key: V, *, after: bool) -> V:
        """Where an int64 or float64 belongs among items compared as such, as ``np.searchsorted`` says: an INT."""

    def array_interval(self, a: V, key: V) -> V:
        """Between which items of a float64 vector, not empty, a number is: the lower's index, -1, or the size."""

    def array_positions(self, a: V, keys: V, into: V, *, after: bool) -> V:
        """Store where each of many numbers belongs in a sorted vector; whether it was seen to be sorted.

        Both are of float64 or of int64; all but `keys` are C-contiguous.
        """

    def array_correlate(self, a: V, taps: V, into: V, ends: tuple[V, V]) -> None:
        """Fill `into` with sums of taps times elements of `a`, at one place after the other: vectors in C order.

        `ends` are the numbers of places in front and behind where some taps have no elements.
        """

    def array_combine(self, a: V, first: V, count: V, scan: Scan, type_: Type) -> V:
        """Combine elements of a vector, at least one, from `first` on, in the dtype of `type_`."""

    def array_order(self, a: V, place: V, scratch: V) -> tuple[V, V]:
        """The element that a vector in C order would have there if it were sorted, and the one behind it.

        At its end both are the same; both are NaN if one element is. `scratch` is a vector of twice the size.
        """

    def array_orders(self, a: V, place: V, into: V) -> None:
        """The same for each column of up to `MOST_SORTED` rows, sorted side by side: in two rows of `SORTED_BYTES`.

        `a` has two axes of rows, one at least, and a last one of at most as many columns as `into` has.
        """

    def array_place(self, a: V, *, greatest: bool) -> V:
        """Where the least (or greatest) element of a vector, not empty, is first, as ``np.argmin`` says: an INT."""

    def array_places(self, a: V, into: V, *, greatest: bool) -> None:
        """Store the places of the extrema along the first axis of a matrix, not empty, in a C-contiguous vector."""

    def array_gather(self, a: V, index: V, into: V) -> V:
        """Fill an array with the rows of `a` that an array of ints names; whether there are all of these.

        `a` and `index` are vectors or C-contiguous.
        """

    def array_compress(self, a: V, mask: V, into: V) -> None:
        """Fill a vector with the elements of `a` where a C-contiguous mask of its sizes holds.

        `a` is a vector or C-contiguous.
        """

    def array_expand(self, a: V, mask: V, values: V) -> None:
        """Store the elements of a vector, or a number, of the dtype of `a` where a mask as above holds."""

    def are_inside(self, a: V, index: V) -> V:
        """Whether a vector has all the elements that an array of ints as above names, as a condition."""

    def array_scatter(self, a: V, index: V, values: V) -> None:
        """Store the elements of a vector, or a number, of the dtype of `a` at the places that `index` names.

        `a` is a vector; or it is C-contiguous, and so are the values: as many rows, or one.
        """

    def mask_count(self, mask: V) -> V:
        """How often a C-contiguous mask holds: an INT."""

    def mask_places(self, mask: V, into: V) -> None:
        """Fill an int64 vector with the places where a C-contiguous mask holds."""

    def array_check(self, x: V) -> None:
        """Bail if the object of an array (or of one within a tuple or view) is not what `x` says any more."""

    def inner_loop(
        self,
        ufunc: np.ufunc,
        arrays: Sequence[tuple[V, V]],
        sizes: Sequence[V],
        strides: Sequence[V],
        result: Type,
        work: V | None = None,
    ) -> V:
        """Run a NumPy ufunc's own inner loop on arrays of exactly its dtypes, each with an offset in bytes.

        `sizes` and `strides` (in bytes) are what NumPy gives to the loop: the number of times and the core sizes;
        one stride of each operand for the times, then those of the core dimensions. A result that is a scalar is
        given; for others the last of `arrays` takes the results, and nothing is given. `work`: about how many
        multiplications that is, if not the product of the sizes.
        """

    def products(
        self, arrays: Sequence[tuple[V, V]], sizes: Sequence[V], strides: Sequence[V]
    ) -> None:
        """What `inner_loop` does with ``np.matmul``, where products are an array in C order."""

    def loop(self, trip: V, body: Callable[[V], None]) -> None:
        """Run `body(k)` for k = 0 .. trip-1; for lowerings that need a loop of their own."""

    def fold(
        self,
        trip: V,
        start: V,
        body: Callable[[V, V], V],
        length: int,
        *,
        has_vectors: bool = False,
    ) -> V:
        """Give `x = body(k, x)` for k = 0 .. trip-1 in turn, from `start` on; a trip is about `length` instructions.

        `has_vectors`: LLVM may do several trips together.
        """

    def repeat(self, start: V, is_more: Callable[[V], V], body: Callable[[V], V]) -> V:
        """Give `x`, which is `start` first, and then ``body(x)`` again and again as long as ``is_more(x)``."""

    # -- random streams ------------------------------------------------------------------------------

    def draw(self, x: V, function: str, args: Sequence[V], type_: Type) -> V:
        """Draw by one of `numpy.random`, or of `codegen/draws/random_streams.py`; leaves if the stream is in use."""

    def draw_all(
        self, x: V, function: str, args: tuple[Sequence[V], Sequence[V]], into: V, count: V
    ) -> None:
        """Fill a new array in C order with what a function of `numpy.random` draws; leaves as `draw` does.

        `args`: what it is given in front of the count, and behind it.
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

    def list_drop(self, x: V) -> None:
        """Take off the last item, which is there: nothing is checked, so other changes may come before."""

    def list_pop_at(self, x: V, index: V) -> V:
        """Take off an item; the index must be in [0, size)."""

    def list_make(self, items: Sequence[V], type_: Type) -> V: ...
    def list_filled(self, count: V, item: Callable[[V], V], type_: Type) -> V:
        """A private list of the numbers ``item(k)`` for k = 0 .. count-1."""

    def list_resize(self, x: V, count: V) -> None:
        """Let a private list of numbers have so many items, at least 0; those behind the present ones are undefined."""

    def list_move(self, x: V, to: V, source: V, at: V, count: V) -> None:
        """Copy items side by side of a private list of numbers, or of `x` itself, from `at` on, to places from `to`."""

    def list_sort(self, x: V, room: V, *, is_falling: bool) -> None:
        """Sort a private list of ints, or of floats but NaN; equal ones stay in order. `room`: such a list, as long."""

    def list_order(self, keys: V, *, is_falling: bool) -> V:
        """A private list of the places of ints, floats, strs, or tuples of such, in their order."""

    def list_find(self, x: V, item: V) -> V:
        """The first place of an equal one in a private list of ints or floats, or -1."""

    def list_same(self, x: V, y: V) -> V:
        """Whether two private lists of numbers, of one type, are the same byte for byte."""

    def list_shown(self, x: V, type_: Type) -> V:
        """The list of Python's that a private list of numbers, or of lists of numbers, is."""

    def str_size(self, x: V) -> V:
        """Length of a str."""

    def str_code(self, x: V, index: V) -> V:
        """Code point of a character as an int; the index must be in [0, length)."""

    def str_char(self, code: V) -> V:
        """The character of a code point, which must be in [0, 0x110000)."""

    def text_code(self, x: V) -> V:
        """Code point of a character, or of the only one of a str, as an int; -1: it is empty, -2: it has more."""

    def str_compare(self, x: V, y: V) -> V:
        """Less than, equal to or greater than 0, as an int: the order of two strs by code points."""

    def str_equal(self, x: V, y: V) -> V:
        """Whether two strs have the same characters."""

    def str_is_among(self, x: V, characters: str, otherwise: Callable[[], V]) -> V:
        """Whether a str is one of some characters of ASCII; `otherwise` tells of what is no such character."""

    def str_join(self, parts: Sequence[V], otherwise: Callable[[], V]) -> V:
        """Strs put together, which `otherwise` does with objects."""

    def str_number(self, x: V) -> tuple[V, V]:
        """The int that a str of decimal digits is, and whether it was read: others may be ints, too."""

    def packed_size(self, x: V) -> V:
        """Length of bytes, or of another container of a packed type."""

    def packed_load(self, x: V, index: V) -> V:
        """An item of the same, an int or a float; the index must be in [0, length)."""

    def packed_store(self, x: V, index: V, value: V) -> None:
        """Store such an item, which must fit; the index must be in [0, length)."""

    def same_object(self, x: V, y: V) -> V:
        """Identity of two objects, as a condition."""

    def call_object(self, f: V, args: Sequence[V], kwnames: tuple[str, ...] = ()) -> V:
        """``f(*args)`` on boxed values; the last ``len(kwnames)`` arguments are keywords."""

    def call_method(
        self, name: str, x: V, args: Sequence[V], kwnames: tuple[str, ...] = ()
    ) -> V: ...
    def load_global(self, variables: dict[str, object], name: str, load: Callable[[], object]) -> V:
        """The variable in a module's dict; if there is none, what `load` gives or raises."""

    def load_cell(self, cell: CellType, load: Callable[[], object]) -> V:
        """What is in the cell; if it is empty, what `load` raises."""

    def load_shared(self, cell: V, load: Callable[[object], object]) -> V:
        """What is in a cell that the function has made; if it is empty, what `load` raises of it."""

    def getattr(self, x: V, name: str) -> V: ...
    def setattr(self, x: V, value: V, name: str) -> None: ...
    def check_no_attributes(self, x: V, names: Sequence[str]) -> None:
        """Bail if the object has an attribute of its own (not of its class) of one of the names."""

    def check_method(self, x: V, name: str, function: object) -> None:
        """Bail unless the attribute is the Python function, which the class has, as a method of the object."""

    def check_in_class(self, x: V, name: str, value: object) -> None:
        """Bail unless the class of the object has the value under the name, bound to nothing."""

    def check_super(self, x: V, above: type, name: str, function: object) -> None:
        """Bail unless the Python function is what ``super(above, x)`` has as a method of the name."""

    def check_members(self, cls: type, members: Sequence[tuple[str, object]]) -> None:
        """Bail unless the class has the value under the name, bound to nothing."""

    def made_of(self, x: V, function: Callable[[object], object]) -> V:
        """What a function without effects gives for the object; it runs in exits if only these need it."""

    def new_object(self, cls: type) -> V:
        """What `object.__new__` makes of the class; bail if that has another ``__new__``."""

    def own_attribute(self, x: V, name: str) -> V:
        """The attribute that the object itself has; bail if it has none."""

    def check_kind(self, x: V, kind: HeldKind, reason: str) -> None:
        """Bail unless the object is a callable of the kind."""

    def is_kind(self, x: V, kind: HeldKind, used: tuple[int, ...]) -> V:
        """Whether the object is a callable of the kind; of `used`, what it gives is of its classes."""

    def given_value(self, x: V, kind: HeldKind, index: int) -> V:
        """What a callable of the kind gives in front of arguments; bail if that is not bound."""

    def call_function(self, function: object, args: Sequence[V]) -> V:
        """Call a Python function that is known while compiling, or what does the same in C; an object, or a bool."""
        ...

    def is_caught_by(self, function: object, error: V, classes: V) -> V:
        """Whether ``except classes`` takes an exception; `function` tells for classes that are none."""

    def match_class(
        self, function: object, subject: V, cls: V, count: int, names: tuple[str, ...]
    ) -> V:
        """What a class pattern with so many parts by position takes out of an instance, as `function` does."""

    def context_methods(self, function: object, manager: V) -> V:
        """A tuple of the methods that ``with manager`` calls; `function` raises for what is no context manager."""

    def raise_(self, operands: Sequence[V], *, has_cause: bool) -> None:
        """Raise an exception; leave for the interpreter where that may run unknown code."""

    def call_boxed(self, function: object, args: Sequence[V]) -> V:
        """Box the arguments and call a Python callable; the result is unboxed as `result_types[0]`."""
