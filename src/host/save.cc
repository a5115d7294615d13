#include "host/save.h"

#include "base/text.h"
#include "format/tracefs.h"
#include "host/saved.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <libdeflate.h>

namespace host {

namespace {

// Where the kernel is linked to: __START_KERNEL_map and the default of CONFIG_PHYSICAL_START; KIMAGE_VADDR.
#if defined(__x86_64__)
constexpr uint64_t link_address = 0xffffffff81000000, module_address = 0xffffffffc0000000;
#else
constexpr uint64_t link_address = 0xffff800080000000, module_address = 0xffff80007a000000;
#endif
constexpr uint64_t lowest_address = uint64_t{1} << 47; // below are offsets of per-CPU variables, and constants

using Entries = std::vector<std::pair<std::string, std::string>>;

template<class F> void for_each_line(std::string_view text, F take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Lines of /proc/kallsyms with other addresses. Programs of BPF come and go: they are left out.
std::string symbols_of(std::string_view text) {
  constexpr std::string_view start = "_text", bpf = "[bpf]";
  uint64_t start_of_kernel = 0, start_of_modules = ~uint64_t{0};
  auto for_each = [&](auto&& take) {
    for_each_line(text, [&](std::string_view line) {
      uint64_t address = 0;
      if (base::take_hex(line, ' ', address) && line.size() >= 3 && !line.ends_with(bpf)) take(address, line);
    });
  };
  for_each([&](uint64_t address, std::string_view line) {
    if (line.substr(2) == start) start_of_kernel = address;
    if (address && line.ends_with(']')) start_of_modules = std::min(start_of_modules, address);
  });
  std::string out;
  for_each([&](uint64_t address, std::string_view line) {
    if (address && line.ends_with(']'))
      address = address - start_of_modules + module_address;
    else if (address >= lowest_address)
      address = start_of_kernel ? address - start_of_kernel + link_address : 0;
    char number[20];
    std::snprintf(number, sizeof number, "%016lx ", address);
    out.append(number).append(line).append(1, '\n');
  });
  return out;
}

// "nf_tables 380928 1 nft_chain_nat, Live 0xffffffffc0a00000": the names.
std::string modules_of(std::string_view text) {
  std::string out;
  for_each_line(text, [&](std::string_view line) { out.append(line.substr(0, line.find(' '))).append(" \n"); });
  return out;
}

// "0xffffffff81000000-0xffffffff81000010\tname": the names.
std::string list_of_kept_away(std::string_view text) {
  std::string out;
  for_each_line(text, [&](std::string_view line) {
    if (size_t tab = line.find('\t'); tab != line.npos) out.append("0-0").append(line.substr(tab)).append(1, '\n');
  });
  return out;
}

struct File {
  const char* path;
  std::string (*change)(std::string_view text); // nullptr: as it is
  bool is_expected;                             // one that is not there is told
};
constexpr File files[] = {
    {"/proc/kallsyms", symbols_of, true},
    {"/proc/modules", modules_of, false},
    {"/proc/sys/abi/vsyscall32", nullptr, false},
    {"/proc/sys/kernel/kptr_restrict", nullptr, false},
    {"/proc/sys/kernel/perf_event_paranoid", nullptr, false},
    {"/proc/sys/kernel/unprivileged_bpf_disabled", nullptr, false},
    {"/sys/devices/system/cpu/online", nullptr, false},
    {"/sys/kernel/debug/kprobes/blacklist", list_of_kept_away, false},
    {"/sys/kernel/debug/sched/preempt", nullptr, false},
    {"/sys/kernel/security/lockdown", nullptr, false},
    {kernel_types_path, nullptr, true},
};

void add_modules(Entries& to) {
  std::error_code failed;
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator("/sys/kernel/btf", failed))
    if (file.path() != kernel_types_path) paths.push_back(file.path());
  std::sort(paths.begin(), paths.end());
  for (std::string& path : paths)
    if (auto bytes = this_host().read(path); bytes.ok()) to.emplace_back(std::move(path), std::move(*bytes));
}

base::Status add_events(Entries& to) {
  ACU_TRY(format::Tracefs tracefs, this_host().tracefs());
  for (const char* name : {"available_events", "available_filter_functions", "dynamic_events"})
    if (auto text = tracefs.read(name); text.ok()) to.emplace_back("tracefs/" + std::string(name), std::move(*text));
  ACU_TRY(std::vector<format::TraceEvent> events, tracefs.events());
  std::string formats;
  for (const format::TraceEvent& e : events)
    if (auto text = tracefs.format(e.category, e.event); text.ok())
      formats.append(e.category).append(1, ':').append(e.event).append(1, '\0')
          .append(*text, 0, text->find("\nprint fmt:")).append("\n\0", 2);
  to.emplace_back("tracefs formats", std::move(formats));
  return {};
}

template<class T> void put(std::string& to, T number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string pack(std::string_view text) {
  constexpr int thorough = 9; // 0.5 s for a host
  auto* z = libdeflate_alloc_compressor(thorough);
  std::string out(libdeflate_zlib_compress_bound(z, text.size()), '\0');
  out.resize(libdeflate_zlib_compress(z, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(z);
  return out;
}

std::string file_of(const Entries& entries) {
  std::string table, packed;
  put(table, static_cast<uint32_t>(entries.size()));
  for (auto& [name, text] : entries) {
    const std::string bytes = pack(text);
    put(table, static_cast<uint32_t>(name.size()));
    table += name;
    put(table, uint64_t{text.size()});
    put(table, uint64_t{bytes.size()});
    packed += bytes;
  }
  table += packed;
  std::string out(saved_magic);
  put(out, saved_version);
  put(out, libdeflate_crc32(0, table.data(), table.size()));
  return out + table;
}

} // namespace

SavedFile save_this_host(std::map<std::string, int64_t> answers) {
  SavedFile out;
  Environment& host = this_host();
  const Kernel kernel = host.kernel();
  const Clocks clocks = host.clocks();
  answers["possible_cpus"] = host.possible_cpus();
  answers["boot_ns"] = static_cast<int64_t>(clocks.boot_ns);
  answers["boot_to_wall_ns"] = clocks.boot_to_wall_ns;
  std::string lines;
  for (auto& [question, answer] : answers) lines += question + " " + std::to_string(answer) + "\n";
  Entries entries = {{"kernel", "release " + kernel.release + "\nversion " + kernel.version + "\nmachine " + kernel.machine + "\n"},
                     {"answers", std::move(lines)}};
  for (const File& file : files) {
    auto text = host.read(file.path);
    if (text.ok())
      entries.emplace_back(file.path, file.change ? file.change(*text) : std::move(*text));
    else if (file.is_expected)
      out.left_out.push_back(std::move(text.error().message));
  }
  add_modules(entries);
  if (auto added = add_events(entries); !added.ok()) out.left_out.push_back(std::move(added.error().message));
  out.bytes = file_of(entries);
  return out;
}

} // namespace host
