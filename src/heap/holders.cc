// Who holds the memory of a heap, as a flame graph. Chunks of a kind are one frame as often as they are on
// one way, so that lists and trees do not become towers.
#include "base/output_file.h"
#include "heap/report.h"
#include "heap/view.h"
#include "profile/formats.h"

namespace heap {

namespace {

using target::Chunk;

class HoldersMaker {
public:
  static constexpr unsigned max_depth = 64;

  HoldersMaker(target::Target& target, target::Stacks& stacks) : view_(target, stacks) {}

  profile::Profile run() {
    target::Target& target = view_.target();
    profile::About& about = out_.about;
    about.title = "memory by holder";
    about.unit = "bytes";
    about.what = target.title();
    about.notes = target.problems();
    thread_ = out_.thread({.pid = target.pid(),
                           .tid = target.pid(),
                           .process = out_.text(target.name()),
                           .name = out_.text(target.name())});
    const target::Reach& reach = view_.reach();
    const std::vector<Chunk>& chunks = view_.heap().chunks;
    std::vector<uint32_t> nodes(chunks.size()); // of the profile
    for (uint32_t i : reach.order) {
      const target::Reach::Step& step = reach.steps[i];
      uint32_t below = step.holder == target::Reach::root ? root_node(step) : nodes[step.holder];
      add(chunks[i], nodes[i] = node_of(below, chunks[i]));
    }
    const uint32_t lost = out_.node(
        0, out_.frame({.name = out_.text("unreachable"), .kind = profile::FrameKind::note}));
    for (uint32_t i = 0; i < chunks.size(); i++)
      if (reach.is_leak(view_.heap(), i)) add(chunks[i], node_of(lost, chunks[i]));
    return std::move(out_);
  }

private:
  uint32_t root_node(const target::Reach::Step& step) {
    const View::Root root = view_.root_of(step);
    return out_.node(0, out_.frame({.name = out_.text(root.name), .module = out_.text(root.module)}));
  }
  uint32_t node_of(uint32_t below, const Chunk& chunk) {
    const std::string& type = view_.type_of(chunk);
    const uint32_t frame = out_.frame({.name = out_.text(type.empty() ? size_text(chunk.size) : type)});
    unsigned depth = 0;
    for (uint32_t at = below; at; at = out_.nodes()[at].parent, depth++)
      if (out_.nodes()[at].frame == frame) return at;
    return depth < max_depth ? out_.node(below, frame) : below;
  }
  void add(const Chunk& chunk, uint32_t node) {
    out_.add(thread_, node, chunk.size, 1);
    out_.about.samples++;
    out_.about.complete++;
  }

  View view_;
  profile::Profile out_;
  uint32_t thread_ = 0;
};

} // namespace

base::Status write_holders(target::Target& target, target::Stacks& stacks, std::span<const std::string> words,
                           const std::string& path) {
  if (words.size() != 1 || words[0] != "heap")
    return base::Error{
        base::Failure::usage,
        "`--flame` is only for `heap`: it draws memory by what holds it, and unreachable memory"};
  ACU_TRY(const profile::Format* format, profile::format_of_file(path));
  return base::write_file(path, format->write(HoldersMaker(target, stacks).run()));
}

} // namespace heap
