# The heap of glibc's malloc, chunk by chunk, and the areas of variables (malloc/malloc.c and malloc/arena.c of glibc 2.26 to 2.41):
# heaps are known by how they begin, arenas by the pointers to their last chunk, the threads' caches by their shape.

import bisect

HEADER, SMALLEST, CACHE, HEAP_ALIGNMENT = 16, 32, 0x290, 64 << 20


class Heap:
    def __init__(self, areas):
        self.areas = sorted(areas)
        self.begins = [a for a, _ in self.areas]
        self.data, self.used, self.sizes, self.freed, self.tops = {}, [], {}, set(), []
        for area in self.areas:
            self.look_at(*area)
        self.used.sort()
        self.mark_caches()
        self.mark_fast_lists()
        self.starts = [a for a in self.used if a not in self.freed]

    def words(self, begin, end):
        """The area as numbers of 8 bytes."""
        if begin not in self.data:
            try:
                self.data[begin] = memoryview(bytes_at(begin, (end - begin) // 8 * 8)).cast("Q")
            except Fault:
                self.data[begin] = memoryview(b"").cast("Q")
        return self.data[begin]

    def word(self, address):
        at = bisect.bisect_right(self.begins, address) - 1
        if at >= 0 and address + 8 <= self.areas[at][1]:
            words, place = self.words(*self.areas[at]), (address - self.areas[at][0]) // 8
            return words[place] if place < len(words) else 0
        return 0

    def look_at(self, begin, end):
        words = self.words(begin, end)
        if len(words) < 8:
            return
        if words[0] == 0 and words[1] == CACHE | 1:
            return self.walk(begin, end, begin, end)
        if begin % HEAP_ALIGNMENT == 0 and self.is_thread_heap(begin, end):
            return None
        at = begin
        while at + 4096 <= end:
            value = words[(at - begin) // 8 + 1]
            size = value & ~7
            if words[(at - begin) // 8] or value & 7 != 2 or size % 4096 or size < 4096 or size > end - at:
                return None
            self.add(at + HEADER, size - HEADER)
            at += size
        return None

    def is_thread_heap(self, begin, end):
        words = self.words(begin, end)
        arena, size = words[0], words[2]
        if not arena or size % 4096 or size > end - begin or size < 4096:
            return False
        is_first = 0 <= arena - begin < 0x100
        for at in range(begin + 0x20, begin + 0xa00, 16):
            value = words[(at - begin) // 8 + 1]
            may_be = value & ~7 == CACHE and value & 4 if is_first else value & 4 and value & ~7 >= SMALLEST
            if may_be and self.fits(begin, end, at, begin + size):
                self.walk(begin, end, at, begin + size)
                return True
        return False

    def fits(self, begin, end, at, last):
        words = self.words(begin, end)
        while at < last:
            size = words[(at - begin) // 8 + 1] & ~7
            if size < HEADER or size > last - at:
                return False
            at += size
        return at == last

    def add(self, address, size):
        self.used.append(address)
        self.sizes[address] = size

    def walk(self, begin, end, at, last):
        words, before = self.words(begin, end), None
        while at + HEADER <= last:
            value = words[(at - begin) // 8 + 1]
            size = value & ~7
            if size < HEADER or size > last - at:
                break
            if before and not value & 1:
                self.freed.add(before)
            before = at + HEADER
            self.add(before, size - 8)
            if at + size >= last:
                self.freed.add(before)  # the rest, not given out yet
                self.tops.append(at)
            elif size == HEADER:
                self.freed.add(before)
            at += size

    def follow(self, head, wanted, size, is_fast):
        for is_safe in (True, False):  # links are hidden since 2.32
            found, at = [], head
            while at and len(found) < (wanted or 1 << 20):
                chunk = at + HEADER if is_fast else at
                if self.sizes.get(chunk) != size:
                    break
                found.append(chunk)
                following = self.word(chunk)
                at = following ^ chunk >> 12 if is_safe else following
            if at == 0 and (not wanted or len(found) == wanted):
                return found
        return None

    def mark_caches(self):
        for cache in [c for c in self.used if self.sizes[c] == CACHE - 8 and c not in self.freed]:
            found = []
            for i in range(64):
                count = self.word(cache + 2 * i // 8 * 8) >> 16 * (i % 4) & 0xffff
                head = self.word(cache + 128 + 8 * i)
                if (not count) != (not head) or count > 1 << 12:
                    break
                chunks = self.follow(head, count, (i + 2) * 16 - 8, False) if count else []
                if chunks is None:
                    break
                found += chunks
            else:
                self.freed.update(found, [cache])

    def mark_fast_lists(self):
        for top in self.tops:
            for begin, end in self.areas:
                if end - begin > 4 << 20 and begin % HEAP_ALIGNMENT:
                    continue
                words = self.words(begin, end)
                most = len(words) if begin % HEAP_ALIGNMENT else min(len(words), 512)
                for place in [i for i, w in enumerate(words[:most]) if w == top]:
                    lists = begin + 8 * place - 96 + 16
                    for i in range(10):
                        head = self.word(lists + 8 * i)
                        self.freed.update(self.follow(head, 0, (i + 2) * 16 - 8, True) or [] if head else [])

    def chunk(self, address):
        at = bisect.bisect_right(self.starts, address) - 1
        if at >= 0 and address - self.starts[at] < self.sizes[self.starts[at]]:
            return self.starts[at]
        return 0


found_heap = None
found_areas = None


def heap():
    global found_heap
    if found_heap is None:
        found_heap = Heap(the_program().writable)
    return found_heap


def chunk(address):
    return heap().chunk(u64(address))


def chunk_size(address):
    start = heap().chunk(u64(address))
    return heap().sizes[start] if start else 0


def next_chunk(address):
    at = bisect.bisect_right(heap().starts, u64(address))
    return heap().starts[at] if at < len(heap().starts) else 0


def areas():
    """What can be written, of the program's files."""
    global found_areas
    if found_areas is None:
        spans = {}
        for begin, end, _, path in the_program().files:
            low, high = spans.get(path, (begin, end))
            spans[path] = (min(low, begin), max(high, end))
        found_areas = sorted(a for a in the_program().writable if any(low <= a[0] < high for low, high in spans.values()))
    return found_areas


def next_area(address):
    return next((begin for begin, end in areas() if end > address), 0)


def area_end(address):
    return next((end for begin, end in areas() if begin <= address < end), 0)
