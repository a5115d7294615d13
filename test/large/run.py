#!/usr/bin/env python3
"""Long scripts, generated: run.py ACU [--filter TEXT] [--keep]

Long functions are cut into pieces for the kernel (src/bpf/pieces.h), so a script of thousands of statements is run on both engines,
which must print the same, and what it must print is known where the test says so. Last line: `N passed, N failed, N skipped`.
"""
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "environment")]
import saved_host
import statements
from tally import SLOWNESS, need, run_suite

TMP = tempfile.mkdtemp(prefix="acu-large-")


def write(name, text):
    path = os.path.join(TMP, name + ".bt")
    with open(path, "w") as file:
        file.write(text)
    return path


def run(acu, path, *options, status=0):
    done = subprocess.run([acu, "run", *options, path], capture_output=True, text=True, timeout=60 * SLOWNESS)
    need(done.returncode == status, f"{' '.join(options)}: status {done.returncode}: {done.stderr[-400:]}")
    return done


def both(acu, name, text, expected=None):
    """What both engines print."""
    path = write(name, text)
    kernel = run(acu, path, "-q").stdout
    evaluator = run(acu, path, "-q", "--engine", "eval").stdout
    need(kernel == evaluator, f"the engines differ: {first_difference(kernel, evaluator)}")
    if expected is not None:
        need(kernel.strip() == expected.strip(), f"not as expected: {first_difference(kernel.strip(), expected.strip())}")
    return kernel


def first_difference(a, b):
    for x, y in zip(a.splitlines() + ["(end)"], b.splitlines() + ["(end)"]):
        if x != y:
            return f"{x[:200]!r} and {y[:200]!r}"
    return "at the end"


def lines(count, line):
    return "\n".join("  " + line(n) for n in range(count))


def each_kind_of_statement(acu):
    for kind in statements.KINDS:
        both(acu, kind, statements.block(kind, 1000))


def mixed_statements(acu):
    both(acu, "mixed", statements.block("mixed", 3000))


def variables_live_in_all_pieces(acu):
    count = 3000
    text = f"""begin {{
  $sum = 0; $text = "start"; $pair = (1, "one"); @last = 0;
{lines(count, lambda n: f'$sum += {n}; if ($sum % 7 == 3) {{ $text = "at {n}"; $pair = ({n}, "pair"); }} @last = $sum;')}
  printf("%d %s %d %s\\n", $sum, $text, $pair.0, $pair.1);
}}"""
    total, at = 0, 0
    for n in range(count):
        total += n
        at = n if total % 7 == 3 else at
    both(acu, "variables", text, f"{total} at {at} {at} pair\n\n@last: {total}")


def leaves_in_the_middle(acu):
    count = 2000
    text = f"begin {{\n{lines(count, lambda n: f'@n = {n}; if (@n == 1500) {{ return; }}')}\n @n = 0; }}\nend {{ @ended = 1; }}"
    both(acu, "leaves", text, "@ended: 1\n@n: 1500")


def deep_in_branches(acu):
    count = 1500
    text = f"""begin {{
  $x = 5;
  if ($x > 3) {{
    if ($x < 10) {{
{lines(count, lambda n: f'@a[{n % 10}] = {n}; $x++;')}
    }} else {{
{lines(count, lambda n: f'@b[{n % 10}] = {n};')}
    }}
  }} else {{
{lines(count, lambda n: f'@c[{n % 10}] = {n};')}
  }}
  @x = $x;
}}"""
    both(acu, "branches", text, "\n".join(f"@a[{n % 10}]: {n}" for n in range(count - 10, count)) + f"\n@x: {count + 5}")


def long_bodies_of_loops(acu):
    count = 1200
    text = f"""begin {{
  $sum = 0; $i = 0;
  while ($i < 10) {{
    $i++;
{lines(count, lambda n: f'$sum += {n % 5}; if ($sum == 777777) {{ break; }}')}
    if ($i == 7) {{ break; }}
  }}
  for ($k : 0..3) {{
{lines(count, lambda n: f'@k[$k] = {n}; $sum++;')}
  }}
  print(($i, $sum));
}}"""
    sum_of_turn = sum(n % 5 for n in range(count))
    both(acu, "loops", text, f"(7, {7 * sum_of_turn + 3 * count})\n\n" + "\n".join(f"@k[{k}]: {count - 1}" for k in range(3)))


def loops_among_many_statements(acu):
    count = 60
    body = lambda n: (f'for ($i : 0..4) {{ $sum += $i; @m[$i] = {n}; }}\n' + "\n".join(f"  $other += {k}; @o[{k % 3}] = $other;" for k in range(20)))
    text = f"begin {{\n  $sum = 0; $other = 0;\n{lines(count, body)}\n  print(($sum, $other));\n}}"
    both(acu, "among", text)


def long_functions(acu):
    count = 1500
    text = f"""fn f($n : int64) : int64 {{
  $x = $n;
{lines(count, lambda n: f'$x = $x + {n}; if ($x == -1) {{ return {n}; }}')}
  return $x;
}}
begin {{ print(f(1)); print(f({-1 - sum(range(801))})); }}"""
    both(acu, "functions", text, f"{1 + sum(range(count))}\n800")


def strings_and_records(acu):
    count = 1000
    text = f"""begin {{
  $r = (name="none", n=0);
{lines(count, lambda n: f'$s = "string {n}"; if ($s == "string {n}") {{ @s[$s] = count(); }} $r = (name=$s, n={n});')}
  print(len(@s)); print($r.name); clear(@s);
}}"""
    both(acu, "strings", text, f"{count}\nstring {count - 1}")


def arguments_in_all_pieces(acu):
    count = 1500
    text = f"""tracepoint:syscalls:sys_enter_getpgid /args.pid == 4711/ {{
  $p = args.pid;
{lines(count, lambda n: f'if (args.pid == 4711 && $p == 4711) {{ @n += {n}; }} @c[{n % 4}] = comm;')}
}}"""
    path = write("arguments", text)
    call = "import os\ntry: os.getpgid(4711)\nexcept OSError: pass"
    done = run(acu, path, "-q", "-c", f"{sys.executable} -c '{call}'")
    need(f"@n: {sum(range(count))}" in done.stdout, done.stdout[-400:])
    need("@c[3]: python3" in done.stdout, done.stdout[-400:])


def many_probes(acu):
    count = 2000
    path = write("probes", "config = { max_probes = 3000; max_bpf_progs = 3000 }\n" + "\n".join(f"interval:s:1000 {{ @a[{n % 50}] += {n}; }}" for n in range(count)) + "\nbegin { exit(); }")
    done = run(acu, path, "--engine", "eval")
    need("Attached 1 probe" in done.stderr, done.stderr)
    path = write("probes_of_calls", "\n".join(f"tracepoint:syscalls:sys_enter_getpgid /args.pid == {n}/ {{ @a[{n % 50}] += {n}; }}" for n in range(900)))
    run(acu, path, "--dry-run")


def many_maps(acu):
    """As many as the kernel allows one program, also of counts, which acu would keep in two maps each; and the message where there are more."""
    def script(count):
        return write("maps", "begin {\n" + lines(count, lambda n: f"@c{n}[comm] = count();") + "\n}")
    for count in (32, 45, 56):
        done = run(acu, script(count), "-q", "--engine", "kernel")
        need(len(re.findall(r"^@c\d+\[.*\]: 1$", done.stdout, re.M)) == count, done.stdout[-400:])
    done = run(acu, script(80), "--dry-run", "--engine", "kernel", status=1)
    need(re.search(r"ERROR: .*maps.bt:\d+-\d+: the block of begin uses 8\d maps, with acu's own; the kernel allows a program 64\nHINT: ", done.stderr), done.stderr[-600:])


def time_of(acu, path, *options):
    """Of the processor, in user space."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run(acu, path, "-q", *options)
        times.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return min(times)


def compile_time_grows_with_the_script(acu):
    """Ten times the statements take less than thirty times as long: what grows with the square takes a hundred times as long."""
    for kind in ("assignment", "condition", "printf"):
        short = write("short", statements.block(kind, 2000))
        long = write("long", statements.block(kind, 20000))
        times = [time_of(acu, path, "--dump", "bpf") for path in (short, long)]
        need(times[1] < 30 * max(times[0], 0.02), f"{kind}: {times[0]:.3f} s and {times[1]:.3f} s")


def other_kernels(acu):
    """Compiled for kernels without far jumps and loops."""
    path = write("other", statements.block("mixed", 3000))
    for host in ("5.10", "6.1", "6.12"):
        file = os.path.join(TMP, host)
        with open(os.path.join(os.path.dirname(HERE), "environment", "hosts", host + ".txt")) as text, open(file, "wb") as out:
            out.write(saved_host.write(saved_host.entries_of(text.read())))
        run(acu, path, "--dump", "bpf", "--for", file)


def conditions_that_are_kept_and_tested_again(acu):
    """The ways through the block are 2 to the power of their number, so it is cut although it is short."""
    for name, each in (("has_key", lambda n: f"if (has_key(@a, {n})) {{ $x++; }}"), ("reads", lambda n: f"$x += @a[{n}];"),
                       ("variables", lambda n: f"if ($v{n}) {{ $x++; }}")):
        made = lines(40, lambda n: f"$v{n} = @a[100] > {n};") if name == "variables" else ""
        tested = lines(40, each)
        expected = {"has_key": 4, "reads": 2 * (5 + 7), "variables": 2 * 30}[name]
        both(acu, name, f"begin {{\n  @a[1] = 5; @a[30] = 7; @a[100] = 30; $x = 0;\n{made}\n{tested}\n{tested}\n  print($x);\n  clear(@a);\n}}\n", f"{expected}\n")


def many_loops(acu):
    """Loops that do the same are one function for the kernel; of others there may be 256."""
    script = lambda count, term: f"begin {{\n  $x = 0;\n{lines(count, lambda n: f'for ($i : 0..4) {{ $x += {term(n)}; }}')}\n  print($x);\n}}\n"
    both(acu, "alike", script(400, lambda n: "$i"), "2400\n")
    both(acu, "different", script(150, lambda n: f"$i * {n}"), f"{6 * sum(range(150))}\n")
    done = run(acu, write("too_many", script(300, lambda n: f"$i * {n}")), "--dry-run", status=1)
    need(re.search(r"too_many.bt:1-\d+: the block of begin becomes \d+ functions, .* the kernel allows a program 256", done.stderr), done.stderr[-600:])


def the_verifier_s_limit_is_told(acu):
    """A block that no kernel takes: the message names the script's block and what to do."""
    path = write("limit", statements.block("histogram_by_key", 30000))
    done = run(acu, path, "--dry-run", status=1)
    need(re.search(r"ERROR: .*limit.bt:\d+-\d+: the block of begin is too long for the kernel", done.stderr), done.stderr[-600:])
    need("HINT: " in done.stderr, done.stderr[-600:])


TESTS = [each_kind_of_statement, mixed_statements, variables_live_in_all_pieces, leaves_in_the_middle, deep_in_branches,
         long_bodies_of_loops, loops_among_many_statements, long_functions, strings_and_records, arguments_in_all_pieces,
         many_probes, many_maps, conditions_that_are_kept_and_tested_again, many_loops, compile_time_grows_with_the_script, other_kernels, the_verifier_s_limit_is_told]
if __name__ == "__main__":
    sys.exit(run_suite(TESTS, TMP))
