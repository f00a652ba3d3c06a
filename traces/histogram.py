"""Histograms of durations: buckets that grow with the duration, so that a percentile is right to 1.6 %. Pure."""

from __future__ import annotations

from collections.abc import Mapping

PARTS = 32
"""Buckets between a power of two and the next."""
_BITS = PARTS.bit_length()


def bucket_of(duration: int) -> int:
    """The bucket of nanoseconds; durations below 64 ns have one of their own each."""
    shift = max(0, duration.bit_length() - _BITS)
    return shift * PARTS + (duration >> shift)


def middle_of(bucket: int) -> int:
    """Nanoseconds in the middle of a bucket."""
    shift = max(0, bucket // PARTS - 1)
    low = (bucket - shift * PARTS) << shift
    return low + (1 << shift) // 2


def nearest_rank(counts: Mapping[int, int], percent: int) -> int:
    """The first of the values, by size, at which that share of all is reached; ValueError if there is none."""
    every = sum(counts.values())
    reached = 0
    for value in sorted(counts):
        reached += counts[value]
        if reached * 100 >= every * percent:
            return value
    raise ValueError("There is nothing to rank.")
