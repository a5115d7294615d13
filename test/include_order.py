#!/usr/bin/env python3
"""The house rules that a compiler does not keep: include_order.py [ACU]

- No folder of src/ includes one above it in the order of docs/architecture.md, and every folder is in that list.
- Every folder with sources has a README.md.
- Every source file opens with a comment (its subject), and no file has more than 1,500 lines.
- The recipes of docs/architecture.md ("How to add …") name files that exist, and tell how many.
Last line: `N passed, N failed, N skipped`.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = re.compile(r'^\s*#\s*include\s+"(\w+)/')


def recipe_mistakes(text):
    """Of each `### Add … (touches N files)`: the files that open the numbered lines. NAME stands for a file to be made."""
    wrong = []
    recipes = re.findall(r"^### (Add [^\n]*) \(touches (\d+) files\)$(.*?)(?=^###? |\Z)", text, re.M | re.S)
    if len(recipes) < 7:
        wrong.append(f"docs/architecture.md: {len(recipes)} recipes tell how many files they touch")
    for title, number, body in recipes:
        files = re.findall(r"^\d+\. `([^`]+)`", body, re.M)
        if len(files) != int(number):
            wrong.append(f"docs/architecture.md: {title}: {number} files are told, {len(files)} are listed")
        named = files + re.findall(r"`((?:src|test|docs)/[\w/.]+\.\w+)`", body)
        for path in sorted(set(named)):
            made = "NAME" in os.path.basename(path)
            if not os.path.exists(os.path.join(ROOT, os.path.dirname(path) if made else path)):
                wrong.append(f"docs/architecture.md: {title}: there is no {path}")
    return len(recipes), wrong


def main():
    text = open(os.path.join(ROOT, "docs", "architecture.md")).read()
    order = re.findall(r"^src/(\w+)/ ", text, re.M)
    rank = {folder: i for i, folder in enumerate(order)}
    passed, wrong = 0, []
    folders = sorted(d for d in os.listdir(os.path.join(ROOT, "src")) if glob.glob(os.path.join(ROOT, "src", d, "*.*")))
    for folder in folders:
        before = len(wrong)
        if folder not in rank:
            wrong.append(f"src/{folder} is not in the list of docs/architecture.md")
        if not os.path.exists(os.path.join(ROOT, "src", folder, "README.md")):
            wrong.append(f"src/{folder} has no README.md")
        for path in sorted(glob.glob(os.path.join(ROOT, "src", folder, "*.[ch]*"))):
            name = os.path.relpath(path, ROOT)
            lines = open(path).read().split("\n")
            if not lines[0].startswith(("//", "/*")) and path.endswith(".h"):
                wrong.append(f"{name}:1: does not open with its subject")
            if len(lines) > 1500:
                wrong.append(f"{name}: {len(lines)} lines")
            for number, line in enumerate(lines, 1):
                found = INCLUDE.match(line)
                if found and found.group(1) in rank and rank[found.group(1)] < rank.get(folder, 0):
                    wrong.append(f"{name}:{number}: includes upward: {line.strip()}")
                elif found and found.group(1) not in rank:
                    wrong.append(f"{name}:{number}: includes an unknown folder: {line.strip()}")
        passed += len(wrong) == before
    recipes, mistakes = recipe_mistakes(text)
    passed += max(0, recipes - len(mistakes))
    wrong += mistakes
    for line in wrong:
        print("FAILED " + line)
    print(f"{passed} passed, {len(wrong)} failed, 0 skipped")
    return 1 if wrong else 0


sys.exit(main())
