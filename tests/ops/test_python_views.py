"""Iteration: views give what Python's iterators give, in Python and in machine code."""

import itertools

import numpy as np
import pytest

from ljit.ir import Graph, get_op
from ljit.ops.control import RETURN, SNAPSHOT
from ljit.ops.python_views import (
    Cursor,
    EnumerateView,
    ReversedView,
    ZipView,
    has_next,
    make_view,
    next_item,
    size_of,
    view_of_call,
)
from ljit.types import ANY, INT, RANGE, ListType, ObjectType, TupleType, ViewType, type_of
from tests.ops.python_harness import NativeBailed, attempt, compile_graph, describe

SEQUENCES = [
    range(4),
    range(10, -3, -4),
    range(0),
    range(2**63 - 3, 2**63 - 1),
    range(-(2**63), 2**63 - 1, 2**62),
    (1, 2, 3),
    (),
    [0.5, 1.5],
    [],
    np.arange(4),
    np.arange(6.0)[::-2],
    np.ones((2, 3), np.float32),
    np.arange(6).reshape(2, 3).T,
    np.zeros((0, 2)),
]


def drain(view, limit=20):
    """The items of a view, asked for as a loop does."""
    items = []
    for k in range(limit):
        assert has_next(view, k) == has_next(view, k)
        if not has_next(view, k):
            return items
        items.append(next_item(view, k))
    return items


def counting():
    yield 1
    yield 2


CALLS = [
    (enumerate, SEQUENCES[:1]),
    (enumerate, [[5, 6], 3]),
    (enumerate, ["ab", True]),
    (zip, [[1, 2, 3], range(2)]),
    (zip, ["abc", (1, 2), np.arange(5)]),
    (zip, []),
    (zip, [[]]),
    (reversed, [[1, 2, 3]]),
    (reversed, [np.arange(3)]),
    (reversed, ["abc"]),
    (range, [1, 9, 3]),
    (map, [str, (1, 2)]),
    (sorted, [[2, 1]]),
    (iter, [{1: 2}]),
]


@pytest.mark.parametrize("x", [*SEQUENCES, "abc", {1, 2}, {3: 4}], ids=str)
def test_a_view_gives_the_items_of_the_iterator(x):
    assert describe(drain(make_view(x))) == describe(list(itertools.islice(iter(x), 20)))


@pytest.mark.parametrize(("f", "args"), CALLS)
def test_the_view_of_a_call_gives_the_items_of_the_call(f, args):
    assert describe(drain(view_of_call(f, *args))) == describe(list(f(*args)))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (enumerate, [5]),
        (enumerate, [[], 1.5]),
        (enumerate, []),
        (enumerate, [1, 2, 3]),
        (zip, [[1], 5]),
        (reversed, [{1}]),
        (reversed, [np.array(5)]),
        (reversed, [[], []]),
        (iter, [5]),
        (range, [1.5]),
        (7, [1]),
    ],
)
def test_the_view_of_a_bad_call_raises_what_the_call_raises(f, args):
    expected = attempt(lambda *xs: list(f(*xs)), args)
    found = attempt(lambda *xs: view_of_call(f, *xs), args)
    assert type(found.error) is type(expected.error)
    if f is not zip:  # says "argument #2" where iter() does not
        assert str(found.error) == str(expected.error)


def test_one_iterator_can_be_zipped_with_itself():
    it = iter(range(5))
    assert drain(view_of_call(zip, it, it)) == [(0, 1), (2, 3)]
    assert list(it) == []


def test_zip_does_not_advance_behind_an_exhausted_part():
    second = iter([1, 2, 3])
    assert drain(view_of_call(zip, [7], second)) == [(7, 1)]
    assert list(second) == [2, 3]


def test_a_list_that_grows_or_shrinks_is_followed():
    items = [1, 2, 3]
    view = make_view(items)
    assert has_next(view, 2)
    items.pop()
    assert not has_next(view, 2)
    items.extend([8, 9])
    assert has_next(view, 3)
    backwards = view_of_call(reversed, items)
    items.clear()
    assert not has_next(backwards, 0)


def test_a_cursor_asks_its_iterator_once_a_trip():
    cursor = make_view(counting())
    assert type(cursor) is Cursor
    assert [cursor.has_next(0), cursor.has_next(0), cursor.next_item(0)] == [True, True, 1]
    assert [cursor.has_next(1), cursor.next_item(1), cursor.has_next(2)] == [True, 2, False]


def test_views_have_the_types_that_native_code_builds_them_with():
    assert type_of(view_of_call(enumerate, [1.5], 2)) == ViewType(
        "enumerate", (type_of([1.5]), INT)
    )
    assert type_of(view_of_call(zip, range(3), (1,))) == ViewType("zip", (RANGE, TupleType((INT,))))
    assert type_of(view_of_call(reversed, [1])) == ViewType("reversed", (ListType(INT), INT))
    assert type_of(view_of_call(zip, "ab")) == ObjectType(ZipView)
    assert type_of(view_of_call(enumerate, "ab")) == ObjectType(EnumerateView)
    assert issubclass(ReversedView, tuple)


def test_the_size_of_a_view_is_its_number_of_items():
    for f, args in CALLS:
        view = view_of_call(f, *args)
        if not isinstance(view, Cursor) and not any(isinstance(x, str) for x in args):
            assert size_of(view) == len(list(f(*args)))


# -- machine code ----------------------------------------------------------------------------------


def loop_graph(maker, types, step):
    """A graph that makes a view of its operands but the last, and asks it about trip k, the last."""
    graph = Graph("view")
    params = [graph.block.add_param(f"x{i}", t) for i, t in enumerate((*types, INT))]
    names = tuple(p.key for p in params)
    append = graph.block.append
    append(graph.create(SNAPSHOT, params, {"at": "before:0", "names": names}, outputs=()))
    view = append(graph.create(get_op(maker), params[:-1]))
    if step is None:
        result = append(graph.create(get_op("prim::view_size"), [view.output]))
    else:
        result = append(graph.create(get_op(step), [view.output, params[-1]]))
    append(graph.create(RETURN, [result.output], outputs=()))
    return graph, view.output.type


MAKERS = [
    *(("prim::iter", iter, (x,)) for x in SEQUENCES),
    *(("prim::enumerate_view", enumerate, (x,)) for x in SEQUENCES),
    *(("prim::enumerate_view", enumerate, (x, 2**63 - 2)) for x in SEQUENCES[:1]),
    *(("prim::reversed_view", reversed, (x,)) for x in SEQUENCES),
    *(("prim::zip_view", zip, (x, [7, 8, 9], range(9, 0, -1))) for x in SEQUENCES),
    ("prim::zip_view", zip, ((1, 2), [1.5, 2.5])),
]


@pytest.mark.parametrize(("maker", "function", "operands"), MAKERS)
def test_machine_code_iterates_as_python_does(maker, function, operands):
    types = tuple(map(type_of, operands))
    graph, view_type = loop_graph(maker, types, "prim::has_next")
    assert view_type != ANY
    more = compile_graph(graph)
    item = compile_graph(loop_graph(maker, types, "prim::next")[0])
    expected = list(itertools.islice(function(*operands), 20))
    assert [more(*operands, k) for k in range(len(expected) + 1)] == [
        *[True] * len(expected),
        False,
    ]
    for k, value in enumerate(expected):
        found = attempt(item, (*operands, k))
        if isinstance(found.error, NativeBailed):
            assert max(np.ravel(value)[:1], default=0) > 2**62 or k + 2**63 - 2 > 2**63 - 1
            continue
        assert found.error is None
        assert describe(found.result) == describe(value)


@pytest.mark.parametrize(("maker", "function", "operands"), MAKERS)
def test_machine_code_knows_the_number_of_trips(maker, function, operands):
    if any(isinstance(x, list) for x in operands) and maker != "prim::reversed_view":
        pytest.skip("lists can grow")
    size = compile_graph(loop_graph(maker, tuple(map(type_of, operands)), None)[0])
    assert size(*operands, 0) == len(list(function(*operands)))


def test_an_item_behind_the_end_of_an_array_or_list_is_never_read():
    for x in ([1.5], np.arange(2.0), np.ones((2, 2))):
        item = compile_graph(loop_graph("prim::iter", (type_of(x),), "prim::next")[0])
        for k in (2, 3, 2**62, -1):
            with pytest.raises(NativeBailed):
                item(x, k)
