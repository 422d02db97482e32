"""Lengths, characters and comparisons of strs are CPython's, however wide their characters are."""

from __future__ import annotations

import operator
import sys

import pytest

from ljit.codegen.layouts import text_layout
from tests.codegen.harness import Compiled

TEXTS = (
    *("", "a", "b", "\0", "\x7f", "\x80", "\xff", "\u0100", "\uffff", "\U0001f600", "\ud800"),
    *("ab", "ac", "a\0", "\xe4b", "a\xe4", "a\u20ac", "\u20aca", "a\U0001f600", "abc" * 40),
    *("abc" * 39 + "abd", "abc" * 39 + "ab\xff", "abc" * 39 + "ab\u20ac"),
)


def _anew(text):
    """A str of its own, where CPython does not have one for all."""
    return (text + "?")[: len(text)]


COMPARISONS = {
    "py::eq": operator.eq,
    "py::ne": operator.ne,
    "py::lt": operator.lt,
    "py::le": operator.le,
    "py::gt": operator.gt,
    "py::ge": operator.ge,
}


@pytest.mark.parametrize("op", COMPARISONS)
def test_strs_compare_by_their_characters(op):
    f = Compiled(f"""
graph(%x : str, %y : str):
  prim::Snapshot[at='before:0', names=('x', 'y')](%x, %y)
  %r : bool = {op}(%x, %y)
  return (%r)
""")
    for x in TEXTS:
        for y in TEXTS:
            assert f(_anew(x), _anew(y)) is COMPARISONS[op](x, y), (x, y)


def test_characters_are_the_strs_that_they_are_in_cpython():
    f = Compiled("""
graph(%x : str, %i : int):
  prim::Snapshot[at='before:0', names=('x', 'i')](%x, %i)
  %c : char = py::getitem(%x, %i)
  %n : int = py::ord(%c)
  %m : int = py::len(%x)
  %r : (str, int, int) = prim::TupleConstruct(%c, %n, %m)
  return (%r)
""")
    for text in TEXTS:
        for i in range(-len(text), len(text)):
            wanted = text[i]
            found = f(_anew(text), i)
            assert found == (wanted, ord(wanted), len(text))
            assert (found[0] is wanted) == (wanted <= "\xff")


def test_references_to_characters_are_counted():
    f = Compiled("""
graph(%x : str, %i : int):
  prim::Snapshot[at='before:0', names=('x', 'i')](%x, %i)
  %c : char = py::getitem(%x, %i)
  return (%c)
""")
    text = "xyz" * 30
    before = [sys.getrefcount(c) for c in "xyz"]
    kept = [f(text, i) for i in range(90)]
    during = [sys.getrefcount(c) for c in "xyz"]
    del kept
    assert [sys.getrefcount(c) for c in "xyz"] == before
    if sys.version_info < (3, 12):
        assert [b + 30 for b in before] == during


def test_the_layout_is_known_to_the_interpreters_that_are_supported():
    assert text_layout.is_known() == (sys.version_info < (3, 14))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("TEXT_SIZE", 24),
        ("TEXT_HASH", 16),
        ("ASCII_ITEMS", 72),
        ("LATIN_ITEMS", 48),
        ("IS_ASCII", 32),
    ],
)
def test_another_layout_is_noticed(monkeypatch, name, wrong):
    assert getattr(text_layout, name) != wrong
    monkeypatch.setattr(text_layout, name, wrong)
    assert not text_layout.is_known.__wrapped__()


def test_without_a_known_layout_cpython_is_asked(monkeypatch):
    monkeypatch.setattr(text_layout, "is_known", lambda: False)
    test_characters_are_the_strs_that_they_are_in_cpython()
    test_strs_compare_by_their_characters("py::eq")
    test_strs_compare_by_their_characters("py::lt")
