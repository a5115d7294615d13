"""The protocol of acu agent in Python (docs/fleet.md): batches, and requests."""
import http.client
import json
import os
import struct
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from leb128 import get, put

MAGIC = b"acb1"
PROTOCOL = "fleet/1"


def read_head(data):
    """Slot, samples, plain size, and where the compressed bytes begin."""
    assert data[:4] == MAGIC, data[:4]
    slot, at = get(data, 4)
    samples, at = get(data, at)
    size, at = get(data, at)
    return slot, samples, size, at


def of_slot(data, slot):
    """The same batch at another time."""
    _, samples, size, at = read_head(data)
    return MAGIC + put(slot) + put(samples) + put(size) + data[at:]


def stored_zstd(data):
    """A frame of raw blocks (RFC 8878, sections 3.1.1 and 3.1.1.2)."""
    out = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", len(data))
    pieces = [data[i:i + 65536] for i in range(0, len(data), 65536)] or [b""]
    return out + b"".join(struct.pack("<I", (i == len(pieces) - 1) | len(piece) << 3)[:3] + piece for i, piece in enumerate(pieces))


def made(slot, source, seconds, points=(), samples=()):
    """A batch. `points`: service (empty: the host), metric, value. `samples`: service, names of frames (the outermost first), weight, count."""
    texts, services, frames, stacks = [""], [], [], []

    def place(rows, row):
        if row not in rows:
            rows.append(row)
        return rows.index(row)

    def entries(rows):
        return put(len(rows)) + b"".join(rows)

    name, kind = place(texts, source), source
    sample_rows = []
    for service, stack, weight, count in samples:
        numbers = [place(frames, place(texts, frame)) for frame in stack]
        row = [place(texts, kind), place(services, place(texts, service)), 0, place(stacks, numbers), weight, count]
        sample_rows.append(b"".join(put(n) for n in row))
    point_rows = [put(place(services, place(texts, service))) + put(place(texts, metric)) + struct.pack("<d", value) for service, metric, value in points]
    plain = entries([put(len(t.encode())) + t.encode() for t in texts]) + put(name) + put(int(seconds * 1e9))
    plain += entries([put(s) + put(0) for s in services]) + entries([put(f) + put(0) + put(0) + put(1) for f in frames])
    plain += entries([entries([put(f) for f in s]) for s in stacks]) + entries([put(1) + put(0) + put(0)]) + entries(sample_rows) + entries(point_rows)
    return MAGIC + put(slot) + put(sum(s[3] for s in samples)) + put(len(plain)) + stored_zstd(plain)


def body_of(batches):
    """`batches`: pairs of a number and the bytes."""
    return b"".join(put(number) + put(len(data)) + data for number, data in batches)


def headers_of(token, spool, now, retry=False, dropped=0, dropped_samples=0):
    return {"Authorization": "Bearer " + token, "acu-protocol": PROTOCOL, "acu-spool": f"{spool:016x}", "acu-time": str(int(now)), "acu-dropped": str(dropped), "acu-dropped-samples": str(dropped_samples),
            "acu-retry": "1" if retry else "0"}


def post(port, body, headers, seconds=120):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("POST", "/fleet/v1/batches", body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        return answer.status, json.loads(text) if text.startswith("{") else text
    finally:
        connection.close()
