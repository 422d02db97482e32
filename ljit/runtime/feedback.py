"""What a plan has learnt: observed types, failed guards, variables that change."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ljit.profile import Profile
from ljit.types import Type

__all__ = ["PlanFeedback"]

CHANGES_OF_UNSTABLE = 2  # changes of a global variable after which it is no longer a constant


@dataclass(slots=True, eq=False)
class PlanFeedback:
    """The `Feedback` that the specialiser reads, filled by the interpreter and by bailouts."""

    profile: Profile = field(default_factory=Profile)
    widened: set[int] = field(default_factory=set)
    changes: Counter[str] = field(default_factory=Counter)

    def observed(self, node_id: int) -> Type | None:
        return self.profile.observed(node_id)

    def is_widened(self, node_id: int) -> bool:
        return node_id in self.widened

    def is_unstable(self, name: str) -> bool:
        return self.changes[name] >= CHANGES_OF_UNSTABLE
