"""One thread computes, the other one sleeps now and then, and waits for the lock of the interpreter behind each sleep: gil.py SECONDS

Both on one CPU: on two, the lock is often released before the thread that asked for it sleeps again, and nobody has to wake it.
"""
import os
import sys
import threading
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
END = time.monotonic() + float(sys.argv[1])


def compute():
    while time.monotonic() < END:
        sum(range(100))


def sleep():
    while time.monotonic() < END:
        time.sleep(0.002)


thread = threading.Thread(target=compute)
thread.start()
sleep()
thread.join()
