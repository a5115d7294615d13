"""Saved hosts (src/host/saved.h) as Python has them: read and write the file, and cut one down to what tests need.

  saved_host.py text FILE    from a file of `acu info --save` to the text that lies in hosts/, on standard output
  saved_host.py file TEXT    from such a text to the file, on standard output

A text has sections, `== NAME` and lines; numbers of types are the numbers of their lines (BTF as text, see Types).
"""
import re
import struct
import sys
import zlib

MAGIC, VERSION = b"acuhost\n", 1

# What tests ask for: everything else is cut off.
FUNCTIONS = ("vfs_read", "vfs_write", "vfs_open", "vfs_fsync", "vfs_unlink", "do_sys_openat2", "wake_up_new_task", "kfree_skb",
             "tcp_connect", "tcp_sendmsg", "ip_output", "bpf_task_from_pid", "bpf_task_release", "bpf_rdonly_cast", "bpf_session_is_return", "bpf_iter_task")
DATA = ("_text", "_etext", "jiffies", "init_task", "__per_cpu_start", "__per_cpu_end", "__per_cpu_offset", "runqueues")
EVENTS = ("sched:sched_switch", "sched:sched_process_exit", "sched:sched_process_fork", "sched:sched_wakeup", "syscalls:sys_enter_openat",
          "syscalls:sys_exit_openat", "syscalls:sys_enter_read", "syscalls:sys_exit_read", "block:block_rq_issue", "task:task_newtask", "skb:kfree_skb")
# Structures with their members; what a member or parameter leads to is cut to its name unless it is here too.
STRUCTURES = {"task_struct": ("pid", "tgid", "comm", "self_exec_id", "stack", "real_parent", "exit_code", "state", "__state", "prio", "flags", "thread_info"),
              "file": ("f_mode", "f_pos", "f_inode", "f_flags"), "inode": ("i_ino", "i_mode", "i_size"), "pt_regs": None, "sk_buff": ("len", "data_len", "dev"),
              "net_device": ("name", "ifindex"), "list_head": None, "thread_info": None, "sock": ("sk_err", "sk_priority"), "bpf_iter__task": None, "bpf_iter_meta": None}
TYPEDEFS = ("btf_trace_sched_switch", "btf_trace_sched_process_exit", "btf_trace_sched_process_fork", "btf_trace_sched_wakeup", "btf_trace_sys_enter",
            "btf_trace_sys_exit", "btf_trace_block_rq_issue", "btf_trace_task_newtask", "btf_trace_kfree_skb", "size_t", "pid_t", "u64", "u32", "gfp_t")
VARIABLES = ("runqueues", "process_counts")


# ------------------------------------------------------------------------------------------------- the file

def read(data):
    """The entries of a file, unpacked, by name."""
    if data[:8] != MAGIC or struct.unpack_from("<I", data, 8)[0] != VERSION:
        raise ValueError("not a saved host of this version")
    count, at, table, out = struct.unpack_from("<I", data, 16)[0], 20, [], {}
    for _ in range(count):
        size, = struct.unpack_from("<I", data, at)
        name = data[at + 4:at + 4 + size].decode()
        _, packed = struct.unpack_from("<QQ", data, at + 4 + size)
        table.append((name, packed))
        at += 20 + size
    for name, packed in table:
        out[name] = zlib.decompress(data[at:at + packed])
        at += packed
    return out


def write(entries):
    table, bodies = struct.pack("<I", len(entries)), b""
    for name, body in entries.items():
        packed = zlib.compress(body, 9)
        table += struct.pack("<I", len(name)) + name.encode() + struct.pack("<QQ", len(body), len(packed))
        bodies += packed
    return MAGIC + struct.pack("<II", VERSION, zlib.crc32(table + bodies)) + table + bodies


# ----------------------------------------------------------------------------------------------------- types

KINDS = ["none", "int", "pointer", "array", "struct", "union", "enum", "forward", "typedef", "volatile", "const", "restrict", "function",
         "prototype", "variable", "section", "float", "decl_tag", "type_tag", "enum64"]
NUMBER = {name: i for i, name in enumerate(KINDS)}
REFERS = {"pointer", "typedef", "volatile", "const", "restrict", "function", "variable", "decl_tag", "type_tag", "prototype"}


class Types:
    """BTF as records [kind, name, flag, size or type, fixed words, items]; items are lists of a name or None, and numbers.

    A record's line, between tabs: kind, name or -, flag, size or type, fixed words with commas or -, then each item with colons."""

    def __init__(self):
        self.records = [None]

    @staticmethod
    def parse(data):
        out = Types()
        header, types_at, types_size, names_at, names_size = struct.unpack_from("<IIIII", data, 4)
        names = data[header + names_at:header + names_at + names_size]
        text = lambda at: names[at:names.index(b"\0", at)].decode()
        at, end = header + types_at, header + types_at + types_size
        while at < end:
            name, info, value = struct.unpack_from("<III", data, at)
            kind, count, flag = KINDS[info >> 24 & 31], info & 0xffff, info >> 31
            at += 12
            fixed, items = [], []
            words = {"int": 1, "array": 3, "variable": 1, "decl_tag": 1}.get(kind, 0)
            each = {"struct": 3, "union": 3, "enum": 2, "prototype": 2, "section": 3, "enum64": 3}.get(kind, 0)
            if kind == "function":
                fixed = [count]  # its linkage
            fixed += struct.unpack_from(f"<{words}I", data, at)
            at += 4 * words
            for _ in range(count if each else 0):
                item = list(struct.unpack_from(f"<{each}I", data, at))
                items.append(item if kind == "section" else [text(item[0])] + item[1:])
                at += 4 * each
            out.records.append([kind, text(name), flag, value, fixed, items])
        return out

    def lines(self):
        for kind, name, flag, value, fixed, items in self.records[1:]:
            yield "\t".join([kind, name or "-", str(flag), str(value), ",".join(map(str, fixed)) or "-"] +
                           [":".join(map(str, [i or "-" if isinstance(i, str) else i for i in item])) for item in items])

    @staticmethod
    def of_lines(lines):
        out, word = Types(), lambda text: "" if text == "-" else text
        for line in lines:
            kind, name, flag, value, fixed, *items = line.split("\t")
            numbers = [] if fixed == "-" else [int(n) for n in fixed.split(",")]
            cut = lambda item: [word(item[0])] + [int(n) for n in item[1:]]
            out.records.append([kind, word(name), int(flag), int(value), numbers, [cut(item.split(":")) for item in items]])
        return out

    def bytes(self):
        names, places, types = b"\0", {"": 0}, b""
        for record in self.records[1:]:
            for name in [record[1]] + [item[0] for item in record[5]]:
                if name not in places:
                    places[name] = len(names)
                    names += name.encode() + b"\0"
        for kind, name, flag, value, fixed, items in self.records[1:]:
            count = fixed[0] if kind == "function" else len(items)
            types += struct.pack("<III", places[name], flag << 31 | NUMBER[kind] << 24 | count, value)
            types += b"".join(struct.pack("<I", n) for n in (fixed[1:] if kind == "function" else fixed))
            for item in items:
                types += struct.pack("<I", places[item[0]]) + b"".join(struct.pack("<I", n) for n in item[1:])
        return struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(types), len(types), len(names)) + types + names

    def reduced(self):
        """Those of the lists above and what they need; structures lose members, others become names."""
        out, places = Types(), {}
        wanted = lambda r: r and ((r[0] == "function" and r[1] in FUNCTIONS) or (r[0] == "typedef" and r[1] in TYPEDEFS) or
                                  (r[0] == "variable" and r[1] in VARIABLES) or (r[0] == "struct" and r[1] in STRUCTURES))

        def add(at, is_behind_pointer=False):
            if at == 0:
                return 0
            kind, name, flag, value, fixed, items = self.records[at]
            is_cut = kind in ("struct", "union") and is_behind_pointer and name not in STRUCTURES
            key = (at, is_cut)
            if key in places:
                return places[key]
            places[key] = len(out.records)
            if is_cut:
                out.records.append(["forward", name or "anonymous", int(kind == "union"), 0, [], []])
                return places[key]
            made = [kind, name, flag, value, list(fixed), []]
            out.records.append(made)
            if kind in REFERS:
                behind = kind == "pointer" or (is_behind_pointer and kind in ("const", "volatile", "restrict", "type_tag", "typedef"))
                made[3] = add(value, behind)
            if kind == "array":
                made[4] = [add(fixed[0]), add(fixed[1]), fixed[2]]
            if kind in ("struct", "union"):
                members = STRUCTURES.get(name) if kind == "struct" else None
                made[5] = [[m, add(t), offset] for m, t, offset in items if not members or m in members or (not m and name in ("task_struct", "file"))]
            elif kind == "prototype":
                made[5] = [[p, add(t)] for p, t in items]
            elif kind in ("enum", "enum64"):
                made[5] = items[:8]
            return places[key]

        sys.setrecursionlimit(10000)
        for at, record in enumerate(self.records):
            if wanted(record):
                add(at)
            elif record and record[0] == "decl_tag" and record[1] == "bpf_kfunc" and wanted(self.records[record[3]]):
                add(at)
        return out


# ------------------------------------------------------------------------------------------------- as text

def text_of(entries):
    """What tests need of a host, as text."""
    symbol = re.compile(r"^([0-9a-f]+) (\S) (\S+)$")
    sections = {name: entries[name].decode() for name in ("kernel",)}
    calls = tuple(f".{name} " for name in FUNCTIONS)
    sections["answers"] = "".join(line + "\n" for line in entries["answers"].decode().splitlines() if not line.startswith("calls.") or any(c in line for c in calls))
    kept = [m for m in map(symbol.match, entries.get("/proc/kallsyms", b"").decode().splitlines()) if m and m.group(3) in FUNCTIONS + DATA]
    sections["/proc/kallsyms"] = "".join(m.group(0) + "\n" for m in kept)
    for name in ("/proc/sys/abi/vsyscall32", "/sys/devices/system/cpu/online", "/sys/kernel/debug/sched/preempt", "tracefs/dynamic_events"):
        if name in entries:
            sections[name] = entries[name].decode()
    listed = entries.get("tracefs/available_filter_functions", b"").decode().splitlines()
    if listed:
        sections["tracefs/available_filter_functions"] = "".join(line + "\n" for line in listed if line in FUNCTIONS)
    sections["tracefs/available_events"] = "".join(line + "\n" for line in entries["tracefs/available_events"].decode().splitlines() if line in EVENTS)
    parts = entries["tracefs formats"].decode().split("\0")
    sections["tracefs formats"] = "".join(f"-- {name}\n{text.strip()}\n" for name, text in zip(parts[::2], parts[1::2]) if name in EVENTS)
    if "/sys/kernel/btf/vmlinux" in entries:
        sections["types"] = "\n".join(Types.parse(entries["/sys/kernel/btf/vmlinux"]).reduced().lines()) + "\n"
    return "".join(f"== {name}\n{text if text.endswith(chr(10)) or not text else text + chr(10)}" for name, text in sections.items())


def entries_of(text):
    """The entries of a file from such a text."""
    out = {}
    for section in re.split(r"^== ", text, flags=re.M)[1:]:
        name, body = section.split("\n", 1)
        if name == "types":
            out["/sys/kernel/btf/vmlinux"] = Types.of_lines(body.splitlines()).bytes()
        elif name == "tracefs formats":
            events = [part.split("\n", 1) for part in re.split(r"^-- ", body, flags=re.M)[1:]]
            # The empty line behind the fields of all records is what ends them.
            out[name] = "".join(f"{event}\0{form}\0" for event, form in events).encode()
        else:
            out[name] = body.encode()
    return out


def main():
    how, path = sys.argv[1:]
    if how == "text":
        sys.stdout.write(text_of(read(open(path, "rb").read())))
    else:
        sys.stdout.buffer.write(write(entries_of(open(path).read())))


if __name__ == "__main__":
    main()
