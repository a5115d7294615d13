#!/usr/bin/env python3
"""Runs a command as root on one of Debian's stock kernels, in a virtual machine: vm.py [OPTIONS] KERNEL -- COMMAND...

  KERNEL             5.10, 6.1 or 6.12 (stock.py fetches it at the first use)
  --timeout SECONDS  for all of it; default 550
  --writable FOLDER  what the command writes there stays; may be given several times
  --memory MIB       default 2048
  --cpus N           default 2
  --disk MIB         a disk of that size with ext4, at $ACU_TEST_DISK
  --no-btf           as on a kernel that has no types of its own (/sys/kernel/btf is empty)
  --console FILE     where the kernel's messages go; by default they are shown only when the machine dies

The machine sees the host's files, read-only, by 9p; /tmp, /var/tmp, /run and /root are empty, and the working
directory is the one of the caller (it can be written to when it is under one of the --writable folders). Standard
output and error come through together, the exit status is the command's; 125 where there was no machine, 124 when the
time was up. There is no KVM: the processor is emulated, so times mean nothing. `modprobe NAME` is there.
"""
import argparse
import gzip
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import stock
from packages import cache

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DISK = ("virtio_blk", "crc32c_generic", "crc32c_intel", "ext4")
SHARED = ("virtio_pci", "9p", "9pnet_virtio")
COMPILER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compiler.sh")
FOLDERS = ("proc", "sys", "dev", "mnt", "bin", "m")

# The first process; ENTER goes on where the host's files are the root.
INIT = """#!/bin/busybox sh
B=/bin/busybox
$B mount -t proc proc /proc; $B mount -t sysfs sysfs /sys; $B mount -t devtmpfs dev /dev
for m in $($B cat /m/order); do $B insmod /m/$m || echo "vm: no module $m"; done
$B mount -t 9p -o trans=virtio,version=9p2000.L,msize=1048576,cache=loose,ro root /mnt || $B poweroff -f
$B mount -t tmpfs tmpfs /mnt/run; $B mkdir -p /mnt/run/vm/kernel /mnt/run/lock
$B mount --bind /mnt%(folder)s /mnt/run/vm/kernel
%(keep)s
for f in tmp var/tmp root; do $B mount -t tmpfs -o mode=1777 tmpfs /mnt/$f; done
%(put_back)s
$B cp /bin/busybox /bin/modprobe /bin/enter /mnt/run/vm
for c in poweroff insmod rmmod lsmod ip; do $B ln -s busybox /mnt/run/vm/$c; done
for c in gcc g++; do $B cp /bin/compiler /mnt/run/vm/$c; done
$B mount --move /proc /mnt/proc; $B mount --move /sys /mnt/sys; $B mount --move /dev /mnt/dev
$B chroot /mnt /bin/sh /run/vm/enter
$B poweroff -f
"""

ENTER = """
export PATH=/run/vm:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
export TERM=dumb PYTHONDONTWRITEBYTECODE=1 ACU_TEST_SLOWNESS=8
mount -t tracefs tracefs /sys/kernel/tracing; mount -t debugfs debugfs /sys/kernel/debug; mount -t bpf bpf /sys/fs/bpf
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /dev/pts /dev/shm; mount -t devpts devpts /dev/pts; mount -t tmpfs tmpfs /dev/shm
ln -sf /proc/self/fd /dev/fd; ln -sf /proc/self/fd/0 /dev/stdin; ln -sf /proc/self/fd/1 /dev/stdout; ln -sf /proc/self/fd/2 /dev/stderr
busybox ip link set lo up; busybox hostname acu-vm
ulimit -n 65536; ulimit -l unlimited; ulimit -c 0
%(prepare)s
stty -F /dev/ttyS1 raw -echo
cd %(cwd)s 2>/dev/null || cd /tmp
(%(command)s) </dev/null >/dev/ttyS1 2>&1
echo "
%(token)s $?" >/dev/ttyS1
busybox poweroff -f
"""

# Without modules.dep where a kernel looks for it, and without kmod.
MODPROBE = """#!/bin/sh
F=/run/vm/kernel
grep -q "^$1 " /proc/modules && exit 0
L=$(grep "^$1:" $F/modules.dep) || { echo "modprobe: no module $1" >&2; exit 1; }
for d in ${L#*:}; do modprobe $d || exit 1; done
exec insmod $F/modules/$1.ko
"""


def archive(files):
    """A cpio archive (newc) of (name, mode, bytes)."""
    out = bytearray()
    for number, (name, mode, data) in enumerate(list(files) + [("TRAILER!!!", 0, b"")]):
        fields = (number + 1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        out += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        out += bytes(-len(out) % 4) + data
        out += bytes(-len(out) % 4)
    return bytes(out)


def start_image(options, token):
    """The initial file system, compressed."""
    busybox = shutil.which("busybox")
    if not busybox:
        raise stock.Missing("no busybox here (package busybox-static)")
    prepare = ["mount -t tmpfs tmpfs /sys/kernel/btf"] if options.no_btf else []
    if options.disk:
        prepare.append("mkfs.ext4 -q /dev/vda; mkdir /run/disk; mount /dev/vda /run/disk; export ACU_TEST_DISK=/run/disk")
    os.makedirs(cache("programs"), exist_ok=True)
    prepare.append(f"export ACU_TEST_PROGRAMS={shlex.quote(cache('programs'))}")
    for number, path in enumerate(options.writable):
        at = shlex.quote(path)
        prepare.append(f"mkdir -p {at}; mount -t 9p -o trans=virtio,version=9p2000.L,msize=1048576,cache=loose w{number} {at}")
    enter = ENTER % {"prepare": "\n".join(prepare), "cwd": shlex.quote(os.getcwd()),
                     "command": shlex.join(options.command), "token": token}
    modules = stock.modules_in_order(options.kernel, SHARED + (DISK if options.disk else ()))
    # The project may lie in one of the folders that are empty in the machine.
    tree, kept = shlex.quote("/mnt" + ROOT), "/mnt/run/vm/tree"
    init = INIT % {"folder": shlex.quote(os.path.abspath(stock.folder(options.kernel))),
                   "keep": f"$B mkdir {kept}; $B mount --bind {tree} {kept}",
                   "put_back": f"[ -e {tree} ] || {{ $B mkdir -p {tree}; $B mount --bind {kept} {tree}; }}"}
    files = [(name, 0o40755, b"") for name in FOLDERS]
    files += [("init", 0o100755, init.encode()), ("bin/busybox", 0o100755, open(busybox, "rb").read()),
              ("bin/enter", 0o100755, enter.encode()),
              ("bin/modprobe", 0o100755, MODPROBE.encode()),
             ("bin/compiler", 0o100755, open(COMPILER, "rb").read()),
              ("m/order", 0o100644, "\n".join(os.path.basename(m) for m in modules).encode() + b"\n")]
    files += [("m/" + os.path.basename(m), 0o100644, open(m, "rb").read()) for m in modules]
    return gzip.compress(archive(files), 1)


def machine(options, image, console, disk):
    shares = ["local,path=/,mount_tag=root,security_model=none,multidevs=remap,readonly=on"]
    shares += [f"local,path={p},mount_tag=w{n},security_model=none,multidevs=remap" for n, p in enumerate(options.writable)]
    # Without the isolation of page tables each system call keeps the emulator's cache of translations.
    processor = "max,la57=off,pcid=off"  # five levels of pages would only be slower
    line = "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable"
    return ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", processor, "-m", str(options.memory),
            "-smp", str(options.cpus), "-display", "none", "-monitor", "none", "-nic", "none", "-no-reboot", "-kernel", stock.folder(options.kernel) + "/vmlinuz",
            "-initrd", image, "-append", line, "-serial", "file:" + console, "-serial", "stdio",
            *(["-drive", f"file={disk},format=raw,if=virtio"] if options.disk else []),
            *[word for share in shares for word in ("-virtfs", share)]]


def read_options(words):
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[0].split(": ", 1)[1] + "\n" + __doc__.split("\n\n", 1)[1])
    parser.add_argument("--timeout", type=float, default=550)
    parser.add_argument("--writable", action="append", default=[], type=os.path.abspath)
    parser.add_argument("--memory", type=int, default=2048)
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--disk", type=int)
    parser.add_argument("--no-btf", action="store_true")
    parser.add_argument("--console")
    parser.add_argument("kernel")
    at = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:at])
    options.command = words[at + 1:]
    options.writable.append(cache("programs"))
    if not options.command:
        parser.error("no command behind --")
    return options


def run(options, out):
    """The command's exit status; what it prints goes to `out` as it comes. Raises stock.Missing."""
    stock.fetch(options.kernel)
    if not shutil.which("qemu-system-x86_64"):
        raise stock.Missing("no qemu-system-x86_64 here (package qemu-system-x86)")
    token = "vm-" + secrets.token_hex(8)
    with tempfile.TemporaryDirectory(prefix="acu-vm-") as at:
        image, console = os.path.join(at, "initrd"), options.console or os.path.join(at, "console")
        disk = os.path.join(at, "disk")
        if options.disk:
            with open(disk, "wb") as file:
                file.truncate(options.disk << 20)
        with open(image, "wb") as file:
            file.write(start_image(options, token))
        process = subprocess.Popen(machine(options, image, console, disk), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        late = threading.Event()
        timer = threading.Timer(options.timeout, lambda: (late.set(), process.kill()))
        timer.start()
        status, held = None, b""  # an empty line is held back: the one before the status is ours
        try:
            for line in process.stdout:
                if line.startswith(token.encode()):
                    status = int(line.split()[1])
                    continue
                out.write(held)
                held = b""
                if line == b"\n":
                    held = line
                else:
                    out.write(line)
                out.flush()
            process.wait()
        finally:
            timer.cancel()
            if process.poll() is None:
                process.kill()
                process.wait()
        if status is None:
            out.write(b"".join(open(console, "rb").readlines()[-60:]) if os.path.exists(console) else b"")
            out.write(b"vm: the time is up\n" if late.is_set() else b"vm: the machine died\n")
            status = 124 if late.is_set() else 125
        out.flush()
        return status


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(124))  # and so the machine ends too
    try:
        sys.exit(run(read_options(sys.argv[1:]), sys.stdout.buffer))
    except stock.Missing as problem:
        print(f"vm: {problem}", file=sys.stderr)
        sys.exit(125)
