"""What threads share and a child process finds free: locks, and attributes that need none."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar, overload

__all__ = ["computed_once", "shared_lock"]

T = TypeVar("T")


def shared_lock() -> AbstractContextManager[bool]:
    """Give a lock that a thread may take again; `os.fork` waits until no other thread holds it.

    In a child other threads are gone: nobody would release what they hold, nor end what they have begun. A fork takes
    the locks in the order opposite to that in which they were made: one that is taken within another is made first.
    """
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        free = lock.release
        os.register_at_fork(before=lock.acquire, after_in_parent=free, after_in_child=free)
    return lock


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
