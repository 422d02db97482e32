"""The run-time: who runs a call, and how native code and the interpreter hand over to each other."""
