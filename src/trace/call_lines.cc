#include "trace/call_lines.h"

#include "base/clock.h"
#include "base/text.h"
#include "report/json.h"
#include "spec/syscalls.h"
#include "trace/plan.h"
#include "trace/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <utility>
#include <sys/uio.h>
#include <sys/wait.h>

namespace trace {

using Bytes = std::span<const std::byte>;

namespace {

uint64_t number_of(const type::Field& f, Bytes bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + f.offset, std::min<uint32_t>(f.type->size, 8));
  return value;
}

std::string seconds(uint64_t ns) {
  char text[32];
  return std::string(text, static_cast<size_t>(std::snprintf(text, sizeof text, "%.6f", static_cast<double>(ns) / 1e9)));
}

std::string until_zero(Bytes bytes) {
  const char* begin = reinterpret_cast<const char*>(bytes.data());
  return std::string(begin, ::strnlen(begin, bytes.size()));
}

void append_arguments(std::string& json, const CallParts& parts) {
  json += ",\"arguments\":[";
  for (size_t i = 0; i < parts.arguments.size(); i++) {
    json += i ? "," : "";
    report::append_json(json, std::string_view(parts.arguments[i]));
  }
  json += "]";
}

} // namespace

bool CallLines::needs_times() const {
  return options_.durations || options_.min_duration_ns || options_.relative_times || options_.clock_times != ClockTimes::none || options_.json ||
         options_.filter.expression.find("duration") != std::string::npos;
}

// Where the lines are not of one family of processes.
bool CallLines::needs_threads() const { return options_.json || (!options_.filter.command && options_.filter.pid < 0); }

const CallLines::Places& CallLines::places_in(const type::Type& record) {
  auto [at, is_new] = places_.try_emplace(&record);
  if (!is_new) return at->second;
  Places& p = at->second;
  const std::pair<std::string_view, const type::Field**> named[] = {
      {"number", &p.number}, {"result", &p.result}, {"duration", &p.duration}, {"task", &p.task}, {"time", &p.time},
      {"thread", &p.thread}, {"stack", &p.stack}, {"a0", &p.arguments[0]}, {"a1", &p.arguments[1]}, {"a2", &p.arguments[2]},
      {"a3", &p.arguments[3]}, {"a4", &p.arguments[4]}, {"a5", &p.arguments[5]}};
  for (const type::Field& f : record.fields()) {
    const auto* known = std::ranges::find(named, f.name, [](auto& n) { return n.first; });
    if (known != std::end(named)) *known->second = &f;
    else p.copied.push_back(&f);
  }
  return p;
}

CallLines::CallLines(const TracingOptions& options) : options_(options), path_(options.path) {
  shown_.data = options.data;
  epoch_ns_ = static_cast<uint64_t>(base::boot_to_wall_ns());
  shown_.entries = options.verbose;
  // Where calls that open and close are left out, what is known of descriptors may be of the past.
  descriptors_.describe(options.descriptor_details);
  descriptors_.keep(!options.fails_only && !options.min_duration_ns && options.filter.expression.empty());
  shown_.descriptors = options.descriptors ? &descriptors_ : nullptr;
  shown_.sockets = &descriptors_;
  std::error_code failed;
  real_path_ = path_.empty() ? "" : std::filesystem::weakly_canonical(path_, failed).string();
}

void CallLines::started(uint32_t pid) {
  command_ = pid;
  if (names_descriptors()) descriptors_.look_at(pid, SeenDescriptors::Of::after_execve);
}

void CallLines::look_at(uint32_t pid) {
  if (names_descriptors()) descriptors_.look_at(pid, SeenDescriptors::Of::now);
}

bool CallLines::is_asked_for(int call) const {
  if (options_.all_calls || call < 0) return true;
  return std::ranges::binary_search(options_.calls, call < Call::first_of_32 ? call : spec::syscall_named(known_name(call)));
}

// Who it was, where that is not plain.
std::string CallLines::prefix(const Call& call) const {
  const session::TargetFilter& f = options_.filter;
  const bool is_one_thread = f.threads.size() == 1;
  const bool is_alone = f.command ? call.tid == command_ : is_one_thread || static_cast<int>(call.tid) == f.pid;
  if (is_alone) return {};
  const bool is_family = f.command || f.pid >= 0;
  return (is_family ? "[pid " : "[" + base::printable(call.thread) + " ") + std::to_string(call.tid) + "] ";
}

// "14:31:01 ", "     0.000123 ", or both, as strace has them.
std::string CallLines::times(const Call& call) {
  std::string out;
  const bool has_clock = options_.clock_times != ClockTimes::none;
  if (has_clock) out = clock_text(epoch_ns_ + call.begin_ns, options_.clock_times) + " ";
  if (!options_.relative_times) return out;
  const uint64_t before = std::exchange(last_begin_ns_, call.begin_ns);
  // A call of another thread may have begun after this one, and returned before it.
  const double passed = before ? static_cast<double>(static_cast<int64_t>(call.begin_ns - before)) / 1e9 : 0;
  char text[40];
  std::snprintf(text, sizeof text, has_clock ? "(+%13.6f) " : "%13.6f ", passed);
  return out + text;
}

// A page that was not in memory when the call returned: the process has it by now, or never had.
void CallLines::read_later(Call& call, size_t argument, uint64_t length) {
  std::vector<std::byte>& bytes = kept_.emplace_back(std::min<uint64_t>(length, std::max(256u, options_.data)));
  const iovec to = {bytes.data(), bytes.size()}, from = {reinterpret_cast<void*>(call.arguments[argument]), bytes.size()};
  constexpr int64_t bad_address = -EFAULT;
  ssize_t n = ::process_vm_readv(static_cast<pid_t>(call.pid), &to, 1, &from, 1, 0);
  // Else the process may have gone. Linux maps nothing below vm.mmap_min_addr, and no program has the upper half.
  constexpr uint64_t first_address = 4096, end_of_addresses = uint64_t{1} << 47;
  const bool is_no_memory = n < 0 && (errno == EFAULT || call.arguments[argument] < first_address || call.arguments[argument] >= end_of_addresses);
  constexpr uint64_t page = 4096; // the one behind it may not be there
  if (n < 0 && call.arguments[argument] % page + bytes.size() > page) {
    const iovec less = {from.iov_base, page - call.arguments[argument] % page};
    n = ::process_vm_readv(static_cast<pid_t>(call.pid), &to, 1, &less, 1, 0);
  }
  const bool is_text = !call.copied[argument].empty();
  if (n > 0 && !(is_text && bytes[0] == std::byte{0})) {
    bytes.resize(static_cast<size_t>(n));
    call.copied[argument] = bytes;
    call.is_late[argument] = true;
    call.is_cut[argument] = is_text && std::ranges::find(bytes, std::byte{0}) == bytes.end();
    late_++;
  } else if (n <= 0 && (is_no_memory || call.result == bad_address || !is_text)) {
    call.copied[argument] = {}; // shown by its address
    missing_ += call.result != bad_address && !(is_no_memory && call.failed());
  }
}

// Of a script the kernel puts its interpreter, one argument of that at most, and the path in place of the first word; and so again
// where the interpreter is a script.
void CallLines::undo_script(Call& call, const std::string& first_word) {
  const size_t path_at = known_name(call.number) == "execveat";
  const std::string path = until_zero(call.copied[path_at]);
  Bytes& words = call.copied[path_at + 1];
  if (until_zero(words) == first_word) return;
  constexpr size_t max_before = 2 * 5; // BINPRM_MAX_RECURSION of the kernel's fs/exec.c, and the script itself
  size_t at = 0;
  for (size_t n = 0; n <= max_before && at < words.size(); n++) {
    const std::string word = until_zero(words.subspan(at));
    at = std::min(at + word.size() + 1, words.size());
    if (n == 0 || word != path) continue;
    std::vector<std::byte>& own = kept_.emplace_back();
    const auto* first = reinterpret_cast<const std::byte*>(first_word.c_str());
    own.assign(first, first + first_word.size() + 1);
    own.insert(own.end(), words.begin() + static_cast<ptrdiff_t>(at), words.end());
    words = own;
    return;
  }
}

// One of the words of an execve(2) that failed: all of them together are like those of one that did not, each ended by a zero.
void CallLines::add_word(Call& call, size_t argument, size_t index, Bytes word) {
  const uint64_t number = call.arguments.back() >> 32;
  if (index >= std::min<uint64_t>(number, max_words)) return;
  if (!index) kept_.emplace_back();
  std::vector<std::byte>& all = kept_.back();
  const std::string text = until_zero(word);
  const auto* first = reinterpret_cast<const std::byte*>(text.c_str());
  all.insert(all.end(), first, first + text.size() + 1);
  call.copied[argument] = all;
  call.is_cut[argument] = number > max_words;
}

// A timeout as it was at the entry; what is left of it is what was copied.
void CallLines::take_timeout(Call& call, const Plan& plan) {
  if (!plan.timeout) return;
  const std::optional<Timeout> at_entry = unpack_timeout(call.arguments[*plan.timeout]);
  if (!at_entry) return;
  std::vector<std::byte>& timeout = kept_.emplace_back(sizeof *at_entry); // like struct timespec
  std::memcpy(timeout.data(), &*at_entry, timeout.size());
  call.left = std::exchange(call.copied[*plan.timeout], timeout);
}

// Of select(2): what is left of the timeout, the mask, the sets before and after.
void CallLines::read_sets(Call& call, const Places& places, Bytes bytes) {
  std::vector<Bytes> parts;
  for (const type::Field* f : places.copied) {
    const Bytes part = bytes.subspan(f->offset, f->type->size);
    parts.push_back(part.subspan(4, std::min<size_t>(number_at<uint32_t>(part, 0), part.size() - 4)));
  }
  constexpr size_t left = 0, mask = 1, sets = 2;
  if (parts.size() < sets) return;
  call.copied[4] = parts[left];
  call.sets.assign(parts.begin() + sets, parts.end());
  call.sets.push_back(parts[mask]);
  take_timeout(call, plan_of(call.number));
}

// What was copied belongs to the arguments that the plan of the call names.
Call CallLines::read(const type::Type& type, Bytes bytes) {
  const Places& places = places_in(type);
  Call call;
  call.number = static_cast<int>(number_of(*places.number, bytes));
  call.result = static_cast<int64_t>(number_of(*places.result, bytes));
  call.duration_ns = number_of(*places.duration, bytes);
  const bool has_duration = call.number >= 0 && call.duration_ns != Call::no_time;
  if (places.time) call.begin_ns = number_of(*places.time, bytes) - (has_duration ? call.duration_ns : 0);
  const uint64_t task = number_of(*places.task, bytes);
  call.tid = static_cast<uint32_t>(task);
  call.pid = static_cast<uint32_t>(task >> 32);
  if (places.thread) call.thread = until_zero(bytes.subspan(places.thread->offset, places.thread->type->size));
  for (size_t i = 0; i < call.arguments.size(); i++) call.arguments[i] = number_of(*places.arguments[i], bytes);
  if (call.number < 0) return call;
  const Plan& plan = plan_of(call.number);
  kept_.clear();
  if (call.number == select_number || call.number == pselect_number) {
    read_sets(call, places, bytes);
    return call;
  }
  std::string first_word;
  const bool has_inner = plan.shape == Shape::vectors || plan.shape == Shape::message;
  for (size_t i = 0; i < places.copied.size(); i++) {
    const type::Field& f = *places.copied[i];
    Bytes part = bytes.subspan(f.offset, f.type->size);
    if (plan.takes_path_at_entry && i == 1) { // the path once more, as the kernel has it at the end
      const size_t path = known_name(call.number) == "execveat";
      if (!call.copied[path].empty() && call.copied[path][0] == std::byte{0}) call.copied[path] = part;
      continue;
    }
    if (plan.takes_path_at_entry && i == 3 && !call.failed()) {
      first_word = until_zero(part);
      continue;
    }
    const size_t first = known_name(call.number) == "execveat";
    if (plan.takes_path_at_entry && i >= 2 && call.failed()) {
      add_word(call, first + 1, i - 2, part);
      continue;
    }
    const size_t argument = plan.takes_path_at_entry ? i / 2 + first : i && has_inner ? 0 : plan.slots[i].argument;
    if (f.type->is(type::Kind::buffer)) {
      const uint32_t length = number_at<uint32_t>(part, 0);
      part = part.subspan(4, std::min<size_t>(length, part.size() - 4));
      if (i && has_inner) call.inner.push_back(part);
      else call.copied[argument] = part;
    } else if (f.type->is(type::Kind::string)) {
      call.copied[argument] = part;
      call.is_cut[argument] = !part.empty() && part.back() != std::byte{0};
    }
  }
  if (!first_word.empty() && !call.failed()) undo_script(call, first_word);
  take_timeout(call, plan);
  if (plan.word && call.arguments[*plan.word] && !call.failed()) {
    std::vector<std::byte>& word = kept_.emplace_back(sizeof(uint64_t));
    std::memcpy(word.data(), &call.arguments.back(), word.size());
    call.copied[*plan.word] = Bytes(word).first(known_call(call.number).arguments[*plan.word].kind->bytes);
  }
  for (size_t i = 0; i < plan.slots.size() && !plan.takes_path_at_entry && plan.returns; i++) {
    const Plan::Slot& slot = plan.slots[i];
    if (i && (has_inner || plan.shape == Shape::text || plan.shape == Shape::memory)) break;
    if (plan.shape == Shape::nothing || !call.arguments[slot.argument]) continue;
    // Of some calls other arguments say whether it is an address at all.
    const ValueKind* kind = known_call(call.number).arguments[slot.argument].kind;
    if (slot.bytes > 1 && kind->is_number_too) continue;
    const Bytes copied = call.copied[slot.argument];
    const bool is_text = slot.bytes == 0;
    const uint64_t count = slot.counted == Plan::by_result ? static_cast<uint64_t>(std::max<int64_t>(call.result, 0))
                           : slot.counted                  ? call.arguments[slot.counted - size_t{1}]
                                                           : 1;
    // An empty text, or none that could be read: where the call has succeeded the kernel has read it, so that it was there.
    const bool is_missing = is_text ? !copied.empty() && copied[0] == std::byte{0} && call.failed() : copied.empty() && count && !(slot.is_out && call.failed());
    if (is_missing) read_later(call, slot.argument, is_text ? UINT64_MAX : slot.bytes * std::min<uint64_t>(count, UINT32_MAX));
  }
  return call;
}

// Is the path among its arguments, or that of one of its descriptors?
bool CallLines::concerns_path(const Call& call) {
  const spec::SyscallRow* row = row_of(call.number);
  if (!row) return false;
  auto is_it = [&](std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return !path.empty() && (path == path_ || path == real_path_);
  };
  const std::vector<Argument>& arguments = known_call(call.number).arguments;
  int folder = AT_FDCWD;
  for (size_t i = 0; i < arguments.size() && i < call.arguments.size(); i++) {
    const std::string_view kind = arguments[i].kind ? arguments[i].kind->name : std::string_view();
    const auto fd = static_cast<int>(call.arguments[i]);
    if (kind == "dirfd") folder = fd;
    if ((kind == "fd" || kind == "dirfd" || kind == "map_fd") && fd >= 0 && is_it(descriptors_.path(call.pid, fd))) return true;
    if (kind != "path" || call.copied[i].empty()) continue;
    const std::string path = until_zero(call.copied[i]);
    if (is_it(path)) return true;
    if (path.empty() || path.starts_with('/')) continue;
    const std::filesystem::path whole = std::filesystem::path(descriptors_.path(call.pid, folder)) / path;
    if (is_it(whole.lexically_normal().string())) return true;
  }
  return row->result == "fd" && call.result >= 0 && is_it(descriptors_.path(call.pid, static_cast<int>(call.result)));
}

std::string CallLines::text(const Call& call, const std::string& stack) {
  constexpr size_t usual_length = 256;
  std::string out = prefix(call) + times(call);
  out.reserve(usual_length);
  if (call.number < 0) {
    const auto code = static_cast<int>(call.result);
    return out + (call.number == signal_record ? signal_text(call.duration_ns, code, std::as_bytes(std::span(call.arguments))) : end_text(code)) + "\n";
  }
  if (call.is_32()) out += "[32 bit] ";
  append_call(out, call, shown_);
  if (options_.durations && call.duration_ns != Call::no_time) out += " <" + seconds(call.duration_ns) + ">";
  out += "\n";
  if (!stack.empty()) out += "        " + stack + "\n";
  return out;
}

std::string CallLines::json(const Call& call, const std::string& stack) {
  std::string out = "{\"thread\":";
  auto add = [&](std::string_view key, auto value) {
    out.append(",\"").append(key).append("\":");
    report::append_json(out, value);
  };
  auto add_number = [&](std::string_view key, int64_t value) {
    add(key, report::Number{static_cast<uint64_t>(value), true});
  };
  report::append_json(out, std::string_view(call.thread));
  add_number("pid", call.pid);
  add_number("tid", call.tid);
  if (options_.clock_times != ClockTimes::none)
    add("time", std::string_view(clock_text(epoch_ns_ + call.begin_ns, options_.clock_times)));
  if (call.number == signal_record) {
    add("signal", std::string_view(signal(call.duration_ns)));
    if (call.result != unknown_code) add_number("code", call.result);
    return out + "}\n";
  }
  if (call.number == end_record) {
    const auto status = static_cast<int>(call.result);
    if (WIFEXITED(status)) add_number("exited", WEXITSTATUS(status));
    if (!WIFEXITED(status)) add("killed", std::string_view(signal(static_cast<uint64_t>(WTERMSIG(status)))));
    return out + "}\n";
  }
  const CallParts parts = call_parts(call, shown_);
  add("call", std::string_view(parts.name));
  if (call.is_32()) add_number("bits", 32);
  append_arguments(out, parts);
  if (call.duration_ns != Call::no_time) {
    add_number("result", call.failed() ? -1 : call.result);
    if (call.failed()) add("error", std::string_view(parts.error));
    out += ",\"seconds\":" + seconds(call.duration_ns);
  }
  if (!stack.empty()) {
    out += ",\"stack\":[";
    const char* between = "";
    for (std::string_view frame : base::split(stack, '\n')) {
      out += between;
      report::append_json(out, base::trim(frame));
      between = ",";
    }
    out += "]";
  }
  return out + "}\n";
}

std::string CallLines::line(const type::Type& type, Bytes bytes, report::Printer& printer) {
  if (!places_in(type).number) return {};
  const Call call = read(type, bytes);
  if (call.number == detail_record) {
    descriptors_.take_detail(call);
    return {};
  }
  if (call.number >= 0) threads_[call.tid] = call.is_32();
  if (call.number == end_record) threads_.erase(call.tid);
  const bool learns = call.number >= 0 && names_descriptors();
  if (learns) descriptors_.learn(call);
  descriptors_.learn_netlink(call);
  const bool is_told = is_asked_for(call.number) && (path_.empty() || (call.number >= 0 && concerns_path(call)));
  std::string stack;
  if (is_told && options_.stacks && call.number >= 0) {
    const type::Field& f = *places_in(type).stack;
    stack = base::trim(printer.text(*f.type, bytes.subspan(f.offset, f.type->size)));
  }
  std::string out;
  told_ += is_told && call.number >= 0;
  if (is_told) out = options_.json ? json(call, stack) : text(call, stack);
  if (learns) descriptors_.forget(call);
  return out;
}

std::string CallLines::line(const Unfinished& call) const {
  const std::string tid = std::to_string(call.tid);
  CallParts parts;
  parts.name = call_name(call.call);
  parts.arguments = {"..."};
  if (call.arguments) {
    Call begun;
    begun.number = call.call;
    begun.pid = begun.tid = call.tid;
    begun.arguments = *call.arguments;
    begun.result = -1; // what it would write is not there yet
    parts = call_parts(begun, shown_);
  }
  if (options_.json) {
    std::string out = "{\"tid\":" + tid + ",\"call\":";
    report::append_json(out, std::string_view(parts.name));
    if (call.arguments) append_arguments(out, parts);
    return out + ",\"unfinished\":true" + (call.ns ? ",\"seconds\":" + seconds(*call.ns) : "") + "}\n";
  }
  std::string out = "[pid " + tid + "] " + parts.name + "(";
  for (size_t i = 0; i < parts.arguments.size(); i++) out += (i ? ", " : "") + parts.arguments[i];
  return out + " <unfinished" + (call.ns ? " after " + seconds(*call.ns) : call.began_before ? ", begun before" : "") + ">\n";
}

} // namespace trace
