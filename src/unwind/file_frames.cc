#include "unwind/file_frames.h"

namespace unwind {

FileFrames::FileFrames(const format::ElfFile& file, Tables tables, const format::ElfFile* debug)
    : tables_(std::move(tables)), lookup_(dwarf::frame_tables_of(file, debug)) {}

} // namespace unwind
