"""The commands of ``python -m ljit``, one module each, with `add_arguments` and `run`."""
