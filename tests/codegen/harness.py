"""Compile graphs given as text and call them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import ljit.ops  # noqa: F401  # fills the registry
from ljit.codegen import CompileOptions, NativeCode, compile_unit
from ljit.ir.parser import parse
from ljit.passes import run_passes
from ljit.runtime.vectorcall import make_function_type, set_vectorcall


def steps(x: np.ndarray) -> list[int]:
    """Give the strides that count: those along axes of one element may be any."""
    return [step for step, size in zip(x.strides, x.shape, strict=True) if size > 1 and x.size]


class Mismatch(Exception):
    """The arguments were of other types than the unit was compiled for."""


class _Base:
    def __call__(self, *_args):
        raise Mismatch

    def _slow_call(self, _args, _kwargs):
        raise Mismatch


_Function = make_function_type(_Base)


class Bailed(Exception):
    """Native code left for the interpreter; carries what the helper was given."""

    def __init__(self, at, reason, values):
        super().__init__(at, reason, values)
        self.at = at
        self.reason = reason
        self.values = values


class Compiled:
    """A compiled graph that can be called; a bailout raises `Bailed` or calls `on_exit`."""

    def __init__(
        self,
        text: str,
        objects: Sequence[object] = (),
        on_exit: Callable[[Bailed], object] | None = None,
        pipeline: str = "",
        **options: object,
    ) -> None:
        self.on_exit = on_exit
        self.graph = parse(text, objects)
        if pipeline:
            run_passes(self.graph, pipeline)
        options = {"helper": self._helper, "takes_all_layouts": True, **options}
        self.code: NativeCode = compile_unit(
            self.graph, name="test", options=CompileOptions(**options)
        )
        self._function = _Function()
        set_vectorcall(self._function, self.code.address)

    def __call__(self, *args: object) -> object:
        return self._function(*args)

    def _helper(self, exit_index, site_index, values):
        info = self.code.exits[exit_index]
        named = dict(zip(info.names, info.objects(values), strict=True))
        bailed = Bailed(info.at, self.code.sites[site_index].reason, named)
        if self.on_exit is None:
            raise bailed
        return self.on_exit(bailed)
