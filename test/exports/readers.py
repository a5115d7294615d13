"""Exported traces, read by other programs: babeltrace2, Google's protocol buffers, Python's json.

Each reader returns the same thing: a list of events (kind, time, tid, begin), in ns of the recording's clock. `begin` is the time for what has no duration.
"""
import collections
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
Event = collections.namedtuple("Event", "kind time tid begin")
LINE = re.compile(r"\[(\d+)\] \(\S+\) (?:\S+ )?(\w+): \{ cpu_id = (\d+) \}, \{ pid = \d+, tid = (\d+), thread = \"[^\"]*\" \}, \{ ?(.*)\}$")


class Unreadable(Exception):
    """What a trace has that its reader does not expect."""


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
        time, kind, cpu, tid, fields = found.groups()
        duration = re.match(r"duration = (\d+)", fields)
        time = int(time)
        events.append(Event(kind, time, int(tid), time - int(duration.group(1)) if duration else time))
        by_cpu[int(cpu)].append(time)
    return events, [int(n) for n in re.findall(r"discarded (\d+) events?", done.stderr)], by_cpu


def perfetto_messages():
    folder = tempfile.mkdtemp(prefix="acu-exports-proto-")
    subprocess.run(["protoc", "-I", HERE, "--python_out", folder, "perfetto_trace.proto"], check=True)
    sys.path.insert(0, folder)
    return importlib.import_module("perfetto_trace_pb2")


class Perfetto:
    """A trace as Perfetto's trace processor takes it: packets by time, those of the same time as they come; a stack of open slices for each track."""

    def __init__(self, path):
        trace = perfetto_messages().Trace()
        trace.ParseFromString(open(path, "rb").read())
        size = trace.ByteSize()
        trace.DiscardUnknownFields()
        if size != trace.ByteSize():
            raise Unreadable("fields that Perfetto's messages do not have")
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
