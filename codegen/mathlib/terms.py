"""Terms: LLVM values with Python's operators, in which mathematical functions are written.

A Python number beside a Term becomes a constant of the Term's type. There is no rounding but IEEE's: no flags, and a
fused multiply-add only where `fma` says so; so a function gives the same bits in vectors of any width.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.codegen.llvm.builder import FunctionBuilder, Ref, float_constant, integer

__all__ = ["Term", "fma", "intrinsic", "polynomial", "select", "vector_of"]

_WORDS = {"double": "i64", "float": "i32"}
_SUFFIXES = {"double": "f64", "float": "f32"}


def vector_of(type_: str, lanes: int) -> str:
    """LLVM's type of so many values; one is no vector."""
    return type_ if lanes == 1 else f"<{lanes} x {type_}>"


class Term:
    """A value in a function that is being written: a number, or a vector of them.

    `type` is double, float, i64, i32 or i1, whatever the number of `lanes`.
    """

    __slots__ = ("f", "lanes", "ref", "type")
    __hash__ = None  # type: ignore[assignment]  # terms are no keys: `==` is not Python's

    def __init__(self, f: FunctionBuilder, ref: Ref, lanes: int = 1) -> None:
        self.f = f
        self.ref = ref
        self.lanes = lanes
        self.type = ref.type if lanes == 1 else ref.type.split(" ")[-1][:-1]

    @property
    def is_double(self) -> bool:
        return self.type == "double"

    def like(self, value: Term | float) -> Ref:
        """A number as a constant of this term's type; terms as they are."""
        if isinstance(value, Term):
            return value.ref
        if self.type in _WORDS:
            scalar = float_constant(self.type, float(value))
        else:
            assert isinstance(value, int), value
            scalar = integer(self.type, value)
        return scalar if self.lanes == 1 else Ref(self.ref.type, f"splat ({scalar.typed})")

    def new(self, type_: str, text: str) -> Term:
        """The result of an instruction: as many values of a type."""
        return Term(self.f, self.f.emit(vector_of(type_, self.lanes), text), self.lanes)

    def constant(self, value: float) -> Term:
        """A number of this term's type."""
        return Term(self.f, self.like(value), self.lanes)

    def _binary(self, opcode: str, x: Term | float, y: Term | float) -> Term:
        prefix = "f" if self.type in _WORDS else ""
        return self._integral(prefix + opcode, x, y)

    def _integral(self, opcode: str, x: Term | float, y: Term | float) -> Term:
        return self.new(self.type, f"{opcode} {self.ref.type} {self.like(x)}, {self.like(y)}")

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
        return self.new(self.type, f"fneg {self.ref.typed}")

    # -- conditions, of which NaN meets `!=` alone -----------------------------------------------------

    def _compare(self, predicate: str, other: Term | float) -> Term:
        if self.type in _WORDS:
            opcode = "fcmp " + ("u" if predicate == "ne" else "o")
        else:
            opcode = "icmp " + ("" if predicate in ("eq", "ne") else "s")
        return self.new("i1", f"{opcode}{predicate} {self.ref.typed}, {self.like(other)}")

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

    def __and__(self, other: Term | int) -> Term:
        return self._integral("and", self, other)

    def __or__(self, other: Term | int) -> Term:
        return self._integral("or", self, other)

    def __xor__(self, other: Term | int) -> Term:
        return self._integral("xor", self, other)

    def __lshift__(self, other: Term | int) -> Term:
        return self._integral("shl", self, other)

    def __rshift__(self, other: Term | int) -> Term:
        """Shift right, filling with zeros: AVX2 cannot shift 64-bit integers otherwise."""
        return self._integral("lshr", self, other)

    def bits(self) -> Term:
        """The bits of a float as an integer."""
        return self.convert("bitcast", _WORDS[self.type])

    def as_float(self) -> Term:
        """An integer's bits as a float."""
        return self.convert("bitcast", "double" if self.type == "i64" else "float")

    def to(self, type_: str) -> Term:
        """A float or double as the other one."""
        if type_ == self.type:
            return self
        return self.convert("fpext" if type_ == "double" else "fptrunc", type_)

    def convert(self, opcode: str, type_: str) -> Term:
        """Convert as LLVM's instruction does."""
        return self.new(type_, f"{opcode} {self.ref.typed} to {vector_of(type_, self.lanes)}")


def intrinsic(name: str, x: Term, *others: Term | float) -> Term:
    """``llvm.<name>``: fabs, sqrt, copysign, floor ...."""
    refs = [x.ref, *(x.like(y) for y in others)]
    suffix = ("" if x.lanes == 1 else f"v{x.lanes}") + _SUFFIXES[x.type]
    return Term(x.f, x.f.call_external(x.ref.type, f"llvm.{name}.{suffix}", refs, ""), x.lanes)


def fma(x: Term, y: Term | float, z: Term | float) -> Term:
    """``x * y + z`` with one rounding."""
    return intrinsic("fma", x, y, z)


def select(condition: Term, x: Term | float, y: Term | float, *, of: Term | None = None) -> Term:
    """Choose without a branch. If both are numbers, `of` has their type."""
    some = next((term for term in (x, y, of) if isinstance(term, Term)), None)
    assert some is not None, "which type?"
    operands = (Ref(some.ref.type, some.like(value).text).typed for value in (x, y))
    return some.new(some.type, f"select {condition.ref.typed}, {', '.join(operands)}")


def polynomial(x: Term, square: Term, coefficients: Sequence[float]) -> Term:
    """``c[0] + c[1]*x + c[2]*x**2 ...`` by Estrin's scheme: pairs, pairs of pairs and so on.

    Loops wait for results rather than for arithmetic units, so short chains of dependences matter more than few
    multiplications. The chain from the first operand is 4 steps for 16 coefficients.
    """
    terms: list[Term | float] = list(coefficients)
    power, following = x, square
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [*(fma(power, high, low) for low, high in pairs), *odd]
        if len(terms) > 1:
            power, following = following, following * following
    (result,) = terms
    assert isinstance(result, Term)
    return result
