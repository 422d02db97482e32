"""Functions of NumPy that set what operations on floats do beside their results.

Native code looks at none of these settings: it never warns, raises or calls anything. So a function that asks for more
than to be quiet is left to CPython, whose operations look at them.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ljit.ir import UNKNOWN
from ljit.records import Record

__all__ = ["FloatSetting", "float_setting"]

_QUIET = ("ignore", "warn", None)  # None leaves a setting as it is


class FloatSetting(Record):
    """A function whose arguments are settings.

    `restores`: what is no constant there is mostly what another call of it has given, the settings as they were before.
    """

    name: str
    function: object
    restores: bool = False

    def is_quiet(self, settings: Iterable[object]) -> bool:
        """Whether these settings, `UNKNOWN` if they are no constants, change nothing for native code."""
        return all(self.restores if s is UNKNOWN else s in _QUIET for s in settings)


_SETTINGS = (
    FloatSetting("np.errstate", np.errstate),
    FloatSetting("np.seterr", np.seterr, restores=True),
)


def float_setting(function: object) -> FloatSetting | None:
    """Give what is known of a function, if it is one of these."""
    return next((setting for setting in _SETTINGS if setting.function is function), None)
