"""Engines of search: one interface, one module an engine."""
