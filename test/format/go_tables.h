// Programs with the tables that Go's linker writes, in each of the four forms, made by the assembler:
// `main.one` of 16 bytes, whose last 8 are `main.small`, inlined there; then `main.(*T).two` of 4.
#pragma once

#include "scratch.h"

#include <string>

struct GoTableSource {
  unsigned magic = 0;
  bool has_offsets = false, has_parts = false, has_start_line = false;
  int calls_data = 3; // which of the function's data has the inlined calls
};

inline constexpr GoTableSource go_1_2 = {.magic = 0xfffffffb, .calls_data = 4};
inline constexpr GoTableSource go_1_16 = {.magic = 0xfffffffa, .has_parts = true, .calls_data = 4};
inline constexpr GoTableSource go_1_17 = {.magic = 0xfffffffa, .has_parts = true};
inline constexpr GoTableSource go_1_18 = {.magic = 0xfffffff0, .has_offsets = true, .has_parts = true};
inline constexpr GoTableSource go_1_20 = {
    .magic = 0xfffffff1, .has_offsets = true, .has_parts = true, .has_start_line = true};

// The assembler's text; `section`: where the table is.
inline std::string go_table_text(const GoTableSource& form, const std::string& section = ".gopclntab") {
  const std::string names = form.has_parts ? "names" : "table",
                    numbers = form.has_parts ? "numbers" : "table",
                    functions = form.has_parts ? "functions" : "table";
  auto record = [&](const std::string& label, const std::string& name, bool has_numbers) {
    std::string out = ".balign 8\n" + label + "_record: ";
    out += form.has_offsets ? ".long " + label + " - one\n" : ".quad " + label + "\n";
    out += " .long " + name + " - " + names + ", 0, 0, 0, " +
           (has_numbers ? "file_numbers - " + numbers + ", line_numbers - " + numbers + ", 3" : "0, 0, 0") +
           "\n";
    if (form.has_parts) out += " .long 0\n";
    if (form.has_start_line) out += " .long 1\n";
    out += std::string(" .byte 0, 0, 0, ") + (has_numbers ? "5" : "0") + "\n";
    if (!has_numbers) return out;
    out += " .long 0, 0, call_numbers - " + numbers + "\n";
    if (!form.has_offsets) out += ".balign 8\n";
    for (int i = 0; i < 5; i++)
      out += form.has_offsets ? (i == form.calls_data ? " .long calls - data\n" : " .long -1\n")
                              : (i == form.calls_data ? " .quad calls\n" : " .quad 0\n");
    return out;
  };
  auto entry = [&](const std::string& label) {
    const std::string place = label + "_record - " + functions;
    return form.has_offsets ? " .long " + label + " - one, " + place + "\n"
                            : " .quad " + label + ", " + place + "\n";
  };
  const std::string end = form.has_offsets ? " .long end - one\n" : " .quad end\n";
  std::string out =
      ".text\nnop\nnop\n.balign 16\n.globl _start\n_start:\none: mov $60, %eax\n xor %edi, %edi\n syscall\n"
      ".balign 16\ntwo: ret\n nop\n nop\n nop\nend:\n";
  out += ".section " + section + ",\"aw\"\n.balign 32\ntable: .long " + std::to_string(form.magic) +
         "\n .byte 0, 0, 1, 8\n .quad 2\n";
  if (form.has_parts) {
    out += " .quad 1\n";
    if (form.has_offsets) out += " .quad 0\n"; // where the code begins is in the module's data
    for (const char* part : {"names", "lists", "files", "numbers", "functions"})
      out += " .quad " + std::string(part) + " - table\n";
  } else {
    out += entry("one") + entry("two") + end + " .long lists - table\n";
  }
  out += "names: .byte 0\none_name: .asciz \"main.one\"\ntwo_name: .asciz \"main.(*T).two\"\nsmall_name: "
         ".asciz \"main.small\"\n";
  // Of old lists the first number is their length.
  out += std::string(".balign 4\nlists: ") +
         (form.has_parts ? ".long file - files\n" : ".long 2, file - table\n");
  out += "files: file: .asciz \"/src/main.go\"\n";
  // Each number: twice the change from -1 on, and for how many bytes it holds.
  out += std::string("numbers: .byte 0\nfile_numbers: .byte ") + (form.has_parts ? "2" : "4") + ", 16, 0\n";
  out += "line_numbers: .byte 22, 8, 2, 8, 0\ncall_numbers: .byte 0, 8, 2, 8, 0\n";
  if (form.has_parts) out += ".balign 8\nfunctions:\n" + entry("one") + entry("two") + end;
  out += record("one", "one_name", true) + record("two", "two_name", false);
  out += ".section .data.calls,\"aw\"\ndata: .long 1\ncalls: ";
  if (form.has_start_line)
    out += ".byte 0, 0, 0, 0\n .long small_name - names, 4, 20\n";
  else
    out += ".short -1\n .byte 0, 0\n .long 0, 10, small_name - " + names + ", 4\n";
  if (form.has_offsets)
    out += ".balign 8\nmodule: .quad table, names\n .zero 144\n .quad one, end, one, end\n .zero 128\n .quad "
           "data\n";
  return out;
}

// Writes and links NAME and its stripped form NAME.stripped.
inline bool build_go_table(const Scratch& scratch, const GoTableSource& form, const std::string& name,
                           const std::string& section = ".gopclntab", const std::string& link = "") {
  scratch.write(name + ".s", go_table_text(form, section));
  return scratch.run("as " + name + ".s -o " + name + ".o && ld " + link + " -o " + name + " " + name +
                     ".o && strip -o " + name + ".stripped " + name);
}
