"""Tools that look at the network."""
import ctypes
import re
import socket
import struct
import threading

from common import histogram_total, lines, need, tells, trace, value


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


def tcpconnect(acu):
    def both():
        port.append(connect())
        try:
            socket.create_connection(("127.0.0.1", 1)).close()
        except OSError:
            pass

    port = []
    text = trace(acu, "tcpconnect.bt", both)
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +(\S+) +127\.0\.0\.1 +(\d+) +(\d+)\.\d{3} (\w+)")
    need(("python3", str(port[0]), "connected") in [(f[0], f[1], f[3]) for f in found], text)
    need(("1", "failed") in [(f[1], f[3]) for f in found], text)
    text = trace(acu, "tcpconnect.bt", both, ["--", "--port=1"])
    need(all(f[0] == "1" for f in lines(text, r"\d\d:\d\d:\d\d .* 127\.0\.0\.1 +(\d+) +\S+ (\w+)")) and " 1 " in text, text)


def tcpaccept(acu):
    def accepted():
        here = socket.socket(socket.AF_INET6)
        here.bind(("::1", 0))
        here.listen(7)
        there = socket.create_connection(here.getsockname()[:2])
        here.accept()[0].close()
        six.append((str(there.getsockname()[1]), str(here.getsockname()[1])))
        there.close()
        here.close()
        port.append(connect())

    port, six = [], []
    text = trace(acu, "tcpaccept.bt", accepted)
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +(\S+) +(\S+) +(\d+) +(\S+) +(\d+) +(\d+)/(\d+)")
    need(any(f[:2] == ("python3", "127.0.0.1") and f[3:5] == ("127.0.0.1", str(port[0])) for f in found), text)
    need(any(f[1] == "::1" and (f[2], f[4]) == six[0] and f[6] == "7" for f in found), text)


def tcpretrans(acu):
    """A server whose socket is told to take no packet: who connects asks again after a second."""
    def unheard():
        here = socket.socket()
        here.bind(("127.0.0.1", 0))
        here.listen()
        refuse = (ctypes.c_uint64 * 1)(6)  # struct sock_filter: return 0
        program = struct.pack("HxxxxxxP", 1, ctypes.addressof(refuse))
        here.setsockopt(socket.SOL_SOCKET, 26, program)  # SO_ATTACH_FILTER
        port.append(here.getsockname()[1])
        there = socket.socket()
        there.settimeout(1.6)
        try:
            there.connect(here.getsockname())
        except OSError:
            pass

    port = []
    text = trace(acu, "tcpretrans.bt", unheard)
    found = lines(text, r"\d\d:\d\d:\d\d 127\.0\.0\.1 +\d+ +127\.0\.0\.1 +" + str(port[0]) + r" +(SYN_SENT)")
    need(found and value(text, "@sent_again[127.0.0.1]") >= len(found), text)


def solisten(acu):
    def listen():
        for family, where in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_INET6, ("::1", 0)), (socket.AF_UNIX, "")):
            with socket.socket(family) as s:
                s.bind(where)
                s.listen(9)
                ports.append(s.getsockname()[1] if where else 0)

    ports = []
    text = trace(acu, "solisten.bt", listen)
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +python3 +9 +0 +(\S+) +(\S+) +(\d+)")
    need(found == [("IPv4", "127.0.0.1", str(ports[0])), ("IPv6", "::1", str(ports[1])), ("unix", "-", "0")], text)


def tcpstates(acu):
    text, port = traced(acu, "tcpstates.bt")
    found = lines(text, r"0x\w+ +\d+ +\S+ +127\.0\.0\.1:(\d+) +(?:127\.0\.0\.1|0\.0\.0\.0):(\d+) +(\w+) +-> (\w+) +\d+")
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
    if not tells("skb:kfree_skb", "reason"):
        return "this kernel reports no reasons for dropped packets"

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


TESTS = [tcpconnect, tcpaccept, tcpretrans, solisten, tcpstates, tcplife, tcpdrop, netsize]
