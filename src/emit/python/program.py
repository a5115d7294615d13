# What a core dump says of the program beside its memory: threads, files, who it was. Of a live process, /proc.

NT_PRSTATUS, NT_PRPSINFO, NT_AUXV, NT_FILE = 1, 3, 6, 0x46494c45
REGISTERS = ("r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax ip cs flags sp ss fs_base gs_base ds es fs gs").split()


class Program:
    def __init__(self):
        self.pid = self.uid = self.gid = 0
        self.comm = b""
        self.threads = []      # tid, in the order of the core
        self.registers = {}    # by tid
        self.signal = 0
        self.files = []        # (begin, end, offset in the file, path)
        self.writable = []     # (begin, end)
        self.dumped = []       # (begin, end), of a core
        self.entry = 0


def read_core(path):
    out = Program()
    with open(path, "rb") as f:
        head = f.read(64)
        if head[:4] != b"\x7fELF":
            stop("%s is not a core dump" % path)
        at, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        if count == 0xffff:  # the number is in the first section header
            f.seek(struct.unpack_from("<Q", head, 40)[0] + 44)
            count = struct.unpack("<I", f.read(4))[0]
        f.seek(at)
        for kind, flags, offset, address, _, in_file, in_memory, _ in struct.iter_unpack("<IIQQQQQQ", f.read(size * count)):
            if kind == 1 and in_file:
                out.dumped.append((address, address + in_file))
                if flags & 2:
                    out.writable.append((address, address + in_file))
            if kind == 4:
                back = f.tell()
                f.seek(offset)
                read_notes(out, f.read(in_file))
                f.seek(back)
    return out


def read_notes(out, data):
    at = 0
    while at + 12 <= len(data):
        name_size, size, kind = struct.unpack_from("<III", data, at)
        at += 12 + (name_size + 3) // 4 * 4
        text = data[at:at + size]
        at += (size + 3) // 4 * 4
        if kind == NT_PRSTATUS:
            tid = struct.unpack_from("<I", text, 32)[0]
            out.threads.append(tid)
            out.registers[tid] = dict(zip(REGISTERS, struct.unpack_from("<27Q", text, 112)))
            if len(out.threads) == 1:
                out.signal = struct.unpack_from("<H", text, 12)[0]
        elif kind == NT_PRPSINFO:
            out.uid, out.gid, out.pid = struct.unpack_from("<III", text, 16)
            out.comm = text[40:56].split(b"\0", 1)[0]
        elif kind == NT_AUXV:
            for key, value in struct.iter_unpack("<QQ", text[:len(text) // 16 * 16]):
                if key == 9:
                    out.entry = value
        elif kind == NT_FILE:
            count, unit = struct.unpack_from("<QQ", text)
            names = text[16 + 24 * count:].split(b"\0")
            for i in range(count):
                begin, end, offset = struct.unpack_from("<QQQ", text, 16 + 24 * i)
                out.files.append((begin, end, offset * unit, names[i].decode(errors="surrogateescape")))


def read_process(pid):
    out = Program()
    out.pid = pid
    for line in open("/proc/%d/status" % pid):
        word, _, rest = line.partition(":")
        if word in ("Uid", "Gid"):
            setattr(out, word.lower(), int(rest.split()[0]))
    out.comm = open("/proc/%d/comm" % pid, "rb").read().rstrip(b"\n")
    out.threads = sorted(int(t) for t in os.listdir("/proc/%d/task" % pid))
    for line in open("/proc/%d/maps" % pid):
        words = line.split(None, 5)
        begin, end = (int(x, 16) for x in words[0].split("-"))
        if len(words) == 6 and words[5].startswith("/"):
            out.files.append((begin, end, int(words[2], 16), words[5].rstrip("\n")))
        if words[1][1] == "w":
            out.writable.append((begin, end))
    auxiliary = open("/proc/%d/auxv" % pid, "rb").read()
    for key, value in struct.iter_unpack("<QQ", auxiliary):
        if key == 9:
            out.entry = value
    return out


def main_file(program):
    for begin, end, _, path in program.files:
        if begin <= program.entry < end:
            return path
    return None


# ---------------------------------------------------------------------------------------------- a probe's run

class Here:
    """Where a probe runs: the thread, its frame, its name."""
    tid = pid = 0
    comm = b""
    frame = thread = None
    function = b""
    probe = b""


here = Here()
status = 0


def run(probe, *more):
    """One run of a probe. False: the script asked for the end."""
    global status
    here.probe = probe.__doc__.encode()
    try:
        probe()
    except Exit as asked:
        status = asked.status
        return False
    except Fault as why:
        note("%s: the value read here %s: the block ended here" % (place_of(why.__traceback__), why))
    except RecursionError:
        note("%s: too many calls within calls: the block ended here" % probe.__doc__)
    finally:
        drain()
    return True


def place_of(trace):
    """The line of the script, from the comment above the last statement of this file's probes."""
    line, lines = 0, open(run.__code__.co_filename, errors="replace").read().split("\n")
    first = lines.index(BEGIN_OF_SCRIPT) if BEGIN_OF_SCRIPT in lines else 0
    while trace:
        if trace.tb_frame.f_code.co_filename == run.__code__.co_filename and trace.tb_lineno > first:
            line = trace.tb_lineno
        trace = trace.tb_next
    while line > first:
        found = re.search(r"# (\S+:\d+)$", lines[line - 1])
        if found:
            return found[1]
        line -= 1
    return "script"


BEGIN_OF_SCRIPT = "# ---- The script."


def run_all(begin, oneshot, fault, thread, frame, end):
    """Probes in the order of acu: those of begin; oneshot; thread by thread fault, thread and the calls; those of end."""
    sys.setrecursionlimit(100000)
    program = the_program()
    here.tid = here.pid = program.pid
    here.comm = program.comm
    goes_on = all(run(p) for p in begin) and all(run(p) for p in oneshot)
    if goes_on and (fault or thread or frame):
        run_threads(program, fault, thread, frame)
    here.tid, here.comm, here.frame, here.thread = program.pid, program.comm, None, None
    for p in end:
        run(p)


def run_threads(program, fault, thread, frame):
    for number, (tid, handle) in enumerate(threads_in_order(program)):
        here.tid, here.thread, here.frame = tid, handle, None
        here.comm = thread_name(program, tid)
        here.function = b""
        if fault and number == 0 and program.signal:
            here.frame = next(iter(frames_of(handle)), None)
            here.function = here.frame.name.encode() if here.frame else b""
            if not all(run(p) for p in fault):
                return
        here.frame = None
        if not all(run(p) for p in thread):
            return
        for f in frames_of(handle) if frame else ():
            here.frame, here.function = f, f.name.encode()
            for name, p in frame:
                if f.name == name and not run(p):
                    return


def thread_name(program, tid):
    if core_path():
        return program.comm
    try:
        return open("/proc/%d/task/%d/comm" % (program.pid, tid), "rb").read().rstrip(b"\n")
    except OSError:
        return program.comm


def register(name):
    program = the_program()
    if here.frame is None and here.tid in program.registers:
        return program.registers[here.tid][name]
    return read_register(name)


def finish(prints_maps=True):
    drain()
    if prints_maps:
        print_maps()
    flush()
    for text, n in notes.items():
        tell(("WARNING: %s%s\n" % (text, "" if n == 1 else " (%d times)" % n)).encode())
    leave(status)


found_program = None


def the_program():
    global found_program
    if found_program is None:
        path = core_path()
        found_program = read_core(path) if path else read_process(process_id())
    return found_program


def stack_of(most):
    """Addresses of the calls, the innermost first; of all but the first and interrupted ones, where the call returns."""
    return Stack(tuple(frame_addresses())[:most] if most else tuple(frame_addresses()))
