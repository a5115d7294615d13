# Maps, and functions of text.

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
        later(self.entries.clear)

    def zero(self):
        later(self.zero_now)

    def zero_now(self):
        for key in self.entries:
            self.entries[key] = self.value.start() if self.adds else self.value.zero

    def items(self):
        return [(k, self.value.number(v) if self.adds else v) for k, v in self.entries.items()]

    def largest(self, most):
        """For sorted(): the largest values first."""
        return sorted(self.items(), key=lambda e: e[1], reverse=True)[:most]

    def print(self, top=0, div=1):
        later(self.print_now, top, div)

    def print_now(self, top=0, div=1):
        order = (lambda k: self.key.order(k)) if self.key else (lambda k: 0)
        entries = sorted(self.entries.items(), key=lambda e: (self.value.rank(e[1]), order(e[0])))
        if top:
            entries = entries[-top:]
        for key, v in entries:
            head = b"@" + self.name.encode()
            if self.key:
                several = type(self.key) is Tuple
                head += b"[" + (b", ".join(self.key.parts(key)) if several else self.key.show(key)) + b"]"
            written.append(head + (b":\n" if isinstance(self.value, Histogram) else b": ") + self.value.show(v, div) + b"\n")

    def print_entry(self, key):
        later(self.print_entry_now, key)

    def print_entry_now(self, key):
        v = self.entries.get(key)
        if v is not None:
            written.append(self.value.show(v) + b"\n")


def print_maps():
    blank = True
    for m in sorted(maps, key=lambda m: m.name):
        if m.entries:
            if blank:
                written.append(b"\n")
            blank = False
            m.print_now()


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
