"""How services call each other, near or far."""
