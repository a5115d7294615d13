// Calls with a command among their arguments, such as prctl(2) and ptrace(2): the command decides what the others are.
#pragma once

#include "base/text_table.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace spec {

// Which argument is the command, and which of its bits.
struct CommandCall {
  std::string_view name;
  uint8_t argument;
  uint8_t shift = 0;
  uint32_t mask = UINT32_MAX;
};

struct CommandRow {
  std::string_view call;
  std::string_view commands;  // "3 0x1b"; `*`: all others; without that row they are as the call's row has them
  std::string_view arguments; // words as in a SyscallRow; `left_out` is not shown. What is copied is in the call's row
};
using CommandTable = base::TextTable<CommandRow, &CommandRow::call, &CommandRow::commands, &CommandRow::arguments>;

CommandTable command_rows();
// nullptr where there is no command.
const CommandCall* find_command_call(std::string_view name);
// The number of the row; nothing: the arguments are those of the call's row.
std::optional<size_t> find_command_row(std::string_view call, uint32_t command);

} // namespace spec
