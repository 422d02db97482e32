"""Typed graphs to machine code. Import it as `ljit.codegen`, never as `codegen`."""

if __name__ != "ljit.codegen":
    msg = f"this package is ljit.codegen; it was imported as {__name__}"
    raise ImportError(msg)
