"""Facts about graphs: liveness, aliasing and dominance."""

from ljit.analysis.alias import AliasInfo
from ljit.analysis.dominance import dominates, is_visible_at
from ljit.analysis.liveness import Liveness

__all__ = ["AliasInfo", "Liveness", "dominates", "is_visible_at"]
