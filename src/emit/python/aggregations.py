# Aggregations. A value is a list of numbers (of histograms: the count of each bucket). add() adds one more; number() is what it counts as.

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
