// HotSpot, the JVM of OpenJDK, on x86-64: which file it is, and where a process of it has its code.
//
// A file is HotSpot if it exports gHotSpotVMStructs (hotspot_structs.h). Offsets and the places of the code heaps are read from the process once
// the JVM has made its heaps (`complete_hotspot`). Java frames are among the native ones; the positions of compiled code are turned into methods
// and bytecode positions, also of inlined calls, when a stack has arrived (`expand_hotspot`).
#pragma once

#include "runtime/runtimes.h"

namespace runtime {

std::optional<FileRuntime> recognise_hotspot(const format::ElfFile& file);
std::optional<std::string> complete_hotspot(language_table& table, const ReadMemory& read);
// Of a method or of compiled code, as the object says; reads what it needs.
std::optional<Code> decode_hotspot(const language_object& object, const language_table& table, const ReadMemory& read);
// Positions are bytes of bytecode.
uint32_t line_of_hotspot(const Code& code, uint64_t position);
std::optional<RuntimeFrame> frame_of_hotspot(const language_table& table, const ReadMemory& read, const unwind::Frame& frame);
Expanded expand_hotspot(std::span<const uint64_t> words, const ProcessRuntime& process, Show show, const FindCodeObject& find);

} // namespace runtime
