"""Engines of docstore: one interface, one module an engine."""
