"""Fuse the elementwise ops of one block: the steps of `fuse` in their order, and the making of Maps."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ljit.analysis.own_memory import is_apart
from ljit.ir import Block, Node, Value, get_op
from ljit.ops.control import MAP, YIELD
from ljit.passes.fusion.fuse_columns import split_columns
from ljit.passes.fusion.fuse_copies import cast_copies
from ljit.passes.fusion.fuse_counted import count_elements
from ljit.passes.fusion.fuse_gathers import check_places
from ljit.passes.fusion.fuse_groups import Group, has_outside_uses, plan_groups
from ljit.passes.fusion.fuse_joins import store_parts
from ljit.passes.fusion.fuse_masks import spread_masks
from ljit.passes.fusion.fuse_nodes import (
    element_inputs,
    element_op,
    element_type,
    is_gather,
    is_reduction,
    is_store,
    is_turned_gather,
    is_writing,
    needs_elements,
    stretches,
)
from ljit.passes.fusion.fuse_parts import compute_parts
from ljit.passes.fusion.fuse_rolls import rolls_of_more_axes, wrap_rolled
from ljit.passes.fusion.fuse_stores import merge_stores
from ljit.passes.fusion.fuse_updates import make_updates_plain
from ljit.passes.fusion.fuse_views import move_views_up
from ljit.passes.manager import is_allowed
from ljit.passes.rewriting import move_users_behind
from ljit.types import ArrayType, RangeType

__all__ = ["fuse_block"]

NAME = "fuse"


def fuse_block(block: Block, failed: Collection[int]) -> bool:
    """Fuse what stands in the block itself; whether there was anything to fuse."""
    changed = cast_copies(block) | split_columns(block) | store_parts(block, failed)
    while make_updates_plain(block, failed) | spread_masks(block, failed):
        changed = True
    changed |= move_views_up(block)
    rolls = rolls_of_more_axes(block)
    changed |= compute_parts(block, failed, rolls)
    changed |= check_places(block) | count_elements(block)
    for nodes in list(stretches(block)):
        for group in plan_groups(nodes, failed):
            if is_allowed(NAME, group.root):
                _build(group)
                changed = True
    changed |= merge_stores(block, failed) | wrap_rolled(block, rolls)
    return changed


def _build(group: Group) -> None:
    """Put the Map in the place of the group's last node."""
    root, nodes = group.root, _in_order(group)
    move_users_behind(nodes, group.shared)
    target = _target(root)
    computed = [node for node in nodes if not is_store(node)]
    stored = [root.inputs[-1] if is_store(root) else root.output] if target is not None else []
    fresh = [v for v in _results(group, computed) if v not in stored or is_store(root)]
    inputs = _outer_inputs(computed)
    written = [target] if target is not None else []
    attrs: dict[str, object] = {"into": len(written)}
    covers = _covers(group, computed, inputs)
    if covers:
        attrs["covers"] = covers
    turned = {tuple(map(inputs.index, v.inputs[1:])) for v in computed if is_turned_gather(v)}
    if turned:
        attrs["turned"] = tuple(sorted(turned))
    if target is not None and is_apart(target, inputs):
        attrs["apart"] = True
    attrs.update(_reductions(group, fresh))
    types = [value.type for value in fresh]
    new = root.graph.create(MAP, [*written, *inputs], attrs, outputs=types, like=root)
    _fill(new, computed, inputs, [*stored, *fresh])
    new.insert_before(nodes[-1])
    if target is not None and not is_store(root):
        root.output.replace_all_uses_with(target)
    for value, made in zip(fresh, new.outputs, strict=True):
        value.replace_all_uses_with(made)
    for node in reversed(nodes):
        if not any(out.uses for out in node.outputs):  # else another group computes it, too
            node.erase()


def _in_order(group: Group) -> list[Node]:
    block = group.root.block
    assert block is not None
    return [node for node in block if node in group.members]


def _results(group: Group, nodes: Sequence[Node]) -> list[Value]:
    """List the values that others need, and the extrema that raise if there are no elements."""
    own = [node for node in nodes if node not in group.shared]
    return [n.output for n in own if has_outside_uses(n.output, group) or needs_elements(n)]


def _reductions(group: Group, fresh: Sequence[Value]) -> dict[str, object]:
    """The attributes that say which results are reduced, and how."""
    if group.reduced is None:
        return {}
    axes, keepdims = group.reduced
    rules = [v.node.op.reduction if v.node is not None else None for v in fresh]
    reduce = tuple(rule.combine if rule is not None else None for rule in rules)
    return {"reduce": reduce, "axes": axes, "keepdims": keepdims}


def _covers(
    group: Group, nodes: Sequence[Node], inputs: Sequence[Value]
) -> tuple[tuple[int, ...], ...]:
    """List the positions of inputs whose broadcast shape has to be that of the nest."""
    sources: dict[Value, frozenset[int]] = {
        v: frozenset((i,))
        for i, v in enumerate(inputs)
        if isinstance(v.type, ArrayType | RangeType)
    }
    found: set[frozenset[int]] = set()
    everything = frozenset[int]().union(*sources.values())
    for node in nodes:
        own = frozenset[int]().union(*(sources.get(v, frozenset()) for v in element_inputs(node)))
        sources[node.output] = own
        if node in group.covering and (own != everything or group.is_writing):
            found.add(own)
    return tuple(sorted(tuple(sorted(own)) for own in found if not any(x < own for x in found)))


def _target(root: Node) -> Value | None:
    """Give the array that the Map writes to; None for a fresh one."""
    if not is_writing(root):
        return None
    if is_store(root) and len(root.inputs) == 3:
        view = root.graph.create(get_op("np::getitem"), root.inputs[:2], like=root)
        view.proven = root.proven
        return view.insert_before(root).output
    return root.inputs[0]


def _outer_inputs(nodes: Sequence[Node]) -> list[Value]:
    inside = set(nodes)
    found: dict[Value, None] = {}
    for node in nodes:
        for value in element_inputs(node):
            if value.node not in inside:
                found[value] = None
    return list(found)


def _fill(
    map_: Node, nodes: Sequence[Node], inputs: Sequence[Value], results: Sequence[Value]
) -> None:
    """Write the body: the nodes' ops on elements."""
    body = map_.add_block((v.name, element_type(v.type)) for v in inputs)
    elements = dict(zip(inputs, body.params, strict=True))
    for node in nodes:
        if is_reduction(node):
            elements[node.output] = elements[node.inputs[0]]
            continue
        operands = [elements[v] for v in element_inputs(node)]
        if is_gather(node):
            operands.insert(0, node.inputs[0])
        new = body.create(element_op(node), operands, node.attrs, like=node)
        new.output.name = node.output.name
        elements[node.output] = new.output
    body.create(YIELD, [elements[v] for v in results])
