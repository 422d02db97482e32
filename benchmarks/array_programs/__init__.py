"""The programs of arrays.py: NumPy functions of real use, their arguments, and what their peers run."""

from __future__ import annotations

from array_programs import finance, geometry, images, networks, statistics, stencils
from array_programs.program import ArrayProgram, rebound

__all__ = ["PROGRAMS", "ArrayProgram", "rebound"]

PROGRAMS: tuple[ArrayProgram, ...] = (
    *finance.PROGRAMS,
    *networks.PROGRAMS,
    *statistics.PROGRAMS,
    *stencils.PROGRAMS,
    *images.PROGRAMS,
    *geometry.PROGRAMS,
)
