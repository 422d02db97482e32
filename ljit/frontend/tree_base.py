"""The base of the tree views, and how they print: `dump` gives an s-expression.

(assign
(list (variable (ident c)))
(option
(+
(variable (ident a))
(variable (ident b))))
(option))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import ClassVar

from ljit.source import SourceRange

__all__ = ["SYMBOLS", "Tree", "dump"]

_FLAT_WIDTH = 40


#: op name -> how it is written
SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "lshift": "<<",
    "rshift": ">>",
    "and": "&",
    "or": "|",
    "xor": "^",
    "matmul": "@",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "is": "is",
    "is_not": "is_not",
    "contains": "in",
    "not_contains": "not_in",
    "neg": "unary_minus",
    "pos": "unary_plus",
    "invert": "~",
    "not": "not",
}


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Base of all tree views; the fields of a subclass are its children and properties."""

    range: SourceRange
    #: fields that are not printed, and those that are left out when empty
    hidden: ClassVar[frozenset[str]] = frozenset()
    optional_lists: ClassVar[frozenset[str]] = frozenset()
    name_of_kind: ClassVar[str] = ""

    @property
    def kind(self) -> str:
        """The head of the s-expression."""
        return self.name_of_kind

    @property
    def children(self) -> Iterator[Tree]:
        """The trees directly below, in textual order of the fields."""
        for name, _ in _fields_of(type(self)):
            value = getattr(self, name)
            if isinstance(value, Tree):
                yield value
            elif isinstance(value, tuple):
                yield from (item for item in value if isinstance(item, Tree))

    @property
    def text(self) -> str | None:
        """What is printed in place of the children; None: print those."""
        return None

    def __str__(self) -> str:
        return dump(self)


def _fields_of(cls: type[Tree]) -> tuple[tuple[str, bool], ...]:
    """The names of the fields below `range`, with whether each may be None."""
    found = _FIELDS.get(cls)
    if found is None:
        found = tuple((f.name, "None" in str(f.type)) for f in fields(cls) if f.name != "range")
        _FIELDS[cls] = found
    return found


_FIELDS: dict[type[Tree], tuple[tuple[str, bool], ...]] = {}


# -- printing --------------------------------------------------------------------------------------


def dump(tree: Tree) -> str:
    """Print `tree` as an s-expression, lines broken where it would not fit in 40 columns."""
    lines: list[str] = []
    _print(_form(tree), 0, lines)
    return "\n".join(lines)


def _form(tree: Tree) -> list[object]:
    form: list[object] = [tree.kind]
    if tree.text is not None:
        return [*form, tree.text] if tree.text else form
    for name, is_optional in _fields_of(type(tree)):
        value = getattr(tree, name)
        if name in tree.hidden or (name in tree.optional_lists and not value):
            continue
        if is_optional:
            form.append(["option"] if value is None else ["option", _form(value)])
        else:
            form.append(_property(value))
    return form


def _property(value: object) -> object:
    if isinstance(value, Tree):
        return _form(value)
    if isinstance(value, tuple):
        return ["list", *map(_form, value)]
    if isinstance(value, str):
        return ["ident", value]
    return [str(value)]


def _flat(form: object) -> str:
    return f"({' '.join(map(_flat, form))})" if isinstance(form, list) else str(form)


def _print(form: object, indent: int, lines: list[str]) -> None:
    flat = _flat(form)
    if len(flat) <= _FLAT_WIDTH or not isinstance(form, list):
        lines.append(" " * indent + flat)
        return
    lines.append(" " * indent + "(" + _flat(form[0]))
    for item in form[1:]:
        _print(item, indent + 2, lines)
    lines[-1] += ")"
