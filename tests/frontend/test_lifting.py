"""Which nested functions become functions of their own, and with which parameters."""

from __future__ import annotations

import pytest

from ljit.frontend.lifting.lifting import lift_nested
from tests.frontend.harness import function_of


def text_of(
    before: str = "x = 1", go: str = "return go(k - x)", after: str = "return go(n)"
) -> str:
    lines = [*before.split("; "), "def go(k):", *(f"    {line}" for line in go.split("; "))]
    return "def f(n):\n" + "\n".join(f"    {line}" for line in (*lines, *after.split("; ")))


def test_what_is_read_of_the_function_around_comes_first() -> None:
    lifted = lift_nested(function_of(text_of("x = 1; y = 2", "return go(k - x) + y")))
    assert lifted is not None
    go = lifted.__closure__[0].cell_contents  # type: ignore[index]  # it has one
    assert go.__code__.co_varnames == ("x", "y", "k")
    assert go.__qualname__ == "f.<locals>.go"
    assert go.__code__.co_firstlineno == 4


def test_what_others_read_is_passed_on() -> None:
    text = """def f(x, y):
    def first(k): return second(k) + x
    def second(k): return third(k, 1) if k else 0
    def third(k, by=2): return first(k - by) * y
    return second(3)"""
    lifted = lift_nested(function_of(text))
    assert lifted is not None
    functions = [cell.cell_contents for cell in lifted.__closure__ or ()]
    assert [f.__code__.co_varnames for f in functions] == [("x", "y", "k")]
    third = functions[0].__closure__[0].cell_contents
    assert third.__code__.co_varnames == ("x", "y", "k", "by")
    assert third.__defaults__ == (2,)


def test_what_is_bound_again_is_in_a_list() -> None:
    text = text_of("x = 1; d = []", "nonlocal x; x += k; d.append(k); return go(k - 1) if k else x")
    lifted = lift_nested(function_of(text))
    assert lifted is not None
    go = lifted.__closure__[0].cell_contents  # type: ignore[index]  # it has one
    shared, seen = [10], []
    assert go(seen, shared, 2) == 13
    assert (shared, seen) == ([13], [2, 1, 0])
    assert lifted(3) == function_of(text)(3)


@pytest.mark.parametrize(
    "text",
    [
        text_of(go="return k - x"),
        text_of(after="return list(map(go, [n]))"),
        text_of(after="go = 1; return go"),
        text_of(after="return go(*[n])"),
        text_of(after="return go(n, 1)"),
        text_of(after="return go(j=n)"),
        text_of(after="yield go(n)"),
        text_of(before="pass", after="x = 1; return go(n)").replace("x = 1", "y = go(1); x = 1"),
        text_of(before="for x in range(n): pass"),
        text_of(before="x = 1; del x; x = 2"),
        text_of(before="import math as x", go="nonlocal x; return go(k)"),
        text_of(before="pass", after="y = go(1); import math as x; return y"),
        text_of(go="return go(k - x) + len(locals())"),
        text_of(go="return go([x for x in range(k)]) + x"),
        text_of(go="return go((lambda x: x)(k)) + x"),
        text_of(go="return go(lambda: x)", after="x = 2; return go(n)"),
        text_of(go="nonlocal x; x = go(k)", before="if n: x = 1"),
        text_of().replace("def go(k)", "def go(*k)"),
        text_of().replace("def go(k)", "def go(k=[])"),
        text_of().replace("    def go(k)", "    @print\n    def go(k)"),
    ],
)
def test_what_may_not_mean_the_same_stays(text: str) -> None:
    assert lift_nested(function_of(text)) is None
