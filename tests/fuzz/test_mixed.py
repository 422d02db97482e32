"""Random programs of everyday statements give what CPython gives: values, arguments, effects and exceptions with places.

A program is run twice, plain and decorated, each time in a module of its own. `FUZZ_SEEDS=FIRST:LAST pytest
tests/fuzz/test_mixed.py` runs other seeds than CI does.
"""

from __future__ import annotations

import linecache
import os
import traceback
import warnings

import numpy as np
import pytest

import ljit
from ljit import config
from tests.fuzz.mixed_programs import random_mixed_arguments, random_mixed_program

FIRST, LAST = map(int, os.environ.get("FUZZ_SEEDS", "0:12").split(":"))
CALLS = (0, 1, 2, 0, 3, 4, 5, 1, 6, 7, 8, 2)  # equal types at first, then odd ones
NUMBERS = (bool, int, float, complex, str, type(None), range, slice)


def described(value, seen):
    """Everything one can see of a value; `seen` are the objects that came before, with their places."""
    kind = type(value).__name__
    if isinstance(value, np.generic):
        return kind, value.dtype.str, described(value.item(), seen)
    if isinstance(value, NUMBERS):
        return kind, repr(value)
    if isinstance(value, tuple):
        return kind, [described(item, seen) for item in value]
    if id(value) in seen:
        return "again", seen[id(value)][0]
    seen[id(value)] = len(seen), value
    if isinstance(value, np.ndarray):
        return kind, value.dtype.str, value.flags.writeable, described(value.tolist(), {})
    if isinstance(value, list):
        return kind, [described(item, seen) for item in value]
    if isinstance(value, dict):
        return kind, [(described(key, seen), described(value[key], seen)) for key in value]
    if isinstance(value, set):
        return kind, sorted(repr(described(item, {})) for item in value)
    if isinstance(value, ljit.Function) or callable(value):
        return "callable"
    slots = {name: getattr(value, name, None) for name in getattr(value, "__slots__", ())}
    return kind, described({**slots, **getattr(value, "__dict__", {})}, seen)


def outcome(module, args, filename):
    module["LOG"].clear()
    module["K"] = 3
    seen = {}
    try:
        result = described(module["f"](*args), seen)
    except Exception as error:
        entries = traceback.extract_tb(error.__traceback__)
        places = [(entry.name, entry.lineno) for entry in entries if entry.filename == filename]
        places = [place for place in places if not place[0].endswith("comp>")]
        marks = type(error.__context__), type(error.__cause__), error.__suppress_context__
        result = type(error), str(error), places, marks
    logged = described(list(module["LOG"]), {})
    return result, described(list(args), seen), logged, repr(module["K"])


def load(text, filename):
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = {"__name__": "mixed"}
    exec(compile(text, filename, "exec"), module)
    return module


@pytest.mark.parametrize("seed", range(FIRST, LAST))
def test_a_random_program_of_everyday_statements_does_what_it_does_in_cpython(seed):
    text, filename = random_mixed_program(seed), f"<mixed{seed}>"
    plain, decorated = load(text, filename), load(text, filename)
    quick_runs = 0 if seed % 2 else 200_000
    with warnings.catch_warnings(), config.overridden(cold_calls=False, quick_runs=quick_runs):
        warnings.simplefilter("ignore")
        decorated["f"] = ljit.jit(decorated["f"])
        for number, call in enumerate(CALLS):
            expected, found = (
                outcome(module, random_mixed_arguments(seed, call, module), filename)
                for module in (plain, decorated)
            )
            assert found == expected, f"call {number}, arguments {call}"
