"""Runs acu while something else happens: for the suites that look at what it printed when it was told to stop."""
import os
import signal
import subprocess
import threading

from tally import need

ATTACHED = "#attached#"


def trace(command, cache, during, limit, started=lambda pid: None):
    """What `command` (acu run …, which is to tell ATTACHED) prints, when `during` is done and it was told to stop; and what
    it says beside that. Tables of names are kept in the folder `cache`; after `limit` seconds acu is ended."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                               env=dict(os.environ, ACU_CACHE=cache))
    started(process.pid)
    out, err, problems = [], [], []

    def drive():
        try:
            during()
        except Exception as problem:
            problems.append(problem)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)

    reader = threading.Thread(target=lambda: err.append(process.stderr.read()))
    reader.start()
    killer = threading.Timer(limit, process.kill)
    killer.start()
    driver = threading.Thread(target=drive)
    for line in process.stdout:
        if line == ATTACHED + "\n":
            driver.start()
        else:
            out.append(line)
    status = process.wait()
    killer.cancel()
    reader.join()
    need(driver.ident, f"did not attach: {err[0].strip()[:600]}")
    driver.join()
    if problems:
        raise problems[0]
    need(status == 0, f"status {status}: {err[0].strip()[:600]}")
    return "".join(out), err[0]
