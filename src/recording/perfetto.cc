// Perfetto's trace. Switches and wakeups are written as the kernel's own events, from which Perfetto derives its tracks of CPUs and the states of threads; samples as those of its own
// profiler; everything else as events on tracks. Packets come in the order in which events end, with one bundle of kernel events for each CPU in memory; the reader sorts them by time,
// those of the same time in the order of the file. Names are interned, so that an event takes about 50 bytes.
//
// Times are of CLOCK_MONOTONIC, written as if BOOTTIME were the same clock: Perfetto's events of the kernel have no other. They differ by the time that the host was suspended.
#include "base/protobuf.h"
#include "recording/described.h"
#include "recording/export_file.h"
#include "recording/exports.h"
#include "recording/perfetto_fields.h"
#include "recording/perfetto_names.h"

#include <bit>
#include <map>
#include <unordered_set>

namespace recording {

using namespace perfetto;
using base::ProtoWriter;

namespace {

constexpr uint64_t main_sequence = 1, kernel_sequence = 2;
constexpr size_t max_bundle = 64 << 10; // bytes

// Tracks have 64-bit identifiers: what they are of, and its number.
enum class TrackOf : uint8_t { process = 1, thread, counter, marks, idle, lane };
uint64_t track_id(TrackOf of, uint64_t number) { return uint64_t{static_cast<uint8_t>(of)} << 56 | number; }

// As the kernel's tracepoint reports it, and readers expect it: one bit of those that may be set together (linux/sched.h: TASK_REPORT).
uint64_t reported_state(uint64_t state) {
  constexpr uint64_t uninterruptible = 2, exit_dead = 0x10, reported = 0x7f, dead = 0x80, idle = 0x402, report_idle = 0x80;
  if ((state & idle) == idle) return report_idle;
  if (state & dead) return exit_dead;
  // A killable sleep is an uninterruptible one; so are states that are not reported, such as frozen.
  return state && !(state & reported) ? uninterruptible : std::bit_floor(state & reported);
}

class Perfetto {
public:
  Perfetto(const Reader& reader, ExportFile& file) : reader_(reader), names_(reader.names()), file_(file), interned_(reader.names(), reader.kinds()) {}

  base::Status write(const Part& part) {
    ACU_CHECK(start());
    ACU_CHECK(processes());
    ACU_CHECK(each_in_order(reader_, part, [&](const Event& e) { return take(e); }));
    for (auto& [cpu, bundle] : bundles_) ACU_CHECK(flush(cpu, bundle));
    return {};
  }

private:
  struct Lane {
    uint64_t track, free_from;
  };

  base::Status packet(const ProtoWriter& m) {
    ProtoWriter out;
    out.bytes(trace::packet, m.text());
    return file_.add(out.text());
  }

  // A packet of the main sequence, with the names that it is the first to refer to.
  base::Status packet(uint64_t time, uint32_t field, const ProtoWriter& inner) {
    ProtoWriter m;
    m.number(packet::timestamp, time);
    m.number(packet::sequence, main_sequence);
    m.number(packet::sequence_flags, packet::needs_state);
    if (const std::string names = interned_.take_new(); !names.empty()) m.bytes(packet::interned_data, names);
    m.bytes(field, inner.text());
    return packet(m);
  }

  base::Status start() {
    const About& about = reader_.about();
    ProtoWriter clocks;
    for (const auto& [id, time] : {std::pair(clock::realtime, about.begin_wall_ns), {clock::monotonic, about.begin_ns}, {clock::boottime, about.begin_ns}}) {
      ProtoWriter c;
      c.number(clock::id, id);
      c.number(clock::timestamp, time);
      clocks.bytes(snapshot::clocks, c.text());
    }
    ProtoWriter base, perf, all;
    base.number(timebase::counter, timebase::cpu_clock);
    perf.bytes(perf_defaults::timebase, base.text());
    all.bytes(defaults::perf_sample, perf.text());
    ProtoWriter m;
    m.number(packet::timestamp, about.begin_ns);
    m.number(packet::sequence, main_sequence);
    m.number(packet::sequence_flags, packet::state_cleared);
    m.bytes(packet::defaults, all.text());
    m.bytes(packet::clock_snapshot, clocks.text());
    return packet(m);
  }

  // A thread that changed its name is there several times; the last name counts.
  base::Status processes() {
    std::map<uint32_t, uint32_t> by_pid, by_tid; // threads
    for (uint32_t i = 1; i < names_.threads.size(); i++) by_pid[names_.threads[i].pid] = by_tid[names_.threads[i].tid] = i;
    by_pid.erase(0), by_tid.erase(0);
    ProtoWriter all;
    for (const auto& [pid, thread] : by_pid) {
      ProtoWriter m;
      m.number(tree_process::pid, pid);
      m.bytes(tree_process::cmdline, names_.texts[names_.threads[thread].process]);
      all.bytes(tree::processes, m.text());
    }
    for (const auto& [tid, thread] : by_tid) {
      ProtoWriter m;
      m.number(tree_thread::tid, tid);
      m.bytes(tree_thread::name, thread_name(names_, thread));
      m.number(tree_thread::tgid, names_.threads[thread].pid);
      all.bytes(tree::threads, m.text());
    }
    ProtoWriter m;
    m.number(packet::timestamp, reader_.about().begin_ns);
    m.number(packet::sequence, kernel_sequence);
    m.bytes(packet::process_tree, all.text());
    return packet(m);
  }

  base::Status take(const Event& e) {
    const EventKind& kind = reader_.kinds()[e.kind];
    switch (kind.meaning) {
    case Meaning::sched: return sched(e, kind);
    case Meaning::wakeup: return wakeup(e);
    case Meaning::sample: return sample(e);
    case Meaning::counter: return counter(e);
    case Meaning::interval: return interval(e, kind);
    case Meaning::mark:
    case Meaning::none: break;
    }
    ACU_TRY(const uint64_t track, kind.meaning == Meaning::mark ? marks() : thread_track(e.thread));
    return on_track(e.time, track, event::instant, &e);
  }

  base::Status sched(const Event& e, const EventKind& kind) {
    ProtoWriter m;
    m.bytes(sched_switch::prev_comm, thread_name(names_, e.thread));
    m.number_or_zero(sched_switch::prev_tid, names_.threads[e.thread].tid);
    m.number_or_zero(sched_switch::prev_state, kind.fields.size() > 1 && kind.fields[1].type == FieldType::number ? reported_state(e.values[1]) : 0);
    m.bytes(sched_switch::next_comm, thread_name(names_, e.values[0]));
    m.number_or_zero(sched_switch::next_tid, names_.threads[e.values[0]].tid);
    return of_kernel(e, ftrace::sched_switch, m);
  }

  base::Status wakeup(const Event& e) {
    ProtoWriter m;
    m.bytes(sched_waking::comm, thread_name(names_, e.values[0]));
    m.number(sched_waking::tid, names_.threads[e.values[0]].tid);
    return of_kernel(e, ftrace::sched_waking, m);
  }

  base::Status of_kernel(const Event& e, uint32_t field, const ProtoWriter& inner) {
    ProtoWriter m;
    m.number(ftrace::timestamp, e.time);
    m.number_or_zero(ftrace::tid, names_.threads[e.thread].tid);
    m.bytes(field, inner.text());
    ProtoWriter& bundle = bundles_[e.cpu];
    bundle.bytes(bundle::event, m.text());
    return bundle.text().size() < max_bundle ? base::Status() : flush(e.cpu, bundle);
  }

  base::Status flush(uint32_t cpu, ProtoWriter& bundle) {
    bundle.number_or_zero(bundle::cpu, cpu);
    ProtoWriter m;
    m.number(packet::sequence, kernel_sequence);
    m.bytes(packet::ftrace_events, bundle.text());
    bundle = {};
    return packet(m);
  }

  base::Status sample(const Event& e) {
    ProtoWriter m;
    m.number_or_zero(perf_sample::cpu, e.cpu);
    m.number(perf_sample::pid, names_.threads[e.thread].pid);
    m.number(perf_sample::tid, names_.threads[e.thread].tid);
    m.number(perf_sample::callstack, interned_.callstack(e.values[0]));
    return packet(e.time, packet::perf_sample, m);
  }

  base::Status counter(const Event& e) {
    const uint64_t id = track_id(TrackOf::counter, e.values[0]);
    if (tracks_.insert(id).second) {
      ProtoWriter m;
      m.number(track::uuid, id);
      m.bytes(track::name, names_.texts[e.values[0]]);
      m.bytes(track::counter, "");
      ACU_CHECK(packet(e.time, packet::track_descriptor, m));
    }
    ProtoWriter m;
    m.number(event::type, event::counter);
    m.number(event::track, id);
    m.number_or_zero(event::counter_value, e.values[1]);
    return packet(e.time, packet::track_event, m);
  }

  base::Status interval(const Event& e, const EventKind& kind) {
    const uint64_t begin = begin_of(e, kind);
    ACU_TRY(uint64_t track, thread_track(e.thread));
    if (!is_nested(kind)) {
      ACU_TRY(track, lane(e, kind, track, begin));
    }
    ACU_CHECK(on_track(begin, track, event::slice_begin, &e));
    return on_track(e.time, track, event::slice_end, nullptr);
  }

  // Slices of one track may only nest. What may overlap gets tracks below the thread's, the first one that is free; tracks of one name are drawn together.
  base::Result<uint64_t> lane(const Event& e, const EventKind& kind, uint64_t parent, uint64_t begin) {
    auto& lanes = lanes_[{parent, e.kind}];
    for (Lane& l : lanes) {
      if (l.free_from > begin) continue;
      l.free_from = e.time;
      return l.track;
    }
    lanes.push_back({.track = track_id(TrackOf::lane, ++lane_count_), .free_from = e.time});
    ACU_CHECK(describe(lanes.back().track, kind.name, parent));
    return lanes.back().track;
  }

  base::Status describe(uint64_t id, std::string_view name, uint64_t parent = 0) {
    ProtoWriter m;
    m.number(track::uuid, id);
    m.number(track::parent, parent);
    m.bytes(track::name, name);
    return packet(reader_.about().begin_ns, packet::track_descriptor, m);
  }

  base::Result<uint64_t> marks() {
    const uint64_t id = track_id(TrackOf::marks, 0);
    if (tracks_.insert(id).second) ACU_CHECK(describe(id, "marks"));
    return id;
  }

  // The idle thread of each CPU has the same number: its events are on one track of no thread.
  base::Result<uint64_t> thread_track(uint32_t thread) {
    const Thread& t = names_.threads[thread];
    const uint64_t id = track_id(t.tid ? TrackOf::thread : TrackOf::idle, t.tid);
    if (!tracks_.insert(id).second) return id;
    if (!t.tid) {
      ACU_CHECK(describe(id, "idle"));
      return id;
    }
    const uint64_t process_id = track_id(TrackOf::process, t.pid);
    if (tracks_.insert(process_id).second) {
      ProtoWriter inner, m;
      inner.number(process::pid, t.pid);
      inner.bytes(process::name, names_.texts[t.process]);
      m.number(track::uuid, process_id);
      m.bytes(track::process, inner.text());
      ACU_CHECK(packet(reader_.about().begin_ns, packet::track_descriptor, m));
    }
    ProtoWriter inner, m;
    inner.number(thread::pid, t.pid);
    inner.number(thread::tid, t.tid);
    inner.bytes(thread::name, thread_name(names_, thread));
    m.number(track::uuid, id);
    m.number(track::parent, process_id);
    m.bytes(track::thread, inner.text());
    ACU_CHECK(packet(reader_.about().begin_ns, packet::track_descriptor, m));
    return id;
  }

  // `e`: with its name and values.
  base::Status on_track(uint64_t time, uint64_t track, uint64_t type, const Event* e) {
    ProtoWriter m;
    m.number(event::type, type);
    m.number(event::track, track);
    if (e) describe_event(*e, m);
    return packet(time, packet::track_event, m);
  }

  void describe_event(const Event& e, ProtoWriter& to) {
    const EventKind& kind = reader_.kinds()[e.kind];
    to.number(event::category, interned_.category(e.kind));
    size_t texts = 0;
    uint32_t only_text = 0;
    for (size_t i = 0; i < kind.fields.size(); i++)
      if (kind.fields[i].type == FieldType::text) texts++, only_text = static_cast<uint32_t>(e.values[i]);
    if (texts > 1) to.bytes(event::name, title_of(e, kind, names_));
    else to.number(event::name_number, only_text ? interned_.event_name(only_text) : interned_.event_name_of_kind(e.kind));
    for (size_t i = 0; i < kind.fields.size(); i++) {
      const FieldType type = kind.fields[i].type;
      const bool is_shown_already = (i == 0 && kind.meaning == Meaning::interval) || (type == FieldType::text && texts == 1);
      if (type == FieldType::stack) to.number(event::callstack, interned_.callstack(e.values[i]));
      else if (!is_shown_already) annotate(e.kind, i, e.values[i], to);
    }
  }

  void annotate(uint32_t kind, size_t field, uint64_t value, ProtoWriter& to) {
    ProtoWriter m;
    m.number(annotation::name_number, interned_.field_name(kind, field));
    switch (reader_.kinds()[kind].fields[field].type) {
    case FieldType::number:
    case FieldType::duration: m.number_or_zero(annotation::number, value); break;
    case FieldType::signed_number: m.number_or_zero(annotation::signed_number, value); break;
    case FieldType::address: m.number_or_zero(annotation::pointer, value); break;
    case FieldType::text: m.bytes(annotation::text, names_.texts[value]); break;
    case FieldType::thread: m.bytes(annotation::text, thread_text(names_, value)); break;
    case FieldType::stack: return; // as the event's callstack
    }
    to.bytes(event::annotations, m.text());
  }

  const Reader& reader_;
  const Names& names_;
  ExportFile& file_;
  PerfettoNames interned_;
  std::map<uint32_t, ProtoWriter> bundles_;                          // by CPU
  std::unordered_set<uint64_t> tracks_;                               // described
  std::map<std::pair<uint64_t, uint32_t>, std::vector<Lane>> lanes_; // by thread's track and kind
  uint64_t lane_count_ = 0;
};

} // namespace

base::Status write_perfetto(const Reader& reader, const Part& part, const std::string& path) {
  ACU_TRY(ExportFile file, ExportFile::create(path));
  ACU_CHECK(Perfetto(reader, file).write(part));
  return file.finish();
}

} // namespace recording
