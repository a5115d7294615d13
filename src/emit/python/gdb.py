# What gdb is asked for.

# This file may have the name of the debugger's module.
sys.path = [p for p in sys.path if os.path.realpath(p or ".") != os.path.dirname(os.path.realpath(run.__code__.co_filename))]

try:
    import gdb
except ImportError:  # a program of its own
    gdb = None


def debugger_command(core, pid, program):
    return (["gdb", "-nx", "-batch", "-iex", "set auto-load off", "-iex", "set debuginfod enabled off", "-iex", "set pagination off"] +
            ([program] if program else []) + (["-c", core] if core else ["-p", pid]) + ["-x", os.path.abspath(__file__)])


def debugger_environment():
    return {}


def core_path():
    if os.environ.get("ACU_CORE"):
        return os.environ["ACU_CORE"]
    found = re.search(r"Local core dump file:\n\s*`(.*)', file type", gdb.execute("info files", to_string=True))
    return found[1] if found else None


def process_id():
    pid = gdb.selected_inferior().pid
    if not pid:
        stop("no core dump and no process: run this file with one, or after `core-file` or `attach`")
    return pid


def read_memory(address, size):
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except (gdb.MemoryError, OverflowError):
        return None


def type_of(name):
    for words in ("struct " + name, name, "union " + name):
        try:
            found = gdb.lookup_type(words).strip_typedefs()
            if found.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) and found.sizeof:
                return found
        except gdb.error:
            pass
    stop("the type %s is not known: load the program's debug information" % name)


def size_of(name):
    return type_of(name).sizeof


def member_of(kind, name):
    for f in kind.fields():
        if not hasattr(f, "bitpos"):
            continue
        if f.name == name:
            return f.bitpos, f.bitsize, f.type.strip_typedefs()
        if not f.name or f.is_base_class:
            inner = member_of(f.type.strip_typedefs(), name)
            if inner:
                return f.bitpos + inner[0], inner[1], inner[2]
    return None


def field_of(name, path):
    kind, at, bits = type_of(name), 0, 0
    for part in path.split("."):
        found = member_of(kind, part)
        if not found:
            stop("%s has no member %s in this program" % (name, path))
        at, bits, kind = at + found[0], found[1], found[2]
    return (at // 8, (at % 8, bits)) if bits else (at // 8, None)


addresses = {}


def address_of(name, file=None):
    """Of a variable or function."""
    here.thread and here.thread.switch()
    key = (name, file)
    if key not in addresses:
        words = "&'%s'::%s" % (file, name) if file else "&%s" % name if "::" not in name else "&'%s'" % name
        try:
            addresses[key] = int(gdb.parse_and_eval("(unsigned long)(%s)" % words))
        except gdb.error as why:
            stop("%s: %s" % (name, why))
    return addresses[key]


def thread_local(name):
    here.thread.switch()
    try:
        return int(gdb.parse_and_eval("(unsigned long)&%s" % name))
    except gdb.error as why:
        raise Fault("is not available (%s)" % why)


class Frame:
    def __init__(self, frame):
        name = frame.name() or ""
        self.frame, self.name = frame, name if name.startswith("(") else name.split("(")[0]


def threads_in_order(program):
    known = {t.ptid[1] or t.ptid[2]: t for t in gdb.selected_inferior().threads()}
    return [(tid, known[tid]) for tid in program.threads if tid in known]


def frames_of(thread):
    thread.switch()
    frame = gdb.newest_frame()
    while frame:
        yield Frame(frame)
        try:
            frame = frame.older()
        except gdb.error:
            return


def frame_addresses():
    """Addresses of the calls from the current one on, and whether they are returned to."""
    here.thread.switch()
    frame = here.frame.frame if here.frame else gdb.newest_frame()
    while frame and frame.type() == gdb.INLINE_FRAME:
        frame = frame.older()
    is_return = frame != gdb.newest_frame() and not (frame and frame.newer() and frame.newer().type() == gdb.SIGTRAMP_FRAME)
    if frame and all_newer_inlined(frame):
        is_return = False
    while frame:
        if frame.type() != gdb.INLINE_FRAME:
            yield frame.pc(), is_return
            is_return = frame.type() != gdb.SIGTRAMP_FRAME
        try:
            frame = frame.older()
        except gdb.error:
            return


def all_newer_inlined(frame):
    frame = frame.newer()
    while frame:
        if frame.type() != gdb.INLINE_FRAME:
            return False
        frame = frame.newer()
    return True


def variable(name):
    try:
        value = here.frame.frame.read_var(name)
    except (ValueError, gdb.error) as why:
        raise Fault("is not available (%s)" % why)
    if value.is_optimized_out:
        raise Fault("was optimized out")
    return value


def value_of(name, size, signed):
    """Of an argument or local variable, a number."""
    try:
        data = int(variable(name).cast(gdb.lookup_type(("long", "unsigned long")[not signed])) if size == 8 else variable(name))
    except gdb.error as why:
        raise Fault("is not available (%s)" % why)
    return i64(data) if signed else data & (1 << 8 * size) - 1


def place_of_variable(name):
    try:
        return int(variable(name).address)
    except (TypeError, gdb.error) as why:
        raise Fault("is in no memory (%s)" % why)


def read_register(name):
    here.thread.switch()
    frame = here.frame.frame if here.frame else gdb.newest_frame()
    name = {"flags": "eflags", "ip": "rip", "orig_ax": "orig_rax"}.get(name, "r" + name if len(name) == 2 and name[1] in "xip" else name)
    return u64(int(frame.read_register(name)))


def leave(status):
    flush()
    if gdb:
        gdb.execute("quit %d" % status)
    sys.exit(status)


def stop(text):
    tell(("ERROR: %s\n" % text).encode())
    leave(1)


if gdb:
    for setting in ("pagination off", "confirm off", "backtrace past-main on", "backtrace past-entry on", "backtrace limit unlimited", "python print-stack full"):
        gdb.execute("set " + setting)
is_inside = gdb is not None
