// A program of a test, and what acu knows of its values.
#pragma once

#include "../dwarf/compiled.h"
#include "dwarf/line_program.h"
#include "probe/probe.h"
#include "probe/user_values.h"
#include "symbol/binary.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace samples {

// A sample compiled with these options, and what acu knows of it.
struct Program {
  Folder folder;
  std::string path;
  type::Table table;
  std::unique_ptr<symbol::Binary> binary;
  std::unique_ptr<probe::UserValues> values;

  Program() = default;
  // `then`: a command that is carried out in the folder after it.
  Program(const std::string& command, const char* text, const std::string& then = "true") {
    bool is_cc = command.starts_with("g++") || command.starts_with("clang++");
    std::string source = folder.write(is_cc ? "values.cc" : "values.c", text);
    path = folder.file("values");
    std::string whole = "cd " + folder.file("") + " && " + command + " " + source + " -o " + path + " && " +
                        then + " && echo done";
    EXPECT_EQ(output_of(whole), "done\n") << whole;
    open(path);
  }
  void open(const std::string& file) {
    auto opened = symbol::Binary::open({.name = file, .path = file});
    ASSERT_TRUE(opened) << opened.error().message;
    binary = std::move(*opened);
    values = std::make_unique<probe::UserValues>(probe::sources_of(*binary, table));
  }
  probe::Event event(uint64_t address, bool at_entry = false) {
    probe::Event out{.kind = probe::Kind::uprobe, .binary = path};
    out.module = binary.get();
    out.address = address;
    out.at_entry = at_entry;
    if (auto function = binary->function_at(address)) {
      out.function = function->name;
      out.function_address = function->address;
    }
    return out;
  }
  probe::Event entry(std::string_view function) {
    auto found = binary->find_functions(function);
    EXPECT_FALSE(found.empty()) << function;
    return found.empty() ? probe::Event() : event(found[0].address, true);
  }
  // Where statements of the sample begin, in functions.
  std::vector<uint64_t> statements() {
    std::vector<uint64_t> out;
    dwarf::DebugInfo& info = *binary->debug_info();
    for (size_t i = 0; i < info.units().size(); i++) {
      const dwarf::Unit* unit = info.unit(i);
      bool is_ours = unit && (unit->is_skeleton() || unit->name == "<artificial>" ||
                              unit->name.find("values.c") != std::string_view::npos);
      auto program = is_ours ? dwarf::read_line_program(*unit) : std::nullopt;
      if (!program) continue;
      dwarf::for_each_row(*program, [&](const dwarf::LineRow& row) {
        if (row.is_statement && !row.end_sequence && binary->function_entry(row.address))
          out.push_back(row.address);
        return true;
      });
    }
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
};

} // namespace samples
