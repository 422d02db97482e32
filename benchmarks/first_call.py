"""What the first call and the import cost, each measured in fresh processes.

Targets: the first call of a 20-line function takes less than 100 ms over the plain Python run (and so does the
second, which compiles for the whole call); ``import ljit`` less than 15 ms over ``import numpy``. A script that makes
one call, a simulation in some hundred time steps on an array, takes less than 0.7 of NumPy's time, compile included.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

CALLS = """
import json, sys, time
sys.path.insert(0, {folder!r})
import numpy as np, ljit
from first_call_program import escape_statistics as plain
compiled = ljit.jit(plain)
args = (np.linspace(-2, 1, 40), np.linspace(-1, 1, 30), 60)
times = []
for function in (plain, compiled, compiled, compiled):
    start = time.perf_counter()
    function(*args)
    times.append(time.perf_counter() - start)
print(json.dumps(times))
"""
ONE_CALL = """
import json, sys, time
sys.path.insert(0, {folder!r})
import numpy as np, ljit
from first_call_program import conduct_heat as plain
times = []
for function in (plain, ljit.jit(plain)):
    start = time.perf_counter()
    function(np.linspace(0, 1, 640_000).reshape(800, 800) ** 2, 400)
    times.append(time.perf_counter() - start)
print(json.dumps(times))
"""
IMPORTS = """
import json, time
start = time.perf_counter()
import numpy
middle = time.perf_counter()
import ljit
end = time.perf_counter()
print(json.dumps([middle - start, end - middle]))
"""

ONE_CALL_TARGET = 0.7


def run_often(code: str, times: int) -> list[float]:
    """Run in fresh processes; the median of each number that they print."""
    rows = []
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env=environment,
        )
        rows.append(json.loads(done.stdout))
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=7)
    options = parser.parse_args()
    folder = str(Path(__file__).parent)
    run_often(CALLS.format(folder=folder), 1)  # writes byte code files, as an installation does
    numpy_time, ljit_time = run_often(IMPORTS, options.processes)
    plain, first, second, third = run_often(CALLS.format(folder=folder), options.processes)
    results = (
        ("import ljit over import numpy", ljit_time, 0.015),
        ("first call over plain", first - plain, 0.100),
        ("second call over plain", second - plain, 0.100),
    )
    print(
        f"import numpy {1e3 * numpy_time:.1f} ms, plain call {1e3 * plain:.1f} ms, third call {1e3 * third:.2f} ms"
    )
    plain_run, one_call = run_often(ONE_CALL.format(folder=folder), options.processes)
    missed = one_call >= ONE_CALL_TARGET * plain_run
    for name, seconds, target in results:
        verdict = "ok" if seconds < target else "MISSED"
        missed |= seconds >= target
        print(f"{name:32} {1e3 * seconds:8.1f} ms  target < {1e3 * target:.0f} ms: {verdict}")
    print(
        f"a simulation in one call: NumPy {1e3 * plain_run:.0f} ms, ljit {1e3 * one_call:.0f} ms, "
        f"ratio {one_call / plain_run:.2f}  target < {ONE_CALL_TARGET}: "
        f"{'ok' if one_call < ONE_CALL_TARGET * plain_run else 'MISSED'}"
    )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
