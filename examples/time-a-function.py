# SPDX-License-Identifier: 0BSD
"""Times a call from Python: python3 time-a-function.py

A call through ctypes takes hundreds of cycles, most of which the empty function's
timings have too. Not lib.cpucycles(): that is a variable, and would crash."""

import sys

try:
    import ctypes
    import hashlib
    import statistics
except ImportError as missing:
    sys.exit(f"{missing}: Debian has it in python3, but not in python3-minimal")

TIMINGS = 1001

lib = ctypes.CDLL("libcpucycles.so.1")
# ctypes takes the result of a function for an int.
cpucycles = lib.cpucycles_count
cpucycles.restype = ctypes.c_longlong
interruptions = lib.cpucycles_interruptions
interruptions.restype = ctypes.c_longlong
lib.cpucycles_implementation.restype = ctypes.c_char_p
lib.cpucycles_kind.restype = ctypes.c_char_p

message = bytes(1000)
dropped = 0


def function():
    hashlib.sha256(message)


def nothing():
    pass


def cycles(timed):
    """The median of those timings in which the thread was not interrupted."""
    global dropped
    row = []
    for _ in range(TIMINGS):
        before = interruptions()
        start = cpucycles()
        timed()
        count = cpucycles() - start
        if interruptions() == before:
            row.append(count)
        else:
            dropped += 1
    return statistics.median(row)


cpucycles()  # the first call selects the counter
net = cycles(function) - cycles(nothing)
counter = lib.cpucycles_implementation().decode()
kind = lib.cpucycles_kind().decode()
print(f"{net:.1f} cycles ({counter}, {kind}), {dropped} of {2 * TIMINGS} dropped")
