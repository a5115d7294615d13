// What is in the bodies of chunks, written and read: about, kinds, counts, index and names. Counts of lists come first; a list is never longer than its bytes.
#include "recording/chunks.h"

namespace recording {

namespace {

constexpr size_t max_names = 1 << 24, max_kinds = 1 << 12, max_fields = 64, max_notes = 1000;
constexpr size_t names_at_once = 1 << 20;

// Calls `one` as often as the next number says.
template<class F> bool each(base::Reader& in, F one) {
  const uint64_t count = in.uleb128();
  for (uint64_t i = 0; i < count; i++)
    if (!in.ok() || !one()) return false;
  return in.ok();
}

std::string_view text(base::Reader& in) {
  const base::ByteSpan bytes = in.bytes(in.uleb128());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool take_text(base::Reader& in, Room& room, std::string& to) {
  const std::string_view found = text(in);
  return room.take(found.size()) && (to = found, true);
}

// A number below `end`.
template<class T> bool take(base::Reader& in, uint64_t end, T& to) {
  const uint64_t value = in.uleb128();
  to = static_cast<T>(value);
  return in.ok() && value < end;
}

template<class A, class Text, class Number> void visit(A& about, Text text, Number number) {
  for (auto* t : {&about.what, &about.host, &about.version}) text(*t);
  for (auto* n : {&about.begin_ns, &about.end_ns, &about.begin_wall_ns, &about.own_cpu_ns}) number(*n);
}

} // namespace

std::string about_body(const About& about) {
  std::string out;
  visit(
      about, [&](const std::string& t) { put(out, t); }, [&](uint64_t n) { put(out, n); });
  put(out, about.cpus);
  put(out, about.notes.size());
  for (const std::string& note : about.notes) put(out, note);
  return out;
}

bool read_about(base::Reader& in, About& to) {
  to = {};
  visit(
      to, [&](std::string& t) { t = text(in); }, [&](uint64_t& n) { n = in.uleb128(); });
  to.cpus = static_cast<uint32_t>(in.uleb128());
  return each(in, [&] { return to.notes.emplace_back(text(in)), to.notes.size() <= max_notes; });
}

std::string kinds_body(std::span<const EventKind> kinds) {
  std::string out;
  put(out, kinds.size());
  for (const EventKind& kind : kinds) {
    put(out, kind.name);
    put(out, static_cast<uint64_t>(kind.meaning));
    put(out, kind.fields.size());
    for (const Field& field : kind.fields) put(out, field.name), put(out, static_cast<uint64_t>(field.type));
  }
  return out;
}

// The fields that a meaning needs are there, with the types it needs.
static bool makes_sense(const EventKind& kind) {
  const auto is = [&](size_t n, FieldType type) { return n < kind.fields.size() && kind.fields[n].type == type; };
  switch (kind.meaning) {
  case Meaning::none: return true;
  case Meaning::sched:
  case Meaning::wakeup: return is(0, FieldType::thread);
  case Meaning::interval: return is(0, FieldType::duration);
  case Meaning::sample: return is(0, FieldType::stack);
  case Meaning::counter: return is(0, FieldType::text) && kind.fields.size() > 1;
  case Meaning::mark: return is(0, FieldType::text);
  }
  return false;
}

bool read_kinds(base::Reader& in, std::vector<EventKind>& to, Room& room) {
  return each(in, [&] {
    EventKind& kind = to.emplace_back();
    if (!take_text(in, room, kind.name)) return false;
    return to.size() <= max_kinds && take(in, static_cast<uint64_t>(Meaning::mark) + 1, kind.meaning) && each(in, [&] {
             Field& field = kind.fields.emplace_back();
             return kind.fields.size() <= max_fields && take_text(in, room, field.name) && take(in, static_cast<uint64_t>(FieldType::stack) + 1, field.type);
           }) && makes_sense(kind);
  });
}

std::string counts_body(std::span<const Count> counts) {
  std::string out;
  put(out, counts.size());
  for (const Count& c : counts)
    for (uint64_t n : {c.sent, c.kept, c.overwritten, c.lost}) put(out, n);
  return out;
}

bool read_counts(base::Reader& in, std::vector<Count>& to) {
  return each(in, [&] {
    Count& c = to.emplace_back();
    for (uint64_t* n : {&c.sent, &c.kept, &c.overwritten, &c.lost}) *n = in.uleb128();
    return to.size() <= max_kinds;
  });
}

std::string index_body(std::span<const Place> places) {
  std::string out;
  put(out, places.size());
  uint64_t offset = 0;
  for (const Place& p : places) {
    const Chunk& c = p.chunk;
    put(out, p.offset - offset);
    offset = p.offset;
    for (uint64_t n : {uint64_t{static_cast<uint8_t>(c.what)}, uint64_t{c.kind}, uint64_t{c.count}, c.first_ns, c.last_ns - c.first_ns, uint64_t{c.stored}, uint64_t{c.unpacked}})
      put(out, n);
  }
  return out;
}

bool read_index(base::Reader& in, std::vector<Place>& to) {
  uint64_t offset = 0;
  return each(in, [&] {
    Place& p = to.emplace_back();
    p.offset = offset += in.uleb128();
    Chunk& c = p.chunk;
    c.what = static_cast<What>(in.uleb128());
    for (uint32_t* n : {&c.kind, &c.count}) *n = static_cast<uint32_t>(in.uleb128());
    c.first_ns = in.uleb128();
    c.last_ns = c.first_ns + in.uleb128();
    for (uint32_t* n : {&c.stored, &c.unpacked}) *n = static_cast<uint32_t>(in.uleb128());
    return true;
  });
}

std::string names_body(const Names& names, NamesDone& done) {
  std::string lists[4];
  uint64_t counts[4] = {};
  size_t size = 0;
  const auto add = [&](size_t list, size_t& next, size_t end, auto one) {
    const size_t before = lists[list].size();
    for (; next < end && size + lists[list].size() - before < names_at_once; next++, counts[list]++) one(lists[list], next);
    size += lists[list].size() - before;
  };
  // In this order: each list refers to those before it.
  add(0, done.texts, names.texts.size(), [&](std::string& out, size_t i) { put(out, names.texts[i]); });
  add(1, done.threads, names.threads.size(), [&](std::string& out, size_t i) {
    const Thread& t = names.threads[i];
    for (uint32_t n : {t.pid, t.tid, t.process, t.name}) put(out, n);
  });
  add(2, done.frames, names.frames.size(), [&](std::string& out, size_t i) {
    const Frame& f = names.frames[i];
    for (uint64_t n : {uint64_t{f.name}, uint64_t{f.module}, static_cast<uint64_t>(f.kind)}) put(out, n);
  });
  add(3, done.stacks, names.stacks.size(), [&](std::string& out, size_t i) {
    put(out, i - names.stacks[i].caller);
    put(out, names.stacks[i].frame);
  });
  std::string out;
  if (!size) return out;
  for (size_t i = 0; i < 4; i++) put(out, counts[i]), out += lists[i];
  return out;
}

bool read_names(base::Reader& in, Names& to, Room& room) {
  const auto fits = [&](const auto& list) { return list.size() < max_names && room.take(sizeof list[0]); };
  return each(in, [&] { return fits(to.texts) && take_text(in, room, to.texts.emplace_back()); }) && each(in, [&] {
           Thread t;
           t.pid = static_cast<uint32_t>(in.uleb128()), t.tid = static_cast<uint32_t>(in.uleb128());
           if (!fits(to.threads) || !take(in, to.texts.size(), t.process) || !take(in, to.texts.size(), t.name)) return false;
           return to.threads.push_back(t), true;
         }) && each(in, [&] {
           Frame f;
           if (!fits(to.frames) || !take(in, to.texts.size(), f.name) || !take(in, to.texts.size(), f.module) || !take(in, spec::frame_kinds.size(), f.kind)) return false;
           return to.frames.push_back(f), true;
         }) && each(in, [&] {
           const uint64_t back = in.uleb128();
           Stack s;
           if (!fits(to.stacks) || !back || back > to.stacks.size() || !take(in, to.frames.size(), s.frame)) return false;
           s.caller = static_cast<uint32_t>(to.stacks.size() - back);
           return to.stacks.push_back(s), true;
         });
}

} // namespace recording
