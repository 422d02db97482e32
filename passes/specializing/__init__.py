"""From the baseline graph and types to a new graph: the specialiser."""
