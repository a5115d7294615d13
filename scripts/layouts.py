"""Rows of tables of offsets, from the headers of a runtime: for the scripts NAME_layouts.py. The constants of a small C program are read from the
assembler's input that the compiler makes of it."""
import os
import re
import subprocess
import sys
import tempfile
import textwrap


def constants(program, folders, options=()):
    """The program's constants by name, in order. `folders`: those of the headers; `options` of the compiler."""
    with tempfile.TemporaryDirectory() as folder:
        source, output = os.path.join(folder, "layout.c"), os.path.join(folder, "layout.s")
        with open(source, "w") as f:
            f.write(program)
        includes = [word for f in folders for word in ("-I", f)]
        subprocess.run(["gcc", "-S", "-w", *options, "-o", output, *includes, source], check=True)
        found = re.findall(r"^(\w+):\n\s+\.(long|zero)\s+(\d+)", open(output).read(), re.M)
    return {name: 0 if how == "zero" else int(value) for name, how, value in found}


def row(fields, title=""):
    """Of the table, as C++: fields by name."""
    text = ", ".join(f".{name}~=~{value}" for name, value in fields.items())  # a field stays on its line
    text = textwrap.fill(text, 140, initial_indent="     ", subsequent_indent="     ").replace("~", " ")
    return (f"    // {title}\n" if title else "") + f"    {{{text.strip()}}},"


def print_rows(usage, rows_of):
    """Those of each folder of the command line."""
    if len(sys.argv) < 2:
        sys.exit(usage)
    for folder in sys.argv[1:]:
        for text in rows_of(folder):
            print(text)
