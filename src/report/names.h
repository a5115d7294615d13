// The names of this machine's addresses.
#pragma once

#include "report/report.h"
#include "symbol/kallsyms.h"

namespace report {

// Kernel names from /proc/kallsyms, read when first asked. User addresses have no names yet.
class SystemNames : public Names {
public:
  std::string kernel(uint64_t address, bool with_offset) override;
  std::string user(uint32_t pid, uint64_t address, bool with_offset) override;

private:
  symbol::Kallsyms kallsyms_;
};

} // namespace report
