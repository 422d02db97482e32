"""Which Python functions came to calls of what variables hold, so that their bodies can stand at the calls.

A function may get others as arguments, or read them from attributes and containers. What came to a call is known from
the arguments of the first call, by the parameter, and from profiles, by the place of the call. It is kept by *kinds*
(`ljit/held.py`): functions that differ in the values of their closures alone are of one kind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import CodeType, FunctionType

from ljit.analysis.assumptions import python_function
from ljit.held import HeldKind, KnownFunction, held_kind, with_kind
from ljit.ir import Graph, Node, Value
from ljit.ops.control import CONSTANT, PROFILE
from ljit.ops.names import LOAD_CLOSURE, LOAD_GLOBAL
from ljit.ops.objects import CALL, GETATTR
from ljit.records import Record
from ljit.source import SourceRange
from ljit.types import NEVER

__all__ = ["HeldCallee", "HeldCallees", "is_made_anew", "is_of_library"]

_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")

#: gives the Python function whose body may stand where a callable of a kind is called
FunctionOf = Callable[[HeldKind], FunctionType | None]
_Stretch = tuple[str, int, int, int, int]
#: a parameter of the graph, or a place in the source and the calls around it
_Place = int | tuple[_Stretch, ...]


class HeldCallee(Record):
    """A kind of callables, and what runs when they are called, with what they give in front."""

    kind: HeldKind
    runs: object

    def function(self) -> FunctionType:
        """The Python function that runs."""
        assert isinstance(self.runs, FunctionType)
        return self.runs


class HeldCallees(Record):
    """The callees by the call that they came to."""

    by_place: Mapping[_Place, tuple[HeldCallee, ...]] = {}

    def of(self, call: Node) -> tuple[HeldCallee, ...]:
        """Those that came to a call of a variable."""
        place = _place_of(call)
        return self.by_place.get(place, ()) if place is not None else ()

    def with_arguments(self, values: Sequence[object], function_of: FunctionOf) -> HeldCallees:
        """Count in the arguments of a call; gives this if there is nothing new."""
        kinds = ((index, held_kind(x)) for index, x in enumerate(values) if callable(x))
        return self._with(
            [(index, [kind]) for index, kind in kinds if kind is not None], function_of
        )

    def with_seen(
        self, graph: Graph, kinds_at: Callable[[int], Iterable[HeldKind]], function_of: FunctionOf
    ) -> HeldCallees:
        """Count in what profiles have seen, by the id of the node; gives this if there is nothing new."""
        calls = [(node, node.inputs[0].made_by(PROFILE)) for node in _called_variables(graph)]
        seen = [(_place_of(call), kinds_at(p.id)) for call, p in calls if p is not None]
        return self._with(
            [(place, kinds) for place, kinds in seen if place is not None], function_of
        )

    def _with(
        self, seen: Iterable[tuple[_Place, Iterable[HeldKind]]], function_of: FunctionOf
    ) -> HeldCallees:
        known = dict(self.by_place)
        for place, kinds in seen:
            for kind in kinds:
                known[place] = _with_callee(known.get(place, ()), kind, function_of)
        same = all(known[place] == self.by_place.get(place, ()) for place in known)
        return self if same else HeldCallees(known)


def _called_variables(graph: Graph) -> list[Node]:
    """The calls of what local variables and containers hold.

    Other variables are constants, and ``x.f()`` is a method, mostly: an object is made of it if it is looked at.
    """
    return [n for n in graph.walk() if n.op is CALL and not _is_otherwise_known(n)]


def _is_otherwise_known(call: Node) -> bool:
    looked_up = _looked_up(call.inputs[0]).node
    if looked_up is None:
        return False
    is_method = looked_up.op is GETATTR and looked_up.block is call.block
    return is_method or looked_up.op in (CONSTANT, LOAD_GLOBAL, LOAD_CLOSURE)


def _looked_up(value: Value) -> Value:
    """What is behind the profiles of a value."""
    while (profiled := value.made_by(PROFILE)) is not None:
        value = profiled.inputs[0]
    return value


def _with_callee(
    known: tuple[HeldCallee, ...], kind: HeldKind, function_of: FunctionOf
) -> tuple[HeldCallee, ...]:
    kinds = tuple(callee.kind for callee in known)
    together = with_kind(kind, kinds)
    if together is None or len(together) == len(kinds) or NEVER in kind.types:
        return known
    function = function_of(kind)
    return known if function is None else (*known, HeldCallee(kind, function))


def _place_of(call: Node) -> _Place | None:
    """What is called: the parameter, if it is one; else where."""
    value = _looked_up(call.inputs[0])
    if value in call.graph.params:
        return call.graph.params.index(value)
    return _chain(call.range) if call.range is not None else None


def _chain(where: SourceRange) -> tuple[_Stretch, ...]:
    last = (where.source.filename, where.line, where.column, where.end_line, where.end_column)
    return (last, *_chain(where.caller)) if where.caller is not None else (last,)


def is_made_anew(kind: HeldKind) -> bool:
    """Whether it is a decorated function that a function has made: it is another one in other calls."""
    function = python_function(kind.function)
    return (
        isinstance(kind, KnownFunction)
        and function is not None
        and "<locals>" in function.__qualname__
    )


def is_of_library(code: CodeType) -> bool:
    """Whether it is of an installed library."""
    return code.co_filename.startswith(_LIBRARY)
