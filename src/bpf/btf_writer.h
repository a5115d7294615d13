// Types of our own for the kernel (a BTF blob): written only where the kernel insists on them, since loading
// one costs 20 to 40 µs. It insists
//   - on a key and value type for task storage,
//   - on a function type for every function of a program with callbacks,
// and with them takes the script's lines, which the verifier's log then shows above the instructions.
// Layout: Documentation/bpf/btf.rst of the kernel.
#pragma once

#include "bpf/object.h"

#include <cstddef>
#include <cstdint>
#include <linux/bpf.h>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bpf {

// Collects types and strings. Ids count from 1 in the order of the calls; offsets are into the string
// section.
class BtfWriter {
public:
  BtfWriter();
  uint32_t string(std::string_view text); // equal texts share one place
  uint32_t integer(std::string_view name, uint32_t bytes, bool is_signed);
  uint32_t array(uint32_t element, uint32_t index, uint32_t count);
  // A static function with `parameters` parameters of type `parameter` that returns `result`.
  uint32_t function(std::string_view name, uint32_t parameters, uint32_t parameter, uint32_t result,
                    bool is_global = false);
  // The blob: header, types, strings.
  std::vector<std::byte> finish() const;

private:
  uint32_t add(uint32_t name, uint32_t kind, uint32_t length, uint32_t size_or_type);
  void put(uint32_t word);

  std::vector<uint32_t> types_;
  std::string strings_;
  std::unordered_map<std::string, uint32_t> places_;
  uint32_t count_ = 0;
};

// What the kernel is told of the types of maps and programs.
struct ObjectTypes {
  struct Program {
    std::vector<bpf_func_info> functions;
    std::vector<bpf_line_info> lines;
  };
  std::vector<std::byte> blob;  // empty: nothing to tell
  uint32_t key = 0;             // int
  std::vector<uint32_t> values; // by map; 0 for maps without types
  std::vector<Program> programs;
};

// Types of the maps that need some and of the functions of programs with callbacks. With `source` also
// functions and lines of all programs, for the verifier's log.
ObjectTypes describe(std::span<const MapSpec> maps, std::span<const Code> programs,
                     const base::Source* source);

} // namespace bpf
