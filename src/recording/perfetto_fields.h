// Numbers of fields in Perfetto's messages, by message: protos/perfetto/trace/ of github.com/google/perfetto. A trace is packets in field 1.
#pragma once

#include <cstdint>

namespace recording::perfetto {

namespace trace {
enum : uint32_t { packet = 1 };
}

namespace packet { // trace_packet.proto: TracePacket
enum : uint32_t {
  ftrace_events = 1,
  process_tree = 2,
  clock_snapshot = 6,
  timestamp = 8,
  sequence = 10, // trusted_packet_sequence_id
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  defaults = 59,
  track_descriptor = 60,
  perf_sample = 66,
};
enum : uint64_t { state_cleared = 1, needs_state = 2 }; // SequenceFlags
} // namespace packet

namespace defaults { // trace_packet_defaults.proto: TracePacketDefaults
enum : uint32_t { perf_sample = 12 };
}
namespace perf_defaults { // profile_packet.proto: PerfSampleDefaults
enum : uint32_t { timebase = 1 };
}
namespace timebase { // common/perf_events.proto: PerfEvents.Timebase, PerfEvents.Counter
enum : uint32_t { counter = 4 };
enum : uint64_t { cpu_clock = 1 };
} // namespace timebase
namespace perf_sample { // profile_packet.proto: PerfSample
enum : uint32_t { cpu = 1, pid = 2, tid = 3, callstack = 4 };
}

namespace snapshot { // clock_snapshot.proto: ClockSnapshot
enum : uint32_t { clocks = 1 };
}
namespace clock { // ClockSnapshot.Clock, common/builtin_clock.proto: BuiltinClock
enum : uint32_t { id = 1, timestamp = 2 };
enum : uint64_t { realtime = 1, monotonic = 3, boottime = 6 };
} // namespace clock

namespace tree { // ps/process_tree.proto: ProcessTree
enum : uint32_t { processes = 1, threads = 2 };
}
namespace tree_process { // ProcessTree.Process
enum : uint32_t { pid = 1, cmdline = 3 };
}
namespace tree_thread { // ProcessTree.Thread
enum : uint32_t { tid = 1, name = 2, tgid = 3 };
}

namespace bundle { // ftrace/ftrace_event_bundle.proto: FtraceEventBundle
enum : uint32_t { cpu = 1, event = 2 };
}
namespace ftrace { // ftrace/ftrace_event.proto: FtraceEvent
enum : uint32_t { timestamp = 1, tid = 2, sched_switch = 4, sched_waking = 20 };
}
namespace sched_switch { // ftrace/sched.proto: SchedSwitchFtraceEvent
enum : uint32_t { prev_comm = 1, prev_tid = 2, prev_state = 4, next_comm = 5, next_tid = 6 };
}
namespace sched_waking { // SchedWakingFtraceEvent
enum : uint32_t { comm = 1, tid = 2 };
}

namespace track { // track_event/track_descriptor.proto: TrackDescriptor
enum : uint32_t { uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8 };
}
namespace process { // process_descriptor.proto: ProcessDescriptor
enum : uint32_t { pid = 1, name = 6 };
}
namespace thread { // thread_descriptor.proto: ThreadDescriptor
enum : uint32_t { pid = 1, tid = 2, name = 5 };
}

namespace event { // track_event/track_event.proto: TrackEvent
enum : uint32_t { category = 3, annotations = 4, type = 9, name_number = 10, track = 11, name = 23, counter_value = 30, callstack = 56 };
enum : uint64_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 }; // Type
} // namespace event
namespace annotation { // track_event/debug_annotation.proto: DebugAnnotation
enum : uint32_t { name_number = 1, number = 3, signed_number = 4, text = 6, pointer = 7 };
}

// What is written once and referred to by number, from 1 on for each kind of thing.
namespace interned { // interned_data/interned_data.proto: InternedData
enum : uint32_t { categories = 1, event_names = 2, annotation_names = 3, function_names = 5, frames = 6, callstacks = 7, mapping_paths = 17, mappings = 19 };
}
namespace interned_text { // EventCategory, EventName, DebugAnnotationName; profiling/profile_common.proto: InternedString
enum : uint32_t { number = 1, text = 2 };
}
namespace mapping { // profile_common.proto: Mapping
enum : uint32_t { number = 1, path = 7 };
}
namespace frame { // profile_common.proto: Frame
enum : uint32_t { number = 1, function = 2, mapping = 3, offset = 4 };
}
namespace callstack { // profile_common.proto: Callstack
enum : uint32_t { number = 1, frames = 2 };
}

} // namespace recording::perfetto
