"""Locks of all threads that a child process finds free."""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager

__all__ = ["shared_lock"]


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
