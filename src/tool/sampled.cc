#include "tool/sampled.h"

#include "base/text.h"
#include "tool/whose.h"

namespace tool {

using spec::OptionId;

namespace {

base::Error unknown_kind(const std::string& word) {
  std::vector<std::string_view> names;
  std::string all;
  for (const spec::ProfileKind& k : spec::profile_kinds) names.push_back(k.name), all.append(k.name).append(", ");
  std::string_view near = base::nearest(word, names);
  return base::usage_error("there is no kind `" + word + "`; " + (near.empty() ? "kinds are " + all + "or a probe; a command goes after `--`" : "did you mean `" + std::string(near) + "`?"));
}

bool is_wall(std::string_view word) { return word == "cpu,offcpu" || word == "offcpu,cpu"; }

// A kind of the table, or a probe.
base::Status read_kind(const session::Arguments& arguments, flame::SamplingOptions& to) {
  const std::string* event = arguments.value(OptionId::event);
  if (const std::string* weight = arguments.value(OptionId::weight)) to.weight = *weight;
  if (event && *event == "cycles") to.kind = spec::find_profile_kind("cycles");
  if (arguments.words_before > 1) return base::usage_error("`" + arguments.words[1] + "`: a command goes after `--`");
  const std::string* named = arguments.value(OptionId::kind);
  if (named && arguments.words_before) return base::usage_error("the kind is given twice: `--kind` and `" + arguments.words[0] + "`");
  if (named || arguments.words_before) {
    const std::string& word = named ? *named : arguments.words[0];
    if (event) return base::usage_error("`-e` selects the clock of CPU samples; it cannot be combined with `" + word + "`");
    const spec::ProfileKind* kind = spec::find_profile_kind(is_wall(word) ? "wall" : word);
    if (!kind && word.find(',') != word.npos && word.find(':') == word.npos)
      return base::usage_error("`" + word + "`: only `cpu,offcpu` can be recorded together; the weights of other kinds have different units");
    if (!kind && word.find(':') == word.npos) return unknown_kind(word);
    if (kind) to.kind = kind;
    if (!kind) to.probe = word;
  }
  if (arguments.has(OptionId::leaks)) {
    if (to.kind->name != "alloc" && to.kind->name != "leaks") return base::usage_error("`--leaks` requires `alloc`");
    to.kind = spec::find_profile_kind("leaks");
  }
  if (arguments.has(OptionId::waker)) {
    if (to.kind->name != "offcpu" && to.kind->name != "offwake") return base::usage_error("`--waker` requires `offcpu`");
    to.kind = spec::find_profile_kind("offwake");
  }
  if (!to.filter.cpus.empty() && to.probe.empty() && to.kind->follows_threads)
    return base::usage_error("`-C` is not supported for `" + std::string(to.kind->name) + "`: a waiting thread may resume on another CPU");
  if (to.kind->allocator == spec::AllocatorCalls::live && (!to.filter.cpus.empty() || !to.filter.expression.empty()))
    return base::usage_error("`-C` and `--filter` are not supported for leaks: every allocation is tracked");
  if (to.kind->allocator != spec::AllocatorCalls::none && to.filter.pid < 0 && !to.filter.command)
    return base::usage_error("`" + std::string(to.kind->name) + "` needs one process or a command: acu flame " +
                 (arguments.has(OptionId::leaks) ? "alloc --leaks" : std::string(to.kind->name)) + " -p 4711, or a command after `--`");
  if (!to.weight.empty() && to.probe.empty())
    return base::usage_error("`--weight` requires a probe: acu flame tracepoint:syscalls:sys_exit_read --weight args.ret");
  return {};
}

} // namespace

base::Result<flame::SamplingOptions> read_sampling(const session::Arguments& arguments) {
  flame::SamplingOptions s;
  ACU_TRY(s.filter, read_target_filter(arguments));
  s.command = arguments.behind;
  ACU_CHECK(read_kind(arguments, s));
  const bool is_cycles = s.kind->name == "cycles";
  if (const std::string* text = arguments.value(OptionId::frequency)) {
    ACU_TRY(s.rate, session::read_count("-F", *text, 10000));
  }
  // The cycle counter takes a period: a CPU of 3 GHz then makes as many samples as were asked for.
  if (is_cycles) s.rate = 3'000'000'000 / (s.rate ? s.rate : flame::default_rate(*s.kind));
  s.is_exact = arguments.has(OptionId::exact);
  if (s.is_exact && !s.kind->is_sampled)
    return base::usage_error("`--exact` is only for kinds that sample events, not for `" + std::string(s.kind->name) + "`");
  if (const std::string* text = arguments.value(OptionId::max_cost)) {
    ACU_TRY(s.max_cost, session::read_percent("--max-cost", *text));
  }
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(s.duration_ns, session::read_time("--duration", *text));
  }
  if (const std::string* text = arguments.value(OptionId::split)) {
    constexpr uint64_t shortest = 10'000'000;
    ACU_TRY(s.split_ns, session::read_time("--split", *text));
    if (s.split_ns < shortest) return base::usage_error("`--split` takes a time of at least 10ms, not `" + *text + "`");
    if (s.kind->allocator == spec::AllocatorCalls::live)
      return base::usage_error("`--split` is not supported for leaks: what is not freed is known only at the end");
  }
  s.languages = runtime::show_of(arguments.text(OptionId::lang));
  s.quiet = arguments.has(OptionId::quiet);
  s.verbose = arguments.has(OptionId::verbose);
  return s;
}

} // namespace tool
