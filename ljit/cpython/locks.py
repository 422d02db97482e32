"""What threads share and a child process finds free: locks, and attributes that need none."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar, overload

__all__ = ["computed_once", "import_lock", "shared_lock"]

T = TypeVar("T")

#: of what imports ljit's modules while a function is called, which the child of a fork could not end; taken before all
#: others, as imports make locks, and take them
import_lock = threading.RLock()
_shared = [import_lock]
_taken: list[AbstractContextManager[bool]] = []  # by the fork that is going on


def shared_lock() -> AbstractContextManager[bool]:
    """Give a lock that a thread may take again; `os.fork` waits until no other thread holds it.

    In a child other threads are gone: nobody would release what they hold, nor end what they have begun. A fork takes
    the locks in the order opposite to that in which they were made: one that is taken within another is made first.
    """
    lock = threading.RLock()
    _shared.insert(1, lock)
    return lock


def _take_all() -> None:
    import_lock.acquire()
    _taken[:] = _shared
    for lock in _taken[1:]:
        lock.__enter__()


def _free_all() -> None:
    for lock in _taken:
        lock.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_all, after_in_parent=_free_all, after_in_child=_free_all)


class computed_once(Generic[T]):  # noqa: N801  # a decorator
    """An attribute that its first reader computes. Threads that come at once may each compute it; all get one result.

    `functools.cached_property` holds a lock meanwhile in CPython 3.11, which a child of `os.fork` would wait for.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, cls: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, of: None, cls: type) -> computed_once[T]: ...
    @overload
    def __get__(self, of: object, cls: type | None = None) -> T: ...

    def __get__(self, of: object, cls: type | None = None) -> computed_once[T] | T:
        if of is None:
            return self
        result = self._compute(of)
        return vars(of).setdefault(self._name, result)  # type: ignore[no-any-return]
