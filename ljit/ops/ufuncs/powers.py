"""Powers of arrays as the ops that NumPy takes for their exponents: `OpDef.decompose` of powers.

NumPy takes the square, root or reciprocal for the exponents 2, 0.5 and -1, and treats one exponent for all elements
otherwise than an array of them. Whole powers of complex numbers are products (`np::whole_power`).
"""

from __future__ import annotations

from ljit.ir import Value, get_op
from ljit.ir.parts import Parts
from ljit.ops.arrays.versions import POWER_IS_ROOT, SCALARS_CHANGE_POWERS
from ljit.types import FLOAT, INT, ArrayType, ScalarType, Type

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
    """``np.power(a, b)``."""
    return _power(parts, base, exponent, is_operator=False)


def _power(parts: Parts, base: Value, exponent: Value, *, is_operator: bool) -> Value | None:
    """The power: by an array C's `pow`, by one number in the way that NumPy takes for it."""
    if _is_array(parts.type, "c"):
        return _whole_power(parts, base, exponent)
    is_of_arrays = isinstance(base.type, ArrayType) or isinstance(exponent.type, ArrayType)
    if not is_of_arrays or not _is_of_floats(parts.type):
        return None
    if isinstance(exponent.type, ArrayType) and exponent.type.ndim:
        return parts.apply_native("np::power_of_array", base, exponent)
    number = _number(exponent)
    takes_root = _takes_root(parts.type, base, exponent, is_operator)
    name = (
        (_SIMPLE if takes_root else _SIMPLE_OF_HALVES).get(number) if number is not None else None
    )
    simple = parts.apply_native(name, base) if name is not None else None
    if simple is not None:
        return simple
    if number in WHOLE or number in OFTEN_WANTED:
        return parts.apply_native("np::power_by_few", base, exponent)
    if takes_root and (number == 0.5 or type(number) is not float):
        return parts.apply_native("np::power_by_scalar", base, exponent)
    return parts.apply_native("np::power_of_array", base, exponent)


def _takes_root(result: Type, base: Value, exponent: Value, is_operator: bool) -> bool:
    """Whether the power by 0.5 is the square root: in the operator, and in the loops for float32 and float64."""
    if is_operator and isinstance(base.type, ArrayType) and _is_of_floats(base.type):
        return exponent.type == FLOAT or SCALARS_CHANGE_POWERS or not _is_of_halves(result)
    return POWER_IS_ROOT and not _is_of_halves(result)


def power_operator_of(parts: Parts, base: Value, exponent: Value) -> Value | None:
    """``a ** b``: of all numbers the square is one."""
    if _is_array(parts.type, "iuc") and exponent.type == INT and _number(exponent) == 2:
        return parts.apply_native("np::square", base)
    name = _SIMPLE.get(_number(exponent) or 0)
    if name is not None and _is_array(parts.type, "c"):
        # 2.0 and -1.0 are other powers, except to a NumPy that looks at the number alone
        is_root = exponent.type == FLOAT and _number(exponent) == 0.5
        is_known = exponent.type == INT or is_root or SCALARS_CHANGE_POWERS
        return parts.apply_native(name, base) if is_known else None
    return _power(parts, base, exponent, is_operator=True)


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
    if not _is_array(target.type, "f"):
        return None
    if isinstance(exponent.type, ArrayType) and exponent.type.ndim:
        return parts.apply_native("np::ipow_of_array", target, exponent)
    if _number(exponent) == 2:
        return parts.apply_native("np::imul", target, target)
    (loop,) = get_op("np::power").infer_types([target.type, exponent.type], {})
    takes_root = _takes_root(loop, target, exponent, is_operator=True)
    name = "np::ipow_by_scalar" if takes_root else "np::ipow_of_array"
    return parts.apply_native(name, target, exponent)


def _is_of_floats(type_: Type) -> bool:
    return isinstance(type_, ArrayType | ScalarType) and type_.dtype.kind == "f"


def _is_of_halves(type_: Type) -> bool:
    return _is_of_floats(type_) and type_.dtype.itemsize == 2  # type: ignore[attr-defined]


def _is_array(type_: Type, kinds: str) -> bool:
    return isinstance(type_, ArrayType) and type_.ndim > 0 and type_.dtype.kind in kinds


def _number(exponent: Value) -> float | None:
    value = exponent.constant if exponent.is_constant else None
    return value if isinstance(value, int | float) else None
