"""Ways out of native code: into the interpreter, and with errors."""
