"""Settings of the whole test suite."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

if sys.dont_write_bytecode:  # each process that a test starts would compile all of ljit and NumPy
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parent.parent / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
os.environ.setdefault("LJIT_CHECK", "1")  # verify graphs; show ljit's own faults
os.environ.setdefault("LJIT_QUICK_RUNS", "0")  # what is optimised is what most tests are about
os.environ.setdefault("LJIT_COLD_CALLS", "0")  # second calls are to be native

import pytest
from hypothesis import HealthCheck, settings

from ljit.runtime import waiting
from ljit.testing.chaos import eager_loops
from tests.object_files import FOLDER, forget_old_ones, keep_object_files

keep_object_files()

settings.register_profile(
    "ljit",
    deadline=None,  # a first call compiles
    derandomize=True,  # the same examples on every machine
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ljit")


def pytest_collection_finish() -> None:
    """All modules and tests are there to stay: the garbage collector need not look at them again and again.

    Nor so often at all else: what is frozen does not count where it compares how much is new.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], 100)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput") and FOLDER.exists():
        forget_old_ones(FOLDER)


@pytest.fixture(autouse=True)
def loops_are_outlined_early():
    """After 256 trips, not when a compile would pay: programs of tests are short."""
    with eager_loops(256):
        yield


@pytest.fixture(autouse=True)
def few_functions_are_decorated(monkeypatch):
    """What other tests have decorated, translated and compiled leaves the functions of a test all room there is.

    Nor need a test run for as long as its compiles take; `test_waiting.py` has what must.
    """
    waiting._functions.clear()
    monkeypatch.setattr(waiting._Start, "of_process", None)
    monkeypatch.setattr(waiting, "_LITTLE", float("inf"))


@pytest.fixture
def nothing_is_collected():
    """What other tests have dropped is not finalised far down, where the stack has no room for that."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def no_trips_are_counted(monkeypatch):
    """First calls are those of functions whose loops cannot be left; `test_counted_calls.py` has the others."""
    monkeypatch.setattr("ljit.frontend.counted_trips.counted_function", lambda fn, watcher: None)
