"""Types: one object for each, for as long as somebody has it."""

from __future__ import annotations

import gc
import math
import pickle
import weakref
from array import array
from types import ModuleType

import numpy as np
import pytest

import ljit
from ljit.characters import as_text, constant_type
from ljit.types import (
    ANY,
    CHARACTER,
    FLOAT,
    INT,
    MAX_ITEMS,
    MAX_LEVELS,
    NONE,
    STR,
    ArrayType,
    ListType,
    ObjectType,
    ScalarType,
    TupleType,
    Type,
    UnionType,
    is_index,
    join,
    list_of,
    scalar_type,
)
from ljit.value_types import type_of


class Named:
    pass


class Indifferent(type):
    """A metaclass whose classes cannot be compared."""

    def __eq__(cls, other):
        raise AssertionError

    __hash__ = type.__hash__


def types_of(cls):
    named = ObjectType(cls)
    return [
        named,
        ListType(named),
        TupleType((INT, named)),
        TupleType((TupleType((named, FLOAT)),)),
        UnionType((INT, named)),
        join(INT, named),
    ]


@pytest.mark.parametrize("cls", [Named, dict, Indifferent("Uneasy", (), {})])
def test_equal_types_are_one_object(cls):
    made = types_of(cls)
    for one, again in zip(made, types_of(cls), strict=True):
        assert one is again
        assert type(one)(*one.key) is one
    assert pickle.loads(pickle.dumps(types_of(Named))[:]) == types_of(Named)


def test_types_of_different_classes_differ():
    assert not set(types_of(type("Named", (), {}))[:5]) & set(types_of(Named)[:5])


def test_a_class_does_not_outlive_its_types_because_they_are_unique():
    """It would in a table whose keys hold the class, once the class has what holds the types."""

    def make():
        cls = type("Made", (), {})
        cls.types = types_of(cls)
        return weakref.ref(cls)

    class_of_types = make()
    for i in range(64):  # so many until caches are emptied
        ObjectType(type(f"Other{i}", (), {}))
    gc.collect()
    assert class_of_types() is None


def test_a_class_with_compiled_methods_ends():
    def make():
        cls = type("Made", (), {"step": 2})

        def steps(self, n):
            total = 0
            for i in range(n):
                total += i * self.step
            return total

        cls.steps = ljit.jit(steps)
        assert [cls().steps(4) for _ in range(4)] == [12] * 4
        return weakref.ref(cls)

    compiled = make()
    for i in range(64):
        ObjectType(type(f"Other{i}", (), {}))
    gc.collect()
    assert compiled() is None


def test_characters_are_strs_to_all_that_is_joined_with_strs():
    assert join(CHARACTER, STR) == join(STR, CHARACTER) == STR
    assert join(CHARACTER, NONE) == UnionType((NONE, CHARACTER))
    assert join(join(CHARACTER, NONE), STR) == ANY
    assert as_text(TupleType((INT, TupleType((CHARACTER,))))) == TupleType((INT, TupleType((STR,))))


def test_constants_of_at_most_one_character_are_characters():
    assert constant_type("") == constant_type("\ud800") == CHARACTER
    assert constant_type("ab") == STR
    assert constant_type(("a", ("bc", "d"))) == TupleType((CHARACTER, TupleType((STR, CHARACTER))))


def test_classes_of_types_have_no_metaclass_which_isinstance_would_have_to_ask():
    classes = [Type, *Type.__subclasses__()]
    assert len(classes) > 9
    assert {type(cls) for cls in classes} == {type}


def test_fields_by_name_and_by_position_name_one_type():
    dtype = np.dtype(np.int64)
    a = ArrayType(dtype, (None,))
    assert ArrayType(dtype=dtype, shape=(None,)) is a
    assert ArrayType(dtype, (None,), "C", True) is a
    assert pickle.loads(pickle.dumps(a)) is a
    assert ArrayType(dtype, (None,), "strided") is not a


@pytest.mark.parametrize("other", [INT, FLOAT, NONE, STR, ListType(INT), TupleType((INT,))])
def test_an_array_joined_with_anything_else_is_anything(other):
    array = ArrayType(np.dtype(np.float64), (None,))
    assert join(array, other) == join(other, array) == ANY
    assert join(array, array) == array


def test_numpys_ints_are_indices_but_for_those_that_may_not_fit():
    for dtype in (np.int8, np.uint8, np.int32, np.uint32, np.int64):
        assert is_index(ScalarType(np.dtype(dtype)))
    assert not is_index(ScalarType(np.dtype(np.uint64)))
    assert not is_index(ScalarType(np.dtype(np.float64)))


def test_lists_of_deep_lists_hold_anything():
    deep = INT
    for _ in range(MAX_LEVELS):
        assert list_of(deep).item == deep
        deep = list_of(deep)
    assert list_of(deep).item == ANY


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (("+", ("x", 1.0), ("y", 2)), "Object[builtins.tuple]"),
        (("-", 2, ("x", 1.0)), "Object[builtins.tuple]"),
        ((("+", ("x", 1.0)), 3), "(Object[builtins.tuple], int)"),
        ([("+", ("x", 1.0))], "List[Object[builtins.tuple]]"),
        (("x", 1.0), "(str, float)"),
        ((("a", 1), ("b", 2)), "((str, int), (str, int))"),
        (("point", (1.0, 2.0)), "(str, (float, float))"),
    ],
)
def test_nodes_of_trees_with_names_are_objects(value, expected):
    assert str(type_of(value)) == expected


SWAPPED = np.dtype(np.float64).newbyteorder()
NAMED = np.dtype(np.float64, metadata={"unit": "m"})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.zeros((2, 3)), "Float64(*, *)"),
        (np.zeros((4, 4))[::2], "Float64(*, *, strided)"),
        (np.broadcast_to(np.zeros(3), (2, 3)), "Float64(*, *, strided, readonly)"),
        (np.zeros(2, SWAPPED), "Object[numpy.ndarray]"),
        (np.zeros(2, NAMED), "Object[numpy.ndarray]"),
        (np.zeros(2, "S3"), "Object[numpy.ndarray]"),
        (np.zeros(2, [("x", "f8")]), """Records["[('x', '<f8')]"](*)"""),
        (np.zeros(2, [("x", "f8")])[0], "Object[numpy.void]"),
        (np.zeros(2, [("x", "O")]), "Object[numpy.ndarray]"),
        (np.zeros(2, [(("a title", "x"), "f8")]), "Object[numpy.ndarray]"),
        (np.zeros(2, [("x", NAMED)]), "Object[numpy.ndarray]"),
        (np.zeros(2, np.dtype((np.record, [("x", "f8")]))), "Object[numpy.ndarray]"),
        (np.zeros(17, np.uint8)[1:].view([("x", "f8")]), "Object[numpy.ndarray]"),
        (array("i", [1]), "Packed[i]"),
        (array("Q", [1]), "Object[array.array]"),
        (math, "Module[math]"),
        ([np.linalg], "List[Module[numpy.linalg]]"),
        (ModuleType("math"), "Object[builtins.module]"),
        (np.zeros(2, "M8[s]"), "Object[numpy.ndarray]"),
        (np.zeros(9, np.uint8)[1:].view(np.float64), "Object[numpy.ndarray]"),
        (range(3), "range"),
        (range(2**70), "Object[builtins.range]"),
        (slice(1, None, 2), "slice[int, None, int]"),
        (slice(0.5), "Object[builtins.slice]"),
        ((1, (2.5, None)), "(int, (float, None))"),
        ((1, 0.5) * (MAX_ITEMS // 2), f"({', '.join(['int, float'] * (MAX_ITEMS // 2))})"),
        ((1, 0.5) * MAX_ITEMS, "Object[builtins.tuple]"),
        ((1,) * 32, f"({', '.join(['int'] * 32)})"),
        ((1,) * 33, "Object[builtins.tuple]"),
        (("a",) * 8, f"({', '.join(['str'] * 8)})"),
        (("a",) * 9, "Object[builtins.tuple]"),
        ((1, ("a",) * 9), "(int, Object[builtins.tuple])"),
        (((1, 0.5) * 20, (1, 0.5) * 20), "Object[builtins.tuple]"),
        (((((1,),),),), "((((int,),),),)"),
        ((((((1,),),),),), "Object[builtins.tuple]"),
        ([1, 2.5], "List[Union[float, int]]"),
        ([1, -1, 2**63 - 1], "List[int]"),
        ([1, 2**64 - 1, 5], "List[uint]"),
        ([1, 2**64], "List[Any]"),
        ([1, -(2**63) - 1, 2**63], "List[Any]"),
        ([True, False], "List[bool]"),
        ([True, 1], "List[Union[bool, int]]"),
        ([range(2), range(3)], "List[range]"),
        ([range(2), range(2**70)], "List[Any]"),
        ([None, None], "List[None]"),
        (["a", "ab"], "List[str]"),
        ([[0.5] * 20, [1] * 20], "List[List[Union[float, int]]]"),
        ([[[[[1]]]]], "List[List[List[List[List[Any]]]]]"),
    ],
)
def test_objects_have_the_type_that_native_code_can_read_them_as(value, expected):
    assert str(type_of(value)) == expected


def test_constant_tuples_are_known_item_by_item():
    assert str(constant_type(("ab",) * 9)) == f"({', '.join(['str'] * 9)})"
    assert str(constant_type((1,) * 40)) == f"({', '.join(['int'] * 40)})"


def test_dtypes_of_native_numbers_have_types_and_no_others():
    assert scalar_type(np.dtype(np.float32)) == ScalarType(np.dtype(np.float32))
    for dtype in (SWAPPED, NAMED, np.dtype("S3"), np.dtype("M8[s]")):
        assert scalar_type(dtype) == ANY
