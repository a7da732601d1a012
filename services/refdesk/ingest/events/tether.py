"""Runs a program that ends with the process that started it: `python tether.py PARENT PROGRAM ARGUMENT…`; imports nothing of refdesk.

A step between, and not a hook at the fork, because the parent has threads, and Python code between fork and exec may hang then.
"""

import os
import signal
import subprocess
import sys
import threading


def main() -> None:
    """Becomes the program on Linux, where the kernel kills it with its parent; elsewhere watches over it until standard input ends."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform != "linux":
        _watch_over(command)
    import ctypes

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)  # the parent ended before the kernel was asked
    os.execv(command[0], command)


def _watch_over(command: list[str]) -> None:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, close_fds=False)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    threading.Thread(target=_end_at_end_of_input, args=(process,), daemon=True).start()
    os._exit(process.wait())


def _end_at_end_of_input(process: "subprocess.Popen[bytes]") -> None:
    while os.read(0, 4096):
        pass
    process.kill()


if __name__ == "__main__":
    main()
