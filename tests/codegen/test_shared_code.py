"""Functions that do not depend on the program are compiled once in a process."""

from __future__ import annotations

import numpy as np

import ljit
from ljit.codegen.llvm import shared_code


def one(a, mask, places):
    return a[mask], a[places], a.argmin()


def another(a, mask, places):
    return a[places] + 1.0, a[mask].size, a.argmin()


def run(function):
    a = np.arange(90.0)[::-1].copy()
    operands = a, a > 40.0, np.array([3, -1, 50] * 20)
    compiled = ljit.jit(function)
    for _ in range(3):
        for expected, given in zip(function(*operands), compiled(*operands), strict=True):
            np.testing.assert_array_equal(given, expected)
    return compiled.dump_llvm(*operands)


def test_two_programs_share_the_functions_for_masks_places_and_extrema():
    first = run(one)
    known = dict(shared_code._compiled)
    second = run(another)
    assert known.items() <= shared_code._compiled.items()
    names = [name for name in known if name.startswith(("mask.", "gather.", "least."))]
    assert {name.partition(".")[0] for name in names} == {"mask", "gather", "least"}
    for text in (first, second):
        assert "define internal void @mask" not in text
        address = shared_code._compiled["least.u.double"].address
        assert str(address) in text


def test_the_address_of_a_function_stays_the_same():
    def write(module):
        module.define("test.nine", "define i64 @test.nine() {\n  ret i64 9\n}")

    first = shared_code.shared_function("test.nine", write)
    assert shared_code.shared_function("test.nine", write) == first
    assert shared_code.is_shared("test.", first)
    assert not shared_code.is_shared("other.", first)
