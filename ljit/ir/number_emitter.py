"""The part of the Emitter protocol that is about numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ljit.types import Type

__all__ = ["NumberEmitter", "Scalar", "V"]


class Scalar(Protocol):
    """A value inside the emitter: `type` is its ljit type; the rest belongs to the emitter."""

    @property
    def type(self) -> Type: ...


V = Any  # a Scalar of whichever emitter runs; an alias, so that op files stay readable


class NumberEmitter(Protocol):
    """What a lowering may do with numbers, and where native code is left.

    Operands of one arithmetic call, comparison or choice have the same type; a Python number beside a
    value is a constant of its type. bool, int, float, complex and the NumPy scalar types are scalars. Integer
    `add sub mul neg shl` wrap; a *condition* is a Scalar of type BOOL.
    """

    @property
    def result_types(self) -> tuple[Type, ...]:
        """The types of the node's outputs."""

    @property
    def fastmath(self) -> bool: ...

    @property
    def is_quick(self) -> bool:
        """Whether the code is not optimised: short code is better than code that would become fast."""

    @property
    def has_vectors(self) -> bool:
        """Whether LLVM is to make vectors of the code: then calls of `elementary` functions beat branches."""

    has_long_casts: bool  # the machine has vectors of casts between floats and int64

    def is_proven(self, check: str) -> bool:
        """Whether the check of this name (`RangeRules.checks`) cannot fail at this node."""

    def once(self, rule: Callable[..., Any], *values: V) -> Any:
        """Give `rule(e, *values)`, which reads no memory and has no effects: it need not be written for them again."""

    def const(self, type_: Type, value: object) -> V: ...
    def constant_of(self, x: V) -> int | None:
        """The value of an integer that is known now."""

    def float_constant_of(self, x: V) -> float | None:
        """The value of a float that is known now."""

    def cast(self, x: V, type_: Type, *, fits: bool = False) -> V:
        """Convert as C does between number types (NumPy's ``astype``); never undefined behaviour.

        A Union of numbers is converted as the one that it holds.

        `fits`: a float that does not fit may give any integer.
        """

    def retype(self, x: V, type_: Type) -> V:
        """Give the same bits another type: of the same machine type (int <-> np.int64), or of as many bits."""

    def add(self, x: V, y: V, *, fits: bool = False) -> V:
        """Add; ints wrap, unless it is known that the sum fits. Likewise the next two."""

    def sub(self, x: V, y: V, *, fits: bool = False) -> V: ...
    def mul(self, x: V, y: V, *, fits: bool = False) -> V: ...
    def div(self, x: V, y: V) -> V:
        """Divide floats; truncate towards zero for ints (divisor 0 and MIN // -1 are the caller's)."""

    def floored_quotient(self, x: V, y: V) -> V | None:
        """The quotient of ints rounded down, if there is a faster way to it; anything for a divisor of 0."""

    def rem(self, x: V, y: V) -> V:
        """Remainder with the sign of the dividend: C's ``%`` and ``fmod``."""

    def neg(self, x: V) -> V: ...
    def add_overflow(self, x: V, y: V) -> tuple[V, V]:
        """Wrapped sum and the condition that it overflowed; likewise the next two."""

    def sub_overflow(self, x: V, y: V) -> tuple[V, V]: ...
    def mul_overflow(self, x: V, y: V) -> tuple[V, V]: ...
    def bit_and(self, x: V, y: V) -> V: ...
    def bit_or(self, x: V, y: V) -> V: ...
    def bit_xor(self, x: V, y: V) -> V: ...
    def bit_not(self, x: V) -> V: ...
    def shl(self, x: V, y: V) -> V:
        """Shift left; `y` must be in [0, bits)."""

    def shr(self, x: V, y: V) -> V:
        """Shift right, arithmetic for signed types; `y` must be in [0, bits)."""

    def compare(self, predicate: str, x: V, y: V) -> V:
        """Compare with ``eq ne lt le gt ge``; NaN is unequal and unordered (``ne`` holds)."""

    def widen(self, x: V, type_: Type) -> V:
        """Give `x` as a value of the Union `type_` that its type is a member of (or is)."""

    def member(self, x: V, type_: Type) -> V:
        """Give a Union of numbers as one of a member: any number where it holds one of another."""

    def of_members(self, x: V, compute: Callable[[V], V]) -> V:
        """What is computed of a number; of a Union of numbers as of each member, and chosen without a branch."""

    def select(self, condition: V, x: V, y: V) -> V:
        """Choose without a branch: both are computed."""

    def item_at(self, items: Sequence[V], index: V) -> V:
        """Choose from values of one type by an index within their number."""

    def branch(
        self,
        condition: V,
        then: Callable[[], V],
        otherwise: Callable[[], V],
        *,
        unlikely: bool = False,
    ) -> V:
        """Choose with a branch: only one is computed. Both give values of one type; `unlikely`: `then` is rare."""

    def real(self, x: V) -> V: ...
    def imag(self, x: V) -> V: ...
    def complex(self, real: V, imag: V, type_: Type) -> V: ...
    def intrinsic(self, name: str, *xs: V) -> V:
        """LLVM's ``llvm.<name>.<type>``: sqrt fabs floor ceil trunc rint copysign minnum ctpop ..."""

    def math(self, name: str, *xs: V) -> V:
        """Call ``<name>`` of the C library (double; float via the ``f`` variant); one complex number: ``c<name>``."""

    def elementary(self, name: str, *xs: V) -> V:
        """A function as `math` has it, within one unit in the last place, which loops turn into vector code."""

    def bail_if(
        self,
        condition: V,
        reason: str,
        *,
        also: Callable[[], V] | None = None,
        may_wait: bool = False,
    ) -> None:
        """Leave native code for the interpreter, which redoes the work since the last Snapshot.

        `also`: the rest of the condition, if it is rarely needed. May be left out. `may_wait`: what follows may run
        before the check, if what it computes is thrown away then: many elements of an array are checked together.
        """

    def bail(self, reason: str) -> None:
        """Leave native code unconditionally; what follows is unreachable."""
