"""Turns text into vectors and counts tokens; knows nothing of documents."""
