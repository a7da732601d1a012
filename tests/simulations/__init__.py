"""Seeded runs of the real worker code on engines in memory, on a clock that jumps; `python -m simulations.run` runs many."""
