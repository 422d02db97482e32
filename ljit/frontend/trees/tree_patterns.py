"""Tree views of ``match``: cases and patterns. What a pattern binds is in `binds`."""

from __future__ import annotations

from ljit.frontend.trees.tree_base import Tree

__all__ = [
    "AnyPattern",
    "Case",
    "ClassPattern",
    "MappingPattern",
    "Match",
    "OrPattern",
    "SequencePattern",
    "StarPattern",
    "ValuePattern",
]


class Case(Tree):
    """``case pattern if guard: body``"""

    pattern: Tree
    guard: Tree | None
    body: tuple[Tree, ...]
    name_of_kind = "case"


class Match(Tree):
    """``match subject: cases``"""

    subject: Tree
    cases: tuple[Case, ...]
    name_of_kind = "match"


class ValuePattern(Tree):
    """``1``, ``"a"``, ``x.y``, which the subject equals; or None, True, False, which it is."""

    value: Tree
    is_singleton: bool
    name_of_kind = "value_pattern"


class AnyPattern(Tree):
    """``pattern as name``, ``name`` or ``_``"""

    pattern: Tree | None
    name: str | None
    name_of_kind = "any_pattern"

    @property
    def binds(self) -> tuple[str, ...]:
        return () if self.name is None else (self.name,)


class StarPattern(Tree):
    """``*name`` or ``*_`` in a sequence pattern."""

    name: str | None
    name_of_kind = "star_pattern"

    @property
    def binds(self) -> tuple[str, ...]:
        return () if self.name is None else (self.name,)


class SequencePattern(Tree):
    """``[a, *b]``"""

    patterns: tuple[Tree, ...]
    name_of_kind = "sequence_pattern"


class MappingPattern(Tree):
    """``{key: pattern, **rest}``"""

    keys: tuple[Tree, ...]
    patterns: tuple[Tree, ...]
    rest: str | None
    name_of_kind = "mapping_pattern"

    @property
    def binds(self) -> tuple[str, ...]:
        return () if self.rest is None else (self.rest,)


class ClassPattern(Tree):
    """``cls(pattern, name=pattern)``; the last patterns are those for the names."""

    cls: Tree
    patterns: tuple[Tree, ...]
    names: tuple[str, ...]
    hidden = frozenset(("names",))
    name_of_kind = "class_pattern"


class OrPattern(Tree):
    """``a | b``"""

    patterns: tuple[Tree, ...]
    name_of_kind = "or_pattern"
