// Addresses and stacks as dtrace prints them: libc.so.6`read+0x14.
#pragma once

#include "dlang/plan.h"
#include "ir/engine.h"
#include "report/report.h"

#include <string>
#include <vector>

namespace dlang {

// Of a value of ksym() or usym().
std::string symbol_text(report::Names& names, const type::Type& type, std::span<const std::byte> bytes, SymbolForm form);
std::string kernel_symbol_text(report::Names& names, uint64_t address, SymbolForm form);
// Of the number of a block device.
std::string device_text(uint64_t device, SymbolForm form);
// The frames of a stack, the innermost first.
std::vector<std::string> frames_of(report::Names& names, ir::Engine& engine, const type::Type& type, std::span<const std::byte> bytes);

} // namespace dlang
