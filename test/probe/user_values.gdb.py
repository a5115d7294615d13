# What gdb says of variables, as the oracle of user_values_test.cc. It stops once at each address asked for and
# answers there over two pipes, so that the test looks at the same stopped process.
#   ACU_TO, ACU_FROM: numbers of the pipes' ends. Lines that come in: "break ADDRESS" (of the file), "go", at a
#   stop "values NAME NAME …", "next". Lines that go out: "stop PID BIAS ADDRESS REGISTERS…", "value NAME PATH HEX"
#   (or "?" where gdb knows none), "end", "exit".
import gdb
import os

source = os.fdopen(int(os.environ["ACU_TO"]), "r")
sink = os.fdopen(int(os.environ["ACU_FROM"]), "w")

REGISTERS = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base".split()
SCALARS = (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_INT, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_ENUM)


def say(text):
    sink.write(text + "\n")
    sink.flush()


# Pairs of a path (".member[2]") and the number there, or None.
def numbers(value, path=""):
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        address = value.referenced_value().address
        yield path, None if address is None else int(address)
    elif kind.code in SCALARS and kind.sizeof <= 8:
        try:
            yield path, int(value) & ((1 << 8 * kind.sizeof) - 1)
        except gdb.error:
            yield path, None
    elif kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        for i in range(low, min(high, low + 15) + 1):
            yield from numbers(value[i], f"{path}[{i}]")
    elif kind.code == gdb.TYPE_CODE_STRUCT:
        for field in kind.fields():
            if hasattr(field, "bitpos"):
                name = "" if field.is_base_class else field.name or ""
                yield from numbers(value[field], f"{path}.{name}" if name else path)


def find(name, pc):
    block = gdb.block_for_pc(pc)
    while block and not block.is_global and not block.is_static:
        for symbol in block:
            if symbol.name == name and (symbol.is_variable or symbol.is_argument):
                return symbol
        if block.function and not is_inlined(block):
            break
        block = block.superblock
    return None


def is_inlined(block):
    above = block.superblock
    return bool(above and not above.is_global and not above.is_static)


def tell(name, pc):
    try:
        symbol = find(name, pc)
        if symbol:
            value = symbol.value(gdb.newest_frame())
        else:
            value = gdb.parse_and_eval(name)
        if value.is_optimized_out:
            return say(f"value {name} - ?")
        for path, number in numbers(value):
            say(f"value {name} {path or '-'} {'?' if number is None else hex(number)[2:]}")
    except (gdb.error, gdb.MemoryError, RuntimeError):
        say(f"value {name} - ?")


def bias_of(pid):
    exe = os.readlink(f"/proc/{pid}/exe")
    with open(exe, "rb") as file:
        if file.read(17)[16] == 2:  # ET_EXEC
            return 0
    for line in open(f"/proc/{pid}/maps"):
        if line.rstrip().endswith(exe):
            return int(line.split("-")[0], 16)


gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set print frame-arguments none")
gdb.execute("starti", to_string=True)
pid = gdb.selected_inferior().pid
bias = bias_of(pid)
for line in source:
    words = line.split()
    if words[0] == "go":
        break
    gdb.Breakpoint(f"*{int(words[1], 16) + bias:#x}", temporary=True, internal=True)
while True:
    gdb.execute("continue", to_string=True)
    if not gdb.selected_inferior().pid:
        break
    frame = gdb.newest_frame()
    registers = [int(frame.read_register(r)) & (1 << 64) - 1 for r in REGISTERS]
    pc = frame.pc()
    say(f"stop {pid} {bias:x} {pc - bias:x} " + " ".join(f"{r:x}" for r in registers))
    for line in source:
        words = line.split()
        if words[0] == "next":
            break
        for name in words[1:]:
            tell(name, pc)
        say("end")
say("exit")
