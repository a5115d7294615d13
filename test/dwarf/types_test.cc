// Types as compilers write them: programs that print their own layouts, and small ones for each kind of type.
// ACU_TYPES_SEED and ACU_TYPES_COUNT make the random programs others, and larger.
#include "dwarf/types.h"

#include "dwarf/compiled.h"
#include "dwarf/type_samples.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace dwarf {
namespace {

using type::Kind;

// The types of a file by kind and whole name: what the index of names is for, without it.
class Opened {
public:
  explicit Opened(const std::string& path, type::Space space = type::Space::user)
      : file_(open(path)), info_(file_),
        types(table, space, [this](uint16_t tag, std::string_view name) { return find(tag, name); }) {
    note(info_);
  }
  std::optional<Die> find(uint16_t tag, std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    auto at = places_.find({tag, std::string(name)});
    return at == places_.end() ? std::nullopt : die_at(at->second);
  }
  const type::Type* type(std::string_view keyword, std::string_view name) {
    return types.find(keyword, name);
  }

private:
  static format::ElfFile open(const std::string& path) {
    auto file = format::ElfFile::open(path);
    EXPECT_TRUE(file.ok()) << path;
    return std::move(*file);
  }
  void note(DebugInfo& info) {
    type::Table other;
    Types names(other);
    for (size_t i = 0; i < info.units().size(); i++) {
      const Unit* unit = info.unit(i);
      if (!unit) continue;
      DieCursor cursor(*unit);
      while (cursor.next()) {
        Die die = cursor.die();
        if (find_attribute(die, DW_AT_declaration)) continue;
        uint16_t tag = die.tag() == DW_TAG_class_type ? uint16_t{DW_TAG_structure_type} : die.tag();
        std::string name = names.full_name(die);
        if (!name.empty()) places_.try_emplace({tag, name}, place_of(die));
      }
    }
  }

  format::ElfFile file_;
  DebugInfo info_;
  std::map<std::pair<uint16_t, std::string>, Place> places_;

public:
  type::Table table;
  Types types;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  return out;
}

const type::Type* any_type(Opened& in, const std::string& name) {
  for (std::string keyword : {"struct", "union", "enum"})
    if (const type::Type* t = in.type(keyword, name)) return t;
  return nullptr;
}

// Compares one line that a program printed.
void expect_line(Opened& in, const std::string& line) {
  std::vector<std::string> words = split(line, '\t');
  const type::Type* t = any_type(in, words[1]);
  ASSERT_NE(t, nullptr) << line;
  if (words[0] == "T") {
    EXPECT_EQ(std::to_string(t->size), words[2]) << line;
    return;
  }
  if (words[0] == "E") {
    EXPECT_EQ(std::to_string(t->size), words[2]) << line;
    std::string value = "none";
    for (const type::Enumerator& e : t->enumerators())
      if (e.name == words[3]) value = std::to_string(e.value);
    EXPECT_EQ(value, words[4]) << line;
    return;
  }
  uint64_t first = 0;
  type::Field field{.type = t};
  for (const std::string& name : split(words[2], '.')) {
    auto found = field.type->find(name);
    ASSERT_TRUE(found) << line;
    field = *found;
    first += field.offset * 8 + field.bit_offset;
  }
  EXPECT_EQ(std::to_string(first), words[3]) << line;
  EXPECT_EQ(std::to_string(field.bit_size), words[4]) << line;
  if (words[4] == "0") {
    EXPECT_EQ(std::to_string(field.type->size), words[5]) << line;
  }
  if (words[6] != "-") {
    EXPECT_EQ(type::to_string(*field.type), words[6]) << line;
  }
}

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

void expect_layouts(bool is_cpp, const std::string& options) {
  samples::Folder folder;
  samples::Program program = samples::generate(
      number_from("ACU_TYPES_SEED", 4), static_cast<uint32_t>(number_from("ACU_TYPES_COUNT", 60)), is_cpp);
  std::string source = folder.write(is_cpp ? "a.cc" : "a.c", program.source), binary = folder.file("a");
  std::string lines =
      samples::output_of((is_cpp ? "g++ -fno-access-control -femit-class-debug-always " : "gcc ") +
                         ("-w -Wno-psabi " + options) + " -o " + binary + " " + source + " && " + binary);
  ASSERT_FALSE(lines.empty());
  Opened opened(binary);
  size_t count = 0;
  for (const std::string& line : split(lines, '\n')) {
    expect_line(opened, line);
    count++;
  }
  EXPECT_GT(count, program.types * 3);
}

TEST(TypeLayouts, OfCVersion5) { expect_layouts(false, "-gdwarf-5"); }
TEST(TypeLayouts, OfCVersion4) { expect_layouts(false, "-gdwarf-4"); }
TEST(TypeLayouts, OfCVersion2) { expect_layouts(false, "-gdwarf-2 -gstrict-dwarf"); }
TEST(TypeLayouts, OfCppVersion5) { expect_layouts(true, "-gdwarf-5"); }
TEST(TypeLayouts, OfCppVersion4InTypeUnits) { expect_layouts(true, "-gdwarf-4 -fdebug-types-section"); }
TEST(TypeLayouts, OfCppVersion5InTypeUnits) { expect_layouts(true, "-gdwarf-5 -fdebug-types-section"); }

} // namespace
} // namespace dwarf
