"""What the uses of a list of known length need: its items, or the list."""

from __future__ import annotations

from collections.abc import Collection

from ljit.ir import Node, Value, get_op
from ljit.passes.containers.last_blocks import end_around, find_ends
from ljit.records import Record, made_by

__all__ = ["ListUses", "item_place"]


class ListUses(Record, frozen=False):
    """How a list is used, by nodes."""

    reads: list[Node] = made_by(factory=list)  # at a constant place
    writes: list[Node] = made_by(factory=list)
    unpacks: list[Node] = made_by(factory=list)
    choices: list[Node] = made_by(factory=list)  # reads at another place
    tuples: list[tuple[Node, int]] = made_by(factory=list)  # where a tuple does as well
    ends: dict[Node, list[tuple[Node, int]]] = made_by(factory=dict)  # the first one sees a list

    @staticmethod
    def of(value: Value, size: int, flows: Collection[tuple[Node, int]] = ()) -> ListUses | None:
        """Sort the uses of a list of `size` items but for `flows`; None if one needs the list before the
        end, or if it flows on from there.
        """
        uses = ListUses()
        ends = find_ends(
            value, lambda *use: use not in flows and not ListUses().add(value, size, *use)
        )
        for use in value.uses:
            end = end_around(use[0], ends)
            if use in flows:
                if end is not None:
                    return None
            elif end is not None:
                uses.ends.setdefault(end, []).append(use)
            elif not uses.add(value, size, *use):
                return None
        return None if uses.are_views_used_behind_ends() else uses

    def are_views_used_behind_ends(self) -> bool:
        """Whether an iteration that began before goes on where the list may change."""
        views = [node.output for node, _ in self.tuples if node.op is get_op("prim::iter")]
        return any(end_around(user, self.ends) for view in views for user, _ in view.uses)

    def add(self, value: Value, size: int, node: Node, index: int) -> bool:
        """Note a use that needs no list; False if it needs one."""
        if node.op is get_op("py::getitem") and index == 0 and node.inputs[1] is not value:
            (self.reads if item_place(node, size) is not None else self.choices).append(node)
        elif node.op is get_op("py::setitem") and _is_written(node, value, index, size):
            self.writes.append(node)
        elif node.op is get_op("prim::Unpack"):
            if node.attrs.get("star") is not None or node.attrs["count"] != size:
                return False
            self.unpacks.append(node)
        elif node.op in (get_op("prim::iter"), *_membership()) and index == len(node.inputs) - 1:
            self.tuples.append((node, index))
        else:
            return False
        return True


def item_place(node: Node, size: int) -> int | None:
    """Give the constant index of an item that `node` reads or writes, counted from the front."""
    place = node.inputs[1]
    index = place.constant if place.is_constant else None
    if type(index) is not int or not -size <= index < size:
        return None
    return index % size


def _membership() -> tuple[object, ...]:
    return get_op("py::contains"), get_op("py::not_contains")


def _is_written(node: Node, value: Value, index: int, size: int) -> bool:
    is_only_target = index == 0 and value not in node.inputs[1:]
    return is_only_target and item_place(node, size) is not None
