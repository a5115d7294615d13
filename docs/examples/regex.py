"""Searches the lines of a log for addresses, in a loop. One of the patterns backtracks exponentially."""
import re

ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
NAME = re.compile(r"^(([a-z0-9])+.?)+@example\.com$")  # on a mismatch, it tries every way to split the text

lines = ["10.0.0.7 GET /index.html 200 someone@example.com"] * 200 + ["10.0.0.8 GET /login 403 administratorofall"]
while True:
    for line in lines:
        address, mail = ADDRESS.search(line), NAME.match(line.split()[-1])
