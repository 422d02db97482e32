"""Quick code is short: what need not be written is not, and nothing is written twice."""

from __future__ import annotations

from ljit.codegen import CompileOptions
from ljit.codegen.unit import build_module
from ljit.ir import parse

SUM = """
  %{k} : Float64(*) = prim::Map[into=0](%a, %b)
    block0(%x{k} : np.float64, %y{k} : np.float64):
      %z{k} : np.float64 = np::add(%x{k}, %y{k})
      -> (%z{k})"""


def text_of(graph: str, **options: object) -> str:
    text, _, _ = build_module(parse(graph), name="f", options=CompileOptions(**options))
    return text


def sums(count: int) -> str:
    names = [f"s{k}" for k in range(count)]
    types = ", ".join(["Float64(*)"] * count)
    return (
        "graph(%a : Float64(*), %b : Float64(*)):\n"
        "  prim::Snapshot[at='before:1', names=('a', 'b')](%a, %b)"
        + "".join(SUM.replace("{k}", name) for name in names)
        + f"\n  %all : ({types}) = prim::TupleConstruct({', '.join('%' + n for n in names)})"
        + "\n  return (%all)\n"
    )


def test_quick_code_of_short_arrays_has_its_nests_where_they_stand() -> None:
    assert "@nest." not in text_of(sums(2), quick_work=1000)


def test_nests_of_optimised_code_and_of_longer_arrays_are_functions() -> None:
    assert text_of(sums(2)).count("call void @nest.0(") == 2
    assert text_of(sums(2), quick_work=1000, has_lanes=True).count("call void @nest.0(") == 2


def test_many_equal_nests_are_one_function_in_quick_code() -> None:
    text = text_of(sums(10), quick_work=1000)
    assert text.count("define internal void @nest.") == 1
    assert text.count("call void @nest.0(") == 10
