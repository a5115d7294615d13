"""Recordings of acu's own format, written from lists: what a test of the page needs and no program can be made to give.

The format is described in src/profile/recording.cc (forms 1 and 3).
"""
import zlib

KINDS = {"user": 0, "inlined": 1, "kernel": 2, "note": 3, "python": 5, "interpreter": 9}


def leb128(n):
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def text(t):
    t = t.encode()
    return leb128(len(t)) + t


class Numbers(dict):
    """The same thing always has the same number; `list` has them in order."""

    def __init__(self, *first):
        super().__init__()
        for thing in first:
            self.of(thing)

    def of(self, thing):
        return self.setdefault(thing, len(self))


def numbers(*values):
    return b"".join(map(leb128, values))


def counted(parts):
    parts = list(parts)
    return leb128(len(parts)) + b"".join(parts)


class Recording:
    """samples: (thread, stack, weight); a thread is (pid, tid, process, name), a stack a list of (name, module, kind)."""

    def __init__(self, **about):
        self.about = {"title": "CPU", "unit": "samples", "what": "a test", "period_ns": 10_000_000, "duration_ns": 10_000_000_000, "lost": 0,
                      "complete": None, "slice_ns": 0, "notes": [], **about}
        self.texts, self.frames, self.nodes, self.threads = Numbers(""), Numbers(("", "", "user")), Numbers((-1, 0)), Numbers()
        self.samples, self.sample_of, self.slices = [], {}, {}
        self.spans = {}  # by number of slice, where it was read late

    def add(self, thread, stack, weight, number=None):
        """`number`: of the slice of time in which it was."""
        node = 0
        for frame in stack:
            self.texts.of(frame[0]), self.texts.of(frame[1])
            node = self.nodes.of((node, self.frames.of(frame)))
        self.texts.of(thread[2]), self.texts.of(thread[3])
        key = (self.threads.of(thread), node)
        if key not in self.sample_of:
            self.sample_of[key] = len(self.samples)
            self.samples.append([*key, 0])
        self.samples[self.sample_of[key]][2] += weight
        if number is not None:
            gains = self.slices.setdefault(number, {})
            gains[self.sample_of[key]] = gains.get(self.sample_of[key], 0) + weight

    def body(self):
        a, t = self.about, self.texts
        total = sum(s[2] for s in self.samples)
        yield b"".join(text(a[n]) for n in ("title", "unit", "what")) + text("") + text("")
        complete = total if a["complete"] is None else a["complete"]
        yield numbers(0, a["duration_ns"], a["period_ns"], total, a["lost"], complete, total, total, 1, 1, 1)
        yield counted(map(text, a["notes"]))
        yield counted(map(text, t))
        yield counted(numbers(t[name], t[module], KINDS[kind] & 3 | 4 | KINDS[kind] >> 2 << 3) for name, module, kind in self.frames)
        yield counted(numbers(n - parent, frame) for (parent, frame), n in self.nodes.items() if n)
        yield counted(numbers(pid, tid, t[process], t[name]) for pid, tid, process, name in self.threads)
        yield counted(numbers(thread, node, weight, weight) for thread, node, weight in self.samples)
        if a["slice_ns"]:
            yield leb128(a["slice_ns"]) + counted(self.slice_bytes())

    def slice_bytes(self):
        last = 0
        for number in sorted(self.slices):
            sample, gains = 0, []
            for s, weight in sorted(self.slices[number].items()):
                gains.append(numbers(s - sample, weight, weight))
                sample = s
            yield numbers(number - last, self.spans.get(number, 1)) + counted(gains)
            last = number

    def write(self, path):
        body = b"".join(self.body())
        with open(path, "wb") as out:
            out.write(b"ACUPROF" + (b"3" if self.about["slice_ns"] else b"1") + len(body).to_bytes(8, "little") + zlib.compress(body, 1))
        return path
