# BCC: the kernel's side is compiled and attached; what it sends is carried out in order.

import ctypes
import signal
import subprocess

from bcc import BPF, PerfSWConfig, PerfType


class KernelMap:
    """A map of the kernel's side. parts of its keys: (type, offset, bytes)."""

    def __init__(self, name, table, parts, key, value, value_type=None, has_slots=False):
        self.map = Map(name, key, value)
        self.table, self.parts, self.has_slots, self.value_type = table, parts, has_slots, value_type

    def value_of(self, data):
        if self.map.adds:
            size = len(self.map.value.start())
            out = [int.from_bytes(data[8 * i:8 * i + 8], "little") for i in range(size)]
            if self.map.value.signed:
                out[0] = i64(out[0])
            return out
        return self.map.value.of(data)

    def load(self):
        self.map.entries.clear()
        for k, v in kernel[self.table].items():
            raw = bytes(k)
            parts = tuple(kind.of(raw[at:at + size]) for kind, at, size in self.parts)
            key = None if not parts else parts if type(self.map.key) is Tuple else parts[0]
            if self.has_slots:
                slot = int.from_bytes(raw[-8:], "little")
                self.map.entries.setdefault(key, {})[slot] = int.from_bytes(bytes(v), "little")
            else:
                self.map.entries[key] = self.value_of(bytes(v))

    def print(self, top=0, div=1):
        self.load()
        self.map.print_now(top, div)

    def clear(self):
        kernel[self.table].clear()

    def zero(self):
        kernel[self.table].zero()


is_over = False
exit_status = 0


def stop(status=0):
    global is_over, exit_status
    is_over, exit_status = True, status


def on_record(_, data, size):
    raw = ctypes.string_at(data, size)
    action, parts = actions[int.from_bytes(raw[:8], "little")]
    drain()
    action(*[kind.of(raw[at:at + bytes_]) if shown is None else Shown(shown, kind.of(raw[at:at + bytes_])) for kind, at, bytes_, shown in parts])
    flush()


def run(begin, end, command, prints_maps):
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop(exit_status))
    for number in begin:
        actions[number][0]()
        drain()
    flush()
    attach()
    tell(b"Attached %d probes\n" % probe_count)
    kernel["events"].open_ring_buffer(on_record)
    child = subprocess.Popen(command) if command and not is_over else None
    while not is_over:
        kernel.ring_buffer_poll(50)
        if child and child.poll() is not None:
            break
    detach()
    kernel.ring_buffer_consume()
    for number in end:
        actions[number][0]()
        drain()
    if prints_maps:
        for m in kernel_maps:
            m.load()
        drain()
        print_maps()
    flush()
    sys.exit(exit_status)
