// Why the kernel refused: from an errno and the verifier's log to one sentence with the place in the script.
#pragma once

#include "base/result.h"
#include "bpf/object.h"

#include <optional>
#include <string>
#include <string_view>

namespace bpf {

inline constexpr size_t most_maps_of_program = 64; // MAX_USED_MAPS of the kernel

// EPERM: which capabilities are missing, and how to get them.
base::Error permission_error(std::string_view what);

// What the verifier's log says at its end.
struct Complaint {
  std::string text;             // its last words, joined by "; "; empty: the log says nothing
  std::optional<uint32_t> insn; // the instruction they are about
};
Complaint find_complaint(std::string_view log);

// A program that was not loaded. `source` may be nullptr.
base::Error program_error(const Code& code, int error, std::string_view log, const base::Source* source);
// Whether the program was too long for the verifier, and the error for that, in terms of the script's block.
bool is_too_long(int error);
base::Error too_long_error(const ir::Probe& probe, const Code& code, const base::Source* source);
// A map that was not made. `name`: as people know it.
base::Error map_error(const MapSpec& map, std::string_view name, int error);

} // namespace bpf
