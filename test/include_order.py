#!/usr/bin/env python3
"""The house rules that a compiler does not keep: include_order.py [ACU]

- No folder of src/ includes one above it in the order of docs/architecture.md, and every folder is in that list.
- Every folder with sources has a README.md.
- Every source file opens with a comment (its subject), and no file has more than 1,500 lines.
Last line: `N passed, N failed, N skipped`.
"""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = re.compile(r'^\s*#\s*include\s+"(\w+)/')


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
    for line in wrong:
        print("FAILED " + line)
    print(f"{passed} passed, {len(wrong)} failed, 0 skipped")
    return 1 if wrong else 0


sys.exit(main())
