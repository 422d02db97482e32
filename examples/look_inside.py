"""Follow one function from its graph to machine code."""

import numpy as np

import ljit


@ljit.jit
def dot(a, b):
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


a, b = np.arange(8.0), np.ones(8)
for _ in range(2):
    dot(a, b)

print("The graph of the source:\n", dot.graph)
print("Specialised for these arguments:\n", dot.graph_for(a, b))
print("LLVM IR, optimised:\n", dot.dump_llvm(optimized=True)[:2000])
print("Machine code:\n", dot.dump_asm()[:1000])
