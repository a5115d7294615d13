# What the script prints: text as bytes, warnings, printf.

# As in acu, output and what prints or clears whole maps happen in order, but after the run of the probe: print(@m) shows the map as
# the run left it.
pending = []
written = []
notes = {}


def write(text):
    pending.append(text)


def later(function, *arguments):
    pending.append((function, arguments))


def drain():
    done = pending[:]
    pending.clear()
    for what in done:
        if isinstance(what, bytes):
            written.append(what)
        else:
            what[0](*what[1])
    if len(written) > 1000:
        send()


def send():
    text = b"".join(written)
    written.clear()
    where = int(os.environ.get("ACU_OUTPUT", "1"))
    while text:
        text = text[os.write(where, text):]


def flush():
    drain()
    send()


def note(text):
    """A warning, told once at the end with the number of times."""
    notes[text] = notes.get(text, 0) + 1


def tell(text):
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
