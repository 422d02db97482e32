"""Strings, f-strings and output next to numbers."""

import numpy as np

from tests.programs.harness import program


@program(lambda: (3, 2.5), lambda: (-1, 1e100), lambda: ("x", None))
def f_strings(a, b):
    return f"{a} and {b!r}", f"{a:>5}|{b!s:^12}|", f"{a}{b}" + "end", f"{{{a}}}", f"{a=}"


@program(lambda: (3.14159, 7), lambda: (2.0, 0))
def format_specifications(x, width):
    return f"{x:.2f}", f"{x:{width + 5}.1e}", "%.3f" % x, "{:05.1f}".format(x), str(x), repr(x)


@program(lambda: (3,), lambda: (0,), lambda: (2.5,))
def prints(n):
    print("n is", n)
    total = 0
    for i in range(int(n)):
        total += i
        print(i, total, sep=":", end=";")
    print()
    print(f"{total:4d}", [total], (n,))
    return total


@program(lambda: ("The quick brown fox",), lambda: ("",), lambda: ("äöü ß",))
def string_methods(s):
    vowels = 0
    for c in s:
        if c in "aeiou":
            vowels += 1
    return (
        vowels,
        s.upper(),
        s.split(),
        s[::-1],
        len(s),
        s.replace("q", "Q"),
        s[:3],
        "-".join(s),
        s * 2,
        s == s[::-1],
    )


@program(lambda: ("abracadabra",), lambda: ("",))
def character_counts(s):
    counts = {}
    for c in s:
        counts[c] = counts.get(c, 0) + 1
    best = None
    for c, n in counts.items():
        if best is None or n > counts[best]:
            best = c
    return counts, best, sum(ord(c) for c in s), chr(97 + len(s))


@program(lambda: (255, 2), lambda: (0, 2), lambda: (12345, 16))
def digits_in_base(n, base):
    digits = ""
    while n:
        digits = "0123456789abcdef"[n % base] + digits
        n //= base
    return digits or "0", int(digits or "0", base), hex(n), bin(5)


@program(lambda: ("wklv", 3), lambda: ("abc", 0))
def caesar(s, shift):
    out = ""
    for c in s:
        out += chr((ord(c) - ord("a") - shift) % 26 + ord("a"))
    return out


@program(
    lambda: ([3, -7, 2**70, 3], [1.5, -0.0, float("nan")]),
    lambda: ([], [None, "x"]),
    lambda: ([True, (1, [2])], [1e300]),
)
def texts_of_items(xs, ys):
    joined = ""
    for x in xs:
        joined += str(x) + ","
    for y in ys:
        joined += repr(y) + ";" + str(y)
    return joined, [str(len(joined)), repr(joined)]


@program(lambda: ("a b a c b a",), lambda: ("",), lambda: ("x  y",))
def words_are_counted(text):
    counts = {}
    length = 0.0
    for word in text.split(" "):
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
        length += len(word) * 0.5
    return counts, length


@program(lambda: (30,), lambda: (0,), lambda: (95,))
def remembered_results(n):
    memo = {0: 0, 1: 1}
    for i in range(2, n + 1):
        memo[i] = memo[i - 1] + memo[i - 2]
    return memo[n], len(memo), n in memo, -1 not in memo


@program(lambda: (12, 0.5, "m"))
def report(n, x, unit):
    lines = []
    for i in range(3):
        lines.append(f"{i}: {n * x**i:8.3f} {unit}")
    text = "\n".join(lines)
    print(text)
    return text, b"bytes"[1], "ä" < "z", "a" in text


@program(
    lambda: (4, ".2f"), lambda: (3, "d"), lambda: (2, "?"), lambda: (2, ""), lambda: (2.0, ">7")
)
def fields_in_loops(n, spec):
    lines = []
    for i in range(int(n)):
        x = i * 0.5 - 1
        lines.append(f"{i}:{x:.3f} {i:{spec}}|{n!r:>5}{x}" + f"{lines!s:.5}{'a'}")
    return lines


@program(
    lambda: (["12", "-7", "0", "007", " 5 "], "aB1_ \xe4\u0665"),
    lambda: (["999999999999999999", "9999999999999999999", "-9223372036854775808"], ""),
    lambda: (["1", "x", "2"], "aeiou"),
    lambda: ([""], "A"),
    lambda: ([], "\U0001f600\u20acz"),
)
def numbers_and_kinds_of_characters(words, text):
    kinds = [0] * 8
    for c in text:
        if c.isdigit():
            kinds[0] += 1
        if c.isalpha() and not c.isupper():
            kinds[1] += 1
        if c.isspace() or c.isalnum():
            kinds[2] += 1
        if c in "aeiou":
            kinds[3] += 1
        if c not in " _":
            kinds[4] += 1
        if "a" <= c <= "z":
            kinds[5] += ord(c) - 97
        if c.islower() != (c.lower() == c):
            kinds[6] += 1
        if c.upper() in text:
            kinds[7] += text.count(c) + text.find(c)
    total = 0
    for word in words:
        total += int(word)
    return kinds, total


@program(lambda: (["12", "x", "-7"], "x"), lambda: (["", "9" * 30, "5"], ""), lambda: ([], "abc"))
def numbers_among_words(words, part):
    total = 0
    others = []
    for word in words:
        try:
            total += int(word)
        except ValueError:
            others.append(word)
        if word.startswith(part) or word.endswith("7"):
            others.append(word.replace("7", "seven").strip())
        if part in word:
            total += 1000
    return total, others


@program(
    lambda: ("banana", range(-8, 9)),
    lambda: ("\xe4b\u20ac\U0001f600", [-(2**63), 2**63 - 1, -1, 2]),
    lambda: ("", [0, 1, -1]),
    lambda: ([1, "b", 2.5, None], range(-6, 7)),
    lambda: ([1.5, 2.5, 3.5], [True, False, -2]),
    lambda: ([], [0, 1, -1]),
    lambda: ("abc", [1, 2**64, -(2**64)]),
)
def parts(x, places):
    found = []
    for i in places:
        found.append(x[i:])
        found.append(x[:i])
        for j in places:
            part = x[i:j]
            if part is not x:
                found.append(part)
            found.append(x[i + 1 : j][:2])
    found.append(x[:])
    return found, x[:] is x


@program(
    lambda: ([0, 9, 10, -1, -9, -10, 99, 100, 12345, 2**63 - 1, -(2**63)],),
    lambda: ([1, 2**63, -(2**70)],),
    lambda: ([True, 5, False],),
    lambda: ([1.5, 2.0],),
    lambda: ([np.int64(7), 3],),
)
def digits_of_numbers(xs):
    texts = []
    for x in xs:
        texts.append(str(x))
        texts.append(repr(x))
        texts.append(f"{x}|{x!s}{x!r}|{x:>5}")
    return texts, ",".join(texts)


@program(
    lambda: ("Never odd, or even",),
    lambda: ("[@`{zZaA",),
    lambda: ("\xc4\xe4\xdf\u0130\u01c5",),
    lambda: ("",),
)
def changed_case(text):
    out = ""
    for c in text:
        if c.isalpha():
            out += c.lower() + c.upper()
    for word in text.split():
        out += word.upper() + word.lower() + word[0].upper() + word[1:]
    return out


_PARTS = ("", "a", "ab", "b", "é", "€", "\0", "aab", "x" * 40)


@program(lambda: ("abcab", "ab"), lambda: ("", ""), lambda: ("é" * 3, "é"), lambda: ("a€b€", "€"))
def parts_of_texts(s, part):
    found = []
    for p in (*_PARTS, part, s):
        found.append((s.startswith(p), s.endswith(p), s.find(p), s.rfind(p), s.count(p)))
        found.append(s.replace(p, "-") + p.replace(part, s))
    return found, s.find(part, 1), s.count(part, 0, 2), s.replace(part, "", 1)


@program(lambda: ("ab", 1), lambda: ("ab", None), lambda: ("ab", ("x", "a")), lambda: ("ab", b"a"))
def parts_that_are_none(s, part):
    n = 0
    for _ in range(3):
        n += s.startswith(part)
    return n, s.find(part)
