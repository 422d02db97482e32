"""Elementary functions as LLVM IR: no branches, no tables, so that LLVM makes vector code of loops that use them.

Each is within one unit in the last place of the exact result, for all operands (docs/math.md has what was measured).
A writer (`elementary`) gets Terms and gives one. Within loops a function is inlined; outside, code calls one copy that
is compiled once in the process (`shared_symbols`). Both give the same bits. Without fused multiply-add in the machine
there are none of these functions, and the C library's serve.
"""

from ljit.codegen.mathlib import exponentials, hyperbolic, logarithms  # noqa: F401  # declares functions
from ljit.codegen.mathlib.registry import INLINE, SHARED, Source, declared, elementary, source
from ljit.codegen.mathlib.shared import is_available, shared_symbols

__all__ = [
    "INLINE",
    "SHARED",
    "Source",
    "declared",
    "elementary",
    "is_available",
    "shared_symbols",
    "source",
]
