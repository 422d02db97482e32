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
from typing import ClassVar

from ljit.records import Record
from ljit.source import SourceRange

__all__ = ["SYMBOLS", "Tree", "dump", "parts_of"]

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


class Tree(Record):
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
        for name in self.fields_of_record:
            value = getattr(self, name)
            if isinstance(value, Tree):
                yield value
            elif isinstance(value, tuple):
                yield from (item for item in value if isinstance(item, Tree))

    @property
    def binds(self) -> tuple[str, ...]:
        """The names that it binds itself, as an expression or a pattern."""
        return ()

    @property
    def text(self) -> str | None:
        """What is printed in place of the children; None: print those."""
        return None

    def __str__(self) -> str:
        return dump(self)


# -- printing --------------------------------------------------------------------------------------


def parts_of(tree: Tree) -> list[Tree]:
    """Give a tree and all that is in it."""
    found = [tree]
    for part in found:
        found += [child for child in part.children if isinstance(child, Tree)]
    return found


def dump(tree: Tree) -> str:
    """Print `tree` as an s-expression, lines broken where it would not fit in 40 columns."""
    lines: list[str] = []
    _print(_form(tree), 0, lines)
    return "\n".join(lines)


def _form(tree: Tree) -> list[object]:
    form: list[object] = [tree.kind]
    if tree.text is not None:
        return [*form, tree.text] if tree.text else form
    for name, annotation in tree.fields_of_record.items():
        value = getattr(tree, name)
        if name == "range" or name in tree.hidden or (name in tree.optional_lists and not value):
            continue
        if "None" in annotation:
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
