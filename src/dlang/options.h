// The options of D scripts (`#pragma D option NAME`, `-x NAME`, setopt()): what each does here.
#pragma once

#include "base/text_table.h"
#include "dlang/plan.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace dlang {

enum class OptionEffect : uint8_t {
  quiet,
  destructive,
  default_args,
  zero_probes,   // probes that are not there are no mistake
  strsize,       // bytes of a string
  config,        // the configuration key of the language, `key`
  error_tags,
  argument_use,  // argref: arguments that the script does not use are no mistake
  flow,          // flowindent
  sort_by_key,
  sort_reversed,
  sort_position,
  sort_key_position,
  zoom,
  bars,
  packed,
  encoding,
  stack_indent,
  frames,        // the depth of stacks without one
  user_frames,
  ignored,       // sizes and rates of buffers that acu chooses itself
  refused,
};

// What an ignored option's value must be.
enum class OptionValue : uint8_t { any, size, rate, policy, resize };

struct ScriptOption {
  std::string_view name;
  OptionEffect effect;
  std::string_view key = {};    // of OptionEffect::config
  std::string_view reason = {}; // of refused ones
  OptionValue value = OptionValue::any;
};
using ScriptOptionTable = base::TextTable<ScriptOption, &ScriptOption::name, &ScriptOption::key, &ScriptOption::reason>;

namespace written {
inline constexpr ScriptOption script_options[] = {
    {"quiet", OptionEffect::quiet},
    {"destructive", OptionEffect::destructive},
    {"defaultargs", OptionEffect::default_args},
    {"zdefs", OptionEffect::zero_probes},
    {"strsize", OptionEffect::strsize},
    {"stackframes", OptionEffect::frames},
    {"ustackframes", OptionEffect::user_frames},
    {"jstackframes", OptionEffect::user_frames},
    {"jstackstrsize", OptionEffect::ignored},
    {"stackindent", OptionEffect::stack_indent},
    {"nspec", OptionEffect::config, "max_speculations"},
    {"specsize", OptionEffect::config, "speculation_bytes"},
    {"bufsize", OptionEffect::ignored, {}, {}, OptionValue::size},
    {"aggsize", OptionEffect::ignored, {}, {}, OptionValue::size},
    {"dynvarsize", OptionEffect::ignored, {}, {}, OptionValue::size},
    {"bufpolicy", OptionEffect::ignored, {}, {}, OptionValue::policy},
    {"bufresize", OptionEffect::ignored, {}, {}, OptionValue::resize},
    {"switchrate", OptionEffect::ignored, {}, {}, OptionValue::rate},
    {"aggrate", OptionEffect::ignored, {}, {}, OptionValue::rate},
    {"cleanrate", OptionEffect::ignored, {}, {}, OptionValue::rate},
    {"statusrate", OptionEffect::ignored, {}, {}, OptionValue::rate},
    {"cpu", OptionEffect::refused, {}, "write the predicate `/cpu == N/`"},
    {"temporal", OptionEffect::ignored},
    {"quietresize", OptionEffect::ignored},
    {"scratchsize", OptionEffect::ignored},
    {"maxframes", OptionEffect::ignored},
    {"pcapsize", OptionEffect::ignored},
    {"lockmem", OptionEffect::ignored},
    {"noresolve", OptionEffect::ignored},
    {"amin", OptionEffect::ignored},
    {"argref", OptionEffect::argument_use},
    {"empty", OptionEffect::ignored},
    {"errtags", OptionEffect::error_tags},
    {"evaltime", OptionEffect::ignored},
    {"incdir", OptionEffect::ignored},
    {"kdefs", OptionEffect::ignored},
    {"knodefs", OptionEffect::ignored},
    {"lazyload", OptionEffect::ignored},
    {"linkmode", OptionEffect::ignored},
    {"nolibs", OptionEffect::ignored},
    {"pgmax", OptionEffect::ignored},
    {"stdc", OptionEffect::ignored},
    {"verbose", OptionEffect::ignored},
    {"udefs", OptionEffect::ignored},
    {"rawbytes", OptionEffect::ignored},
    {"unodefs", OptionEffect::ignored},
    {"syslibdir", OptionEffect::ignored},
    {"libdir", OptionEffect::ignored},
    {"version", OptionEffect::ignored},
    {"bpflog", OptionEffect::ignored},
    {"bpflogsize", OptionEffect::ignored},
    {"core", OptionEffect::ignored},
    {"cpphdrs", OptionEffect::ignored},
    {"cpppath", OptionEffect::ignored},
    {"ctypes", OptionEffect::ignored},
    {"debug", OptionEffect::ignored},
    {"droptags", OptionEffect::ignored},
    {"dtypes", OptionEffect::ignored},
    {"dump", OptionEffect::ignored},
    {"iregs", OptionEffect::ignored},
    {"late", OptionEffect::ignored},
    {"ldpath", OptionEffect::ignored},
    {"linktype", OptionEffect::ignored},
    {"modpath", OptionEffect::ignored},
    {"preallocate", OptionEffect::ignored},
    {"procfspath", OptionEffect::ignored},
    {"spacesize", OptionEffect::ignored},
    {"strip", OptionEffect::ignored},
    {"sysslibdir", OptionEffect::ignored},
    {"tree", OptionEffect::ignored},
    {"tregs", OptionEffect::ignored},
    {"useruid", OptionEffect::ignored},
    {"xlate", OptionEffect::ignored},
    {"cpp", OptionEffect::refused, {}, "run the preprocessor with -C"},
    {"define", OptionEffect::refused, {}, "define macros with -C -D NAME=VALUE"},
    {"undef", OptionEffect::refused, {}, "remove macros with -C -U NAME"},
    {"pspec", OptionEffect::refused, {}, "name the probe in the clause"},
    {"flowindent", OptionEffect::flow},
    {"grabanon", OptionEffect::refused, {}, "acu has no anonymous tracing; `acu record --flight` keeps the newest events in memory"},
    {"aggsortkey", OptionEffect::sort_by_key},
    {"aggsortrev", OptionEffect::sort_reversed},
    {"aggsortpos", OptionEffect::sort_position},
    {"aggsortkeypos", OptionEffect::sort_key_position},
    {"aggzoom", OptionEffect::zoom},
    {"agghist", OptionEffect::bars},
    {"aggpack", OptionEffect::packed},
    {"encoding", OptionEffect::encoding},
    {"aggpercpu", OptionEffect::refused, {}, "use `cpu` as a key: `@[cpu] = …`"},
};
} // namespace written
inline constexpr ScriptOptionTable script_options = ScriptOptionTable::of<written::script_options>();

std::optional<ScriptOption> option_named(std::string_view name);

// Whether it is about how output looks, so that setopt() can change it.
bool is_of_display(OptionEffect effect);
// Changes such an option; "unset" turns it off. false: it cannot have this value.
bool set_option(Display& display, OptionEffect effect, std::string_view value);
// Whether an ignored option may have this value.
bool is_value_of(OptionValue kind, std::string_view text);
// N, Nk, Nm, Ng, Nt
std::optional<uint64_t> size_of_option(std::string_view text);

} // namespace dlang
