"""Arrays that unknown code changes in place while native code has them in registers.

Resizing frees the old memory: native code that goes on with it reads what is not its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.adversarial.harness import attack
from tests.programs.harness import Factory

Change = Callable[[np.ndarray, int], None]
SIZE, WHEN = 1000, 500


def leave(a: np.ndarray, i: int) -> None:
    pass


def shrink(a: np.ndarray, i: int) -> None:
    if i == WHEN:
        a.resize((10,), refcheck=False)


def grow(a: np.ndarray, i: int) -> None:
    if i == WHEN:
        a.resize((100_000,), refcheck=False)


def reshape(a: np.ndarray, i: int) -> None:
    if i == WHEN:
        a.shape = (a.size // 5, 5)


def retype(a: np.ndarray, i: int) -> None:
    if i == WHEN:
        a.dtype = np.int64  # type: ignore[misc]


def lock(a: np.ndarray, i: int) -> None:
    if i == WHEN:
        a.setflags(write=False)


class Other(np.ndarray):
    def __getitem__(self, i: Any) -> Any:
        return 7.0


def reclass(a: np.ndarray, i: int) -> None:
    if i == WHEN:
        a.__class__ = Other


CHANGES = [shrink, grow, reshape, retype, lock, reclass]


def read(a: np.ndarray, n: int, change: Change) -> Any:
    total = 0.0
    for i in range(n):
        total = total + a[i]
        change(a, i)
    return total


def write(a: np.ndarray, n: int, change: Change) -> Any:
    for i in range(n):
        change(a, i)
        a[i] = i * 2.0
    return a


def ask(a: np.ndarray, n: int, change: Change) -> Any:
    total = 0
    for i in range(n):
        total += len(a) + a.shape[0] + a.ndim
        change(a, i)
        total += len(a) + a.shape[0] + a.ndim
    return total


def iterate(a: np.ndarray, n: int, change: Change) -> Any:
    seen = []
    for i, x in enumerate(a):
        change(a, i)
        seen.append(x)
        if i == n:
            break
    return len(seen), seen[-1]


def pair(a: np.ndarray, n: int, change: Change) -> Any:
    total = 0.0
    i = 0
    for x, y in zip(a, np.ones(n), strict=False):
        total = total + x * y
        change(a, i)
        i += 1
    return total


def whole(a: np.ndarray, n: int, change: Change) -> Any:
    b = a
    for i in range(n):
        change(a, i)
        b = a * 2.0 + 1.0
    return b, a.sum()


def in_a_tuple(a: np.ndarray, n: int, change: Change) -> Any:
    both = (np.ones(n), a)
    total = 0.0
    for i in range(n):
        total = total + both[0][i] * both[1][i]
        change(both[1], i)
    return total


def in_an_inner_loop(a: np.ndarray, n: int, change: Change) -> Any:
    total = 0.0
    for i in range(n):
        for j in range(4):
            total = total + a[i] * j
        change(a, i)
    return total


def through_a_view(a: np.ndarray, n: int, change: Change) -> Any:
    view = a[:SIZE]
    total = 0.0
    for i in range(n):
        total = total + view[i]
        if i == 500:
            view.shape = (10, SIZE // 10)
        change(view[:1], 0)
    return total


FUNCTIONS = [read, write, ask, iterate, pair, whole, in_a_tuple, in_an_inner_loop, through_a_view]


def arguments(change: Change) -> Factory:
    return lambda: (np.arange(float(SIZE)), SIZE, change)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_callee_changes_the_array(function: Callable[..., Any]) -> None:
    attack(function, arguments(leave), *map(arguments, CHANGES), fresh=False)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("function", [read, write, iterate])
def test_code_made_while_the_array_changes(function: Callable[..., Any], change: Change) -> None:
    attack(function, arguments(leave), arguments(change))


SHARED = np.arange(float(SIZE))


def read_global(n: int, change: Change) -> Any:
    total = 0.0
    for i in range(n):
        total = total + SHARED[i]
        change(SHARED, i)
        total = total + SHARED[i] * 2.0
    return total


def restored(change: Change) -> Factory:
    def make() -> tuple[Any, ...]:
        SHARED.resize((SIZE,), refcheck=False)
        SHARED[:] = np.arange(float(SIZE))
        return SIZE, change

    return make


def test_a_callee_resizes_a_global_array() -> None:
    attack(read_global, restored(leave), restored(shrink), restored(grow))


def resize_itself(a: np.ndarray, n: int) -> Any:
    total = 0.0
    for i in range(n):
        total += a[i]
        if i == 200:
            a.resize((300,), refcheck=False)
    return total


def reshape_itself(a: np.ndarray, n: int) -> Any:
    a.shape = (n, -1)
    first = a[:, 0].sum()
    a.shape = (-1, n)
    a.dtype = np.int64  # type: ignore[misc]
    return first, a[0], a.dtype


def test_the_function_itself_changes_the_array() -> None:
    def make(n: int) -> Factory:
        return lambda: (np.arange(float(SIZE)), n)

    attack(resize_itself, make(100), make(250), make(400))
    attack(reshape_itself, make(10), make(20), make(7))


def test_an_array_that_is_resized_between_calls() -> None:
    sizes = (10, 0, 1, 5000, 3, 10)

    def factories() -> list[Factory]:
        a = np.zeros(10)

        def make(size: int) -> Factory:
            def resized() -> tuple[Any, ...]:
                a.resize((size,), refcheck=False)
                a[:] = np.arange(float(size))
                return a, min(size, 7) + (size == 3), leave

            return resized

        return [make(size) for size in sizes]

    attack(read, arguments(leave), *factories(), fresh=False)
    attack(write, arguments(leave), *factories(), fresh=False)
