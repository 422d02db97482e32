"""Programs of `container_loops.py` that count, group and look up, in dicts, strs and bytearrays."""

from __future__ import annotations


def words_of_text(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def letters(text):
    counts = [0] * 26
    others = {}
    for c in text:
        if c.islower():
            counts[ord(c) - 97] += 1
        else:
            others[c] = others.get(c, 0) + 1
    return counts, others


def grouping(rows):
    groups = {}
    for name, value in rows:
        if name not in groups:
            groups[name] = []
        groups[name].append(value)
    means = {}
    for name, values in groups.items():
        means[name] = sum(values) / len(values)
    return means


def dedupe(xs):
    seen = set()
    kept = []
    for x in xs:
        if x not in seen:
            seen.add(x)
            kept.append(x)
    return kept


def two_sum(xs, target):
    seen = {}
    for i, x in enumerate(xs):
        if target - x in seen:
            return seen[target - x], i
        seen[x] = i
    return None


def brackets(text):
    pairs = {")": "(", "]": "[", "}": "{"}
    stack = []
    for c in text:
        if c in "([{":
            stack.append(c)
        elif not stack or stack.pop() != pairs[c]:
            return False
    return not stack


def edit_distance(a, b):
    before = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
        before = row
    return before[-1]


def sieve_bytes(n):
    flags = bytearray(n + 1)
    count = 0
    for i in range(2, n + 1):
        if not flags[i]:
            count += 1
            for j in range(i * i, n + 1, i):
                flags[j] = 1
    return count


def cases(n, words, numbers):
    """Each program with its arguments."""
    text = " ".join(words)
    return (
        (words_of_text, (text,)),
        (letters, (text,)),
        (grouping, ([(word, k) for k, word in enumerate(words)],)),
        (dedupe, (words,)),
        (two_sum, (numbers, 1)),
        (brackets, ("([]{()})" * (n // 10),)),
        (edit_distance, ("kitten sitting" * 5, "sitting kitten" * 5)),
        (sieve_bytes, (n,)),
    )
