"""Stores of both blocks of an If at one place stand behind it, if the If goes either way."""

import pytest

import ljit
from ljit.ir import parse, verify
from ljit.passes import run_passes

MERGE = """
graph(%c : bool, %a : Float64(*), %k : int, %x : np.float64, %y : np.float64, %i : int):
  %1 : int = prim::Constant[value=1]()
  prim::Snapshot[at='before:0', names=('p0',)](%c)
  %m : int, %n : int = prim::If[is_erratic=True](%c)
    block0():
      np::setitem[proven=('from_start.0', 'inside.0')](%a, %k, %x)
      prim::Snapshot[at='after:1', names=('p0',)](%c)
      %p : int = py::add(%i, %1)
      -> (%p, %i)
    block1():
      np::setitem[proven=('inside.0',)](%a, %k, %y)
      prim::Snapshot[at='after:2', names=('p0',)](%c)
      %q : int = py::sub(%i, %1)
      -> (%i, %q)
  prim::Snapshot[at='after:3', names=('n0.0', 'n0.1')](%m, %n)
  %r : int = py::add(%m, %n)
  return (%r)
"""
TWICE = """(%a, %i, %x)
      prim::Snapshot[at='after:4', names=('p0',)](%c)
      np::setitem(%a, %k, %y)"""
SUNK = """graph(%c : bool, %a : Float64(*), %k : int, %x : np.float64, %y : np.float64, %i : int):
  %0 : int = prim::Constant[value=1]()
  prim::Snapshot[at='before:0', names=('p0',)](%c)
  %m : int, %n : int, %x.1 : np.float64 = prim::If[is_erratic=True](%c)
    block0():
      %p : int = py::add(%i, %0)
      -> (%p, %i, %x)
    block1():
      %q : int = py::sub(%i, %0)
      -> (%i, %q, %y)
  np::setitem[proven=('inside.0',)](%a, %k, %x.1)
  prim::Snapshot[at='after:3', names=('n0.0', 'n0.1')](%m, %n)
  %r : int = py::add(%m, %n)
  return (%r)
"""


def test_what_is_stored_is_chosen():
    graph = parse(MERGE)
    assert run_passes(graph, "sink_stores")
    verify(graph)
    assert str(graph) == SUNK
    assert not run_passes(graph, "sink_stores")


def test_the_same_store_needs_no_choice():
    graph = parse(MERGE.replace("(%a, %k, %y)", "(%a, %k, %x)"))
    assert run_passes(graph, "sink_stores")
    verify(graph)
    assert str(graph).count("np::setitem") == 1
    assert "%m : int, %n : int = prim::If" in str(graph)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[is_erratic=True]", ""),  # a branch that is foretold leaves the choice out
        ("[proven=('inside.0',)](%a, %k, %y)", TWICE),
        ("(%a, %k, %y)", "(%a, %i, %y)"),  # two differ
        ("%q : int = py::sub(%i, %1)", "%z : np.float64 = np::getitem(%a, %1)\n      %q : int = py::sub(%i, %1)"),
        ("  prim::Snapshot[at='after:3', names=('n0.0', 'n0.1')](%m, %n)\n", ""),
        ("      -> (%i, %q)", "      return (%i)"),
    ],
)  # fmt: skip
def test_other_blocks_are_left_alone(before, after):
    text = MERGE.replace(before, after)
    assert text != MERGE
    graph = parse(text)
    expected = str(graph)
    assert not run_passes(graph, "sink_stores")
    assert str(graph) == expected


def test_objects_in_lists_stay_what_was_read():
    text = MERGE.replace("Float64(*)", "{}").replace("np.float64", "float")
    text = text.replace("np::setitem", "py::setitem").replace("('from_start.0', 'inside.0')", "()")
    text = text.replace("[proven=()]", "").replace("[proven=('inside.0',)]", "")
    seen, unseen = parse(text.format("List[float]")), parse(text.format("PrivateList[float]"))
    assert not run_passes(seen, "sink_stores")
    assert run_passes(unseen, "sink_stores")


CHOICES = """
graph(%c : bool, %d : bool, %a : Float64(*), %b : Uint8(*), %k : int, %x : np.float64, %i : int):
  %1 : int = prim::Constant[value=1]()
  prim::Snapshot[at='before:0', names=('p0',)](%c)
  prim::If(%c)
    block0():
      np::setitem(%a, %k, %x)
      prim::Snapshot[at='after:1', names=('p0',)](%c)
      -> ()
    block1():
      prim::If(%d)
        block0():
          %y : np.float64 = np::multiply(%x, %x)
          np::setitem(%a, %k, %y)
          prim::Snapshot[at='after:2', names=('p0',)](%c)
          -> ()
        block1():
          %z : np.float64 = np::add(%x, %x)
          np::setitem(%a, %k, %z)
          prim::Snapshot[at='after:3', names=('p0',)](%c)
          -> ()
      prim::Snapshot[at='after:4', names=('p0',)](%c)
      -> ()
  prim::Snapshot[at='after:5', names=('p0',)](%c)
  prim::If(%d)
    block0():
      np::setitem(%b, %k, %i)
      prim::Snapshot[at='after:6', names=('p0',)](%c)
      -> ()
    block1():
      np::setitem(%b, %k, %1)
      prim::Snapshot[at='after:7', names=('p0',)](%c)
      -> ()
  prim::Snapshot[at='after:8', names=('p0',)](%c)
  return (%c)
"""


def test_an_if_that_only_chooses_a_number_that_fits_stores_it_behind():
    graph = parse(CHOICES)
    assert run_passes(graph, "sink_stores")
    verify(graph)
    text = str(graph)
    assert text.count("np::setitem(%a") == 1  # behind two Ifs, one in the other
    assert text.count("np::setitem(%b") == 2  # %i may be no byte
    assert text.index("np::add") < text.index("np::setitem(%a") < text.index("'after:5'")


IS_OLD = False


def options(seen, engine):
    seen.add(engine)
    kind = "python" if engine != "," else "c"
    more = ["low"] if kind == "c" and IS_OLD else []
    return kind, more


def test_an_assumption_about_a_global_variable_is_no_store():
    """What is left of `kind == "c" and IS_OLD` is an If with nothing but the assumption in it."""
    fast = ljit.jit(options)
    for _ in range(4):
        assert fast(set(), ",") == ("c", [])
        assert fast(set(), "name") == ("python", [])
    assert len(fast.specializations) > 0
