// Functions of the kernel and of its modules: which there are, which of them can be probed, and how they are
// called.
//
// What a script names is looked for among the kernel's types, which cost nothing (their ids are kept between
// runs), then among the types of a module, then in /proc/kallsyms. Only patterns read the list of all
// functions that can be probed (available_filter_functions of tracefs).
#pragma once

#include "probe/probe.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace probe {

struct KernelFunction {
  std::string_view name;
  std::string_view module; // empty: the kernel itself
};

// Functions are called by the System V ABI for x86-64, section 3.2.3, without floating point numbers;
// AAPCS64.
struct KernelParameter {
  std::string_view name; // "arg0" where the types tell none
  const type::Type* type = nullptr;
  uint32_t type_id = 0;    // of the function's types (KernelFunctions::types)
  uint32_t slot = 0;       // of Context::function: its first u64
  int first_register = -1; // of spec::arch.arguments; -1: it is on the stack
  uint32_t on_stack = 0;   // bytes behind the first argument there
};
struct KernelSignature {
  std::vector<KernelParameter> parameters;
  const type::Type* result = nullptr; // nullptr: void
  uint32_t result_id = 0;
  uint32_t slots = 0; // u64s of all parameters
  bool is_plain =
      false; // each parameter and the result is one register: argN is the u64 N of Context::function
};

class KernelFunctions {
public:
  explicit KernelFunctions(Machine& machine);
  ~KernelFunctions();

  // Where a function is: the name of a module, or nothing for the kernel itself. `module`: only there
  // ("vmlinux": the kernel itself); empty: anywhere. Nothing: there is no such function.
  std::optional<std::string> find(const std::string& name, std::string_view module);
  // All that can be probed where they are entered, sorted by name; read at the first call. Texts live as long
  // as this.
  const std::vector<KernelFunction>& all();
  // Code of a function, from the place of the next symbol; 0: not known.
  uint64_t size_of(std::string_view name);
  // Names the compiler gave to what it made of a function that is not there by itself: "f.isra.0",
  // "f.part.0".
  std::vector<std::string> parts_of(std::string_view name);
  // Why a function must not be probed; empty: nothing is known against it. The kernel's own list is asked
  // too, if it can be read. `many`: one of many names.
  std::string why_not(std::string_view name, bool many);
  // Whether types describe it; for many functions at once.
  bool is_typed(const KernelFunction& function);

  // Types of the kernel (empty name) or of a module, with those of the kernel; nullptr where there are none.
  format::Btf* types(const std::string& module);
  // Id of the function of an event among them; 0: they do not know it.
  uint32_t type_of(const Event& event);
  // nullptr: the kernel has no types of it.
  const KernelSignature* signature(const Event& event);

private:
  const std::string& symbols(); // the text of /proc/kallsyms
  bool is_on_list(std::string_view name);
  bool is_kept_away(std::string_view name, bool many);
  std::optional<KernelSignature> read_signature(const Event& event);

  Machine& machine_;
  std::vector<KernelFunction> all_;
  std::string all_text_, symbols_;
  bool has_all_ = false, has_symbols_ = false;
  std::optional<std::vector<std::string>> list_;
  using Ids = std::unordered_map<std::string_view, uint32_t>; // by name
  const Ids& typed(const std::string& module);

  std::unordered_map<std::string, Ids> typed_; // by module
  size_t asked_ = 0; // functions that were looked for one by one
  std::unordered_map<std::string, std::unique_ptr<format::Btf>> modules_;
  std::unordered_map<std::string, std::optional<KernelSignature>> signatures_;
};

// A parameter where the function is entered, from the registers.
Recipe recipe_of(const KernelParameter& parameter);

// Matching, arguments and lists, for kernel_function.cc.
std::vector<Event> match_kernel_function(Machine& machine, Kind kind, std::span<const std::string_view> parts,
                                         Mismatch& mismatch);
const type::Type* kernel_arguments(Machine& machine, Event& event);
std::vector<std::string> describe_kernel_function(Machine& machine, Event& event);
Access access_kernel_function(Machine& machine, const Event& event, Context context, std::string_view field);

} // namespace probe
