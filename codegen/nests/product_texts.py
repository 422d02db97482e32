"""What functions that multiply matrices have in common: the operands of ``np.matmul``'s inner loop, and vectors."""

from __future__ import annotations

from ljit.codegen.llvm.engine import has_avx512, vector_bytes

__all__ = ["OPERANDS", "ProductShape", "mask_text", "operands_text"]

OPERANDS = "(ptr %operands, ptr %sizes, ptr %strides, ptr %data)"
_NAMES = (
    *("times", "rows", "depth", "columns"),
    *("a.step", "b.step", "c.step"),
    *("a.row.step", "a.step.in", "b.row.step", "b.column.step", "c.row.step", "c.column.step"),
)
_CORE = 4  # how many of the names are sizes


def operands_text() -> str:
    """Load them: places of the matrices, sizes and strides."""
    lines = [
        f"  %{x}.at.first = getelementptr ptr, ptr %operands, i64 {i}\n"
        f"  %{x}.first = load ptr, ptr %{x}.at.first\n"
        for i, x in enumerate("abc")
    ]
    for i, name in enumerate(_NAMES):
        source, place = ("%sizes", i) if i < _CORE else ("%strides", i - _CORE)
        lines.append(
            f"  %{name}.at = getelementptr i64, ptr {source}, i64 {place}\n"
            f"  %{name} = load i64, ptr %{name}.at\n"
        )
    return "".join(lines)


class ProductShape:
    """The vectors of a dtype of floats, and instructions on them; `columns` of a matrix are in registers together."""

    def __init__(self, item: str) -> None:
        self.item, self.size = item, 4 if item == "float" else 8
        self.lanes = vector_bytes() // self.size
        self.vector, self.mask = f"<{self.lanes} x {item}>", f"<{self.lanes} x i1>"
        self.suffix = f"v{self.lanes}f{8 * self.size}"
        self.vectors = 4 if has_avx512() else 2
        self.columns = self.vectors * self.lanes

    @property
    def declarations(self) -> str:
        vector, mask = self.vector, self.mask
        return f"""declare {vector} @llvm.masked.load.{self.suffix}.p0(ptr, i32, {mask}, {vector})
declare void @llvm.masked.store.{self.suffix}.p0({vector}, ptr, i32, {mask})
declare {vector} @llvm.fma.{self.suffix}({vector}, {vector}, {vector})
declare {self.item} @llvm.vector.reduce.fadd.{self.suffix}({self.item}, {vector})
"""

    def loaded(self, name: str, *, is_masked: bool = False) -> str:
        """Load from `name.at`."""
        if not is_masked:
            return f"  %{name} = load {self.vector}, ptr %{name}.at, align {self.size}\n"
        operands = (
            f"(ptr %{name}.at, i32 {self.size}, {self.mask} %mask, {self.vector} zeroinitializer)"
        )
        return f"  %{name} = call {self.vector} @llvm.masked.load.{self.suffix}.p0{operands}\n"

    def stored(self, name: str, place: str, *, is_masked: bool) -> str:
        """Store at `place.at`."""
        if not is_masked:
            return f"  store {self.vector} %{name}, ptr %{place}.at, align {self.size}\n"
        operands = f"({self.vector} %{name}, ptr %{place}.at, i32 {self.size}, {self.mask} %mask)"
        return f"  call void @llvm.masked.store.{self.suffix}.p0{operands}\n"

    def spread(self, name: str, place: str) -> str:
        """Load a number into all lanes."""
        lanes, vector = self.lanes, self.vector
        return f"""  %{name}.item = load {self.item}, ptr {place}
  %{name}.one = insertelement {vector} poison, {self.item} %{name}.item, i32 0
  %{name} = shufflevector {vector} %{name}.one, {vector} poison, <{lanes} x i32> zeroinitializer
"""

    def added(self, name: str, x: str, y: str, total: str) -> str:
        """Add the products of two vectors."""
        operands = ", ".join(f"{self.vector} %{each}" for each in (x, y, total))
        return f"  %{name} = call {self.vector} @llvm.fma.{self.suffix}({operands})\n"

    def chosen(self, function: str, name: str) -> str:
        """The function for one vector more than there are %before."""
        text, found = "", "null"
        for width in range(1, self.vectors + 1):
            x = f"%{name}.is.{width}"
            made = f"%{name}.function" if width == self.vectors else f"{x}.chosen"
            text += f"  {x} = icmp eq i64 %before, {width - 1}\n"
            text += f"  {made} = select i1 {x}, ptr @{function}.{width}, ptr {found}\n"
            found = made
        return text


def mask_text(shape: ProductShape, count: str) -> str:
    """The lanes that are less than `count`."""
    wide, places = f"<{shape.lanes} x i64>", ", ".join(f"i64 {i}" for i in range(shape.lanes))
    return f"""  %{count}.one = insertelement {wide} poison, i64 %{count}, i32 0
  %{count}.all = shufflevector {wide} %{count}.one, {wide} poison, <{shape.lanes} x i32> zeroinitializer
  %mask = icmp ult {wide} <{places}>, %{count}.all
"""
