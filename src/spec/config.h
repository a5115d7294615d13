// The table of configuration keys: the `config = { … }` block, and environment variables of the same names in
// capitals with the prefix ACU_ or BPFTRACE_, which win.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spec {

enum class ConfigKind : uint8_t { number, boolean, word, text };

struct ConfigKey {
  std::string_view name;
  ConfigKind kind;
  std::string_view value;  // default
  std::string_view allowed; // words: those allowed, separated by '|'
  std::string_view doc;
};

inline constexpr ConfigKey config_keys[] = {
    {"cache_user_symbols", ConfigKind::word, "PER_PID", "PER_PROGRAM|PER_PID|NONE", "How user symbols are cached."},
    {"cpp_demangle", ConfigKind::boolean, "true", "", "Demangle C++ names."},
    {"lazy_symbolication", ConfigKind::boolean, "false", "", "Look user symbols up when they print."},
    {"license", ConfigKind::text, "GPL", "", "Licence the programs are loaded with."},
    {"log_size", ConfigKind::number, "1000000", "", "Bytes of the verifier's log."},
    {"loop_limit", ConfigKind::number, "1048576", "", "Turns after which a while loop ends and is reported."},
    {"max_ast_nodes", ConfigKind::number, "0", "", "Accepted and ignored."},
    {"max_bpf_progs", ConfigKind::number, "1024", "", "Most programs that are loaded."},
    {"max_cat_bytes", ConfigKind::number, "10240", "", "Most bytes that cat() prints."},
    {"max_map_keys", ConfigKind::number, "4096", "", "Most keys of a map."},
    {"max_probes", ConfigKind::number, "1024", "", "Most probes that are attached."},
    {"max_strlen", ConfigKind::number, "1024", "", "Most bytes that str() and buf() read."},
    {"max_type_res_iterations", ConfigKind::number, "0", "", "Accepted and ignored."},
    {"missing_probes", ConfigKind::word, "error", "error|warn|ignore", "What happens where a probe is not there."},
    {"on_stack_limit", ConfigKind::number, "32", "", "Largest object that is kept on the stack."},
    {"perf_rb_pages", ConfigKind::number, "0", "", "Pages of the ring buffer; 0: chosen by acu."},
    {"print_maps_on_exit", ConfigKind::boolean, "true", "", "Print all maps at the end."},
    {"show_debug_info", ConfigKind::boolean, "true", "", "Show file and line in stacks where they are known."},
    {"stack_mode", ConfigKind::word, "bpftrace", "bpftrace|perf|raw", "How stacks print."},
    {"str_trunc_trailer", ConfigKind::text, "..", "", "What follows a string that was cut."},
    {"unstable_map_decl", ConfigKind::word, "enable", "error|warn|enable", "Accepted and ignored."},
    {"unstable_tseries", ConfigKind::word, "enable", "error|warn|enable", "Accepted and ignored."},
    {"unstable_addr", ConfigKind::word, "enable", "error|warn|enable", "Accepted and ignored."},
};

// The values in force; starts with the defaults.
class Config {
public:
  Config();
  // Takes the environment's values; they then win over those of the script.
  void read_environment();
  // Sets a key from a script. `name` may be in capitals and carry a prefix. Empty: done; else what is wrong.
  std::string set(std::string_view name, std::string_view value);
  uint64_t number(std::string_view key) const;
  bool flag(std::string_view key) const;
  const std::string& text(std::string_view key) const;

private:
  std::string assign(size_t row, std::string_view value);
  std::vector<std::string> values_;
  std::vector<bool> from_environment_;
};

} // namespace spec
