#!/usr/bin/env python3
"""Unwind tables of the code on this host: unwind.py [--acu PATH] [--out FILE]

Runs bench_unwind (unwind.cc) on all code that is mapped on the host, and on the largest library alone.
"""
import argparse
import glob
import os
import re
import subprocess

from section import write_section

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def row(bench, name, files):
    text = subprocess.run([bench, *files], capture_output=True, text=True, check=True).stdout
    count, rows, size, rules, build, store, reopen = re.search(
        r"(\d+) files: (\d+) rows, ([\d.]+) MB, (\d+) .*made ([\d.]+) ms, made and stored ([\d.]+) ms, opened again ([\d.]+) ms", text, re.S).groups()
    name = name.replace("COUNT", count)
    return f"| {name} | {int(rows):,} | {size} MB | {int(rules):,} | {build} | {store} | {reopen} |"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--acu", default=os.path.join(ROOT, "build", "release", "acu"), help="bench_unwind is beside it")
    options.add_argument("--out")
    given = options.parse_args()
    bench = os.path.join(os.path.dirname(given.acu), "bench_unwind")
    library = max(glob.glob("/usr/lib/x86_64-linux-gnu/libLLVM-*.so*"), key=os.path.getsize)
    text = "\n".join(["## Unwind tables", "",
                      "bench/unwind.py: medians of seven runs on one thread, files in the page cache. *build*: from opening the ELF file to searchable",
                      "tables; *reopen*: from the cache, including the checksum.", "",
                      "| files | rows | bytes | distinct rules | build, ms | build and store, ms | reopen, ms |", "|---|---|---|---|---|---|---|",
                      row(bench, "all code mapped on the host, COUNT files", []), row(bench, os.path.basename(library), [library])]) + "\n"
    print(text)
    if given.out:
        write_section(given.out, "unwind", text)


if __name__ == "__main__":
    main()
