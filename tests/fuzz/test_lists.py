"""Random programs of lists give what CPython gives: profiled, native, with items of other kinds, and with guards failing.

`FUZZ_SEEDS=FIRST:LAST pytest tests/fuzz/test_lists.py` runs other seeds than CI does.
"""

from __future__ import annotations

import os
from functools import partial

import pytest

import ljit
from ljit import config
from ljit.testing.chaos import fail_each_guard
from ljit.testing.random_list_programs import random_list_program, random_lists
from ljit.testing.random_programs import make_function
from tests.programs.harness import check_calls

FIRST, LAST = map(int, os.environ.get("FUZZ_SEEDS", "0:16").split(":"))
CALLS = (0, 0, 0, 1, 2, 3, 4, 5, 6, 0)


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_a_random_program_of_lists_does_what_it_does_in_cpython(seed: int) -> None:
    plain = make_function(random_list_program(seed), f"lists{seed}")
    with config.overridden(check=config.CHECK_PASSES):
        compiled = ljit.jit(plain)
        check_calls(plain, compiled, [partial(random_lists, seed, call) for call in CALLS])
        if seed % 4 == 0:
            for _site in fail_each_guard(compiled):
                check_calls(plain, compiled, [partial(random_lists, seed, 0)])
