"""Tools for connections, datagrams and addresses."""
import os
import socket
import struct
import time

from common import TMP, histogram_total, lines, listing, need, older_than, shell, trace, value


def two_ends(family=socket.AF_INET, address="127.0.0.1"):
    listener = socket.create_server((address, 0), family=family)
    here = socket.create_connection(listener.getsockname()[:2])
    return listener, here, listener.accept()[0]


def talk(rounds, ports, family=socket.AF_INET, address="127.0.0.1"):
    listener, here, there = two_ends(family, address)
    ports.append((here.getsockname()[1], there.getsockname()[1]))
    for _ in range(rounds):
        here.sendall(b"x" * 1000)
        need(len(there.recv(1000, socket.MSG_WAITALL)) == 1000, "too little was received")
        there.sendall(b"y")
        here.recv(1)
    for s in (here, there, listener):
        s.close()


def tcptop(acu):
    if reason := older_than(6, 3):
        return reason
    ports = []
    text = trace(acu, "tcptop.bt", lambda: [talk(50, ports), talk(20, ports, socket.AF_INET6, "::1"), time.sleep(1.3)])
    for (client, server), address, rounds in zip(ports, ("127.0.0.1", "::1"), (50, 20)):
        for kind, local, remote, size in (("sent", client, server, 1000), ("received", server, client, 1000), ("sent", server, client, 1), ("received", client, server, 1)):
            found = lines(text, rf"@{kind}\[python3, {os.getpid()}, {local}, {address}, {remote}\]: (\d+)")
            need(sum(int(n) for n, in found) == rounds * size, f"{kind} {local} {remote}:\n{text}")


def udptop(acu):
    if reason := older_than(6, 3):
        return reason
    port = []

    def flood():
        there, here = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
        there.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2304)
        there.bind(("127.0.0.1", 0))
        port.append(there.getsockname()[1])
        for _ in range(50):
            here.sendto(b"x" * 100, there.getsockname())
        port.append(int(next(line.split()[-1] for line in open("/proc/net/udp") if f":{port[0]:04X} " in line)))
        for _ in range(50 - port[1]):
            there.recv(1000)
        port.append(here.getsockname()[1])

    text = trace(acu, "udptop.bt", flood)
    need(0 < port[1] < 50, f"{port[1]} of 50 datagrams were lost")
    need(value(text, f"@lost[{port[0]}]") == port[1], text)
    need(f"@sent[python3, {os.getpid()}, {port[2]}]: {{ .count = 50, .average = 100, .total = 5000 }}" in text, text)
    need(f"@received[python3, {os.getpid()}, {port[0]}]: {{ .count = {50 - port[1]}, .average = 100," in text, text)


def tcprtt(acu):
    ports = []
    text = trace(acu, "tcprtt.bt", lambda: talk(50, ports))
    need(histogram_total(text, "@rtt_us[127.0.0.1]") >= 100, text)
    need(1 <= value(text, "@smallest_window[127.0.0.1]") <= 10 <= value(text, "@largest_window[127.0.0.1]"), text)  # a connection begins with 10
    text = trace(acu, "tcprtt.bt", lambda: talk(50, ports), ["--", "--port=1"])
    need("127.0.0.1" not in text, "connections with other ports:\n" + text)


def tcpreset(acu):
    if reason := older_than(6, 10):
        return reason
    ports = []

    def be_refused():
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            with socket.socket(family) as s:
                s.bind((address, 0))
                ports.append(s.getsockname()[1])
                need(s.connect_ex((address, 1)) == 111, "port 1 answers")
        listener, here, there = two_ends()
        ports.extend((here.getsockname()[1], there.getsockname()[1]))
        here.sendall(b"x")
        time.sleep(0.05)
        there.close()  # with unread data
        here.close()
        listener.close()

    text = trace(acu, "tcpreset.bt", be_refused)
    found = lines(text, r"\d\d:\d\d:\d\d (\w+) +(\S+) +(\d+) +(\S+) +(\d+) +(\S+)")
    refused, refused6, client, server = map(str, ports)
    for expected in (("sent", "127.0.0.1", "1", "127.0.0.1", refused, "SK_RST_REASON_NO_SOCKET"), ("received", "127.0.0.1", refused, "127.0.0.1", "1", "-"),
                     ("sent", "::1", "1", "::1", refused6, "SK_RST_REASON_NO_SOCKET"), ("received", "::1", refused6, "::1", "1", "-"),
                     ("sent", "127.0.0.1", server, "127.0.0.1", client, "SK_RST_REASON_TCP_ABORT_ON_CLOSE")):
        need(expected in found, f"{expected} is not in\n{text}")


def sockerrors(acu):
    def be_refused():
        for _ in range(3):
            with socket.socket() as s:
                s.connect_ex(("127.0.0.1", 1))
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.connect(("127.0.0.1", 1))
            s.send(b"x")

    text = trace(acu, "sockerrors.bt", be_refused)
    need(value(text, "@errors[TCP, 127.0.0.1, 1, 111, Connection refused]") == 3, text)
    need(value(text, "@errors[UDP, 127.0.0.1, 1, 111, Connection refused]") == 1, text)
    need("Success" not in text, text)


def bindsnoop(acu):
    ports = []

    def bind():
        with socket.create_server(("127.0.0.1", 0)) as first, socket.socket() as second, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as third:
            ports.append(first.getsockname()[1])
            try:
                second.bind(first.getsockname())
            except OSError:
                pass
            third.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            third.bind(("::1", 0))
            ports.append(third.getsockname()[1])

    text = trace(acu, "bindsnoop.bt", bind)
    found = lines(text, rf"\d\d:\d\d:\d\d {os.getpid()} +python3 +(-?\d+) +(\w+) +(\S+) +(\d+) +(\S+)")
    need(found == [("0", "TCP", "reuseaddr", str(ports[0]), "127.0.0.1"), ("-98", "TCP", "-", str(ports[0]), "127.0.0.1"),
                   ("0", "UDP", "reuseport", str(ports[1]), "::1")], text)


def unixsnoop(acu):
    path = os.path.join(TMP, "needle.sock")

    def meet():
        for name in (path, "\0acu-needle"):
            with socket.socket(socket.AF_UNIX) as there, socket.socket(socket.AF_UNIX) as here:
                there.bind(name)
                there.listen()
                here.connect(name)
        with socket.socket(socket.AF_UNIX) as here:
            here.connect_ex(path)  # nobody listens any more
            here.connect_ex(path + "-missing")
        os.unlink(path)

    text = trace(acu, "unixsnoop.bt", meet)
    found = lines(text, rf"\d\d:\d\d:\d\d {os.getpid()} +python3 +(-?\d+) +(\d+) +(\S+) +(.*)")
    own = str(os.getpid())
    need(found == [("0", own, "python3", path), ("0", own, "python3", "@acu-needle"), ("-111", "0", "-", path), ("-2", "0", "-", path + "-missing")], text)


def neighsnoop(acu):
    """On a pair of devices in a network of its own."""
    text = trace(acu, "neighsnoop.bt", shell("unshare -n sh -c 'ip link add needle0 type veth peer name needle1; ip link set needle0 up; ip addr add 10.9.0.1/24 dev needle0;"
                                             " ip neigh add 10.9.0.5 lladdr 52:54:00:12:34:56 nud reachable dev needle0;"
                                             " ip neigh change 10.9.0.5 lladdr 52:54:00:12:34:99 nud permanent dev needle0;"
                                             " ip -6 neigh add fe80::77 lladdr 52:54:00:12:34:57 nud stale dev needle0'"))
    found = lines(text, r"\d\d:\d\d:\d\d needle0 +(\S+) +(\S+) +(\w+) +(\w+)")
    if not found and not os.path.isdir("/sys/module/veth"):
        return "this kernel has no pairs of network devices (veth)"
    for expected in (("10.9.0.5", "52:54:00:12:34:56", "NONE", "REACHABLE"), ("10.9.0.5", "52:54:00:12:34:99", "REACHABLE", "PERMANENT"),
                     ("fe80::77", "52:54:00:12:34:57", "NONE", "STALE")):
        need(expected in found, f"{expected} is not in\n{text}")


def netlinkerrors(acu):
    text = trace(acu, "netlinkerrors.bt", shell("unshare -n sh -c 'ip route add 10.0.0.0/8 via 1.2.3.4; ip link add x type nosuchtype'"))
    found = lines(text, r"\d\d:\d\d:\d\d \d+ +ip +(.*)")
    need(len(found) == 2 and "gateway" in found[0][0].lower() and "type" in found[1][0].lower(), text)


def listenq(acu):
    with socket.create_server(("127.0.0.1", 0), backlog=3) as there, socket.create_server(("::1", 0), family=socket.AF_INET6, backlog=7) as six:
        clients = [socket.create_connection(there.getsockname()) for _ in range(2)]
        text = listing(acu, "listenq.bt")
        for client in clients:
            client.close()
        need((str(there.getsockname()[1]), "2", "3", "0") in lines(text, r"127\.0\.0\.1 +(\d+) +(\d+) +(\d+) +(\d+)"), text)
        need((str(six.getsockname()[1]), "0", "7", "0") in lines(text, r"::1 +(\d+) +(\d+) +(\d+) +(\d+)"), text)


def sockopts(acu):
    def set_options():
        with socket.socket() as s:
            for _ in range(3):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65432)
            for option, setting in ((socket.TCP_CONGESTION, b"no-such-one"), (9999, 1)):
                try:
                    s.setsockopt(socket.IPPROTO_TCP, option, setting)
                except OSError:
                    pass

    text = trace(acu, "sockopts.bt", set_options, ["--", "--name=python3"])
    need(value(text, "@set[python3, TCP_NODELAY, 1, 0]") == 3 and value(text, "@set[python3, SO_RCVBUF, 65432, 0]") == 1, text)
    need(lines(text, r"@set\[python3, TCP_CONGESTION, \d+, -2\]: 1") and value(text, "@other[python3, 6, 9999, -92]") == 1, text)


TESTS = [sockopts, tcptop, udptop, tcprtt, tcpreset, sockerrors, bindsnoop, unixsnoop, neighsnoop, netlinkerrors, listenq]
