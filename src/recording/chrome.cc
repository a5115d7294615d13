// Trace Event Format: JSON with one event a line. Calls that nest are complete events of their threads (X); other intervals, which may overlap, are pairs (b, e) with an id; who ran on
// which CPU are complete events of a process "CPUs", from one switch of a CPU to its next one. Samples are in a list of their own behind the events, stacks between the two: each a
// frame with its caller, as in a recording. Times are microseconds with three decimals.
#include "recording/described.h"
#include "recording/export_file.h"
#include "recording/exports.h"
#include "report/json.h"
#include "spec/frame_kinds.h"

#include <algorithm>
#include <map>
#include <utility>

namespace recording {

namespace {

std::string microseconds(uint64_t ns) {
  std::string fraction = std::to_string(ns % 1000);
  return std::to_string(ns / 1000) + "." + std::string(3 - fraction.size(), '0') + fraction;
}

std::string json(std::string_view text) {
  std::string out;
  report::append_json(out, text);
  return out;
}

class Chrome {
public:
  Chrome(const Reader& reader, ExportFile& file) : reader_(reader), names_(reader.names()), file_(file) {}

  base::Status write(const Part& part) {
    ACU_CHECK(file_.add("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"tid\":0,\"args\":{\"name\":\"CPUs\"}}"));
    ACU_CHECK(threads());
    ACU_CHECK(each_in_order(reader_, part, [&](const Event& e) { return reader_.kinds()[e.kind].meaning == Meaning::sample ? base::Status() : take(e); }));
    ACU_CHECK(file_.add("\n],\"stackFrames\":{"));
    ACU_CHECK(stacks());
    ACU_CHECK(file_.add("\n},\"samples\":["));
    ACU_CHECK(samples(part));
    const About& about = reader_.about();
    return file_.add("\n],\"metadata\":{\"tool\":\"acu\",\"version\":" + json(about.version) + ",\"host\":" + json(about.host) + ",\"recorded\":" + json(about.what) + "}}\n");
  }

private:
  struct Running {
    uint64_t since;
    uint64_t thread;
  };

  base::Status threads() {
    std::map<uint32_t, uint32_t> processes, threads; // the last name counts
    for (uint32_t i = 1; i < names_.threads.size(); i++) processes[names_.threads[i].pid] = threads[names_.threads[i].tid] = i;
    for (const auto& [pid, thread] : processes) ACU_CHECK(metadata("process_name", pid, pid, names_.texts[names_.threads[thread].process]));
    for (const auto& [tid, thread] : threads) ACU_CHECK(metadata("thread_name", names_.threads[thread].pid, tid, thread_name(names_, thread)));
    return {};
  }

  base::Status metadata(const char* what, uint32_t pid, uint32_t tid, std::string_view name) {
    return file_.add(",\n{\"ph\":\"M\",\"name\":\"" + std::string(what) + "\",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid) + ",\"args\":{\"name\":" + json(name) +
                     "}}");
  }

  // The end of an event's line: `more` are its own members, such as `,"dur":1`.
  static std::string line(const char* phase, std::string_view name, std::string_view category, uint64_t time, uint64_t pid, uint64_t tid, std::string_view more) {
    std::string out = ",\n{\"ph\":\"";
    out.append(phase).append("\",\"name\":").append(json(name)).append(",\"cat\":").append(json(category)).append(",\"ts\":").append(microseconds(time));
    return out.append(",\"pid\":").append(std::to_string(pid)).append(",\"tid\":").append(std::to_string(tid)).append(more).append("}");
  }

  std::string line(const char* phase, const Event& e, uint64_t time, std::string_view more) const {
    const EventKind& kind = reader_.kinds()[e.kind];
    const Thread& t = names_.threads[e.thread];
    return line(phase, title_of(e, kind, names_), kind.name, time, t.pid, t.tid, more);
  }

  base::Status take(const Event& e) {
    const EventKind& kind = reader_.kinds()[e.kind];
    switch (kind.meaning) {
    case Meaning::sched: return sched(e);
    case Meaning::interval: return interval(e, kind);
    case Meaning::counter: {
      const std::string value = std::to_string(static_cast<int64_t>(e.values[1]));
      return file_.add(line("C", names_.texts[e.values[0]], kind.name, e.time, 0, 0, ",\"args\":{\"value\":" + value + "}"));
    }
    case Meaning::mark: return file_.add(line("i", e, e.time, ",\"s\":\"g\"" + arguments(e, kind)));
    case Meaning::wakeup:
    case Meaning::sample:
    case Meaning::none: break;
    }
    return file_.add(line("i", e, e.time, ",\"s\":\"t\"" + arguments(e, kind)));
  }

  // What ran until now is known from the CPU's switch before.
  base::Status sched(const Event& e) {
    const auto before = running_.find(e.cpu);
    std::string out;
    if (before != running_.end() && before->second.thread) {
      const auto [since, thread] = before->second;
      out = line("X", thread_text(names_, thread), "running", since, 0, e.cpu,
                 ",\"dur\":" + microseconds(e.time - since) + ",\"args\":{\"pid\":" + std::to_string(names_.threads[thread].pid) +
                     ",\"tid\":" + std::to_string(names_.threads[thread].tid) + "}");
    }
    running_[e.cpu] = {.since = e.time, .thread = e.values[0]};
    return file_.add(out);
  }

  base::Status interval(const Event& e, const EventKind& kind) {
    const uint64_t begin = begin_of(e, kind);
    if (is_nested(kind)) return file_.add(line("X", e, begin, ",\"dur\":" + microseconds(e.time - begin) + arguments(e, kind)));
    const std::string id = ",\"id\":" + std::to_string(++last_id_);
    return file_.add(line("b", e, begin, id + arguments(e, kind)) + line("e", e, e.time, id));
  }

  std::string arguments(const Event& e, const EventKind& kind) const {
    std::string args, stack;
    for (size_t i = kind.meaning == Meaning::interval ? 1 : 0; i < kind.fields.size(); i++) {
      const FieldType type = kind.fields[i].type;
      if (type == FieldType::stack) {
        if (e.values[i]) stack = ",\"sf\":" + std::to_string(e.values[i]);
        continue;
      }
      args.append(args.empty() ? "" : ",").append(json(kind.fields[i].name)).append(":").append(value(type, e.values[i]));
    }
    return ",\"args\":{" + args + "}" + stack;
  }

  std::string value(FieldType type, uint64_t value) const {
    std::string out;
    switch (type) {
    case FieldType::text: report::append_json(out, names_.texts[value]); break;
    case FieldType::thread: report::append_json(out, thread_text(names_, value)); break;
    case FieldType::signed_number: report::append_json(out, report::Number{value, true}); break;
    default: report::append_json(out, report::Number{value, false}); break;
    }
    return out;
  }

  base::Status stacks() {
    for (size_t i = 1; i < names_.stacks.size(); i++) {
      const Stack& s = names_.stacks[i];
      const Frame& f = names_.frames[s.frame];
      const std::string_view module = f.module ? std::string_view(names_.texts[f.module]) : spec::frame_kinds[static_cast<size_t>(f.kind)].name;
      std::string out = std::string(i > 1 ? "," : "") + "\n\"" + std::to_string(i) + "\":{\"category\":" + json(module) + ",\"name\":" + json(names_.texts[f.name]);
      if (s.caller) out += ",\"parent\":" + std::to_string(s.caller);
      ACU_CHECK(file_.add(out + "}"));
    }
    return {};
  }

  // The time that a sample stands for, or 1.
  uint64_t weight(const Event& e) const {
    const std::vector<Field>& fields = reader_.kinds()[e.kind].fields;
    return fields.size() > 1 && fields[1].type == FieldType::duration ? e.values[1] : 1;
  }

  base::Status samples(Part part) {
    std::vector<uint32_t> kinds;
    for (uint32_t i = 0; i < reader_.kinds().size(); i++) {
      const bool is_wanted = part.kinds.empty() || std::find(part.kinds.begin(), part.kinds.end(), i) != part.kinds.end();
      if (is_wanted && reader_.kinds()[i].meaning == Meaning::sample) kinds.push_back(i);
    }
    if (kinds.empty()) return {};
    part.kinds = kinds;
    const char* comma = "";
    return each_in_order(reader_, part, [&](const Event& e) {
      std::string out = std::exchange(comma, ",");
      out += "\n{\"cpu\":" + std::to_string(e.cpu) + ",\"tid\":" + std::to_string(names_.threads[e.thread].tid) + ",\"ts\":" + microseconds(e.time) +
             ",\"name\":" + json(reader_.kinds()[e.kind].name) + ",\"weight\":" + std::to_string(weight(e));
      if (e.values[0]) out += ",\"sf\":" + std::to_string(e.values[0]);
      return file_.add(out + "}");
    });
  }

  const Reader& reader_;
  const Names& names_;
  ExportFile& file_;
  std::map<uint32_t, Running> running_; // by CPU
  uint64_t last_id_ = 0;
};

} // namespace

base::Status write_chrome(const Reader& reader, const Part& part, const std::string& path) {
  ACU_TRY(ExportFile file, ExportFile::create(path));
  ACU_CHECK(Chrome(reader, file).write(part));
  return file.finish();
}

} // namespace recording
