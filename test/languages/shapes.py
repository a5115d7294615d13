"""Programs with known stacks, for python.py: shapes.py NAME [ARGUMENT]. No new syntax: it runs in Python 3.8."""
import ctypes
import os
import sys
import threading
import time


def busy(share):
    """That many hundredths of 104.3 ms: no multiple of a sampling period."""
    end = time.thread_time_ns() + share * 1043000
    while time.thread_time_ns() < end:
        pass


def seventy():
    busy(7)


def twenty():
    busy(2)


def ten():
    busy(1)


def shares(seconds):
    while time.process_time() < float(seconds):
        seventy()
        twenty()
        ten()


def line(seconds):
    while time.process_time() < float(seconds):
        for i in range(20000): x = (i ^ 3) & 7; y = x + i


def descend(depth):
    if depth:
        return descend(depth - 1)
    return os.getppid()


def deep(depth):
    sys.setrecursionlimit(10000)
    descend(int(depth))


def circle(previous):
    """The caller of this frame becomes the frame itself, as long as the system call takes. `previous`: offset of that field in the frame."""
    frame = sys._getframe()
    address = ctypes.c_uint64.from_address(id(frame) + 24).value  # PyFrameObject.f_frame
    field = ctypes.c_uint64.from_address(address + int(previous))
    caller = field.value
    field.value = address
    os.getppid()
    field.value = caller


def run_delay():
    """For how long this thread was runnable without a CPU, in seconds."""
    with open("/proc/thread-self/schedstat") as stat:
        return int(stat.read().split()[1]) / 1e9


def fight(seconds, function, out):
    """Its wait is what it is neither on a CPU nor waiting for one."""
    begin, used, delayed = time.monotonic(), time.thread_time(), run_delay()
    while time.monotonic() - begin < seconds:
        function()
    out.append(time.monotonic() - begin - (time.thread_time() - used) - (run_delay() - delayed))


def adds():
    return sum(n for n in range(1000))


def multiplies():
    product = 1
    for n in range(1, 300):
        product = product * n % 1000003
    return product


def gil(seconds):
    """Two threads that need the lock all the time: prints how long they wait for it."""
    waits = []
    threads = [threading.Thread(target=fight, args=(float(seconds), function, waits)) for function in (adds, multiplies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(sum(waits), flush=True)


def inner(path):
    with open(path, "w") as out:
        frame = sys._getframe()
        while frame:
            code = frame.f_code
            out.write("%s|%s|%d\n" % (getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno if frame.f_code is not inner.__code__ else 0))
            frame = frame.f_back
    print("ready", flush=True)
    sys.stdin.readline()


class Outer:
    def waits(self, path):
        for _ in (lambda: [inner(path)])():
            pass


def crash(path):
    with open(path, "w") as out:
        out.write("")
    os.abort()


def main():
    name = sys.argv[1]
    if name == "waits":
        Outer().waits(sys.argv[2])
    else:
        globals()[name](*sys.argv[2:])


main()
