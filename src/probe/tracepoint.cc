// tracepoint:CATEGORY:EVENT: the kernel's trace events, by tracefs.
//
// A program can see a tracepoint in three ways: the record that tracefs describes, handed over by perf; the
// raw arguments of the kernel's code; the raw arguments with types, which may be followed as pointers. The
// latter two cost less, detach at once and starve no other program, so they are taken wherever all arguments
// that a script reads can be had there (spec/raw_fields.h). Events of single system calls are served by the
// raw tracepoints sys_enter and sys_exit, which tell the number of the call: there the fields are the
// registers.
#include "format/btf.h"
#include "format/tracefs.h"
#include "host/environment.h"
#include "probe/kernel_facts.h"
#include "probe/kinds.h"
#include "spec/arch.h"
#include "spec/raw_fields.h"
#include "spec/syscalls.h"
#include "type/number_names.h"

#include "base/text.h"

#include <algorithm>
#include <cstddef>

namespace probe {

// ------------------------------------------------------------------------------------------------- match

static constexpr std::string_view syscalls = "syscalls"; // the category

static Event make_event(std::string_view category, std::string_view name) {
  Event e{.kind = Kind::tracepoint, .provider = "tracepoint"};
  e.name.reserve(12 + category.size() + name.size());
  e.name.append("tracepoint:").append(category).append(1, ':').append(name);
  e.category = category;
  e.event = name;
  if (category == syscalls) {
    constexpr std::string_view enter = "sys_enter_", exit = "sys_exit_";
    e.syscall_exit = name.starts_with(exit);
    if (e.syscall_exit)
      e.syscall = spec::syscall_of_event(name.substr(exit.size()));
    else if (name.starts_with(enter))
      e.syscall = spec::syscall_of_event(name.substr(enter.size()));
  }
  return e;
}

// Whether there is one. Events of system calls are in the kernel itself, and come in pairs: where the first of
// a pair was read in a former run, nothing is asked.
static bool has_event(Machine& machine, std::string_view category, std::string_view event) {
  constexpr std::string_view exit = "sys_exit_";
  if (category == syscalls) {
    std::string first =
        event.starts_with(exit) ? "sys_enter_" + std::string(event.substr(exit.size())) : std::string(event);
    if (machine.facts().format(first)) return true;
  }
  return machine.tracefs()->has(category, event);
}

static std::vector<format::TraceEvent> all_events(Machine& machine) {
  if (!machine.tracefs()) return {};
  auto events = machine.tracefs()->events();
  return events.ok() ? std::move(*events) : std::vector<format::TraceEvent>();
}

// The nearest event of this category; else the same event in another category; else the nearest category.
static std::string nearest_event(Machine& machine, std::string_view category, std::string_view event) {
  std::vector<std::string_view> here, categories;
  std::string_view elsewhere;
  for (const format::TraceEvent& e : all_events(machine)) {
    if (e.category == category)
      here.push_back(e.event);
    else if (e.event == event)
      elsewhere = e.category;
    if (categories.empty() || categories.back() != e.category) categories.push_back(e.category);
  }
  std::string found(category);
  if (!here.empty()) {
    if (std::string_view near = base::nearest(event, here); !near.empty())
      return "did you mean `tracepoint:" + found + ":" + std::string(near) + "`?";
    if (elsewhere.empty()) return "`acu list 'tracepoint:" + found + ":*'` shows what there is";
  }
  if (!elsewhere.empty())
    return "did you mean `tracepoint:" + std::string(elsewhere) + ":" + std::string(event) + "`?";
  if (std::string_view near = base::nearest(category, categories); !near.empty())
    return "did you mean the category `" + std::string(near) + "`?";
  return "`acu list 'tracepoint:*'` shows what there is";
}

static std::vector<Event> match_tracepoint(Machine& machine, Parts parts, Mismatch& mismatch) {
  // A pattern alone is one of events.
  const std::string_view in_all_categories[] = {"tracepoint", "*", parts.size() == 2 ? parts[1] : ""};
  if (parts.size() == 2 && base::has_glob(parts[1])) parts = in_all_categories;
  if (parts.size() != 3 || parts[1].empty() || parts[2].empty()) {
    malformed(mismatch, "tracepoint", "`" + join(parts) + "` must name a category and an event");
    if (parts.size() == 2)
      for (const format::TraceEvent& e : all_events(machine))
        if (e.event == parts[1])
          mismatch.hint = "did you mean `" + make_event(e.category, e.event).name + "`?";
    return {};
  }
  format::Tracefs* fs = machine.tracefs();
  if (!fs) {
    bool denied = machine.tracefs_error().kind == base::Failure::permission;
    mismatch = {
        Mismatch::missing, machine.tracefs_error().message,
        !machine.host().is_this_host() ? "save it anew there, as root: `acu info --save FILE`"
        : denied ? "tracepoints need root, or CAP_DAC_READ_SEARCH (or read access to /sys/kernel/tracing) with CAP_BPF and CAP_PERFMON"
                 : "mount it: mount -t tracefs tracefs /sys/kernel/tracing",
        denied};
    return {};
  }
  std::string_view category = parts[1], event = parts[2];
  std::vector<Event> out;
  if (!base::has_glob(category) && !base::has_glob(event)) {
    if (has_event(machine, category, event)) return {make_event(category, event)};
  } else {
    for (const format::TraceEvent& e : all_events(machine))
      if (base::glob_match(category, e.category) && base::glob_match(event, e.event))
        out.push_back(make_event(e.category, e.event));
    if (!out.empty()) return out;
  }
  bool pattern = base::has_glob(category) || base::has_glob(event);
  mismatch = {Mismatch::missing,
              (pattern ? "no tracepoint matches `" : "there is no tracepoint `") + std::string(category) +
                  ":" + std::string(event) + "`",
              nearest_event(machine, category, event)};
  return {};
}

static void list_tracepoints(Machine& machine, std::vector<Event>& to) {
  std::vector<format::TraceEvent> events = all_events(machine);
  to.reserve(to.size() + events.size());
  for (const format::TraceEvent& e : events) to.push_back(make_event(e.category, e.event));
}

// --------------------------------------------------------------------------------------------- arguments

namespace {

// A C type as written, without what does not change the value.
struct Written {
  std::string_view keyword; // struct, union, enum
  std::string_view name;    // of a typedef or tag
  uint32_t pointers = 0;
  uint32_t size = 0; // of C's own integers; 0: another type
  bool is_unsigned = false;
  bool is_char = false;
  bool is_bare_unsigned = false; // "unsigned" alone
};

Written read_type(std::string_view text) {
  Written w;
  w.pointers = static_cast<uint32_t>(std::count(text.begin(), text.end(), '*'));
  text = base::trim(text.substr(0, text.find('*')));
  uint32_t words = 0, longs = 0;
  for (std::string_view word : base::split(text, ' ')) {
    // `__user`, `__rcu`, `__seg_gs`, … qualify; but `__u32` and `__kernel_loff_t` are types.
    bool qualifier = word == "const" || word == "volatile" || word == "restrict" || word == "__user" ||
                     word == "__rcu" || word == "__percpu" || word == "__iomem" || word.starts_with("__seg_");
    if (word.empty() || qualifier) continue;
    words++;
    if (word == "struct" || word == "union" || word == "enum")
      w.keyword = word;
    else if (word == "unsigned")
      w.is_unsigned = true;
    else if (word == "long")
      longs++;
    else if (word == "short")
      w.size = 2;
    else if (word == "char")
      w.size = 1, w.is_char = true;
    else if (word == "int")
      w.size = w.size ? w.size : 4;
    else if (word != "signed")
      w.name = word;
  }
  if (longs) w.size = 8;
  w.is_bare_unsigned = w.is_unsigned && words == 1;
  if (!w.size && w.name.empty() && w.keyword.empty() && words) w.size = 4; // "unsigned", "signed"
  if (!w.name.empty()) w.size = 0;
  if (w.is_unsigned) w.is_char = false;
  return w;
}

bool fits_register(uint32_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

class RecordTypes {
public:
  RecordTypes(Machine& machine, bool is_syscall)
      : machine_(machine), table_(machine.types()), is_syscall_(is_syscall),
        space_(is_syscall ? type::Space::user : type::Space::kernel) {}

  type::Field field(const format::TraceField& f) {
    type::Field out{.name = table_.keep(f.name), .offset = f.offset};
    Written w = read_type(f.type);
    if (f.is_located) {
      out.data_loc = true;
      out.type = table_.pointer(w.pointers ? pointer(w) : pointee(w), type::Space::kernel);
    } else if (f.is_array)
      out.type = array(f, w);
    else if (w.pointers)
      out.type = pointer(w);
    else
      out.type = scalar(f, w);
    return out;
  }

private:
  const type::Type* bytes(uint32_t count) { return table_.array(table_.integer(1, false), count); }

  // What a pointer to this stands on; nullptr: void, or unknown.
  const type::Type* pointee(const Written& w) {
    if (w.is_char) return table_.character();
    if (w.size) return table_.integer(w.size, !w.is_unsigned);
    if (w.name.empty() || w.name == "void") return nullptr;
    return machine_.kernel_type(w.keyword, w.name);
  }

  const type::Type* pointer(const Written& w) {
    const type::Type* t = pointee(w);
    for (uint32_t i = 0; i < w.pointers && i < 8; i++) t = table_.pointer(t, space_);
    return t;
  }

  const type::Type* array(const format::TraceField& f, const Written& w) {
    if (w.is_char) return f.size ? table_.string(f.size) : table_.array(table_.character(), 0);
    uint32_t each = w.pointers ? 8 : w.size;
    if (!each && f.count && f.size % f.count == 0) each = f.size / f.count;
    if (!each)
      if (const type::Type* t = pointee(w)) each = t->size;
    if (!fits_register(each)) return bytes(f.size);
    const type::Type* element = w.pointers ? pointer(w) : table_.integer(each, f.is_signed);
    return table_.array(element, f.size / each);
  }

  const type::Type* scalar(const format::TraceField& f, const Written& w) {
    if (w.name == "bool" && f.size == 1) return table_.boolean();
    if (w.is_char && f.size == 1) return table_.character();
    if (!fits_register(f.size) || w.keyword == "struct" || w.keyword == "union") return bytes(f.size);
    if (w.keyword == "enum")
      if (const type::Type* t = machine_.kernel_type(w.keyword, w.name); t && t->size == f.size) return t;
    if (!is_syscall_ || f.size != 8) return table_.integer(f.size, f.is_signed);
    // Arguments of system calls fill a register each. C's own integers are shown as it is; what has a name is
    // as wide as that, for the kernel looks at no more of it.
    if (w.is_bare_unsigned) return table_.integer(4, false);
    if (w.size) return table_.integer(8, !w.is_unsigned);
    const type::Type* t = type::number_type(table_, w.name);
    if (!t) t = machine_.kernel_type(w.keyword, w.name);
    if (t && t->is(type::Kind::pointer)) return table_.pointer(t->element, space_);
    if (t && t->is(type::Kind::integer) && !t->is_char) return t;
    return table_.integer(8, f.is_signed);
  }

  Machine& machine_;
  type::Table& table_;
  bool is_syscall_;
  type::Space space_;
};

// The members of a record: the type of each is looked for when a script names it, since that may mean to
// search the kernel's types.
class Record final : public type::Provider {
public:
  Record(Machine& machine, bool is_syscall, std::string text)
      : text_(std::move(text)), types_(machine, is_syscall) {}
  bool read() {
    auto format = format::parse_trace_format(text_);
    if (!format.ok()) return false;
    // What all records begin with is not there for programs: the kernel keeps a pointer of its own in its
    // place.
    for (const format::TraceField& f : format->fields)
      if (!f.is_common) fields_.push_back(f);
    known_.resize(fields_.size());
    return true;
  }
  uint32_t size() const {
    uint32_t size = 0;
    for (const format::TraceField& f : fields_) size = std::max(size, f.offset + f.size);
    return size;
  }
  std::vector<type::Field> fields(type::Table&, uint32_t) override {
    std::vector<type::Field> all;
    for (const format::TraceField& f : fields_) all.push_back(types_.field(f));
    return all;
  }
  std::optional<type::Field> field(type::Table&, uint32_t, std::string_view name) override {
    for (size_t i = 0; i < fields_.size(); i++) {
      if (fields_[i].name != name) continue;
      if (!known_[i]) known_[i] = types_.field(fields_[i]);
      return known_[i];
    }
    return std::nullopt;
  }
  std::vector<type::Enumerator> enumerators(uint32_t) override { return {}; }

private:
  const std::string text_; // names are parts of it
  RecordTypes types_;
  std::vector<format::TraceField> fields_;
  std::vector<std::optional<type::Field>> known_; // those asked for so far
};

} // namespace

static base::Result<std::string> read_format(Machine& machine, const Event& event) {
  if (!machine.tracefs()) return machine.tracefs_error();
  const bool is_kept = event.category == syscalls;
  if (auto kept = is_kept ? machine.facts().format(event.event) : std::nullopt) return std::string(*kept);
  auto text = machine.tracefs()->format(event.category, event.event);
  if (is_kept && text.ok()) machine.facts().keep_format(*text);
  return text;
}

static const type::Type* arguments_of_tracepoint(Machine& machine, Event& event) {
  if (event.args) return event.args;
  // The kernel declares the records of all returns from system calls at once.
  if (event.syscall_exit && machine.syscall_result) return event.args = machine.syscall_result;
  auto text = read_format(machine, event);
  if (!text.ok()) return nullptr;
  auto record = std::make_unique<Record>(machine, event.category == syscalls, std::move(*text));
  if (!record->read()) return nullptr;
  const uint32_t size = record->size();
  event.args = machine.types().structure(event.event, false, size, machine.keep(std::move(record)), 0);
  if (event.syscall_exit) machine.syscall_result = event.args;
  return event.args;
}

static std::vector<std::string> describe_tracepoint(Machine& machine, Event& event) {
  std::vector<std::string> out;
  auto text = read_format(machine, event);
  if (!text.ok()) return out;
  auto format = format::parse_trace_format(*text);
  if (!format.ok()) return out;
  for (const format::TraceField& f : format->fields) {
    if (f.is_common) continue;
    std::string line = (f.is_located ? "__data_loc " : "") + std::string(f.type) +
                       (f.is_located ? "[] " : " ") + std::string(f.name);
    if (f.is_array) line += "[" + (f.count ? std::to_string(f.count) : std::string()) + "]";
    out.push_back(std::move(line));
  }
  return out;
}

// ------------------------------------------------------------------------------------- context and access

static std::optional<spec::RawField> raw_field(const Event& event, std::string_view field) {
  std::string_view name = std::string_view(event.name).substr(event.provider.size() + 1);
  for (const spec::RawField& row : spec::raw_fields) {
    if (row.field != field) continue;
    bool prefix = row.event.ends_with('*');
    if (prefix ? name.starts_with(row.event.substr(0, row.event.size() - 1)) : name == row.event) return row;
  }
  return {};
}

// The member `path` ("a.b->c") of what an argument of this type points to. `size` bytes must be there.
static std::optional<std::vector<uint32_t>> resolve_path(Machine& machine, uint32_t type,
                                                         std::string_view path, uint32_t size) {
  format::Btf& btf = *machine.btf();
  std::vector<uint32_t> out;
  while (!path.empty()) {
    size_t arrow = path.find("->");
    std::string_view members = path.substr(0, arrow);
    path = arrow == path.npos ? std::string_view() : path.substr(arrow + 2);
    uint32_t at = btf.pointee(type), offset = 0, leaf = 0;
    if (!at) return std::nullopt;
    for (std::string_view name : base::split(members, '.')) {
      auto member = btf.member(machine.types(), at, name);
      if (!member || member->field.bit_size) return std::nullopt;
      offset += member->field.offset;
      leaf = member->field.type->size;
      at = type = member->type;
    }
    out.push_back(offset);
    if (path.empty() && leaf != size) return std::nullopt;
  }
  return out;
}

// Where a field stands in the raw arguments; nothing if it has to come from the record.
static std::optional<Access> find_raw(Machine& machine, const Event& event, std::string_view field) {
  if (!event.args) return std::nullopt;
  auto declared = event.args->find(field);
  if (!declared || declared->data_loc) return std::nullopt;
  Access access{.kind = Access::raw};
  if (event.syscall >= 0) {
    // sys_enter(struct pt_regs *, long number), sys_exit(struct pt_regs *, long result)
    if (field == "__syscall_nr") {
      if (event.syscall_exit)
        access.path = {spec::find_register(spec::arch.syscall_number).value_or(0)};
      else
        access.argument = 1;
      return access;
    }
    if (event.syscall_exit) {
      access.argument = 1;
      return field == "ret" ? std::optional(access) : std::nullopt;
    }
    constexpr auto& arguments = spec::arch.syscall_arguments;
    constexpr uint32_t first = 16; // behind the fields of all records and the number
    uint32_t index = (declared->offset - first) / 8;
    if (declared->offset < first || declared->offset % 8 != 0 || index >= arguments.size())
      return std::nullopt;
    access.path = {spec::find_register(arguments[index]).value_or(0)};
    return access;
  }
  const auto row = raw_field(event, field);
  if (!row) return std::nullopt;
  access.argument = row->argument;
  if (row->path.empty()) return access;
  uint32_t prototype = tracepoint_type(machine, event.event);
  if (!prototype) return std::nullopt;
  std::vector<format::Btf::Parameter> parameters = machine.btf()->parameters(prototype);
  if (row->argument + 1u >= parameters.size()) return std::nullopt; // the first is the tracepoint's own
  auto path = resolve_path(machine, parameters[row->argument + 1].type, row->path, declared->type->size);
  if (!path) return std::nullopt;
  access.path = std::move(*path);
  return access;
}

static Context choose_tracepoint(Machine& machine, const Event& event, Fields fields) {
  if (event.category == "syscalls" && event.syscall < 0) return Context::tracepoint;
  if (machine.tracefs()) {
    const std::vector<std::string>& made = machine.tracefs()->made_categories();
    if (std::binary_search(made.begin(), made.end(), event.category)) return Context::tracepoint;
  }
  if (fields.empty()) return Context::raw_tracepoint;
  Event known = event;
  arguments_of_tracepoint(machine, known);
  bool follows = false;
  for (std::string_view field : fields) {
    auto access = find_raw(machine, known, field);
    if (!access) return Context::tracepoint;
    follows |= !access->path.empty();
  }
  if (!follows) return Context::raw_tracepoint;
  return attach_btf_id(machine, event) ? Context::btf_tracepoint : Context::tracepoint;
}

static Access access_tracepoint(Machine& machine, const Event& event, Context context,
                                std::string_view field) {
  Event known = event;
  arguments_of_tracepoint(machine, known);
  if (context != Context::tracepoint)
    if (auto access = find_raw(machine, known, field)) return *access;
  auto declared = known.args ? known.args->find(field) : std::nullopt;
  return {.kind = Access::record, .offset = declared ? declared->offset : 0};
}

// ------------------------------------------------------------------------------------------------ attach

static base::Result<Attachment> attach_tracepoint(const Event& event, Context context, int program_fd,
                                                  const AttachOptions&) {
  if (context != Context::tracepoint) {
    std::string_view name = event.syscall < 0    ? std::string_view(event.event)
                            : event.syscall_exit ? "sys_exit"
                                                 : "sys_enter";
    return attach_raw_tracepoint(event, name, context, program_fd);
  }
  uint32_t id = event.tracepoint_id;
  if (!id) {
    ACU_TRY(format::Tracefs fs, format::Tracefs::open());
    auto read = fs.id(event.category, event.event);
    if (!read.ok()) return std::move(read.error()).with("cannot attach " + event.name);
    id = *read;
  }
  return attach_perf_tracepoint(event, id, program_fd);
}

constinit const KindFunctions tracepoint_kind{
    .match = match_tracepoint,
    .list = list_tracepoints,
    .arguments = arguments_of_tracepoint,
    .describe = describe_tracepoint,
    .choose_context = choose_tracepoint,
    .access = access_tracepoint,
    .attach = attach_tracepoint,
};

} // namespace probe
