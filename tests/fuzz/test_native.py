"""Random numeric programs give what CPython gives: interpreted, native, and with each guard failing."""

from __future__ import annotations

from functools import partial

import pytest

import ljit
from ljit import config
from ljit.testing.chaos import fail_each_guard, has_native_code
from ljit.testing.random_programs import make_function, random_arguments, random_program
from tests.programs import harness
from tests.programs.harness import check_calls

PROGRAMS = 30


def limit(text: str) -> int:
    """How many units in the last place results may be off: those of sums, whose order is not NumPy's, some more."""
    return 16 if ".sum()" in text else 1


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program_does_what_it_does_in_cpython(seed: int) -> None:
    text = random_program(seed)
    plain = make_function(text, f"random{seed}")
    factories = [lambda k=k: random_arguments(1000 * seed + k) for k in range(3)]
    calls = [factory for factory in factories for _ in range(3)] + factories
    with config.overridden(check=config.CHECK_PASSES):
        check_calls(plain, ljit.jit(plain), calls, limit(text))


@pytest.mark.parametrize("seed", range(PROGRAMS // 2))
def test_a_random_program_with_handlers_does_what_it_does_in_cpython(seed: int) -> None:
    text = random_program(seed, handles=True)
    plain = make_function(text, f"handling{seed}")
    factories = [lambda k=k: random_arguments(1000 * seed + k) for k in range(3)]
    calls = [factory for factory in factories for _ in range(3)] + factories
    with config.overridden(check=config.CHECK_PASSES):
        compiled = ljit.jit(plain)
        check_calls(plain, compiled, calls, limit(text))
        if seed % 3 == 0:
            for _site in fail_each_guard(compiled):
                check_calls(plain, compiled, factories[:1], limit(text))


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 6))
def test_a_random_program_survives_each_failing_guard(seed: int) -> None:
    text = random_program(seed)
    plain = make_function(text, f"random{seed}")
    for call in range(1000 * seed, 1000 * (seed + 1)):  # nothing is compiled for a call that raises
        compiled, factory = ljit.jit(plain), partial(random_arguments, call)
        for _ in range(2):
            harness.run(compiled, harness.make_args(factory))
        if has_native_code(compiled):
            break
    for _site in fail_each_guard(compiled):
        check_calls(plain, compiled, [factory], limit(text))
