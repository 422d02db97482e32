"""The next item of an iterator, without a call of Python's `next`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ljit.codegen.forms import Native
from ljit.codegen.refcounts import counter

if TYPE_CHECKING:
    from collections.abc import Callable

    from ljit.codegen.emitter import Emitter

__all__ = ["item_or"]

_NAME = "next_or"


def item_or(e: Emitter, _call: Callable[[], Native], iterator: Native, end: Native) -> Native:
    """Advance what is an iterator for sure; `end` behind its last item."""
    module = e.f.module
    module.declare("PyIter_Next", "ptr", ["ptr"])
    module.declare("PyErr_Occurred", "ptr", [])
    name = module.define(_NAME, _SOURCE.replace("retain", counter(module, "retain")))
    return e.owned_result(e.f.call("ptr", name, (iterator.ref, end.ref)))


_SOURCE = f"""define internal ptr @{_NAME}(ptr %iterator, ptr %end) nounwind {{
  %item = call ptr @PyIter_Next(ptr %iterator)
  %none = icmp eq ptr %item, null
  br i1 %none, label %ask, label %done
ask:
  %error = call ptr @PyErr_Occurred()
  %failed = icmp ne ptr %error, null
  br i1 %failed, label %done, label %behind
behind:
  call void @retain(ptr %end)
  ret ptr %end
done:
  ret ptr %item
}}"""
