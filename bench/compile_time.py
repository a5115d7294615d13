"""Compile time: scripts of 300 lines, made here, from text to bytecode.

Both are written as tools are: a comment over each probe, one action a line, predicates, maps, histograms, text of the
traced process. One reads nothing but arguments of system calls; the other follows pointers through the kernel's
structures, whose types come from BTF. The times are those that `acu run --verbose --dry-run` tells: reading the
script, checking it (with the kernel's event formats and types), lowering with the passes, and making machine code.
"""
import os
import re
import statistics
import subprocess

LINES = 300
# System call, argument, whether that is text.
CALLS = [("openat", "filename", True), ("unlinkat", "pathname", True), ("newstat", "filename", True),
         ("execve", "filename", True), ("mkdirat", "pathname", True), ("read", "count", False),
         ("write", "count", False), ("close", "fd", False), ("renameat2", "oldname", True), ("lseek", "offset", False),
         ("fsync", "fd", False)]
TIMED = 6  # of these calls, the first, are also timed
PARTS = ("parse", "check", "lower", "emit")

BEGIN = r"""// What files processes touch, how long that takes, and who asks most.

begin
{
  printf("Tracing file system calls. Hit Ctrl-C to end.\n");
  printf("%-8s %-6s %-16s %s\n", "TIME", "PID", "COMM", "FILE");
}
"""
ENTER = r"""// NAME: who calls it, and with what.
tracepoint:syscalls:sys_enter_NAME
/pid != 0 && comm != "acu"/
{
  @calls[comm, pid] = count();"""
TEXT = r"""  // The name as the process gave it.
  $name = str(args.ARGUMENT);
  @names[$name] = count();
  printf("%-8d %-6d %-16s %s\n", elapsed / 1000000, pid, comm, $name);"""
NUMBER = r"""  @ARGUMENT_NAME = hist(args.ARGUMENT);
  if (args.ARGUMENT > 4096) {
    @large[comm] = sum(args.ARGUMENT);
  }"""
STRUCTURES = r"""  // Who started it, and what it holds.
  $task = (struct task_struct *)curtask;
  @parents[$task->real_parent->tgid] = count();
  @owners[$task->real_cred->uid.val, $task->group_leader->comm] = count();
  if ($task->mm != 0) {
    @pages = hist($task->mm->total_vm);
    @root[str($task->fs->root.dentry->d_name.name)] = count();
  }"""
EXIT = r"""// How long it took, by result.
tracepoint:syscalls:sys_exit_NAME
/@start_NAME[tid]/
{
  $us = (nsecs - @start_NAME[tid]) / 1000;
  @us_NAME = hist($us);
  if (args.ret < 0) {
    @failed[comm, args.ret] = count();
  } else {
    @bytes[comm] = sum(args.ret);
  }
  // Slow ones are told at once.
  if ($us > 100000) {
    printf("%-16s NAME took %d us\n", comm, $us);
  }
  delete(@start_NAME, tid);
}
"""
END = "interval:s:10\n{\n  print(@calls, 10);\n  clear(@calls);\n}\n\nend\n{\n  clear(@calls);\n}"


def script(structures):
    out = [BEGIN]
    for number, (name, argument, is_text) in enumerate(CALLS):
        body = [ENTER, TEXT if is_text else NUMBER, f"  @start_{name}[tid] = nsecs;", "}\n"]
        if structures and number % 3 == 0:
            body.insert(2, STRUCTURES)
        if number < TIMED:
            body.append(EXIT)
        out += [part.replace("NAME", name).replace("ARGUMENT", argument) for part in body]
    lines = "\n".join(out).split("\n")
    end = END.split("\n")
    while len(lines) + len(end) < LINES:
        lines.append("// (a line of a longer comment)")
    assert len(lines) + len(end) == LINES
    return "\n".join(lines + end) + "\n"


def measure(acu, folder, runs):
    """Rows: what is compiled, its lines, and the medians of each part and of the whole in milliseconds."""
    rows = []
    for shown, structures in (("without BTF structures", False), ("with BTF structures", True)):
        path = os.path.join(folder, "compile.bt")
        text = script(structures)
        with open(path, "w") as file:
            file.write(text)
        times = []
        for _ in range(runs):
            done = subprocess.run([acu, "run", "--verbose", "--dry-run", path], capture_output=True, text=True, check=True)
            told = done.stdout + done.stderr
            found = [re.search(rf"\b{part} ([\d.]+) ms", told) for part in (*PARTS, "bytecode in")]
            times.append([float(one[1]) for one in found])
        rows.append((shown, text.count("\n"), [statistics.median(column) for column in zip(*times)]))
    return rows


def write(out, rows):
    out.append("## Compile time\n")
    out.append("A script in the style of the tools, from source text to bytecode; ms, medians.\n")
    out.append("| script | lines | " + " | ".join(PARTS) + " | total |")
    out.append("|---|---|" + "---|" * (len(PARTS) + 1))
    for shown, lines, times in rows:
        out.append(f"| {shown} | {lines} | " + " | ".join(f"{t:.2f}" for t in times) + " |")
    out.append("")
