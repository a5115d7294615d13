"""Sections of the file of results: each bench has one, between marks of its own."""
import os
import re


def write_section(path, name, text):
    """Puts `text` in place of the section `name` of a file that is there, or behind all others."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    with open(path) as file:
        old = file.read()
    section = f"{begin}\n{text}\n{end}"
    if begin in old:
        new = re.sub(re.escape(begin) + ".*?" + re.escape(end), lambda _: section, old, flags=re.S)
    else:
        new = old.rstrip("\n") + "\n\n" + section
    with open(path, "w") as file:
        file.write(new)


def write_beginning(path, text):
    """Puts `text` in place of what stands before the first section; makes the file if it is not there."""
    old = open(path).read() if os.path.exists(path) else ""
    first = re.search(r"^<!-- .*: begin -->$", old, re.M)
    with open(path, "w") as file:
        file.write(text + ("\n" + old[first.start():] if first else ""))
