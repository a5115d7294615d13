#include "symbol/frame_source.h"

#include "symbol/demangle.h"

#include <vector>

namespace symbol {

namespace {

// What is in a file has its names once, however many processes run it; code that a process made itself is its own. All frames are
// of one kind, except inlined calls in user code.
class UserFrames : public FrameSource {
public:
  explicit UserFrames(UserSymbols& users, spec::FrameKind kind = spec::FrameKind::user) : users_(users), kind_(kind) {}

  Key key_of(const RawFrame& raw) override {
    const UserSymbols::CodePlace place = place_of(raw);
    return is_own(place) ? Key{of_process | static_cast<uint32_t>(raw.pid), raw.entry.address} : Key{place.file, place.offset};
  }
  Frame function_of(const RawFrame& raw) override {
    Frame out = users_.name_of(place_of(raw), raw.pid, raw.entry.address);
    out.kind = kind_;
    return out;
  }
  void find_inlined(std::span<const RawFrame> raw, const TakeFrames& take) override {
    std::vector<UserSymbols::CodePlace> places;
    for (const RawFrame& r : raw) places.push_back(place_of(r));
    if (kind_ == spec::FrameKind::user) return users_.find_inlined(places, take);
    users_.find_inlined(places, [&](size_t index, std::span<const Frame> frames) {
      std::vector<Frame> own(frames.begin(), frames.end());
      for (Frame& f : own) f.kind = kind_;
      take(index, own);
    });
  }
  std::span<const std::byte> build_id_of(const RawFrame& raw) override {
    const UserSymbols::CodePlace place = place_of(raw);
    return is_own(place) ? std::span<const std::byte>() : users_.files().build_id(place.file);
  }

private:
  static constexpr uint64_t of_process = uint64_t{1} << 63;
  static bool is_own(const UserSymbols::CodePlace& place) { return place.file == CodeFiles::none || place.is_made; }
  UserSymbols::CodePlace place_of(const RawFrame& raw) { return users_.place_of(raw.pid, raw.entry.address, raw.stack); }

  UserSymbols& users_;
  spec::FrameKind kind_;
};

class KernelFrames : public FrameSource {
public:
  explicit KernelFrames(Kallsyms& names) : names_(names) {}

  Key key_of(const RawFrame& raw) override { return {raw.entry.address, 0}; }
  Frame function_of(const RawFrame& raw) override {
    Frame out = {.module = spec::row_of(spec::FrameKind::kernel).module, .kind = spec::FrameKind::kernel};
    const auto symbol = names_.find(raw.entry.address);
    if (!symbol) return out;
    out.name = symbol->name, out.offset = symbol->offset;
    out.is_as_stored = is_mangled(symbol->name); // Rust
    if (!symbol->module.empty()) out.module = module_ = "[" + std::string(symbol->module) + "]";
    return out;
  }

private:
  Kallsyms& names_;
  std::string module_;
};

// Of a kind that nobody has a source for here: as a recording of stacks has it.
class NamelessFrames : public FrameSource {
public:
  Key key_of(const RawFrame& raw) override { return {raw.entry.address, raw.entry.number}; }
  Frame function_of(const RawFrame& raw) override { return {.kind = spec::kind_with_tag(raw.entry.tag)->kind}; }
};

} // namespace

FrameSources::FrameSources(Kallsyms& kernel, UserSymbols& users)
    : kernel_(std::make_unique<KernelFrames>(kernel)), users_(std::make_unique<UserFrames>(users)) {
  for (const spec::FrameKindRow& row : spec::frame_kinds)
    if (row.tag) add(row.kind, std::make_unique<NamelessFrames>());
  add(spec::FrameKind::interpreter, std::make_unique<UserFrames>(users, spec::FrameKind::interpreter));
}

void FrameSources::add(spec::FrameKind kind, std::unique_ptr<FrameSource> source) {
  tagged_[static_cast<size_t>(kind)] = std::move(source);
}

FrameSource& FrameSources::of(const RawFrame& raw) {
  if (!raw.entry.tag) return raw.is_kernel ? *kernel_ : *users_;
  return *tagged_[static_cast<size_t>(spec::kind_with_tag(raw.entry.tag)->kind)];
}

} // namespace symbol
