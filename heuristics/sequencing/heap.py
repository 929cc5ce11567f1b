"""A binary heap on two arrays: the smallest key first, of equal keys the smallest page."""

from __future__ import annotations

from numba import njit

from .apportionment import Vector, Whole


@njit(cache=True)
def push(keys: Vector, pages: Whole, size: int, key: float, page: int, start: int = 0) -> int:
    """Put a page in; the heap lies from `start` on. The new size is returned."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        other = keys[start + above]
        if other < key or (other == key and pages[start + above] < page):
            break
        keys[start + place], pages[start + place] = other, pages[start + above]
        place = above
    keys[start + place], pages[start + place] = key, page
    return size + 1


@njit(cache=True)
def pop(keys: Vector, pages: Whole, size: int, start: int = 0) -> int:
    """Take out the first; the new size is returned."""
    size -= 1
    sink(keys, pages, size, keys[start + size], pages[start + size], start)
    return size


@njit(cache=True)
def sink(keys: Vector, pages: Whole, size: int, key: float, page: int, start: int = 0) -> None:
    """Put a page in the place of the first of `size`, and down to where it belongs."""
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        least, which = keys[start + below], pages[start + below]
        if below + 1 < size:
            other = keys[start + below + 1]
            if other < least or (other == least and pages[start + below + 1] < which):
                below, least, which = below + 1, other, pages[start + below + 1]
        if key < least or (key == least and page < which):
            break
        keys[start + place], pages[start + place] = least, which
        place = below
    if size > 0:
        keys[start + place], pages[start + place] = key, page
