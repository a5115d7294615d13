#!/usr/bin/env python3
"""Sends requests to a local server until killed: load.py PORT PATH[,PATH...] [AT_ONCE] [PAUSE]

Over one connection: AT_ONCE requests at a time, then a pause of PAUSE seconds.
"""
import itertools
import socket
import sys
import time

paths = itertools.cycle(sys.argv[2].split(","))
at_once = int(sys.argv[3]) if len(sys.argv) > 3 else 1
pause = float(sys.argv[4]) if len(sys.argv) > 4 else 0
server = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
while True:
    server.sendall("".join(f"GET {next(paths)} HTTP/1.1\r\nHost: here\r\n\r\n" for _ in range(at_once)).encode())
    answers, last = 0, b""
    while answers < at_once:
        got = server.recv(1 << 20)
        if not got:
            sys.exit("the server has closed the connection")
        answers += (last + got).count(b"HTTP/1.1 ")
        last = got[-8:]
    time.sleep(pause)
