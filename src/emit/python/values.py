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


# ------------------------------------------------------------------------------------------------ output

written = []
notes = {}


def write(text):
    written.append(text)
    if len(written) > 1000:
        flush()


def flush():
    text = b"".join(written)
    written.clear()
    where = int(os.environ.get("ACU_OUTPUT", "1"))
    while text:
        text = text[os.write(where, text):]


def note(text):
    """A warning, told once at the end with the number of times."""
    notes[text] = notes.get(text, 0) + 1


def tell(text):
    flush()
    sys.stdout.flush()
    os.write(2, text)


class Cut(bytes):
    """Text that did not fit."""


class Shown:
    """A value with its type, where it prints."""

    def __init__(self, kind, value):
        self.kind, self.value = kind, value


def text_of(value):
    if type(value) is Shown:
        return value.kind.show(value.value)
    if isinstance(value, bytes):
        return TEXT.show(value)
    return b"%d" % value


CONVERSION = re.compile(rb"%([-+ #0]*)(\d*)(?:\.(\d*))?(hh|h|ll|l|j|z|t|L)?(%|rx|rh|[diuxXocfFeEgGspr])")
formats = {}


def pieces_of(text):
    pieces, last = [], 0
    for m in CONVERSION.finditer(text):
        pieces.append((text[last:m.start()], m))
        last = m.end()
    return pieces, text[last:]


def padded(m, text):
    if m[3] is not None:
        text = text[:int(m[3] or 0)]
    width = int(m[2] or 0)
    return text.ljust(width) if b"-" in m[1] else text.rjust(width)


def converted(m, value):
    kind = m[5].decode()
    bare = value.value if type(value) is Shown else value
    if kind == "s":
        return padded(m, text_of(value))
    if kind in ("r", "rx", "rh"):
        separator = {"r": None, "rx": "\\x", "rh": " "}[kind]
        text = BUFFER.show(bare) if kind == "r" else bare.hex(" ").encode()
        if kind == "rx":
            text = b"".join(b"\\x%02x" % b for b in bare)
        return padded(m, text)
    if kind == "c":
        return padded(m, bytes([bare & 255]))
    if kind == "p":
        return padded(m, b"0x%x" % u64(bare) if bare else b"(nil)")
    flags = m[1].decode()
    shape = "%" + flags + m[2].decode() + ("." + m[3].decode() if m[3] is not None else "")
    if kind in "fFeEgG":
        return (shape + kind).encode() % float(bare)
    bits = {None: 32, b"hh": 8, b"h": 16}.get(m[4], 64)
    n = int(bare) & (1 << bits) - 1
    if kind in "di" and n >> bits - 1:
        n -= 1 << bits
    if m[3] is not None:
        shape = shape.replace("0", "", flags.count("0"))
    if "#" in flags and kind == "o":
        return padded(m, b"0%o" % n if n else b"0")
    if "#" in flags and not n:
        shape = shape.replace("#", "")
    return (shape + ("d" if kind in "diu" else kind)).encode() % n


def formatted(text, values):
    found = formats.get(text)
    if found is None:
        found = formats[text] = pieces_of(text)
    out, values = [], iter(values)
    for before, m in found[0]:
        out.append(before)
        out.append(b"%" if m[5] == b"%" else converted(m, next(values)))
    out.append(found[1])
    return b"".join(out)


def printf(text, *values):
    write(formatted(text, values))


def errorf(text, *values):
    tell(b"ERROR: " + formatted(text, values))


def warnf(text, *values):
    tell(b"WARNING: " + formatted(text, values))


def show(value):
    """print() of a value."""
    write(text_of(value) + b"\n")


# ------------------------------------------------------------------------------------------------- types

def by(n, div):
    return n if div <= 1 else -(-n // div) if n < 0 else n // div


class Number:
    zero = 0

    def __init__(self, size, signed):
        self.size, self.signed = size, signed

    def of(self, data):
        return int.from_bytes(data[:self.size], "little", signed=self.signed)

    def show(self, v, div=1):
        return b"%d" % by(v, div)

    def rank(self, v):
        return v

    def order(self, v):
        return i32(v) if self.size == 4 else i64(v)


class Boolean(Number):
    def show(self, v, div=1):
        return b"true" if v else b"false"

    def rank(self, v):
        return 0


class Enumeration(Number):
    def __init__(self, size, signed, names):
        Number.__init__(self, size, signed)
        self.names = names

    def show(self, v, div=1):
        return self.names[v].encode() if v in self.names else b"%d" % v


class Address(Number):
    def show(self, v, div=1):
        return b"0x%x" % u64(v)

    def rank(self, v):
        return 0

    def order(self, v):
        return u64(v)


class Text:
    zero = b""

    def __init__(self, size=0):
        self.size = size

    def of(self, data):
        return data[:self.size].split(b"\0", 1)[0]

    def show(self, v, div=1):
        return v + b".." if type(v) is Cut else v

    def rank(self, v):
        return 0

    def order(self, v):
        return (bytes(v), type(v) is Cut)


class Buffer(Text):
    def show(self, v, div=1):
        return b"".join(bytes([b]) if 32 <= b <= 126 else b"\\x%02x" % b for b in v)

    def order(self, v):
        return (len(v), bytes(v))


class Floating:
    zero = 0.0

    def __init__(self, size):
        self.size = size

    def of(self, data):
        return struct.unpack("<f" if self.size == 4 else "<d", data[:self.size])[0]

    def show(self, v, div=1):
        for digits in range(1, 18):
            text = "%.*g" % (digits, v)
            if self.of(struct.pack("<f" if self.size == 4 else "<d", float(text))) == v:
                break
        return text.encode()

    def rank(self, v):
        return v

    def order(self, v):
        return v


class Array:
    """A value is the bytes of its elements."""

    def __init__(self, element, count):
        self.element, self.count, self.size = element, count, element.size * count
        self.zero = bytes(self.size)

    def elements(self, v):
        size = self.element.size
        return [self.element.of(v[i * size:(i + 1) * size]) for i in range(self.count)]

    def of(self, data):
        return data[:self.size]

    def show(self, v, div=1):
        return b"[" + b",".join(map(self.element.show, self.elements(v))) + b"]"

    def rank(self, v):
        return 0

    def order(self, v):
        return tuple(map(self.element.order, self.elements(v)))


class Structure:
    """A value is its bytes. Members: name, type, offset; of bit-fields also the first bit and their number."""

    def __init__(self, size, *members):
        self.size, self.members, self.zero = size, members, bytes(size)

    def of(self, data):
        return data[:self.size]

    def show(self, v, div=1):
        out = []
        for name, kind, offset, *bits in self.members:
            if bits:
                value = int.from_bytes(v[offset:], "little") >> bits[0] & (1 << bits[1]) - 1
                if kind.signed and value >> bits[1] - 1:
                    value -= 1 << bits[1]
            else:
                value = kind.of(v[offset:])
            out.append(b" ." + name.encode() + b" = " + kind.show(value))
        return b"{" + b",".join(out) + b" }"

    def rank(self, v):
        return 0

    def order(self, v):
        return v


class Tuple:
    def __init__(self, *elements):
        self.elements = elements
        self.zero = tuple(e.zero for e in elements)

    def parts(self, v):
        return [e.show(x) for e, x in zip(self.elements, v)]

    def show(self, v, div=1):
        return b"(" + b", ".join(self.parts(v)) + b")"

    def rank(self, v):
        return 0

    def order(self, v):
        return tuple(e.order(x) for e, x in zip(self.elements, v))


class Record(Tuple):
    def __init__(self, names, *elements):
        Tuple.__init__(self, *elements)
        self.names = names

    def show(self, v, div=1):
        return b"{" + b",".join(b" ." + n.encode() + b" = " + x for n, x in zip(self.names, self.parts(v))) + b" }"


U8, U16, U32, U64 = Number(1, False), Number(2, False), Number(4, False), Number(8, False)
I8, I16, I32, I64 = Number(1, True), Number(2, True), Number(4, True), Number(8, True)
BOOLEAN, POINTER, TEXT, BUFFER = Boolean(1, False), Address(8, False), Text(), Buffer()


# ------------------------------------------------------------------------------------------ aggregations
#
# A value is a list of numbers. add() adds one more; number() is what it counts as.

class Count:
    def __init__(self, signed=False):
        self.signed = signed

    def start(self):
        return [0]

    def add(self, v, n=1):
        v[0] = i64(v[0] + n) if self.signed else u64(v[0] + n)

    def number(self, v):
        return v[0]

    def rank(self, v):
        return self.number(v)

    def show(self, v, div=1):
        return b"%d" % by(self.number(v), div)


class Sum(Count):
    pass


class Extreme(Count):
    def start(self):
        return [0, 0]

    def add(self, v, n):
        if not v[1] or self.better(n, v[0]):
            v[:] = [n, 1]

    def rank(self, v):
        return u64(v[0])


class Min(Extreme):
    def better(self, a, b):
        return a < b


class Max(Extreme):
    def better(self, a, b):
        return a > b


class Average(Count):
    def start(self):
        return [0, 0]

    def add(self, v, n):
        Count.add(self, v, n)
        v[1] += 1

    def number(self, v):
        return by(v[0], v[1]) if v[1] else 0


class Stats(Average):
    def show(self, v, div=1):
        return b"{ .count = %d, .average = %d, .total = %d }" % (v[1], by(self.number(v), div), by(v[0], div))


WIDTH = 52


class Histogram:
    """Buckets by powers of two; of each power 2**bits."""

    suffixes = ["", "K", "M", "G", "T", "P", "E"]

    def __init__(self, bits=0):
        self.bits = bits
        self.count = 2 + (1 << bits) + ((63 - bits) << bits)

    def start(self):
        return {}

    def bucket(self, n):
        n = i64(n)
        if n < 0:
            return 0
        if n < 1 << self.bits:
            return n + 1
        above = n.bit_length() - 1 - self.bits
        return (above << self.bits) + (n >> above & (1 << self.bits) - 1) + 1 + (1 << self.bits)

    def add(self, v, n):
        at = self.bucket(n)
        v[at] = v.get(at, 0) + 1

    def rank(self, v):
        return sum(v.values())

    def bound(self, n):
        power = 0
        while n and n % 1024 == 0 and power < 6:
            n //= 1024
            power += 1
        return "%d%s" % (n, self.suffixes[power])

    def label(self, at):
        if at == 0:
            return "(..., 0)"
        at -= 1
        if at < 1 << self.bits:
            return "[%d]" % at
        at -= 1 << self.bits
        shift = at >> self.bits
        low = ((1 << self.bits) + (at & (1 << self.bits) - 1)) << shift
        if not shift:
            return "[%d]" % low
        return "[%s, %s)" % (self.bound(low), self.bound(low + (1 << shift)))

    def show(self, v, div=1):
        if not v:
            return b""
        rows = [(self.label(at), v.get(at, 0) // max(div, 1)) for at in range(min(v), max(v) + 1)]
        most = max(n for _, n in rows)
        return "".join("%-16s%8d |%-*s|\n" % (label, n, WIDTH, "@" * (n * WIDTH // most if most else 0)) for label, n in rows).encode()


class Linear(Histogram):
    units = {"M": 1 << 20, "K": 1 << 10, "": 1}

    def __init__(self, low, high, step):
        self.low, self.high, self.step = low, high, step
        self.last = (high - low + step - 1) // step + 1
        fits = [unit for unit in ("M", "K", "") if all(n % self.units[unit] == 0 for n in (low, high, step))]
        self.suffix, self.unit = fits[0], self.units[fits[0]]

    def bucket(self, n):
        n = i64(n)
        return 0 if n < self.low else self.last if n >= self.high else (n - self.low) // self.step + 1

    def bound(self, n):
        return "%d%s" % (n // self.unit, self.suffix)

    def label(self, at):
        if at == 0:
            return "(..., %s)" % self.bound(self.low)
        if at == self.last:
            return "[%s, ...)" % self.bound(self.high)
        low = self.low + (at - 1) * self.step
        return "[%s, %s)" % (self.bound(low), self.bound(min(low + self.step, self.high)))


# -------------------------------------------------------------------------------------------------- maps

maps = []


class Map:
    """Keys: tuples for several; None for a map without keys. Entries are in the order in which they were made."""

    def __init__(self, name, key, value, own=False, limit=0):
        self.name, self.key, self.value, self.limit = name, key, value, limit
        self.adds = hasattr(value, "start")
        self.entries = {}
        if not own:
            maps.append(self)

    def __len__(self):
        return len(self.entries)

    def __contains__(self, key):
        return key in self.entries

    def get(self, key=None):
        v = self.entries.get(key)
        if v is None:
            return 0 if self.adds else self.value.zero
        return self.value.number(v) if self.adds else v

    def has_room(self, key):
        if not self.limit or key in self.entries or len(self.entries) < self.limit:
            return True
        note("Map full; can't update element. @%s can't hold more than %d keys." % (self.name, self.limit))
        return False

    def set(self, key, v):
        if self.has_room(key):
            self.entries[key] = v

    def change(self, key, by):
        """@m[key] += by"""
        n = self.get(key) + by
        self.set(key, i64(n) if self.value.signed else u64(n))

    def add(self, key, *n):
        v = self.entries.get(key)
        if v is None:
            if not self.has_room(key):
                return
            v = self.entries[key] = self.value.start()
        self.value.add(v, *n)

    def delete(self, key=None):
        return int(self.entries.pop(key, None) is not None)

    def clear(self):
        self.entries.clear()

    def zero(self):
        for key in self.entries:
            self.entries[key] = self.value.start() if self.adds else self.value.zero

    def items(self):
        return [(k, self.value.number(v) if self.adds else v) for k, v in self.entries.items()]

    def largest(self, most):
        """For sorted(): the largest values first."""
        return sorted(self.items(), key=lambda e: e[1], reverse=True)[:most]

    def print(self, top=0, div=1):
        order = (lambda k: self.key.order(k)) if self.key else (lambda k: 0)
        entries = sorted(self.entries.items(), key=lambda e: (self.value.rank(e[1]), order(e[0])))
        if top:
            entries = entries[-top:]
        for key, v in entries:
            head = b"@" + self.name.encode()
            if self.key:
                several = type(self.key) is Tuple
                head += b"[" + (b", ".join(self.key.parts(key)) if several else self.key.show(key)) + b"]"
            write(head + (b":\n" if isinstance(self.value, Histogram) else b": ") + self.value.show(v, div) + b"\n")

    def print_entry(self, key):
        v = self.entries.get(key)
        if v is not None:
            write(self.value.show(v) + b"\n")


def print_maps():
    blank = True
    for m in sorted(maps, key=lambda m: m.name):
        if m.entries:
            if blank:
                write(b"\n")
            blank = False
            m.print()


# -------------------------------------------------------------------------------------------------- text

def joined(a, b, most):
    return (bytes(a) + bytes(b))[:most]


def found_in(text, part):
    return text.find(part)


def difference(a, b, most):
    """strncmp(): 0 where both are the same."""
    a, b = a[:most].split(b"\0", 1)[0], b[:most].split(b"\0", 1)[0]
    return 0 if a == b else 1


def character(text, at):
    return i8(text[at]) if 0 <= at < len(text) else 0


class Exit(Exception):
    def __init__(self, status=0):
        self.status = status
