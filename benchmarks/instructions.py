"""Count the instructions of calls, with valgrind: figures that do not depend on the machine's load.

counts = run_counted([sys.argv[0], "--count"])     # in the parent: {name: instructions}
with Counter() as count: count(name, call)         # in the child, for each call
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_SOURCE = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void end(const char *name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""
_FOLDER = "COUNT_INTO"  # the variable that tells the child where to


def run_counted(arguments: Sequence[str]) -> dict[str, int]:
    """Run a Python script that counts calls under valgrind."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "requests.c", Path(folder) / "requests.so"
        source.write_text(_SOURCE)
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--log-file=/dev/null"]
        command += [f"--callgrind-out-file={folder}/out", sys.executable, *arguments]
        environment = {**os.environ, _FOLDER: folder, "PYTHONHASHSEED": "0"}
        subprocess.run(command, check=True, env=environment)
        counts = {}
        for path in Path(folder).glob("out.*"):
            text = path.read_text(errors="replace")
            name = re.search(r"Client Request: (\S+)", text)
            total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
            if name is not None and total is not None:
                counts[name[1]] = int(total[1])
        return counts


class Counter:
    """Counts calls in a process that `run_counted` started."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(str(Path(os.environ[_FOLDER]) / "requests.so"))

    def __call__(self, name: str, call: Callable[[], Any]) -> None:
        """Count the instructions of a call, and of the few around it."""
        self._library.begin()
        call()
        self._library.end(name.encode())
