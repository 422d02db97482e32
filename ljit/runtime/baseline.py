"""From a Python function to its baseline graph and bytecode: everything that does not depend on types."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import cast

import numpy as np

from ljit.analysis.assumptions import (
    Assumption,
    assumptions_of_closure,
    assumptions_of_global,
    python_function,
)
from ljit.analysis.held_callees import HeldCallees
from ljit.analysis.liveness import Liveness
from ljit.cpython.classes import variables_of_module
from ljit.cpython.frames import LOOK_AT_FRAME, LOOK_AT_FRAME_WITHOUT_ARGUMENTS
from ljit.cpython.garbage import no_collections
from ljit.cpython.lasting import lasting
from ljit.cpython.locks import computed_once
from ljit.cpython.own_time import timed_apart
from ljit.cpython.stack import compiler_frames
from ljit.errors import InternalError, UserError
from ljit.frontend.emitting.emit import build_graph
from ljit.held import HeldKind
from ljit.interp import Code, compile_graph
from ljit.ir import Graph, Node
from ljit.ops.control import CONSTANT
from ljit.ops.members import IS_KIND
from ljit.ops.names import LOAD_CLOSURE, LOAD_GLOBAL
from ljit.passes import run_passes
from ljit.passes.containers.identities import is_identity_asked, with_whole_objects
from ljit.records import Record
from ljit.types import RANGE, Type

__all__ = [
    "BASELINE_PIPELINE",
    "OPTIMIZING_PIPELINE",
    "QUICK_PIPELINE",
    "SPECIALIZED_PIPELINE",
    "SSA_PIPELINE",
    "Baseline",
    "graph_for_inlining",
    "script_graph",
]

SSA_PIPELINE = "convert_to_ssa"

#: the profile-insensitive pipeline
BASELINE_PIPELINE = (
    "inline,clear_profiling_information,canonicalize_ops,decompose_ops,"
    "constant_propagation,eliminate_dead_code,scalarize_lists,eliminate_common_subexpression,constant_pooling,"
    "peephole_optimize,eliminate_dead_code,lower_simple_tuples,check_inplace,insert_profile_nodes"
)

_SPECIALIZED = (
    "insert_settings_checks,canonicalize_modified_loops,unroll_updates,normalize_ops,decompose_ops,"
    "constant_propagation,peephole_optimize,lower_simple_tuples,eliminate_common_subexpression,"
    "hoist_guards,eliminate_redundant_guards,"
    "eliminate_dead_code,drop_high_bits,scalarize_arrays,fuse_rows,fuse,unbox_lists,eliminate_dead_code"
)

#: what is left to do on the graph of quick code
OPTIMIZING_PIPELINE = (
    "mark_erratic_branches,sink_stores,unroll_products,eliminate_redundant_checks,choose_terms,interchange,"
    "unroll_and_jam,carry_powers,split_trips,distribute_checks,split_sums,"
    "skip_trips,carry_places,forward_stores,mark_steady_branches,eliminate_dead_code,check_inplace"
)

#: what runs on a specialised graph
SPECIALIZED_PIPELINE = f"{_SPECIALIZED},{OPTIMIZING_PIPELINE}"

#: the same for code that is not optimised
QUICK_PIPELINE = f"{_SPECIALIZED},check_inplace"

_NAMES = LOOK_AT_FRAME | LOOK_AT_FRAME_WITHOUT_ARGUMENTS
_KEPT_GRAPHS = 256  # of functions as written
# that compiles make, and the collector does not see: some functions are replaced, and theirs are never collected
_LASTING_OBJECTS = 1_000_000


@contextmanager
def _compiling(fn: types.FunctionType) -> Iterator[None]:
    """What a compile of `fn` runs under. NumPy does not tell the user of constants that overflow in it."""
    kept = lasting(most=_LASTING_OBJECTS) if _lasts(fn) else nullcontext()
    with compiler_frames(), no_collections(), kept, timed_apart(), np.errstate(all="ignore"):
        yield


def _lasts(fn: types.FunctionType) -> bool:
    """Whether a module or one of its classes has the function under its name: it stays until the process ends."""
    names: Mapping[str, object] = fn.__globals__
    module = names.get("__name__")
    if type(module) is not str or variables_of_module(sys.modules.get(module)) is not names:
        return False
    *classes, name = fn.__qualname__.split(".")
    for each in classes:
        cls = names.get(each)
        if not isinstance(cls, type):
            return False
        names = cls.__dict__
    found = names.get(name)
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    return python_function(found) is fn


def script_graph(fn: types.FunctionType) -> Graph:
    """Give the SSA graph of `fn` as written: `Function.graph`."""
    graph = build_graph(fn)
    run_passes(graph, SSA_PIPELINE)
    return graph


def graph_for_inlining(fn: types.FunctionType) -> Graph | None:
    """Give the graph of a callee, or None if it cannot be inlined."""
    try:
        return _shared_graph(fn)
    except UserError:
        return None


def _shared_graph(fn: types.FunctionType) -> Graph:
    """Give the graph of the function as written, which nobody may change.

    What is no closure lives long, most often: its graph is there for all that inline it.
    """
    if fn.__closure__:
        return script_graph(fn)
    graph, sources = _kept_graph(fn)
    if not all(source.holds() for source in sources):
        _kept_graph.cache_clear()
        graph, _ = _kept_graph(fn)
    return graph


@functools.lru_cache(maxsize=_KEPT_GRAPHS)
def _kept_graph(fn: types.FunctionType) -> tuple[Graph, list[Assumption]]:
    """The graph, and what it was made of."""
    graph = script_graph(fn)
    return graph, _sources_of(fn, graph)


class Baseline(Record, frozen=False):
    """What is kept of one function for ever.

    `graph` is inlined, cleaned up and instrumented with `prim::profile`: the interpreter runs it and specialised graphs
    are made from it.
    """

    fn: types.FunctionType
    graph: Graph
    sources: tuple[Assumption, ...]  # what all of it takes for granted

    @staticmethod
    def of(
        fn: types.FunctionType,
        twin_of: Callable[[types.FunctionType], object],
        held: HeldCallees,
        *,
        profiles_operators: bool = False,
    ) -> Baseline:
        """Translate `fn`. Raises UserError if it is outside of the translated subset.

        `twin_of` gives the decorated functions through which plain ones are called. The bodies of those that are `held`
        stand where they are called.
        """
        pipeline = BASELINE_PIPELINE + (",profile_operators" if profiles_operators else "")
        with _compiling(fn):
            graph = script_graph(fn)
            run_passes(
                graph, pipeline, graph_of=graph_for_inlining, twin_of=twin_of, held=held, around=fn
            )
            made = Baseline(fn, graph, tuple(_sources_of(fn, graph)))
            _ = made.code  # here, where no garbage is looked for
            return made

    def compiling(self) -> AbstractContextManager[None]:
        """What all compiles of the function run under."""
        return _compiling(cast(types.FunctionType, self.fn))

    @property
    def is_outdated(self) -> bool:
        """Whether a function has got other code, as tools that reload modules do it, or a name another function."""
        return not all(source.holds() for source in self.sources)

    def known_as(self, types_: tuple[Type, ...]) -> tuple[Type, ...]:
        """The types as which the function takes arguments of types: objects where it asks which ones they are."""
        return with_whole_objects(self.graph, types_) if self._asks_for_identity else types_

    @computed_once
    def _asks_for_identity(self) -> bool:
        return any(is_identity_asked(x, RANGE) for x in self.graph.params)

    @computed_once
    def code(self) -> Code:
        """The bytecode of `graph`."""
        with self.compiling():
            return compile_graph(self.graph)

    @computed_once
    def script(self) -> Graph:
        """The graph of the function as written, for those who want to see it."""
        with self.compiling():
            return script_graph(cast(types.FunctionType, self.fn))  # a field looks like a method

    @computed_once
    def size(self) -> int:
        """How many nodes the graph has."""
        return len(self._nodes)

    @computed_once
    def global_names(self) -> frozenset[str]:
        """The global variables of the function's module that it reads."""
        scope = cast(types.FunctionType, self.fn).__globals__
        reads = (node.attrs for node in self.graph.walk() if node.op is LOAD_GLOBAL)
        own = (a for a in reads if getattr(a["scope"], "__globals__", None) is scope)
        return frozenset(str(attrs["name"]) for attrs in own)

    @computed_once
    def liveness(self) -> Liveness:
        with self.compiling():
            return Liveness(self.graph)

    def node(self, node_id: int) -> Node:
        """Find a node of `graph` by its id."""
        found = self._nodes.get(node_id)
        if found is None:
            raise InternalError(f"the baseline graph has no node {node_id}")
        return found

    @computed_once
    def _nodes(self) -> dict[int, Node]:
        return {node.id: node for node in self.graph.walk()}


def _sources_of(fn: types.FunctionType, graph: Graph) -> list[Assumption]:
    """What a graph was made of: the code of functions, and functions of the program's that are named as builtins are.

    The builtins of those names look at the frame of their caller, so that functions which call them are not translated.
    """
    codes = [_code_of(f) for f in _functions_in(fn, graph)]
    return codes + [found for node in graph.walk() for found in _own_names(node)]


def _own_names(node: Node) -> list[Assumption]:
    """What a call by such a name rests on; a variable that is no function may be any other value as well."""
    if node.op not in (LOAD_GLOBAL, LOAD_CLOSURE) or node.attrs["name"] not in _NAMES:
        return []
    found = (assumptions_of_global if node.op is LOAD_GLOBAL else assumptions_of_closure)(node)
    return found if found and python_function(found[-1].value) is not None else []


def _functions_in(fn: types.FunctionType, graph: Graph) -> list[types.FunctionType]:
    """The functions whose bodies are in the graph: each is compared with what is called."""
    compared = (_compared(node) for node in graph.walk())
    functions = {id(f): f for f in map(python_function, compared) if f is not None}
    return list({id(fn): fn, **functions}.values())


def _compared(node: Node) -> object:
    """What the node compares with a variable, or names, if that may be a function."""
    if node.op is IS_KIND:
        kind = node.attrs["kind"]
        return kind.function if isinstance(kind, HeldKind) else None
    return node.output.constant if node.op is CONSTANT else None


def _code_of(fn: types.FunctionType) -> Assumption:
    return Assumption(fn, "__code__", fn.__code__)
