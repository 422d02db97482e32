"""Functions that come as arguments or in other variables: their bodies stand where the variables are called.

Those that come with the first call are in its translation. Others are found by profiles when native code is made: then
the function is translated anew, a few times. What comes later is called by the link to it (`links.py`), as functions
that are too large are.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType

from ljit.analysis.assumptions import python_function
from ljit.analysis.held_callees import HeldCallees, is_made_anew, is_of_library
from ljit.cpython.frames import asks_for_a_module
from ljit.held import HeldKind, HeldMethod, MadeFunctions
from ljit.ir import Graph
from ljit.passes.inline import MAX_CALLEE
from ljit.profile import Profile
from ljit.runtime.baseline import graph_for_inlining
from ljit.runtime.twins import function_made

__all__ = ["KnownCallees"]

_TRANSLATIONS = 4  # of one function: each drops all code of the one before


class KnownCallees:
    """Those of one translation of a function: the bodies of the `used` ones stand in it; more may be `known`."""

    def __init__(self, before: KnownCallees | None) -> None:
        self.used: HeldCallees = HeldCallees() if before is None else before.known
        self.known: HeldCallees = self.used
        self.translations: int = 1 if before is None else before.translations + 1

    @property
    def are_lacking(self) -> bool:
        """Whether another translation would have more of them."""
        return self.known is not self.used

    def note_arguments(self, values: Sequence[object]) -> None:
        """See what the first call gets, in front of its translation."""
        self.known = self.used = self.used.with_arguments(values, _function_to_inline)

    def note_seen(self, graph: Graph, profile: Profile) -> None:
        """See what came to the calls of the translation."""
        if self.translations < _TRANSLATIONS:
            self.known = self.known.with_seen(graph, profile.kinds_at, _function_to_inline)


def _function_to_inline(kind: HeldKind) -> FunctionType | None:
    """Give the Python function that callables of a kind run, if it is a small one; with what is in cells in front."""
    if isinstance(kind, HeldMethod) or is_made_anew(kind):
        return None
    called = function_made(kind) if isinstance(kind, MadeFunctions) else kind.function
    function = python_function(called)
    if function is None or is_of_library(function.__code__) or asks_for_a_module(function):
        return None
    graph = graph_for_inlining(function)
    if graph is None or sum(1 for _ in graph.walk()) > MAX_CALLEE:
        return None
    return None if any(node.op.looks_at_callers for node in graph.walk()) else function
