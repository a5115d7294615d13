"""Looks for addresses in the lines of a log, over and over. One of the patterns is bad."""
import re

ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")
NAME = re.compile(r"^(([a-z0-9])+.?)+@example\.com$")  # where it does not match, it tries all ways to part the text

lines = ["10.0.0.7 GET /index.html 200 someone@example.com"] * 200 + ["10.0.0.8 GET /login 403 administratorofall"]
while True:
    for line in lines:
        address, mail = ADDRESS.search(line), NAME.match(line.split()[-1])
