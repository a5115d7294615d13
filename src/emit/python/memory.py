# The program's memory, in pages that the debugger reads once each. A read that fails ends the probe, or goes on behind try().

PAGE = 4096


class Fault(Exception):
    """Memory, or a value of the program, that cannot be read; str() says why."""


pages = {}


def page_at(number):
    page = pages.get(number)
    if page is None:
        page = pages[number] = read_memory(number * PAGE, PAGE) or False
    if page is False:
        raise Fault("is not there")
    return page


def bytes_at(address, size):
    address &= MOST
    page = page_at(address // PAGE)
    at = address % PAGE
    if at + size <= PAGE:
        return page[at:at + size]
    out = [page[at:]]
    size -= PAGE - at
    number = address // PAGE + 1
    while size > 0:
        out.append(page_at(number)[:size])
        size -= PAGE
        number += 1
    return b"".join(out)


def number_at(address, size, signed):
    return int.from_bytes(bytes_at(address, size), "little", signed=signed)


def u64_at(address):
    return int.from_bytes(bytes_at(address, 8), "little")


def i64_at(address):
    return int.from_bytes(bytes_at(address, 8), "little", signed=True)


def u32_at(address):
    return int.from_bytes(bytes_at(address, 4), "little")


def i32_at(address):
    return int.from_bytes(bytes_at(address, 4), "little", signed=True)


def u16_at(address):
    return int.from_bytes(bytes_at(address, 2), "little")


def i16_at(address):
    return int.from_bytes(bytes_at(address, 2), "little", signed=True)


def u8_at(address):
    return bytes_at(address, 1)[0]


def i8_at(address):
    return i8(bytes_at(address, 1)[0])


def floating_at(address, size):
    return struct.unpack("<f" if size == 4 else "<d", bytes_at(address, size))[0]


def in_bytes(data, offset, size, signed):
    return int.from_bytes(data[offset:offset + size], "little", signed=signed)


def text_at(address, most, marks=False):
    """Up to the NUL, at most so many bytes. marks: text that goes on is marked as cut."""
    out, address, wanted = b"", address & MOST, most + marks
    while len(out) < wanted:
        at = address % PAGE
        piece = page_at(address // PAGE)[at:at + wanted - len(out)]
        end = piece.find(b"\0")
        if end >= 0:
            return out + piece[:end]
        out += piece
        address += len(piece)
    return Cut(out[:most]) if len(out) > most else out


def text_in(address, size, most):
    """Of an array of characters, which need not have a NUL."""
    return bytes_at(address, size).split(b"\0", 1)[0][:most]


def buffer_at(address, size):
    try:
        return bytes_at(address, size) if size > 0 else b""
    except Fault as why:
        note("the memory read here %s" % why)
        return b""


def is_valid(address):
    try:
        return len(bytes_at(address, 1))
    except Fault:
        return 0


def inside(index, count):
    if 0 <= index < count:
        return True
    note("Index out of range; the value was 0.")
    return False


class Field:
    """A member of a structure, of which the debugger knows the place."""

    def __init__(self, of, path, size=0, signed=False):
        offset, bits = field_of(of, path)
        self.offset, self.size, self.signed, self.bits = offset, size, signed, bits

    def at(self, address):
        return address + self.offset

    def get(self, address):
        if self.bits:
            first, count = self.bits
            start = address + self.offset + first // 8
            n = number_at(start, (first % 8 + count + 7) // 8, False) >> first % 8 & (1 << count) - 1
            return n - (1 << count) if self.signed and n >> count - 1 else n
        return int.from_bytes(bytes_at(address + self.offset, self.size), "little", signed=self.signed)


class OwnField(Field):
    """A member of a structure that the script declares."""

    def __init__(self, offset, size=0, signed=False, bits=None):
        self.offset, self.size, self.signed, self.bits = offset, size, signed, bits


def expect_size(of, size):
    """The sizes in this file are those of the program that it was made for."""
    found = size_of(of)
    if found != size:
        stop("%s has %d bytes in this program, and had %d in the one that this file was made for: make it again" % (of, found, size))
