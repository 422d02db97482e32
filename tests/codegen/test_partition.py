"""Modules in two parts: what is optimised, and what is compiled quickly."""

from __future__ import annotations

import ctypes

from ljit.codegen.llvm.engine import compile_ir
from ljit.codegen.llvm.partition import partition

MODULE = """source_filename = "m"
@count = global i64 0
@table = private unnamed_addr constant [2 x i64] [i64 30, i64 12]
@unused = private unnamed_addr constant [1 x i64] [i64 1]
declare ptr @PyLong_FromLongLong(i64) nounwind
define internal i64 @item(i64 %i) noinline optnone willreturn {
  %place = getelementptr i64, ptr @table, i64 %i
  %x = load i64, ptr %place, !range !1
  %n = load i64, ptr @count
  %more = add i64 %n, 1
  store i64 %more, ptr @count
  ret i64 %x
}
define internal i64 @both(i64 %i) nounwind {
  %x = call i64 @item(i64 %i)
  %y = call i64 @item(i64 0)
  %z = add i64 %x, %y
  ret i64 %z
}
define i64 @entry(i64 %i) nounwind noinline optnone {
  %x = call i64 @both(i64 %i)
  ret i64 %x
}
!0 = !{i64 5}
!1 = !{i64 0, i64 100}
"""


def test_a_module_without_quick_functions_stays_whole():
    text = "define i64 @f() {\n  ret i64 1\n}\n"
    assert partition(text) == (text, "")


def test_each_part_defines_its_functions_and_declares_those_of_the_other():
    main, quick = partition(MODULE)
    assert "define i64 @both(i64 %i) nounwind {" in main  # no longer internal
    assert "declare i64 @item(i64) nounwind willreturn\n" in main
    assert "define i64 @item" in quick
    assert "declare i64 @both(i64) nounwind" in quick
    assert "define i64 @entry" in quick


def test_variables_are_defined_once_and_what_is_not_used_is_left_out():
    main, quick = partition(MODULE)
    assert "@count = global i64 0" in main
    assert "@count = external global i64" in quick
    assert "@table" in quick
    assert "@table" not in main
    assert "@unused" not in main + quick
    assert "!1 =" in quick
    assert "!0 =" not in main + quick


def test_the_parts_run_as_one_module():
    compiled = compile_ir(MODULE, "entry", exports=("count",))
    entry = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(compiled.address)
    assert entry(1) == 42
    assert entry(0) == 60
    assert ctypes.c_int64.from_address(compiled.symbol("count")).value == 4
    assert "call" in compiled.asm()
    assert "@both" in compiled.optimized_ir()


def test_what_is_put_in_the_place_of_calls_is_in_the_parts_that_call_it():
    module = MODULE.replace(
        "define i64 @entry",
        "define internal i64 @same(i64 %i) alwaysinline {\n  %x = call i64 @other(i64 %i)\n  ret i64 %x\n}\n"
        "define internal i64 @other(i64 %i) alwaysinline {\n  ret i64 %i\n}\n"
        "define i64 @entry",
    )
    main, quick = partition(module.replace("@both(i64 %i)\n", "@same(i64 %i)\n"))
    assert "@same" not in main + partition(module)[1]
    assert "define internal i64 @same" in quick
    assert "define internal i64 @other" in quick
    main, quick = partition(module.replace("@item(i64 0)", "@same(i64 0)"))
    assert "define internal i64 @other" in main
    assert "@other" not in quick


def test_what_is_put_in_the_place_of_calls_may_be_in_both_parts():
    same = "define internal i64 @same(i64 %i) alwaysinline {\n  ret i64 %i\n}\n"
    body = "define internal i64 @both(i64 %i) nounwind {\n  %s = call i64 @same(i64 %i)\n"
    item = "optnone willreturn {\n  %s = call i64 @same(i64 %i)\n"
    text = MODULE.replace("define i64 @entry", f"{same}define i64 @entry")
    text = text.replace("define internal i64 @both(i64 %i) nounwind {\n", body)
    text = text.replace("optnone willreturn {\n", item)
    assert all("define internal i64 @same" in part for part in partition(text))
    compiled = compile_ir(text, "entry", exports=("count",))
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(compiled.address)(1) == 42
