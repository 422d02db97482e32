"""The functions of a unit: their bodies, what they share, and how they leave for the interpreter's slow path."""
