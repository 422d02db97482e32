"""Typed LLVM values (`Ref`), constants, and folding of integer arithmetic on them."""

from __future__ import annotations

import struct
from functools import lru_cache

import numpy as np

__all__ = [
    "FALSE",
    "NULL",
    "TRUE",
    "UNPREDICTABLE",
    "Ref",
    "address",
    "bits_of",
    "byte_array",
    "compare_constants",
    "compare_floats",
    "float_constant",
    "float_value",
    "fold",
    "fold_conversion",
    "integer",
    "operand",
    "undef",
]

UNPREDICTABLE = (
    ", !unpredictable !{}"  # behind a branch or a choice: as a branch it would be guessed wrong
)


class Ref:
    """A typed LLVM value: `constant` is its number when it is an integer constant."""

    __slots__ = ("constant", "text", "type")

    def __init__(self, type_: str, text: str, constant: int | None = None) -> None:
        self.type = type_
        self.text = text
        self.constant = constant

    @property
    def typed(self) -> str:
        """``i64 %v3``, as operands of calls and rets are written."""
        return f"{self.type} {self.text}"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Ref {self.typed}>"


def bits_of(type_: str) -> int:
    """Give the width of an integer type."""
    return int(type_[1:])


@lru_cache(maxsize=4096)
def integer(type_: str, value: int) -> Ref:
    """An integer constant, wrapped to the signed range of its type."""
    bits = bits_of(type_)
    value &= (1 << bits) - 1
    if bits == 1:
        return TRUE if value else FALSE
    if value >> (bits - 1):
        value -= 1 << bits
    return Ref(type_, str(value), value)


def operand(type_: str, value: Ref | int) -> Ref:
    """An operand of the type: a Python int is a constant."""
    return integer(type_, value) if isinstance(value, int) else value


def float_constant(type_: str, value: float) -> Ref:
    """A constant of type half, float or double with exactly the bits of `value`."""
    if type_ == "half":
        return Ref(type_, f"0xH{np.float16(value).view(np.uint16):04X}")
    if type_ == "float":
        value = float(np.float32(value))
    return Ref(type_, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")


def float_value(x: Ref) -> float | None:
    """The value of a constant that `float_constant` made of type float or double."""
    if not x.text.startswith("0x") or x.type == "half":
        return None
    value: float = struct.unpack("<d", struct.pack("<Q", int(x.text, 16)))[0]
    return value


def compare_floats(predicate: str, x: float, y: float) -> bool:
    """Compare two numbers as ``fcmp`` does: ordered (``o..``) or unordered (``u..``)."""
    if x != x or y != y:
        return predicate[0] == "u"
    if predicate in ("ord", "uno"):
        return predicate == "ord"
    return bool(_COMPARISONS[predicate[1:]](x, y))


def address(value: int) -> Ref:
    """A pointer constant."""
    return Ref("ptr", f"inttoptr (i64 {value} to ptr)") if value else NULL


def byte_array(data: bytes) -> str:
    """A constant array of bytes as IR text."""
    shown = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)
    return f'c"{"".join(shown)}"'


def undef(type_: str) -> Ref:
    """Any value of the type: for results that nobody looks at."""
    if type_ == "ptr":
        return NULL
    return integer(type_, 0) if type_[0] == "i" else float_constant(type_, 0.0)


TRUE = Ref("i1", "true", 1)
FALSE = Ref("i1", "false", 0)
NULL = Ref("ptr", "null", 0)


_FOLDERS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
_NEUTRAL = {"add": 0, "sub": 0, "mul": 1, "or": 0, "xor": 0}
_COMMUTATIVE = frozenset(("add", "mul", "or", "xor", "and"))


def fold(opcode: str, x: Ref, y: Ref) -> Ref | None:
    """Fold integer arithmetic on constants and with neutral elements."""
    folder = _FOLDERS.get(opcode)
    if folder is None:
        return None
    if x.constant is not None and y.constant is not None:
        return integer(x.type, folder(x.constant, y.constant))
    if x.text == y.text and opcode in ("and", "or"):
        return x
    if x.constant is not None and opcode in _COMMUTATIVE:
        x, y = y, x
    if y.constant is None:
        return None
    if y.constant == _NEUTRAL.get(opcode):
        return x
    if opcode == "and" and x.type == "i1":
        return x if y.constant else FALSE
    if opcode == "or" and x.type == "i1":
        return TRUE  # y is not the neutral 0
    return y if opcode == "mul" and y.constant == 0 else None


_COMPARISONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def compare_constants(predicate: str, x: Ref, y: Ref) -> bool:
    """Compare two integer constants as ``icmp`` does."""
    a, b = x.constant, y.constant
    assert a is not None and b is not None
    if predicate[0] == "u":
        mask = (1 << bits_of(x.type)) - 1
        a, b = a & mask, b & mask
    return bool(_COMPARISONS[predicate[-2:]](a, b))


_EXACT = 2**11  # integers up to here are numbers of each floating-point type
#: NumPy warns of what is beyond
_GREATEST = {"half": 65504.0, "float": float(np.finfo(np.float32).max)}


def fold_conversion(opcode: str, x: Ref, type_: str) -> Ref | None:
    """Convert a constant; None for what is not one, or may be rounded twice."""
    if x.constant is not None and opcode in ("sext", "trunc", "zext"):
        wraps = opcode == "zext"
        return integer(type_, x.constant & ((1 << bits_of(x.type)) - 1) if wraps else x.constant)
    if x.constant is not None and opcode == "sitofp" and abs(x.constant) <= _EXACT:
        return float_constant(type_, float(x.constant))
    number = float_value(x) if opcode in ("fptrunc", "fpext") else None
    if number is None or (type_ in _GREATEST and not abs(number) <= _GREATEST[type_]):
        return None
    return float_constant(type_, number)
