"""What an `OpDef.decompose` may do to build the value of its op from other ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ljit.types import Type

if TYPE_CHECKING:
    from ljit.ir.graph import Value

__all__ = ["Parts"]


class Parts(Protocol):
    """Makes the nodes in the place of the one that is taken apart."""

    @property
    def type(self) -> Type:
        """The type of the value to be built."""

    def apply(self, op: str, *operands: Value, **attrs: object) -> Value: ...
    def apply_native(self, op: str, *operands: Value) -> Value | None:
        """The value from one op that has native code for the operands; None if it has not, or gives another dtype."""

    def is_computed(self, operand: Value) -> bool:
        """Whether a few instructions for each element make the array just before: a nest needs no memory for it."""

    def source_of(self, op: str, value: Value) -> Value | None:
        """What the op of one operand makes the value of; None if something else makes it."""

    def constant(self, value: object) -> Value: ...
