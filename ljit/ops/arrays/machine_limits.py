"""``np.finfo`` and ``np.iinfo``: of a dtype that is known they are constants, as what is read of them is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ljit.ir import UNKNOWN
from ljit.ops.objects import object_op
from ljit.types import ObjectType, Type

__all__: list[str] = []

_DTYPES = (np.dtype, type, str)  # classes of what names a dtype


def _folded(cls: type[Any]) -> Callable[..., object]:
    def fold(_types: Sequence[Type], constants: Sequence[object]) -> object:
        (dtype,) = constants
        if not isinstance(dtype, _DTYPES):
            return UNKNOWN
        try:
            return cls(dtype)
        except (TypeError, ValueError):
            return UNKNOWN

    return fold


for _cls, _kind, _name, _samples in (
    (np.finfo, "float", "dtype", (np.float32, np.dtype("c16"), "f2", float)),
    (np.iinfo, "integer", "int_type", (np.int8, np.dtype("u8"), "i4", int)),
):
    object_op(
        f"np::{_cls.__name__}",
        f"({_name}, /)",
        f"``np.{_cls.__name__}(dtype)``: the limits of {_kind} numbers.",
        infer=lambda dtype, cls=_cls: ObjectType(cls),
        evaluate=_cls,
        fold=_folded(_cls),
        callables=(_cls,),
        samples=tuple((x,) for x in _samples),
    )
