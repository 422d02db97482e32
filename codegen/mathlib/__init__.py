"""Elementary functions as LLVM IR, for numbers and vectors; with tables where registers can hold them.

Each is within one unit in the last place of the exact result, for all operands (docs/math.md has what was measured).
A writer (`elementary`) gets Terms and gives one. Code calls copies that are compiled once in the process
(`shared_symbols`): one for numbers, and for vectors those that LLVM's loop vectoriser puts in its place. All give the
same bits. Without fused multiply-add in the machine there are none of these functions, and the C library's serve.
"""

from ljit.codegen.mathlib import (  # noqa: F401  # they declare functions
    areas,
    exponentials,
    hyperbolic,
    inverses,
    logarithms,
    powers,
    remainders,
    roots,
    table_exponentials,
    table_logarithms,
    trigonometric,
)
from ljit.codegen.mathlib.powers import constant_power
from ljit.codegen.mathlib.registry import Source, declared, elementary, source
from ljit.codegen.mathlib.rows import row_function
from ljit.codegen.mathlib.shared import declare_shared, is_available, shared_symbols

__all__ = [
    "Source",
    "constant_power",
    "declare_shared",
    "declared",
    "elementary",
    "is_available",
    "row_function",
    "shared_symbols",
    "source",
]
