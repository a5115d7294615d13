#!/usr/bin/env python3
"""Pictures of docs/console.md: make.py ACU [SECONDS]

Starts `acu serve` with a store of its own, a program whose work changes half-way (its function `total` gets three times as much to do), and writes a picture
of each page, by headless Chromium, after SECONDS (default 90).
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "test", "flame"))
import browser

SHOP = """import sys, time
open("/proc/self/comm", "w").write("shop")
def render(n): return sum(i * i for i in range(n))
def total(n): return sum(i ^ 3 for i in range(n))
begin, half = time.time(), float(sys.argv[1])
while True:
    grows = time.time() - begin > half
    render(20_000); total(15_000 if grows else 5_000); time.sleep(0.001)
"""
WIDTH, HEIGHT = 1200, 900


def wait_for(page, condition, what, limit=60):
    until = time.monotonic() + limit
    while not page.value(condition):
        if time.monotonic() > until:
            raise TimeoutError(f"{what} did not appear")
        time.sleep(0.1)


def picture(page, name, height=HEIGHT):
    page.ask("Emulation.setDeviceMetricsOverride", width=WIDTH, height=height, deviceScaleFactor=1, mobile=False)
    time.sleep(1)  # charts and frames take their new size
    with open(os.path.join(HERE, name + ".png"), "wb") as out:
        out.write(base64.b64decode(page.ask("Page.captureScreenshot", format="png")["data"]))


def serve(acu, folder):
    process = subprocess.Popen([acu, "serve", "--listen", "127.0.0.1:0", "--store", os.path.join(folder, "store.db")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return process, found[0]
    raise RuntimeError("acu serve printed no address")


def main():
    acu, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 90
    folder = tempfile.mkdtemp(prefix="acu-console-")
    script = os.path.join(folder, "shop.py")
    with open(script, "w") as out:
        out.write(SHOP)
    server, url = serve(acu, folder)
    shop = subprocess.Popen(["/usr/bin/python3", script, str(seconds / 2)])
    try:
        begin = time.time()
        with browser.Browser(os.path.join(folder, "browser")) as page:
            page.open(url, WIDTH, HEIGHT)
            time.sleep(seconds)
            wait_for(page, "!!document.querySelector('.table tbody a')", "a service")
            now = page.value("Date.now() / 1000")
            go = lambda address: page.value(f"location.hash = {json.dumps('#/' + address)}")
            go(f"services?service=shop&from={begin:.0f}&to={now:.0f}")
            wait_for(page, "!!document.querySelector('iframe')?.contentDocument?.getElementById('graph')", "the flame graph")
            picture(page, "service", 1300)
            half = begin + seconds / 2
            go(f"compare?service=shop&a_from={begin:.0f}&a_to={half:.0f}&b_from={half:.0f}&b_to={now:.0f}")
            wait_for(page, "document.querySelector('.table tbody')?.textContent.includes('total')", "the table of changes")
            picture(page, "compare", 800)
    finally:
        for process in (shop, server):
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
