"""Long graphs: the work of passes and the text for LLVM grow with their length, and nothing recurses along them."""

from __future__ import annotations

import sys

import pytest

from ljit.analysis import alias, ranges
from ljit.codegen import CompileOptions, build_module
from ljit.ir import Graph, parse
from ljit.passes import run_passes
from ljit.runtime.baseline import SPECIALIZED_PIPELINE

LENGTHS = (60, 120, 240)
STEPS_OF_A_CHECK = 20  # of all that is asked about it, where many have been asked before


def chain(length: int) -> Graph:
    """A loop whose trips compute so many ints from one another."""
    lines = [
        "graph(%n : int):",
        "  prim::Snapshot[at='before:0', names=('p0',)](%n)",
        "  %0 : int = prim::Constant[value=0]()",
        "  %c : int = prim::Constant[value=1000]()",
        "  %s : int, %t : int = prim::Loop(%0, %n, %0, %0)",
        "    block0(%i : int, %x0 : int, %y0 : int):",
        "      prim::Snapshot[at='header:1', names=('b1.0.0', 'b1.0.1', 'b1.0.2')](%i, %x0, %y0)",
    ]
    quarter = length // 4
    for at in range(quarter):
        lines += [
            f"      %z{at} : int = py::add(%x{at}, %i)",
            f"      %w{at} : int = py::add(%y{at}, %z{at})",
            f"      %y{at + 1} : int = py::mod(%w{at}, %c)",
            f"      %x{at + 1} : int = py::sub(%z{at}, %y{at + 1})",
        ]
    lines += [
        f"      -> (%x{quarter}, %y{quarter})",
        "  prim::Snapshot[at='after:1', names=('n1.0', 'n1.1')](%s, %t)",
        "  return (%s)",
    ]
    return parse("\n".join(lines))


def many_arrays(count: int) -> Graph:
    """So many arrays, all of which are read, written, and read again."""
    lines = [
        "graph(%n : int, %v : float):",
        "  %0 : int = prim::Constant[value=0]()",
        "  prim::Snapshot[at='before:0', names=('p0',)](%n)",
    ]
    for at in range(count):
        lines += [
            f"  %a{at} : Float64(*) = np::zeros(%n)",
            f"  %x{at} : np.float64 = np::getitem(%a{at}, %0)",
        ]
    for at in range(count):
        lines += [
            f"  np::setitem(%a{at}, %0, %v)",
            f"  %y{at} : np.float64 = np::getitem(%a{at}, %0)",
            f"  %z{at} : np.float64 = np::add(%x{at}, %y{at})",
        ]
    return parse("\n".join([*lines, "  return (%n)"]))


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> list[ranges.Ranges]:
    """All `Ranges` that are made from now on."""
    made: list[ranges.Ranges] = []
    init = ranges.Ranges.__init__

    def note(self: ranges.Ranges, *, has_exact_floats: bool = True) -> None:
        init(self, has_exact_floats=has_exact_floats)
        made.append(self)

    monkeypatch.setattr(ranges.Ranges, "__init__", note)
    return made


def test_no_pass_recurses_along_a_chain_of_operations():
    run_passes(chain(sys.getrecursionlimit()), SPECIALIZED_PIPELINE)


def test_proofs_look_at_few_polynomials_in_a_long_graph(known: list[ranges.Ranges]):
    steps = []
    for length in LENGTHS:
        known.clear()
        run_passes(chain(length), "eliminate_redundant_checks")
        steps.append(sum(found.proofs.steps for found in known))
    assert steps[0]
    assert steps[2] - steps[1] < STEPS_OF_A_CHECK * (LENGTHS[2] - LENGTHS[1])


def test_what_a_write_changes_is_found_by_the_uses_of_what_it_writes(
    monkeypatch: pytest.MonkeyPatch,
):
    asked: list[object] = []
    ask = alias.AliasInfo.may_alias
    monkeypatch.setattr(alias.AliasInfo, "may_alias", lambda *a: asked.append(a) or ask(*a))
    graph = many_arrays(60)
    run_passes(graph, "eliminate_common_subexpression")
    assert sum(node.op.name == "np::getitem" for node in graph.walk()) == 120
    assert len(asked) < 2 * 60


def test_the_text_for_llvm_grows_with_the_graph():
    lines = []
    for length in LENGTHS:
        graph = chain(length)
        run_passes(graph, SPECIALIZED_PIPELINE)
        text, _, _ = build_module(graph, name="chain", options=CompileOptions())
        lines.append(text.count("\n"))
    assert lines[2] - lines[1] <= 2.2 * (lines[1] - lines[0])
