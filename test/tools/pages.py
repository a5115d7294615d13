"""The pages of docs/tools, one for each tool: what is in them, and whether an output has the form that its page shows.

A page has a title, a sentence, what one should know, `## Usage` with the text of `acu NAME --help`, and `## Example`: a block `sh`
with the load (where there is one), and a block `text` with the command behind `$ ` and what it printed. docs/tools/make.py makes
usage and output anew.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tally import need

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "docs", "tools")
PAGE = re.compile(r"\A# (?P<name>\S+)\n\n(?P<about>.*?)\n\n## Usage\n\n```text\n(?P<usage>.*?)```\n\n## Example\n\n"
                  r"(?:```sh\n(?P<load>.*?)```\n\n)?```text\n\$ (?P<command>[^\n]*)\n(?P<output>.*?)```\n\n(?P<made>[^\n]*)\n\Z", re.S)


def path_of(name):
    return os.path.join(FOLDER, name + ".md")


def names():
    """The tools: all scripts but the survey's library of descriptions."""
    found = []
    for folder in ("tools", os.path.join("tools", "static")):
        found += [n[:-3] for n in os.listdir(os.path.join(ROOT, folder)) if n.endswith(".bt") and n != "libstdcxx.bt"]
    return sorted(found)


def script_of(name):
    for folder in ("tools", os.path.join("tools", "static")):
        path = os.path.join(ROOT, folder, name + ".bt")
        if os.path.exists(path):
            return path
    return None


def read(name):
    """The parts of a page, or None where it has another form."""
    with open(path_of(name)) as file:
        found = PAGE.match(file.read())
    return found.groupdict() if found else None


def text_of(name, parts):
    load = f"```sh\n{parts['load']}```\n\n" if parts["load"] else ""
    return (f"# {name}\n\n{parts['about']}\n\n## Usage\n\n```text\n{parts['usage']}```\n\n## Example\n\n{load}"
            f"```text\n$ {parts['command']}\n{parts['output']}```\n\n{parts['made']}\n")


def write(name, parts):
    with open(path_of(name), "w") as file:
        file.write(text_of(name, parts))


def heading(text):
    """The first line, if it names columns."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return first.rstrip() if re.match(r"[A-Z]{3,}(\(\w+\))? ", first) else None


def maps(text):
    """{name: whether it has keys}"""
    return {name: after == "[" for name, after in re.findall(r"^(@\w*)(\[|:)", text, re.M)}


def options_of(words):
    return {w.split("=")[0] for w in words if w.startswith("--") and w != "--"}


def mistake(name, words, text):
    """How the form of an output, with these parameters, differs from what the page shows, or an empty text."""
    if not os.path.exists(path_of(name)):
        return ""  # test/docs.py tells
    page = read(name)
    if page is None or not text.strip():
        return ""
    shown = page["output"]
    if heading(shown) != heading(text):
        return f"docs/tools/{name}.md shows the heading\n{heading(shown)}\nand the tool prints\n{heading(text)}"
    now, then = maps(text), maps(shown)
    different = [m for m in now if m in then and now[m] != then[m]]
    same_options = options_of(words) == options_of(page["command"].split())
    if different or (same_options and now and then and not set(now) & set(then)):
        return f"docs/tools/{name}.md shows {sorted(then)}, and the tool prints {sorted(now)}; docs/tools/make.py makes it anew"
    return ""


def seen(tool, words, text):
    """An output has the form that the tool's page shows; the first of a tool is kept for the page, if somebody asks for that."""
    keep = os.environ.get("ACU_TOOL_OUTPUT")
    if not keep:
        wrong = mistake(tool, words, text)
        need(not wrong, wrong)
    elif not os.path.exists(os.path.join(keep, tool)):
        with open(os.path.join(keep, tool), "w") as file:
            file.write(f"acu {' '.join((tool, *words))}\n{text}")
