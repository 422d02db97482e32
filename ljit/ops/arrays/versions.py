"""What one version of NumPy does otherwise than another, as questions that are put to NumPy itself.

Each is asked where ops are declared, once; no version is compared.
"""

from __future__ import annotations

import inspect

import numpy as np

__all__ = [
    "FIX_WARNS",
    "INVERSES_OF_C_LIBRARY",
    "POWER_IS_ROOT",
    "SCALARS_CHANGE_POWERS",
    "SHAPE_OF_RESHAPE",
]


def _shape_of_reshape() -> str:
    try:
        np.reshape(np.zeros(1), shape=(1,))
    except TypeError:
        return "newshape"
    return "shape"


with np.errstate(all="ignore"):
    #: Whether `np.arcsin` and its like of complex numbers are the C library's, as its sines are: for NaNs signs differ.
    INVERSES_OF_C_LIBRARY = not np.isnan(np.arccosh(complex(0.0, np.nan)).imag)

    #: Whether ``np.power(a, 0.5)`` is the square root, as ``a ** 0.5`` is, and not C's `pow`: of -0.0 they differ.
    POWER_IS_ROOT = bool(np.signbit(np.power(np.array([-0.0]), 0.5)[0]))

    #: Whether ``a ** x`` looks at the number that the scalar x is, of whatever dtype, before it chooses dtype and loop.
    SCALARS_CHANGE_POWERS = (np.ones(1, np.float32) ** np.float64(2)).dtype == np.float32

    #: The name of the second parameter of `np.reshape`.
    SHAPE_OF_RESHAPE = _shape_of_reshape()

#: Whether `np.fix` may warn that it goes away.
FIX_WARNS = "warnings" in inspect.unwrap(np.fix).__code__.co_names
