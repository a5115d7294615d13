#!/usr/bin/env python3
"""User stacks of one program, in C++ and in Rust, linked by GNU ld, gold, lld and mold: linkers.py ACU [--filter TEXT]

Linkers lay programs out differently: which segments share a page of the file, how many hold code, whether there is an
index of the unwind tables, and how functions of other files are called. Of each program at least 99.9 % of the stacks
must be complete, and its functions must have the same shares of the time.
Last line: `N passed, N failed, N skipped`.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, run_suite

TMP = tempfile.mkdtemp(prefix="acu-linkers-")
os.chmod(TMP, 0o755)
LIMIT = 60 * SLOWNESS
LINKERS = {"bfd": "binutils", "gold": "binutils", "lld": "lld", "mold": "mold"}  # by the name that -fuse-ld takes: its package
SHARES = {"three": 0.6, "compare": 0.2, "call_back": 0.2}
TOLERANCE = 0.07  # of a share: it is sampled, and the machine may be busy
CPU_MS = 400      # of a program
HZ = 4999
LATE = ("[process not known yet]", "[code not known yet]")  # stacks of before acu got a CPU, whatever the linker
PLAIN = ["-O2", "-fomit-frame-pointer", "-I", HERE]

# What a layout is made with, and the linkers that know the option.
EVERY = tuple(LINKERS)
LAYOUTS = {
    "default": ([], EVERY),
    "fixed": (["-no-pie"], EVERY),
    "static": (["-static"], EVERY),
    "static_pie": (["-static-pie"], ("bfd", "lld", "mold")),
    "one_segment": (["-Wl,-z,noseparate-code"], ("bfd", "lld", "mold")),
    "own_pages": (["-Wl,-z,separate-code"], ("bfd", "lld", "mold")),
    "all_own_pages": (["-Wl,-z,separate-loadable-segments"], ("lld", "mold")),
    "no_rosegment": (["-Wl,--no-rosegment"], ("lld", "mold")),
    "no_relro": (["-Wl,-z,norelro"], EVERY),
    "large_pages": (["-Wl,-z,max-page-size=0x200000"], EVERY),
    "no_index": (["-Wl,--no-eh-frame-hdr"], EVERY),
    "no_build_id": (["-Wl,--build-id=none"], EVERY),
    "stripped": (["-s"], EVERY),
    "lazy": (["-Wl,-z,lazy", "-fcf-protection=none"], EVERY),
    "at_once": (["-Wl,-z,now"], EVERY),
    "branch_targets": (["-fcf-protection", "-Wl,-z,ibtplt"], ("bfd",)),
    "forced_branch_targets": (["-fcf-protection", "-Wl,-z,force-ibt"], ("lld",)),
    "retpolines": (["-Wl,-z,retpolineplt"], ("lld",)),
    "two_codes": (["-Wl,--section-start=.far_code=0x40000000"], ("bfd", "lld", "gold")),
}


def path(*names):
    return os.path.join(TMP, *names)


def source(name):
    return os.path.join(HERE, name)


def need_linker(linker):
    if not shutil.which("ld." + linker):
        raise Skipped(f"no linker ld.{linker} (package {LINKERS[linker]})")


def build(words, what):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=2 * LIMIT)
    need(done.returncode == 0, f"{what} cannot be built:\n{done.stderr[:2000]}")


def library(linker):
    """A folder with the library, linked by this linker."""
    folder = path("library-" + linker)
    if not os.path.exists(folder):
        os.makedirs(folder)
        build(["gcc", *PLAIN, "-shared", "-fPIC", "-fuse-ld=" + linker, "-o", os.path.join(folder, "liblinked.so"),
               source("linked_library.c")], "the library by " + linker)
    return folder


def object_of(name, options):
    """A source, compiled with these options; once."""
    out = path(name + "".join(o for o in options if o.startswith(("-f", "-D"))) + ".o")
    if not os.path.exists(out):
        build(["g++" if name.endswith("cc") else "gcc", *PLAIN, "-fPIE", *options, "-c", "-o", out, source(name)], name)
    return out


def program(linker, layout="default", library_by=None):
    """The C++ program; with the library inside of it, or as one of its own."""
    out = path(f"{linker}-{layout}-{library_by or 'alone'}")
    options = LAYOUTS[layout][0]
    compiled = [o for o in options if not o.startswith("-Wl,")] + (["-DFAR_CODE"] if layout == "two_codes" else [])
    if library_by:
        parts = [f"-L{library(library_by)}", f"-Wl,-rpath,{library(library_by)}", "-llinked"]
    else:
        parts = [object_of("linked_library.c", compiled)]
    build(["g++", "-fuse-ld=" + linker, *options, "-o", out, object_of("linked.cc", compiled), *parts], f"{layout} by {linker}")
    return out


def folded(acu, *words):
    """The stacks of a recording, each a list of frames from the outermost on, with its number of samples; what acu says."""
    out = path("stacks.folded")
    done = subprocess.run([acu, "flame", "-F", str(HZ), "-o", out, *words], capture_output=True, text=True, timeout=LIMIT,
                          env={**os.environ, "XDG_CACHE_HOME": path("cache")})
    need(done.returncode == 0, done.stderr)
    stacks = collections.Counter()
    for line in open(out):
        frames, _, count = line.rpartition(" ")
        stacks[tuple(frames.split(";")[1:])] += int(count)
    return stacks, done.stderr


def plain_name(frame):
    """Without the parameters, the crate and the mark of an inlined call."""
    return re.sub(r"\(.*|_\[[ik]\]$", "", frame).split("::")[-1]


def share_of(stacks, function):
    return sum(n for frames, n in stacks.items() if function in map(plain_name, frames)) / sum(stacks.values())


def check(stacks, what, has_names=True):
    """Complete, and with the shares that the program is made for."""
    late = sum(n for frames, n in stacks.items() if frames and frames[0] in LATE)
    stacks = collections.Counter({frames: n for frames, n in stacks.items() if not frames or frames[0] not in LATE})
    whole = sum(stacks.values())
    need(late <= whole / 10, f"{what}: {late} stacks of a process that is not known, {whole} others")
    need(whole >= 300, f"{what}: {whole} samples")
    # Of a thread that exits the kernel has torn down the user's part already.
    broken = {frames: n for frames, n in stacks.items() if frames and frames[0].startswith("[") and frames[0] != "[exiting]"}
    need(sum(broken.values()) <= max(1, whole / 1000), f"{what}: {sum(broken.values())} of {whole} stacks end early: {broken}")
    for function, expected in SHARES.items() if has_names else ():
        share = share_of(stacks, function)
        need(abs(share - expected) <= TOLERANCE, f"{what}: {function} has {share:.3f}, not {expected}: {stacks.most_common(8)}")


# ----------------------------------------------------------------------------------------------- C++


def layouts_of(linker):
    def test(acu):
        need_linker(linker)
        for layout, (_, linkers) in LAYOUTS.items():
            if linker not in linkers:
                continue
            stacks, _ = folded(acu, "--", program(linker, layout), str(CPU_MS))
            check(stacks, f"{layout} by {linker}", layout != "stripped")
    test.__name__ = "layouts_of_" + linker
    return test


def libraries_by_other_linkers(acu):
    """Each linker's program with each other linker's library; the C library is by GNU ld."""
    here = [linker for linker in LINKERS if shutil.which("ld." + linker)]
    for linker in here[1:]:
        need_linker(linker)
    for i, linker in enumerate(here):
        other = here[(i + 1) % len(here)]
        stacks, _ = folded(acu, "--", program(linker, library_by=other), str(CPU_MS))
        check(stacks, f"{linker} with a library by {other}")
    if len(here) < len(LINKERS):
        raise Skipped("not all linkers are here: " + ", ".join(f"ld.{l} (package {p})" for l, p in LINKERS.items() if l not in here))


def running_program_whose_file_was_replaced(acu):
    """By the same program of another linker, before acu looks at it: the code that runs is the other layout's."""
    for linker, other in (("lld", "bfd"), ("bfd", "mold")):
        need_linker(linker), need_linker(other)
        here = path("replaced")
        shutil.copy(program(linker), here)
        process = subprocess.Popen([here, "0"])
        try:
            os.remove(here)
            shutil.copy(program(other), here)
            stacks, _ = folded(acu, "-p", str(process.pid), "--duration", f"{SLOWNESS}s")
        finally:
            process.kill()
            process.wait()
        check(stacks, f"{linker}, replaced by {other}")


# ----------------------------------------------------------------------------------------------- names


def names(linker):
    """The program of linked_names.c."""
    need_linker(linker)
    if not os.path.exists("/usr/include/x86_64-linux-gnu/sys/sdt.h"):
        raise Skipped("no sys/sdt.h (package systemtap-sdt-dev)")
    out = path("names-" + linker)
    build(["gcc", *PLAIN, "-pthread", "-fuse-ld=" + linker, "-o", out, source("linked_names.c")], "names by " + linker)
    return out


def variables_have_their_names(acu):
    for linker in ("bfd", "lld"):
        done = subprocess.run([acu, "flame", "lock", "-o", path("locks.folded"), "--", names(linker)], capture_output=True, text=True,
                              timeout=LIMIT)
        need(done.returncode == 0, done.stderr)
        waits = [line for line in open(path("locks.folded")) if ";take;" in line]
        need(waits and all("[waits for contended]" in line for line in waits), f"{linker}: {waits}")


def marked_probes_of_later_processes(acu):
    """The kernel finds their counters where GNU ld puts them; else acu says that it does not."""
    for linker in ("bfd", "lld"):
        done = subprocess.run([acu, "-c", names(linker) + " 10", "-e", f"usdt:{names(linker)}:linked:mark {{ @ = count() }}"],
                              capture_output=True, text=True, timeout=LIMIT)
        need(done.returncode == 0, done.stderr)
        is_warned = "may pass over linked:mark in processes that start after the probe is attached" in done.stderr
        need(is_warned == (linker == "lld") and (is_warned or "@: 10\n" in done.stdout), f"{linker}: {done.stdout}{done.stderr}")


# ----------------------------------------------------------------------------------------------- Rust


def in_rust_by(linker):
    def test(acu):
        need_linker(linker)
        if not shutil.which("rustc"):
            raise Skipped("no rustc (package rustc)")
        out = path("rust-" + linker)
        build(["rustc", "-O", "-C", "force-frame-pointers=no", "-C", "linker=gcc", "-C", "link-arg=-fuse-ld=" + linker, "-C",
               f"link-arg=-Wl,-rpath,{library(linker)}", "-L", library(linker), "-l", "dylib=linked", "-o", out, source("linked.rs")],
              "Rust by " + linker)
        stacks, _ = folded(acu, "--", out, str(CPU_MS))
        check(stacks, "Rust by " + linker)
    test.__name__ = f"in_rust_by_{linker}"
    return test


TESTS = [*map(layouts_of, LINKERS), libraries_by_other_linkers, running_program_whose_file_was_replaced,
         variables_have_their_names, marked_probes_of_later_processes, *map(in_rust_by, LINKERS)]

if __name__ == "__main__":
    sys.exit(run_suite(TESTS, TMP))
