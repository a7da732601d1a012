"""The embedded engine: records in one SQLite file."""
