// The table of configuration keys. They are set by the `config = { … }` block, or by environment variables (the name in
// capitals after ACU_ or BPFTRACE_), which take precedence.
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
  uint64_t least = 0, most = UINT64_MAX; // numbers
};

inline constexpr std::string_view unstable_words = "error|warn|enable";
inline constexpr std::string_view licences =
    "GPL|GPL v2|GPL and additional rights|Dual BSD/GPL|Dual MIT/GPL|Dual MPL/GPL";

inline constexpr ConfigKey config_keys[] = {
    {"cache_user_symbols", ConfigKind::word, "PER_PID", "PER_PROGRAM|PER_PID|NONE", "How user symbols are cached."},
    {"cpp_demangle", ConfigKind::boolean, "true", "", "Demangle C++ names."},
    {"lazy_symbolication", ConfigKind::boolean, "false", "", "Look up user symbols when they are printed."},
    {"license", ConfigKind::word, "GPL", licences, "License of the loaded programs."},
    {"log_size", ConfigKind::number, "1000000", "", "Size of the verifier's log in bytes.", 1, UINT32_MAX >> 2},
    {"loop_limit", ConfigKind::number, "1048576", "", "Maximum iterations of a while loop; a loop that reaches it ends and is reported.", 1},
    {"max_ast_nodes", ConfigKind::number, "0", "", "Accepted and ignored."},
    {"max_bpf_progs", ConfigKind::number, "1024", "", "Maximum number of loaded programs."},
    {"max_cat_bytes", ConfigKind::number, "10240", "", "Maximum bytes that cat() prints."},
    {"max_map_keys", ConfigKind::number, "4096", "", "Maximum keys of a map.", 1, UINT32_MAX},
    {"max_probes", ConfigKind::number, "1024", "", "Maximum number of attached probes."},
    {"max_speculations", ConfigKind::number, "1024", "", "Maximum number of threads or keys whose output `speculate` holds back at a time.", 1, 1 << 20},
    {"max_stacks", ConfigKind::number, "16384", "", "Maximum number of distinct stacks stored.", 1, 1 << 24},
    {"max_strlen", ConfigKind::number, "1024", "", "Maximum bytes that str() and buf() read.", 1, 1 << 20},
    {"max_type_res_iterations", ConfigKind::number, "0", "", "Accepted and ignored."},
    {"missing_probes", ConfigKind::word, "error", "error|warn|ignore", "What to do if a probe does not exist."},
    {"on_stack_limit", ConfigKind::number, "32", "", "Largest object kept on the stack."},
    {"perf_rb_pages", ConfigKind::number, "0", "", "Pages of the ring buffer; 0: chosen by acu.", 0, 1 << 20},
    {"prefer_fentry", ConfigKind::boolean, "true", "",
     "Attach a kprobe or kretprobe as fentry or fexit where equivalent: lower overhead."},
    {"print_maps_on_exit", ConfigKind::boolean, "true", "", "Print all maps at the end."},
    {"show_debug_info", ConfigKind::boolean, "true", "", "Show file and line in stacks if known."},
    {"speculation_bytes", ConfigKind::number, "4096", "", "Room for the output that `speculate` holds back for a thread or key.", 64, 1 << 18},
    {"stack_mode", ConfigKind::word, "bpftrace", "bpftrace|perf|raw|build_id", "Format of stacks."},
    {"str_trunc_trailer", ConfigKind::text, "..", "", "Text appended to a truncated string."},
    {"symbol_source", ConfigKind::word, "dwarf", "dwarf|symbol_table",
     "dwarf: a uprobe on a function also fires for its inlined calls; symbol_table: only for its own code."},
    {"unstable_addr", ConfigKind::word, "enable", unstable_words, "What to do when a script uses `&`."},
    {"unstable_dw_ustack", ConfigKind::word, "enable", unstable_words, "What to do when a script uses dw_ustack."},
    {"unstable_import", ConfigKind::word, "enable", unstable_words, "Accepted and ignored."},
    {"unstable_macro", ConfigKind::word, "enable", unstable_words, "Accepted and ignored."},
    {"unstable_map_decl", ConfigKind::word, "enable", unstable_words, "What to do when a script declares a map."},
    {"unstable_tseries", ConfigKind::word, "warn", unstable_words, "What to do when a script uses tseries()."},
    {"use_blazesym", ConfigKind::boolean, "true", "", "Accepted and ignored."},
};

// Keys that bpftrace reads only from the environment, after BPFTRACE_.
inline constexpr std::string_view environment_only[] = {"btf",           "color",   "debug_output", "kernel_build",
                                                        "kernel_source", "vmlinux"};

// What bpftrace before 0.20 called the variable of a key, and the values whose words differ: `old=new`, separated by '|'.
struct OldVariable {
  std::string_view key, name, values;
};
inline constexpr OldVariable old_variables[] = {
    {"cache_user_symbols", "BPFTRACE_CACHE_USER_SYMBOLS", "0=PER_PID|1=PER_PROGRAM"},
    {"cpp_demangle", "BPFTRACE_NO_CPP_DEMANGLE", "0=true|1=false"},
    {"max_cat_bytes", "BPFTRACE_CAT_BYTES_MAX", ""},
    {"max_map_keys", "BPFTRACE_MAP_KEYS_MAX", ""},
    {"max_strlen", "BPFTRACE_STRLEN", ""},
};

// The name in the environment of bpftrace 0.16 to 0.19.
std::string old_variable_of(std::string_view key);

// The values in force; starts with the defaults.
class Config {
public:
  Config();
  // Takes the environment's values; they then win over those of the script. Empty: done; else what is wrong with a
  // variable, by its name.
  std::string read_environment();
  // Sets a key from a script. `name` may be in capitals and carry a prefix. Empty: done; else what is wrong.
  std::string set(std::string_view name, std::string_view value);
  uint64_t number(std::string_view key) const;
  bool flag(std::string_view key) const;
  const std::string& text(std::string_view key) const;

private:
  // Takes the value of an environment variable, if it is set. Empty: done; else what is wrong.
  std::string read_variable(size_t row, const std::string& variable);
  // Checks a value and stores it, unless `keep`. Returns what is wrong with it, or nothing.
  std::string assign(size_t row, std::string_view value, bool keep);
  std::vector<std::string> values_;
  std::vector<bool> from_environment_;
};

} // namespace spec
