"""Which names a function binds, and which of its nested functions can be inlined.

A nested function is inlined where it is called. That is right if the name is bound once, by the
definition, and is used for nothing but calls. A generator function is inlined where what it gives is used up by the
loop, or the call, around its call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ljit.frontend.trees import tree
from ljit.frontend.trees.generator_bodies import can_run_in_place
from ljit.frontend.trees.tree import Tree
from ljit.frontend.trees.tree_patterns import Match
from ljit.records import Record, made_by
from ljit.source import SourceRange

__all__ = ["Names", "bound_in_target", "names_of"]


class Names(Record, frozen=False):
    """What one function (without those nested in it) does with names.

    `escapes` tells where a name is used other than by calling it, in nested functions too; `in_loops` are the names
    that a loop may bind again, `outside` those that are declared ``global`` or ``nonlocal``, `rebound` those that
    nested functions declare so, or generator expressions bind. `yields` are the places that make a generator of the
    function, `values` the names of nested functions that are never inlined: those with decorators, and generators that
    can only run as such; `generators` are the others. `called` are names that are called, in nested functions too,
    `kept` those of them whose result more is done with than to go through it at once.
    """

    bound: Counter[str] = made_by(factory=Counter)
    deleted: set[str] = made_by(factory=set)
    defined: set[str] = made_by(factory=set)
    escapes: dict[str, SourceRange] = made_by(factory=dict)
    called: set[str] = made_by(factory=set)
    kept: set[str] = made_by(factory=set)
    generators: set[str] = made_by(factory=set)
    in_loops: set[str] = made_by(factory=set)
    outside: set[str] = made_by(factory=set)
    rebound: set[str] = made_by(factory=set)
    values: set[str] = made_by(factory=set)
    yields: list[tree.Yield] = made_by(factory=list)

    @property
    def settled(self) -> frozenset[str]:
        """The names that keep the value which they are first given."""
        bound_once = {name for name, count in self.bound.items() if count == 1}
        return frozenset(bound_once - self.deleted - self.in_loops - self.rebound)

    def note_loop(self, before: Counter[str]) -> None:
        """Note that a loop binds what was bound since `before`."""
        self.in_loops |= self.bound_since(before)

    def bound_since(self, before: Counter[str]) -> set[str]:
        """Give the names that are bound in more places than before."""
        return {name for name in self.bound if self.bound[name] > before[name]}

    def note_handler(self, name: str) -> None:
        """Note ``except ... as name``, which unbinds the name at its end ("": there is none)."""
        if name:
            self.bound[name] += 1
            self.deleted.add(name)

    @property
    def inlinable(self) -> frozenset[str]:
        """The names that only ever stand for one nested function, which need not be a value."""
        return self._known - (self.generators & self.kept)

    @property
    def inlined_generators(self) -> frozenset[str]:
        """The names that only ever stand for one generator function that can run in place."""
        return self._known & self.generators

    @property
    def _known(self) -> frozenset[str]:
        others = (self.escapes, self.deleted, self.rebound, self.values)
        return frozenset(
            name
            for name in self.defined
            if self.bound[name] == 1 and not any(name in names for names in others)
        )


def names_of(definition: tree.Def) -> Names:
    """Find the names of one function."""
    names = Names()
    names.bound.update(param.name for param in definition.decl.params)
    for statement in definition.body:
        _statement(statement, names)
    for name in names.outside:
        del names.bound[name]
    names.yields += _yields_in(definition.body)
    return names


def _yields_in(parts: Iterable[Tree]) -> Iterator[tree.Yield]:
    for part in parts:
        if isinstance(part, tree.Yield):
            yield part
        yield from _yields_in(_run_around(part) if isinstance(part, tree.Def) else part.children)


def _run_around(definition: tree.Def) -> Iterator[Tree]:
    """Give the parts of a nested function that run where it is defined: decorators, defaults, annotations."""
    yield from (*definition.decorators, *definition.decl.params)
    if definition.decl.returns is not None:
        yield definition.decl.returns


def bound_in_target(target: Tree | None) -> list[str]:
    """Give the names that assigning to `target` binds."""
    if isinstance(target, tree.Var):
        return [target.name]
    if isinstance(target, tree.TupleLiteral | tree.ListLiteral):
        return [name for item in target.items for name in bound_in_target(item)]
    if isinstance(target, tree.Starred):
        return bound_in_target(target.value)
    return []


#: what stands in bodies; everything else below a statement is an expression
_STATEMENTS = (
    tree.Assert,
    tree.Assign,
    tree.AugAssign,
    tree.Break,
    tree.Continue,
    tree.Def,
    tree.Delete,
    tree.ExprStmt,
    tree.For,
    tree.Handler,
    tree.If,
    tree.Import,
    Match,
    tree.Outside,
    tree.Pass,
    tree.Raise,
    tree.Return,
    tree.Try,
    tree.While,
    tree.With,
)


def _statement(statement: Tree, names: Names) -> None:
    """Note what a statement binds, then look at its parts."""
    if isinstance(statement, tree.Handler):
        names.note_handler(statement.name)
    if not isinstance(statement, tree.For | tree.While):
        _names_in(statement, names)
        return
    before = names.bound.copy()
    _names_in(statement, names)
    names.note_loop(before)


def _names_in(statement: Tree, names: Names) -> None:
    if isinstance(statement, tree.Def):
        names.bound[statement.name] += 1
        names.defined.add(statement.name)
        _nested(statement, names)
        return
    if isinstance(statement, tree.Outside):
        names.outside.update(statement.names)
        return
    targets = _targets_of(statement)
    for target in targets:
        names.bound.update(bound_in_target(target))
        _target_parts(target, names)
    if isinstance(statement, tree.Delete):
        names.deleted.update(name for target in targets for name in bound_in_target(target))
    if isinstance(statement, tree.Assign):
        if isinstance(statement.value, tree.Lambda) and isinstance(targets[0], tree.Var):
            names.defined.add(targets[0].name)
        targets += (statement.annotation,)  # which nothing evaluates
    iterables = statement.iterables if isinstance(statement, tree.For) else ()
    for iterable in iterables:
        _used_up(iterable, names)
    for child in statement.children:
        if child not in targets and child not in iterables:
            _part(child, names)


def _targets_of(statement: Tree) -> tuple[Tree | None, ...]:
    match statement:
        case tree.Assign() | tree.For() | tree.Delete() | tree.Import() | tree.With():
            return statement.targets
        case tree.AugAssign():
            return (statement.target,)
        case _:
            return ()


def _target_parts(target: Tree | None, names: Names) -> None:
    """Look at the expressions in a target: ``x[i].y`` reads x and i."""
    if isinstance(target, tree.Select | tree.Subscript):
        _expression(target, names)
    elif target is not None and not isinstance(target, tree.Var):
        for child in target.children:
            _target_parts(child, names)


def _expression(expression: Tree, names: Names) -> None:
    match expression:
        case tree.Var():
            names.escapes.setdefault(expression.name, expression.range)
        case tree.NamedExpr():
            names.bound[expression.name] += 1
            _expression(expression.value, names)
        case tree.Apply(function=tree.Var(name=name)):
            names.kept.add(name)
            _call(expression, names)
        case tree.Yield(is_from=True):
            _used_up(expression.value, names)
        case tree.Lambda():
            _nested(expression.definition, names)
        case tree.Comprehension():
            _comprehension(expression, names)
        case _:
            names.bound.update(expression.binds)
            for child in expression.children:
                _part(child, names)


def _used_up(iterable: Tree, names: Names) -> None:
    """Look at what a loop, or a call, goes through."""
    if isinstance(iterable, tree.Apply) and isinstance(iterable.function, tree.Var):
        _call(iterable, names)
    else:
        _expression(iterable, names)


def _call(call: tree.Apply, names: Names) -> None:
    """Look at the call of a name; most functions that are given a call's result go through it, if they can."""
    assert isinstance(call.function, tree.Var)
    names.called.add(call.function.name)
    for i, child in enumerate((*call.arguments, *call.keywords)):
        if i:
            _expression(child, names)
        else:
            _used_up(child, names)


def _comprehension(comprehension: tree.Comprehension, names: Names) -> None:
    before = names.bound.copy()
    for generator in comprehension.generators:
        _target_parts(generator.target, names)
        _used_up(generator.iterable, names)
        for child in generator.conditions:
            _expression(child, names)
    _expression(comprehension.element, names)
    names.note_loop(before)
    if (
        comprehension.container == "generator"
    ):  # a function of its own: its := bind variables around it
        names.rebound |= names.bound_since(before)


def _part(part: Tree, names: Names) -> None:
    """Look at what is below an expression, or in a case of a ``match``."""
    look = _statement if isinstance(part, _STATEMENTS) else _expression
    look(part, names)


def _nested(definition: tree.Def, names: Names) -> None:
    """Look at a nested function: its parameters' defaults run here, its body counts for escapes."""
    for part in _run_around(definition):
        _expression(part, names)
    inner = names_of(definition)
    if definition.decorators:
        names.values.add(definition.name)
    elif inner.yields:
        is_value = definition.name in inner.called or not can_run_in_place(definition)
        (names.values if is_value else names.generators).add(definition.name)
    names.called |= inner.called - inner.bound.keys()
    names.kept |= inner.kept - inner.bound.keys()
    names.rebound |= inner.rebound | inner.outside
    for name, where in inner.escapes.items():
        if name not in inner.bound:
            names.escapes.setdefault(name, where)
