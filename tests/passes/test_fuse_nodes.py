"""Which graphs hold array work."""

from __future__ import annotations

import pytest

from ljit.ir import parse
from ljit.passes.fusion.fuse_nodes import has_nests


def graph_of(statement: str) -> str:
    return f"graph(%m : Float64(*, *), %v : Float64(*), %i : int, %x : float):\n  {statement}\n  return (%x)\n"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("np::setitem(%v, %i, %x)", False),  # an element
        ("%e : np.float64 = np::getitem(%v, %i)", False),
        ("%y : float = py::add(%x, %x)", False),
        ("np::setitem(%m, %i, %x)", True),  # a row
        ("np::setitem(%m, %i, %v)", True),
        ("%r : Float64(*) = np::getitem(%m, %i)", True),
        ("np::assign(%v, %x)", True),
        ("%w : Float64(*) = np::sqrt(%v)", True),
        ("%s : np.float64 = np::sum(%v)", True),
    ],
)
def test_single_elements_are_no_array_work(statement, expected):
    assert has_nests(parse(graph_of(statement))) is expected
