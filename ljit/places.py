"""Whether views have elements that share memory."""

from __future__ import annotations

import numpy as np

__all__ = ["has_distinct_places"]


def has_distinct_places(value: np.ndarray) -> bool:
    """Whether no two elements share memory, as those of views of one array; False if that is hard to tell.

    >>> grid = np.zeros((4, 6))
    >>> has_distinct_places(grid[::2, ::-2].T), has_distinct_places(np.broadcast_to(grid, (2, 4, 6)))
    (True, False)
    """
    reach = value.itemsize
    axes = ((abs(step), size) for step, size in zip(value.strides, value.shape) if size > 1)
    for step, size in sorted(axes):
        if step < reach:
            return not value.size
        reach += step * (size - 1)
    return True
