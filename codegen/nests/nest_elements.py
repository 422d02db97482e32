"""The elements of a loop nest: where they lie, one or some at once, and what is done with them in a trip."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ljit.codegen.arrays.arrays import load_element, store_element
from ljit.codegen.llvm.builder import Ref, integer
from ljit.codegen.llvm.forms import Native
from ljit.codegen.nests.nest_reductions import Accumulator
from ljit.codegen.nests.nest_space import ZERO, Operand
from ljit.codegen.nests.ufunc_loops import RowLoop
from ljit.codegen.scalars.casts import cast_value
from ljit.ir import OddLayout
from ljit.records import Record
from ljit.types import INT, ScalarType

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["FEW", "Elements", "Kernel", "Places", "RowCall", "Source", "Stage", "Staged"]

_BOOL, _BYTE = ScalarType(np.dtype(np.bool_)), ScalarType(np.dtype(np.uint8))

Source = Operand | Native
Places = dict[Operand, Ref]  # where arrays lie, or their strides
FEW = 1 << 2  # elements whose addresses are one place and a multiple of the stride


class Kernel(Record):
    """What a nest does with an element of each source, and what the loops around that go by.

    `may_leave`: it has checks that leave for the interpreter, which then redoes all elements; so none may be stored
    that is read again. `length`: about how many instructions it is (0: it moves elements); a short one may be written
    several times. `row_loop`: what NumPy has for rows of arrays, which does as well. `staged`: the kernel in stages,
    for rows that are long enough. `odd`: where arrays lie so that results would be others. `operands`: the sources
    whose order in memory a result follows, for each result; (): all of them. `following`: sources that may be others
    a row further.
    """

    compute: Callable[[Sequence[Native]], Sequence[Native]]  # one result for each target
    may_leave: bool = False
    length: int = 0
    row_loop: RowLoop | None = None
    staged: Staged | None = None
    odd: OddLayout = OddLayout.NONE
    operands: Sequence[Collection[int]] = ()
    following: Mapping[int, int] = MappingProxyType({})


class RowCall(Record):
    """A call of NumPy's loop; its operands are numbers of sources, and of what was kept after them.

    `limits`: between which numbers each operand has to be for the loop to be quick; none: any are.
    """

    loop: RowLoop
    operands: tuple[int, ...]
    limits: Sequence[tuple[float, float]] = ()

    @property
    def limits_of_operands(self) -> list[tuple[int, float, float]]:
        """The numbers of operands that have limits, with these."""
        pairs = zip(self.operands, self.limits, strict=bool(self.limits))
        return [(i, low, high) for i, (low, high) in pairs]

    @property
    def type(self) -> ScalarType:
        return ScalarType(self.loop[1][-1])


class Stage(Record):
    """What is computed of the elements of sources, and of what was kept, to be kept as numbers of these types.

    Then come the calls, whose results are kept as well.
    """

    kernel: Kernel
    kept: Sequence[ScalarType]
    calls: Sequence[RowCall]


class Staged(Record):
    """A kernel in stages, the last of which has its results; `size`: how many values are kept in all."""

    stages: Sequence[Stage]
    last: Kernel
    size: int


class Elements:
    """What a trip of the loops does: load, compute, store."""

    def __init__(
        self,
        e: Emitter,
        sources: Sequence[Source],
        targets: Sequence[Operand],
        accumulators: Sequence[Accumulator | None],
        kernel: Kernel,
    ) -> None:
        self.e = e
        self.f = e.f
        self.sources = sources
        self.targets = targets
        self.accumulators = accumulators
        self.kernel = kernel
        self.has_checks = False  # the kernel, as written, can leave
        self.group = ""
        self._rows: list[Places] = [{}]  # where those lie that are done side by side
        self._shared: Mapping[int, int] = {}  # sources that the row before has as these ones
        self._bytes: dict[str, Ref] = {}  # of bools that were loaded

    @property
    def arrays(self) -> list[Operand]:
        return [x for x in (*self.sources, *self.targets) if isinstance(x, Operand)]

    @property
    def _reduced_targets(self) -> list[tuple[Operand, Accumulator]]:
        pairs = zip(self.targets, self.accumulators, strict=True)
        return [(target, a) for target, a in pairs if a is not None]

    @contextmanager
    def _at(self, row: Places) -> Iterator[None]:
        """Work on one of the rows that are done side by side."""
        for x, place in row.items():
            x.cursors.append(place)
        yield
        for x in row:
            x.cursors.pop()

    def _side_by_side(
        self,
        rows: Sequence[Places],
        hoisted: Sequence[dict[int, Native]],
        k: Ref | None,
        strides: Places,
    ) -> list[list[Native]]:
        """Do an element of each row: all loads come before the stores. Gives the elements of reduced results."""
        loaded: list[list[Native]] = []
        for row, known in zip(rows, hoisted, strict=True):
            with self._at(row):
                loaded.append(self._elements(known, k, strides, loaded))
        found = []
        for row, elements in zip(rows, loaded, strict=True):
            with self._at(row):
                found.append(self._store_results(self._results(elements), k, strides))
        return found

    def _hoisted(self, row: Places, strides: Places) -> dict[int, Native]:
        """Load what is the same for all elements of a row."""
        with self._at(row):
            return {
                index: self._load(x, None, ZERO)
                for index, x in enumerate(self.sources)
                if not isinstance(x, Operand) or strides[x].constant == 0
            }

    def _elements(
        self,
        hoisted: dict[int, Native],
        k: Ref | None,
        strides: Places,
        others: Sequence[Sequence[Native]],
    ) -> list[Native]:
        """Load the elements of a trip, but what was loaded for other columns or rows."""
        found: list[Native] = []
        for index, x in enumerate(self.sources):
            if index in hoisted:
                found.append(hoisted[index])
            elif others and index in self._shared:
                found.append(others[-1][self._shared[index]])
            elif others and self._is_shared(x):
                found.append(others[0][index])
            else:
                found.append(self._load(x, k, strides[x]))  # type: ignore[index]
        return found

    def _is_shared(self, x: Source) -> bool:
        """Whether all that is done side by side, rows or columns, has the same element."""
        if not isinstance(x, Operand) or len(self._rows) < 2:
            return False
        first, second, *_ = self._rows
        return first[x].text == second[x].text

    def _results(self, elements: Sequence[Native]) -> Sequence[Native]:
        """The kernel for one element."""
        checks = self.e.bailout.checks
        self.e.access = self._suffix if self.group else ""
        results = self.kernel.compute(elements)
        self.e.access = ""
        self.has_checks |= self.e.bailout.checks != checks
        return results

    def _store_results(
        self, results: Sequence[Native], k: Ref | None, strides: Places
    ) -> list[Native]:
        """Store the elements of results; gives those that are reduced."""
        reduced: list[Native] = []
        if not self.f.is_reachable:
            return reduced
        for target, a, value in zip(self.targets, self.accumulators, results, strict=True):
            cast = cast_value(self.f, value, target.type.element)
            if a is not None:
                reduced.append(cast)
            else:
                self._store(target, k, strides[target], cast)
        return reduced

    def _load(self, x: Source, k: Ref | None, stride: Ref) -> Native:
        if isinstance(x, Native):
            return x
        address = self._address(x, k, stride)
        if x.is_range:
            return Native(INT, (self.f.convert("ptrtoint", address, "i64"),))
        if x.type.element != _BOOL:
            value = load_element(self.f, address, x.dtype, x.type.element, self._suffix)
            return (
                self._apart(value) if stride.constant not in (None, 0, x.dtype.itemsize) else value
            )
        byte = load_element(self.f, address, _BYTE.dtype, _BYTE, self._suffix).ref
        truth = self.f.icmp("ne", byte, 0)
        self._bytes[truth.text] = byte
        return Native(_BOOL, (truth,))

    def _apart(self, element: Native) -> Native:
        """Keep work on an element of a row with that element.

        LLVM loads whole rows as vectors, and would take the roots of all elements before it puts columns apart.
        """
        f = self.f
        if not f.has_vectors:
            return element
        parts = [
            f.compute(x.type, f"freeze {x.typed}") if x.type in ("float", "double") else x
            for x in element.parts
        ]
        return Native(element.type, tuple(parts))

    def _store(self, x: Operand, k: Ref | None, stride: Ref, value: Native) -> None:
        """Store an element; a bool that was loaded is moved as it lies in memory."""
        if x.type.element == _BOOL and value.ref.text in self._bytes:
            value = Native(_BYTE, (self._bytes[value.ref.text],))
        store_element(self.f, self._address(x, k, stride), x.dtype, value, self._suffix)

    @property
    def _suffix(self) -> str:
        return f", !llvm.access.group {self.group}"

    def _address(self, x: Operand, k: Ref | None, stride: Ref) -> Ref:
        if k is None or stride.constant == 0:
            return x.cursors[-1]
        if stride.constant is not None and stride.constant > 0:
            return self.f.gep(f"[{stride.constant} x i8]", x.cursors[-1], k)
        return self.f.gep("i8", x.cursors[-1], self.f.mul(k, stride), "")

    # -- places --------------------------------------------------------------------------------------

    def _moving(self, strides: Places) -> list[Operand]:
        """The arrays whose places differ from trip to trip."""
        return [x for x in self.arrays if strides[x].constant != 0]

    def _rows_from(
        self, rows: Sequence[Places], moving: Sequence[Operand], carried: Sequence[Ref]
    ) -> tuple[list[Places], list[Ref]]:
        """Rows whose moving arrays are at the places that a loop carries, and what else it carries."""
        places = iter(carried)
        found = [{**row, **{x: next(places) for x in moving}} for row in rows]
        return found, [*places]

    def _places_behind(
        self, rows: Sequence[Places], count: int, moving: Sequence[Operand], strides: Places
    ) -> list[Ref]:
        """The places of the moving arrays so many trips later."""
        ends = [self._moved(row, integer("i64", count), strides) for row in rows]
        return [end[x] for end in ends for x in moving]

    def _following(self, row: Places, strides: Places) -> list[Places]:
        """A few places from one on: so many as the machine's addresses can say without adding."""
        return [self._moved(row, integer("i64", i), strides) for i in range(FEW)]

    def _moved(self, row: Places, first: Ref, strides: Places) -> Places:
        """The places of a row's arrays from the trip `first` on."""
        with self._at(row):
            return {x: self._address(x, first, strides[x]) for x in self.arrays}

    def _behind(self, x: Operand, offset: int) -> Ref:
        return self.f.gep("i8", x.cursors[-1], offset)
