// V8, the JavaScript engine of Node.js, on x86-64: which file it is, and the names and lines of its functions.
//
// A file is V8 if it exports its version; what its objects look like is in node_layouts.h. JavaScript frames are among the native ones. What compiled
// code runs, also functions that are inlined, is found when its entry is first seen (node_code.cc), and put in its place when a stack has arrived
// (`expand_node`).
#pragma once

#include "runtime/runtimes.h"

namespace runtime {

std::optional<FileRuntime> recognise_node(const format::ElfFile& file);
std::optional<std::string> complete_node(language_table& table, const ReadMemory& read);
// Of a function, or of a place in compiled code, as the object says; reads what it needs.
std::optional<Code> decode_node(const language_object& object, const language_table& table, const ReadMemory& read);
// Positions are bytes of bytecode.
uint32_t line_of_node(const Code& code, uint64_t position);
std::optional<RuntimeFrame> frame_of_node(const language_table& table, const ReadMemory& read, const unwind::Frame& frame);
Expanded expand_node(std::span<const uint64_t> words, const ProcessRuntime& process, Show show, const FindCodeObject& find);

} // namespace runtime
