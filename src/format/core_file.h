// Core dumps of Linux on x86-64: the memory of a process that has ended, the registers of its threads, and
// what the kernel or gcore wrote about it. Nothing is copied: the file is mapped and read where it is asked
// for, so one of many gigabytes costs only the pages that are looked at.
//
// Cores are cut when a disk is full or a limit is reached, and damaged on their way. What is there is given,
// what is missing is said in `problems`; a file that is no such core at all is a failure.
//
// Specification: System V ABI, chapters 4 and 5; the notes as fs/binfmt_elf.c of the kernel writes them:
// struct elf_prstatus, struct elf_prpsinfo, siginfo_t, the auxiliary vector, and NT_FILE.
#pragma once

#include "base/file_map.h"
#include "spec/arch_x86_64.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace format {

// As struct user_regs_struct of <sys/user.h> has them, of which struct pt_regs is the first part.
inline constexpr size_t core_registers = spec::x86_64.user_registers;

struct CoreThread {
  uint32_t id = 0;
  int signal = 0; // the one it was given when the process ended, or 0
  std::array<uint64_t, core_registers> registers = {};
  base::ByteSpan extended; // the state that XSAVE writes, or FXSAVE; empty: not kept
};

// A stretch of memory, [begin, end).
struct CoreSegment {
  uint64_t begin = 0, end = 0;
  uint32_t flags = 0;    // PF_R, PF_W, PF_X
  base::ByteSpan bytes;  // from `begin` on; shorter than the stretch where the rest was not kept
  uint64_t promised = 0; // as many should be in the file; more than `bytes` has: it is cut
};

// What a file was mapped to.
struct CoreMapping {
  uint64_t begin = 0, end = 0;
  uint64_t offset = 0; // of `begin` in the file
  std::string_view path;
};

struct CoreProcess {
  uint32_t id = 0, parent = 0, user = 0, group = 0;
  std::string_view name;      // at most 15 bytes
  std::string_view arguments; // the first 79 bytes, with spaces between
};

struct CoreSignal {
  int number = 0, code = 0;
  uint64_t address = 0; // what it is about: see has_address
  uint32_t sender = 0;  // process, of signals that were sent by one
};

class CoreFile {
public:
  static base::Result<CoreFile> open(const std::string& path);
  static base::Result<CoreFile> of(base::FileMap map);
  // Bytes that outlive this.
  static base::Result<CoreFile> view(base::ByteSpan bytes);

  const std::vector<CoreSegment>& segments() const { return segments_; } // by address, not overlapping
  const std::vector<CoreThread>& threads() const { return threads_; }    // the one that crashed comes first
  const std::vector<CoreMapping>& mappings() const { return mappings_; } // by address
  const std::optional<CoreProcess>& process() const { return process_; }
  const std::optional<CoreSignal>& signal() const { return signal_; }
  // An entry of the auxiliary vector (AT_PHDR, …).
  std::optional<uint64_t> auxiliary(uint64_t type) const;
  uint64_t size() const { return bytes_.size(); }
  // It was written only in part.
  bool is_cut() const { return is_cut_; }
  bool damaged() const { return map_.damaged(); }
  // What is wrong with it, a sentence without full stop each: "it ends after 4096 of 1052672 bytes".
  const std::vector<std::string>& problems() const { return problems_; }

private:
  base::Status read();
  void read_segments(uint64_t at, uint64_t count, uint64_t entry_size);
  void read_notes(base::ByteSpan notes);
  void take_note(uint32_t type, base::ByteSpan content);
  void take_mappings(base::ByteSpan content);
  void sort_segments();

  base::FileMap map_;
  base::ByteSpan bytes_;
  std::vector<CoreSegment> segments_;
  std::vector<CoreThread> threads_;
  std::vector<CoreMapping> mappings_;
  std::optional<CoreProcess> process_;
  std::optional<CoreSignal> signal_;
  base::ByteSpan auxiliary_;
  bool is_cut_ = false;
  std::vector<std::string> problems_;
};

// Whether the address of such a signal is the one that was accessed: SIGSEGV, SIGBUS, … from the processor.
bool has_address(const CoreSignal& signal);
// "SEGV_MAPERR: nothing is mapped there"; empty: not known.
std::string_view meaning_of(const CoreSignal& signal);

} // namespace format
