"""The notes surface."""
