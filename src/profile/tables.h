// A profile as tables: functions by what they took themselves and with what they called, who called them and
// whom they called, processes, modules. And the few lines that say how far a recording can be trusted.
#pragma once

#include "profile/profile.h"
#include "symbol/frame.h"

#include <span>
#include <string>
#include <vector>

namespace profile {

struct Row {
  std::string name;
  std::string where; // module, or the process's number
  FrameKind kind = FrameKind::user;
  uint64_t self = 0, total = 0;
  bool is_end = false; // samples end there
  uint32_t inner = 0; // calls from there to the innermost function of the nearest sample
};

enum class SortBy : uint8_t { self, total, name };
inline constexpr std::string_view sort_words = "self|total|name";
SortBy sort_of(std::string_view word);

// CPU time, as samples or as ns.
bool is_cpu_time(const About& about);

// By frame: a stack is charged to its frame of the lowest rank, the innermost of several.
std::vector<uint8_t> charging_ranks(const Profile& profile);
// By node: that to which what is measured there is charged. Of CPU time it is the node itself; of waits, bytes and
// events the reason, where one is named (a lock, a file, a peer), or else the innermost function of the program's own, which
// is neither the kernel's nor the C library's.
std::vector<uint32_t> charged_nodes(const Profile& profile);

// Code through which all programs wait, read and take memory, as the C library: `module` is a file, `name` a function.
bool is_shared_code(std::string_view module, std::string_view name);
// Of a stack, innermost first, the functions of the program itself: of one in an interpreted language those in that language, else user code that is not
// shared.
std::vector<const symbol::Frame*> program_frames(std::span<const symbol::Frame> stack);

// Code of libraries in the source of a program, such as std::mutex::lock: its callers are meant, not it. Inlined functions are named without their namespace;
// templates among them are mostly those of libraries.
bool is_of_library(const symbol::Frame& frame);

// Rows have as `self` what is charged to them. A function counts once in a stack, however often it is there.
std::vector<Row> functions_of(const Profile& profile, SortBy by);
std::vector<Row> modules_of(const Profile& profile);   // self: code in it; total: with what it calls
std::vector<Row> processes_of(const Profile& profile); // self = total
// total: of the stacks in which the callers (callees) stand next to the function.
std::vector<Row> callers_of(const Profile& profile, const Row& function);
std::vector<Row> callees_of(const Profile& profile, const Row& function);

struct ReportOptions {
  SortBy by = SortBy::self;
  size_t top = 20;
  std::string function; // whose callers and callees are shown; empty: those of the first three
};

// "9.98 s", "1.2 GiB", "1,024": a weight as people read it.
std::string amount(const About& about, uint64_t weight);
std::string percent(uint64_t part, uint64_t whole);
// What was recorded, how much of it is there, and what it cost: lines, each ended.
std::string header_text(const About& about, uint64_t total);
// The first functions alone.
std::string top_text(const Profile& profile, const ReportOptions& options);
std::string report_text(const Profile& profile, const ReportOptions& options);
std::string report_json(const Profile& profile, const ReportOptions& options);

} // namespace profile
