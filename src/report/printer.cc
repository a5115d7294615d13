// The Printer: one function for each kind of record, chosen by the kind; the rest of the folder does the
// work. Text goes to the sink as it is, in JSON each record becomes one line (json.h). Messages of errorf and
// warnf, and failures of cat and system, are for people in both cases and go the other way.
#include "report/capture.h"
#include "report/context.h"
#include "report/effect.h"
#include "report/format.h"
#include "report/json.h"
#include "report/map.h"
#include "report/openmetrics.h"
#include "report/text.h"
#include "report/time.h"

#include <optional>

namespace report {

using ir::Action;
using ir::ActionKind;
using Pieces = std::vector<type::Conversion>;

struct Printer::State {
  Context context;
  Sink& sink;
  std::vector<std::optional<Pieces>> formats; // by action; filled at first use
  Captures captures = {};
  std::string line = {}; // of the record that is printed; its memory is used again

  const Pieces& format(const Action& action);
  const std::string& formatted(const Action& action, Bytes payload); // until the next one

  void result(std::string_view type, std::string_view text);
  void complaint(std::string_view place, std::string_view severity, std::string_view text);

  void printed(const Action& action, Bytes payload);
  void message(const Action& action, Bytes payload, std::string_view place, std::string_view severity);
  void debug(const Action& action, Bytes payload, std::string_view place);
  void value(const Action& action, Bytes payload);
  void time(const Action& action);
  void join(const Action& action, Bytes payload);
  void cat(const Action& action, Bytes payload, std::string_view place);
  void system(const Action& action, Bytes payload, std::string_view place);
  void packet(const Action& action, Bytes payload, std::string_view place);
};

// Formats of actions are parsed once: printf is what busy scripts do most.
const Pieces& Printer::State::format(const Action& action) {
  auto index = static_cast<size_t>(&action - context.program.actions.data());
  std::optional<Pieces>& pieces = formats[index];
  if (!pieces) {
    std::string error; // said when the script was checked
    pieces = type::parse_format(action.text, error);
  }
  return *pieces;
}

const std::string& Printer::State::formatted(const Action& action, Bytes payload) {
  line.clear();
  append_values(line, context, format(action), action.payload, payload);
  return line;
}

// Text as it is, or as the data of a JSON line.
void Printer::State::result(std::string_view type, std::string_view text) {
  if (!context.options.json) return sink.out(text);
  std::string data;
  append_json(data, text);
  sink.out(json_line(type, data));
}

void Printer::State::complaint(std::string_view place, std::string_view severity, std::string_view text) {
  std::string line(place);
  if (!place.empty()) line += ": ";
  line.append(severity).append(": ").append(text).append("\n");
  sink.message(line);
}

void Printer::State::printed(const Action& action, Bytes payload) {
  result("printf", formatted(action, payload));
}

void Printer::State::message(const Action& action, Bytes payload, std::string_view place,
                             std::string_view severity) {
  complaint(place, severity, formatted(action, payload));
}

// A message in the kernel's trace, as from user space.
void Printer::State::debug(const Action& action, Bytes payload, std::string_view place) {
  base::Status status = write_trace_marker(formatted(action, payload));
  if (!status.ok()) complaint(place, "ERROR", "debugf: " + status.error().message);
}

void Printer::State::value(const Action& action, Bytes payload) {
  if (!action.payload || action.payload->fields().empty()) return;
  const type::Field& f = action.payload->fields()[0];
  Bytes bytes = part(payload, f.offset, f.type->size);
  if (context.options.take_value) return context.options.take_value(*f.type, bytes);
  std::string text;
  if (context.options.json) {
    append_json(text, context, *f.type, bytes);
    return sink.out(json_line("value", text));
  }
  append_text(text, context, *f.type, bytes);
  sink.out(text += '\n');
}

void Printer::State::time(const Action& action) { result("time", format_time(action.text, wall_now_ns())); }

void Printer::State::join(const Action& action, Bytes payload) {
  uint64_t count = std::min<uint64_t>(load(payload, 4), action.items);
  std::string text;
  for (uint64_t i = 0; i < count; i++) {
    if (i) text += action.text;
    text += characters(part(payload, 8 + i * action.string_size, action.string_size));
  }
  result("join", text += '\n');
}

void Printer::State::cat(const Action& action, Bytes payload, std::string_view place) {
  std::string content;
  auto take = [&](std::string_view piece) {
    context.options.json ? void(content += piece) : sink.out(piece);
  };
  base::Status status = read_pieces(formatted(action, payload), context.options.max_cat_bytes, take);
  if (!status.ok()) return complaint(place, "ERROR", "cat: " + status.error().message);
  if (context.options.json) result("cat", content);
}

void Printer::State::system(const Action& action, Bytes payload, std::string_view place) {
  std::string output;
  auto take = [&](std::string_view piece) { context.options.json ? void(output += piece) : sink.out(piece); };
  base::Status status = run_command(formatted(action, payload), take, context.options.patience_ms);
  if (!status.ok()) return complaint(place, "ERROR", "system: " + status.error().message);
  if (context.options.json) result("syscall", output);
}

// nsecs, offset, length, then the packet's bytes.
void Printer::State::packet(const Action& action, Bytes payload, std::string_view place) {
  constexpr size_t numbers = 24;
  uint64_t offset = load(part(payload, 8, 8), 8), length = load(part(payload, 16, 8), 8);
  length = std::min<uint64_t>(length, payload.size() - std::min(payload.size(), numbers));
  if (offset >= length) return;
  uint64_t wall = load(part(payload, 0, 8), 8) + static_cast<uint64_t>(context.options.boot_to_wall_ns);
  base::Status status = captures.add(action.text, wall, payload.subspan(numbers + offset, length - offset));
  if (!status.ok()) complaint(place, "ERROR", "skboutput: " + status.error().message);
}

Printer::Printer(const ir::Program& program, ir::Engine& engine, Names& names, Sink& sink, Options options)
    : state_(new State{{program, engine, names, std::move(options)}, sink, {}}) {
  state_->formats.resize(program.actions.size());
}

Printer::~Printer() = default;

void Printer::record(const Action& action, std::span<const std::byte> payload, std::string_view place) {
  if (action.is_users && state_->context.options.take_users) return state_->context.options.take_users(action, payload);
  switch (action.kind) {
  case ActionKind::printf: return state_->printed(action, payload);
  case ActionKind::errorf: return state_->message(action, payload, place, "ERROR");
  case ActionKind::warnf: return state_->message(action, payload, place, "WARNING");
  case ActionKind::debugf: return state_->debug(action, payload, place);
  case ActionKind::print_value: return state_->value(action, payload);
  case ActionKind::time: return state_->time(action);
  case ActionKind::join: return state_->join(action, payload);
  case ActionKind::cat: return state_->cat(action, payload, place);
  case ActionKind::system: return state_->system(action, payload, place);
  case ActionKind::packet: return state_->packet(action, payload, place);
  case ActionKind::print_map:
  case ActionKind::print_entry:
  case ActionKind::flame:
  case ActionKind::clear:
  case ActionKind::zero:
  case ActionKind::unwatch:
  case ActionKind::exit:
  case ActionKind::assert_failed: return; // the session's
  }
}

void Printer::map(uint32_t map, const std::vector<ir::Entry>& entries, uint64_t top, uint64_t div) {
  MapRequest request = {state_->context.program.maps[map], entries, top, div};
  auto take = [this](std::string_view text) { state_->sink.out(text); };
  if (state_->context.options.json)
    print_map_json(state_->context, request, take);
  else
    print_map_text(state_->context, request, take);
}

std::string Printer::metrics(uint32_t map, const std::vector<ir::Entry>& entries, uint64_t top, std::string_view name) {
  std::string out;
  append_metrics(out, state_->context, {state_->context.program.maps[map], entries, top}, name);
  return out;
}

void Printer::entry(uint32_t map, const ir::Entry& entry) {
  std::vector<ir::Entry> only = {entry};
  MapRequest request = {state_->context.program.maps[map], only};
  std::string text;
  if (state_->context.options.json)
    text = json_line("value", entry_json(state_->context, request));
  else
    text = entry_text(state_->context, request) + "\n";
  state_->sink.out(text);
}

static std::string counted(std::string_view type, std::string_view name, uint64_t n) {
  std::string data = "{";
  append_json(data, name);
  data += ": ";
  append_json(data, Number{n, false});
  return json_line(type, data += "}");
}

void Printer::process_seen(uint32_t pid, uint64_t stack, uint64_t time) {
  std::vector<uint64_t> frames;
  if (stack) frames = state_->context.engine.stack(stack);
  state_->context.names.seen(pid, frames, stack, time);
}

void Printer::attached(size_t probes) {
  if (state_->context.options.json) state_->sink.out(counted("attached_probes", "probes", probes));
}

void Printer::lost(uint64_t events) {
  if (state_->context.options.json) state_->sink.out(counted("lost_events", "events", events));
}

std::string Printer::text(const type::Type& type, std::span<const std::byte> bytes) {
  return text_of(state_->context, type, bytes);
}

std::string Printer::text(const Action& action, std::span<const std::byte> payload) {
  if (action.kind == ActionKind::printf) return state_->formatted(action, payload);
  const type::Field& f = action.payload->fields()[0];
  return text(*f.type, part(payload, f.offset, f.type->size));
}

} // namespace report
