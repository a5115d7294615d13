// The options of D scripts (`#pragma D option NAME`, `-x NAME`): what each does here.
#pragma once

#include <cstdint>
#include <string_view>

namespace dlang {

enum class OptionEffect : uint8_t {
  quiet,
  destructive,
  default_args,
  zero_probes,   // probes that are not there are no mistake
  strsize,       // bytes of a string
  config,        // the configuration key of the language, `key`
  flow,          // flowindent
  ignored,       // sizes and rates of buffers that acu chooses itself
  refused,
};

struct ScriptOption {
  std::string_view name;
  OptionEffect effect;
  std::string_view key = {};    // of OptionEffect::config
  std::string_view reason = {}; // of refused ones
};

inline constexpr ScriptOption script_options[] = {
    {"quiet", OptionEffect::quiet},
    {"destructive", OptionEffect::destructive},
    {"defaultargs", OptionEffect::default_args},
    {"zdefs", OptionEffect::zero_probes},
    {"strsize", OptionEffect::strsize},
    {"stackframes", OptionEffect::ignored},
    {"ustackframes", OptionEffect::ignored},
    {"jstackframes", OptionEffect::ignored},
    {"jstackstrsize", OptionEffect::ignored},
    {"stackindent", OptionEffect::ignored},
    {"nspec", OptionEffect::config, "max_speculations"},
    {"specsize", OptionEffect::config, "speculation_bytes"},
    {"bufsize", OptionEffect::ignored},
    {"aggsize", OptionEffect::ignored},
    {"dynvarsize", OptionEffect::ignored},
    {"bufpolicy", OptionEffect::ignored},
    {"bufresize", OptionEffect::ignored},
    {"switchrate", OptionEffect::ignored},
    {"aggrate", OptionEffect::ignored},
    {"cleanrate", OptionEffect::ignored},
    {"statusrate", OptionEffect::ignored},
    {"cpu", OptionEffect::refused, {}, "write the predicate `/cpu == N/`"},
    {"temporal", OptionEffect::ignored},
    {"rawbytes", OptionEffect::ignored},
    {"unodefs", OptionEffect::ignored},
    {"syslibdir", OptionEffect::ignored},
    {"libdir", OptionEffect::ignored},
    {"version", OptionEffect::ignored},
    {"flowindent", OptionEffect::refused, {}, "`acu graph` prints calls indented by their depth"},
    {"grabanon", OptionEffect::refused, {}, "acu has no anonymous tracing; `acu record --flight` keeps the newest events in memory"},
    {"aggsortkey", OptionEffect::refused, {}, "aggregations are sorted by their values; pipe the output through sort"},
    {"aggsortrev", OptionEffect::refused, {}, "aggregations are sorted by their values, ascending; pipe the output through tac"},
    {"aggsortpos", OptionEffect::refused, {}, "aggregations are sorted by the first one of printa()"},
    {"aggsortkeypos", OptionEffect::refused, {}, "aggregations are sorted by their values; pipe the output through sort"},
};

} // namespace dlang
