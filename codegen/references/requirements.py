"""What objects must be so that native code takes them: checks that go to a block where they are not."""

from __future__ import annotations

from ljit.codegen.layouts import layout
from ljit.codegen.llvm.builder import BlockRef, FunctionBuilder, Ref, address

__all__ = ["field", "require", "require_class", "require_form"]


def field(f: FunctionBuilder, type_: str, pointer: Ref, offset: int) -> Ref:
    return f.load(type_, f.gep("i8", pointer, offset))


def require(f: FunctionBuilder, condition: Ref, fail: BlockRef) -> None:
    """Go to `fail` unless the condition holds."""
    following = f.new_block("ok")
    f.condbr(condition, following, fail, likely=True)
    f.start(following)


def require_class(f: FunctionBuilder, pointer: Ref, cls: type, fail: BlockRef) -> None:
    found = field(f, "ptr", pointer, layout.OB_TYPE)
    require(f, f.icmp("eq", found, address(id(cls))), fail)


def require_form(f: FunctionBuilder, array: Ref, needed: Ref, ndim: Ref, fail: BlockRef) -> None:
    """Check flags and rank of an array."""
    told = f.binary("or", needed, layout.FLAG_WARN_ON_WRITE)  # must not be set
    flags = f.binary("and", field(f, "i32", array, layout.ARRAY_FLAGS), told)
    wrong = f.binary("xor", flags, needed)
    found = field(f, "i32", array, layout.ARRAY_NDIM)
    wrong = f.binary("or", wrong, f.binary("xor", found, ndim))
    require(f, f.icmp("eq", wrong, 0), fail)
