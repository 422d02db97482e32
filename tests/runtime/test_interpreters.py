"""Interpreters whose objects native code does not know run functions as they are, and a warning says so."""

from __future__ import annotations

import sys
import types
import warnings

import pytest

import ljit
from ljit.cpython import interpreters

OTHERS = {
    "CPython 3.14, not 3.11 to 3.13": ("version_info", (3, 14, 0, "final", 0)),
    "CPython's free-threaded build": ("abiflags", "t"),
    "pypy, not CPython": ("implementation", types.SimpleNamespace(name="pypy")),
}


@pytest.fixture
def forgotten():
    interpreters.is_known.cache_clear()
    yield
    interpreters.is_known.cache_clear()


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("found", OTHERS)
def test_functions_stay_undecorated_on_an_unknown_interpreter(found, monkeypatch):
    def f(n):
        return n + 1

    with monkeypatch.context() as patched:
        patched.setattr(sys, *OTHERS[found])
        with pytest.warns(RuntimeWarning, match=f"it is {found}") as given:
            assert ljit.jit(f) is f
        assert given[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # it is said once
            assert ljit.jit(strict=True)(f) is f


@pytest.mark.usefixtures("forgotten")
def test_nothing_is_said_on_this_one():
    assert interpreters.why_unknown() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(ljit.jit(lambda n: n), ljit.Function)
