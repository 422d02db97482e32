"""The text of LLVM IR: written, read again, handed to LLVM."""
