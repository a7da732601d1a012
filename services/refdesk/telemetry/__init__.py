"""Logs, metrics and health as every service gives them."""
