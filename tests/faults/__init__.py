"""Faults on a whole deployment of processes: what breaks it, what it does meanwhile, and what must hold afterwards."""
