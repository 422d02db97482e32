"""LLVM's settings: ours while our code is compiled, LLVM's own for everybody else in the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The same module of loops, compiled by the host's target machine as another user of llvmlite would.
_OTHER = '''
import llvmlite.binding as llvm
import numpy as np

LOOPS = """
define void @sieve(ptr %flags, i64 %step, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ %step, %entry ], [ %next, %loop ]
  %j = mul i64 %i, 3
  %p = getelementptr i8, ptr %flags, i64 %i
  %q = getelementptr i32, ptr %flags, i64 %j
  store i8 1, ptr %p
  store i32 7, ptr %q
  %next = add i64 %i, %step
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret void
}
define double @sums(ptr %a, ptr %b, i64 %rows, i64 %columns, i64 %step) {
entry:
  br label %row
row:
  %i = phi i64 [ 0, %entry ], [ %i.next, %row.end ]
  %s.row = phi double [ 0.0, %entry ], [ %s.next, %row.end ]
  %first = mul i64 %i, %columns
  br label %column
column:
  %j = phi i64 [ 0, %row ], [ %j.next, %column ]
  %s = phi double [ %s.row, %row ], [ %s.next, %column ]
  %at = add i64 %first, %j
  %k = mul i64 %j, %step
  %p = getelementptr double, ptr %a, i64 %at
  %q = getelementptr double, ptr %b, i64 %k
  %x = load double, ptr %p
  %y = load double, ptr %q
  %xy = fmul double %x, %y
  store double %xy, ptr %p
  %s.next = fadd double %s, %xy
  %j.next = add i64 %j, 1
  %j.more = icmp slt i64 %j.next, %columns
  br i1 %j.more, label %column, label %row.end
row.end:
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %rows
  br i1 %i.more, label %row, label %out
out:
  ret double %s.next
}
"""
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

def others_code():
    target = llvm.Target.from_triple(llvm.get_process_triple())
    features = llvm.get_host_cpu_features().flatten()
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=3, jit=True
    )
    module = llvm.parse_assembly(LOOPS)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_assembly(module)

before = others_code()
'''
_BESIDE_OURS = """
import ljit
from ljit.codegen.llvm import engine, settings

@ljit.jit
def powers(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] ** b
    return s

@ljit.jit
def scaled(a, b):
    return (a * b + a[::-1]).sum(axis=0)

a = np.arange(600.0).reshape(20, 30)
for i in range(3):
    powers(a[0], 2.5)
    scaled(a, 3.0)
print(powers.dump_asm() != "", scaled.dump_asm() != "")
print(others_code() == before)
with settings.settings_of_code(engine._host().cpu):
    print(others_code() == before)
print(others_code() == before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the settings are known of this system")
def test_code_that_others_compile_is_the_same_beside_ours(tmp_path):
    program = tmp_path / "beside.py"
    program.write_text(_OTHER + _BESIDE_OURS)
    done = subprocess.run(
        [sys.executable, program],
        capture_output=True,
        text=True,
        check=False,
        env={"LJIT_COLD_CALLS": "0", "LJIT_QUICK_RUNS": "0", "PATH": ""},
    )
    assert done.stderr == ""
    # Ours differs: what is compared shows the settings.
    assert done.stdout.split() == ["True", "True", "True", "False", "True"]
