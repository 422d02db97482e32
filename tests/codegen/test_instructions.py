"""Instructions read again: each form that the builder writes, and none that it does not."""

from __future__ import annotations

import pytest

from ljit.codegen.llvm.builder import ModuleBuilder, Ref, integer
from ljit.codegen.llvm.instructions import (
    Call,
    Load,
    Operation,
    Place,
    Store,
    callee_of,
    intrinsic_of,
    number_types,
    operand_names,
    read,
    with_operands,
)


def written(write) -> str:
    """The one line that `write` adds to a function with a pointer, a double and an index."""
    f = ModuleBuilder("test").function("f", "void", ["ptr", "double", "i64"])
    write(f, *f.params)
    assert f.block is not None
    (line,) = f.block.lines
    return line


READ = {
    "a place": (lambda f, p, x, k: f.gep("[8 x i8]", p, k), Place("%v2", 8, "%a0", "%a2")),
    "a load": (
        lambda f, p, x, k: f.load("double", p, 8),
        Load("%v2", "double", "%a0", ", align 8"),
    ),
    "a store": (lambda f, p, x, k: f.store(x, p, 8), Store("double", "%a1", "%a0", ", align 8")),
    "a call": (
        lambda f, p, x, k: f.call_external("double", "llvm.fabs.f64", [x]),
        Call("%v2", "", "double", "llvm.fabs.f64", "double %a1"),
    ),
    "an operation": (
        lambda f, p, x, k: f.binary("add", k, integer("i64", -3), "nsw"),
        Operation("%v2", "add", "nsw i64 %a2, -3"),
    ),
}


@pytest.mark.parametrize(("write", "wanted"), READ.values(), ids=READ)
def test_what_the_builder_writes_is_read(write, wanted):
    assert repr(read(written(write))) == repr(wanted)


@pytest.mark.parametrize(
    "line",
    [
        "store atomic i64 0, ptr %p seq_cst, align 8",
        "%x = load volatile i8, ptr %p",
        "%p = getelementptr i8, ptr %a, i64 %k",
        "%x = call double %f(double %y)",
        "call void @f()",
        "br label %b.1",
    ],
)
def test_other_forms_are_not(line):
    assert read(line) is None


@pytest.mark.parametrize(
    ("line", "callee"),
    [
        ("%x = call double @llvm.fabs.f64(double %y) nounwind", "@llvm.fabs.f64"),
        ("call void @nest.3(ptr %a, i64 %n)", "@nest.3"),
        ("%x = call ptr (ptr, ptr, ...) @Py_BuildValue(ptr %a)", "@Py_BuildValue"),
        ("%x = call i32 inttoptr (i64 4096 to ptr)(ptr @flag)", "inttoptr (i64 4096 to ptr)"),
        ("%x = call i64 %v3(ptr %a)", "%v3"),
        ('call void asm sideeffect "", ""()', ""),
        ("%x = fadd double %y, %z", None),
    ],
)
def test_the_callee_of_a_line(line, callee):
    assert callee_of(line) == callee


def test_operands_of_a_line_are_found_and_renamed():
    line = "%x = select i1 %c, double %y, double %y"
    assert operand_names(line) == ["%c", "%y", "%y"]
    assert number_types(line) == {"i1", "double"}
    assert number_types("%p = getelementptr inbounds [8 x i8], ptr %a, i64 %k") == set()
    assert intrinsic_of("llvm.smax.i64") == ("smax", "i64")
    assert intrinsic_of("shared.exp.double") is None

    def renamed(text):
        return with_operands(text, lambda t: f"<2 x {t}>", lambda t, x: f"{t}({x})")

    assert renamed("nsw i64 %a, -3") == "nsw <2 x i64> i64(%a), i64(-3)"
    assert renamed("i1 true, double 0x3FF0, double %v1") == (
        "<2 x i1> i1(true), <2 x double> double(0x3FF0), <2 x double> double(%v1)"
    )
    assert renamed("ptr %p to i64") is None


def test_addresses_are_no_operands_of_numbers():
    assert callee_of(written(lambda f, p, x, k: f.call("void", "f", [Ref("ptr", "@data")]))) == "@f"
