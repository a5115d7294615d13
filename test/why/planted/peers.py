"""Peers that a program cannot reach, for planted.py: peers.py MODE [has|twin|decoy]; see programs.cc. What changes settings of the network does so in a namespace of its own."""
import contextlib
import ctypes
import fcntl
import socket
import struct
import sys
import threading
import time

TCP_SYNCNT, CLONE_NEWNET = 7, 0x40000000


def listener(backlog=128):
    return socket.create_server(("127.0.0.1", 0), backlog=backlog)


def accept_all(server):
    def serve():
        while True:
            server.accept()[0].close()
    threading.Thread(target=serve, daemon=True).start()


def closed_port():
    with listener() as s:
        return s.getsockname()[1]


def connect(port, attempts=None):
    """A connection, or the error, logged."""
    with socket.socket() as s:
        if attempts:
            s.setsockopt(socket.IPPROTO_TCP, TCP_SYNCNT, attempts)
        try:
            s.connect(("127.0.0.1", port))
            s.recv(1)  # until the other side has closed
        except OSError as e:
            print(f"cannot connect to port {port}: {e}", file=sys.stderr, flush=True)


# ---- refused: the queue is down, and its client logs each failure; the twin's is up, the decoy asks for another one now and then

def refused(variant):
    server = listener()
    accept_all(server)
    up, down = server.getsockname()[1], closed_port()
    n = 0
    while True:
        n += 1
        connect(down if variant == "has" or (variant == "decoy" and n % 100 == 0) else up)
        time.sleep(0.01)


# ---- silent: a peer drops what it gets (its listen queue is full, and nobody accepts); the twin's answers

def silent(variant):
    server = listener(0 if variant == "has" else 128)
    port = server.getsockname()[1]
    if variant == "has":
        waiting = [socket.socket() for _ in range(3)]
        for s in waiting:
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", port))
    else:
        accept_all(server)

    def ask():
        while True:
            connect(port, attempts=1)
            if variant != "has":
                time.sleep(0.5)
    for _ in range(4):
        threading.Thread(target=ask, daemon=True).start()
    if variant == "decoy":
        down = closed_port()
        while True:
            time.sleep(2)
            connect(down)
    while True:
        time.sleep(1)


# ---- ports: a new connection for each request uses up the local ports; the twin has enough of them, the decoy keeps its connections

def in_own_network(ports):
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        name = b"lo".ljust(16, b"\0")
        flags = struct.unpack("16sh14x", fcntl.ioctl(s, 0x8913, name + bytes(16)))[1]  # SIOCGIFFLAGS
        fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", name, flags | 1))                # SIOCSIFFLAGS, IFF_UP
    for name, value in (("ip_local_port_range", ports), ("tcp_tw_reuse", "0")):
        with open(f"/proc/sys/net/ipv4/{name}", "w") as f:
            f.write(value)


def ports(variant):
    in_own_network("40000 40199" if variant == "has" else "32768 60999")
    server = listener()
    port = server.getsockname()[1]

    def serve():
        while True:
            connection = server.accept()[0]
            threading.Thread(target=lambda c=connection: (c.recv(1), c.close()), daemon=True).start()
    threading.Thread(target=serve, daemon=True).start()
    kept = []
    while True:
        with contextlib.suppress(OSError):
            s = socket.create_connection(("127.0.0.1", port))
            if variant == "decoy" and len(kept) < 100:
                kept.append(s)
            s.close() if s not in kept else None  # this side first, so it keeps the port in TIME_WAIT
        time.sleep(0.005)


# ---- pieces: each request is written in two pieces, so the second waits until the first is acknowledged; the twin's are sent at once, and so are the decoy's,
# which also writes small pieces that nobody waits for

PIECE = 150


def send_request(s, pieces):
    for piece in pieces:
        s.sendall(piece)
    while s.recv(100) != b"done":
        pass


def answer_all(server):
    s = server.accept()[0]
    while True:
        got = 0
        while got < 2 * PIECE:
            got += len(s.recv(2 * PIECE - got))
        s.sendall(b"done")


def write_pieces():
    sink = listener()
    with socket.create_connection(sink.getsockname()) as s:
        accepted = sink.accept()[0]
        while True:
            s.sendall(b"a line of a log\n")
            accepted.recv(1 << 16)
            time.sleep(0.02)


def pieces(variant):
    server = listener()
    threading.Thread(target=answer_all, args=[server], daemon=True).start()
    if variant == "decoy":
        threading.Thread(target=write_pieces, daemon=True).start()
    with socket.create_connection(server.getsockname()) as s:
        if variant != "has":
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            send_request(s, [b"h" * PIECE, b"b" * PIECE])
            if variant != "has":
                time.sleep(0.01)


MODE, VARIANT = sys.argv[1], (sys.argv[2:] or ["has"])[0]
{"pieces": pieces, "refused": refused, "silent": silent, "ports": ports}[MODE](VARIANT)
