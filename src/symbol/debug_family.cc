#include "symbol/debug_family.h"

#include "symbol/kept_sections.h"

namespace symbol {

DebugFamily::DebugFamily(const format::ElfFile& file, const DebugFile& debug, const std::string& path,
                         const DebugSearch& search, bool with_locations)
    : file_(file), debug_(debug), path_(path), search_(search), with_locations_(with_locations),
      info_(keep_sections(file), with_locations) {
  info_.set_companions({.alternate = [this] { return alternate(); },
                        .split = [this](const dwarf::Unit& skeleton) { return split(skeleton); }});
}

DebugFamily::Member::Member(format::ElfFile from, bool with_locations)
    : file(std::move(from)), info(keep_sections(file), with_locations) {}

dwarf::DebugInfo* DebugFamily::alternate() {
  if (!alternate_ && debug_.alt.file) alternate_.emplace(keep_sections(*debug_.alt.file), with_locations_);
  return alternate_ ? &*alternate_ : nullptr;
}

// All units in one package, or each in a file of its own.
dwarf::DebugInfo* DebugFamily::split(const dwarf::Unit& skeleton) {
  if (!std::exchange(looked_for_package_, true)) package_ = open(find_dwp(path_, debug_, search_));
  if (package_) return &package_->info;
  auto [at, is_new] = units_.try_emplace({std::string(skeleton.folder), std::string(skeleton.split_name)});
  if (is_new) at->second = open(find_dwo(at->first.second, at->first.first, path_, search_));
  return at->second ? &at->second->info : nullptr;
}

std::unique_ptr<DebugFamily::Member> DebugFamily::open(FoundFile found) const {
  return found.file ? std::make_unique<Member>(std::move(*found.file), with_locations_) : nullptr;
}

void DebugFamily::find_all() {
  if (std::exchange(found_all_, true)) return;
  for (size_t i = 0; i < info_.units().size() && !package_; i++)
    if (auto unit = info_.peek_unit(i); unit && unit->is_skeleton()) split(*unit);
  files_ = {&file_, alternate() ? &*debug_.alt.file : nullptr};
  infos_ = {&info_, alternate()};
  auto add = [this](Member& member) {
    files_.push_back(&member.file);
    infos_.push_back(&member.info);
  };
  if (package_) add(*package_);
  for (auto& [name, member] : units_)
    if (member) add(*member);
}

const std::vector<const format::ElfFile*>& DebugFamily::files() {
  find_all();
  return files_;
}

const dwarf::IndexedFiles& DebugFamily::infos() {
  find_all();
  return infos_;
}

} // namespace symbol
