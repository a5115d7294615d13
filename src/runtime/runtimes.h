// The language runtimes that acu knows: a row each. A file is looked at once; processes that have mapped it get a table of their own, as the
// loader moves it.
#pragma once

#include "format/elf_file.h"
#include "runtime/objects.h"
#include "runtime/python_object_layout.h"
#include "runtime/splice.h"
#include "spec/frame_kinds.h"
#include "unwind/walk.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace runtime {

// What an ELF file is.
struct FileRuntime {
  std::string version;       // "CPython 3.11.2"
  std::string problem;       // why its frames cannot be found, as "layout not known"; empty: they can
  language_table table = {}; // with addresses of the file
  std::optional<PythonKnown> objects; // likewise; nothing: its objects cannot be read
};

// A thread of a stopped program, as its native walk found it.
struct ThreadWalk {
  uint64_t thread_pointer = 0;           // what pthread_self() returns
  std::span<const unwind::Frame> frames; // innermost first, with all registers that are known
};

// Words of entries, and what names each code object that is new among them.
struct LanguageStack {
  std::vector<uint64_t> words;
  std::vector<language_object> objects;
  uint32_t end = LANGUAGE_COMPLETE; // LANGUAGE_…
  std::vector<uint64_t> frames = {}; // of each entry: where the runtime has its frame
};

// What is read of a stopped program besides its stacks; with addresses of the process.
struct StoppedRuntime {
  const language_table& table;
  const PythonKnown& objects;
  const ObjectMemory& memory;
};

// The function of a code object, by its address and check; nullptr: it is not known.
using FindCodeObject = std::function<const Code*(uint64_t address, uint32_t check)>;

// A frame of code that a runtime has made, in the native walk of a stopped program.
struct RuntimeFrame {
  std::optional<language_object> object = {}; // that it runs; nothing: it only leads to others
  uint64_t number = 0;                        // of its entry (language.h)
  std::optional<unwind::Frame> caller = {};   // nothing: not found
};

// A stack as it is shown, with the entry of the walked stack that each entry is from.
struct Expanded {
  std::vector<uint64_t> words;
  std::vector<size_t> from;
};

struct Runtime {
  uint32_t kind; // LANGUAGE_…
  spec::FrameKind frames;
  std::array<std::string_view, 2> programs; // how the names of files that run it begin
  // Nothing: the file is none of these.
  std::optional<FileRuntime> (*recognise)(const format::ElfFile& file);
  // What a walker has read of a code object. Texts that are longer than that are completed with `read`, where the program still has them; what is
  // not there is cut. Nothing: it is no code object.
  std::optional<Code> (*decode)(const language_object& object, const language_table& table, const ReadMemory& read);
  // The language frames of a thread of a stopped program. nullptr: they are found with the native ones.
  LanguageStack (*walk)(const language_table& table, const ThreadWalk& thread, const ReadMemory& read);
  // The line at a position of the function; 0: it has none, or the table was cut before it.
  uint32_t (*line_of)(const Code& code, uint64_t position);
  // How users call the lock that lets one thread of a process run at a time: a futex in the variable `root`. Empty: there is none.
  std::string_view lock = {};
  // In the native walk of a stopped program, for each frame up to the innermost one of the evaluation function (unwind::WalkOptions): corrects
  // frames of machine code whose tables do not hold. nullptr: they hold.
  void (*correct)(const language_table& table, const ReadMemory& read, unwind::Frame& frame, bool has_table) = nullptr;
  bool corrects_all = false; // for outer frames, too
  // The variables of one of `frames`, arguments first; nullptr: they are not known.
  std::vector<Variable> (*variables)(const StoppedRuntime& runtime, uint64_t frame, const TextLimits& limits) = nullptr;
  // The tasks of the program's event loops, from the stacks of all threads; nullptr: it has none.
  AsyncTasks (*tasks)(const StoppedRuntime& runtime, std::span<const LanguageStack> threads) = nullptr;
  // Fills what only the process knows into its table; nothing: the runtime has not begun. A text: why its frames cannot be found; empty: they can.
  // nullptr: the file is enough.
  std::optional<std::string> (*complete)(language_table& table, const ReadMemory& read) = nullptr;
  // In the native walk of a stopped program; nothing: the frame's code is not made by the runtime. nullptr: no code is.
  std::optional<RuntimeFrame> (*made_frame)(const language_table& table, const ReadMemory& read, const unwind::Frame& frame) = nullptr;
  // The stack as it is shown, of native frames with language frames among them. nullptr: a walk gives two lists (splice.h).
  Expanded (*expand)(std::span<const uint64_t> words, const ProcessRuntime& process, Show show, const FindCodeObject& find) = nullptr;
};

std::span<const Runtime> runtimes();
const Runtime& runtime_of(uint32_t kind);

std::optional<FileRuntime> recognise(const format::ElfFile& file);

// Whether an address is in the evaluation function.
bool is_evaluation(const language_table& table, uint64_t address);

// The table of a process. `bias`: what the loader has added to the file's addresses.
language_table moved(language_table table, uint64_t bias);
PythonKnown moved(PythonKnown objects, uint64_t bias);

} // namespace runtime
