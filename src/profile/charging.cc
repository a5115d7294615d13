// Whose a wait, a byte or an event is. On top of a stack are the kernel's functions and those of libraries through which all
// programs wait, read and take memory; they are the same everywhere, and tell nothing.
#include "base/text.h"
#include "profile/tables.h"
#include "spec/profile_kinds.h"

#include <algorithm>
#include <array>
#include <span>

namespace profile {

namespace {

// Beginnings of the names of files through which programs ask the kernel, or take memory.
constexpr std::array<std::string_view, 18> shared = {"libc.so", "libc-2.", "libc.musl-", "ld-musl-", "ld-linux", "ld-2.", "libpthread", "librt.so", "libdl.so",
                                                     "libm.so", "libstdc++.so", "libgcc_s.so", "libc++.so", "libc++abi.so", "libjemalloc.so", "libtcmalloc", "libmimalloc.so", "[vdso]"};
// The same in programs that are linked statically.
constexpr std::array<std::string_view, 10> shared_names = {"malloc", "calloc", "realloc", "mmap", "mmap64", "sbrk", "read", "write", "operator new(unsigned long)", "operator new[](unsigned long)"};
// Beginnings of the names of functions of Go through which goroutines wait.
constexpr std::array<std::string_view, 8> waits_of_go = {"runtime.", "runtime/", "internal/", "sync.", "syscall.", "time.Sleep", "net.(*", "os.(*File)"};
// Parts of the names of source files of libraries of interpreted languages.
constexpr std::array<std::string_view, 8> language_libraries = {"/lib/python", "/lib/ruby/", "/gems/", "/share/perl", "/lib/x86_64-linux-gnu/perl", "/share/lua/", "/share/php/", "/node_modules/"};
// Beginnings of the names of the kernel's functions in which every thread waits.
constexpr std::array<std::string_view, 6> waiting = {"__schedule", "schedule", "preempt_schedule", "io_schedule", "__cond_resched", "usleep_range"};

bool begins_with_one(std::span<const std::string_view> of, std::string_view text) {
  return std::ranges::any_of(of, [&](std::string_view with) { return text.starts_with(with); });
}

// "[waits for %]": notes of a recording that name something. Those that are the same for all do not.
bool is_reason(std::string_view note) {
  bool names_something = false;
  for (const spec::ProfileKind& kind : spec::profile_kinds)
    for (std::string_view leaf : base::split(kind.leaves, '|')) {
      const size_t at = leaf.find('%');
      if (at == leaf.npos && leaf == note) return false;
      if (at == leaf.npos) continue;
      names_something |= note.size() >= leaf.size() && note.starts_with(leaf.substr(0, at)) && note.ends_with(leaf.substr(at + 1));
    }
  return names_something;
}

// A stack is charged to its frame of the first of these that it has, the innermost of several. The page gets the numbers (page/tree.js).
enum class Rank : uint8_t { reason, own, shared, kernel, waiting, nothing };

Rank rank_of(const Profile& p, const Frame& f) {
  const std::string_view name = p.name(f), module = p.module(f);
  switch (spec::row_of(f.kind).side) {
  case spec::Side::none: return is_reason(name) ? Rank::reason : Rank::nothing;
  case spec::Side::kernel: return begins_with_one(waiting, name) ? Rank::waiting : Rank::kernel;
  case spec::Side::user: break;
  }
  const bool is_of_go = spec::row_of(f.kind).layer == spec::Layer::none && begins_with_one(waits_of_go, name);
  return is_of_go || is_shared_code(module, name) ? Rank::shared : Rank::own;
}

} // namespace

bool is_shared_code(std::string_view module, std::string_view name) {
  return begins_with_one(shared, module.substr(module.rfind('/') + 1)) || base::is_one_of(shared_names, name);
}

std::vector<const symbol::Frame*> program_frames(std::span<const symbol::Frame> stack) {
  const auto is_of_language = [](const symbol::Frame& f) { return spec::row_of(f.kind).layer == spec::Layer::language; };
  const bool is_interpreted = std::ranges::any_of(stack, is_of_language);
  std::vector<const symbol::Frame*> out;
  for (const symbol::Frame& f : stack) {
    const bool is_own = is_interpreted ? is_of_language(f) : spec::row_of(f.kind).side == spec::Side::user && !is_shared_code(f.module, f.name);
    if (is_own) out.push_back(&f);
  }
  return out;
}

bool is_of_library(const symbol::Frame& frame) {
  const std::string_view name = frame.name;
  if (spec::row_of(frame.kind).layer == spec::Layer::language)
    return std::ranges::any_of(language_libraries, [&](std::string_view part) { return frame.module.find(part) != frame.module.npos; });
  if (spec::is_inlined(frame.kind) && name.find('<') < name.find('(')) return true;
  constexpr std::string_view spaces[] = {"std::", "__gnu_cxx::", "__gthread_", "boost::", "core::", "alloc::"};
  return std::ranges::any_of(spaces, [&](std::string_view space) { return name.find(space) < std::min(name.find('('), name.find('<')); });
}

bool is_cpu_time(const About& about) { return about.unit == "samples" || (about.unit == "ns" && about.title.starts_with("CPU")); }

std::vector<uint8_t> charging_ranks(const Profile& p) {
  std::vector<uint8_t> out;
  const bool is_cpu = is_cpu_time(p.about);
  for (const Frame& f : p.frames()) out.push_back(static_cast<uint8_t>(is_cpu ? Rank::own : rank_of(p, f)));
  return out;
}

std::vector<uint32_t> charged_nodes(const Profile& p) {
  std::vector<uint32_t> out(p.nodes().size());
  const std::vector<uint8_t> ranks = charging_ranks(p);
  constexpr auto nothing = static_cast<uint8_t>(Rank::nothing);
  auto rank = [&](uint32_t node) { return node ? ranks[p.nodes()[node].frame] : nothing; };
  // The best so far on the way from the root; parents have lower numbers.
  for (uint32_t n = 1; n < out.size(); n++) {
    const uint32_t above = out[p.nodes()[n].parent];
    out[n] = rank(n) <= rank(above) ? n : above;
  }
  return out;
}

} // namespace profile
