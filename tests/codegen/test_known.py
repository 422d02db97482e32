"""What branches and checks say of conditions is not asked again in the code behind them."""

from __future__ import annotations

import numpy as np

import ljit
from ljit.codegen.llvm.builder import FALSE, TRUE, ModuleBuilder
from ljit.testing.chaos import fail_each_guard


def test_a_condition_is_known_in_the_blocks_behind_its_branch_only():
    f = ModuleBuilder("m").function("f", "void", ("i1",))
    (c,) = f.params
    opposite = f.bool_not(c)
    yes, no, after = f.new_block("yes"), f.new_block("no"), f.new_block("after")
    assert f.known.look_up(c, f.block) is c
    f.condbr(c, yes, no)
    for side, truth in ((yes, True), (no, False)):
        f.start(side)
        f.known.note(c, side, truth=truth)
        assert f.known.look_up(c, f.block) is (TRUE if truth else FALSE)
        assert f.known.look_up(opposite, f.block) is (FALSE if truth else TRUE)
        f.br(after)
    f.start(after)
    assert f.known.look_up(c, f.block) is c
    assert f.known.look_up(opposite, f.block) is opposite
    f.ret()


def test_the_opposite_of_an_opposite_is_the_condition():
    f = ModuleBuilder("m").function("f", "void", ("i1",))
    assert f.bool_not(f.bool_not(f.params[0])) is f.params[0]
    f.ret()


def last_values(coefficients, xs):
    out = np.empty_like(xs)
    for i in range(len(xs)):
        r = 0.0
        for c in coefficients:
            r = r * xs[i] + c
        out[i] = r
    return out


def test_a_union_whose_member_was_asked_for_needs_no_check_and_stays_right_when_checks_fail():
    f = ljit.jit(last_values)
    a, none, xs = np.arange(4.0), np.zeros(0), np.arange(20.0)
    for _ in range(3):
        assert np.array_equal(f(a, xs), last_values(a, xs))
        assert np.array_equal(f(none, xs), np.zeros(20))
    assert f.explain().count("not float") == 0
    for _site in fail_each_guard(f):
        assert np.array_equal(f(a, xs), last_values(a, xs))
        assert np.array_equal(f(none, xs), np.zeros(20))
