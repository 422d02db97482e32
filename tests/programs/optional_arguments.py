"""Calls with arguments that may be None: trees and lists of objects, in functions and methods."""

from tests.programs.harness import program


class Node:
    def __init__(self, key, left=None, right=None):
        self.key = key
        self.left = left
        self.right = right

    def __eq__(self, other):
        return shape(self) == shape(other)

    __hash__ = None


class Odd:
    """Has the attributes of a node, and is none."""

    def __init__(self):
        self.key = 0.5
        self.left = self.right = None


class Tree:
    def __init__(self, keys):
        self.root = None
        self.size = 0
        for key in keys:
            self.root = self.added(self.root, key)

    def added(self, node, key):
        if node is None:
            self.size += 1
            return Node(key)
        if key < node.key:
            node.left = self.added(node.left, key)
        elif key > node.key:
            node.right = self.added(node.right, key)
        return node

    def has(self, node, key):
        if not node:
            return False
        return key == node.key or self.has(node.left if key < node.key else node.right, key)


def shape(node):
    if not isinstance(node, Node | Odd):
        return node
    return type(node), shape(node.left), node.key, shape(node.right)


def built(keys):
    root = None
    for key in keys:
        root = Tree.added(Tree(()), root, key)
    return root


def some_keys():
    return [(k * 37 + 50) % 101 for k in range(40)]


def with_an_odd_leaf():
    root = built(some_keys())
    node = root
    while node.left is not None:
        node = node.left
    node.left = Odd()
    return root


def with_a_number():
    root = built(some_keys())
    root.left.right.left = 7
    return root


@program(
    lambda: (built(some_keys()),),
    lambda: (None,),
    lambda: (built([1]),),
    lambda: (with_an_odd_leaf(),),
    lambda: (with_a_number(),),
    lambda: (built(some_keys()),),
)
def depth(node):
    if node is None:
        return 0
    return 1 + max(depth(node.left), depth(node.right))


@program(lambda: (built(some_keys()),), lambda: (with_an_odd_leaf(),), lambda: (built([5, 3]),))
def total(node):
    return 0 if node is None else total(node.left) + node.key + total(node.right)


@program(
    lambda: (built(some_keys()), []),
    lambda: (None, []),
    lambda: (with_an_odd_leaf(), []),
    lambda: (with_a_number(), [1]),
)
def keys_in_order(node, out):
    if node is not None:
        keys_in_order(node.left, out)
        out.append(node.key)
        keys_in_order(node.right, out)


@program(
    lambda: (built(some_keys()), built(some_keys())),
    lambda: (built(some_keys()), built(some_keys()[:-1])),
    lambda: (built([2, 1]), built([2, 1, 3])),
    lambda: (None, built([1])),
    lambda: (with_an_odd_leaf(), with_an_odd_leaf()),
)
def same_keys(a, b):
    if a is None or b is None:
        return a is b
    return a.key == b.key and same_keys(a.left, b.left) and same_keys(a.right, b.right)


@program(lambda: (built(some_keys()),), lambda: (built([3, 9, 1, 2]),), lambda: (with_a_number(),))
def mirrored(node):
    if node is None:
        return None
    made = Node(node.key)
    made.left, made.right = mirrored(node.right), mirrored(node.left)
    return made


@program(lambda: (some_keys(),), lambda: ([],), lambda: ([2.5, 1, 2.5, 7],), lambda: (["b", "a"],))
def trees(keys):
    tree = Tree(keys)
    found = [tree.has(tree.root, key) for key in keys[::3]]
    return tree.size, found, tree.root


@program(lambda: (built(some_keys()), 0), lambda: (built([3, 1]), 5), lambda: (built([3]), None))
def paths(node, depth):
    """Arguments that are None for other reasons."""
    if node is None:
        return depth
    others = paths(node.left, (depth or 0) + 1), paths(node.right, None if node.key % 7 == 0 else 2)
    return (others[0] or 1) * 3 % 101 + (others[1] or 5)
