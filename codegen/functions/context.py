"""What one compile unit shares: options, kept objects, and the tables of exits and sites."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ljit.analysis.assumptions import Assumption
from ljit.analysis.branch_histories import BranchHistories
from ljit.codegen.functions.choice import ChoiceCell
from ljit.codegen.functions.handed_over import Recipe, put_together
from ljit.codegen.functions.work import WorkCell
from ljit.codegen.llvm.builder import BlockRef, ModuleBuilder, Ref, address
from ljit.errors import CodegenError
from ljit.ops.python.private_items import python_value
from ljit.records import Record, made_by
from ljit.source import Source, SourceRange
from ljit.types import ANY, Type

__all__ = ["CompileOptions", "Context", "ExitInfo", "SiteInfo"]


def _no_helper(_exit: int, _site: int, _values: tuple[object, ...]) -> object:
    msg = "native code left for the interpreter, but no helper was given"
    raise CodegenError(msg)


class CompileOptions(Record, eq=True):
    """How to compile one unit.

    `helper(exit_index, site_index, values)` goes on in the interpreter and gives the function's
    result, or a `Raised`. `assumptions` are checked at entry. `chaos`: each check also fails when the
    unit's `chaos_site` names it. `result`: the type that native callers get; `Any` is an object. `is_called`:
    by native code of other units. `broadcasts`: an axis whose size only a run knows can have one element where another
    array has more; without it the code leaves for the interpreter then. `single_rows`: rows that are combined, or the
    columns of one, may have one element, likewise. `quick_work`: it is not optimised, and good for
    so much work, in nodes of the graph (`codegen/functions/work.py`); 0: it is optimised. `has_lanes`: loops of
    nests have vectors there, which pays where arrays have some hundred elements. `has_many`: arrays have some thousand.
    `is_under_settings`: calls are handed on while NumPy is set to do more than warn of what floats do.
    `takes_all_layouts`: calls in which no array has gaps are not handed on where the types leave room for gaps.
    `rival`: the plain function, which gets some calls (`NativeCode.choice`). `branches`: where it notes how they go.
    """

    fastmath: bool = False
    chaos: bool = False
    helper: Callable[[int, int, tuple[object, ...]], object] = _no_helper
    assumptions: tuple[Assumption, ...] = ()
    result: Type = ANY
    is_called: bool = False
    broadcasts: bool = True
    single_rows: bool = False
    quick_work: int = 0
    has_lanes: bool = False
    has_many: bool = False
    is_under_settings: bool = False
    takes_all_layouts: bool = False
    rival: Callable[..., object] | None = None
    branches: BranchHistories | None = None


class ExitInfo(Record, eq=True):
    """A Snapshot as a way out: the place where the interpreter goes on, and the names of the values.

    Behind the values stand so many exceptions that are being `handled` there, those of inner handlers last, and, if it
    `raises`, what is raised behind the Snapshot. `private`: the types of the private lists among the values, and of
    iterations over them, by their positions; `recipes`: what each value is made of.
    """

    at: str
    names: tuple[str, ...]
    raises: bool = False
    handles: int = 0
    private: tuple[tuple[int, Type], ...] = ()
    recipes: tuple[Recipe, ...] = ()

    def objects(self, given: Sequence[object]) -> tuple[object, ...]:
        """Make the values as the interpreter has them of what was handed over: lists of Python's for private ones."""
        shown, made = [put_together(x, given) for x in self.recipes], dict[int, list[object]]()
        for position, type_ in self.private:
            shown[position] = python_value(shown[position], type_, made)
        return tuple(shown)


#: a line of the source, or what is said of a check
Note = tuple[Source, int] | str


class SiteInfo(Record, eq=True):
    """One check that can leave native code: for which baseline node, why, and where in the source."""

    origin: int
    reason: str
    range: SourceRange | None


class Context(Record, frozen=False):
    """The shared state of one compile unit."""

    module: ModuleBuilder
    options: CompileOptions
    exits: list[ExitInfo] = made_by(factory=list)
    sites: list[SiteInfo] = made_by(factory=list)
    kept: list[object] = made_by(factory=list)
    boxers: dict[Type, str] = made_by(factory=dict)  # functions that box, for the exits
    work: WorkCell | None = None  # of quick code
    choice: ChoiceCell | None = None  # of code that has a rival
    notes: dict[Note, int] = made_by(factory=dict)  # what the numbers of `BlockRef.note` stand for
    packs: bool = False  # some elements are done side by side, which LLVM may put into vectors
    may_unswitch: bool = True  # loops may have branches that go the same way in all trips
    _addresses: dict[int, Ref] = made_by(factory=dict)

    def note(self, block: BlockRef | None, about: Note) -> None:
        """Have whoever reads the IR told what the lines that come next in a block are for."""
        if block is not None:
            block.note(self.notes.setdefault(about, len(self.notes)))

    def keep(self, value: object) -> Ref:
        """Keep a Python object alive as long as the code lives, and give its address."""
        found = self._addresses.get(id(value))
        if found is None:
            found = self._addresses[id(value)] = address(id(value))
            self.kept.append(value)
        return found
