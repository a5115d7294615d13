#include "runtime/python_variables.h"

#include <algorithm>

namespace runtime {

namespace {

constexpr size_t most_variables = 1000; // of a frame

class Frame {
public:
  Frame(const PythonObjects& objects, uint64_t frame) : objects_(objects), l_(objects.layout()), frame_(frame) {}

  std::vector<PythonVariable> variables() {
    const auto code = objects_.word(frame_ + objects_.walk_layout().frame_code);
    if (!code) return {};
    code_ = *code & ~uint64_t{objects_.walk_layout().code_mask};
    const auto flags = objects_.number(code_ + l_.code_flags, 4);
    if (!flags) return {};
    count_arguments(*flags);
    is_function_ = *flags & python::code_is_optimized;
    if (objects_.is_since(0x030b))
      add_by_kinds();
    else
      add_by_lists();
    if (!is_function_) add_namespace();
    return std::move(out_);
  }

private:
  void count_arguments(uint64_t flags) {
    const auto plain = objects_.number(code_ + l_.code_arguments, 4), keyword_only = objects_.number(code_ + l_.code_keyword_only, 4);
    arguments_ = plain.value_or(0) + keyword_only.value_or(0) + !!(flags & python::code_has_rest) + !!(flags & python::code_has_keywords);
  }

  std::vector<std::string> names_at(uint16_t field) const {
    std::vector<std::string> out;
    const auto names = objects_.word(code_ + field);
    if (names && objects_.is_exactly(*names, PythonGlobal::tuple_type))
      objects_.each_of_tuple(*names, [&](uint64_t name) {
        out.push_back(objects_.utf8(name).value_or(""));
        return out.size() < most_variables;
      });
    return out;
  }

  using Value = std::optional<uint64_t>; // 0: it has none; nothing: it cannot be read
  Value value_at(uint64_t number) const { return objects_.word(frame_ + l_.frame_variables + 8 * number); }
  Value in_cell(Value value) const {
    if (!value || !*value || !objects_.is_exactly(*value, PythonGlobal::cell_type)) return value;
    return objects_.word(*value + python::cell_value);
  }
  // Iterators of comprehensions have names such as `.0`.
  void add(const std::string& name, Value value, bool is_argument) {
    if (name.empty() || name[0] == '.') return;
    out_.push_back({name, value.value_or(0), is_argument, value ? 0 : objects_.failed()});
  }

  // What a class takes from the function around it is shown there.

  // From 3.11 on: one list, with a byte for each that tells cells. An argument is no cell before the function begins.
  void add_by_kinds() {
    const std::vector<std::string> names = names_at(l_.code_variables);
    const auto kinds = objects_.word(code_ + l_.code_kinds);
    for (size_t i = 0; kinds && i < names.size(); i++) {
      const auto kind = objects_.number(*kinds + objects_.walk_layout().bytes_data + i, 1);
      const bool is_cell = kind.value_or(0) & (python::kind_cell | python::kind_free);
      if (is_cell && !is_function_) continue;
      add(names[i], is_cell ? in_cell(value_at(i)) : value_at(i), i < arguments_);
    }
  }

  // Before: variables, then cells, then free variables. An argument that is a cell has no value in the first list.
  void add_by_lists() {
    if (!is_function_) return;
    const std::vector<std::string> variables = names_at(l_.code_variables), cells = names_at(l_.code_cells), free = names_at(l_.code_free);
    for (size_t i = 0; i < variables.size(); i++) {
      Value value = value_at(i);
      const auto cell = std::ranges::find(cells, variables[i]);
      if (value == 0 && cell != cells.end()) value = in_cell(value_at(variables.size() + static_cast<size_t>(cell - cells.begin())));
      add(variables[i], value, i < arguments_);
    }
    for (size_t i = 0; i < cells.size(); i++)
      if (std::ranges::find(variables, cells[i]) == variables.end()) add(cells[i], in_cell(value_at(variables.size() + i)), false);
    for (size_t i = 0; i < free.size(); i++) add(free[i], in_cell(value_at(variables.size() + cells.size() + i)), false);
  }

  void add_namespace() {
    const auto names = objects_.word(frame_ + l_.frame_namespace);
    const PythonObjects::Type* type = names && *names ? objects_.type_of(*names) : nullptr;
    if (!type || !type->has(python::dict_subclass)) return;
    objects_.each_of_dict(*names, [&](uint64_t key, uint64_t value) {
      const auto name = objects_.utf8(key);
      const bool is_shown = name && !(name->starts_with("__") && name->ends_with("__")) && !is_definition(value);
      if (is_shown) add(*name, value, false);
      return out_.size() < most_variables;
    });
  }
  bool is_definition(uint64_t value) const {
    using enum PythonGlobal;
    return objects_.is_one_of(value, {module_type, function_type, builtin_type});
  }

  const PythonObjects& objects_;
  const PythonObjectLayout& l_;
  uint64_t frame_, code_ = 0, arguments_ = 0;
  bool is_function_ = false; // not the code of a module or class
  std::vector<PythonVariable> out_;
};

} // namespace

std::vector<PythonVariable> variables_of_python(const PythonObjects& objects, uint64_t frame) { return Frame(objects, frame).variables(); }

} // namespace runtime
