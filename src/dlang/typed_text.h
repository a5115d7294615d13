// A value with its type, as print() shows it: structures with their members, one a line.
#pragma once

#include "report/report.h"

#include <span>
#include <string>

namespace dlang {

// "int32_t 0x5", "struct path {…}". Numbers are hexadecimal, enumerators have their names.
std::string typed_text(report::Printer& printer, const type::Type& type, std::span<const std::byte> bytes);

} // namespace dlang
