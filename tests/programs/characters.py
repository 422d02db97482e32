"""Characters that stay codes in native code, and those that become strs again."""

from tests.programs.harness import program

ODD = "a\0 \x7f\x80\xffĀ€\ud800😀A9٣ßİ"


class Text(str):
    """A str of another class, with characters of its own."""

    __slots__ = ()

    def __getitem__(self, index):
        return str.__getitem__(self, index).upper()


def texts(*others):
    """Argument factories: strs of all widths, with further arguments behind them."""
    return [lambda s=s: (s, *others) for s in ("hello world", "", "x", ODD, Text("ab"), "aab" * 9)]


@program(*texts())
def the_one_before(s):
    n = 0
    before = ""
    for c in s:
        if c != before:
            n += 1
        if c in "aeiou" and before not in "lr":
            n += 100
        if before == "":
            n += 10000
        before = c
    return n, before, before == "", len(before), bool(before), not before


@program(*texts())
def starts_as_none(s):
    before = None
    same = 0
    for c in s:
        if c == before:
            same += 1
        before = c
    return same, before


@program(*texts())
def starts_as_a_longer_one(s):
    before = "start"
    found = []
    for c in s:
        if before < c:
            found.append(before + c)
        before = c
    return found, before


@program(*texts())
def orders(s):
    counts = [0] * 8
    last = ""
    for c in s:
        counts[0] += "a" <= c <= "z"
        counts[1] += c > last
        counts[2] += c >= "\x80"
        counts[3] += c < "ab"
        counts[4] += c == "ab"
        counts[5] += c != ""
        counts[6] += last <= c
        counts[7] += c is c
        last = c
    return counts, max(s, default="-"), min(s, default="-")


@program(*texts())
def kinds(s):
    found = []
    for c in s:
        found.append(
            (c.isdigit(), c.isalpha(), c.isupper(), c.isspace(), c.isprintable(), c.isascii())
        )
    e = s[:0]
    return found, e.isascii(), e.isdigit(), "".isprintable(), "" in "", "" in "abc", "a" in ""


@program(*texts())
def end_marks(s):
    i = n = 0
    while True:
        c = s[i] if i < len(s) else ""
        if c == "":
            break
        n += ord(c) * (i + 1)
        i += 1
    return n, c, c.isascii(), c.isprintable(), c.isdigit(), c.upper(), c + "!", c * 3


@program(*texts(), lambda: ("12a",), lambda: ("７",))
def digits(s):
    total = 0
    for c in s:
        if c.isdecimal():
            total = total * 10 + int(c)
        elif c in ("a", "b", "ab"):
            total += ord(c)
    return total


@program(lambda: ("1234",), lambda: ("12x4",), lambda: ("1 2",), lambda: ("",), lambda: ("٣",))
def not_a_digit(s):
    total = 0
    for c in s:
        total += int(c)
    return total, [int(c, 36) for c in s]


@program(lambda: ("abc", 0), lambda: ("abc", 2), lambda: ("", 0), lambda: ("a", 1))
def code_of_nothing(s, i):
    c = s[i] if i < len(s) else ""
    return ord(c) + i


@program(*texts())
def as_objects(s):
    places = {}
    pairs = {}
    kept = []
    seen = set()
    before = "-"
    for i, c in enumerate(s):
        places.setdefault(c, []).append(i)
        pairs[before, c] = pairs.get((before, c), 0) + 1
        kept.append((i, c))
        if c in seen:
            kept.append(c)
        seen.add(c)
        before = c
    return places, pairs, kept, sorted(seen), [type(c) for c in s], isinstance(before, str)


@program(*texts())
def same_objects(s):
    first = [c for c in s]
    second = []
    for c in s:
        second.append(c)
    return [x is y for x, y in zip(first, second) if x <= "\xff"], first == second


@program(*texts())
def two_at_once(s):
    equal = 0
    pairs = []
    for x, y in zip(s, reversed(s)):
        equal += x == y
        if x < y:
            pairs.append((x, y))
    for p in zip(s, s[1:]):
        if p == ("l", "l") or p in (("a", "a"), ("o", " ")):
            equal += 1000
        pairs.append(p)
    return equal, pairs


@program(*texts())
def changed_and_joined(s):
    out = ""
    parts = []
    for c in s:
        if c.isalpha():
            parts.append(c.lower() if c.isupper() else c.upper())
        d = chr(min(ord(c) + 1, 0xD7FF))
        out += d
        out = c + out if c > "m" else out + c
    return out, "".join(parts), s.count("l"), [c * 2 for c in s], f"{out}{s[:1]}"


def _is_vowel(c):
    return c == "a" or c == "e" or c in "iou"


def _rank(c, depth):
    if depth == 0 or c == "":
        return c
    return _rank(c if depth % 2 else c.lower(), depth - 1)


@program(*texts())
def given_to_functions(s):
    return sum(1 for c in s if _is_vowel(c)), [_rank(c, 4) for c in s], [_rank("", 2)]


@program(*texts())
def matched(s):
    found = []
    state = "start"
    for c in s:
        match c:
            case "a" | "e":
                found.append(1)
            case " ":
                state = "space"
            case "l" if state == "start":
                state = "l"
            case _:
                found.append(state)
    return found, state


@program(*texts())
def constants_of_all_kinds(s):
    sep = ","
    empty = ""
    table = {"a": "b", "": 0, "l": "\xe4"}
    words = ["a", "", "bc"]
    found = [table.get(c, sep) for c in s]
    return sep.join(map(str, found)), empty + sep, words.index(""), "ab"[0], sep[0], words + [sep]


@program(*texts())
def left_in_the_middle(s):
    seen = []
    previous = ""
    for c in s:
        seen.append(previous)
        if c == "w":
            seen.append(1 / len(seen[0]))
        previous = c
    return seen


@program(lambda: (["ab", "b", "", "abc"], "b"), lambda: (["€", "ä"], "ä"), lambda: ([], ""))
def beside_other_texts(words, wanted):
    found = 0
    for w in words:
        if w == "b" or w == wanted:
            found += 1
        for c in wanted:
            found += 10 * (w != c) + 100 * (c <= w) + 1000 * (c in w) + 10000 * (w in (c, "ab"))
    return found


@program(*texts())
def chars_in_lists(s):
    chars = list(s)
    i, j = 0, len(chars) - 1
    while i < j:
        chars[i], chars[j] = chars[j], chars[i]
        i += 1
        j -= 1
    stack = []
    for c in s:
        if stack and stack[-1] == c:
            stack.pop()
        else:
            stack.append(c)
    pair = [s[:1], "-"]
    pair[0] = "x" if len(s) > 2 else pair[1]
    return chars, stack, pair


@program(lambda: (97,), lambda: (0x20AC,), lambda: (0,), lambda: (-1,), lambda: (0x110000,))
def of_codes(i):
    c = chr(i)
    return c, ord(c), c == "a", c.isalpha(), c + c, {c: c}, c.upper()


@program(*texts(range(-3, 30)))
def missing_ones_are_handled(s, places):
    missing = vowels = 0
    found = []
    for i in places:
        try:
            c = s[i]
        except IndexError:
            missing += 1
            continue
        vowels += c in "aeiou"
        if c != "l":
            found.append(c)
    return missing, vowels, found
