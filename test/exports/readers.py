"""Exported traces, read by other programs: babeltrace2, Google's protocol buffers, Python's json.

Each reader returns the same thing: a list of events (kind, time, tid, begin), in ns of the recording's clock. `begin` is the time for what has no duration.
"""
import collections
import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import leb128
from tally import Skipped

DEBIAN_PYTHON = "/usr/bin/python3"
Event = collections.namedtuple("Event", "kind time tid begin")
LINE = re.compile(r"\[(\d+)\] \(\S+\) (?:\S+ )?(\w+): \{ cpu_id = (\d+) \}, \{ pid = \d+, tid = (\d+), thread = \"[^\"]*\" \}, \{ ?(.*)\}$")


class Unreadable(Exception):
    """What a trace has that its reader does not expect."""


def fields(data):
    """The fields of a protocol buffers' message: (number, value); values are numbers or bytes."""
    at = 0
    while at < len(data):
        key, at = leb128.get(data, at)
        if key & 7 == 0:
            value, at = leb128.get(data, at)
            yield key >> 3, value
            continue
        if key & 7 == 2:
            size, at = leb128.get(data, at)
        else:
            size = 8 if key & 7 == 1 else 4
        at += size
        yield key >> 3, data[at - size:at]


def read_ctf(folder):
    """(events, the numbers of events that babeltrace2 reports as discarded, times per CPU)"""
    done = subprocess.run(["babeltrace2", "--clock-cycles", folder], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise Unreadable(done.stderr)
    events, by_cpu = [], collections.defaultdict(list)
    for line in done.stdout.splitlines():
        found = LINE.match(line)
        if not found:
            raise Unreadable("babeltrace2: " + line)
        time, kind, cpu, tid, arguments = found.groups()
        duration = re.match(r"duration = (\d+)", arguments)
        time = int(time)
        events.append(Event(kind, time, int(tid), time - int(duration.group(1)) if duration else time))
        by_cpu[int(cpu)].append(time)
    return events, [int(n) for n in re.findall(r"discarded (\d+) events?", done.stderr)], by_cpu


def needs(program, package):
    if not shutil.which(program):
        raise Skipped(f"{program} is not installed ({package})")


def has_protobuf():
    return importlib.util.find_spec("google") is not None and importlib.util.find_spec("google.protobuf") is not None


def needs_protobuf():
    needs("protoc", "protobuf-compiler")
    if not has_protobuf():
        raise Skipped("Python's google.protobuf is not installed (python3-protobuf)")


def use_python_with_protobuf():
    """Debian's package is for Debian's Python: goes on in that one, if this one has none."""
    if not has_protobuf() and sys.executable != DEBIAN_PYTHON and os.path.exists(DEBIAN_PYTHON):
        os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])


def messages_of(proto, folder_of_proto=HERE):
    """The messages of a .proto, compiled."""
    with tempfile.TemporaryDirectory(prefix="acu-exports-proto-") as folder:
        subprocess.run(["protoc", "-I", folder_of_proto, "--python_out", folder, proto + ".proto"], check=True)
        sys.path.insert(0, folder)
        try:
            return importlib.import_module(proto + "_pb2")
        finally:
            sys.path.remove(folder)


def read_whole(message, path):
    """Failure: fields that the .proto does not have."""
    message.ParseFromString(open(path, "rb").read())
    size = message.ByteSize()
    message.DiscardUnknownFields()
    if size != message.ByteSize():
        raise Unreadable("fields that the messages do not have")
    return message


def read_otlp(path):
    """Of OpenTelemetry's profiles: a list of (resource attributes, type, unit, {stack: sum}), and the types of frames by name."""
    request = read_whole(messages_of("otlp").Request(), path)
    d = request.dictionary
    for name in ("mappings", "locations", "functions", "links", "attributes", "stacks"):
        if getattr(d, name)[0].ByteSize():
            raise Unreadable(f"{name}: the first one is not empty")
    if d.texts[0]:
        raise Unreadable("texts: the first one is not empty")
    plain = lambda value: value.text if value.WhichOneof("value") == "text" else value.number
    attributes = lambda numbers: {d.texts[d.attributes[n].key]: plain(d.attributes[n].value) for n in numbers}
    profiles = []
    for resource in request.resource_profiles:
        about = {a.key: plain(a.value) for a in resource.resource.attributes}
        for profile in (p for s in resource.scope_profiles for p in s.profiles):
            sums = collections.Counter()
            for s in profile.samples:
                frames = [d.texts[d.functions[line.function].name] for l in d.stacks[s.stack].locations for line in d.locations[l].lines]
                sums[";".join(reversed(frames))] += s.values[0]
            profiles.append((about, d.texts[profile.sample_type.type], d.texts[profile.sample_type.unit], dict(sums)))
    types = {d.texts[d.functions[l.lines[0].function].name]: attributes(l.attributes).get("profile.frame.type") for l in d.locations[1:]}
    return profiles, types


class Perfetto:
    """A trace as Perfetto's trace processor takes it: packets by time, those of the same time as they come; a stack of open slices for each track."""

    def __init__(self, path):
        trace = read_whole(messages_of("perfetto_trace").Trace(), path)
        self.events, self.switches, self.counters, self.stacks, self.tracks = [], collections.defaultdict(list), [], collections.Counter(), {}
        self.states = collections.Counter()
        self.names, self.clocks, self.track_events = collections.defaultdict(dict), {}, []
        for packet in trace.packet:
            self.take(packet)
        self.close_slices()

    def take(self, packet):
        for field in ("event_categories", "event_names", "debug_annotation_names", "function_names", "mapping_paths", "mappings", "frames", "callstacks"):
            for one in getattr(packet.interned_data, field):
                if one.iid in self.names[field]:
                    raise Unreadable(f"{field}: {one.iid} is there twice")
                self.names[field][one.iid] = one
        what = packet.WhichOneof("data")
        if what == "clock_snapshot":
            self.clocks = {c.clock_id: c.timestamp for c in packet.clock_snapshot.clocks}
        elif what == "track_descriptor":
            self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        elif what == "ftrace_events":
            self.take_kernel(packet.ftrace_events)
        elif what == "perf_sample":
            sample = packet.perf_sample
            self.events.append(Event("cpu_sample", packet.timestamp, sample.tid, packet.timestamp))
            self.stacks[self.stack_text(sample.callstack_iid)] += 1
        elif what == "track_event":
            self.track_events.append((packet.timestamp, packet.track_event))
            # All that is referred to was written before.
            for iid, field in [(packet.track_event.name_iid, "event_names"), (packet.track_event.callstack_iid, "callstacks")]:
                if iid and iid not in self.names[field]:
                    raise Unreadable(f"{field}: there is no {iid}")

    def take_kernel(self, bundle):
        for event in bundle.event:
            kind = {"sched_switch": "sched_switch", "sched_waking": "sched_wakeup"}[event.WhichOneof("event")]
            self.events.append(Event(kind, event.timestamp, event.pid, event.timestamp))
            if kind == "sched_switch":
                self.states[event.sched_switch.prev_state] += 1
                self.switches[bundle.cpu].append((event.timestamp, event.sched_switch.prev_pid, event.sched_switch.next_pid))

    def stack_text(self, iid):
        if not iid:
            return ""
        frames = [self.names["frames"][f] for f in self.names["callstacks"][iid].frame_ids]
        if any(f.mapping_id not in self.names["mappings"] for f in frames):
            raise Unreadable("a frame without a mapping")
        return ";".join(self.names["function_names"][f.function_name_id].str.decode() for f in frames)

    def thread_of(self, uuid):
        """Of a track, or of the one that it is below."""
        track = self.tracks[uuid]
        while not track.HasField("thread") and track.parent_uuid:
            track = self.tracks[track.parent_uuid]
        return track.thread.tid

    def close_slices(self):
        open_slices = collections.defaultdict(list)
        for time, event in sorted(self.track_events, key=lambda e: e[0]):
            track = event.track_uuid
            if event.type == event.TYPE_SLICE_BEGIN:
                open_slices[track].append((time, event))
            elif event.type == event.TYPE_SLICE_END:
                begin, first = open_slices[track].pop()
                self.events.append(Event(self.kind_of(first), time, self.thread_of(track), begin))
            elif event.type == event.TYPE_COUNTER:
                self.counters.append((self.tracks[track].name, time, event.counter_value))
                self.events.append(Event("counter", time, None, time))
            else:
                self.events.append(Event(self.kind_of(event), time, self.thread_of(track), time))
        if any(open_slices.values()):
            raise Unreadable("a slice without an end")

    def kind_of(self, event):
        return self.names["event_categories"][event.category_iids[0]].name


def read_chrome(path):
    """(events, slices of CPUs, samples, frames)"""
    trace = json.load(open(path))
    events, running, open_pairs = [], [], {}
    ns = lambda us: round(us * 1000)
    for e in trace["traceEvents"]:
        if e["ph"] == "M":
            continue
        if e["ph"] == "b":
            open_pairs[e["id"]] = ns(e["ts"])
        elif e["ph"] == "e":
            events.append(Event(e["cat"], ns(e["ts"]), e["tid"], open_pairs.pop(e["id"])))
        elif e["cat"] == "running":
            running.append((e["tid"], ns(e["ts"]), ns(e["dur"]), e["args"]["tid"]))
        elif e["ph"] == "X":
            events.append(Event(e["cat"], ns(e["ts"] + e["dur"]), e["tid"], ns(e["ts"])))
        else:
            events.append(Event(e["cat"], ns(e["ts"]), None if e["ph"] == "C" else e["tid"], ns(e["ts"])))
    if open_pairs:
        raise Unreadable("a pair without its end")
    events += [Event("cpu_sample", ns(s["ts"]), s["tid"], ns(s["ts"])) for s in trace["samples"]]
    return events, running, trace["samples"], trace["stackFrames"]
