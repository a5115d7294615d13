// The verifier prints each instruction that it follows as "12: (85) call …", between them the states of
// registers and script lines ("; …"), then its complaint, then a line of statistics.
#include "bpf/failure.h"

#include "base/text.h"
#include "bpf/features.h"
#include "probe/kernel_refusal.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>
#include <sys/syscall.h>
#include <unistd.h>

namespace bpf {
namespace {

// "12: (85) call …" -> 12
std::optional<uint32_t> instruction_number(std::string_view line) {
  uint32_t number = 0;
  auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc()) return {};
  std::string_view rest = line.substr(static_cast<size_t>(end - line.data()));
  if (!rest.starts_with(": (")) return {};
  return number;
}

// "unreachable insn 7" -> 7
std::optional<uint32_t> mentioned_instruction(std::string_view line) {
  size_t at = line.find("insn ");
  if (at == line.npos) return {};
  uint32_t number = 0;
  auto [end, error] = std::from_chars(line.data() + at + 5, line.data() + line.size(), number);
  if (error != std::errc()) return {};
  return number;
}

bool is_noise(std::string_view line) {
  constexpr std::string_view starts[] = {
      "processed ",   "verification time", "stack depth", "; ",    "from ",
      "max_states",   "peak_states",       "mark_read",   "func#", "Live regs",
      "arg#",         "insn_processed",    "last_idx",    "regs=", "parent ",
      "mark_precise", "caller:",           "callee:",     "frame", "Validating "};
  if (line.empty()) return true;
  return std::any_of(std::begin(starts), std::end(starts), [&](auto s) { return line.starts_with(s); });
}

std::optional<base::Range> place_of(const Code& code, uint32_t insn) {
  auto after = std::upper_bound(code.lines.begin(), code.lines.end(), insn,
                                [](uint32_t n, const LineInfo& line) { return n < line.insn; });
  if (after == code.lines.begin()) return {};
  return std::prev(after)->where;
}

std::string describe_place(const Code& code, uint32_t insn, const base::Source* source) {
  std::string text = " (instruction " + std::to_string(insn);
  if (auto where = place_of(code, insn); where && source) {
    text += ", " + source->place(*where) + ": `";
    text += base::trim(source->line_at(where->begin));
    text += "`";
  }
  return text + ")";
}

constexpr const char* walks_turns =
    ": its verifier walks each turn of a loop, so loops must be few and short";

bool says_unknown(std::string_view text) {
  constexpr std::string_view words[] = {"unknown func", "cannot use helper", "invalid func",
                                        "failed to find the address for kernel symbol",
                                        "calling kernel function"};
  return std::any_of(std::begin(words), std::end(words), [&](auto w) { return text.find(w) != text.npos; });
}

} // namespace

base::Error permission_error(std::string_view what) {
  return {base::Failure::permission, std::string(what) + probe::why_not_permitted()};
}

Complaint find_complaint(std::string_view log) {
  Complaint complaint;
  std::vector<std::string_view> words;
  log = log.substr(0, log.find('\0'));
  for (std::string_view line : base::split(log, '\n')) {
    if (auto number = instruction_number(line)) {
      complaint.insn = number;
      words.clear();
    } else if (!is_noise(line)) {
      words.push_back(base::trim(line));
    }
  }
  if (words.size() > 3) words.erase(words.begin(), words.end() - 3);
  for (std::string_view word : words) {
    if (!complaint.text.empty()) complaint.text += "; ";
    complaint.text += word;
  }
  if (!complaint.insn) complaint.insn = mentioned_instruction(complaint.text);
  return complaint;
}

// Too many instructions, to follow or at all, functions, or maps; too many branches that wait, which older kernels call a bad address.
bool is_too_long(int error) { return error == E2BIG || error == EFAULT; }

base::Error too_long_error(const ir::Probe& probe, const Code& code, const base::Source* source) {
  std::string message = source ? source->place(probe.where) + ": " : std::string();
  std::set<uint32_t> maps;
  for (const Relocation& r : code.relocations) maps.insert(r.map);
  if (maps.size() > most_maps_of_program)
    return {base::Failure::runtime, message + "the block of " + code.name + " uses " + std::to_string(maps.size()) +
                                        " maps, with acu's own; the kernel allows a program " + std::to_string(most_maps_of_program) +
                                        "\nHINT: distribute the statements over several probes on the same event, or use one map with one more key"};
  constexpr size_t most_functions = 256; // BPF_MAX_SUBPROGS
  if (code.functions.size() > most_functions)
    return {base::Failure::runtime, message + "the block of " + code.name + " becomes " + std::to_string(code.functions.size()) +
                                        " functions, of which each loop is one; the kernel allows a program " + std::to_string(most_functions) +
                                        "\nHINT: distribute the loops over several probes on the same event, or write what repeats as a function (`fn`)"};
  message += "the block of " + code.name + " is too long for the kernel: its verifier follows at most 1,000,000 instructions, on all ways through the " +
             "block, and 8,192 branches; the block has " + std::to_string(code.insns.size()) + " instructions";
  const bool walks = features().ask(Feature::loop) == Answer::no;
  if (walks) message += "; " + lack_of(Feature::loop) + walks_turns;
  message += "\nHINT: distribute the statements over several probes on the same event, or write what repeats as a loop over a map";
  return {walks ? base::Failure::unsupported : base::Failure::runtime, std::move(message)};
}

base::Error program_error(const Code& code, int error, std::string_view log, const base::Source* source) {
  Complaint complaint = find_complaint(log);
  std::string what = "cannot load the program of " + code.name;
  if (complaint.text.empty()) {
    if (error == EPERM || error == EACCES) return permission_error(what);
    if (error == EINVAL) {
      return {base::Failure::unsupported, what + ": the kernel does not take programs of this kind"};
    }
    return base::errno_error(what, error);
  }
  std::string message = what + ": the kernel's verifier says: " + complaint.text;
  if (complaint.insn) message += describe_place(code, *complaint.insn, source);
  if (complaint.text.find("failed to find the address for kernel symbol") != complaint.text.npos)
    message += "; this kernel's list of symbols has functions only (it needs CONFIG_KALLSYMS_ALL)";
  if (complaint.text.find("bpf_probe_write_user") != complaint.text.npos)
    message +=
        "; writing into processes is not permitted here (no CAP_SYS_ADMIN, or the kernel is in lockdown)";
  bool is_unknown = says_unknown(complaint.text);
  if (is_unknown && complaint.text.find("bpf_get_socket_cookie") != complaint.text.npos &&
      features().ask(Feature::socket_cookie) == Answer::no)
    message += "; " + lack_of(Feature::socket_cookie);
  if (complaint.text.find("too complex") != complaint.text.npos && features().ask(Feature::loop) == Answer::no) {
    message += "; " + lack_of(Feature::loop) + walks_turns;
    is_unknown = true;
  }
  return {is_unknown ? base::Failure::unsupported : base::Failure::runtime, std::move(message)};
}

constexpr uint32_t most_key_without_large_keys = 512; // bytes

base::Error map_error(const MapSpec& map, std::string_view name, int error) {
  std::string what = "cannot create map " + std::string(name);
  std::string size = std::to_string(map.max_entries) + " entries of " + std::to_string(map.key_size) + "+" +
                     std::to_string(map.value_size) + " bytes";
  switch (error) {
  case EPERM:
  case EACCES: return permission_error(what);
  case ENOMEM: return {base::Failure::runtime, what + ": not enough memory for " + size};
  case E2BIG:
    if (map.key_size > most_key_without_large_keys && features().ask(Feature::large_keys) == Answer::no)
      return {base::Failure::unsupported, what + ": its keys have " + std::to_string(map.key_size) +
                                              " bytes; " + lack_of(Feature::large_keys) +
                                              ": at most 512 bytes; shorten strings in keys, as by `str(p, "
                                              "64)`, or all by `config = { max_strlen = 64 }`"};
    return {base::Failure::runtime, what + ": too large for the kernel: " + size};
  case EINVAL:
    return {base::Failure::unsupported, what + ": the kernel does not take this kind of map or its sizes: " +
                                            size + ", kind " + std::to_string(map.type)};
  default: return base::errno_error(what, error);
  }
}

} // namespace bpf
