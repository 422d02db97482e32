"""Compiles and CPython's garbage collector.

A compile makes thousands of objects, and most of them live as long as the function. The collector would go through
them as soon as the compile ends and twice later on, an eighth of the time of a quick compile. So it waits
meanwhile, and what is there at the end is old at once: only full collections look at it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["no_collections"]

_MANY = 500_000  # objects that get old in this way before there is a full collection
_OF_CPYTHON = (
    1000  # 3.12 starts with 375 frozen tuples of its own; whoever freezes has thousands of objects
)

_got_old = 0
# the program has frozen objects, which must stay so (to count them takes long: once)
_is_frozen = False


@contextmanager
def no_collections() -> Iterator[None]:
    """Run a compile: no collections in it, nor on account of it."""
    if not gc.isenabled():
        yield
        return
    gc.collect(0)  # what the program dropped does not get old
    gc.disable()
    try:
        yield
    finally:
        _let_all_get_old()
        gc.enable()


def _let_all_get_old() -> None:
    """Have only full collections look at all that there is. CPython does not count what becomes old in this way."""
    global _got_old, _is_frozen
    _is_frozen = _is_frozen or gc.get_freeze_count() > _OF_CPYTHON
    if _is_frozen:
        return
    _got_old += gc.get_count()[0]
    gc.freeze()
    gc.unfreeze()  # puts them into the oldest generation
    if _got_old >= _MANY:
        _got_old = 0
        gc.collect()
