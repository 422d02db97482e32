"""What facts prove of ints, and how far a proof looks."""

from ljit.analysis.ranges import Ranges
from ljit.ir import parse
from ljit.ir.linear import Linear


def ints(count: int) -> tuple[Ranges, list[Linear]]:
    """Give so many ints that nothing is known of."""
    params = ", ".join(f"%x{i} : int" for i in range(count))
    graph = parse(f"graph({params}):\n  return (%x0)\n")
    known = Ranges()
    return known, [known.value(param) for param in graph.params]


def test_sums_of_facts_prove():
    known, (x, y, z) = ints(3)
    known.assume(y - x)
    known.assume(z - y - 1)
    assert known.proves(z - x - 1)
    assert not known.proves(z - x - 2)
    assert not known.proves(x - z)


def test_a_bound_of_an_int_proves_with_facts_of_others():
    known, (x, y, z) = ints(3)
    known.assume(x - 3)
    known.assume(y - x * 2)
    known.assume(-z)
    assert known.proves(y - z - 6)
    assert not known.proves(y - z - 7)


def test_a_proof_does_not_look_behind_ints_without_a_limit():
    known, (x, *others) = ints(20)
    for other in others:
        known.assume(other - x)
    assert not known.proves(-x)
    assert known.proofs.steps == 1
    assert known.least_without(-x, lambda atom: True) is None
    assert known.proofs.steps == 2


def test_short_proofs_are_found_before_long_ways_are_followed():
    known, (x, z, *others) = ints(12)
    known.assume(z - x)
    for at, other in enumerate(others):
        known.assume(z - other)
        for further in others[at + 1 :]:
            known.assume(other - further)
    assert known.proves(z - x)
    assert known.proofs.steps == 1


def test_a_proof_ends_with_the_sum_that_it_needs(monkeypatch):
    known, (x, y, *others) = ints(12)
    for other in others:
        known.assume(x - other)
    known.assume(x - y)  # what was learnt last comes first
    made, less = [], Linear.less
    monkeypatch.setattr(Linear, "less", lambda *parts: made.append(parts) or less(*parts))
    assert known.proofs.finds(Linear(0, {**x.terms, **(-y).terms}))
    assert len(made) == 1


def test_a_product_may_be_limited_where_its_factors_are_not():
    known, (x, y, z) = ints(3)
    known.assume(x - 1)
    known.assume(y)
    known.assume(y * x - z)
    assert known.proves(y * x - z)
    known.assume(z - y)
    assert known.proves(y * x - y)


CHAINED = """graph(%low : int, %x : int, %high : int):
  %0 : bool = py::le(%low, %x)
  %1 : bool = prim::If(%0)
    block0():
      %2 : bool = py::lt(%x, %high)
      -> (%2)
    block1():
      -> (%0)
  %3 : bool = prim::If(%0)
    block0():
      -> (%0)
    block1():
      %4 : bool = py::lt(%x, %high)
      -> (%4)
  %5 : (bool, bool) = prim::TupleConstruct(%1, %3)
  return (%5)
"""


def test_a_chain_of_comparisons_says_what_each_of_them_says():
    graph = parse(CHAINED)
    low, x, high = graph.params
    both, either = next(
        node for node in graph.walk() if node.op.name == "prim::TupleConstruct"
    ).inputs
    for condition, holds, facts in (
        (both, True, 2),
        (either, False, 2),
        (both, False, 0),
        (either, True, 0),
    ):
        known = Ranges()
        implied = list(known.implied(condition, holds=holds))
        assert len(implied) == facts
        for fact in implied:
            known.assume(fact)
        at_least, below = known.value(x) - known.value(low), known.value(high) - 1 - known.value(x)
        assert known.proves(at_least) == (holds and facts > 0)
        assert known.proves(below) == (holds and facts > 0)


def test_a_proof_looks_at_few_of_many_facts(monkeypatch):
    known, (x, *others) = ints(400)
    for other in others:
        known.assume(x - other)
    steps = []
    less = Linear.less
    monkeypatch.setattr(Linear, "less", lambda *args: steps.append(args) or less(*args))
    assert not known.proves(x - 1)
    assert known.least_without(x - 1, lambda atom: True) is None
    assert 0 < len(steps) < 100
