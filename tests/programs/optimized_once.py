"""Code that a test has optimised already is not optimised again: that takes most of the time of such tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ljit.codegen import unit

__all__ = ["optimized_once"]

ADDRESS = re.compile(r"\b\d{12,}\b")


@contextmanager
def optimized_once(done: set[int] | None = None) -> Iterator[None]:
    """Within the block, code that differs from earlier code in addresses only is compiled without optimising it.

    For tests that compile one function several times. What is optimised must meet all arguments all the same.
    `done` is what earlier blocks optimised; this one adds to it.
    """
    seen = set() if done is None else done
    compile_ir = unit.compile_ir

    def compile_once(text: str, *args: Any, optimize: bool, **options: Any) -> Any:
        known = hash(ADDRESS.sub("", text))
        is_new = known not in seen
        if optimize:
            seen.add(known)
        return compile_ir(text, *args, optimize=optimize and is_new, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit, "compile_ir", compile_once)
        yield
