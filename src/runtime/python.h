// CPython 3.8 to 3.14: which file it is, and what its code objects say.
//
// A file is CPython if it exports the evaluation function. Its version is in the variable Py_Version (3.11 and later), or in the text that
// sys.version begins with. From 3.13 on _PyRuntime begins with the offsets of all fields that are needed (_Py_DebugOffsets, in
// Include/internal/pycore_debug_offsets.h; in 3.13 pycore_runtime.h); they are constants of the file.
#pragma once

#include "runtime/runtimes.h"

namespace runtime {

std::optional<FileRuntime> recognise_python(const format::ElfFile& file);
std::optional<Code> decode_python(const language_object& object, const language_table& table, const ReadMemory& read);
LanguageStack walk_python(const language_table& table, const ThreadWalk& thread, const ReadMemory& read);
// Adds the entry of one frame, and what names its code object; false: it cannot be read, or is no call.
bool add_python_frame(const language_table& table, uint64_t frame, const ReadMemory& read, LanguageStack& to);
std::vector<Variable> python_variables(const StoppedRuntime& runtime, uint64_t frame, const TextLimits& limits);
AsyncTasks python_tasks(const StoppedRuntime& runtime, std::span<const LanguageStack> threads);
// Positions are instructions of 2 bytes.
uint32_t line_of_python(const Code& code, uint64_t position);

// Of offsets as the runtime publishes them; nothing: they are of no version that is known, or make no sense.
std::optional<python_layout> published_layout(base::ByteSpan offsets);
// The same of objects, in the place of those of the table; nothing: of no version that is known.
std::optional<PythonObjectLayout> published_objects(base::ByteSpan offsets);

} // namespace runtime
