"""Whether somebody watches this thread line by line: a debugger, or a tool that counts which lines ran.

Such a tool is to see the frames and variables of the function. The interpreter has none of its own to show, and native
code has no lines, so that CPython runs the calls that come here meanwhile.
"""

from __future__ import annotations

import sys

__all__ = ["is_traced"]

_monitoring = getattr(sys, "monitoring", None)  # as of CPython 3.12
_TOOLS = (_monitoring.DEBUGGER_ID, _monitoring.COVERAGE_ID) if _monitoring is not None else ()


def is_traced() -> bool:
    """Whether this thread has a trace function, or the process a tool that counts lines or stops at them."""
    if sys.gettrace() is not None:
        return True
    return _monitoring is not None and any(_monitoring.get_tool(tool) for tool in _TOOLS)
