# Names of addresses, from the symbol tables of the program's files. Of several names for one address it takes the one that acu does:
# global before local ones, those with a size, those with fewer underscores in front.

import bisect
import mmap
import subprocess


class Elf:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        if self.data[:4] != b"\x7fELF":
            raise OSError("no ELF file")
        at, size, count = struct.unpack_from("<Q", self.data, 40)[0], *struct.unpack_from("<HH", self.data, 58)
        names_at = struct.unpack_from("<H", self.data, 62)[0]
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, at + i * size) for i in range(count)] if at else []
        self.names = [self.text(self.sections[names_at][4] + s[0]) for s in self.sections]
        at, size, count = struct.unpack_from("<Q", self.data, 32)[0], *struct.unpack_from("<HH", self.data, 54)
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.data, at + i * size) for i in range(count)]

    def text(self, at):
        return self.data[at:self.data.find(b"\0", at)].decode(errors="replace")

    def section(self, name):
        return self.sections[self.names.index(name)] if name in self.names else None

    def build_id(self):
        s = self.section(".note.gnu.build-id")
        return self.data[s[4] + 16:s[4] + s[5]].hex() if s else ""

    def symbols(self, name):
        s = self.section(name)
        if not s or s[1] == 8:
            return
        names = self.sections[s[6]][4]
        for name_at, info, _, section, value, size in struct.iter_unpack("<IBBHQQ", self.data[s[4]:s[4] + s[5]]):
            if section and section < len(self.sections):
                yield self.text(names + name_at), info & 15, info >> 4, section, value, size

    def frame_functions(self):
        """Begins and ends of functions, from .eh_frame."""
        s = self.section(".eh_frame")
        if not s:
            return
        at, end, pointers = s[4], s[4] + s[5], {}
        while at + 4 <= end:
            length = struct.unpack_from("<I", self.data, at)[0]
            if length in (0, 0xffffffff):
                break
            id_at = at + 4
            cie = struct.unpack_from("<I", self.data, id_at)[0]
            if cie:
                encoding = self.encoding(id_at - cie, pointers)
                if encoding == 0x1b:
                    begin, size = struct.unpack_from("<iI", self.data, id_at + 4)
                    yield s[3] + id_at + 4 - s[4] + begin, size
            at += 4 + length

    def encoding(self, cie, known):
        if cie not in known:
            augmentation = self.text(cie + 9)
            at = cie + 9 + len(augmentation) + 1
            for _ in range(3 + augmentation.startswith("z")):  # alignments, return address, length
                while self.data[at] & 0x80:
                    at += 1
                at += 1
            known[cie] = 0
            for letter in augmentation[1:]:
                if letter == "R":
                    known[cie] = self.data[at]
                at += 1 if letter in "RL" else 5 if letter == "P" and self.data[at] & 15 in (3, 11) else 9 if letter == "P" else 0
        return known[cie]


def debug_file(elf):
    build_id = elf.build_id()
    path = "/usr/lib/debug/.build-id/%s/%s.debug" % (build_id[:2], build_id[2:])
    try:
        return Elf(path) if build_id else None
    except OSError:
        return None


class Names:
    """Of one file: functions and variables by address."""

    def __init__(self, path):
        self.functions, self.starts, self.variables, self.variable_starts = [], [], [], []
        try:
            elf = Elf(path)
        except (OSError, ValueError):
            return
        self.segments = [s for s in elf.segments if s[0] == 1]
        found = {}
        for file in (elf, debug_file(elf)):
            if file:
                self.take(file, found)
        functions = sorted((address, size, name) for address, (_, size, name) in found.items())
        functions += self.unnamed(elf, functions)
        self.functions = sorted(functions)
        self.starts = [f[0] for f in self.functions]
        for table in (".symtab", ".dynsym"):
            if not self.variables:
                self.variables = sorted(((value, size, name) for name, kind, _, _, value, size in elf.symbols(table) if kind == 1 and size),
                                        key=lambda v: v[0])
        self.variable_starts = [v[0] for v in self.variables]

    @staticmethod
    def take(elf, found):
        for name, kind, binding, section, value, size in elf.symbols(".symtab" if elf.section(".symtab") else ".dynsym"):
            s = elf.sections[section]
            is_function = kind in (2, 10)
            if not s[2] & 4 or not s[3] <= value < s[3] + s[5] or not (is_function or kind == 0) or not name:
                continue
            if kind == 0 and name.startswith(("$", ".L")):
                continue
            rank = 0 if not is_function else 2 if binding in (1, 2) else 1
            name = name.split("@")[0] or name
            key = (-rank, size == 0, len(name) - len(name.lstrip("_")))
            if value not in found or key < found[value][0]:
                found[value] = (key, size, name)

    def unnamed(self, elf, known):
        out, end, at = [], 0, 0
        for begin, size in sorted(elf.frame_functions()):
            while at < len(known) and known[at][0] <= begin:
                end = max(end, known[at][0] + known[at][1])
                at += 1
            plt = any(n.startswith(".plt") and s[3] <= begin < s[3] + s[5] for n, s in zip(elf.names, elf.sections))
            if begin >= end and not plt and not (at and known[at - 1][0] == begin):
                out.append((begin, size, "func_0x%x" % begin))
            end = max(end, begin + size)
        return out

    def function(self, address):
        """The innermost that holds the address."""
        at = bisect.bisect_right(self.starts, address)
        for begin, size, name in reversed(self.functions[max(at - 20, 0):at]):
            if address < begin + (size or 1 << 20):
                return name, address - begin
        return None

    def variable(self, address):
        at = bisect.bisect_right(self.variable_starts, address)
        if at:
            begin, size, name = self.variables[at - 1]
            if address < begin + size:
                return name
        return None


names_of_files = {}
plain_names = {}


def file_at(address):
    """Path, and what the loader added to the file's addresses."""
    files = the_program().files
    for begin, end, offset, path in files:
        if begin <= address < end:
            if path not in names_of_files:
                names_of_files[path] = Names(path)
            names = names_of_files[path]
            for kind, flags, at, virtual, _, in_file, _, _ in getattr(names, "segments", ()):
                if at // PAGE * PAGE <= offset < at + max(in_file, 1):
                    return path, begin - (virtual - at + offset), names
            return path, begin - offset, names
    # Behind the file's own pages: variables that begin as zeros.
    before = [f for f in files if f[1] <= address]
    if before:
        last = max(before)
        path = last[3]
        base = file_at(last[0])
        if any(kind == 1 and base[1] + virtual <= address < base[1] + virtual + in_memory
               for kind, _, _, virtual, _, _, in_memory, _ in getattr(base[2], "segments", ())):
            return base
    return None


def plain(name):
    if name.startswith("_Z") and name not in plain_names:
        try:
            plain_names[name] = subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip() or name
        except OSError:
            plain_names[name] = name
    return plain_names.get(name, name)


def symbol_name(address):
    found = file_at(address)
    if found:
        path, bias, names = found
        name = names.variable(address - bias)
        if name:
            return plain(name)
        function = names.function(address - bias)
        if function:
            return plain(function[0])
        return "%s+0x%x" % (os.path.basename(path), address - bias)
    return "0x%x" % address


def frame_name(address, is_return):
    found = file_at(address - is_return)
    if found:
        path, bias, names = found
        function = names.function(address - is_return - bias)
        if function:
            return "%s+%d" % (plain(function[0]), function[1] + is_return)
        return "%s+0x%x" % (os.path.basename(path), address - bias)
    return "0x%x" % address


class Symbol(Number):
    """An address that prints as its name."""

    def show(self, v, div=1):
        return symbol_name(u64(v)).encode()

    def rank(self, v):
        return 0

    def order(self, v):
        return u64(v).to_bytes(8, "little")


SYMBOL = Symbol(8, False)
stack_numbers = {}


class Stack(tuple):
    """(address, is_return) of each call."""

    def __init__(self, _=()):
        stack_numbers.setdefault(self, len(stack_numbers))


class StackType:
    zero = ()

    def __init__(self, most=0, mode="acu"):
        self.most, self.mode = most, mode

    def show(self, v, div=1):
        lines = []
        for address, is_return in v:
            if self.mode == "raw":
                lines.append("%x" % address)
            else:
                lines.append("        " + frame_name(address, is_return))
        return ("\n" + "\n".join(lines) + "\n").encode() if lines else b""

    def rank(self, v):
        return 0

    def order(self, v):
        return stack_numbers.get(v, -1)
