"""In-place operators: result types, what NumPy refuses, and the bodies."""

import operator

import numpy as np
import pytest

import ljit.ops  # noqa: F401
from ljit.ir import REGISTRY, Effect
from ljit.testing.scalar_emitter import run_lowering
from ljit.types import ANY, NATIVE_KINDS, ArrayType
from ljit.value_types import type_of

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NAMES = "iadd isub imul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor".split()
DTYPES = sorted(NATIVE_KINDS, key=lambda d: d.num)


@pytest.mark.parametrize("name", NAMES)
def test_infer_gives_the_target_where_numpy_allows_the_cast(name):
    op, function = REGISTRY[f"np::{name}"], getattr(operator, name)
    allowed = 0
    values = [y for d in DTYPES for y in (d.type(1), np.ones(3, d), np.ones(1, d))] + [
        True,
        1,
        1.0,
        1j,
    ]
    for dtype in DTYPES:
        for value in values:
            target = np.ones(3, dtype)
            found = op.infer(type_of(target), type_of(value))
            try:
                assert function(target, value) is target
            except (TypeError, ValueError):
                assert found == ANY, (dtype, value)
                assert not op.can_lower(type_of(target), type_of(value))
                assert op.effects(type_of(target), type_of(value)) == Effect.CALL
                continue
            allowed += 1
            assert found == type_of(target), (dtype, value)
            assert op.effects(type_of(target), type_of(value)) & Effect.WRITE
            assert not op.effects(type_of(target), type_of(value)) & Effect.ALLOC
    assert allowed > 50


def test_target_must_be_writeable_and_at_least_as_large():
    op = REGISTRY["np::iadd"]
    readonly = np.zeros(3)
    readonly.flags.writeable = False
    assert op.infer(type_of(readonly), type_of(1.0)) == ANY
    assert op.infer(type_of(np.zeros(3)), type_of(np.zeros((1, 3)))) == ANY
    f8 = np.dtype(float)
    assert op.infer(ArrayType(f8, (1,)), ArrayType(f8, (3,))) == ANY
    assert op.infer(ArrayType(f8, (3,)), ArrayType(f8, (2,))) == ANY
    assert op.infer(ArrayType(f8, (None,)), ArrayType(f8, (3,))) == ArrayType(f8, (None,))
    assert op.infer(ArrayType(f8, (2, 3)), ArrayType(f8, (1,))) == ArrayType(f8, (2, 3))


@pytest.mark.parametrize("name", NAMES)
def test_scalar_targets_are_as_the_plain_operator(name):
    op, plain = REGISTRY[f"np::{name}"], REGISTRY[REGISTRY[f"np::{name}"].element_op]
    compared = 0
    for x in DTYPES:
        for y in [d.type(3) for d in DTYPES] + [3, 2.5]:
            types = (type_of(x.type(2)), type_of(y))
            assert op.infer(*types) == plain.infer(*types)
            assert op.effects(*types) == plain.effects(*types)
            if op.can_lower(*types) and name != "ipow":
                found, wanted = run_lowering(op, x.type(2), y), op.evaluate(x.type(2), y)
                assert type(found) is type(wanted)
                assert found == wanted
                compared += 1
    assert compared > 20 or name == "ipow"


def test_a_body_that_could_bail_midway_has_no_lowering_for_arrays():
    integers = type_of(np.ones(3, np.int64))
    assert not REGISTRY["np::ipow"].can_lower(integers, type_of(2))
    assert REGISTRY["np::imul"].can_lower(integers, type_of(2))
    assert REGISTRY["np::imul"].elementwise
    assert REGISTRY["np::imul"].schema.written == ("a",)
