"""Run the lowering of an op of NumPy's, if it has one for the operands, next to NumPy."""

import numpy as np
import pytest

from ljit.interp import has_type
from ljit.ir import REGISTRY
from ljit.testing.scalar_emitter import Bailed, run_lowering
from ljit.types import ANY
from ljit.value_types import type_of


def attempt(function, *args, **attrs):
    try:
        return function(*args, **attrs)
    except (TypeError, ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError) as error:
        return error


def compared(name, *operands, **attrs):
    """Compare the inferred type with NumPy's result; tell what was done, and both results where the lowering ran."""
    op = REGISTRY[f"np::{name}"]
    types = tuple(map(type_of, operands))
    wanted = attempt(op.evaluate, *operands, **attrs)
    found_type = op.infer(*types, **attrs)
    can_lower = op.has_lowering(types, attrs)
    if isinstance(wanted, Exception):
        if can_lower:
            with pytest.raises(Bailed):
                run_lowering(op, *operands, **attrs)
        return "raised", None, wanted
    if found_type == ANY:
        return "unknown", None, wanted
    assert has_type(wanted, found_type), (name, operands, attrs, found_type)
    if not can_lower:
        return "typed", None, wanted
    try:
        found = run_lowering(op, *operands, **attrs)
    except Bailed:
        return "bailed", None, wanted
    assert type(found) is type(wanted)
    return "ran", found, wanted
