"""Ufuncs with ``out``: result types, and what NumPy refuses."""

import numpy as np
import pytest

import ljit.ops.library  # noqa: F401
from ljit.ir import REGISTRY, Effect
from ljit.types import ANY, NATIVE_KINDS, ArrayType, type_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DTYPES = sorted(NATIVE_KINDS, key=lambda d: d.num)


@pytest.mark.parametrize("function", [np.add, np.sqrt, np.greater, np.left_shift, np.divide])
def test_infer_gives_the_array_where_numpy_allows_the_cast(function):
    op = REGISTRY[f"np::{function.__name__}_into"]
    allowed = 0
    for dtype in DTYPES:
        for value in [y for d in DTYPES for y in (d.type(1), np.ones(3, d), np.ones(1, d))] + [
            1,
            1.0,
        ]:
            out, xs = np.ones(3, dtype), (value,) * function.nin
            types = type_of(out), *map(type_of, xs)
            found = op.infer(*types)
            try:
                assert function(*xs, out=out) is out
            except (TypeError, ValueError):
                assert found == ANY, (dtype, value)
                assert not op.can_lower(*types)
                assert op.effects(*types) == Effect.CALL
                continue
            allowed += 1
            assert found == type_of(out), (dtype, value)
            assert Effect.WRITE in op.effects(*types)
            assert Effect.ALLOC not in op.effects(*types)
    assert allowed > 50


def test_the_array_must_be_writeable_and_as_large_as_the_operands():
    op, f8 = REGISTRY["np::add_into"], np.dtype(float)
    readonly = np.zeros(3)
    readonly.flags.writeable = False
    assert op.infer(type_of(readonly), type_of(1.0), type_of(1.0)) == ANY
    assert op.infer(ArrayType(f8, (None,)), ArrayType(f8, (1, 3)), type_of(1.0)) == ANY
    assert op.infer(ArrayType(f8, (1,)), ArrayType(f8, (3,)), type_of(1.0)) == ANY
    larger = ArrayType(f8, (2, 3))
    assert op.infer(larger, ArrayType(f8, (3,)), type_of(1.0)) == larger
    assert op.infer(type_of((np.zeros(3),)), type_of(1.0), type_of(1.0)) == ANY
