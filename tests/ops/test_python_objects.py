"""Names, attributes, calls, text, exceptions and unpacking mean what CPython's bytecode means."""

import builtins
import itertools
from typing import NamedTuple

import numpy as np
import pytest

from ljit.ir import Effect, get_op
from ljit.ops.names import UNBOUND_VALUE
from ljit.types import (
    ANY,
    FLOAT,
    INT,
    NEVER,
    NONE,
    STR,
    UNBOUND,
    ArrayType,
    ListType,
    ObjectType,
    ScalarType,
    TupleType,
    UnionType,
)
from ljit.value_types import type_of
from tests.ops.python_harness import NativeBailed, attempt, compile_op, describe

there = "a global"


def load(name):
    return get_op("prim::load_global").evaluate(name=name, scope=load)


def test_a_global_is_found_in_the_module_then_in_builtins():
    assert load("there") == "a global"
    assert load("len") is len
    assert load("test_a_global_is_found_in_the_module_then_in_builtins") is not None


def test_a_missing_global_raises_as_python_does():
    expected = attempt(lambda: not_there, ())  # noqa: F821
    found = attempt(lambda: load("not_there"), ())
    assert found.text == expected.text
    assert found.error.name == expected.error.name == "not_there"


def test_a_builtin_can_be_shadowed_and_comes_back(monkeypatch):
    monkeypatch.setitem(globals(), "abs", 5)
    assert load("abs") == 5
    monkeypatch.undo()
    assert load("abs") is builtins.abs


def closure_over(bind):
    if bind:
        cell = 5

    def read():
        return cell

    return read


def test_a_cell_is_read_or_raises_as_python_does():
    op = get_op("prim::load_closure")
    assert op.evaluate(name="cell", scope=closure_over(True)) == 5
    empty = closure_over(False)
    expected = attempt(empty, ())
    found = attempt(lambda: op.evaluate(name="cell", scope=empty), ())
    assert found.text == expected.text
    assert type(found.error) is NameError
    assert found.error.name == expected.error.name


def test_an_unbound_local_raises_as_python_does():
    def unbound():
        if False:
            x = 1
        return x

    op = get_op("prim::check_bound")
    assert op.evaluate(None, name="x") is None
    found = attempt(lambda: op.evaluate(UNBOUND_VALUE, name="x"), ())
    assert found.text == attempt(unbound, ()).text


def test_a_check_takes_unbound_out_of_a_type():
    infer = get_op("prim::check_bound").infer
    assert infer(UnionType((UNBOUND, INT)), name="x") == INT
    assert infer(UnionType((UNBOUND, FLOAT, INT)), name="x") == UnionType((FLOAT, INT))
    assert infer(INT, name="x") == INT
    assert infer(ANY, name="x") == ANY
    assert infer(UNBOUND, name="x") == NEVER


def test_the_last_operands_of_a_call_are_its_keywords():
    def f(*args, **kwargs):
        return args, kwargs

    call = get_op("py::call").evaluate
    assert call(f, 1, 2, 3, kwnames=("b", "a")) == ((1,), {"b": 2, "a": 3})
    assert call(f, 1) == ((1,), {})
    assert get_op("py::call_ex").evaluate(f, (1, 2), {"k": 3}) == ((1, 2), {"k": 3})
    assert get_op("py::call_ex").evaluate(f, [1, 2], None) == ((1, 2), {})
    method = get_op("py::call_method").evaluate
    assert method("a-b", "-", 1, name="split", kwnames=("maxsplit",)) == ["a", "b"]


def test_attributes_are_read_set_and_deleted():
    class Thing:
        pass

    thing = Thing()
    get_op("py::setattr").evaluate(thing, 5, name="x")
    assert get_op("py::getattr").evaluate(thing, name="x") == 5
    get_op("py::delattr").evaluate(thing, name="x")
    found = attempt(lambda: get_op("py::getattr").evaluate(thing, name="x"), ())
    assert isinstance(found.error, AttributeError)


@pytest.mark.parametrize("conversion", [-1, ord("s"), ord("r"), ord("a")])
def test_fields_of_text_are_formatted(conversion):
    expected = {-1: f"{'ä':>4}", 115: f"{'ä'!s:>4}", 114: f"{'ä'!r:>4}", 97: f"{'ä'!a:>4}"}
    field = get_op("prim::format_value").evaluate
    assert field("ä", ">4", conversion=conversion) == expected[conversion]
    assert get_op("prim::join_str").evaluate("a", "b", "") == "ab"


def test_exceptions_are_raised_with_their_cause():
    raise_ = get_op("prim::raise").evaluate
    with pytest.raises(ValueError, match="x") as caught:
        raise_(ValueError("x"))
    assert caught.value.__cause__ is None
    cause = KeyError("k")
    with pytest.raises(ValueError, match="x") as caught:
        raise_(ValueError("x"), cause, has_cause=True)
    assert caught.value.__cause__ is cause
    with pytest.raises(ValueError, match="x") as caught:
        raise_(ValueError("x"), None, has_cause=True)
    assert caught.value.__suppress_context__
    with pytest.raises(TypeError, match="exceptions must derive from BaseException"):
        raise_(5)
    with pytest.raises(RuntimeError, match="No active exception to reraise"):
        raise_()


# -- unpacking -------------------------------------------------------------------------------------

UNPACKED = [
    (),
    (1,),
    (1, 2.5),
    [1, 2],
    [],
    [1.5, 2.5, 3.5],
    "ab",
    np.arange(2),
    5,
    None,
    {1: 2, 3: 4},
]


def by_hand(x, count, star):
    if (count, star) == (1, None):
        (a,) = x
        return a
    if (count, star) == (2, None):
        a, b = x
        return a, b
    if (count, star) == (2, 0):
        *a, b = x
        return a, b
    if (count, star) == (2, 1):
        a, *b = x
        return a, b
    [] = x
    return ()


FORMS = [(0, None), (1, None), (2, None), (2, 0), (2, 1)]


@pytest.mark.parametrize(("x", "form"), list(itertools.product(UNPACKED, FORMS)), ids=repr)
def test_unpacking_gives_or_raises_what_python_does(x, form):
    count, star = form
    op = get_op("prim::Unpack")
    expected = attempt(by_hand, (x, count, star))
    found = attempt(op.evaluate, (x,), {"count": count, "star": star})
    assert type(found.error) is type(expected.error)
    assert str(found.error) == str(expected.error)
    assert found.result == expected.result


@pytest.mark.parametrize(
    "x", [(1, 2.5), [1, 2], [1.5, 2.5, 3.5], [], np.arange(2), np.ones(3)], ids=repr
)
def test_machine_code_unpacks(x):
    op = get_op("prim::Unpack")
    attrs = {"count": 2, "star": None}
    assert op.can_lower(type_of(x), **attrs)
    native = compile_op(op, (type_of(x),), attrs)
    if len(x) == 2:
        assert describe(native(x)) == describe(tuple(x))
    else:
        with pytest.raises(NativeBailed):
            native(x)


@pytest.mark.parametrize("x", [(5,), [5]], ids=repr)
def test_machine_code_unpacks_a_single_item(x):
    assert compile_op(get_op("prim::Unpack"), (type_of(x),), {"count": 1})(x) == 5


def test_machine_code_does_not_believe_what_a_list_held_before():
    native = compile_op(get_op("prim::Unpack"), (ListType(INT),), {"count": 2, "star": None})
    assert native([1, 2]) == (1, 2)
    with pytest.raises(NativeBailed):
        native([1, 2.5])


class Pair(NamedTuple):
    x: object
    y: object


class Reversed(tuple):
    def __iter__(self):
        return reversed(self[:])


@pytest.mark.parametrize("form", [(2, None), (2, 0), (2, 1)], ids=repr)
def test_machine_code_unpacks_tuples_of_users_classes(form):
    count, star = form
    op = get_op("prim::Unpack")
    for cls, x in [(Pair, Pair(1, 2.5)), (Reversed, Reversed("ab")), (Reversed, Reversed("abc"))]:
        native = compile_op(op, (ObjectType(cls),), {"count": count, "star": star})
        expected = attempt(by_hand, (x, count, star))
        found = attempt(native, (x,))
        assert describe(found.result) == describe(expected.result)
        assert type(found.error) is type(expected.error)
        assert str(found.error) == str(expected.error)


def failing():
    yield 1
    raise KeyError(2)


class Iterated:
    """Its iterator is what a function makes."""

    def __init__(self, make):
        self.make = make

    def __iter__(self):
        return self.make()


class Indexed:
    def __getitem__(self, i):
        return "ab"[i]

    def __repr__(self):
        return "Indexed()"


@pytest.mark.parametrize(
    "make",
    [
        lambda: iter([1]),
        lambda: iter([1, 2]),
        lambda: iter([1, 2, 3]),
        itertools.count,
        failing,
        lambda: 5,
        lambda: [][0],
    ],
)
def test_machine_code_asks_other_objects_for_an_iterator(make):
    native = compile_op(get_op("prim::Unpack"), (ANY,), {"count": 2, "star": None})
    expected = attempt(by_hand, (Iterated(make), 2, None))
    found = attempt(native, (Iterated(make),))
    assert found.result == expected.result
    assert type(found.error) is type(expected.error)
    assert str(found.error) == str(expected.error)


@pytest.mark.parametrize("x", [*UNPACKED, Indexed(), {1, 2}, range(2), b"abc"], ids=repr)
def test_machine_code_unpacks_any_object(x):
    native = compile_op(get_op("prim::Unpack"), (ANY,), {"count": 2, "star": None})
    expected, found = attempt(by_hand, (x, 2, None)), attempt(native, (x,))
    assert describe(found.result) == describe(expected.result)
    assert type(found.error) is type(expected.error)
    assert str(found.error) == str(expected.error)


def test_machine_code_sees_that_a_class_of_tuples_has_got_an_iterator():
    class Late(tuple):
        pass

    attrs = {"count": 2, "star": None}
    native = compile_op(get_op("prim::Unpack"), (ObjectType(Late),), attrs)
    assert native(Late("ab")) == ("a", "b")
    Late.__iter__ = Reversed.__iter__
    assert native(Late("ab")) == ("b", "a")


def test_the_types_of_unpacked_values():
    infer = get_op("prim::Unpack").infer
    pair = TupleType((INT, FLOAT))
    assert infer(pair, count=2) == (INT, FLOAT)
    assert infer(pair, count=3) == (ANY, ANY, ANY)
    assert infer(TupleType((INT, FLOAT, FLOAT, STR)), count=3, star=1) == (
        INT,
        ListType(FLOAT),
        STR,
    )
    assert infer(pair, count=2, star=0) == (ListType(INT), FLOAT)
    assert infer(TupleType((INT,)), count=2, star=1) == (INT, ListType(NEVER))
    assert infer(ListType(NEVER), count=2) == (ANY, ANY)
    doubles = ArrayType(np.dtype(float), (None,))
    assert infer(doubles, count=2) == (ScalarType(np.dtype(float)),) * 2
    assert infer(NONE, count=1) == (ANY,)


def test_unpacking_a_tuple_of_the_right_length_is_pure():
    effects = get_op("prim::Unpack").effects
    assert effects(TupleType((INT, INT)), count=2) == Effect.PURE
    assert effects(TupleType((INT,)), count=2) == Effect.RAISE
    assert effects(ANY, count=2) == Effect.CALL


def test_a_fixed_item_of_a_tuple():
    op = get_op("prim::TupleIndex")
    pair = TupleType((INT, FLOAT))
    assert op.infer(pair, index=1) == FLOAT
    assert compile_op(op, (pair,), {"index": 1})((1, 2.5)) == 2.5
    assert op.evaluate((1, 2.5), index=0) == 1
