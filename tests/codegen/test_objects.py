"""Objects in native code: calls, lists, views, errors, and who holds which reference."""

import gc
import sys
import traceback
from functools import partial

import numpy as np
import pytest

from ljit.ops.control import INTERRUPTED
from tests.codegen.harness import Bailed, Compiled


def counts(*objects):
    gc.collect()
    return [sys.getrefcount(x) for x in objects]


CALL = """
graph(%f : Any, %x : {x}):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%f, %x)
  %r : Any = py::call(%f, %x)
  return (%r)
"""


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("int", 7),
        ("float", 2.5),
        ("bool", True),
        ("complex", 1 - 2j),
        ("None", None),
        ("np.float32", np.float32(1.5)),
        ("np.bool", np.bool(False)),
        ("(int, (float, None))", (1, (2.5, None))),
        ("range", range(3, 30, 4)),
        ("slice[int, None, int]", slice(1, None, 2)),
        ("str", "text"),
        ("List[int]", [1, 2]),
        ("Float64(*, *, strided)", np.ones((4, 4))[::2, 1:]),
        ("Union[float, int]", 2.5),
        ("Union[float, int]", 7),
        ("Union[None, np.float64]", None),
    ],
)
def test_values_of_each_type_are_boxed_for_a_call(type_, value):
    f = Compiled(CALL.format(x=type_))
    before = sys.getrefcount(value)
    for _ in range(500):
        f(id, value)
    assert abs(sys.getrefcount(value) - before) < 100
    seen = f(lambda x: (x, type(x)), value)
    assert seen[1] is type(value)
    np.testing.assert_equal(seen[0], value)
    if type_ in ("str", "List[int]") or isinstance(value, np.ndarray):
        assert seen[0] is value


def test_an_error_of_a_call_is_passed_on_and_nothing_is_leaked():
    f = Compiled(CALL.format(x="(int, float)"))
    argument = (10**6, 2.5)

    def fail(x):
        raise KeyError(x)

    before = counts(fail, argument)
    for _ in range(3):
        with pytest.raises(KeyError, match="1000000"):
            f(fail, argument)
    assert counts(fail, argument) == before


def test_keywords_and_methods_are_called():
    f = Compiled("""
graph(%f : Any, %x : int, %s : str):
  prim::Snapshot[at='before:0', names=('p0',)](%f)
  %a : Any = py::call[kwnames=('key',)](%f, %x, %s)
  %b : Any = py::call_method[name='replace', kwnames=()](%s, %s, %s)
  %c : Any = py::getattr[name='real'](%x)
  %t : (Any, Any, Any) = prim::TupleConstruct(%a, %b, %c)
  return (%t)
""")
    assert f(lambda x, key: (x, key), 5, "abc") == ((5, "abc"), "abc", 5)


def test_attributes_of_an_op_are_keywords_of_the_function_itself():
    """Not of a `partial` object, for which CPython makes a dict and a tuple in each call."""
    f = Compiled("""
graph(%x : (Any, Any)):
  prim::Snapshot[at='before:0', names=('p0',)](%x)
  %a : Any = np::concatenate[axis=1](%x)
  return (%a)
""")
    x, y = np.ones((2, 3)), np.zeros((2, 1))
    np.testing.assert_array_equal(f((x, y)), np.concatenate((x, y), axis=1), strict=True)
    with pytest.raises(ValueError, match="must match exactly"):
        f((x, y.T))
    kept = gc.get_referents(*vars(f.code).values())
    assert any(x is np.concatenate for x in kept)
    assert not any(isinstance(x, partial) for x in kept)


CARRIED = """
graph(%f : Any, %n : int, %x : Any):
  prim::Snapshot[at='before:0', names=('p0', 'p1', 'p2')](%f, %n, %x)
  %0 : int = prim::Constant[value=0]()
  %a : Any, %b : Any = prim::Loop(%0, %n, %x, %f)
    block0(%k : int, %p : Any, %q : Any):
      prim::Snapshot[at='header:1', names=('k', 'p', 'q')](%k, %p, %q)
      %r : Any = py::call(%f, %p)
      %done : bool = py::eq(%k, %n)
      prim::If(%done)
        block0():
          prim::Break[depth=0](%r, %p)
        block1():
          -> ()
      -> (%q, %r)
  %t : (Any, Any) = prim::TupleConstruct(%a, %b)
  return (%t)
"""


def test_objects_carried_by_a_loop_live_until_they_are_replaced():
    f = Compiled(CARRIED)

    class Thing:
        alive = 0

        def __init__(self, depth=0):
            self.depth = depth
            Thing.alive += 1

        def __del__(self):
            Thing.alive -= 1

    def grow(x):
        return Thing(getattr(x, "depth", 0) + 1)

    def expected(n, x):
        p, q = x, grow
        for _ in range(n):
            p, q = q, grow(p)
        return p, q

    start = Thing()
    before = counts(grow, start)
    for n in (0, 1, 2, 9):
        got, wanted = f(grow, n, start), expected(n, start)
        for x, y in zip(got, wanted, strict=True):
            assert getattr(x, "depth", None) == getattr(y, "depth", None)
    del got, wanted, x, y
    assert Thing.alive == 1
    assert counts(grow, start) == before


def test_an_error_in_a_loop_releases_what_it_carries():
    f = Compiled(CARRIED)
    made = []

    def fail(x):
        if len(made) == 5:
            raise ZeroDivisionError
        made.append(object())
        return made[-1]

    for _ in range(2):
        made.clear()
        with pytest.raises(ZeroDivisionError):
            f(fail, 9, object())
    del _
    gc.collect()
    assert [sys.getrefcount(x) for x in made] == [3] * 5  # the list, the loop variable, the call


LIST = """
graph(%xs : List[float], %n : int):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%xs, %n)
  %0 : int = prim::Constant[value=0]()
  %zero : float = prim::Constant[value=0.0]()
  %s.1 : float = prim::Loop(%0, %n, %zero)
    block0(%i : int, %s : float):
      prim::Snapshot[at='header:1', names=('i', 's')](%i, %s)
      %x : float = py::getitem(%xs, %i)
      %s.2 : float = py::add(%s, %x)
      -> (%s.2)
  return (%s.1)
"""


def test_list_items_are_read_and_those_of_other_types_leave():
    f = Compiled(LIST)
    xs = [0.5 * i for i in range(10)]
    assert f(xs, 10) == sum(xs)
    xs[7] = "seven"
    with pytest.raises(Bailed) as caught:
        f(xs, 10)
    assert caught.value.values == {"i": 7, "s": 10.5}
    with pytest.raises(Bailed) as caught:
        f(xs[:3], 10)
    assert caught.value.values == {"i": 3, "s": 1.5}


def test_lists_are_made_extended_and_written():
    f = Compiled("""
graph(%x : float, %y : Any):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%x, %y)
  %xs : List[Any] = prim::ListConstruct(%y, %y)
  %0 : int = prim::Constant[value=0]()
  prim::list_append(%xs, %x)
  py::setitem(%xs, %0, %x)
  return (%xs)
""")
    y = object()
    before = counts(y)
    assert f(2.5, y) == [2.5, y, 2.5]
    assert counts(y) == before


VIEW = """
graph(%f : Any, %a : Float64(*, *), %i : int):
  prim::Snapshot[at='before:0', names=('p0', 'p1', 'p2')](%f, %a, %i)
  %row : Float64(*) = np::getitem(%a, %i)
  %r : Any = py::call(%f, %row)
  prim::Snapshot[at='after:3', names=('r', 'row', 'again')](%r, %row, %row)
  %s : Any = py::call(%f, %row)
  %t : (Any, Any, Float64(*)) = prim::TupleConstruct(%r, %s, %row)
  return (%t)
"""


def test_a_view_becomes_one_object_on_the_memory_of_its_base():
    f = Compiled(VIEW)
    a = np.arange(12.0).reshape(3, 4).copy()
    before = counts(a)
    r, s, row = f(lambda x: x, a, 1)
    assert r is s
    assert r is row
    assert row.base is a
    np.testing.assert_array_equal(row, a[1])
    row[0] = -1
    assert a[1, 0] == -1
    del r, s, row
    assert counts(a) == before


def test_chaos_forces_each_check():
    left = []
    f = Compiled(LIST, chaos=True, on_exit=lambda bailed: left.append(bailed) or "left")
    xs = [1.0, 2.0]
    assert f(xs, 2) == 3.0
    assert not left
    assert len(f.code.sites) >= 2
    for site, info in enumerate(f.code.sites):
        f.code.chaos_site = site
        assert f(xs, 2) == "left", info
    assert {x.at for x in left} == {"header:1"}
    for x in left:  # a loop looks for signals behind some trips
        in_first = x.reason != INTERRUPTED
        assert x.values == ({"i": 0, "s": 0.0} if in_first else {"i": 1, "s": 1.0})
    f.code.chaos_site = -1
    assert f(xs, 2) == 3.0


def test_an_error_names_the_line_of_the_user():
    from ljit.source import Source, SourceRange

    f = Compiled(CALL.format(x="int"))
    source = Source("user.py", ("line one", "def g(x):", "    return f(x)"), "g")
    outer = SourceRange(Source("user.py", source.lines, "main"), 1, 0, 1, 4)
    graph = f.graph
    for node in graph.walk():
        node.range = SourceRange(source, 3, 11, 3, 15, outer)
    from ljit.codegen import CompileOptions, compile_unit
    from ljit.runtime.vectorcall import set_vectorcall

    code = compile_unit(graph, name="g", options=CompileOptions())
    set_vectorcall(f._function, code.address)
    with pytest.raises(ZeroDivisionError) as caught:
        f(lambda x: 1 / x, 0)
    frames = traceback.extract_tb(caught.value.__traceback__)
    found = [(frame.filename, frame.lineno, frame.name) for frame in frames]
    assert ("user.py", 1, "main") in found
    assert found.index(("user.py", 3, "g")) == found.index(("user.py", 1, "main")) + 1
    assert found[-1][2] == "<lambda>"


STORE = """
graph(%xs : List[{t}], %v : {t}):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%xs, %v)
  %0 : int = prim::Constant[value=0]()
  py::setitem(%xs, %0, %v)
  %none : None = prim::Constant[value=None]()
  return (%none)
"""


def test_a_stored_number_overwrites_only_an_object_that_nobody_else_has():
    floats, ints = Compiled(STORE.format(t="float")), Compiled(STORE.format(t="int"))
    shared = float("2.5")
    xs = [shared]
    floats(xs, 3.5)
    assert (xs, shared) == ([3.5], 2.5)
    floats(xs, 4.5)
    assert xs == [4.5]
    for old in (0, 5, 300, 2**40, -(2**70), 2**30 - 1):
        for new in (0, 5, -1, 256, 257, 1000, -1000, 2**30 - 1, 2**30, 2**62, -(2**63)):
            xs, kept = [int(str(old))], int(str(old))
            ints(xs, new)
            assert xs == [new]
            assert type(xs[0]) is int
            assert kept == old
            assert new > 256 or new < -5 or xs[0] is int(str(new))
    shared = int("1000")
    xs = [shared, shared]
    ints(xs, 2000)
    assert xs == [2000, 1000]


CONTAINS = """
graph(%x : int, %xs : List[int]):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%x, %xs)
  %r : bool = py::contains(%x, %xs)
  return (%r)
"""


def test_ints_are_found_in_lists_where_they_lie():
    edges = [
        sign * (2**k + d) for sign in (1, -1) for k in (0, 29, 30, 31, 60, 62) for d in (-1, 0, 1)
    ]
    contains = Compiled(CONTAINS)
    assert "list_has_int" in contains.code.ir
    for xs in (edges, edges[::3], [*edges[1::2], 2**70], [True, 2.0, *edges[5:]], [0], []):
        for x in edges:
            assert contains(x, xs) is (x in xs)


@pytest.mark.parametrize("star", [None, 1])
def test_objects_are_taken_apart_without_a_call_of_python(star):
    f = Compiled(f"""
graph(%x : Any):
  prim::Snapshot[at='before:0', names=('p0',)](%x)
  %a : Any, %b : Any = prim::Unpack[count=2, star={star}](%x)
  %r : (Any, Any) = prim::TupleConstruct(%b, %a)
  return (%r)
""")
    for x in ((1, "a"), ["b", 2.5], "cd", {3: 4, 5: 6}):
        first, second = x
        assert f(x) == (second if star is None else [second], first)
    with pytest.raises(ValueError, match="not enough values to unpack"):
        f(())
    assert "call ptr @tuple_of_items" in f.code.ir
