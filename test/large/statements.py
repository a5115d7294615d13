"""Blocks of many statements of one kind, for test/large and bench/large.py."""

KINDS = {
    "assignment": lambda n: f"@a[{n % 100}] = {n};",
    "scalar": lambda n: f"@s = {n};",
    "count": lambda n: f"@c[{n % 100}] = count();",
    "count_by_name": lambda n: f"@d[comm, {n % 100}] = count();",
    "printf": lambda n: f'printf("%d %s\\n", {n}, comm);',
    "condition": lambda n: f"if (nsecs > {n}) {{ @x = {n}; }}",
    "comparison": lambda n: f'if (comm == "name{n}") {{ @y = {n}; }}',
    "search": lambda n: f'if (strcontains(comm, "n{n % 10}")) {{ @z++; }}',
    "histogram": lambda n: f"@h = hist({n});",
    "histogram_by_key": lambda n: f"@k[{n % 100}] = hist({n});",
    "arithmetic": lambda n: f"$x = $x * 3 + {n};",
}
# Those that a mixed block has in turn, and that print the same each time.
MIXED = ("assignment", "scalar", "count", "printf", "condition", "comparison", "histogram", "arithmetic")


def block(kind, count, probe="begin"):
    """A script with one block."""
    kinds = MIXED if kind == "mixed" else (kind,)
    lines = "\n".join("  " + KINDS[kinds[n % len(kinds)]](n) for n in range(count))
    return f"{probe} {{\n  $x = 1;\n{lines}\n  @end = $x;\n}}\n"
