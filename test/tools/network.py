"""Tools that look at the network."""
import re
import socket
import threading

from common import histogram_total, lines, need, trace


def connect():
    """A connection of this process with itself; data both ways; then the side that connected closes."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    there = []
    thread = threading.Thread(target=lambda: there.append(listener.accept()[0]))
    thread.start()
    here = socket.create_connection(listener.getsockname())
    thread.join()
    here.sendall(b"x" * 5000)
    got = 0
    while got < 5000:
        got += len(there[0].recv(5000))
    port = listener.getsockname()[1]
    here.close()
    there[0].close()
    listener.close()
    return port


def traced(acu, tool):
    port = []
    return trace(acu, tool, lambda: port.append(connect())), port[0]


def tcpstates(acu):
    text, port = traced(acu, "tcpstates.bt")
    found = lines(text, r"0x\w+ +\d+ +\S+ +127\.0\.0\.1:(\d+) (?:127\.0\.0\.1|0\.0\.0\.0):(\d+) (\w+) -> (\w+) \d+")
    ours = [f[2:] for f in found if str(port) == f[1]]
    need(("CLOSE", "SYN_SENT") in ours and ("SYN_SENT", "ESTABLISHED") in ours and ("ESTABLISHED", "FIN_WAIT1") in ours, text)
    theirs = [f[2:] for f in found if str(port) == f[0]]
    need(("CLOSE", "LISTEN") in theirs and ("ESTABLISHED", "CLOSE_WAIT") in theirs, text)


def tcplife(acu):
    text, port = traced(acu, "tcplife.bt")
    found = lines(text, r"\d+ +\S+ +127\.0\.0\.1 +(\d+) +127\.0\.0\.1 +(\d+) +(\d+)")
    need(any(f[1] == str(port) for f in found) and any(f[0] == str(port) for f in found), text)
    need(all(int(f[2]) < 5000 for f in found), text)


def tcpdrop(acu):
    def refused():
        for _ in range(3):
            try:
                socket.create_connection(("127.0.0.1", 1)).close()
            except OSError:
                pass

    text = trace(acu, "tcpdrop.bt", refused)
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +\S+ +(SKB_\w+) +(\w\S*)")
    need(sum(f == ("SKB_DROP_REASON_NO_SOCKET", "tcp_v4_rcv") for f in found) >= 3, text)
    need(re.search(r"^        tcp_v4_rcv\+\d+$", text, re.M), text)


def netsize(acu):
    text, _ = traced(acu, "netsize.bt")
    need(histogram_total(text, "@bytes[lo]") >= 5, text)
    need(re.search(r"^\[4K, 8K\) +[1-9]\d* \|", text, re.M), text)


TESTS = [tcpstates, tcplife, tcpdrop, netsize]
