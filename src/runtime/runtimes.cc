#include "runtime/runtimes.h"

#include "runtime/hotspot.h"
#include "runtime/lua.h"
#include "runtime/luajit.h"
#include "runtime/node.h"
#include "runtime/perl.h"
#include "runtime/php.h"
#include "runtime/python.h"
#include "runtime/ruby.h"

#include <algorithm>
#include <array>

namespace runtime {

static constexpr std::array rows = {
    Runtime{.kind = LANGUAGE_PYTHON, .frames = spec::FrameKind::python, .programs = {"python"}, .recognise = recognise_python, .decode = decode_python, .walk = walk_python, .line_of = line_of_python, .lock = "the GIL", .variables = python_variables, .tasks = python_tasks},
    Runtime{.kind = LANGUAGE_PHP, .frames = spec::FrameKind::php, .programs = {"php"}, .recognise = recognise_php, .decode = decode_php, .walk = walk_php, .line_of = line_of_php},
    Runtime{.kind = LANGUAGE_PERL, .frames = spec::FrameKind::perl, .programs = {"perl"}, .recognise = recognise_perl, .decode = decode_perl, .walk = walk_perl, .line_of = line_of_perl},
    Runtime{.kind = LANGUAGE_LUAJIT, .frames = spec::FrameKind::lua, .programs = {"luajit"}, .recognise = recognise_luajit, .decode = decode_luajit, .walk = walk_luajit, .line_of = line_of_luajit, .correct = correct_luajit},
    Runtime{.kind = LANGUAGE_LUA, .frames = spec::FrameKind::lua, .programs = {"lua", "redis-server"}, .recognise = recognise_lua, .decode = decode_lua, .walk = walk_lua, .line_of = line_of_lua},
    Runtime{.kind = LANGUAGE_JAVA, .frames = spec::FrameKind::java, .programs = {"java"}, .recognise = recognise_hotspot, .decode = decode_hotspot, .walk = nullptr, .line_of = line_of_hotspot, .complete = complete_hotspot, .made_frame = frame_of_hotspot, .expand = expand_hotspot},
    Runtime{.kind = LANGUAGE_RUBY, .frames = spec::FrameKind::ruby, .programs = {"ruby"}, .recognise = recognise_ruby, .decode = decode_ruby, .walk = walk_ruby, .line_of = line_of_ruby, .correct = correct_ruby, .corrects_all = true},
    Runtime{.kind = LANGUAGE_NODE, .frames = spec::FrameKind::javascript, .programs = {"node"}, .recognise = recognise_node, .decode = decode_node, .walk = nullptr, .line_of = line_of_node, .complete = complete_node, .made_frame = frame_of_node, .expand = expand_node},
};

std::span<const Runtime> runtimes() { return rows; }

const Runtime& runtime_of(uint32_t kind) { return *std::ranges::find(rows, kind, &Runtime::kind); }

std::optional<FileRuntime> recognise(const format::ElfFile& file) {
  for (const Runtime& r : rows)
    if (auto found = r.recognise(file)) return found;
  return std::nullopt;
}

bool is_evaluation(const language_table& table, uint64_t address) {
  return std::ranges::any_of(table.evaluation, [&](const language_code& code) { return address >= code.begin && address < code.end; });
}

language_table moved(language_table table, uint64_t bias) {
  for (language_code& code : table.evaluation)
    if (code.end) code.begin += bias, code.end += bias;
  if (table.nested.end) table.nested.begin += bias, table.nested.end += bias;
  if (table.root) table.root += bias;
  return table;
}

PythonKnown moved(PythonKnown objects, uint64_t bias) {
  for (uint64_t& address : objects.globals)
    if (address) address += bias;
  return objects;
}

} // namespace runtime
