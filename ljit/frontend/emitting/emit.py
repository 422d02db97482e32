"""A tree to a graph: the entry of the emitters, which live in the modules beside it.

The graph has `prim::Load` and `prim::Store` for local variables and control flow without operands for them;
`convert_to_ssa` puts those in. Values that an expression chooses (``a and b``, a returned value of
an inlined function) are outputs of their If or Region from the start.
"""

from __future__ import annotations

from types import FunctionType

import ljit.frontend.emitting.comprehensions
import ljit.frontend.emitting.conditions
import ljit.frontend.emitting.expressions
import ljit.frontend.emitting.generator_loops
import ljit.frontend.emitting.generators
import ljit.frontend.emitting.patterns
import ljit.frontend.emitting.statements  # these register the emitters
import ljit.frontend.emitting.try_statements
import ljit.ops  # noqa: F401  # declares the ops
from ljit.errors import UnsupportedSyntaxError
from ljit.frontend.emitting.emission import Emission, NeedsCellError, NotInlinedError
from ljit.frontend.emitting.nested import function_scope, refuse_generator
from ljit.frontend.lifting.lifting import lift_nested
from ljit.frontend.trees import tree
from ljit.frontend.trees.build import build_def
from ljit.frontend.trees.scopes import names_of
from ljit.ir import Graph
from ljit.ops.control import RETURN

__all__ = ["build_graph"]


def build_graph(fn: FunctionType) -> Graph:
    """Translate `fn`.

    Raises SourceUnavailableError if there is no source, UnsupportedSyntaxError if something in
    it is not translated.
    """
    try:
        lifted = lift_nested(fn)
        try:
            return _translate(lifted or fn)
        except UnsupportedSyntaxError:
            if lifted is None:
                raise
        return _translate(fn)
    except RecursionError:
        message = f"{fn.__qualname__} is nested too deeply; split it up"
        raise UnsupportedSyntaxError(message) from None


def _translate(fn: FunctionType) -> Graph:
    definition = build_def(fn)
    try:
        return _emit(definition, fn, inlines_generators=True)
    except UnsupportedSyntaxError:  # perhaps in a generator, which can do without
        return _emit(definition, fn, inlines_generators=False)


def _emit(definition: tree.Def, fn: FunctionType, *, inlines_generators: bool) -> Graph:
    """Emit the graph; variables are put into cells, and generators stay such, when that turns out to be needed."""
    cells: frozenset[str] = frozenset()
    kept: tuple[object, ...] = ()
    while True:
        graph = Graph(definition.name)
        e = Emission(fn, graph, inlines_generators=inlines_generators, kept_generators=kept)
        try:
            return _emit_graph(e, definition, cells)
        except NeedsCellError as error:
            cells |= {error.variable}
        except NotInlinedError as error:
            kept = (*kept, error.generator)


def _emit_graph(e: Emission, definition: tree.Def, cells: frozenset[str] = frozenset()) -> Graph:
    """Emit the graph of a function's tree; `cells` are the variables that nested functions find in cells."""
    names = names_of(definition)
    refuse_generator(e, names)
    e.scope = function_scope(e, None, names, {name: name for name in names.bound}, cells)
    params = [(param, e.graph.block.add_param(param.name)) for param in definition.decl.params]
    e.make_cells(sorted(cells), definition.range)
    for param, value in params:
        e.store_name(param.name, value, param.range)
    e.statements(definition.body)
    if not e.block.is_terminated:
        where = definition.body[-1].range
        e.terminate(RETURN, (e.constant(None, where),), where)
    return e.graph
