# Values as the script sees them: numbers of 64 bits, text, tuples; how they print, and maps of them.
#
# Numbers are Python's integers in the range of their type. Text is bytes. What prints as something else than a number or
# text has a type, an object with:
#   zero          the value where there is none
#   size, of()    bytes in the program's memory, and the value of these bytes
#   show(v, div)  the value as text
#   order(v)      what it is sorted by as a key

import os
import re
import struct
import sys

MOST = 0xffffffffffffffff


def u64(n):
    return n & MOST


def i64(n):
    n &= MOST
    return n - (1 << 64) if n >> 63 else n


def u32(n):
    return n & 0xffffffff


def i32(n):
    n &= 0xffffffff
    return n - (1 << 32) if n >> 31 else n


def u16(n):
    return n & 0xffff


def i16(n):
    n &= 0xffff
    return n - (1 << 16) if n >> 15 else n


def u8(n):
    return n & 0xff


def i8(n):
    n &= 0xff
    return n - (1 << 8) if n >> 7 else n


def divide(a, b):
    """Without a sign; a zero divisor gives 1."""
    if not b & MOST:
        note("Divide or modulo by 0 detected. This can lead to unexpected results. 1 is being used as the result.")
        return 1
    return (a & MOST) // (b & MOST)


def remainder(a, b):
    if not b & MOST:
        note("Divide or modulo by 0 detected. This can lead to unexpected results. 1 is being used as the result.")
        return 1
    return (a & MOST) % (b & MOST)


def shift_left(a, b):
    return a << (b & 63)


def shift_right(a, b):
    return a >> (b & 63)


def swapped(n, size):
    return int.from_bytes((n & (1 << 8 * size) - 1).to_bytes(size, "little"), "big")
