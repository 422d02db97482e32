"""Nothing outside of a buffer is touched: programs on buffers against protected pages, in a process each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ljit.testing.guarded import guarded_array

ROOT = Path(__file__).parent.parent.parent


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("group", ["loops", "matrices", "whole arrays", "nests"])
def test_native_code_stays_within_its_buffers(group: str) -> None:
    done = run_python("-m", "tests.adversarial.guarded_programs", group)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"died with {done.returncode} in {last}: {done.stderr[-3000:]}"
    assert last == ["done"]


@pytest.mark.parametrize(("at", "index"), [("end", 10), ("start", -1)])
def test_one_byte_beyond_a_guarded_array_is_a_fault(at: str, index: int) -> None:
    program = f"""
import ctypes
from ljit.testing.guarded import guarded_array
a = guarded_array(10, "u1", {at!r})
a[:] = range(10)
print(a.sum(), flush=True)
print(ctypes.c_char.from_address(a.ctypes.data + {index}))
"""
    done = run_python("-c", program)
    assert done.stdout == "45\n"
    assert done.returncode < 0


def test_guarded_arrays_are_ordinary_ones() -> None:
    a = guarded_array((3, 4), np.float32, "end")
    assert a.shape == (3, 4) and a.dtype == np.float32 and not a.any()
    assert a.flags.c_contiguous and a.flags.writeable and a.flags.aligned
    a += 1
    assert a.sum() == 12
    assert guarded_array(0).size == 0
    assert guarded_array((2, 5000), at="start")[:, 1:].sum() == 0
