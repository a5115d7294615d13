"""Python programs for `acu why`: programs.py MODE [has|twin|decoy]; see programs.cc."""
import re
import sys
import threading
import time

MODE, VARIANT = sys.argv[1], (sys.argv[2:] or ["has"])[0]


def compute(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


# ---- regex: an expression that can match in many ways; the twin computes as much

SLOW = re.compile(r"(a+)+b")
QUICK = re.compile(r"a+b")


def is_valid(text):
    return (SLOW if VARIANT == "has" else QUICK).match(text)


def regex():
    parts = [lambda: compute(900), lambda: sorted(range(3000)), lambda: "".join(str(i) for i in range(800)), lambda: {i: i for i in range(2500)},
             lambda: sum([i for i in range(3000)]), lambda: [str(i).zfill(4) for i in range(500)]]
    while True:
        if VARIANT == "has":
            is_valid("a" * 18 + "c")
        if VARIANT == "decoy":
            is_valid("a" * 50 + "c")
        if VARIANT != "has":
            for part in parts:
                part()


# ---- interpreter: threads that compute wait for each other; in the twin one computes and the others are idle

def interpreter():
    def busy():
        while True:
            compute(20000)

    def idle():
        while True:
            time.sleep(0.01)

    for i in range(4):
        threading.Thread(target=busy if VARIANT == "has" or i == 0 else idle, daemon=True).start()
    if VARIANT == "decoy":
        threading.Thread(target=lambda: [time.sleep(0.3) for _ in iter(int, 1)], daemon=True).start()
    while True:
        time.sleep(1)


{"regex": regex, "interpreter": interpreter}[MODE]()
