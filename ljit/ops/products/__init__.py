"""Products of arrays: vectors, matrices, contractions, convolutions."""
