"""One module a format: bytes in, a parsed document out; no input or output of their own."""
