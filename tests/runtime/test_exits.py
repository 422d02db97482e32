"""The end of a process: what the variables of modules with decorated functions have goes as in CPython."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import math, sys
import ljit

out = open(sys.argv[1], "w")

class Kept:
    def __del__(self):
        print(type(self).__name__, math.floor(2.5), total(3), other.names)

kept = Kept()

@ljit.jit
def total(n):
    result = 0
    for i in range(n):
        result += i
    return result

import other

for _ in range(int(sys.argv[2])):
    total(1000)
out.write("written")
"""
OTHER = """
import ljit

names = ["a"]

@ljit.jit
def first(i):
    return names[i]

first(0)
first(0)
"""


@pytest.mark.parametrize("calls", [0, 1, 2, 3000])
def test_what_a_module_has_dies_with_the_process(calls: int, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "other.py").write_text(OTHER)
    path = tmp_path / "out.txt"
    command = [sys.executable, tmp_path / "program.py", path, str(calls)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert path.read_text() == "written"
    assert (done.stdout, done.stderr) == ("Kept 2 3 ['a']\n", "")
