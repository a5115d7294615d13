"""One thread computes, the other one sleeps now and then, and waits for the lock of the interpreter behind each sleep: gil.py SECONDS"""
import sys
import threading
import time

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
