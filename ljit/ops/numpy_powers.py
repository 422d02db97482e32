"""Powers of arrays as the ops that NumPy takes for their exponents: `OpDef.decompose` of powers.

NumPy takes the square, root or reciprocal for the exponents 2, 0.5 and -1, and treats one exponent for all elements
otherwise than an array of them. Whole powers of complex numbers are products (`np::whole_power`).
"""

from __future__ import annotations

from ljit.ir import Value, get_op
from ljit.ir.parts import Parts
from ljit.types import FLOAT, INT, ArrayType, Type

__all__ = ["OFTEN_WANTED", "WHOLE", "power_in_place_of", "power_of", "power_operator_of"]

WHOLE = range(2, 17)  # exponents that make products
OFTEN_WANTED = (-3.0, -2.5, -2.0, -1.5, -0.5, 1.5, 2.5)  # that make products, roots, reciprocals

_SIMPLE_OF_HALVES: dict[float, str] = {
    -1: "np::reciprocal",
    2: "np::square",
}  # the root is one of the operator only
_PRODUCTS = 100
_SIMPLE = {**_SIMPLE_OF_HALVES, 0.5: "np::sqrt"}


def power_of(parts: Parts, base: Value, exponent: Value) -> Value | None:
    """``np.power(a, b)``, and ``a ** b`` of floats."""
    if _is_array(parts.type, "c"):
        return _whole_power(parts, base, exponent)
    if not _is_array_of_floats(parts.type):
        return None
    if isinstance(exponent.type, ArrayType):
        return parts.apply_native("np::power_of_array", base, exponent)
    number = _number(exponent)
    known = _SIMPLE_OF_HALVES if _is_array(parts.type, "f", of_halves=True) else _SIMPLE
    name = known.get(number) if number is not None else None
    simple = parts.apply_native(name, base) if name is not None else None
    if simple is not None:
        return simple
    if number in WHOLE or number in OFTEN_WANTED:
        return parts.apply_native("np::power_by_few", base, exponent)
    if type(number) is float and number != 0.5:  # for which NumPy's operator takes the root
        return parts.apply_native("np::power_of_array", base, exponent)
    return parts.apply_native("np::power_by_scalar", base, exponent)


def power_operator_of(parts: Parts, base: Value, exponent: Value) -> Value | None:
    """``a ** b``: of all numbers the square is one."""
    if _is_array(parts.type, "iuc") and exponent.type == INT and _number(exponent) == 2:
        return parts.apply_native("np::square", base)
    if _is_array(parts.type, "f", of_halves=True) and _number(exponent) == 0.5:
        return parts.apply_native("np::sqrt", base)
    name = _SIMPLE.get(_number(exponent) or 0)
    if name is not None and _is_array(parts.type, "c"):
        is_known = exponent.type == INT or _number(exponent) == 0.5  # 2.0 and -1.0 are other powers
        return parts.apply_native(name, base) if is_known else None
    return power_of(parts, base, exponent)


def _whole_power(parts: Parts, base: Value, exponent: Value) -> Value | None:
    """Products of a complex number, for an exponent for which NumPy makes these."""
    number = _number(exponent)
    is_weak = exponent.type in (INT, FLOAT) and _is_array(base.type, "c")
    if not is_weak or number is None or abs(number) >= _PRODUCTS or number != int(number):
        return None
    (result,) = get_op("np::whole_power").infer_types([base.type], {"exponent": int(number)})
    if result != parts.type:
        return None
    return parts.apply("np::whole_power", base, exponent=int(number))


def power_in_place_of(parts: Parts, target: Value, exponent: Value) -> Value | None:
    """``a **= b``."""
    if not _is_array_of_floats(target.type):
        return None
    if isinstance(exponent.type, ArrayType):
        return parts.apply_native("np::ipow_of_array", target, exponent)
    if _number(exponent) == 2:
        return parts.apply_native("np::imul", target, target)
    return parts.apply_native("np::ipow_by_scalar", target, exponent)


def _is_array_of_floats(type_: Type) -> bool:
    return _is_array(type_, "f")


def _is_array(type_: Type, kinds: str, *, of_halves: bool = False) -> bool:
    if not isinstance(type_, ArrayType) or not type_.ndim or type_.dtype.kind not in kinds:
        return False
    return type_.dtype.itemsize == 2 or not of_halves


def _number(exponent: Value) -> float | None:
    value = exponent.constant if exponent.is_constant else None
    return value if isinstance(value, int | float) else None
