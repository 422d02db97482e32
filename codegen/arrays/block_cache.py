"""The text of the cache of memory blocks: mapping, keeping, giving up, and the functions of a handler (NEP 49).

A block begins with its length and whether it was used before (fresh memory is zero); the elements follow. Few bytes
come from `malloc` instead: then the length is 0, and the bytes stand behind.
"""

from __future__ import annotations

__all__ = ["CACHE", "LEAST"]

#: bytes of an array that gets a block; freed ones below that malloc keeps, larger ones it gives back
LEAST = 1 << 17
_SLOTS = 32
_OLD = 64  # blocks come back before one that lies unused is given up
_HUGE = 1 << 21
_LEAST_HUGE = 7 << 18  # 1.75 MiB: one huge page, an eighth of it unused
_HEAD = 64
_BYTES = 16  # where the head of few bytes has their number
_PATIENCE = 1000  # tries to get the lock; then the cache is left alone
_SLOT = "{ptr, i64, i64}"  # block, length, when it came back
_HANDLER_NAME = "ljit" + "\\00" * 123
_PROT, _MAP, _MADV_HUGEPAGE = 0x3, 0x22, 14  # read and write; private and anonymous

_DECLARATIONS = """declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @munmap(ptr, i64)
declare i32 @madvise(ptr, i64, i32)
declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @memset(ptr, i32, i64)
declare ptr @memcpy(ptr, ptr, i64)
"""

_STATE = f"""@slots = internal global [{_SLOTS} x {_SLOT}] zeroinitializer
@lock = internal global i32 0
@kept = global i64 0
@limit = global i64 0
@clock = internal global i64 0
@capsule = global ptr null
@capsule_name = global [12 x i8] c"mem_handler\\00"
@handler = global {{[127 x i8], i8, ptr, ptr, ptr, ptr, ptr}} {{
  [127 x i8] c"{_HANDLER_NAME}", i8 1, ptr null,
  ptr @block_malloc, ptr @block_calloc, ptr @block_realloc, ptr @block_free}}
define internal i1 @take_lock() {{
entry:
  br label %try
try:
  %n = phi i32 [ 0, %entry ], [ %more, %again ]
  %found = cmpxchg ptr @lock, i32 0, i32 1 acquire monotonic
  %is.mine = extractvalue {{i32, i1}} %found, 1
  br i1 %is.mine, label %end, label %again
again:
  %more = add i32 %n, 1
  %is.tired = icmp eq i32 %more, {_PATIENCE}
  br i1 %is.tired, label %end, label %try
end:
  ret i1 %is.mine
}}
define internal void @give_lock() {{
  store atomic i32 0, ptr @lock release, align 4
  ret void
}}
"""

# Bytes of the block for an array: whole pages, whole huge pages if at most an eighth is unused then.
_MAP_BLOCK = f"""define internal i64 @length_for(i64 %bytes) {{
  %more = add i64 %bytes, {_HEAD + 4095}
  %pages = and i64 %more, -4096
  %huge.more = add i64 %pages, {_HUGE - 1}
  %huge = and i64 %huge.more, {-_HUGE}
  %waste = sub i64 %huge, %pages
  %allowed = lshr i64 %pages, 3
  %is.little = icmp ule i64 %waste, %allowed
  %is.large = icmp uge i64 %pages, {_LEAST_HUGE}
  %is.huge = and i1 %is.little, %is.large
  %length = select i1 %is.huge, i64 %huge, i64 %pages
  ret i64 %length
}}
define internal ptr @map(i64 %length) {{
  %first = call ptr @mmap(ptr null, i64 %length, i32 {_PROT}, i32 {_MAP}, i32 -1, i64 0)
  %failed = icmp eq ptr %first, inttoptr (i64 -1 to ptr)
  br i1 %failed, label %none, label %some
none:
  ret ptr null
some:
  %is.small = icmp ult i64 %length, {_LEAST_HUGE}
  br i1 %is.small, label %done, label %large
done:
  ret ptr %first
large:
  %place = ptrtoint ptr %first to i64
  %rest = and i64 %place, {_HUGE - 1}
  %is.aligned = icmp eq i64 %rest, 0
  br i1 %is.aligned, label %advise, label %again
again:
  %gone = call i32 @munmap(ptr %first, i64 %length)
  %wide = add i64 %length, {_HUGE}
  %second = call ptr @mmap(ptr null, i64 %wide, i32 {_PROT}, i32 {_MAP}, i32 -1, i64 0)
  %failed.2 = icmp eq ptr %second, inttoptr (i64 -1 to ptr)
  br i1 %failed.2, label %none, label %trim
trim:
  %from = ptrtoint ptr %second to i64
  %beyond = add i64 %from, {_HUGE - 1}
  %aligned = and i64 %beyond, {-_HUGE}
  %head = sub i64 %aligned, %from
  %tail = sub i64 {_HUGE}, %head
  %end = add i64 %aligned, %length
  %end.at = inttoptr i64 %end to ptr
  %no.head = call i32 @munmap(ptr %second, i64 %head)
  %no.tail = call i32 @munmap(ptr %end.at, i64 %tail)
  %moved = inttoptr i64 %aligned to ptr
  br label %advise
advise:
  %block = phi ptr [ %first, %large ], [ %moved, %trim ]
  %advised = call i32 @madvise(ptr %block, i64 %length, i32 {_MADV_HUGEPAGE})
  ret ptr %block
}}
define internal ptr @fresh(i64 %length) {{
  %first = call ptr @map(i64 %length)
  %failed = icmp eq ptr %first, null
  br i1 %failed, label %flush, label %begin
flush:
  call void @release_all()
  %second = call ptr @map(i64 %length)
  %failed.2 = icmp eq ptr %second, null
  br i1 %failed.2, label %none, label %begin
none:
  ret ptr null
begin:
  %block = phi ptr [ %first, %0 ], [ %second, %flush ]
  store i64 %length, ptr %block
  %data = getelementptr i8, ptr %block, i64 {_HEAD}
  ret ptr %data
}}
"""


def _slot(name: str, index: str) -> str:
    """Text that makes ``%name``, the block of a slot, and ``%name.length``."""
    return f"""  %{name}.at = getelementptr {_SLOT}, ptr @slots, i64 {index}
  %{name}.length.at = getelementptr {_SLOT}, ptr %{name}.at, i64 0, i32 1
  %{name}.stamp.at = getelementptr {_SLOT}, ptr %{name}.at, i64 0, i32 2
  %{name} = load ptr, ptr %{name}.at
  %{name}.length = load i64, ptr %{name}.length.at
  %{name}.stamp = load i64, ptr %{name}.stamp.at
"""


# The block that came back last among those that are at most a quarter too long.
_GET = f"""define internal ptr @get(i64 %bytes) {{
  %is.small = icmp ult i64 %bytes, {LEAST}
  br i1 %is.small, label %little, label %entry
little:
  %more = add i64 %bytes, {_HEAD}
  %small = call ptr @malloc(i64 %more)
  %failed = icmp eq ptr %small, null
  br i1 %failed, label %nothing, label %begin
nothing:
  ret ptr null
begin:
  %small.used.at = getelementptr i8, ptr %small, i64 8
  %bytes.at = getelementptr i8, ptr %small, i64 {_BYTES}
  store i64 0, ptr %small
  store i64 1, ptr %small.used.at
  store i64 %bytes, ptr %bytes.at
  %small.data = getelementptr i8, ptr %small, i64 {_HEAD}
  ret ptr %small.data
entry:
  %length = call i64 @length_for(i64 %bytes)
  %quarter = lshr i64 %length, 2
  %most = add i64 %length, %quarter
  %is.mine = call i1 @take_lock()
  br i1 %is.mine, label %look, label %make
look:
  %i = phi i64 [ 0, %entry ], [ %following, %look ]
  %best = phi i64 [ -1, %entry ], [ %better, %look ]
  %latest = phi i64 [ -1, %entry ], [ %later, %look ]
{_slot("one", "%i")}  %is.some = icmp ne ptr %one, null
  %is.long = icmp uge i64 %one.length, %length
  %is.short = icmp ule i64 %one.length, %most
  %is.late = icmp sgt i64 %one.stamp, %latest
  %fits = and i1 %is.long, %is.short
  %fits.some = and i1 %fits, %is.some
  %is.better = and i1 %fits.some, %is.late
  %better = select i1 %is.better, i64 %i, i64 %best
  %later = select i1 %is.better, i64 %one.stamp, i64 %latest
  %following = add i64 %i, 1
  %is.end = icmp eq i64 %following, {_SLOTS}
  br i1 %is.end, label %looked, label %look
looked:
  %none = icmp eq i64 %better, -1
  br i1 %none, label %unlock, label %take
take:
{_slot("mine", "%better")}  store ptr null, ptr %mine.at
  %kept = load i64, ptr @kept
  %less = sub i64 %kept, %mine.length
  store i64 %less, ptr @kept
  call void @give_lock()
  %used.at = getelementptr i8, ptr %mine, i64 8
  store i64 1, ptr %used.at
  %data = getelementptr i8, ptr %mine, i64 {_HEAD}
  ret ptr %data
unlock:
  call void @give_lock()
  br label %make
make:
  %new = call ptr @fresh(i64 %length)
  ret ptr %new
}}
"""

# Give up the block that came back first, as long as there is more than allowed, or no slot left for another.
_SHRINK = f"""define internal void @shrink(i64 %allowed) {{
entry:
  br label %again
again:
  br label %look
look:
  %i = phi i64 [ 0, %again ], [ %following, %look ]
  %count = phi i64 [ 0, %again ], [ %counted, %look ]
  %first = phi i64 [ 0, %again ], [ %chosen, %look ]
  %oldest = phi i64 [ {(1 << 63) - 1}, %again ], [ %older, %look ]
{_slot("one", "%i")}  %is.some = icmp ne ptr %one, null
  %some = zext i1 %is.some to i64
  %counted = add i64 %count, %some
  %is.early = icmp slt i64 %one.stamp, %oldest
  %is.older = and i1 %is.some, %is.early
  %chosen = select i1 %is.older, i64 %i, i64 %first
  %older = select i1 %is.older, i64 %one.stamp, i64 %oldest
  %following = add i64 %i, 1
  %is.end = icmp eq i64 %following, {_SLOTS}
  br i1 %is.end, label %looked, label %look
looked:
  %kept = load i64, ptr @kept
  %now = load i64, ptr @clock
  %age = sub i64 %now, %older
  %is.any = icmp ne i64 %counted, 0
  %is.full = icmp eq i64 %counted, {_SLOTS}
  %is.over = icmp sgt i64 %kept, %allowed
  %is.stale = icmp sgt i64 %age, {_OLD}
  %is.much = or i1 %is.full, %is.over
  %is.bad = or i1 %is.much, %is.stale
  %goes = and i1 %is.any, %is.bad
  br i1 %goes, label %drop, label %done
drop:
{_slot("mine", "%chosen")}  store ptr null, ptr %mine.at
  %less = sub i64 %kept, %mine.length
  store i64 %less, ptr @kept
  %gone = call i32 @munmap(ptr %mine, i64 %mine.length)
  br label %again
done:
  ret void
}}
define void @release_all() {{
  %is.mine = call i1 @take_lock()
  br i1 %is.mine, label %go, label %done
go:
  call void @shrink(i64 -1)
  call void @give_lock()
  br label %done
done:
  ret void
}}
"""

_PUT = f"""define internal void @put(ptr %data) {{
entry:
  %block = getelementptr i8, ptr %data, i64 {-_HEAD}
  %length = load i64, ptr %block
  %is.small = icmp eq i64 %length, 0
  br i1 %is.small, label %little, label %large
little:
  call void @free(ptr %block)
  ret void
large:
  %limit = load i64, ptr @limit
  %allowed = sub i64 %limit, %length
  %is.large = icmp slt i64 %allowed, 0
  br i1 %is.large, label %unmap, label %try
try:
  %is.mine = call i1 @take_lock()
  br i1 %is.mine, label %keep, label %unmap
unmap:
  %gone = call i32 @munmap(ptr %block, i64 %length)
  ret void
keep:
  %then = load i64, ptr @clock
  %now = add i64 %then, 1
  store i64 %now, ptr @clock
  call void @shrink(i64 %allowed)
  br label %look
look:
  %i = phi i64 [ 0, %keep ], [ %following, %look ]
{_slot("one", "%i")}  %is.free = icmp eq ptr %one, null
  %following = add i64 %i, 1
  br i1 %is.free, label %store, label %look
store:
  store ptr %block, ptr %one.at
  store i64 %length, ptr %one.length.at
  store i64 %now, ptr %one.stamp.at
  %kept = load i64, ptr @kept
  %more = add i64 %kept, %length
  store i64 %more, ptr @kept
  call void @give_lock()
  ret void
}}
"""

_HANDLER = f"""define internal void @clear_used(ptr %data, i64 %bytes) {{
  %used.at = getelementptr i8, ptr %data, i64 {8 - _HEAD}
  %used = load i64, ptr %used.at
  %is.fresh = icmp eq i64 %used, 0
  br i1 %is.fresh, label %done, label %clear
clear:
  %cleared = call ptr @memset(ptr %data, i32 0, i64 %bytes)
  br label %done
done:
  ret void
}}
define ptr @block_malloc(ptr %context, i64 %bytes) {{
  %data = call ptr @get(i64 %bytes)
  ret ptr %data
}}
define ptr @block_calloc(ptr %context, i64 %count, i64 %size) {{
  %both = call {{i64, i1}} @llvm.umul.with.overflow.i64(i64 %count, i64 %size)
  %bytes = extractvalue {{i64, i1}} %both, 0
  %is.wrong = extractvalue {{i64, i1}} %both, 1
  br i1 %is.wrong, label %none, label %try
none:
  ret ptr null
try:
  %data = call ptr @get(i64 %bytes)
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %none, label %some
some:
  call void @clear_used(ptr %data, i64 %bytes)
  ret ptr %data
}}
define ptr @block_realloc(ptr %context, ptr %old, i64 %bytes) {{
  %is.null = icmp eq ptr %old, null
  br i1 %is.null, label %first, label %again
first:
  %made = call ptr @get(i64 %bytes)
  ret ptr %made
again:
  %block = getelementptr i8, ptr %old, i64 {-_HEAD}
  %length = load i64, ptr %block
  %wanted = call i64 @length_for(i64 %bytes)
  %half = lshr i64 %length, 1
  %is.long = icmp uge i64 %length, %wanted
  %is.short = icmp ule i64 %half, %wanted
  %stays = and i1 %is.long, %is.short
  br i1 %stays, label %same, label %move
same:
  ret ptr %old
move:
  %new = call ptr @get(i64 %bytes)
  %failed = icmp eq ptr %new, null
  br i1 %failed, label %none, label %copy
none:
  ret ptr null
copy:
  %is.small = icmp eq i64 %length, 0
  %bytes.at = getelementptr i8, ptr %block, i64 {_BYTES}
  %few = load i64, ptr %bytes.at
  %many = sub i64 %length, {_HEAD}
  %room = select i1 %is.small, i64 %few, i64 %many
  %count = call i64 @llvm.umin.i64(i64 %room, i64 %bytes)
  %copied = call ptr @memcpy(ptr %new, ptr %old, i64 %count)
  call void @put(ptr %old)
  ret ptr %new
}}
define void @block_free(ptr %context, ptr %data, i64 %bytes) {{
  %is.null = icmp eq ptr %data, null
  br i1 %is.null, label %done, label %free
free:
  call void @put(ptr %data)
  br label %done
done:
  ret void
}}
declare {{i64, i1}} @llvm.umul.with.overflow.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
"""

#: `get(bytes)` and `fresh(length_for(bytes))` give elements or null, `put` takes them back
CACHE = "".join((_DECLARATIONS, _STATE, _MAP_BLOCK, _GET, _SHRINK, _PUT, _HANDLER))
