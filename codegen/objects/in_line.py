"""What native code does itself for operands of some types, where CPython does it for all others."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ljit.codegen.lists.searches import find_number, is_number_missing
from ljit.codegen.llvm.forms import Native
from ljit.codegen.objects import keyed_items
from ljit.codegen.objects.c_api import call_with_tuple
from ljit.codegen.objects.class_flags import flag_test
from ljit.codegen.objects.identities import identity_test
from ljit.codegen.objects.iterators import cell_of, item_of
from ljit.codegen.objects.packed_items import append_item
from ljit.codegen.references.characters import has_character, lacks_character
from ljit.codegen.texts import text_searches
from ljit.codegen.texts.bytearrays import append_byte
from ljit.codegen.texts.decimals import field_of_int, text_of_int
from ljit.codegen.texts.parts import part_of
from ljit.codegen.texts.text_building import joined_texts, reversed_text
from ljit.codegen.texts.texts import append_text
from ljit.ops.containers.iteration_views import new_cell, next_of
from ljit.ops.containers.membership import is_in, is_not_in
from ljit.ops.objects import call_with
from ljit.ops.patterns import MAPPING, SEQUENCE, is_mapping, is_sequence

if TYPE_CHECKING:
    from ljit.codegen.emitter import Emitter

__all__ = ["IN_LINE", "done_in_line"]

#: of an emitter, a function that does it with objects, and the operands; gives None if that is needed
_InLine = Callable[..., "Native | None"]

#: by functions and methods of built-in classes; of several, the first one that can
IN_LINE: dict[Any, tuple[_InLine, ...]] = {
    is_in: (find_number, keyed_items.has_key, has_character),
    is_not_in: (is_number_missing, keyed_items.lacks_key, lacks_character),
    is_sequence: (flag_test(SEQUENCE),),
    is_mapping: (flag_test(MAPPING),),
    new_cell: (cell_of,),
    call_with: (call_with_tuple,),
    next_of: (item_of,),
    operator.add: (joined_texts,),
    operator.iadd: (append_text,),
    operator.eq: (identity_test("eq"),),
    operator.ne: (identity_test("ne"),),
    operator.getitem: (keyed_items.item_of_dict, part_of, reversed_text),
    operator.setitem: (keyed_items.store_in_dict,),
    str: (text_of_int,),
    repr: (text_of_int,),
    format: (field_of_int,),
    dict.get: (keyed_items.item_or_default,),
    dict.setdefault: (keyed_items.set_default,),
    set.add: (keyed_items.add_key,),
    str.startswith: (text_searches.tail_test(-1),),
    str.endswith: (text_searches.tail_test(1),),
    str.find: (text_searches.find_part(1),),
    str.rfind: (text_searches.find_part(-1),),
    str.count: (text_searches.count_parts,),
    str.replace: (text_searches.replace_parts,),
    bytearray.append: (append_byte,),
    array.append: (append_item,),
}


def done_in_line(
    e: Emitter, function: object, args: Sequence[Native], with_objects: Callable[[], Native]
) -> Native | None:
    """Do what a function does to the operands; None: only CPython can."""
    for do in IN_LINE.get(function, ()):
        made = do(e, with_objects, *args)
        if made is not None:
            return made
    return None
