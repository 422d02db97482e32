"""Functions that leave their work to loop nests are compiled without optimising, others are not."""

from __future__ import annotations

import re

import numpy as np

import ljit
from ljit import config
from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder, integer
from ljit.codegen.llvm.engine import vector_bytes
from ljit.codegen.llvm.partition import partition
from ljit.codegen.loops.nest_functions import leaves_work_to_nests


def a_loop(f: FunctionBuilder, inside: object = None, depth: int = 1) -> None:
    header, trip, after = f.new_block("loop"), f.new_block("trip"), f.new_block("done")
    before = f.br(header)
    f.start(header)
    k = f.phi("i64")
    k.add(integer("i64", 0), before)
    f.condbr(f.icmp("slt", k, f.params[0]), trip, after)
    f.start(trip)
    if depth > 1:
        a_loop(f, inside, depth - 1)
    elif inside is not None:
        inside(f)  # type: ignore[operator]
    k.add(f.add(k, integer("i64", 1)), f.br(header))
    f.start(after)


def a_function() -> FunctionBuilder:
    return ModuleBuilder("test").function("f", "void", ["i64"])


def call_nest(f: FunctionBuilder) -> None:
    f.call("void", "nest.0", [])


def call_nest_now_and_then(f: FunctionBuilder) -> None:
    yes, after = f.new_block("yes"), f.new_block("after")
    f.condbr(f.icmp("eq", f.params[0], integer("i64", 3)), yes, after)
    f.start(yes)
    call_nest(f)
    f.br(after)
    f.start(after)


def test_a_function_that_calls_nests_in_a_row_leaves_its_work_to_them() -> None:
    f = a_function()
    call_nest(f)
    assert leaves_work_to_nests(f.blocks)


def test_a_function_without_nests_does_its_work_itself() -> None:
    assert not leaves_work_to_nests(a_function().blocks)


def test_loops_around_nests_leave_their_work_to_them() -> None:
    f = a_function()
    a_loop(f, call_nest, depth=3)
    assert leaves_work_to_nests(f.blocks)


def test_a_loop_beside_nests_does_work_itself() -> None:
    f = a_function()
    call_nest(f)
    a_loop(f)
    assert not leaves_work_to_nests(f.blocks)


def test_a_loop_within_a_loop_around_nests_does_work_itself() -> None:
    def both(f: FunctionBuilder) -> None:
        call_nest(f)
        a_loop(f)

    f = a_function()
    a_loop(f, both, depth=2)
    assert not leaves_work_to_nests(f.blocks)


def test_a_loop_that_calls_a_nest_in_some_trips_does_work_itself() -> None:
    f = a_function()
    a_loop(f, call_nest_now_and_then)
    assert not leaves_work_to_nests(f.blocks)


def test_much_arithmetic_between_nests_is_work() -> None:
    f = ModuleBuilder("test").function("f", "void", ["double"])
    x = f.params[0]
    for _ in range(50):
        x = f.binary("fmul", x, x)
    f.call("void", "nest.0", [])
    assert not leaves_work_to_nests(f.blocks)


def test_calls_of_elementary_functions_count_as_arithmetic() -> None:
    f = ModuleBuilder("test").function("f", "void", ["double"])
    x = f.params[0]
    for name in ("llvm.sqrt.f64", "shared.exp.double") * 25:
        x = f.call_external("double", name, (x,))
    f.call("void", "nest.0", [])
    assert not leaves_work_to_nests(f.blocks)


@ljit.jit
def smoothed(a: np.ndarray, steps: int) -> np.ndarray:
    for _ in range(steps):
        a[1:-1] = (a[:-2] + a[2:]) * 0.5
    return a


@ljit.jit
def total(a: np.ndarray) -> float:
    s = 0.0
    for x in a:
        s += x * x
    return s


def optimised(f: object, *args: object) -> str:
    f(*args)  # type: ignore[operator]
    f(*args)  # type: ignore[operator]
    return partition(f.dump_llvm())[0]  # type: ignore[attr-defined]


def test_time_steps_over_arrays_are_not_optimised_but_their_nests_are() -> None:
    text = optimised(smoothed, np.arange(99.0), 3)
    assert re.search(r"^define .*void @nest\.", text, re.MULTILINE)
    assert "define internal ptr @ljit_entry.body(" not in text


def test_a_loop_over_elements_is_optimised() -> None:
    assert "@ljit_entry.body(" in optimised(total, np.arange(99.0))


@ljit.jit
def decayed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a * np.exp(-b)


def test_what_puts_elements_with_gaps_side_by_side_is_not_optimised_but_the_loop_over_them_is() -> (
    None
):
    a, b = np.arange(60.0).reshape(4, 15)[:, ::3], np.arange(20.0).reshape(5, 4).T
    text = optimised(decayed, a, b)
    names = re.findall(r"^define \S* ?void @(nest\.\d+)\(", text, flags=re.MULTILINE)
    whole = re.findall(
        r"^define internal void @(nest\.\d+)\(", decayed.dump_llvm(), flags=re.MULTILINE
    )
    assert names
    assert set(names) < set(whole)
    assert "@shared.exp.double(" in text
    np.testing.assert_allclose(decayed(a, b), a * np.exp(-b), rtol=4e-16)


def shares(a: np.ndarray) -> np.ndarray:
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def borders(a, b):
    b[:, :2] = a[:, :2]


def product(a, b):
    return a @ b


def test_what_hands_on_to_code_of_all_units_is_not_optimised() -> None:
    a = np.arange(3600.0).reshape(60, 60)
    with config.overridden(cold_calls=False, quick_runs=0):
        moving, multiplying = ljit.jit(borders), ljit.jit(product)
        for _ in range(3):
            b = np.zeros_like(a)
            moving(a, b)
            assert (b[:, :2] == a[:, :2]).all()
            assert (b[:, 2:] == 0).all()
            assert (multiplying(a, a) == a @ a).all()
    heads = re.findall(r"^define .*@nest\..*", moving.dump_llvm(optimized=False), re.MULTILINE)
    assert any("optnone" in head for head in heads)
    heads = re.findall(r"^define internal .*", multiplying.dump_llvm(optimized=False), re.MULTILINE)
    assert heads
    assert all("optnone" in head for head in heads)


def test_vectors_that_are_kept_on_the_stack_lie_within_lines_of_the_cache():
    compiled, a = ljit.jit(shares), np.ones((40, 1000), np.float32)
    for _ in range(3):
        compiled(a)
    register = "zmm" if vector_bytes() == 64 else "ymm"
    kept = re.findall(rf"(vmovups|vmovaps)\s+%{register}\d+, \d*\(%rsp\)", compiled.dump_asm())
    assert kept and set(kept) == {"vmovaps"}
