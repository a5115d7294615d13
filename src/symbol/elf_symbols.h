// The functions of an ELF file, by their place in the file. Read at the first question, from .symtab, or
// .dynsym where that was stripped; the file is closed again then.
#pragma once

#include "base/fd.h"
#include "base/reader.h"
#include "symbol/function_table.h"

#include <string>

namespace symbol {

class ElfSymbols {
public:
  // `fd`: the file; it is kept open until it is read.
  explicit ElfSymbols(base::Fd fd) : fd_(std::move(fd)) {}
  // An image in memory, such as the vdso.
  explicit ElfSymbols(base::ByteSpan image) { read(image); }
  // The function that holds the byte at `offset` of the file. Damaged files have none.
  std::optional<FunctionTable::Found> find(uint64_t offset);
  size_t size(); // functions known
  void load();   // what find and size do when they are first called

private:
  void read(base::ByteSpan image);

  base::Fd fd_;
  FunctionTable functions_; // by place in the file
};

} // namespace symbol
