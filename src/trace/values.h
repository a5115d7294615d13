// Arguments and results as text, in the notation of strace(1).
#pragma once

#include "spec/command_rows.h"
#include "spec/flag_sets.h"
#include "spec/syscall_rows.h"
#include "trace/call.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trace {

struct Options {
  uint32_t data = 32;                 // bytes of data that are shown
  Descriptors* descriptors = nullptr; // nullptr: numbers only
  Descriptors* sockets = nullptr;     // which are netlink's; nullptr: those that an address says so of
  bool entries = false;               // of folders, not only their number
};

// What a value is shown with.
struct Shown {
  const Call& call;
  const Options& options;
  uint64_t value;
  base::ByteSpan bytes; // what it points to; empty: not known
  bool is_cut;
  uint64_t count; // of elements there, as far as the call tells
  size_t index = 0; // of the argument
};

struct ValueKind {
  enum class Copy : uint8_t { nothing, text, memory, vectors, message };
  std::string_view name;
  void (*show)(std::string& out, const Shown& value);
  Copy copy = Copy::nothing;
  uint16_t bytes = 0;         // memory: of each element
  bool is_out = false;        // the kernel fills it in: nothing is there when the call failed
  bool is_number_too = false; // shown by `show` also when nothing was copied
};

// A word of a row.
struct Argument {
  const ValueKind* kind; // nullptr: `set`
  const spec::FlagSet* set = nullptr;
  std::optional<char> count; // '0' … '5': the argument that tells; 'r': the result
};

// What is known of a call before it is made; worked out once for each number.
struct KnownCall {
  std::string_view name; // empty: not known
  const spec::SyscallRow* row = nullptr;
  std::vector<Argument> arguments;
  Argument result;
  const spec::CommandCall* commands = nullptr; // one of its arguments is a command, which tells what the others are
  bool may_leave_out = false;                  // arguments that count only with others
  bool is_wait = false;                        // poll, select and their like: the result tells what became ready
  bool is_of_descriptor() const { return !arguments.empty() && arguments[0].kind && arguments[0].kind->name == "fd"; }
};
const KnownCall& known_call(int number);

// The words of a row; unknown ones are shown in hexadecimal.
std::vector<Argument> read_arguments(std::string_view words);

struct CallParts {
  std::string name;
  std::vector<std::string> arguments;
  std::string result; // "3", "-1 ENOENT (No such file or directory)"
  std::string error;  // "ENOENT"; empty: it did not fail
};
CallParts call_parts(const Call& call, const Options& options);
// "openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3", without a newline, behind what there is of the line already.
void append_call(std::string& out, const Call& call, const Options& options);
inline std::string call_text(const Call& call, const Options& options) {
  std::string out;
  append_call(out, call, options);
  return out;
}
// "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED} ---", "+++ exited with 1 +++": of a status as wait(2) tells it.
// `information`: struct siginfo, as much as is known.
std::string signal_text(uint64_t number, int code, base::ByteSpan information = {});
std::string end_text(int status);
// "openat"; empty: not known.
std::string_view known_name(int number);
// "openat", "syscall_0x1c5".
std::string call_name(int number);
// nullptr: there is none, or the call of 32-bit programs takes something else.
const spec::SyscallRow* row_of(int number);

} // namespace trace
