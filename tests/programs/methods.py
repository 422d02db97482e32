"""Methods: `super()` in all its ways."""

import numpy as np

from tests.programs.harness import Args, program


class Scale:
    def __init__(self, factor, *names):
        self.factor = factor
        self.names = list(names)

    def apply(self, xs, offset=0.0):
        return [x * self.factor + offset for x in xs]

    def describe(self, **options):
        return "Scale", options

    @property
    def unit(self):
        return "m"

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)


class Noting(Scale):
    def apply(self, xs, offset=0.0):
        self.names.append(len(xs))
        return super().apply(xs, offset)


class Clipped(Noting):
    limit = 5.0

    @program(
        lambda: (Clipped(2.0), [1.0, 2.5, 4.0]),
        lambda: (Clipped(3, "a"), [1, 2, 3]),
        lambda: (Clipped(2.0), 3),
        lambda: (Scale(2.0), [1.0]),
        lambda: (None, [1.0]),
        lambda: (Clipped(np.arange(3.0)), [2.0]),
    )
    def apply(self, xs, offset=1.0):
        total = 0.0
        for x in super().apply(xs, offset=offset):
            total += min(x, self.limit) if isinstance(x, int | float) else x.sum()
        return total, self.names

    @program(lambda: (Clipped(2.0), 40), lambda: (Clipped(3), 2))
    def apply_often(self, n):
        total = 0.0
        for i in range(n):
            total += super().apply([i * 0.5])[0]
        return total, self.names, super().unit

    @program(lambda: Args((Clipped(2.0),), {"a": 1, "b": 2}), lambda: (Clipped(1),))
    def describe(self, **options):
        options["clipped"] = True
        return super().describe(**options), __class__.__name__

    @program(lambda: (Clipped(2.0), Scale(3.0)), lambda: (Clipped(2.0), Noting(5)))
    def another_receiver(self, other):
        own = super().apply([1.0])
        self = other
        return own, super().apply([1.0])

    @program(lambda: (Clipped(2.0), True), lambda: (Clipped(2.0), False))
    def what_is_missing(self, wanted):
        if wanted:
            return super().missing
        return super().apply(self.factor)

    @program(lambda: (Clipped(2.0),), is_translated=False)
    def deleted_receiver(self):
        del self
        return super().unit

    @program(lambda: (Clipped(2.0),), is_translated=False)
    def in_comprehension(self):
        return [super().unit for _ in range(1)]

    @program(lambda: (Clipped(2.0),), lambda: (), is_translated=False)
    def without_named_receiver(*arguments):
        return super().unit

    @program(lambda: (Clipped, 2.0), lambda: (Scale, 3), lambda: (5, 3))
    def in_a_class_method(cls, factor):
        return super().__new__(cls), factor * 2
