"""Turns the first SIGINT or SIGTERM into an event, and the second into an end at once."""

from __future__ import annotations

import asyncio
import os
import signal


def stop_signal() -> asyncio.Event:
    """An event that is set when this process is asked to stop."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask_to_stop() -> None:
        if stop.is_set():
            os._exit(130)
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ask_to_stop)
    return stop
