"""Programs that ask which object a tuple or a range is: by ``id(x)`` as a key, or by ``x is y``."""

from __future__ import annotations

from collections import namedtuple

from tests.programs.harness import program

Tree = namedtuple("Tree", "value children")


def _count(node, seen):
    if id(node) in seen:
        return 0
    seen.add(id(node))
    count = 1
    for child in node[1]:
        count += _count(child, seen)
    return count


def _shared_nodes(value):
    leaf = (value, ())
    return (1, (leaf, leaf, (2.5, (leaf,)), (3.5, (leaf, (4.5, ())))))


@program(
    lambda: (_shared_nodes(2),),
    lambda: (_shared_nodes(1.5),),
    lambda: (_shared_nodes("a"),),
    lambda: ((0, ()),),
)
def number_of_nodes(tree):
    return _count(tree, set()), _count((1, (tree, tree)), set())


@program(lambda: (2,), lambda: (2.5,), lambda: ("a",))
def number_of_nodes_made(value):
    leaf = (value, ())
    inner = (2.5, (leaf,))
    tree = (1, (leaf, leaf, inner, (3.5, (leaf, inner))))
    return _count(tree, set()), _count((1, (tree, tree)), set())


def _depth(node, target, depth):
    if node is target:
        return depth
    for child in node[1]:
        found = _depth(child, target, depth + 1)
        if found >= 0:
            return found
    return -1


@program(lambda: (2,), lambda: (7.5,))
def depth_of_a_node(value):
    leaf, other = (value, ()), (value + 1, ())
    tree = (1, ((2, ()), (3, (leaf,)), leaf))
    return _depth(tree, leaf, 0), _depth(tree, other, 0), _depth(tree, tree, 0)


def _visit(node, seen):
    key = id(node)
    if key in seen:
        return 0
    seen[key] = node
    return 1 + sum([_visit(child, seen) for child in node.children])


@program(lambda: (1,), lambda: (2.5,))
def named_nodes(value):
    a = Tree(value, ())
    b = Tree(value, (a, a))
    seen = {}
    count = _visit(Tree(2, (b, a, b)), seen)
    return count, [x.value for x in seen.values()], [seen[id(x)] is x for x in (a, b)]


def _copied(x, copies, kept):
    """As `copy.deepcopy` does it."""
    key = id(x)
    if key in copies:
        return copies[key]
    if type(x) is tuple:
        made = tuple([_copied(item, copies, kept) for item in x])
        for item, other in zip(x, made):
            if item is not other:
                break
        else:
            made = x
    else:
        made = [x]
    if made is not x:
        copies[key] = made
        kept.append(x)
    return made


@program(
    lambda: ((range(3), range(1, 7)),),
    lambda: ((range(3), range(2), (range(5), range(6))),),
    lambda: ((1.5, 2.5, (1.5, (2, 3))),),
)
def copies_of_items(x):
    return str(_copied(x, {}, [])), str(_copied((x, x), {}, []))


def _swapped(a, b, trips):
    x, ids = a, []
    for _ in range(trips):
        ids.append(id(x))
        x, b = b, x
    return [key == id(a) for key in ids]


@program(lambda: (5,), lambda: (6,))
def identities_through_loops(n):
    return _swapped((n, 2), (n, 3), n), _swapped(range(n), range(n + 1), n)


def _once(xs):
    seen, found = set(), []
    for x in xs:
        if id(x) not in seen:
            seen.add(id(x))
            found.append(x)
    return found


@program(lambda: (4,), lambda: (2.5,))
def items_once(n):
    a, b = (n, 1), (n, 4)
    return _once([a, b, a, b]), _once([a, 1, None, "x", a]), _once((a, b, a))


@program(lambda: (5,), lambda: (30,))
def ids_of_what_a_loop_makes(n):
    seen, kept, by_id = set(), [], {}
    for i in range(n):
        pair = (i, i * 1.5)
        kept.append(pair)
        seen.add(id(pair))
        by_id[id(pair)] = pair
    return len(seen), [id(x) in seen for x in kept], [by_id[id(x)] is x for x in kept]


@program(lambda: (2,), lambda: (1.5,))
def results_by_identity(n):
    results = {}
    xs = [(i, n) for i in range(20)]
    for x in xs + xs:
        if id(x) not in results:
            results[id(x)] = (x, sum(x))
    return len(results), [results[id(x)][1] for x in xs]


def _made(k):
    return (k, k + 1) if k < 1 else _made(k - 1)


@program(lambda: (3, (1, 2)), lambda: (5, None))
def results_of_native_calls_by_identity(n, mark):
    kept = [_made(k) for k in range(n)]
    total = 0
    for k in range(n):
        x = _made(k)
        if x is not mark and x is not kept[k]:
            total += x[1]
    return total
