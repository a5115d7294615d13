"""Calls functions in many ways, by chance, and writes down its own stack each time it pulls a trigger (common.py): seeded.py FOLDER SEED COUNT TRIGGER [threads N | fork N]

Each thread writes FOLDER/TID: lines `name|file|line`, innermost first, and an empty line behind each stack. With the word `wait` at the end it
waits for a line on standard input before it begins. TRIGGER: getppid, sleep, spin. No annotations, no new syntax: it runs in Python 3.8.
"""
import asyncio
import ctypes
import functools
import json
import os
import random
import re
import sys
import threading
import time
import zlib

try:
    import greenlet
except ImportError:  # not of every Python
    greenlet = None

BIG = bytes(16 << 20)
DEEP = 0.03  # of the stacks
callback_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


class Program:
    def __init__(self, out, seed, pull):
        self.out = out
        self.random = random.Random(seed)
        self.pull = pull

    def mark(self, frame):
        """The stack of who calls; the trigger is on the same line."""
        lines = []
        while frame:
            code = frame.f_code
            lines.append("%s|%s|%d\n" % (getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno))
            frame = frame.f_back
        self.out.write("".join(lines) + "\n")
        self.out.flush()

    def leaf(self):
        self.mark(sys._getframe()), os.getppid(), self.pull()

    def go(self, depth):
        if depth <= 0:
            return self.leaf()
        return self.random.choice(WAYS)(self, depth - 1)

    def recurse(self, depth):
        if depth > 0:
            return self.recurse(depth - 1)
        return self.leaf()

    def by_method(self, depth):
        return self.go(depth)

    @staticmethod
    def by_static_method(self, depth):
        return self.go(depth)

    @classmethod
    def by_class_method(cls, self, depth):
        return self.go(depth)

    @property
    def by_property(self):
        return self.go(self.depth)

    def __getitem__(self, depth):
        return self.go(depth)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.go(self.depth)


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*arguments, **named):
        return function(*arguments, **named)
    return wrapper


def plain(p, depth):
    return p.go(depth)


@wrapped
def decorated(p, depth):
    return p.go(depth)


def closure(p, depth):
    def inner():
        return p.go(depth)
    return inner()


def by_lambda(p, depth):
    return (lambda: p.go(depth))()


def by_list(p, depth):
    return [p.go(depth) for _ in range(1)]


def by_generator_expression(p, depth):
    return list(p.go(depth) for _ in range(1))


def by_generator(p, depth):
    def generate():
        yield p.go(depth)
        yield 1
    return next(generate())


def by_yield_from(p, depth):
    def inner():
        yield p.go(depth)
    def outer():
        yield from inner()
    for _ in outer():
        pass


def by_sort(p, depth):
    done = []
    def key(x):
        if not done:
            done.append(1)
            p.go(depth)
        return x
    return sorted([2, 1], key=key)


def by_map(p, depth):
    return list(map(p.go, [depth]))


def by_reduce(p, depth):
    return functools.reduce(lambda a, b: p.go(depth), [1, 2])


def by_partial(p, depth):
    return functools.partial(plain, p)(depth)


def by_regular_expression(p, depth):
    return re.sub("a", lambda m: str(p.go(depth)), "a")


def by_json(p, depth):
    return json.loads('{"a": 1}', object_hook=lambda o: p.go(depth))


def by_exec(p, depth):
    exec(compile("p.go(depth)", "/generated.py", "exec"), {"p": p, "depth": depth})


def by_c(p, depth):
    def called(n):
        p.go(n)
        return 0
    return callback_type(called)(depth)


def by_handler(p, depth):
    try:
        raise ValueError
    except ValueError:
        return p.go(depth)


def by_finally(p, depth):
    try:
        pass
    finally:
        p.go(depth)


def by_with(p, depth):
    with p:
        p.depth = depth


def by_property(p, depth):
    p.depth = depth
    return p.by_property


def by_item(p, depth):
    return p[depth]


def by_coroutine(p, depth):
    async def inner():
        return p.go(depth)
    async def outer():
        return await inner()
    try:
        outer().send(None)
    except StopIteration:
        pass


def by_class_body(p, depth):
    class Body:
        value = p.go(depth)
    return Body


def by_deletion(p, depth):
    class Dying:
        def __del__(self):
            p.go(depth)
    Dying()


def by_comparison(p, depth):
    class Compared:
        def __eq__(self, other):
            p.go(depth)
            return True
    return Compared() in [1]


def by_many_lines(p, depth):
    return max(
        0,
        len(
            str(
                p.go(
                    depth))))


def by_greenlet(p, depth):
    if not greenlet:
        return p.go(depth)
    return greenlet.greenlet(lambda: p.go(depth)).switch()


def by_switch_to_caller(p, depth):
    """A greenlet that goes on after its caller did."""
    if not greenlet:
        return p.go(depth)
    caller = greenlet.getcurrent()
    def inside():
        caller.switch()
        p.go(depth)
    other = greenlet.greenlet(inside)
    other.switch()
    return other.switch()


WAYS = [plain, decorated, closure, by_lambda, by_list, by_generator_expression, by_generator, by_yield_from, by_sort, by_map, by_reduce,
        by_partial, by_regular_expression, by_json, by_exec, by_c, by_handler, by_finally, by_with, by_property, by_item, by_coroutine,
        by_class_body, by_deletion, by_comparison, by_many_lines, by_greenlet,
        by_switch_to_caller, Program.by_method, lambda p, d: Program.by_static_method(p, d),
        lambda p, d: Program.by_class_method(p, d)]


# What has no frame of its own.
TRIGGERS = {"getppid": int, "sleep": functools.partial(time.sleep, 0.00005), "spin": functools.partial(zlib.crc32, BIG)}


def run(folder, seed, count, pull):
    with open(os.path.join(folder, str(threading.get_native_id())), "w") as out:
        p = Program(out, seed, pull)
        for _ in range(count):
            if p.random.random() < DEEP:
                p.recurse(p.random.randrange(100, 480))
            else:
                p.go(p.random.randrange(1, 25))


async def in_loop(*arguments):
    await asyncio.sleep(0)
    run(*arguments)


def main():
    sys.setrecursionlimit(5000)
    threading.stack_size(256 << 20)
    with open("/proc/self/comm", "w") as comm:
        comm.write("acu-seeded")
    arguments = sys.argv[1:]
    if arguments[-1] == "wait":
        arguments.pop()
        print("ready", flush=True)
        sys.stdin.readline()
    folder, seed, count, name = arguments[0], int(arguments[1]), int(arguments[2]), arguments[3]
    way = arguments[4] if len(arguments) > 4 else ""
    pull = TRIGGERS[name]
    if way == "threads":
        threads = [threading.Thread(target=run, args=(folder, seed + n, count, pull)) for n in range(int(arguments[5]))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    elif way == "fork":
        children = []
        for n in range(int(arguments[5])):
            children.append(os.fork())
            if not children[-1]:
                run(folder, seed + n, count, pull)
                os._exit(0)
        for child in children:
            os.waitpid(child, 0)
    elif way == "loop":
        asyncio.run(in_loop(folder, seed, count, pull))
    else:
        run(folder, seed, count, pull)


main()
