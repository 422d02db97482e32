"""The programs of loops.py: plain Python functions, their inputs, and how to call the same loops in C."""

from __future__ import annotations

from loop_programs import dense, irregular
from loop_programs.calls import CALLS
from loop_programs.program import CLibrary, Program

__all__ = ["CALLS", "PROGRAMS", "CLibrary", "Program"]

PROGRAMS: tuple[Program, ...] = (*dense.PROGRAMS, *irregular.PROGRAMS)
