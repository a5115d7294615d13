#!/usr/bin/env python3
"""Scripts as C for libbpf, and as Python for BCC: run_kernel.py ACU [--filter PART] [--keep]

Each script is written by `acu emit`, built and run in the real framework on a load that is known, and must print what `acu run` prints.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from tally import SLOWNESS, Skipped, need, require, run_suite

TMP = tempfile.mkdtemp(prefix="acu-emit-")
LIMIT = 120 * SLOWNESS
ENVIRONMENT = dict(os.environ, LC_ALL="C", PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
LOAD = os.path.join(TMP, "emitload")

# What only the load does, whose name is as long as names of threads may be.
ONLY = '/comm == "emitload"/'
# Maps are printed and cleared a while after the event: nothing that counts may come behind it.
SCRIPTS = {
    "counts": 'tracepoint:syscalls:sys_enter_read %s { @reads = count(); } tracepoint:syscalls:sys_enter_write %s { @writes++; }',
    "sums": 'tracepoint:syscalls:sys_exit_read %s { @bytes = sum(args.ret); @most = max(args.ret); @least = min(args.ret); @mean = avg(args.ret); @all = stats(args.ret); }',
    "keys": 'tracepoint:syscalls:sys_enter_read %s { @[comm, args.count] = count(); }',
    "powers": 'tracepoint:syscalls:sys_enter_read %s { @size = hist(args.count); @by[args.count > 100] = hist(args.count); @fine = hist(args.count, 2); }',
    "steps": 'tracepoint:syscalls:sys_enter_write %s { @size = lhist(args.count, 0, 400, 100); @k = lhist(args.count * 1024, 0, 1048576, 131072); }',
    "lines": 'tracepoint:syscalls:sys_enter_openat %s { printf("%%s opens %%s\\n", comm, str(args.filename, 64)); }',
    "formats": 'tracepoint:syscalls:sys_enter_lseek %s { printf("%%d %%5d|%%-5d|%%x %%#x %%lu %%c %%s\\n", args.offset, args.offset, args.offset, args.offset, args.offset, '
               'args.offset, 65 + args.offset, args.offset > 5 ? "large" : "small"); }',
    "errors": 'tracepoint:syscalls:sys_exit_openat %s { @result[args.ret < 0 ? args.ret : 0] = count(); }',
    "pairs": 'tracepoint:syscalls:sys_enter_read %s { @size[tid] = args.count; } '
             'tracepoint:syscalls:sys_exit_read /@size[tid]/ { @same[@size[tid] == args.ret] = count(); delete(@size, tid); }',
    "variables": 'tracepoint:syscalls:sys_enter_read %s { $n = args.count; $n = $n * 3 - 1; if ($n > 100) { @large = sum($n); } else if ($n == 2) { @two = count(); } '
                 'else { @small[$n] = count(); } }',
    "arithmetic": 'tracepoint:syscalls:sys_enter_lseek %s { $x = (int64)args.offset - 10; @div[$x / 3] = count(); @shift[$x >> 1] = count(); @mask[$x & 3] = count(); '
                  '@not[!$x] = count(); @narrow[(uint8)($x * 100)] = count(); }',
    "user_function": 'uprobe:LOAD:weigh { @a = sum(arg0); @b = sum((int64)arg1); } uretprobe:LOAD:weigh { @r = stats(retval); }',
    "user_text": 'uprobe:LOAD:named { @[str(arg0, 16)] = count(); printf("%%s\\n", str(arg0, 16)); }',
    "task": 'tracepoint:syscalls:sys_enter_lseek %s { @same[curtask->tgid == pid, curtask->pid == tid] = count(); @parent[curtask->real_parent->tgid > 0] = count(); }',
    "kernel_function": 'kprobe:vfs_read %s { @count[arg2] = count(); } kretprobe:vfs_read %s { @got = sum(retval); }',
    "loops": 'tracepoint:syscalls:sys_enter_lseek %s { for ($i : 0..4) { if ($i == 2) { continue; } @turns[$i] = count(); } unroll (2) { @unrolled = count(); } }',
    "begin_end": 'begin { printf("begins\\n"); } tracepoint:syscalls:sys_enter_lseek %s { @n = count(); } end { printf("ends\\n"); print(@n); clear(@n); }',
    "printed": 'tracepoint:syscalls:sys_enter_lseek %s { @n = count(); if (args.offset == 19) { print(@n); clear(@n); } print(args.offset); print(comm); }',
}
LIBBPF_ONLY = {"kernel_values": 'fentry:vfs_read %s { @count[args.count] = count(); } fexit:vfs_read %s { @ret = stats(retval); @pos[args.count == retval] = count(); }'}


def call(*words, limit=LIMIT, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, errors="replace", timeout=limit, env=ENVIRONMENT, **more)


def load():
    if not os.path.exists(LOAD):
        subprocess.run(["gcc", "-g", "-O1", "-o", LOAD, os.path.join(HERE, "kernel_load.c")], check=True, timeout=LIMIT)
    return LOAD


def text_of(script):
    return script.replace("%%", "\0").replace("%s", ONLY).replace("\0", "%").replace("LOAD", load())


def expected(acu, text):
    done = call(acu, "run", "-e", text, "-c", load())
    need(done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}")
    return done.stdout


def kernel_types():
    """The kernel's types as C, made once."""
    out = os.path.join(TMP, "vmlinux.h")
    if not os.path.exists(out):
        done = call("bpftool", "btf", "dump", "file", "/sys/kernel/btf/vmlinux", "format", "c")
        need(done.returncode == 0, done.stderr)
        with open(out, "w") as f:
            f.write(done.stdout)
    return out


def with_libbpf(acu, name, text):
    for program in ("clang", "bpftool", "make"):
        if not shutil.which(program, path=ENVIRONMENT["PATH"]):
            raise Skipped(f"no {program} here")
    if not os.path.exists("/usr/include/bpf/libbpf.h"):
        raise Skipped("no libbpf-dev here")
    script, folder = os.path.join(TMP, name + ".bt"), os.path.join(TMP, name)
    with open(script, "w") as out:
        out.write(text)
    done = call(acu, "emit", "--to", "libbpf", "-o", folder, script)
    need(done.returncode == 0, f"{text}\n{done.stderr}")
    link = os.path.join(folder, "vmlinux.h")
    if not os.path.exists(link):
        os.symlink(kernel_types(), link)
    done = call("make", "-C", folder)
    need(done.returncode == 0 and "warning:" not in done.stderr, f"{text}\n{done.stdout}{done.stderr}")
    done = call(os.path.join(folder, name), load())
    need(done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}")
    return done.stdout


def with_bcc(acu, name, text):
    if call("/usr/bin/python3", "-c", "import bcc").returncode:
        raise Skipped("no python3-bpfcc here")
    headers = kernel_headers()
    script = os.path.join(TMP, name + ".py")
    done = call(acu, "emit", "--to", "bcc", "-o", script, "-e", text)
    need(done.returncode == 0, f"{text}\n{done.stderr}")
    done = subprocess.run(["/usr/bin/python3", script, load()], capture_output=True, text=True, timeout=LIMIT, env=dict(ENVIRONMENT, **headers))
    need(done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}")
    return done.stdout


def kernel_headers():
    """BCC compiles with the headers of the running kernel; of another one where these are not here: what these scripts use is the same there."""
    release = os.uname().release
    if os.path.exists(f"/lib/modules/{release}/build") or os.path.exists("/sys/kernel/kheaders.tar.xz"):
        return {}
    merged = os.path.join(TMP, "headers")
    if not os.path.exists(merged):
        found = sorted(n for n in (os.listdir("/usr/src") if os.path.isdir("/usr/src") else ()) if re.match(r"linux-headers-.*\d-amd64$", n))
        common = found and "/usr/src/" + re.sub(r"-amd64$", "-common", found[-1])
        if not found or not os.path.isdir(common):
            raise Skipped("no headers of a kernel here, which BCC needs")
        # Debian's are in two folders.
        for part in ("include", "arch/x86"):
            os.makedirs(os.path.join(merged, os.path.dirname(part)), exist_ok=True)
            for folder in (common, "/usr/src/" + found[-1]):
                subprocess.run(["cp", "-asf", f"{folder}/{part}", os.path.join(merged, os.path.dirname(part))], check=True, timeout=LIMIT, stderr=subprocess.DEVNULL)
    return {"BCC_KERNEL_SOURCE": merged}


def case(framework, name, script):
    def test(acu):
        if "kprobe:" in script and not os.path.exists("/sys/bus/event_source/devices/kprobe"):
            raise Skipped("this kernel is built without kprobes")
        if "fentry:" in script:
            require(acu, "trampoline")
        if framework == "bcc" and "curtask" in script and kernel_headers():
            raise Skipped("BCC reads members where the headers have them, and those here are of another kernel")
        text = text_of(script)
        there = {"libbpf": with_libbpf, "bcc": with_bcc}[framework](acu, name, text)
        wanted = expected(acu, text)
        need(there == wanted, f"{text}\n--- acu\n{wanted}--- {framework}\n{there}")

    test.__name__ = f"{framework}_{name}"
    return test


def mistakes(acu):
    for target in ("libbpf", "bcc"):
        for text, wanted in (('profile:hz:99 { @[kstack] = count(); }', "names of addresses take a symbolizer"),
                             ('tracepoint:syscalls:sys_enter_read { $i = 0; while ($i < args.count) { $i++; } }', "wants to see where it ends"),
                             ('begin { @a[1] = 2; } tracepoint:syscalls:sys_enter_read { @a[2] = 1; }', "run outside of the kernel"),
                             ('tracepoint:syscalls:sys_enter_openat { @[str(args.filename)] = count(); }', "a stack of 512 bytes"),
                             ('tracepoint:syscalls:sys_enter_read { for ($kv : @m) { print($kv.0); } @m[1] = 1; }', "does not walk maps")):
            done = call(acu, "emit", "--to", target, "-o", os.path.join(TMP, "never"), "-e", text)
            need(done.returncode != 0 and wanted in done.stderr and "stdin:1:" in done.stderr, f"{text}\n{done.stdout}{done.stderr}")


TESTS = [mistakes, *(case("libbpf", n, s) for n, s in {**SCRIPTS, **LIBBPF_ONLY}.items()), *(case("bcc", n, s) for n, s in SCRIPTS.items())]

if __name__ == "__main__":
    sys.exit(run_suite(TESTS, TMP))
