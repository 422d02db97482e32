"""Ifs both sides of which are computed: their checks count only where the condition chooses the side."""

import ctypes

import pytest

from ljit.analysis.branch_histories import BranchHistories
from ljit.codegen.scalars import speculation
from ljit.ir import parse
from ljit.ops.control import IF
from tests.codegen.harness import Bailed, Compiled

MOST = 2**63 - 1

CHOICE = """
graph(%x : int, %y : int):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%x, %y)
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %end : int = prim::Loop(%0, %1, %x)
    block0(%k : int, %v : int):
      prim::Snapshot[at='header:1', names=('b1.0.1',)](%v)
      %odd : int = py::and(%v, %1)
      %c : bool = py::eq(%odd, %0)
      %r : int = prim::If(%c)
        block0():
          %s : int = py::add(%v, %v)
          %t : int = py::mul(%s, %y)
          -> (%t)
        block1():
          %d : int = py::sub(%v, %y)
          -> (%d)
      -> (%r)
  return (%end)
"""


def expected(x, y):
    return x - y if x % 2 else 2 * x * y


def test_both_sides_are_computed_and_one_is_taken():
    f = Compiled(CHOICE)
    for x, y in [(2, 5), (7, 5), (5, 5), (-4, -3), (0, MOST)]:
        assert f(x, y) == expected(x, y)
    assert "then." not in f.code.ir
    assert "select i1" in f.code.ir


@pytest.mark.parametrize("chaos", [False, True])
@pytest.mark.parametrize(
    ("x", "y"), [(MOST, 1), (2**62 + 1, 3), (-(2**62), 1), (-3, MOST), (2**62, 3), (2**61, 2)]
)
def test_only_the_checks_of_the_side_that_is_taken_leave(x, y, chaos):
    f = Compiled(CHOICE, chaos=chaos)
    result = expected(x, y)
    if -MOST - 1 <= result <= MOST:
        assert f(x, y) == result
        return
    with pytest.raises(Bailed) as caught:
        f(x, y)
    assert (caught.value.at, caught.value.reason) == ("header:1", "int overflow")
    assert caught.value.values == {"b1.0.1": x}


@pytest.mark.parametrize("chaos", [False, True])
def test_the_check_that_has_failed_is_named(chaos):
    failed = []
    f = Compiled(CHOICE, helper=lambda _exit, site, _values: failed.append(site), chaos=chaos)
    f(2**62, 2**62)
    f(2**61, 2**62)
    f(6 - MOST, MOST)
    assert len(set(failed)) == 3 == len(failed)
    f(2**62, 3)
    f(2**60, 2**62)
    f(8 - MOST, MOST)
    assert failed[:3] == failed[3:]


PROVEN = """
graph(%x : int, %y : int):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%x, %y)
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %end : int = prim::Loop(%0, %1, %x)
    block0(%k : int, %v : int):
      prim::Snapshot[at='header:1', names=('b1.0.1',)](%v)
      %odd : int = py::and(%v, %1)
      %c : bool = py::eq(%odd, %0)
      %r : int = prim::If(%c)
        block0():
          %s : int = py::add[proven=('fits',)](%v, %1)
          %t : int = py::mul(%s, %y)
          -> (%t)
        block1():
          -> (%y)
      -> (%r)
  return (%end)
"""


def test_what_is_proven_of_one_side_need_not_hold_on_the_other():
    f = Compiled(PROVEN)
    assert "then." not in f.code.ir
    assert [f(2, 5), f(MOST, MOST), f(MOST, 3), f(MOST, -MOST)] == [15, MOST, 3, -MOST]
    with pytest.raises(Bailed):
        f(2**62, 2**62 + 1)


@pytest.mark.parametrize(
    "change",
    [
        ("py::and(%v, %1)", "py::or(%v, %1)"),  # has many values
        ("py::and(%v, %1)", "py::and(%k, %1)"),  # a count
        ("py::sub(%v, %y)", "py::floordiv(%v, %y)"),  # not in vain
    ],
)
def test_other_conditions_and_sides_are_branches(change):
    assert "then." in Compiled(CHOICE.replace(*change)).code.ir


def test_the_condition_is_looked_at_for_sides_that_may_both_be_computed_only(monkeypatch):
    asked = []
    monkeypatch.setattr(speculation, "_is_erratic", lambda condition: asked.append(condition))
    for text, count in ((PROVEN, 1), (PROVEN.replace("py::mul(", "py::floordiv("), 0)):
        (choice,) = (node for node in parse(text).walk() if node.op is IF)
        speculation.is_choice(choice)
        assert len(asked) == count
        asked.clear()


# -- branches that go either way -------------------------------------------------------------------

BRANCH = CHOICE.replace("py::and(%v, %1)", "py::or(%v, %1)")
UNPREDICTABLE = "!unpredictable"


def test_a_branch_that_goes_either_way_is_a_choice():
    text = BRANCH.replace("prim::If(", "prim::If[is_erratic=True](")
    branch, choice = Compiled(BRANCH), Compiled(text)
    assert "then." in branch.code.ir and UNPREDICTABLE not in branch.code.ir
    assert "then." not in choice.code.ir and UNPREDICTABLE in choice.code.ir
    for x, y in [(2, 5), (7, 5), (-4, -3), (1, MOST)]:
        assert branch(x, y) == choice(x, y) == x - y


def test_a_branch_that_cannot_be_a_choice_is_marked_for_llvm():
    text = BRANCH.replace("py::sub(%v, %y)", "py::floordiv(%v, %y)")
    f = Compiled(text.replace("prim::If(", "prim::If[is_erratic=True]("))
    (line,) = (line for line in f.code.ir.splitlines() if UNPREDICTABLE in line)
    assert "br i1" in line and "then." in f.code.ir


CHANGES = """
graph(%x : int, %n : int):
  prim::Snapshot[at='before:0', names=('p0', 'p1')](%x, %n)
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %c0 : bool = py::lt(%x, %0)
  %y : int = prim::If(%c0)
    block0():
      -> (%0)
    block1():
      -> (%x)
  %end : int = prim::Loop(%0, %n, %0)
    block0(%k : int, %v : int):
      prim::Snapshot[at='header:1', names=('b1.0.0', 'b1.0.1')](%k, %v)
      %bit : int = py::rshift(%y, %k)
      %odd : int = py::and(%bit, %1)
      %c : bool = py::eq(%odd, %1)
      %r : int = prim::If(%c)
        block0():
          %s : int = py::add(%v, %1)
          -> (%s)
        block1():
          -> (%v)
      -> (%r)
  return (%end)
"""


def test_quick_code_notes_how_branches_in_loops_go():
    histories = BranchHistories()
    f = Compiled(CHANGES, branches=histories, quick_work=10**6)
    assert f(0b1011, 4) == 3
    (name,) = histories.names.values()
    (choice,) = (n for n in f.graph.walk() if n.op is IF and list(n.owners()))
    assert name == f"outcomes of {choice.origin}"
    (place,) = histories.names
    word = ctypes.c_uint64.from_address(place)
    assert word.value == 0b1_1101
    assert f(0b1011, 2) == 2
    assert word.value == 0b1_1101_11
    assert name in f.code.shown(f.code.ir)
