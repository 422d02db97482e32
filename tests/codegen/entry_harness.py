"""Small native functions behind a vectorcall entry, written with the builder itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ljit.analysis.assumptions import Assumption
from ljit.codegen.entries import entry
from ljit.codegen.functions.assumptions import emit_assumptions
from ljit.codegen.functions.choice import ChoiceCell, emit_choice
from ljit.codegen.functions.support import slow_entry
from ljit.codegen.llvm.builder import FunctionBuilder, ModuleBuilder, Ref, address
from ljit.codegen.llvm.engine import CompiledModule, compile_ir
from ljit.codegen.llvm.forms import Native
from ljit.codegen.references import boxing
from ljit.runtime.vectorcall import make_function_type, set_vectorcall
from ljit.types import Type


class _Base:
    code: CompiledModule
    following: entry.NextCell
    kept: list[object]

    def _slow_call(self, args: tuple[object, ...], kwargs: dict[str, object] | None) -> object:
        return "slow", args, kwargs

    def __call__(self, *args: object, **kwargs: object) -> object:
        return "call", args, kwargs


NativeFunction = make_function_type(_Base)

Keep = Callable[[object], Ref]
Body = Callable[[FunctionBuilder, list[Native], Keep], None]


def build(
    params: Sequence[Type],
    body: Body,
    *,
    assumptions: Sequence[Assumption] = (),
    cls: type = NativeFunction,
    choice: ChoiceCell | None = None,
    rival: object = None,
) -> object:
    """A callable whose entry takes arguments of the types and runs `body`; of some sizes, with a `choice`."""
    kept: list[object] = []

    def keep(value: object) -> Ref:
        kept.append(value)
        return address(id(value))

    module = ModuleBuilder("test")
    following = entry.NextCell()
    f, arguments, reject = entry.begin_entry(module, "native", params, following)
    if choice is not None:
        emit_choice(f, arguments, choice, keep(rival), reject)
    emit_assumptions(f, assumptions, reject, keep)
    body(f, arguments, keep)
    made = cls()
    made.code = compile_ir(module.render(), "native")
    made.following, made.kept = following, kept
    following.target = slow_entry()
    set_vectorcall(made, made.code.address)
    return made


def identity(type_: Type) -> object:
    """A function that unboxes its argument and boxes it again."""

    def body(f: FunctionBuilder, arguments: list[Native], keep: Keep) -> None:
        f.ret(boxing.box(f, arguments[0], keep))

    return build([type_], body)
