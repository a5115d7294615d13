#!/usr/bin/env python3
"""SQL over many sockets: sockets.py --acu ACU [--sockets 50000] [--runs 11] [--out FILE]

Opens TCP connections on loopback until the host has that many sockets more, then asks `acu sql` for their number, their states and the
process of each, and ss(8) for a list of them. Medians of the times from exec to exit. With --out, the section `sockets` of that file (results.md)
is replaced.
"""
import argparse
import os
import resource
import socket
import statistics
import subprocess
import sys
import time

import section

OPENER = "--open"  # as an opener of N sockets: says so once they are there, and has them until its input ends
QUESTIONS = {
    "number of sockets": "select count(*) from sockets",
    "number by state": "select state, count(*) from sockets where protocol = 'tcp' group by state",
    "number by process": "select process, count(*) from sockets where protocol = 'tcp' group by process",
}


def open_sockets(count):
    listeners = []
    for last in (1, 2, 3):  # each has its own range of ports
        listener = socket.socket()
        listener.bind((f"127.0.0.{last}", 0))
        listener.listen(64)
        listeners.append(listener)
    held = []
    for n in range(count // 2):
        listener = listeners[n % len(listeners)]
        held.append(socket.create_connection(listener.getsockname()))
        held.append(listener.accept()[0])
    print(len(held), flush=True)
    sys.stdin.read()


def openers(count):
    """Processes that have that many sockets together: each as many as it may."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 100
    resource.setrlimit(resource.RLIMIT_NOFILE, (most + 100, most + 100))
    started = []
    while count > 0:
        part = min(count, most // 2 * 2, 20000)
        started.append(subprocess.Popen([sys.executable, __file__, OPENER, str(part)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        count -= part
    for process in started:
        process.stdout.readline()
    return started


def milliseconds(command, runs):
    times = []
    for _ in range(runs):
        begin = time.monotonic()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(1000 * (time.monotonic() - begin))
    low, middle, high = statistics.quantiles(times, n=4)
    return f"{middle:.0f} ({low:.0f} to {high:.0f})"


def main():
    if sys.argv[1:2] == [OPENER]:
        return open_sockets(int(sys.argv[2]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--acu", required=True)
    parser.add_argument("--sockets", type=int, default=50000)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--out")
    given = parser.parse_args()
    started = openers(given.sockets)
    try:
        found = subprocess.run([given.acu, "sql", QUESTIONS["number of sockets"]], capture_output=True, text=True, check=True).stdout.split()[-1]
        lines = ["## SQL over many sockets\n", f"bench/sockets.py: {int(found):,} sockets of TCP, UDP and Unix; medians of {given.runs} runs, in parentheses the middle half.\n",
                 "| question | ms from exec to exit |", "|---|--:|"]
        lines += [f"| {name}: `{query}` | {milliseconds([given.acu, 'sql', query], given.runs)} |" for name, query in QUESTIONS.items()]
        lines.append(f"| list of them by `ss -tan` | {milliseconds(['ss', '-tan'], given.runs)} |")
    finally:
        for process in started:
            process.stdin.close()
            process.wait()
    print("\n".join(lines))
    if given.out:
        section.write_section(given.out, "sockets", "\n".join(lines) + "\n")


main()
