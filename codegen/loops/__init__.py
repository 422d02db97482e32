"""Loops: counted ones, those that are functions of their own, hints for LLVM, long ones that look for signals."""
