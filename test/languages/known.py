"""Knows its own variables or tasks, writes them down, and waits: known.py FOLDER SEED variables|tasks [pure]

Writes FOLDER/expected, as JSON. Of variables: for each frame, innermost first, [function, {argument: text}, {variable: text}]; texts are what repr() gives
within the bounds that acu has (shown()). Of tasks: by name {"state", "frames": [[function, file, line], …], "awaited_by": [name, …]}, frames as
Python itself tells them (cr_await). With `pure`, tasks are those of asyncio in Python. Then it prints `ready` and reads a line; `abort` ends it
with a core dump. It runs in Python 3.8.
"""
import asyncio
import inspect
import json
import os
import random
import sys
import types

CHARACTERS, ELEMENTS, DEPTH, LENGTH, BITS = 60, 10, 3, 100, 1080
QUALIFIED = sys.version_info >= (3, 11)


def name_of(code):
    return code.co_qualname if QUALIFIED else code.co_name


def wait(expected):
    with open(os.path.join(sys.argv[1], "expected"), "w") as f:
        json.dump(expected, f)
    print("ready", flush=True)
    if sys.stdin.readline().strip() == "abort":
        os.abort()


# ------------------------------------------------------------------------------------------ variables

class Plain:
    pass


class Slots:
    __slots__ = ("a",)


class Printed:
    def __repr__(self):
        return "never shown"


class Named(dict):
    pass


class Numbers(list):
    pass


class Failure(ValueError):
    pass


class Shown:
    """repr() within bounds."""
    def __init__(self):
        self.text = ""
        self.inside = []

    def add(self, value):
        kind = type(value)
        if kind in (int, float, bool, type(None), type(...), type(NotImplemented)):
            large = kind is int and value.bit_length() > BITS
            self.text += "<int of %d bits>" % value.bit_length() if large else repr(value)
        elif kind in (str, bytes):
            self.text += repr(value[:CHARACTERS]) + ("…" if len(value) > CHARACTERS else "")
        elif isinstance(value, (list, tuple, dict, set, frozenset)):
            self.add_container(value)
        elif isinstance(value, BaseException):
            self.text += kind.__name__
            self.add_elements("(", ")", value.args)
        elif kind is types.FunctionType:
            self.text += "<function %s>" % value.__qualname__
        elif kind is types.MethodType:
            self.text += "<bound method %s>" % value.__func__.__qualname__
        elif kind is types.BuiltinFunctionType:
            self.text += "<built-in function %s>" % value.__name__
        elif kind is types.ModuleType:
            self.text += "<module '%s'>" % value.__name__
        elif kind is type:
            self.text += "<class '%s'>" % value.__name__
        elif kind is types.GeneratorType:
            self.text += "<generator object %s at 0x%x>" % (value.__qualname__, id(value))
        else:
            self.text += "<%s object at 0x%x>" % (kind.__name__, id(value))

    def add_container(self, value):
        brackets = "[]" if isinstance(value, list) else "()" if isinstance(value, tuple) else "{}"
        if any(value is other for other in self.inside):
            self.text += brackets[0] + "..." + brackets[1]
            return
        if len(self.inside) >= DEPTH:
            self.text += brackets[0] + "…" + brackets[1]
            return
        self.inside.append(value)
        if isinstance(value, dict):
            self.add_pairs(value)
        elif isinstance(value, (set, frozenset)):
            self.add_set(value)
        else:
            self.add_elements(brackets[0], ",)" if isinstance(value, tuple) and len(value) == 1 else brackets[1], value)
        self.inside.pop()

    def add_set(self, value):
        if not value:
            self.text += type(value).__name__ + "()"
        elif type(value) is set:
            self.add_elements("{", "}", value)
        else:
            self.text += type(value).__name__
            self.add_elements("({", "})", value)

    def begins(self, number):
        self.text += ", " if number else ""
        if number < ELEMENTS and len(self.text.encode()) < LENGTH:
            return True
        self.text += "…"
        return False

    def add_elements(self, opening, closing, values):
        self.text += opening
        for number, value in enumerate(values):
            if not self.begins(number):
                break
            self.add(value)
        self.text += closing

    def add_pairs(self, value):
        self.text += "{"
        for number, (key, one) in enumerate(value.items()):
            if not self.begins(number):
                break
            self.add(key)
            self.text += ": "
            self.add(one)
        self.text += "}"


def shown(value):
    out = Shown()
    out.add(value)
    return out.text


def is_definition(value):
    return isinstance(value, (types.ModuleType, types.FunctionType, types.BuiltinFunctionType))


def described(frame):
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    arguments = code.co_varnames[:count]
    values = {name: value for name, value in dict(frame.f_locals).items() if name[0] != "."}
    if not code.co_flags & inspect.CO_OPTIMIZED:
        values = {name: value for name, value in values.items() if not (name.startswith("__") and name.endswith("__")) and not is_definition(value)}
    return [name_of(code), {name: shown(values[name]) for name in arguments if name in values},
            {name: shown(value) for name, value in values.items() if name not in arguments}]


def stop():
    frame, expected = sys._getframe(1), []
    while frame:
        expected.append(described(frame))
        frame = frame.f_back
    wait(expected)


class Maker:
    """Random values of all kinds."""
    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self):
        alphabet = self.random.choice(["abc xyz", "it's", "\"'", "é\xff\xa0\xad", "€\u200b\ud800", "😀\n\t\\\x00\x7f", "日本語" * 3])
        return "".join(self.random.choice(alphabet) for _ in range(self.random.choice([0, 1, 3, 20, 59, 60, 61, 100])))

    def number(self):
        bits = self.random.choice([0, 1, 8, 29, 30, 31, 59, 60, 61, 64, 200, 1079, 1080, 1081, 5000])
        return self.random.choice([1, -1]) * (self.random.getrandbits(bits) if bits else 0)

    def real(self):
        return self.random.choice([0.0, -0.0, 1.5, 0.1, 1e16, 1e15, 123456789012345680.0, 1e-4, 1e-5, 5e-324, 1.7976931348623157e308, float("inf"), float("-inf"),
                                   float("nan"), self.random.random() * 10 ** self.random.randrange(-20, 20)])

    def plain(self):
        return self.random.choice([self.text, self.number, self.real, lambda: None, lambda: True, lambda: False, lambda: ...,
                                   lambda: bytes(self.random.randrange(256) for _ in range(self.random.randrange(70)))])()

    def container(self, depth):
        values = [self.value(depth + 1) for _ in range(self.random.choice([0, 1, 2, 3, 10, 11, 30]))]
        keys = [self.plain() for _ in range(len(values))]
        kind = self.random.randrange(8)
        if kind == 0:
            changed = {self.random.randrange(1000): None for _ in range(40)}
            for key in list(changed)[::2]:
                del changed[key]
            return changed
        return [lambda: values, lambda: tuple(values), lambda: dict(zip(keys, values)), lambda: set(keys), lambda: frozenset(keys),
                lambda: Named(zip(keys, values)), lambda: Numbers(values)][kind - 1]()

    def other(self):
        failure = self.random.choice([KeyError("a"), ValueError(), Failure("bad", 3), OSError(2, "No such file"), StopIteration([1])])
        return self.random.choice([Plain(), Slots(), Printed(), Plain, dict, len, plain_frame, Maker.text, self.text, failure, sys, (x for x in []), object(), range(3),
                                   NotImplemented])

    def value(self, depth=0):
        if depth < 5 and self.random.random() < 0.35:
            return self.container(depth)
        return self.plain() if self.random.random() < 0.7 else self.other()

    def circle(self):
        one = [1]
        other = {"list": one}
        one.append(other)
        return one


# Each is a way to have variables; all go on with `go`.
def plain_frame(go, first, second=None, *rest, only=1, **more):
    local = more
    gone = 1
    del gone
    go()


def cells(go, first, second):
    inside = [first]
    def closure(third):
        seen = (first, inside)
        go()
        return seen, not_yet
    closure(second)
    not_yet = 1


def generator(go, first, second):
    def generate(value):
        held = [value]
        yield go()
        return held
    for _ in generate(first):
        pass


def comprehension(go, first, second):
    return [go() for each in [second] if each is second]


def in_class(go, first, second):
    class Body:
        value = first
        other = second
        def method(self):
            pass
        go()


def in_module(go, first, second):
    exec("import os\ndef f(): pass\ngo()", {"go": go, "value": first, "__name__": "made"})


class Method:
    def __init__(self, value):
        self.value = value

    def call(self, go, first, second):
        both = self, first
        go()


def in_method(go, first, second):
    Method(first).call(go, first, second)


def by_star(go, first, second):
    plain_frame(go, first, second, first, second, only=second, other=first)


WAYS = [plain_frame, cells, generator, comprehension, in_class, in_module, in_method, by_star]


def variables(seed):
    maker = Maker(seed)
    ways = WAYS[:]
    maker.random.shuffle(ways)
    circle = maker.circle()
    def go(left):
        if not left:
            return stop()
        left[0](lambda: go(left[1:]), maker.value(), maker.value())
    go(ways)


# ---------------------------------------------------------------------------------------------- tasks

class Awaitable:
    def __init__(self, inner):
        self.inner = inner

    def __await__(self):
        return (yield from self.inner.__await__())


async def steps(inner):
    yield await inner


async def by_steps(inner):
    async for _ in steps(inner):
        pass


async def by_awaitable(inner):
    await Awaitable(inner)


async def directly(inner):
    await inner


async def in_turn(ways):
    if not ways:
        return await asyncio.Event().wait()
    await ways[0](in_turn(ways[1:]))


async def waits_for_task(task):
    await task


async def with_timeout(task):
    await asyncio.wait_for(task, 1000)


async def shielded(task):
    await asyncio.shield(task)


async def gathers(task):
    await asyncio.gather(task)


async def waits_for_first(task):
    await asyncio.wait([task])


# In asyncio these are coroutines and frames of its own besides: Python tells.
COROUTINES = [by_steps, by_awaitable, directly]
WAITERS = [waits_for_task, with_timeout, shielded, gathers, waits_for_first]


def chain_of(task):
    """Frames of a suspended task, innermost first."""
    frames, at = [], task.get_coro()
    while at is not None:
        frame = getattr(at, "cr_frame", None) or getattr(at, "gi_frame", None) or getattr(at, "ag_frame", None)
        if not frame:
            break
        frames.insert(0, [name_of(frame.f_code), frame.f_code.co_filename, frame.f_lineno])
        at = getattr(at, "cr_await", None) or getattr(at, "gi_yieldfrom", None) or getattr(at, "ag_await", None)
        if type(at).__name__ in ("async_generator_asend", "coroutine_wrapper"):
            at = wrapped(at)
    return frames


def wrapped(at):
    """What these refer to first is what they wrap."""
    import gc
    return next((x for x in gc.get_referents(at) if hasattr(x, "ag_frame") or hasattr(x, "cr_frame")), None)


async def run_tasks(seed, is_pure):
    chance = random.Random(seed)
    loop = asyncio.get_running_loop()
    if is_pure:
        loop.set_task_factory(lambda loop, coroutine, **more: asyncio.tasks._PyTask(coroutine, loop=loop, **more))
    awaited_by, tasks = {}, []
    def make(coroutine):
        task = loop.create_task(coroutine)
        if is_pure or chance.random() < 0.5:
            task.set_name("task-%d é" % len(tasks))
        tasks.append(task)
        return task
    for _ in range(chance.randrange(5, 15)):
        task = make(in_turn([chance.choice(COROUTINES) for _ in range(chance.randrange(6))]))
        for _ in range(chance.randrange(4)):
            waiter = make(chance.choice(WAITERS)(task))
            awaited_by[task] = waiter
            task = waiter
    for _ in range(chance.randrange(50)):
        make(in_turn([directly, by_awaitable]))
    for _ in range(20):
        await asyncio.sleep(0)
    done = make(asyncio.sleep(0))
    await done
    expected = {}
    for task in tasks:
        if task.done():
            continue
        chain, at = [], task
        while at in awaited_by:
            at = awaited_by[at]
            chain.append(at.get_name())
        expected[task.get_name()] = {"state": "waiting", "frames": chain_of(task), "awaited_by": chain}
    created = make(in_turn([]))
    expected[created.get_name()] = {"state": "not started yet", "frames": [["in_turn", __file__, in_turn.__code__.co_firstlineno]], "awaited_by": []}
    expected[asyncio.current_task().get_name()] = {"state": "running", "frames": None, "awaited_by": []}
    wait(expected)
    os._exit(0)


if sys.argv[3] == "variables":
    variables(int(sys.argv[2]))
else:
    asyncio.run(run_tasks(int(sys.argv[2]), "pure" in sys.argv))
