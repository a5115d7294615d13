#!/usr/bin/env python3
"""Loads for the survey on an idle machine: survey_load.py work | client PORT. Runs until it is killed."""
import socket
import sys
import tempfile
import time


def work():
    """Half computing, half files, with pauses."""
    while True:
        sum(i * i for i in range(20000))
        with tempfile.TemporaryFile() as file:
            for _ in range(20):
                file.write(b"x" * 4096)
            file.flush()
            file.seek(0)
            file.read()
        time.sleep(0.002)


def client(port):
    """One request after the other on one connection."""
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port)) as connection:
                for _ in range(500):
                    connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    if not connection.recv(4096):
                        break
        except OSError:
            time.sleep(0.05)


client(int(sys.argv[2])) if sys.argv[1] == "client" else work()
