"""The interpreter: graph to flat bytecode to results. Every other tier must agree with it."""

from ljit.interp.code import Code, LoopInfo, Trace, observed
from ljit.interp.compiler import compile_graph
from ljit.interp.hot_loops import MIN_TRIPS
from ljit.interp.machine import Errors, Hooks, InterpreterState, LoopExit, NoHooks, resume, run
from ljit.interp.special import Deoptimized, has_type
from ljit.interp.tracebacks import clean_traceback

__all__ = [
    "MIN_TRIPS",
    "Code",
    "Deoptimized",
    "Errors",
    "Hooks",
    "InterpreterState",
    "LoopExit",
    "LoopInfo",
    "NoHooks",
    "Trace",
    "clean_traceback",
    "compile_graph",
    "has_type",
    "observed",
    "resume",
    "run",
]
