# Types: how values print, what they are sorted by, how they are in memory (see values.py).

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
