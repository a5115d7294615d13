// The functions that a process runs, sampled by the clock of the CPUs.
#include "symbol/source_names.h"
#include "why/flame_picture.h"
#include "why/hot_functions.h"
#include "why/instruments.h"
#include "why/script_instrument.h"

namespace why {

namespace {

constexpr unsigned ticks_a_second = 499; // samples a second; 3 s of one busy thread: a share of 25% is known to 2%

// The parts of the key of scripts/flame_cpu.bt.
constexpr std::string_view key_pid = "0", key_kernel = "4", key_user = "5";

class ProfileInstrument final : public ScriptInstrument {
public:
  explicit ProfileInstrument(const Subject& subject) : ScriptInstrument("flame_cpu", subject, Scope::subject), asked_(subject.function) {}

  base::Result<std::vector<Fact>> end(uint64_t interval_ns) override;
  std::vector<Picture> pictures() override { return {{"CPU time", flame_.element("CPU", subject_.pid)}}; }

private:
  void configure(session::BuiltinScript& script) const override { script.set_places("ticks", "profile:hz:" + std::to_string(ticks_a_second)); }
  void arrange(session::Measurement& measurement) override;

  symbol::SourceName asked_; // whose calls are
  FlamePicture flame_;
};

void ProfileInstrument::arrange(session::Measurement& measurement) {
  measurement.aim = "profile";
  measurement.follows_processes = measurement.keeps_files = measurement.keeps_contents = true;
}

base::Result<std::vector<Fact>> ProfileInstrument::end(uint64_t) {
  ACU_TRY(const std::vector<ScriptRow> samples, rows(""));
  HotFunctions hot;
  std::vector<waits::StackId> examples;
  for (const ScriptRow& row : samples) {
    const waits::StackId kernel = row.stack(key_kernel, 0), user = row.stack(key_user, static_cast<uint32_t>(row.number(key_pid)));
    std::vector<symbol::Frame> frames = stacks().frames(kernel);
    examples.push_back(frames.empty() ? user : kernel);
    const std::vector<symbol::Frame>& above = stacks().frames(user);
    frames.insert(frames.end(), above.begin(), above.end());
    if (!subject_.function.empty() && !symbol::has_call_of(frames, asked_)) continue;
    hot.add(frames, examples.size() - 1, row.sum());
    flame_.add(frames, row.sum());
  }
  return hot.facts(subject_.pid, "cpu-profile", [&](uint64_t example, const std::string& function) {
    return stacks().place_of(examples[example], [&](std::string_view name) { return name == function; });
  });
}

} // namespace

std::unique_ptr<Instrument> make_profile_instrument(const Subject& subject) { return std::make_unique<ProfileInstrument>(subject); }

} // namespace why
