#include "snapshot/profile.h"

#include "base/output_file.h"
#include "profile/formats.h"
#include "report/target_names.h"
#include "unwind/reason.h"

namespace snapshot {

namespace {

class Maker {
public:
  explicit Maker(probe::StoppedProgram& stopped) : stopped_(stopped), names_(stopped.target(), stopped.stacks()) {}

  profile::Profile run() {
    const target::Target& target = stopped_.target();
    profile::About& about = out_.about;
    about.title = "threads";
    about.unit = "threads";
    about.what = target.title();
    about.notes = target.problems();
    for (size_t t = 0; t < target.threads().size(); t++) add(t, target.threads()[t]);
    about.samples = target.threads().size();
    return std::move(out_);
  }

private:
  void add(size_t index, const target::Thread& thread) {
    const unwind::Walk& walk = stopped_.stacks().of(index);
    uint32_t node = 0; // the root; frames are the innermost first
    if (walk.end == UNWIND_COMPLETE)
      out_.about.complete++;
    else
      node = out_.node(node, out_.frame({.name = out_.text(unwind::reason_of(walk.end).text),
                                         .kind = profile::FrameKind::note}));
    const target::Stacks::Spliced& spliced = stopped_.stacks().spliced(index);
    for (auto f = spliced.frames.rbegin(); f != spliced.frames.rend(); ++f)
      node = f->is_language ? add_language_frame(node, std::span(spliced.language.words).subspan(f->index, 2))
                            : add_frame(node, walk.frames[f->index].look_up());
    const target::Target& target = stopped_.target();
    const uint32_t who = out_.thread({.pid = target.pid(),
                                      .tid = thread.id,
                                      .process = out_.text(target.name()),
                                      .name = out_.text(thread.name.empty() ? target.name() : thread.name)});
    out_.add(who, node, 1, 1);
  }

  uint32_t add_language_frame(uint32_t node, std::span<const uint64_t> entry) {
    const symbol::Frame f = names_.language_frame(entry);
    out_.about.frames++;
    out_.about.frames_named++;
    return out_.node(node, out_.frame({.name = out_.text(f.name), .module = out_.text(f.module), .kind = f.kind}));
  }

  // The function at an address, and above it what is inlined there.
  uint32_t add_frame(uint32_t node, uint64_t address) {
    const std::vector<symbol::Frame> frames = names_.frames_at(address, false); // innermost first
    for (auto f = frames.rbegin(); f != frames.rend(); ++f) {
      const std::string name = f->name.empty() && !spec::is_inlined(f->kind) ? names_.user(0, address, true) : std::string(f->name);
      node = out_.node(node, out_.frame({.name = out_.text(name), .module = out_.text(f->module), .kind = f->kind, .named = !f->name.empty()}));
    }
    out_.about.frames++;
    out_.about.frames_named += !frames.back().name.empty();
    return node;
  }

  probe::StoppedProgram& stopped_;
  report::TargetNames names_;
  profile::Profile out_;
};

} // namespace

profile::Profile profile_of_stacks(probe::StoppedProgram& stopped) { return Maker(stopped).run(); }

base::Status write_stacks(probe::StoppedProgram& stopped, const std::string& path) {
  ACU_TRY(const profile::Format* format, profile::format_of_file(path));
  return base::write_file(path, format->write(profile_of_stacks(stopped)));
}

} // namespace snapshot
