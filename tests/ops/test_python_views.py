"""Iteration: views give what Python's iterators give, in Python and in machine code."""

import itertools

import numpy as np
import pytest

import ljit
from ljit import config
from ljit.ir import Graph, get_op
from ljit.ops.containers.iteration import HAS_NEXT
from ljit.ops.containers.iteration_views import (
    CURSOR,
    Cursor,
    has_next,
    make_view,
    next_item,
    size_of,
    view_of_call,
)
from ljit.ops.control import RETURN, SNAPSHOT
from ljit.types import ANY, INT, NEVER, RANGE, STR, ListType, TupleType, ViewType
from ljit.value_types import type_of
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
    "aä\U0001f600",
    b"a\xff",
    b"",
    "",
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
    assert type_of(view_of_call(enumerate, "ab")) == ViewType("enumerate", (STR, INT))
    assert type_of(make_view({1: 2})) == CURSOR
    assert type_of(view_of_call(zip, {1: 2}, [])) == ViewType("zip", (CURSOR, ListType(NEVER)))


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


def over_anything(xs):
    out = []
    for x in xs:
        out.append(x)
    return out


def numbered(xs):
    total = 0
    for i, x in enumerate(xs, 3):
        total += i * x
    return total


def side_by_side(xs, ys):
    out = []
    for x, y in zip(xs, ys):
        out.append((x, y))
    return out, list(xs), list(ys)


def backwards(xs):
    return [x for x in reversed(xs)]


def leaves_early(xs):
    for x in xs:
        if x == 2:
            break
    return list(xs)


def fails(xs):
    total = 0
    for x in xs:
        total += 1 // x
    return total


def generator(n, error=None):
    yield from range(n)
    if error is not None:
        raise error


LOOPS = [
    (over_anything, lambda: ({3: 4, "a": 5},)),
    (over_anything, lambda: (generator(5),)),
    (over_anything, lambda: (generator(500),)),
    (over_anything, lambda: (generator(500, KeyError("late")),)),
    (over_anything, lambda: (map(str, range(300)),)),
    (over_anything, lambda: ("text of some length" * 20,)),
    (over_anything, lambda: (iter([1, 2]),)),
    (over_anything, lambda: ({1: 2}.items(),)),
    (over_anything, lambda: (5,)),
    (numbered, lambda: (generator(400),)),
    (numbered, lambda: ({7: 1, 8: 2},)),
    (side_by_side, lambda: (generator(2), generator(5))),
    (side_by_side, lambda: (generator(5), generator(2))),
    (side_by_side, lambda: (generator(400), [1] * 300)),
    (side_by_side, lambda: ([1] * 300, generator(400))),
    (side_by_side, lambda: ("abc" * 100, generator(400))),
    (backwards, lambda: ({1: 2, 3: 4},)),
    (backwards, lambda: ("abc" * 100,)),
    (leaves_early, lambda: (generator(5),)),
    (leaves_early, lambda: (iter([2, 5, 2]),)),
    (fails, lambda: (iter([1, 1, 0, 1]),)),
    (fails, lambda: (generator(3),)),
]


MAKERS = {
    "list": lambda: [3, 1, 2] * 9,
    "tuple": lambda: (3, 1.5),
    "range": lambda: range(40),
    "set": lambda: {5, 6},
    "dict": lambda: {5: 6, 7: 8},
    "array": lambda: np.arange(5),
    "rows": lambda: np.ones((2, 3)),
    "generator": lambda: generator(30),
    "late error": lambda: generator(30, KeyError("late")),
    "text": lambda: "text",
    "no dimension": lambda: np.array(5),
    "number": lambda: 5,
}


def made(kind):
    return MAKERS[kind]()


def over_what_a_call_gives(kind):
    total = 0
    for x in made(kind):
        total = total + x
    for i, x in enumerate(made(kind)):
        total = total + x * i
    for x, y in zip(made(kind), made("list")):
        total = total + x * y
    for x in reversed(made(kind)):
        total = total - x
    return total


@pytest.mark.parametrize("kind", MAKERS)
def test_what_a_call_gives_is_iterated_as_by_cpython(kind):
    compiled = ljit.jit(over_what_a_call_gives)
    for _ in range(4):
        expected = attempt_plainly(over_what_a_call_gives, (kind,))
        assert attempt_plainly(compiled, (kind,)) == expected


def test_what_a_call_gives_is_iterated_natively():
    def total(kind):
        result = 0
        for x in made(kind):
            result += x
        for x in enumerate(made(kind)):
            result += x[1]
        return result

    compiled = ljit.jit(total)
    for _ in range(3):
        assert compiled("generator") == 870
    views = [n.inputs[0].type for n in compiled.graph_for("generator").walk() if n.op is HAS_NEXT]
    assert views == [CURSOR, ViewType("enumerate", (CURSOR, INT))]


@pytest.mark.parametrize(("function", "make"), LOOPS)
def test_compiled_loops_run_over_any_iterator(function, make):
    compiled = ljit.jit(function)
    for _ in range(4):
        expected, found = attempt_plainly(function, make()), attempt_plainly(compiled, make())
        assert found == expected


def zipped_if(x, is_wanted):
    total = 0
    if is_wanted:
        for item, k in zip(x, [1, 2]):  # noqa: B905 - `strict` makes it no view
            total += item * k
    return total


def test_a_loop_over_a_zip_of_an_array_without_axes_compiles():
    compiled = ljit.jit(zipped_if)
    with config.overridden(cold_calls=False, quick_runs=0):
        for _ in range(3):
            assert compiled(np.array(3.0), False) == 0
    assert compiled.specializations[0].state == "native"
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        compiled(np.array(3.0), True)


def attempt_plainly(function, args):
    """Call without copying the arguments: generators cannot be copied."""
    try:
        return describe(function(*args))
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


def test_an_item_behind_the_end_of_an_array_or_list_is_never_read():
    for x in ([1.5], np.arange(2.0), np.ones((2, 2))):
        item = compile_graph(loop_graph("prim::iter", (type_of(x),), "prim::next")[0])
        for k in (2, 3, 2**62, -1):
            with pytest.raises(NativeBailed):
                item(x, k)


def test_generators_that_any_call_gives_are_closed_behind_their_loop():
    """Also where a register or slot of its own holds what the call gives."""

    def numbers(log, n=3):
        try:
            yield from range(n)
        finally:
            log.append("closed")

    class Source:
        def items(self, log, n):
            return numbers(log, n)

    def left_early(source):
        log = []
        for _ in source.items(log, n=4):
            break
        log.append("behind")
        for _ in numbers(log, n=5):
            break
        log.append("behind")
        for _ in numbers(*(log, 5)):
            break
        log.append("behind")
        for _ in enumerate(numbers(log)):
            break
        log.append("behind")
        for _ in zip([1, 2], numbers(log), numbers(log)):
            break
        log.append("behind")
        return log

    compiled = ljit.jit(left_early)
    for _ in range(4):
        assert compiled(Source()) == left_early(Source())
