// A stopped program: the memory, modules and threads of a core dump (core_target.h) or of a live
// process, stopped or copied (live_target.h). Reading is all that can be done with it.
//
// Memory is a list of areas, each as bytes that lie in this process: reading is a search for the area and a
// copy, and whoever reads much keeps the area (`Window`). What is not there has a named reason.
#pragma once

#include "format/elf_file.h"
#include "spec/arch_x86_64.h"
#include "symbol/debug_files.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace target {

// Why memory cannot be read.
enum class Missing : uint8_t {
  none,         // it can
  unmapped,     // the program has nothing there
  not_dumped,   // left out of the core, and in no file
  truncated,    // the core is cut before it
  no_binary,    // it is a file's, which is not here
  wrong_binary, // it is a file's, and the one here is another (build-id)
  not_copied,   // of a live process: it was not known that it would be read
  gone,         // of a live process, which has ended or does not let it be read
};
inline constexpr size_t missing_kinds = 8;
// "is not mapped", "is not in the core", …
std::string_view to_string(Missing why);

// Bytes of the program's memory from `begin` on.
struct Window {
  uint64_t begin = 0, size = 0;
  const std::byte* bytes = nullptr; // nullptr: `why` tells
  Missing why = Missing::unmapped;
  bool holds(uint64_t address, uint64_t length) const {
    return address - begin < size && length <= size - (address - begin);
  }
};

class Memory {
public:
  virtual ~Memory() = default;
  // The area around an address; where nothing is, the stretch of nothing (at least one byte). What was given
  // stays readable as long as this lives.
  virtual Window window(uint64_t address) = 0;

  // Fills `to`; none, or why its first unreadable byte is not there. `to` is then undefined.
  Missing read(uint64_t address, std::span<std::byte> to);
  std::optional<uint64_t> word(uint64_t address);
  // The text at an address up to its NUL, at most `most` bytes; nothing where it cannot be read.
  std::optional<std::string> text(uint64_t address, size_t most);

private:
  Window last_;
};

// A program or library in memory.
struct Module {
  std::string path;                // as the program named it; "[vdso]"
  uint64_t begin = 0, end = 0;     // addresses, first to last mapping
  uint64_t bias = 0;               // what the loader added to the file's addresses
  std::vector<std::byte> build_id; // as the memory has it; empty: not known
  enum State : uint8_t {
    found,      // `file` is it: the build-ids are equal
    unverified, // neither has a build-id: `file` is what has the name, with the same segments
    missing,    // there is no such file
    wrong,      // there is one, but another
  } state = missing;
  std::string problem; // of the last two, in words
  std::string opened;  // where `file` is, as seen in `root`
  std::string root;    // see symbol::DebugSearch
  std::shared_ptr<format::ElfFile> file;
  bool is_program = false; // the main one
};

// As struct user_regs_struct has them; the first 21 are those of struct pt_regs. Behind them xmm0 … xmm15, in two words
// each; 0 where they are not known.
inline constexpr size_t general_registers = spec::x86_64.user_registers, vector_registers = spec::x86_64.vectors;
using Registers = std::array<uint64_t, general_registers + 2 * vector_registers>;
// xmm0 … xmm15 from what FXSAVE or XSAVE wrote; nothing is changed where it is too short.
void take_vectors(Registers& into, std::span<const std::byte> saved);
inline constexpr size_t register_sp = spec::x86_64.word_of("sp"), register_fs_base = spec::x86_64.thread_base;

struct Thread {
  uint32_t id = 0;
  std::string name; // empty: not known
  Registers registers = {};
};

struct Fault {
  int signal = 0;
  uint32_t thread = 0;             // index
  std::string_view signal_name;    // "SIGSEGV"
  std::optional<uint64_t> address; // that was accessed
  std::string_view meaning;        // "nothing is mapped there"; empty: nothing more is known
  uint32_t sender = 0;             // process that sent it; 0: none
};

// Where programs and debug information are looked for besides the usual places.
struct Search {
  std::string sysroot;              // a folder with the files of the program's own machine or container
  std::vector<std::string> folders; // of debug files, or debug files
  bool download = false;
};

class Target {
public:
  virtual ~Target() = default;
  virtual Memory& memory() = 0;
  // By address.
  virtual const std::vector<Module>& modules() const = 0;
  // The one that crashed first, else as the kernel has them.
  virtual const std::vector<Thread>& threads() const = 0;
  virtual const Fault* fault() const { return nullptr; } // of a core that a signal ended
  virtual uint32_t pid() const = 0;
  virtual uint32_t parent() const { return 0; }
  virtual uint32_t user() const { return 0; }
  virtual uint32_t group() const { return 0; }
  virtual std::string_view name() const = 0; // at most 15 bytes, as `comm`
  virtual std::string_view arguments() const { return {}; }
  // What could not be had, a sentence without full stop each.
  virtual const std::vector<std::string>& problems() const = 0;
  // What it is: "core dump core.17", "process 17".
  virtual std::string_view title() const = 0;

  // The areas that it can write to and that are here, by address.
  virtual std::vector<Window> writable() const = 0;
  // All of them are to be here, as far as that is possible now.
  virtual void read_writable() {}
  // Whether what is at an address may be executed.
  virtual bool is_code(uint64_t address) const = 0;
  // nullptr: none holds the address.
  const Module* module_at(uint64_t address) const;
  symbol::DebugSearch debug_search(const Module& module) const;
  const Search& search() const { return search_; }

protected:
  bool is_code_of_module(uint64_t address) const;
  Search search_;
};

// Finds the file of a module: under the sysroot, then as the path says; it must have the build-id that the
// memory has. Fills in state, problem, opened, root, file.
void open_module(Module& module, const Search& search);

} // namespace target
