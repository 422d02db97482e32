"""Strs that grow in loops, while others may have them too."""

from tests.programs.harness import program


@program(
    lambda: ("hello world", 3), lambda: ("", 2), lambda: ("aeiou" * 5, 1), lambda: ("äöü€😀x", 2)
)
def grows_in_branches(s, n):
    out = ""
    count = 0
    for _ in range(n):
        for c in s:
            if c in "aeiou":
                out += c
                count += 1
            elif count % 3 == 1:
                out += c + "!"
            if count % 2:
                out += "."
    return out, count


@program(lambda: (6,), lambda: (0,), lambda: (1,))
def earlier_ones_are_kept(n):
    s = ""
    seen = []
    by_text = {}
    before = pair = ("", 0)
    last = ""
    for i in range(n):
        s += "ab"
        if i % 2:
            seen.append(s)
        if i % 3 == 0:
            last = s
        by_text[s] = i
        before, pair = pair, (s, i)
        s += str(i)
    return s, seen, by_text, before, pair, last


@program(lambda: ("x", 5), lambda: ("", 3))
def of_itself(s, n):
    t = s
    for i in range(n):
        t += t
        s += t
        if i == 1:
            t = s
    return s, t


@program(lambda: (7,), lambda: (0,))
def used_behind_the_sum(n):
    s = "start"
    total = 0
    for i in range(n):
        t = s
        s += "-"
        total += len(t) * 100 + len(s)
        if t == s:
            s = ""
    return s, total


@program(lambda: (5, 2), lambda: (4, 9))
def taken_from_a_list(n, stop):
    words = ["a", "bc"]
    for i in range(n):
        words[i % 2] += words[(i + 1) % 2]
        w = words[0]
        w += "!"
        if i == stop:
            words.append(w)
    return words, w


@program(lambda: (5, 2), lambda: (4, 9), lambda: (3, None))
def fails_in_the_middle(n, k):
    s = ""
    for i in range(n):
        s += chr(97 + i)
        if i == k:
            s += k
    return s + k * 1


@program(lambda: (9, 4), lambda: (12, 0))
def while_loops_with_exits(n, k):
    out, i = "", 0
    while True:
        i += 1
        if i > n:
            break
        if i == k:
            continue
        out += "0123456789abcdef"[i % 16]
        if out == "123":
            return out, i
        out += ","
    return out


@program(lambda: ("the cat the dog a cat",), lambda: ("",), lambda: ("one",))
def words_by_hand(text):
    counts = {}
    word = ""
    total = 0.0
    for c in text + " ":
        if c == " ":
            if word in counts:
                counts[word] += 1
            elif word:
                counts[word] = 1
            total += len(word) * 0.5
            word = ""
        else:
            word += c
    return counts, total


@program(
    lambda: ("abcXYZ,. def" * 60,), lambda: ("",), lambda: ("aXä€b" * 9,), lambda: ("z" * 700,)
)
def grows_on_each_side(s):
    out = ""
    sizes = []
    for c in s:
        if c < "a":
            out += "<"
        elif c < "d":
            out += c
            out += c
        elif c == "z":
            out += ""
        else:
            out += chr(ord(c) + 1)
        if len(out) % 64 < 2:
            sizes.append((len(out), hash(out) == hash(out + ""), out[-3:]))
    return out, sizes, out.encode()


@program(lambda: (300, "xy"), lambda: (5, "é"), lambda: (40, ""), lambda: (200, "\U0001f600"))
def kept_while_they_grow(n, t):
    out = ""
    kept = {}
    names = []
    for i in range(n):
        before = out
        out += t
        if i % 7 == 0:
            kept[out] = i
        out += "-"
        if i % 11 == 0:
            names.append(before)
        if i % 50 == 3:
            out += out
    return out, kept, [len(x) for x in names], names[-1:]


@program(lambda: ("ab" * 300, 3), lambda: ("ä", 2), lambda: ("", 1), lambda: ("a\0b", 4))
def grown_anew_in_each_trip(s, n):
    rows = []
    for i in range(n):
        row = s
        for k in range(i + 2):
            row += "|"
            row += str(k)
        rows.append(row)
    return rows, s


@program(lambda: ("abc", "d", 7), lambda: ("", "x", -1), lambda: ("é", "a", 3), lambda: ("", "", 0))
def put_together(x, y, n):
    short = x[:1] + y[:1]
    return (
        x + y,
        y + x,
        f"{x}{y}",
        f"{x}-{n}:{y}",
        f"{n}{x}",
        short,
        x[:1] + y[:0] == x[:1],
        {f"{x}{n}": 1, x + str(n): 2},
        [f"{c}{c}{n}" for c in x + y],
    )


@program(lambda: ("abcd" * 50,), lambda: ("a",), lambda: ("",), lambda: ("aé€",), lambda: ("ab\0",))
def turned_around(s):
    rest = [s[i:][::-1] for i in range(min(len(s), 5))]
    return s[::-1], rest, s[::-1] == s, s[::-2], s[2::-1]
