"""Python programs for `acu why`: programs.py MODE [has|twin|decoy]; see programs.cc."""
import collections
import gc
import json
import mmap
import os
import re
import sys
import threading
import time

if "ACU_DONE" in os.environ:  # requests that were handled, as programs.cc has them
    with open(os.environ["ACU_DONE"], "w+b") as file:
        file.truncate(8)
        DONE = memoryview(mmap.mmap(file.fileno(), 8)).cast("L")
else:
    DONE = [0]

MODE, VARIANT = sys.argv[1], (sys.argv[2:] or ["has"])[0]


def compute(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


PARTS = [lambda: compute(900), lambda: sorted(range(3000)), lambda: "".join(str(i) for i in range(800)), lambda: {i: i for i in range(2500)},
         lambda: sum([i for i in range(3000)]), lambda: [str(i).zfill(4) for i in range(500)]]


# ---- regex: an expression that can match in many ways; the twin computes as much

SLOW = re.compile(r"(a+)+b")
QUICK = re.compile(r"a+b")


def is_valid(text):
    return (SLOW if VARIANT == "has" else QUICK).match(text)


def regex():
    while True:
        DONE[0] += 1
        if VARIANT == "has":
            is_valid("a" * 18 + "c")
        if VARIANT == "decoy":
            is_valid("a" * 50 + "c")
        if VARIANT != "has":
            for part in PARTS:
                part()


# ---- interpreter: threads that compute wait for each other; in the twin one computes and the others are idle

def interpreter():
    def busy():
        while True:
            DONE[0] += 1
            if VARIANT == "has":
                compute(20000)
            else:
                for part in PARTS:
                    part()

    def idle():
        while True:
            time.sleep(0.01)

    for i in range(4):
        threading.Thread(target=busy if VARIANT == "has" or i == 0 else idle, daemon=True).start()
    if VARIANT == "decoy":
        threading.Thread(target=lambda: [time.sleep(0.3) for _ in iter(int, 1)], daemon=True).start()
    while True:
        time.sleep(1)


# ---- json: messages are encoded and decoded; the twin computes as much

ROWS = [{"id": i, "name": f"item {i}", "tags": ["a", "b", "c"], "price": i * 1.19} for i in range(300)]


def reply():
    return json.loads(json.dumps(ROWS))


def messages():
    while True:
        DONE[0] += 1
        if VARIANT == "has":
            reply()
        else:
            for part in PARTS:
                part()
        if VARIANT == "decoy":
            json.dumps(ROWS[:20])


# ---- slow: one function in Python has most of the time

def score(n):
    total = 0.0
    for i in range(n):
        total += (i % 7) * 0.5
    return total


def slow():
    while True:
        DONE[0] += 1
        if VARIANT == "has":
            score(60000)
        for part in PARTS:
            part()
        if VARIANT == "decoy":
            score(1500)


# ---- collections: each request asks for a collection of all that a large cache has; the twin does not, the decoy's look at young objects only

def build_cache():
    return [{"id": i, "parts": [i, i + 1]} for i in range(200000)]


def handle():
    for part in 20 * PARTS:
        part()
    if VARIANT != "twin":
        gc.collect(2 if VARIANT == "has" else 0)


def collections_asked_for():
    cache = build_cache()
    gc.disable()
    while cache:
        handle()
        DONE[0] += 1


# ---- growth: each session is remembered forever; the twin remembers the last ones, the decoy answers with large texts

SESSIONS = collections.deque(maxlen=None if VARIANT == "has" else 5000)


def remember(n):
    SESSIONS.append({"id": n, "name": f"user {n}", "seen": [n, n + 1, n + 2]})


def growth():
    n = 0
    while True:
        n += 1
        DONE[0] += 1
        remember(n)
        if n % 50 == 0:
            PARTS[n // 50 % len(PARTS)]()
        if VARIANT == "decoy" and n % 500 == 0:
            "x" * 500000
        time.sleep(0.001)


{"regex": regex, "interpreter": interpreter, "json": messages, "slow": slow, "collections": collections_asked_for, "growth": growth}[MODE]()
