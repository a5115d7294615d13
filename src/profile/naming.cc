// Names of stacks. Entries are named in three steps: distinct ones are collected, each gets the function that holds it from
// the source of its kind, then the sources tell of many at once the calls that were inlined there.
//
// All addresses but the innermost are those a call returns to: the byte before is in the call itself, which
// may be the last of a function, or of an inlined piece.
#include "profile/naming.h"

#include "base/counted.h"
#include "profile/completeness.h"
#include "report/number.h"
#include "report/text.h"
#include "symbol/demangle.h"

#include <algorithm>
#include <array>

namespace profile {

namespace {

using symbol::FrameSource;
using symbol::RawFrame;

// Functions that nothing calls: the first of a program, and of a thread.
constexpr std::array<std::string_view, 12> outermost = {"_start",
                                                        "_dl_start_user",
                                                        "__clone",
                                                        "clone",
                                                        "__clone3",
                                                        "clone3",
                                                        "start_thread",
                                                        "thread_start",
                                                        "__libc_start_call_main",
                                                        "__libc_start_main",
                                                        "ret_from_fork",
                                                        "_dl_relocate_static_pie"};

// Where stacks of Go begin: that of a goroutine, and of a thread when a goroutine has given it up. No table says so. Assembly has the suffix where there are symbols.
constexpr std::array<std::string_view, 8> outermost_of_go = {"runtime.goexit", "runtime.goexit.abi0", "runtime.mcall",  "runtime.mcall.abi0",
                                                             "runtime.mstart", "runtime.mstart.abi0", "runtime.clone", "runtime.clone.abi0"};

// Where an interrupt enters the kernel: functions whose names begin so.
constexpr std::array<std::string_view, 4> interrupts = {"asm_sysvec_", "asm_common_interrupt", "common_interrupt", "el1h_64_irq"};

// The kernel calls a probe through these, on top of its stack: prefixes of function names.
constexpr std::array<std::string_view, 6> tracing = {"call_trace_",       "syscall_trace_",     "trace_sys_",
                                                     "syscall_exit_work", "syscall_exit_to_user_mode", "trace_call_bpf"};

constexpr std::string_view woken_by_interrupt = "[woken by an interrupt]";
constexpr std::string_view without_frame_pointers = "[stack ends early: no frame pointer]";
constexpr std::string_view too_deep = "[stack deeper than the stack limit]";
constexpr std::string_view no_user_stack = "[no user stack]";

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_tracing(std::string_view function) {
  return report::is_glue(function) ||
         std::ranges::any_of(tracing, [&](std::string_view with) { return function.starts_with(with); });
}

// The frames of one entry, innermost first: indices of Profile::frames.
struct Named {
  std::vector<uint32_t> frames;
  bool is_named = false;
  bool is_mapped = true;
  bool is_derived = false; // the function is called by its address
};

} // namespace

std::vector<RawFrame> entries_of(const RawStack& stack) {
  std::vector<RawFrame> out;
  for (std::span<const uint64_t> words = stack.frames; !words.empty();) {
    RawFrame raw = {.entry = spec::take_entry(words), .pid = static_cast<pid_t>(stack.pid), .stack = stack.id, .is_kernel = !stack.pid};
    if (!raw.entry.tag && !out.empty()) raw.entry.address--;
    out.push_back(raw);
  }
  return out;
}

class Namer {
public:
  Namer(Profile& profile, const RawRecording& raw, symbol::FrameSources& sources) : profile_(profile), raw_(raw), sources_(sources) {
    for (const spec::FrameKindRow& row : spec::frame_kinds) profile.text(row.module); // in each profile the same numbers
  }

  std::vector<uint32_t> run() {
    name_users();
    std::vector<uint32_t> numbers;
    for (const RawSample& s : raw_.samples) numbers.push_back(add(s));
    return numbers;
  }
  void tell_missing() {
    if (without_stack_)
      profile_.about.notes.push_back(base::counted(without_stack_, "sample") +
                                     " taken in threads that were exiting or calling exec, counted as complete: the kernel had "
                                     "already torn down their stacks");
    if (derived_)
      profile_.about.notes.push_back(
          report::grouped(derived_) + " of " + report::grouped(profile_.about.frames) +
          " frames are in functions without a name, shown by their addresses in the file (func_0x...)");
  }

private:
  // What a source has the same frames for.
  struct Key {
    const FrameSource* source;
    FrameSource::Key place;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& k) const {
      return (k.place.second * 0x9e3779b97f4a7c15 ^ k.place.first ^ reinterpret_cast<uintptr_t>(k.source)) * 0xff51afd7ed558ccd >> 7;
    }
  };

  void name_users();
  void add_inlined(Named& named, std::span<const symbol::Frame> frames);
  Named name(const RawFrame& raw, const symbol::Frame& frame);
  void keep_build_id(uint32_t module, std::span<const std::byte> id);
  uint32_t add(const RawSample& sample);
  uint32_t under(uint32_t node, const Named& named, uint64_t count);
  uint32_t note(uint32_t node, std::string_view text);
  uint32_t add_user(uint32_t node, const RawStack& stack, uint64_t count, bool& is_complete);
  uint32_t add_kernel(uint32_t node, const RawStack& stack, uint64_t count);
  uint32_t add_waker(uint32_t node, const RawSample& sample);
  const Named& kernel_at(const RawFrame& raw);
  const std::vector<const Named*>& names_of_kernel(const RawStack& stack);

  Profile& profile_;
  const RawRecording& raw_;
  symbol::FrameSources& sources_;
  uint64_t without_stack_ = 0; // samples
  uint64_t derived_ = 0;       // frames of samples
  std::unordered_map<Key, uint32_t, Hash> user_index_;
  std::vector<std::vector<uint32_t>> user_names_; // of each stack: indices of named_users_
  std::vector<Named> named_users_;
  std::vector<std::vector<const Named*>> kernel_names_; // of each stack that was met
  std::unordered_map<Key, Named, Hash> named_kernel_;
};

void Namer::name_users() {
  std::vector<RawFrame> found;
  const size_t first_name = named_users_.size(), first_stack = user_names_.size();
  user_names_.resize(raw_.stacks.size());
  for (size_t s = first_stack; s < raw_.stacks.size(); s++) {
    const RawStack& stack = raw_.stacks[s];
    if (!stack.pid) continue;
    for (const RawFrame& raw : entries_of(stack)) {
      FrameSource& source = sources_.of(raw);
      auto [at, is_new] = user_index_.try_emplace(Key{&source, source.key_of(raw)}, static_cast<uint32_t>(named_users_.size()));
      user_names_[s].push_back(at->second);
      if (!is_new) continue;
      found.push_back(raw);
      named_users_.push_back(name(raw, source.function_of(raw)));
      keep_build_id(profile_.frames()[named_users_.back().frames[0]].module, source.build_id_of(raw));
    }
  }
  // Each source gets its own at once.
  std::vector<FrameSource*> sources;
  for (const RawFrame& raw : found)
    if (FrameSource* source = &sources_.of(raw); std::ranges::find(sources, source) == sources.end()) sources.push_back(source);
  for (FrameSource* source : sources) {
    std::vector<RawFrame> own;
    std::vector<size_t> names; // of each: indices of named_users_
    for (size_t i = 0; i < found.size(); i++)
      if (&sources_.of(found[i]) == source) own.push_back(found[i]), names.push_back(first_name + i);
    source->find_inlined(own, [&](size_t at, std::span<const symbol::Frame> frames) { add_inlined(named_users_[names[at]], frames); });
  }
}

// A function that has no name, or only its address for one, may be known by its lines.
void Namer::add_inlined(Named& named, std::span<const symbol::Frame> frames) {
  const Frame function = profile_.frames()[named.frames[0]];
  named.frames.clear();
  for (const symbol::Frame& f : frames.first(frames.size() - 1))
    if (!f.name.empty()) named.frames.push_back(profile_.frame({profile_.text(f.name), function.module, f.kind}));
  Frame own = function;
  if ((!own.named || named.is_derived) && !frames.back().name.empty()) {
    own = {profile_.text(frames.back().name), function.module, function.kind};
    named.is_derived = false;
  }
  named.frames.push_back(profile_.frame(own));
  named.is_named = own.named;
}

// It tells the same file under another path.
void Namer::keep_build_id(uint32_t module, std::span<const std::byte> id) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (std::byte b : id) text.append(1, digits[static_cast<size_t>(b >> 4)]).append(1, digits[static_cast<size_t>(b & std::byte{15})]);
  if (module && !text.empty()) profile_.build_ids.try_emplace(module, std::move(text));
}

// Without a name: "libc.so.6+0x27f01", a place that is the same in each process; or, where nothing is mapped,
// what is left of it.
Named Namer::name(const RawFrame& raw, const symbol::Frame& frame) {
  const uint32_t module = profile_.text(frame.module);
  std::string name(frame.name);
  if (frame.is_as_stored)
    if (std::string shown = symbol::demangle(name); !shown.empty()) name = std::move(shown);
  const bool is_named = !name.empty();
  if (!is_named) {
    const std::string bare = report::bare(raw.entry.address);
    name = frame.module_address ? std::string(base_name(frame.module)) + "+" + report::bare(frame.module_address)
           : !frame.is_mapped   ? "[not mapped]"
           : module             ? bare
                                : "[code made at run time]";
  }
  return {{profile_.frame({profile_.text(name), module, frame.kind, is_named})}, is_named, frame.is_mapped, frame.is_derived};
}

uint32_t Namer::note(uint32_t node, std::string_view text) {
  return profile_.node(node, profile_.frame({profile_.text(text), 0, FrameKind::note}));
}

// The frames of an address under those of its caller.
uint32_t Namer::under(uint32_t node, const Named& named, uint64_t count) {
  for (auto frame = named.frames.rbegin(); frame != named.frames.rend(); ++frame)
    node = profile_.node(node, *frame);
  profile_.about.frames += count;
  profile_.about.frames_named += named.is_named && !named.is_derived ? count : 0;
  derived_ += named.is_derived ? count : 0;
  return node;
}

// Where nothing says that the frames are right, those from the first on that is in no code are not.
uint32_t Namer::add_user(uint32_t node, const RawStack& stack, uint64_t count, bool& is_complete) {
  std::span<const uint32_t> names = user_names_[static_cast<size_t>(&stack - raw_.stacks.data())];
  std::string_view reason = stack.end;
  if (names.empty()) {
    if (reason.empty()) reason = no_user_stack;
  } else if (!stack.is_end_known && reason.empty()) {
    size_t right = 1;
    while (right < names.size() && named_users_[names[right]].is_mapped) right++;
    const bool is_led_astray = right < names.size();
    names = names.first(right);
    const Frame& last = profile_.frames()[named_users_[names.back()].frames.back()];
    bool ends = last.named && std::ranges::find(outermost, profile_.name(last)) != outermost.end();
    if (is_led_astray || (!ends && !stack.is_cut)) reason = without_frame_pointers;
    if (!is_led_astray && stack.is_cut) reason = too_deep;
  } else if (!reason.empty()) {
    const Frame& last = profile_.frames()[named_users_[names.back()].frames.back()];
    if (last.named && std::ranges::find(outermost_of_go, profile_.name(last)) != outermost_of_go.end()) reason = {};
  }
  is_complete = reason.empty() || stack.is_none;
  if (stack.is_none) without_stack_ += count;
  if (!reason.empty()) node = note(node, reason);
  for (auto name = names.rbegin(); name != names.rend(); ++name)
    node = under(node, named_users_[*name], count);
  return node;
}

const Named& Namer::kernel_at(const RawFrame& raw) {
  FrameSource& source = sources_.of(raw);
  const Key key = {&source, source.key_of(raw)};
  auto at = named_kernel_.find(key);
  if (at == named_kernel_.end()) at = named_kernel_.emplace(key, name(raw, source.function_of(raw))).first;
  return at->second;
}

// Without those through which the kernel called the probe.
const std::vector<const Named*>& Namer::names_of_kernel(const RawStack& stack) {
  kernel_names_.resize(raw_.stacks.size());
  std::vector<const Named*>& names = kernel_names_[static_cast<size_t>(&stack - raw_.stacks.data())];
  if (!names.empty()) return names;
  const std::vector<RawFrame> entries = entries_of(stack);
  for (size_t i = 0; i < entries.size(); i++) {
    const Named& named = kernel_at(entries[i]);
    bool is_own = names.empty() && is_tracing(profile_.name(profile_.frames()[named.frames[0]]));
    if (!is_own || i + 1 == entries.size()) names.push_back(&named);
  }
  return names;
}

uint32_t Namer::add_kernel(uint32_t node, const RawStack& stack, uint64_t count) {
  const std::vector<const Named*>& names = names_of_kernel(stack);
  if (stack.is_cut) node = note(node, too_deep);
  for (auto name = names.rbegin(); name != names.rend(); ++name) node = under(node, **name, count);
  return node;
}

// Above the note the waker's stack stands on its head, so that what woke is next to what waited. An interrupt wakes in the
// stack of whom it interrupts, who has no part in that.
uint32_t Namer::add_waker(uint32_t node, const RawSample& s) {
  std::vector<uint32_t> frames; // innermost first
  bool is_interrupt = false;
  const auto add = [&](const Named& named) { frames.insert(frames.end(), named.frames.begin(), named.frames.end()); };
  if (s.waker_kernel != RawSample::no_stack) {
    const std::vector<RawFrame> entries = entries_of(raw_.stacks[s.waker_kernel]);
    for (size_t i = 0; i < entries.size() && !is_interrupt; i++) {
      const Named& named = kernel_at(entries[i]);
      const std::string_view name = profile_.name(profile_.frames()[named.frames[0]]);
      if (!frames.empty() || !is_tracing(name)) add(named);
      is_interrupt = std::ranges::any_of(interrupts, [&](std::string_view with) { return name.starts_with(with); });
    }
  }
  if (s.waker_user != RawSample::no_stack && !is_interrupt)
    for (uint32_t at : user_names_[s.waker_user]) add(named_users_[at]);
  node = note(node, is_interrupt ? woken_by_interrupt : std::string_view(s.leaf));
  for (uint32_t frame : frames) node = profile_.node(node, frame);
  return node;
}

uint32_t Namer::add(const RawSample& s) {
  uint32_t thread = profile_.thread({s.pid, s.tid, profile_.text(s.process), profile_.text(s.thread)});
  uint32_t node = 0;
  bool is_complete = true;
  bool has_kernel = s.kernel != RawSample::no_stack;
  if (s.user != RawSample::no_stack)
    node = add_user(node, raw_.stacks[s.user], s.count, is_complete);
  else if (!has_kernel)
    node = note(node, no_user_stack), is_complete = false;
  if (has_kernel) {
    node = add_kernel(node, raw_.stacks[s.kernel], s.count);
    is_complete &= !raw_.stacks[s.kernel].is_cut;
  }
  if (s.has_waker)
    node = add_waker(node, s);
  else if (!s.leaf.empty())
    node = note(node, s.leaf);
  profile_.about.samples += s.count;
  profile_.about.complete += is_complete ? s.count : 0;
  return profile_.add(thread, node, s.weight, s.count, profile_.link(s.link));
}

std::vector<uint32_t> name_samples(Profile& profile, const RawRecording& raw, symbol::FrameSources& sources) {
  Namer namer(profile, raw, sources);
  std::vector<uint32_t> numbers = namer.run();
  namer.tell_missing();
  profile.about.incomplete = why_incomplete(profile);
  return numbers;
}

GrowingNames::GrowingNames(Profile& profile, const RawRecording& raw, symbol::FrameSources& sources)
    : namer_(std::make_unique<Namer>(profile, raw, sources)) {}
GrowingNames::~GrowingNames() = default;
std::vector<uint32_t> GrowingNames::add_samples() { return namer_->run(); }

} // namespace profile
