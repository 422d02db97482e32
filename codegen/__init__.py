"""Typed graphs to machine code. Import it as `ljit.codegen`, never as `codegen`."""

if __name__ != "ljit.codegen":
    msg = f"this package is ljit.codegen; it was imported as {__name__}"
    raise ImportError(msg)

from ljit.codegen.entries.entry import slow_entry
from ljit.codegen.entries.fill_in import FillIn
from ljit.codegen.entries.pass_on import PassOnCode, compile_pass_on
from ljit.codegen.functions.choice import ChoiceCell
from ljit.codegen.functions.context import CompileOptions, ExitInfo, SiteInfo
from ljit.codegen.llvm.engine import host_description, vector_bytes
from ljit.codegen.unit import NativeCode, build_module, compile_unit

__all__ = [
    "ChoiceCell",
    "CompileOptions",
    "ExitInfo",
    "FillIn",
    "NativeCode",
    "PassOnCode",
    "SiteInfo",
    "build_module",
    "compile_pass_on",
    "compile_unit",
    "host_description",
    "slow_entry",
    "vector_bytes",
]
