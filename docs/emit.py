#!/usr/bin/env python3
"""Writes the outputs in docs/emit.md anew, and docs/emit_support.md: emit.py ACU

A block of emit.md that opens with ```console holds `$ acu emit …` and what it prints; this replaces what follows the command. Commands run in a copy of
the folder cookbook, where the program of the page was compiled.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK = re.compile(r"^(```console\n)\$ (acu emit [^\n]*)\n(.*?)^```$", re.M | re.S)


def main():
    acu = os.path.abspath(sys.argv[1])
    path = os.path.join(HERE, "emit.md")
    environment = dict(os.environ, PATH=os.path.dirname(acu) + ":" + os.environ["PATH"])

    folder = shutil.copytree(os.path.join(HERE, "cookbook"), os.path.join(tempfile.mkdtemp(), "cookbook"))
    subprocess.run(["gcc", "-g", "-O1", "-pthread", "-o", "server", "spikes.c"], cwd=folder, check=True)

    def output(found):
        done = subprocess.run(["sh", "-c", found.group(2)], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return f"{found.group(1)}$ {found.group(2)}\n{done.stdout.rstrip()}\n```"

    text = open(path).read()
    open(path, "w").write(BLOCK.sub(output, text))
    shutil.rmtree(os.path.dirname(folder))
    table = subprocess.run([acu, "emit", "--support"], text=True, capture_output=True, check=True).stdout
    head = "# What other frameworks support\n\nThis is what `acu emit --support` prints; [emit.md](emit.md) explains it. `0.24` is the first version that has it.\n"
    open(os.path.join(HERE, "emit_support.md"), "w").write(head + table)


main()
