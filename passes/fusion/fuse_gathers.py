"""``a[index]`` whose elements a nest needs is taken element by element, places being checked in front.

    (a[index] * w).sum()            check(index, a); one nest: the sum of a[index[k]] * w[k]
    np.log(m[rows, columns])        check(rows, m), check(columns, m); one nest
    m[rows] * w                     check(rows, m); one nest: m[rows[i], j] * w[i, j] for j in range(m.shape[1])
    m[:, columns] * w               check(columns, m); one nest, with arange(m.shape[0]) as a column
    m[rows][:, columns] * w         check(rows, m), check(columns, m); one nest: no array of the rows, either

`fuse` does this before it makes nests: there is no array of the elements in between. The check leaves native code, and
the interpreter raises IndexError. A nest that writes takes none of an array that could be what it writes to.

Places that are computed (``image[y.astype(int), x.astype(int)]``) are checked by the nest that takes the elements, so
that there is no array of them, either.
"""

from __future__ import annotations

from collections.abc import Sequence

from ljit.ir import Block, Effect, Node, Value, get_op
from ljit.ops.arrays.boxed import reduced_axes
from ljit.ops.indexing.gathers import can_gather, is_of_columns
from ljit.passes.fusion.fuse_nodes import is_elementwise, is_reduction
from ljit.passes.manager import is_allowed
from ljit.passes.rewriting import insert_constant
from ljit.types import ArrayType, Type

__all__ = ["check_places"]

NAME = "fuse"


def check_places(block: Block) -> bool:
    """Rewrite what one block takes at places; whether there was anything."""
    changed = False
    # checks, columns and rows; and what was read since the last write
    made: dict[object, Value] = {}
    for node in list(block):
        if node.effects & (Effect.WRITE | Effect.CALL):
            made.clear()
        if node.op.reads_part and _is_for_nests(node) and is_allowed(NAME, node):
            changed |= _take_one_by_one(node, made)
        elif node.op.reads_part:
            made["read", node.output] = node.output
    return changed


def _take_one_by_one(node: Node, made: dict[object, Value]) -> bool:
    a, index = node.inputs
    places = _places_of(index)
    if places is None:
        return False
    _ask_index(node)
    assert isinstance(a.type, ArrayType)
    op, is_whole = "np::elements_at", len(places) == a.type.ndim
    if is_of_columns(a.type, index.type):
        whole, checked = _columns_of_rows(node, places[1], made)
    elif is_whole and any(_is_computed(x, node) for x in places):
        op, whole, checked = "np::elements_inside", _nonempty(node, made), [*places]
    else:
        whole, checked = a, [_checked(node, x, a, axis, made) for axis, x in enumerate(places)]
        if not is_whole:
            checked = [_as_column(node, checked[0], made), _all_of(node, a, 1, made)]
    elements = _add(node, op, [whole, *checked], type_=node.output.type)
    node.replace_with([elements])
    for spent in (index.node, a.node):  # they would be results of nests
        if spent is not None and _is_spent(spent):
            spent.erase()
    return True


def _is_spent(node: Node) -> bool:
    is_pure = node.op.reads_part or node.op is get_op("prim::TupleConstruct")
    return is_pure and not node.output.uses


def _is_computed(index: Value, user: Node) -> bool:
    """Whether a nest in front makes the places: then the one that takes the elements can make and check them."""
    made = index.node
    return made is not None and made.block is user.block and _is_plain(made)


def _makes_places(node: Node) -> bool:
    """Whether all places are computed, and nothing else needs them."""
    a, index = node.inputs
    places = _places_of(index) or ()
    assert isinstance(a.type, ArrayType)
    holders = (node, index.node)
    return len(places) == a.type.ndim and all(
        _is_computed(x, node) and all(user in holders for user, _ in x.uses) for x in places
    )


def _nonempty(node: Node, made: dict[object, Value]) -> Value:
    key = ("nonempty", node.inputs[0])
    if key not in made:
        made[key] = _add(node, "np::nonempty", [node.inputs[0]])
    return made[key]


def _columns_of_rows(
    node: Node, columns: Value, made: dict[object, Value]
) -> tuple[Value, list[Value]]:
    """The matrix, and the rows and columns to take of it: all rows, or those that are taken for this alone."""
    a = node.inputs[0]
    rows = a.node if ("read", a) in made else None
    if rows is not None and can_gather(*(v.type for v in rows.inputs)) and _has_columns_only(a):
        matrix, index = rows.inputs
        assert isinstance(index.type, ArrayType)
        if index.type.ndim == 1:
            taken = _checked(node, index, matrix, 0, made)
            return matrix, [_as_column(node, taken, made), _checked(node, columns, matrix, 1, made)]
    taken = _all_of(node, a, 0, made)
    return a, [_as_column(node, taken, made), _checked(node, columns, a, 1, made)]


def _has_columns_only(rows: Value) -> bool:
    """Whether nests take elements of columns of the rows, and nobody needs anything else of them."""
    return all(
        index == 0 and user.op.reads_part and _is_for_nests(user) for user, index in rows.uses
    )


def _places_of(index: Value) -> Sequence[Value] | None:
    """The index of each axis, or of the first."""
    if isinstance(index.type, ArrayType):
        return [index]
    made = index.node
    return made.inputs if made is not None and made.op is get_op("prim::TupleConstruct") else None


def _checked(node: Node, index: Value, a: Value, axis: int, made: dict[object, Value]) -> Value:
    key = (index, a, axis)
    if key not in made:
        made[key] = _add(node, "np::checked_places", [index, a], axis=axis)
    return made[key]


def _as_column(node: Node, index: Value, made: dict[object, Value]) -> Value:
    key = ("column", index)
    if key not in made:
        made[key] = _add(node, "np::getitem", [index, insert_constant((..., None), node)])
    return made[key]


def _all_of(node: Node, a: Value, axis: int, made: dict[object, Value]) -> Value:
    """All places along an axis: a range, or an array that a column can be made of."""
    key = ("all", a, axis)
    if key not in made:
        size = _add(node, "prim::TupleIndex", [_add(node, "np::shape", [a])], index=axis)
        made[key] = _add(node, "py::range" if axis else "np::arange", [size])
    return made[key]


def _add(
    node: Node, op: str, inputs: Sequence[Value], type_: Type | None = None, **attrs: object
) -> Value:
    """Make a node in front of another one."""
    types = None if type_ is None else [type_]
    new = node.graph.create(get_op(op), inputs, attrs, outputs=types, like=node)
    return new.insert_before(node).output


def _is_for_nests(node: Node) -> bool:
    """Whether nothing but nests needs the result, or nothing but a nest can make it."""
    a, index = (v.type for v in node.inputs)
    if not can_gather(a, index):
        return False
    if not node.op.has_lowering((a, index)) or _makes_places(node):
        return True
    users = [user for user, _ in node.output.uses]
    users = [user for user in users if not _asks_for_sizes_of_index(user, node)]
    return bool(users) and all(
        user.block is node.block and (is_reduction(user) or _is_plain(user)) for user in users
    )


def _asks_for_sizes_of_index(user: Node, node: Node) -> bool:
    """Whether the user asks how many elements `node` has along axes that are those of its index, an array."""
    if user.op is not get_op("np::reduced_size"):
        return False
    index, axes = node.inputs[1].type, reduced_axes(user)
    return isinstance(index, ArrayType) and bool(axes) and max(axes) < index.ndim


def _ask_index(node: Node) -> None:
    """Ask the index for those sizes: nobody else may need the result in memory."""
    for user, _ in list(node.output.uses):
        if _asks_for_sizes_of_index(user, node):
            user.attrs["axis"] = reduced_axes(user)
            user.set_input(0, node.inputs[1])


def _is_plain(user: Node) -> bool:
    return is_elementwise(user) and not user.op.schema.written
