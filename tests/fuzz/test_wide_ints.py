"""Random programs of ints of 64 bits without a sign give what CPython gives: profiled, native, and with guards failing.

`FUZZ_SEEDS=FIRST:LAST pytest tests/fuzz/test_wide_ints.py` runs other seeds than CI does.
"""

from __future__ import annotations

import os
from functools import partial

import pytest

import ljit
from ljit import config
from ljit.testing.chaos import fail_each_guard, has_native_code
from ljit.testing.random_programs import make_function
from ljit.testing.random_wide_programs import random_ints, random_wide_program
from tests.programs.harness import check_calls

FIRST, LAST = map(int, os.environ.get("FUZZ_SEEDS", "0:24").split(":"))
CALLS = (0, 0, 0, 1, 2, 3, 4, 5, 6, 0)


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_a_random_program_of_wide_ints_does_what_it_does_in_cpython(seed: int) -> None:
    plain = make_function(random_wide_program(seed), f"wide{seed}")
    with config.overridden(check=config.CHECK_PASSES):
        compiled = ljit.jit(plain)
        check_calls(plain, compiled, [partial(random_ints, seed, call) for call in CALLS])
        if seed % 4 == 0 and has_native_code(compiled):
            for _site in fail_each_guard(compiled):
                check_calls(plain, compiled, [partial(random_ints, seed, 0)])
