#!/usr/bin/env python3
"""Long scripts: time, memory and program size for blocks of 100, 1,000 and 10,000 statements: large.py --acu ACU [--out FILE] [--runs N]

The blocks are those of test/large/statements.py. Times are the least of all runs: compiling, as `acu run --verbose --dry-run` prints it,
and loading, which is the kernel's verifier and compiler. What a block with each of the statements once takes is taken off both: it
makes the same maps. With --out, the section `large` of that file (results.md) is replaced.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "test", "large")]
import section
import statements

SIZES = (100, 1000, 10000)


def measure(acu, path):
    """Milliseconds to compile and to load, instructions, and MiB at most."""
    done = subprocess.run(["/usr/bin/env", "time", "-f", "%M KiB", acu, "run", "--verbose", "--dry-run", path], capture_output=True, text=True)
    text = done.stdout + done.stderr
    if done.returncode != 0:
        return re.search(r"ERROR: (?:\S+:\d\S* )?([^:\n]*)", text)[1]
    number = lambda pattern: float(re.search(pattern, text)[1])
    memory = re.search(r"(\d+) KiB", text)
    return (number(r"bytecode in ([\d.]+) ms"), number(r"\bload ([\d.]+) ms"), int(number(r"begin: .*, (\d+) instructions?")),
            int(memory[1]) / 1024 if memory else 0)


def best(acu, path, runs):
    all_runs = [measure(acu, path) for _ in range(runs)]
    if isinstance(all_runs[0], str):
        return all_runs[0]
    return (min(r[0] for r in all_runs), min(r[1] for r in all_runs), all_runs[0][2], max(r[3] for r in all_runs))


def row(kind, acu, folder, runs):
    def measured(size):
        path = os.path.join(folder, f"{kind}.{size}.bt")
        with open(path, "w") as file:
            file.write(statements.block(kind, size))
        return best(acu, path, runs)

    once = len(statements.MIXED) if kind == "mixed" else 1
    first = measured(once)
    cells, times = [], []
    for size in SIZES:
        found = measured(size)
        if isinstance(found, str):
            cells += [found, "", "", ""]
            continue
        *more, memory = found
        compiled, loaded, instructions = ((m - f) / (size - once) for m, f in zip(more, first))
        times.append(compiled + loaded)
        cells += [f"{1000 * compiled:.1f}", f"{1000 * loaded:.1f}", f"{instructions:.1f}", f"{memory:.0f}"]
    growth = max(longer / shorter for n, longer in enumerate(times) for shorter in times[:n])
    return f"| {kind} | " + " | ".join(cells) + f" | {max(times) / min(times):.2f} | {growth:.2f} |"


def main():
    arguments = sys.argv[1:]
    option = lambda name, default: arguments[arguments.index(name) + 1] if name in arguments else default
    out = ["## Long scripts\n",
           "Blocks of many statements of one kind (test/large/statements.py): microseconds per statement to compile and to load (the kernel's",
           "verifier and compiler), BPF instructions per statement, all without what a block with each of them once takes, and MiB of memory.",
           "Factor: the largest time of a statement, compiled and loaded, as a multiple of the least. Growth: the most that it takes in a longer",
           "block, as a multiple of a shorter one.\n",
           "| kind | " + " | ".join(f"{size:,}: compile | load | instructions | MiB" for size in SIZES) + " | factor | growth |",
           "|---|" + "---|" * (4 * len(SIZES) + 2)]
    with tempfile.TemporaryDirectory() as folder:
        for kind in (*statements.KINDS, "mixed"):
            out.append(row(kind, option("--acu", ""), folder, int(option("--runs", "5"))))
            print(out[-1], flush=True)
    if "--out" in arguments:
        section.write_section(option("--out", ""), "large", "\n".join(out) + "\n")


main()
