"""Decorate a function, call it as before, and see what became of each line."""

import time

import numpy as np

import ljit


def longest_run(bits):
    best = run = 0
    for bit in bits:
        run = run + 1 if bit else 0
        if run > best:
            best = run
    return best


compiled = ljit.jit(longest_run)
bits = np.random.default_rng(1).random(300_000) < 0.9

for name, function in (
    ("CPython", longest_run),
    *[(f"ljit, call {i}", compiled) for i in (1, 2, 3)],
):
    start = time.perf_counter()
    result = function(bits)
    print(f"{name:13} {result} in {1e3 * (time.perf_counter() - start):7.2f} ms")

print(compiled.explain())
