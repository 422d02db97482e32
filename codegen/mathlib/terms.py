"""Terms: LLVM values with Python's operators, in which mathematical functions are written.

A Python number beside a Term becomes a constant of the Term's type. There is no rounding but IEEE's: no flags, and a
fused multiply-add only where `fma` says so; so a function gives the same bits in vectors of any width.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.builder import FunctionBuilder, Ref, float_constant, integer

__all__ = ["Term", "fma", "horner", "intrinsic", "polynomial", "select"]

_WORDS = {"double": "i64", "float": "i32"}
_SUFFIXES = {"double": "f64", "float": "f32"}


class Term:
    """A value of type double, float, i64, i32 or i1 in a function that is being written."""

    __slots__ = ("f", "ref")
    __hash__ = None  # type: ignore[assignment]  # terms are no keys: `==` is not Python's

    def __init__(self, f: FunctionBuilder, ref: Ref) -> None:
        self.f = f
        self.ref = ref

    @property
    def type(self) -> str:
        return self.ref.type

    @property
    def is_double(self) -> bool:
        return self.ref.type == "double"

    def like(self, value: Term | float) -> Ref:
        """A number as a constant of this term's type; terms as they are."""
        if isinstance(value, Term):
            return value.ref
        if self.type in _WORDS:
            return float_constant(self.type, float(value))
        assert isinstance(value, int), value
        return integer(self.type, value)

    def _binary(self, opcode: str, x: Term | float, y: Term | float) -> Term:
        prefix = "f" if self.type in _WORDS else ""
        return Term(self.f, self.f.binary(prefix + opcode, self.like(x), self.like(y)))

    def __add__(self, other: Term | float) -> Term:
        return self._binary("add", self, other)

    def __radd__(self, other: float) -> Term:
        return self._binary("add", other, self)

    def __sub__(self, other: Term | float) -> Term:
        return self._binary("sub", self, other)

    def __rsub__(self, other: float) -> Term:
        return self._binary("sub", other, self)

    def __mul__(self, other: Term | float) -> Term:
        return self._binary("mul", self, other)

    def __rmul__(self, other: float) -> Term:
        return self._binary("mul", other, self)

    def __truediv__(self, other: Term | float) -> Term:
        return self._binary("div", self, other)

    def __rtruediv__(self, other: float) -> Term:
        return self._binary("div", other, self)

    def __neg__(self) -> Term:
        return Term(self.f, self.f.emit(self.type, f"fneg {self.ref.typed}"))

    # -- conditions, of which NaN meets `!=` alone -----------------------------------------------------

    def _compare(self, predicate: str, other: Term | float) -> Term:
        y = self.like(other)
        if self.type in _WORDS:
            return Term(
                self.f, self.f.fcmp(("u" if predicate == "ne" else "o") + predicate, self.ref, y)
            )
        signed = predicate if predicate in ("eq", "ne") else "s" + predicate
        return Term(self.f, self.f.icmp(signed, self.ref, y))

    def __lt__(self, other: Term | float) -> Term:
        return self._compare("lt", other)

    def __le__(self, other: Term | float) -> Term:
        return self._compare("le", other)

    def __gt__(self, other: Term | float) -> Term:
        return self._compare("gt", other)

    def __ge__(self, other: Term | float) -> Term:
        return self._compare("ge", other)

    def __eq__(self, other: Term | float) -> Term:  # type: ignore[override]
        return self._compare("eq", other)

    def __ne__(self, other: Term | float) -> Term:  # type: ignore[override]
        return self._compare("ne", other)

    # -- bits ------------------------------------------------------------------------------------------

    def _bitwise(self, opcode: str, other: Term | int) -> Term:
        return Term(self.f, self.f.binary(opcode, self.ref, self.like(other)))

    def __and__(self, other: Term | int) -> Term:
        return self._bitwise("and", other)

    def __or__(self, other: Term | int) -> Term:
        return self._bitwise("or", other)

    def __xor__(self, other: Term | int) -> Term:
        return self._bitwise("xor", other)

    def __lshift__(self, other: Term | int) -> Term:
        return self._bitwise("shl", other)

    def __rshift__(self, other: Term | int) -> Term:
        """Shift right, filling with zeros: AVX2 cannot shift 64-bit integers otherwise."""
        return self._bitwise("lshr", other)

    def bits(self) -> Term:
        """The bits of a float as an integer."""
        word = _WORDS[self.type]
        return Term(self.f, self.f.emit(word, f"bitcast {self.ref.typed} to {word}"))

    def as_float(self) -> Term:
        """An integer's bits as a float."""
        type_ = "double" if self.type == "i64" else "float"
        return Term(self.f, self.f.emit(type_, f"bitcast {self.ref.typed} to {type_}"))

    def to(self, type_: str) -> Term:
        """A float or double as the other one."""
        opcode = "fpext" if type_ == "double" else "fptrunc"
        return Term(self.f, self.f.convert(opcode, self.ref, type_))


def intrinsic(name: str, x: Term, *others: Term | float) -> Term:
    """``llvm.<name>``: fabs, sqrt, copysign, floor ...."""
    refs = [x.ref, *(x.like(y) for y in others)]
    return Term(x.f, x.f.call_external(x.type, f"llvm.{name}.{_SUFFIXES[x.type]}", refs, ""))


def fma(x: Term, y: Term | float, z: Term | float) -> Term:
    """``x * y + z`` with one rounding."""
    return intrinsic("fma", x, y, z)


def select(condition: Term, x: Term | float, y: Term | float, *, of: Term | None = None) -> Term:
    """Choose without a branch. If both are numbers, `of` has their type."""
    some = next((term for term in (x, y, of) if isinstance(term, Term)), None)
    assert some is not None, "which type?"
    return Term(some.f, some.f.select(condition.ref, some.like(x), some.like(y)))


def polynomial(x: Term, square: Term, coefficients: Sequence[float]) -> Term:
    """``c[0] + c[1]*x + c[2]*x**2 ...``, even and odd powers side by side: half as long a chain as Horner's."""
    if len(coefficients) < 4:
        return horner(x, coefficients)
    return fma(x, horner(square, coefficients[1::2]), horner(square, coefficients[::2]))


def horner(x: Term, coefficients: Sequence[float]) -> Term:
    """The same, one step after the other. There must be two coefficients at least."""
    *others, before, last = coefficients
    result = fma(x, last, before)
    for coefficient in reversed(others):
        result = fma(x, result, coefficient)
    return result
