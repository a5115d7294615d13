#include "flame/new_go_programs.h"

#include "base/clock.h"
#include "budget/trap_cost.h"
#include "session/script_maps.h"
#include "symbol/process_map.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <sys/stat.h>
#include <utility>

namespace flame {

base::Status NewGoPrograms::take(const ir::Program& program, ir::Engine& engine) {
  ACU_TRY(const uint64_t execs, session::read_number(program, engine, "execs"));
  if (execs == std::exchange(execs_, execs)) return {};
  ACU_TRY(const auto began, session::read_sums(program, engine, "began"));
  for (const auto& [pid, time_ns] : began)
    if (pid && taken_.emplace(pid, time_ns).second) begun_.push_back({pid, time_ns});
  std::erase_if(taken_, [&](const auto& t) { return !began.contains(t.first); });
  return {};
}

void NewGoPrograms::take_running() {
  for (uint32_t pid : symbol::all_processes()) begun_.push_back({pid, 0});
}

std::vector<NewGoPrograms::Started> NewGoPrograms::follow(Goroutines& goroutines, const ir::Program& program, session::Backend& backend, std::vector<std::string>& notes) {
  std::vector<Started> out;
  for (const Begun& b : std::exchange(begun_, {})) {
    const std::string link = "/proc/" + std::to_string(b.pid) + "/exe";
    struct stat file = {};
    if (::stat(link.c_str(), &file) != 0) continue; // it has ended
    const auto known = std::ranges::find(goroutines.programs, file.st_ino, &GoProgram::inode);
    if (known != goroutines.programs.end()) {
      const auto number = static_cast<size_t>(known - goroutines.programs.begin());
      const auto attached = attached_ns_.find(number);
      const bool may_wait = attached != attached_ns_.end() && b.time_ns <= attached->second;
      if (may_wait && started_.emplace(b.pid, number).second) out.push_back({b.pid, number, attached->second});
      continue;
    }
    if (!seen_.emplace(file.st_dev, file.st_ino).second) continue;
    const auto elf = format::ElfFile::open(link);
    if (!elf.ok() || !format::looks_like_go(*elf)) continue;
    std::error_code failed;
    const std::string name = std::filesystem::read_symlink(link, failed).string();
    base::Result<format::GoWaits> waits = format::find_go_waits(*elf);
    if (!waits.ok()) {
      if (b.time_ns) notes.push_back(name + ": " + waits.error().message); // others were told of when acu began
      continue;
    }
    const GoProgram& added = add_program(goroutines, name, file.st_ino, *elf, std::move(*waits));
    if (base::Status probed = probe(added, link, *elf, program, backend); !probed.ok()) {
      notes.push_back(name + " started during the recording, and its goroutines are not seen: " + probed.error().message);
      continue;
    }
    const size_t number = goroutines.programs.size() - 1;
    attached_ns_[number] = base::clock_ns();
    started_.emplace(b.pid, number);
    out.push_back({b.pid, number, attached_ns_[number]});
  }
  return out;
}

// The script knows the file before the first hit.
base::Status NewGoPrograms::probe(const GoProgram& added, const std::string& path, const format::ElfFile& file, const ir::Program& program, session::Backend& backend) {
  const auto later = session::find_map(program, "later"), files = session::find_map(program, "go_files");
  if (!later || !files) return base::Error{base::Failure::runtime, "the script has no probes for it"};
  const uint64_t inode = added.inode, is_go = 1;
  const std::array<uint64_t, 3> differs = {added.first_note, idle_reasons(added.waits.reasons), added.branch_in_page()};
  const auto key = std::as_bytes(std::span(&inode, 1));
  ACU_CHECK(backend.engine().put(*later, key, std::as_bytes(std::span(differs))));
  ACU_CHECK(backend.engine().put(*files, key, std::as_bytes(std::span(&is_go, 1))));

  // In the order of the script: parking, resuming. The last one first: no wait begins whose end is not seen.
  std::vector<uint32_t> probes;
  const std::string place = budget::place_in_acu();
  for (uint32_t i = 0; i < program.probes.size(); i++)
    if (program.probes[i].name == place) probes.push_back(i);
  if (probes.size() != 2) return base::Error{base::Failure::runtime, "the script has no probes for it"};
  for (const auto& [index, function] : {std::pair(probes[1], added.waits.execute), {probes[0], added.waits.park}}) {
    const std::optional<uint64_t> offset = file.elf().offset_of_address(function + format::GoWaits::branch);
    if (!offset) return base::Error{base::Failure::unsupported, "its code is not in the file"};
    const probe::Event event = {.kind = probe::Kind::uprobe, .name = "uprobe:" + added.name + ":goroutines", .binary = path, .file_offset = *offset};
    const probe::Event* const events[] = {&event};
    ACU_CHECK(backend.attach_more(index, events, {}, {}));
  }
  return {};
}

} // namespace flame
