# What lldb is asked for.

# This file may have the name of the debugger's module.
sys.path = [p for p in sys.path if os.path.realpath(p or ".") != os.path.dirname(os.path.realpath(run.__code__.co_filename))]

is_inside = __name__ != "__main__"
if is_inside:
    import lldb


def debugger_command(core, pid, program):
    return (["lldb", "--no-lldbinit", "--batch", "-o", "script import runpy; runpy.run_path(%r, run_name='acu')" % os.path.abspath(__file__)] +
            (["-c", core] if core else ["-p", pid]) + ([program] if program else []))


def debugger_environment():
    """Debian's lldb 14 looks for its own modules, and those that they import, in the wrong folder."""
    import glob
    import shutil
    home = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("lldb") or "lldb")))
    folders = [os.path.dirname(f) for f in sorted(glob.glob(home + "/lib/python3*/*-packages/lldb"))]
    return {"PYTHONPATH": ":".join([*reversed(folders), "/usr/lib/python3/dist-packages", os.environ.get("PYTHONPATH", "")])} if folders else {}


def target():
    return lldb.SBDebugger.FindDebuggerWithID(1).GetSelectedTarget()


def process():
    return target().GetProcess()


def core_path():
    if "ACU_CORE" in os.environ:
        return os.environ["ACU_CORE"] or None
    words = open("/proc/self/cmdline").read().split("\0")
    for before, word in zip(words, words[1:]):
        if before in ("-c", "--core"):
            return word
    return None


def process_id():
    if not process().IsValid():
        stop("no core dump and no process: run this file with one, or after `target create --core` or `attach`")
    return process().GetProcessID()


def read_memory(address, size):
    if core_path() and not any(begin <= address and address + size <= end for begin, end in the_program().dumped):
        return read_by_parts(address, size)
    error = lldb.SBError()
    data = process().ReadMemory(address, size, error)
    return data if error.Success() and data and len(data) == size else None


def read_by_parts(address, size):
    """What a core dump left out is as the file has it; a page may be of several parts."""
    out = b""
    program = the_program()
    while len(out) < size:
        at, error = address + len(out), lldb.SBError()
        piece = None
        for begin, end in program.dumped:
            if begin <= at < end:
                piece = process().ReadMemory(at, min(size - len(out), end - at), error)
        if piece is None:
            for begin, end, offset, path in program.files:
                if begin <= at < end:
                    try:
                        with open(path, "rb") as f:
                            f.seek(offset + at - begin)
                            piece = f.read(min(size - len(out), end - at))
                    except OSError:
                        return None
        if not piece:
            return None
        out += piece
    return out


def spellings(name):
    """Compilers and debuggers do not agree on how numbers are called, and on blanks, in the arguments of templates."""
    plain = name
    for long, short in (("long unsigned int", "unsigned long"), ("long long int", "long long"), ("long int", "long"), ("short unsigned int", "unsigned short"), ("short int", "short")):
        plain = plain.replace(long, short)
    return list(dict.fromkeys([name, plain, plain.replace("> >", ">>").replace("> >", ">>")]))


def type_of(name):
    for spelling in spellings(name):
        for found in target().FindTypes(spelling):
            found = found.GetCanonicalType()
            if found.GetTypeClass() in (lldb.eTypeClassStruct, lldb.eTypeClassClass, lldb.eTypeClassUnion) and found.GetByteSize():
                return found
    stop("the type %s is not known: load the program's debug information" % name)


def size_of(name):
    return type_of(name).GetByteSize()


def member_of(kind, name):
    for i in range(kind.GetNumberOfFields()):
        f = kind.GetFieldAtIndex(i)
        inner = f.GetType().GetCanonicalType()
        if f.GetName() == name:
            return f.GetOffsetInBits(), f.GetBitfieldSizeInBits() if f.IsBitfield() else 0, inner
        if not f.GetName():
            found = member_of(inner, name)
            if found:
                return f.GetOffsetInBits() + found[0], found[1], found[2]
    for i in range(kind.GetNumberOfDirectBaseClasses()):
        base = kind.GetDirectBaseClassAtIndex(i)
        found = member_of(base.GetType().GetCanonicalType(), name)
        if found:
            return base.GetOffsetInBits() + found[0], found[1], found[2]
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
    key = (name, file)
    if key not in addresses:
        addresses[key] = find_address(name, file)
        if addresses[key] in (None, lldb.LLDB_INVALID_ADDRESS):
            stop("%s: there is no such variable or function" % name)
    return addresses[key]


def find_address(name, file):
    for value in target().FindGlobalVariables(name, 100):
        if file and not (value.GetDeclaration().GetFileSpec().GetFilename() or "").endswith(file.rsplit("/", 1)[-1]):
            continue
        address = value.GetLoadAddress()
        if address != lldb.LLDB_INVALID_ADDRESS:
            return address
    for found in target().FindSymbols(name):
        if found.symbol.IsValid() and found.symbol.GetStartAddress().IsValid():
            address = found.symbol.GetStartAddress().GetLoadAddress(target())
            if address != lldb.LLDB_INVALID_ADDRESS and found.symbol.GetType() != lldb.eSymbolTypeUndefined:
                return address
    return None


class Frame:
    def __init__(self, frame):
        self.frame, self.name = frame, plain_function(frame)


def plain_function(frame):
    name = frame.GetDisplayFunctionName() or frame.GetFunctionName() or ""
    return name.split("(")[0] if not name.startswith("(") else name


def threads_in_order(program):
    known = {t.GetThreadID(): t for t in process()}
    return [(tid, known[tid]) for tid in program.threads if tid in known]


def frames_of(thread):
    for frame in thread:
        yield Frame(frame)


def frame_addresses():
    """Addresses of the calls from the current one on, and whether they are returned to."""
    frames = [f for f in here.thread]
    first = here.frame.frame.GetFrameID() if here.frame else 0
    is_return, address = False, None
    for i, frame in enumerate(frames):
        address = address or frame.GetPC()  # of the innermost: calls around inlined ones are given where these begin
        if frame.IsInlined():
            continue
        if i >= first:
            yield address, is_return
        address = None
        name = frame.GetFunctionName() or ""
        is_return = name != "__restore_rt"


def variable(name):
    value = here.frame.frame.FindVariable(name)
    if not value.IsValid():
        raise Fault("is not available")
    if value.GetError().Fail():
        raise Fault("was optimized out" if "optimized" in (value.GetError().GetCString() or "") else "is not available (%s)" % value.GetError().GetCString())
    return value


def value_of(name, size, signed):
    """Of an argument or local variable, a number."""
    value = variable(name)
    error = lldb.SBError()
    data = value.GetData().ReadRawData(error, 0, size)
    if error.Fail() or len(data) < size:
        raise Fault("is not available")
    return int.from_bytes(data, "little", signed=signed)


def place_of_variable(name):
    address = variable(name).GetLoadAddress()
    if address == lldb.LLDB_INVALID_ADDRESS:
        raise Fault("is in no memory")
    return address


def read_register(name):
    frame = here.frame.frame if here.frame else here.thread.GetFrameAtIndex(0)
    name = {"flags": "rflags", "ip": "rip"}.get(name, "r" + name if len(name) == 2 and name[1] in "xip" else name)
    value = frame.FindRegister(name)
    if not value.IsValid():
        raise Fault("is not available")
    return value.GetValueAsUnsigned()


def leave(status):
    flush()
    if is_inside:
        if not core_path():
            process().Detach()
        os._exit(status)
    sys.exit(status)


def stop(text):
    tell(("ERROR: %s\n" % text).encode())
    leave(1)
