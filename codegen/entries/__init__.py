"""Vectorcall entries: how calls from Python come in."""
