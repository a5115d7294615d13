// glibc's __abort_msg points to a size and a text (struct abort_msg_s in include/stdlib.h). An exception has a header before it (struct __cxa_exception
// of the Itanium C++ ABI, and unwind-cxx.h of libstdc++), whose address __cxa_throw and std::terminate keep on the stack of the thread.
#include "snapshot/last_words.h"

#include "base/text.h"
#include "report/target_names.h"
#include "symbol/binary.h"
#include "symbol/demangle.h"

#include <algorithm>
#include <csignal>

namespace snapshot {

namespace {

constexpr size_t longest_message = 1000, longest_name = 500;
constexpr uint64_t exception_class = 0x474e5543432b2b00; // "GNUCC++\0"
constexpr uint64_t type_before_class = 80, object_after_class = 32; // bytes, in the exception's header
constexpr uint64_t word = sizeof(uint64_t);

class LastWords {
public:
  explicit LastWords(probe::StoppedProgram& stopped) : stopped_(stopped), target_(stopped.target()), memory_(target_.memory()) {}

  // Bytes below the text are its size, in 32 bits.
  std::string abort_message() {
    for (symbol::Binary* binary : stopped_.binaries()) {
      const auto variable = binary->symbol_address("__abort_msg");
      if (!variable) continue;
      const auto message = memory_.word(*variable + stopped_.bias_of(*binary).value_or(0));
      if (!message || !*message) continue;
      if (const auto text = memory_.text(*message + sizeof(uint32_t), longest_message)) return std::string(base::trim(*text));
    }
    return {};
  }

  std::string uncaught_exception(uint32_t thread) {
    const std::optional<uint64_t> end = above_terminate(thread);
    if (!end) return {};
    for (uint64_t at = target_.threads()[thread].registers[target::register_sp] / word * word; at < *end; at += word) {
      const auto header = memory_.word(at);
      if (header && *header % word == 0 && memory_.word(*header) == exception_class)
        if (std::string out = exception_at(*header); !out.empty()) return out;
    }
    return {};
  }

private:
  // The end of the part of the stack that std::terminate() and what it called use, with what called it.
  std::optional<uint64_t> above_terminate(uint32_t thread) {
    constexpr size_t callers = 2; // __cxa_throw or __cxa_rethrow, which has the exception in its frame
    report::TargetNames names(target_, stopped_.stacks());
    const std::vector<unwind::Frame>& frames = stopped_.stacks().of(thread).frames;
    const auto terminate = std::ranges::find_if(frames, [&](const unwind::Frame& f) { return names.function_at(f.look_up()).name == "std::terminate()"; });
    if (terminate == frames.end()) return {};
    const size_t last = std::min<size_t>(static_cast<size_t>(terminate - frames.begin()) + callers, frames.size() - 1);
    return stopped_.stacks().registers_of(thread, frames[last])[target::register_sp];
  }

  // struct type_info: the table of virtual functions, the name, and of a class with a single base that base's.
  std::optional<std::string> type_name(uint64_t type) {
    const auto at = memory_.word(type + word);
    auto name = at ? memory_.text(*at, longest_name) : std::nullopt;
    if (name && name->starts_with('*')) name->erase(0, 1);
    return name;
  }

  bool has_text(uint64_t type) {
    constexpr std::string_view with_text[] = {"St11logic_error", "St13runtime_error"};
    constexpr int most_bases = 16;
    for (int i = 0; i < most_bases; i++) {
      const std::optional<std::string> name = type_name(type);
      const std::optional<uint64_t> base = memory_.word(type + 2 * word);
      if (!name) return false;
      if (base::is_one_of(with_text, *name)) return true;
      if (!base) return false;
      type = *base;
    }
    return false;
  }

  std::string exception_at(uint64_t header) {
    const auto type = memory_.word(header - type_before_class);
    const auto name = type ? type_name(*type) : std::nullopt;
    if (!name || name->empty()) return {};
    std::string out = "exception " + symbol::demangle_type(*name);
    if (!has_text(*type)) return out;
    const auto text = memory_.word(header + object_after_class + word);
    const auto what = text ? memory_.text(*text, longest_message) : std::nullopt;
    return what && !what->empty() ? out + ": " + *what : out;
  }

  probe::StoppedProgram& stopped_;
  target::Target& target_;
  target::Memory& memory_;
};

} // namespace

std::string last_words(probe::StoppedProgram& stopped) {
  const target::Fault* fault = stopped.target().fault();
  if (!fault || fault->signal != SIGABRT) return {};
  LastWords words(stopped);
  const std::string message = words.abort_message();
  return message.empty() ? words.uncaught_exception(fault->thread) : message;
}

} // namespace snapshot
