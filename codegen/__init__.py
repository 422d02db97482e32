"""Typed graphs to machine code. Import it as `ljit.codegen`, never as `codegen`."""

if __name__ != "ljit.codegen":
    msg = f"this package is ljit.codegen; it was imported as {__name__}"
    raise ImportError(msg)

from ljit.codegen.context import CompileOptions, ExitInfo, SiteInfo
from ljit.codegen.engine import host_description
from ljit.codegen.entry import slow_entry
from ljit.codegen.fill_in import FillIn
from ljit.codegen.pass_on import PassOnCode, compile_pass_on, counted_entry
from ljit.codegen.unit import NativeCode, build_module, compile_unit

__all__ = [
    "CompileOptions",
    "ExitInfo",
    "FillIn",
    "NativeCode",
    "PassOnCode",
    "SiteInfo",
    "build_module",
    "compile_pass_on",
    "compile_unit",
    "counted_entry",
    "host_description",
    "slow_entry",
]
