"""Settings of the whole test suite."""

from __future__ import annotations

import os

os.environ.setdefault("LJIT_CHECK", "1")  # verify graphs after each pass; show ljit's own faults

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ljit",
    deadline=None,  # a first call compiles
    derandomize=True,  # the same examples on every machine
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ljit")
